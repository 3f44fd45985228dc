//! All code that is generated for the programs of the repository consists of instructions that a disassembler knows, and none of
//! them fuses a product and a sum.

use super::{Compiled, Ends, compile};
use crate::{
    codegen::{
        Linker, Sink, Task,
        abi::{StatePlane, state_map},
    },
    front::source::Source,
    pipeline::{self, Options, Session},
    ssa::Role,
};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl};
use runtime::simd::Isa;
use std::{path::Path, sync::Arc};

/// Reads the instructions of a function: those of its body, and its entry, which ends with a jump to the body.
fn check(function: &Compiled, what: &str) {
    let mut decoder = Decoder::with_ip(64, &function.code, 0, DecoderOptions::NONE);
    let mut inside_entry = false;
    while decoder.can_decode() {
        let at = decoder.position();
        inside_entry |= at == function.entry;
        assert!(
            inside_entry || at < function.entry,
            "{what}: no entry at {at}"
        );
        let instruction = decoder.decode();
        assert_ne!(instruction.code(), Code::INVALID, "{what} at {at}");
        let name = format!("{:?}", instruction.mnemonic());
        let interpolates = name.starts_with("Vfmadd231ps");
        assert!(
            !name.starts_with("Vfm") || interpolates && what.contains("tent"),
            "{what}: {instruction:?}"
        );
        let is_jump = instruction.flow_control() == FlowControl::UnconditionalBranch;
        if is_jump {
            assert!(instruction.near_branch_target() <= function.entry as u64);
        }
        if inside_entry && is_jump {
            return;
        }
    }
    panic!("{what}: the entry has no end");
}

/// The machines that code is made for: instruction set, whether reals are double, and lanes.
const MACHINES: [(Isa, bool, usize); 4] = [
    (Isa::Avx512, false, 16),
    (Isa::Avx512, true, 8),
    (Isa::Avx2, false, 8),
    (Isa::Avx2, true, 4),
];

/// A function that can be compiled for an instruction set.
pub(super) struct Found<'a> {
    /// The program, the function and the machine.
    pub(super) what: String,
    pub(super) isa: Isa,
    pub(super) task: Task<'a>,
    pub(super) planes: &'a Arc<[StatePlane]>,
    pub(super) linker: &'a Linker,
}

/// The programs of the repository that need no data of their own to be compiled.
pub(super) fn repository() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let mut sources = Vec::new();
    for folder in ["checks", "methods", "language", "particles"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("a directory entry").path();
            if path.extension().is_some_and(|e| e == "diderot") {
                let text = std::fs::read_to_string(&path).expect("a program");
                sources.push(Source::new(path, text));
            }
        }
    }
    sources
}

/// Visits all functions of a program that run for lanes, on all machines.
pub(super) fn each_function(source: &Source, mut visit: impl FnMut(&Found<'_>)) {
    for (isa, double, width) in MACHINES {
        let options = Options {
            double,
            width: Some(width),
            ..Options::default()
        };
        let lowered = pipeline::lower(&mut Session::default(), source, &options);
        let program = lowered.expect("a correct program").hoisted;
        let lanes = options.lanes();
        let state = state_map(&program, lanes);
        let linker = Linker::new(&program, &state);
        let planes = state.planes.as_slice().into();
        for (role, function) in &program.functions {
            let sink = match role {
                Role::Create => Sink::State { status: false },
                Role::Reduce(_) => Sink::Results,
                role if role.is_strand_code() => Sink::State { status: true },
                _ => continue,
            };
            visit(&Found {
                what: format!("{} {} {isa:?}", source.path.display(), role.name()),
                isa,
                task: Task {
                    role: *role,
                    function,
                    sink,
                    lanes,
                },
                planes: &planes,
                linker: &linker,
            });
        }
    }
}

#[test]
fn all_code_can_be_read_and_fuses_nothing() {
    let mut count = 0;
    for source in repository() {
        let tent = if source.text.contains("tent") {
            "tent"
        } else {
            ""
        };
        each_function(&source, |found| {
            let what = format!("{} {tent}", found.what);
            let code = compile(
                &found.task,
                found.isa,
                found.planes,
                &Ends::default(),
                found.linker,
            );
            let code = code.unwrap_or_else(|why| panic!("{what}: {why}"));
            check(&code, &what);
            count += 1;
        });
    }
    assert!(count > 500, "only {count} functions");
}
