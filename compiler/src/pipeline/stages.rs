//! The table of stages.

/// A stage of the compilation, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Whether its result can be printed.
    pub has_text: bool,
}

/// Every stage, in order.
pub const STAGES: &[Stage] = &[
    Stage {
        name: "ast",
        about: "the syntax tree, printed as source",
        has_text: true,
    },
    Stage {
        name: "typed",
        about: "names resolved, overloads chosen, coercions explicit; loops and index notation as written",
        has_text: true,
    },
    Stage {
        name: "elaborate",
        about: "the same with loops over indices of tensors unrolled, operators for index notation, and reductions in steps",
        has_text: true,
    },
    Stage {
        name: "translate",
        about: "High-IR: functions inlined, operators in index notation",
        has_text: true,
    },
    Stage {
        name: "derive",
        about: "High-IR: derivatives by variables as operators",
        has_text: true,
    },
    Stage {
        name: "normalize",
        about: "High-IR: derivatives and probes at leaf fields only, planned",
        has_text: true,
    },
    Stage {
        name: "reconstruct",
        about: "Mid-IR: probes of images in index space",
        has_text: true,
    },
    Stage {
        name: "scalarize",
        about: "Low-IR: scalars only",
        has_text: true,
    },
    Stage {
        name: "hoist",
        about: "Low-IR: values shared by all strands computed once",
        has_text: true,
    },
    Stage {
        name: "bounds",
        about: "Low-IR: probes guarded by decisions from bounds of the images",
        has_text: true,
    },
    Stage {
        name: "fit",
        about: "Low-IR: entries of image matrices that are 0 left out",
        has_text: true,
    },
    Stage {
        name: "generate",
        about: "machine code",
        has_text: false,
    },
    Stage {
        name: "device",
        about: "Device-IR, if asked for or with --target cuda: primitives as scalar operations",
        has_text: true,
    },
    Stage {
        name: "ptx",
        about: "the kernel for NVIDIA GPUs, if asked for or with --target cuda",
        has_text: true,
    },
    Stage {
        name: "cuda",
        about: "the same kernel in CUDA C, if asked for",
        has_text: true,
    },
];
