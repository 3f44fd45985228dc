//! Calls functions of a program, compiled in two ways, on the same random state.

use crate::host::{STRANDS, TestHost};
use compiler::{
    codegen::{
        self,
        abi::{FemTable, Frame, NEVER, images},
    },
    low::{self, Low, Op, Ty, Zeros},
    pipeline::{Compiled, Options},
    ssa::{Program, Role},
};
use ein_ir::ops;
use runtime::{
    fem::{Choice, FemFile, FemValues, FemWanted, Mesh, Outside},
    grid::TimeAxis,
    probe::{Border, ProbeImage},
    simd::{Isa, Real},
};
use std::{ptr, sync::Arc};

/// A generator of pseudo-random numbers (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        let mut dice = Dice((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            dice.bits();
        }
        dice
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    /// A number that is often special.
    pub(crate) fn real(&mut self) -> f64 {
        match self.below(40) {
            0 => 0.0,
            1 => 1.0,
            2 => -0.0,
            3 => f64::NAN,
            4 => f64::INFINITY,
            _ => self.below(20_000) as f64 / 4000.0 - 2.0,
        }
    }

    /// A value of a type as it is in a lane.
    pub(crate) fn lane(&mut self, ty: Ty, double: bool) -> u64 {
        match ty {
            Ty::Real if double => self.real().to_bits(),
            Ty::Real => u64::from((self.real() as f32).to_bits()),
            Ty::Bool if self.below(2) == 0 => 0,
            Ty::Bool => u64::MAX,
            Ty::Int | Ty::Str => self.below(5) as u64,
        }
    }
}

/// The lanes for which code is generated directly: options, and the instruction set they need.
pub(crate) fn configurations() -> Vec<(Options, Isa)> {
    let of = |double, long_int, width, isa| {
        let options = Options {
            double,
            long_int,
            width: Some(width),
            ..Options::default()
        };
        (options, isa)
    };
    let all = [
        of(false, false, 16, Isa::Avx512),
        of(true, false, 8, Isa::Avx512),
        of(true, true, 8, Isa::Avx512),
        of(false, false, 8, Isa::Avx2),
        of(true, false, 4, Isa::Avx2),
        of(true, true, 4, Isa::Avx2),
    ];
    all.into_iter()
        .filter(|(_, isa)| isa.is_available())
        .collect()
}

/// A line of the cache: blocks begin with one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u8; 64]);

/// A program compiled by the portable code generator and directly, with random globals and images.
pub(crate) struct Rig {
    pub(crate) portable: Compiled,
    pub(crate) direct: Compiled,
    pub(crate) globals: Vec<Ty>,
    /// The types of what functions are given.
    args: Vec<(Role, Vec<Ty>)>,
    cells: Vec<u64>,
    fields: Vec<*const ProbeImage<'static>>,
    /// The meshes as the code of each of the two takes them.
    fem: [FemTable; 2],
    strings: Vec<Arc<str>>,
}

/// What a call left behind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Left {
    /// Lanes that stabilized and that died.
    pub(crate) ended: [u32; 2],
    /// The lanes of every state slot; a NaN is any NaN.
    pub(crate) state: Vec<Vec<u64>>,
    /// All other bytes of the state, and results.
    rest: Vec<u8>,
    /// What the host was asked.
    log: Vec<String>,
}

impl Rig {
    /// `dice` are for the images.
    pub(crate) fn new(program: &Program<Low>, options: &Options, isa: Isa, dice: &mut Dice) -> Rig {
        let with = |isa| {
            let fitted = low::fit(program, Zeros::default());
            codegen::generate(program.clone(), fitted, options.lanes(), isa, Vec::new())
        };
        let (portable, direct) = (with(Isa::Baseline), with(isa));
        for (role, _) in program.functions.iter().filter(|(r, _)| r.is_strand_code()) {
            assert_eq!(portable.code.maker(*role), Some("cranelift"));
            assert_eq!(
                direct.code.maker(*role),
                Some("vector"),
                "{isa:?} {options:?}"
            );
        }
        let named = program
            .interface
            .globals
            .iter()
            .flat_map(|g| g.ty.scalars());
        let mut globals: Vec<Ty> = named.collect();
        if let Some(f) = program.function(Role::Invariants) {
            globals.extend(f.body.yields.iter().map(|&v| *f.type_of(v)));
        }
        let args = program.functions.iter().map(|(role, function)| {
            let mut types = Vec::new();
            function.each_op(&mut |op, _, _| {
                if let Op::Arg(n, ty) = op {
                    types.resize(types.len().max(*n as usize + 1), Ty::Int);
                    types[*n as usize] = *ty;
                }
            });
            (*role, types)
        });
        let args = args.collect();
        let (cells, fields) = small_images(program, &direct, options.double, dice);
        let fem = [&portable, &direct].map(|made| meshes(program, made, options.double));
        Rig {
            portable,
            direct,
            globals,
            args,
            cells,
            fields,
            fem,
            strings: vec!["".into(); 8],
        }
    }

    /// Random globals, and what follows from them and the images: code relies on that.
    pub(crate) fn globals(&self, dice: &mut Dice) -> Vec<u64> {
        let double = self.direct.lanes.double;
        let cell = |ty: &Ty| match ty {
            Ty::Bool => dice.below(2) as u64,
            ty => dice.lane(*ty, double),
        };
        let mut cells: Vec<u64> = self.globals.iter().map(cell).chain([0; 16]).collect();
        if self.portable.code.has(Role::Invariants) {
            let cells = cells.as_mut_ptr();
            self.call_with(&self.portable, Role::Invariants, cells, (1, 1, 0));
        }
        cells
    }

    /// Calls a function up to `steps` times on a random block.
    pub(crate) fn call(
        &self,
        program: &Compiled,
        role: Role,
        globals: &[u64],
        call: (u32, u64, u64),
    ) -> Left {
        // Strand code does not write globals.
        self.call_with(program, role, globals.as_ptr().cast_mut(), call)
    }

    fn call_with(
        &self,
        program: &Compiled,
        role: Role,
        globals: *mut u64,
        (mask, steps, seed): (u32, u64, u64),
    ) -> Left {
        let lanes = program.lanes;
        let (bytes, double) = (lanes.bytes(), lanes.double);
        let mut dice = Dice::new(seed);
        let layout = &program.state.layout;
        let mut block = blocks(program, layout.stride(), 1, &mut dice);
        let base = block.as_mut_ptr().cast::<u8>();
        let mut args: Vec<u8> = Vec::new();
        let types = self.args.iter().find(|(r, _)| *r == role);
        for (n, &ty) in types.iter().flat_map(|(_, types)| types).enumerate() {
            for _ in 0..lanes.width {
                args.extend(&dice.lane(ty, double).to_le_bytes()[..bytes]);
            }
            args.resize((n + 1) * lanes.width * 8, 0);
        }
        let mut results = vec![0u8; 64 * lanes.width * 8];
        let others = STRANDS / lanes.width;
        let all = blocks(program, layout.stride(), others, &mut dice);
        let published = blocks(program, layout.published_stride(), others, &mut dice);
        let mut host = TestHost::new();
        let mut frame = Frame {
            globals,
            state: base,
            args: args.as_ptr(),
            results: results.as_mut_ptr(),
            images: self.cells.as_ptr(),
            fields: self.fields.as_ptr().cast(),
            blocks: all.as_ptr().cast(),
            published: published.as_ptr().cast(),
            stop: &raw const NEVER,
            host: &raw mut host,
            fem: &raw const self.fem[usize::from(ptr::eq(program, &raw const self.direct))],
            hints: base,
            strings: &raw const self.strings,
            width: lanes.width as u32,
            int_bytes: lanes.lane_bytes(Ty::Int) as u32,
            mask,
            stable: 0,
            dead: 0,
            counts: [7, 4, 3],
        };
        let (mut left, mut ended) = (steps, [0; 2]);
        while left > 0 && frame.mask != 0 {
            (frame.stable, frame.dead) = (0, 0);
            // SAFETY: the frame is that of this program, with everything that a function may read or write.
            left -= unsafe { program.code.call_steps(role, &mut frame, left) };
            ended = [ended[0] | frame.stable, ended[1] | frame.dead];
            frame.mask &= !(frame.stable | frame.dead);
        }
        let mut state = Vec::new();
        for plane in &program.state.planes {
            let kept = if plane.is_handle { 4 } else { bytes };
            let lane = |lane| {
                let mut word = [0; 8];
                // SAFETY: the plane is in the block. A value is cleared after it is read, so that the rest can be compared as bytes.
                unsafe {
                    let at = base.add(plane.offset + lane * plane.stride);
                    ptr::copy_nonoverlapping(at, word.as_mut_ptr(), kept);
                    at.write_bytes(0, kept);
                }
                same_nan(plane.ty, u64::from_le_bytes(word), double)
            };
            state.push((0..lanes.width).map(lane).collect());
        }
        let mut rest: Vec<u8> = block.iter().flat_map(|line| line.0).collect();
        let words = results.chunks_exact(bytes).map(|chunk| {
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(chunk);
            same_nan(Ty::Real, u64::from_le_bytes(word), double)
        });
        rest.extend(words.flat_map(u64::to_le_bytes));
        Left {
            ended,
            state,
            rest,
            log: host.log,
        }
    }
}

/// This many blocks of random state, or of the beginning of it that is as long as `stride`.
fn blocks(program: &Compiled, stride: usize, count: usize, dice: &mut Dice) -> Vec<Line> {
    let lanes = program.lanes;
    let mut memory = vec![Line([0; 64]); (stride * count).div_ceil(64) + 1];
    let base = memory.as_mut_ptr().cast::<u8>();
    for block in 0..count {
        for plane in &program.state.planes {
            let kept = if plane.is_handle { 4 } else { lanes.bytes() };
            for lane in 0..lanes.width {
                let at = plane.offset + lane * plane.stride;
                let value = dice.lane(plane.ty, lanes.double).to_le_bytes();
                if at + kept <= stride {
                    // SAFETY: there is room for all blocks.
                    unsafe {
                        let to = base.add(block * stride + at);
                        ptr::copy_nonoverlapping(value.as_ptr(), to, kept);
                    }
                }
            }
        }
    }
    memory
}

/// All NaNs as one.
fn same_nan(ty: Ty, bits: u64, double: bool) -> u64 {
    let is_nan = if double {
        f64::from_bits(bits).is_nan()
    } else {
        f32::from_bits(bits as u32).is_nan()
    };
    if ty == Ty::Real && is_nan {
        u64::MAX
    } else {
        bits
    }
}

/// Small random images: what code knows of them, and the descriptions for probes. They live as long as the test.
fn small_images(
    program: &Program<Low>,
    compiled: &Compiled,
    double: bool,
    dice: &mut Dice,
) -> (Vec<u64>, Vec<*const ProbeImage<'static>>) {
    struct Small {
        sizes: Vec<usize>,
        to_index: Vec<f64>,
        offset: Vec<f64>,
        samples: Vec<f64>,
        components: usize,
        /// The number of frames, if it is over time.
        frames: Option<usize>,
    }
    let times = TimeAxis::regular(0.25, 0.5).expect("times");
    let all: Vec<Small> = program
        .interface
        .images
        .iter()
        .map(|image| {
            let sizes = [13, 11, 9][..image.dim].to_vec();
            let components = image.shape.size();
            let frames = image.timed.then_some(4);
            let count = sizes.iter().product::<usize>() * components * frames.unwrap_or(1);
            let small = |dice: &mut Dice| dice.below(4000) as f64 / 1000.0 - 2.0;
            Small {
                to_index: (0..image.dim * image.dim).map(|_| small(dice)).collect(),
                offset: (0..image.dim).map(|_| small(dice) + 4.0).collect(),
                samples: (0..count).map(|_| small(dice)).collect(),
                sizes,
                components,
                frames,
            }
        })
        .collect();
    let known = all.iter().map(|i| images::ImageFacts {
        sizes: &i.sizes,
        to_index: (&i.to_index, &i.offset),
        frames: i.frames.unwrap_or(1),
        time: i.frames.map(|_| &times),
    });
    let mut cells = images::cells(known, double);
    cells.push(0);
    let fields = compiled.code.linker().fields().iter().map(|field| {
        let image = &all[field.image as usize];
        let border = match &field.border {
            ops::Border::Clamp => Border::Clamp,
            ops::Border::Mirror => Border::Mirror,
            ops::Border::Wrap => Border::Wrap,
            ops::Border::Constant(values) => {
                let values: Vec<f64> = values.iter().map(|x| x.get()).collect();
                Border::Constant(Vec::leak(values))
            }
        };
        let (sizes, components) = (&image.sizes[..], image.components);
        let singles = || image.samples.iter().map(|&x| x as f32).collect();
        let described = match (double, image.frames) {
            (true, None) => {
                let samples = Vec::leak(image.samples.clone());
                ProbeImage::new(&*samples, sizes, components, border)
            }
            (true, Some(frames)) => {
                let samples = Vec::leak(image.samples.clone());
                ProbeImage::over_time(&*samples, sizes, components, (frames, &times), border)
            }
            (false, None) => {
                ProbeImage::new(&*Vec::<f32>::leak(singles()), sizes, components, border)
            }
            (false, Some(frames)) => {
                let samples = Vec::<f32>::leak(singles());
                ProbeImage::over_time(&*samples, sizes, components, (frames, &times), border)
            }
        };
        let described: &'static ProbeImage<'static> =
            Box::leak(Box::new(described.expect("an image")));
        // Probes are done in place from the first on.
        described.assume_inside();
        ptr::from_ref(described)
    });
    (cells, fields.collect())
}

/// The meshes that a program names, as its code takes them.
fn meshes(program: &Program<Low>, compiled: &Compiled, double: bool) -> FemTable {
    let real = if double { Real::F64 } else { Real::F32 };
    let interface = &program.interface;
    let files = interface.meshes.iter().map(|mesh| {
        let file = mesh.file.as_ref().expect("a mesh has a file");
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        FemFile::read(&root.join(file)).unwrap_or_else(|e| panic!("{e}"))
    });
    let files: Vec<FemFile> = files.collect();
    let made = files.iter().zip(&interface.meshes);
    let meshes: Vec<Arc<Mesh>> = made
        .map(|(file, mesh)| Arc::new(Mesh::new(file, mesh.dim, real).expect("a mesh")))
        .collect();
    let values: Vec<Arc<FemValues>> = interface
        .fems
        .iter()
        .map(|fem| {
            let choice = Choice {
                array: fem.array.as_deref(),
                variable: &fem.variable,
                shape: fem.shape.dims(),
            };
            let mesh = fem.mesh as usize;
            Arc::new(FemValues::new(&meshes[mesh], &files[mesh], &choice).expect("values"))
        })
        .collect::<Vec<_>>();
    let wanted = compiled.code.linker().fem_probes().iter().map(|probe| {
        let fields = probe.wanted.iter().map(|(field, orders)| FemWanted {
            values: values[field.fem as usize].clone(),
            orders: orders.0,
            outside: match &field.outside {
                None => Outside::Nan,
                Some(values) => Outside::Constant(values.iter().map(|x| x.get()).collect()),
            },
        });
        fields.collect()
    });
    let wanted = wanted.collect();
    FemTable {
        meshes,
        values: (0..).zip(values).collect(),
        wanted,
    }
}
