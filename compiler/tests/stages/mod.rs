//! Runs a program in every IR and as machine code, and compares.

use compiler::{
    codegen::{self, gpu::MeshData},
    device::{self, MeshTraits},
    front::{
        source::Source,
        tree::{Constant, InputDefault},
    },
    interpret::{
        LEFT, Numbers, Outcome, fem::EvalMeshes, interpret, interpret_with,
        mesh_tables::EvalTables, primitives::EvalImage,
    },
    ir::interface::{Input, Interface},
    low::{self, Bounds, Zeros},
    pipeline::{self, Compiled, Lowered, Options, Session},
    run::{ImageSource, Inputs, Run},
    ssa::{Dialect, Interrupt, Program, Role},
};
use ndarray::{ArrayD, IxDyn};
use runtime::{
    fem::{Choice, FemFile, FemValues, Mesh},
    image::{Declared, Image, ImageArray, MapFiles, Orientation, Reading},
    simd::{Isa, Real},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Rounding: of single precision relative to the size of the numbers, and of double precision.
pub(crate) const SINGLE: f64 = 2e-4;
/// See [`SINGLE`].
pub(crate) const DOUBLE: f64 = 1e-9;

/// Strands per call.
pub(crate) const WIDTHS: [usize; 4] = [1, 4, 8, 16];

/// A program with its inputs.
pub(crate) struct Case {
    /// For messages.
    pub(crate) name: String,
    /// The program.
    pub(crate) source: Source,
    /// Values of integer inputs that differ from the defaults.
    pub(crate) ints: Vec<(&'static str, i64)>,
    /// The same for real inputs.
    pub(crate) reals: Vec<(&'static str, f64)>,
    /// The images, in the order of the program.
    pub(crate) images: Vec<ImageSource>,
    /// Super-steps at most.
    pub(crate) limit: usize,
    /// Whether integers have 64 bits.
    pub(crate) long_int: bool,
    /// A folder with files that are loaded on demand instead of those of the same names.
    pub(crate) on_demand: Option<&'static Path>,
}

/// What code for the meshes of a program depends on, and their tables.
fn tables_of_meshes(interface: &Interface, double: bool) -> Vec<(MeshTraits, Arc<EvalTables>)> {
    let real = if double { Real::F64 } else { Real::F32 };
    let tables = interface.meshes.iter().enumerate().map(|(number, mesh)| {
        let file = Path::new(mesh.file.as_ref().expect("a mesh with a file"));
        let file = FemFile::read(file).expect("a readable mesh");
        let made = Arc::new(Mesh::new(&file, mesh.dim, real).expect("a mesh"));
        let own = (0..).zip(&interface.fems);
        let own = own.filter(|(_, fem)| fem.mesh as usize == number);
        let values = own.map(|(fem, described)| {
            let choice = Choice {
                array: described.array.as_deref(),
                variable: &described.variable,
                shape: described.shape.dims(),
            };
            (fem, FemValues::new(&made, &file, &choice).expect("values"))
        });
        let values: Vec<(u32, FemValues)> = values.collect();
        let values: Vec<(u32, &FemValues)> = values.iter().map(|(n, v)| (*n, v)).collect();
        let data = MeshData {
            mesh: &made,
            values: values.clone(),
        };
        (data.traits(), Arc::new(EvalTables::new(&made, &values)))
    });
    tables.collect()
}

/// The repository's root: where it was when this was compiled, or, on another machine, where this runs.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if root.exists() { root } else { ".".into() }
}

/// The programs in a folder, in the order of their names.
pub(crate) fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect(folder)
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "diderot"))
        .collect();
    found.sort();
    found
}

/// A program's text.
pub(crate) fn read(path: &Path) -> Source {
    Source::new(path, std::fs::read_to_string(path).expect("a program"))
}

impl Case {
    /// A program on the defaults of its inputs, with the images it names.
    pub(crate) fn new(mut source: Source) -> Case {
        // Programs name their data from the root of the repository, where tests do not run.
        let data = format!("\"{}/data/", root().display());
        source.text = source.text.replace("\"data/", &data);
        Case {
            name: source.path.display().to_string(),
            source,
            ints: Vec::new(),
            reals: Vec::new(),
            images: Vec::new(),
            long_int: false,
            on_demand: None,
            limit: 1000,
        }
    }

    /// The program after every stage, with this case's values as the defaults of its inputs.
    #[track_caller]
    pub(crate) fn lower(&self, options: &Options) -> Lowered {
        let mut lowered = match pipeline::lower(&mut Session::default(), &self.source, options) {
            Ok(lowered) => lowered,
            Err(stopped) => panic!("{}: {stopped:?}\n{}", self.name, self.source.text),
        };
        let mut interface = Interface::clone(&lowered.translated.interface);
        for input in &mut interface.inputs {
            if let Some(value) = self.value(input) {
                input.default = Some(InputDefault::Value(value));
            }
        }
        let interface = Arc::new(interface);
        lowered.translated.interface = interface.clone();
        lowered.derived.interface = interface.clone();
        lowered.normalized.interface = interface.clone();
        lowered.reconstructed.interface = interface.clone();
        lowered.scalarized.interface = interface.clone();
        lowered.hoisted.interface = interface.clone();
        lowered.bounded.interface = interface;
        lowered
    }

    fn value(&self, input: &Input) -> Option<Constant> {
        let named = |name: &&str| *name == input.name;
        match &input.ty {
            ein_ir::Type::Int => {
                let given = self.ints.iter().find(|(name, _)| named(name))?;
                Some(Constant::Int(given.1))
            }
            ein_ir::Type::Tensor(shape) if shape.is_scalar() => {
                let given = self.reals.iter().find(|(name, _)| named(name))?;
                Some(Constant::Tensor(shape.clone(), vec![given.1]))
            }
            _ => None,
        }
    }

    /// The images as the interpreter takes them.
    pub(crate) fn eval_images(&self, interface: &Interface) -> Vec<Arc<EvalImage>> {
        let wanted = interface.images.iter().enumerate();
        let load = |(n, image): (usize, &compiler::ir::interface::Image)| {
            // An image that is smoothed begins as the image that it is made of.
            let n = interface.loaded_image(n);
            let image = match image.blur {
                Some(_) => &interface.images[n],
                None => image,
            };
            let declared = Declared {
                dim: image.dim,
                timed: image.timed,
                shape: image.shape.dims(),
            };
            let loaded: Image<f64> = match self.images.get(n) {
                Some(ImageSource::Array(array)) => {
                    array.image(declared).expect("an image that fits")
                }
                given => {
                    let file = match given {
                        Some(ImageSource::File(file)) => &**file,
                        _ => Path::new(image.file.as_ref().expect("an image with a file")),
                    };
                    Image::read_with(file, declared, &Reading::default())
                        .expect("a readable image")
                        .image
                }
            };
            Arc::new(EvalImage::of(&loaded))
        };
        wanted.map(load).collect()
    }

    /// What machine code gives.
    #[track_caller]
    pub(crate) fn run(&self, options: &Options, workers: usize) -> Outcome {
        self.finish(self.begin(self.compile(options), workers))
    }

    /// The machine code.
    #[track_caller]
    pub(crate) fn compile(&self, options: &Options) -> Compiled {
        pipeline::compile(&mut Session::default(), &self.source, options)
            .unwrap_or_else(|e| panic!("{}: {e:?}\n{}", self.name, self.source.text))
    }

    #[track_caller]
    pub(crate) fn finish(&self, mut running: Run) -> Outcome {
        let mut printed = Vec::new();
        running
            .run(Some(self.limit as u64), &mut printed, &mut [])
            .unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let outputs = running
            .outputs()
            .expect("strands")
            .into_iter()
            .flat_map(|data| {
                let values = (data.output.name.clone(), data.numbers());
                let lengths = data.lengths.map(|lengths| {
                    let lengths = lengths.into_iter().map(|n| n as f64).collect();
                    (format!("{}-len", data.output.name), lengths)
                });
                [values].into_iter().chain(lengths)
            });
        Outcome {
            outputs: outputs.collect(),
            printed: String::from_utf8(printed).expect("text"),
        }
    }

    #[track_caller]
    pub(crate) fn begin(&self, program: Compiled, workers: usize) -> Run {
        let mut inputs = Inputs::of(&program);
        for input in &program.interface.inputs {
            let set = match self.value(input) {
                Some(Constant::Int(n)) => inputs.set(&input.name, n),
                Some(Constant::Tensor(_, values)) => inputs.set(&input.name, values[0]),
                Some(other) => panic!("the value {other:?} for an input"),
                None => Ok(()),
            };
            set.unwrap_or_else(|e| panic!("{}: {e}", self.name));
        }
        for (n, source) in self.images.iter().enumerate() {
            inputs.set_source(n, source.clone());
        }
        for (n, image) in program.interface.images.iter().enumerate() {
            let name = image
                .file
                .as_ref()
                .and_then(|file| Path::new(file).file_name());
            if let (Some(folder), Some(name)) = (self.on_demand, name) {
                inputs.set_source(n, ImageSource::File(folder.join(name).into()));
                let map = MapFiles::Always;
                inputs.set_reading_of(
                    n,
                    Reading {
                        map,
                        ..Reading::default()
                    },
                );
            }
        }
        let running = Run::new(&program, &inputs, workers);
        running.unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// Runs every stage in the reference interpreter with 64-bit reals; they must agree. Gives the stages and what the first
    /// one gave.
    #[track_caller]
    pub(crate) fn stages_agree(&self) -> (Lowered, Outcome) {
        let numbers = Numbers {
            double: true,
            long_int: self.long_int,
        };
        let options = Options {
            double: true,
            long_int: self.long_int,
            bounds: Bounds::All,
            ..Options::default()
        };
        let lowered = self.lower(&options);
        let images = self.eval_images(&lowered.translated.interface);
        let run = |what: &str, outcome: Result<Outcome, compiler::ssa::Interrupt>| {
            outcome.unwrap_or_else(|e| panic!("{} {what}: {e:?}\n{}", self.name, self.source.text))
        };
        let limit = self.limit;
        // Derivatives by variables have values from here on.
        self.read_back(&lowered.translated);
        let reference = run(
            "derived",
            interpret(&self.read_back(&lowered.derived), &images, numbers, limit),
        );
        let stages = [
            (
                "normalized",
                interpret(
                    &self.read_back(&lowered.normalized),
                    &images,
                    numbers,
                    limit,
                ),
            ),
            (
                "reconstructed",
                interpret(
                    &self.read_back(&lowered.reconstructed),
                    &images,
                    numbers,
                    limit,
                ),
            ),
            (
                "scalarized",
                interpret(
                    &self.read_back(&lowered.scalarized),
                    &images,
                    numbers,
                    limit,
                ),
            ),
            (
                "hoisted",
                interpret(&self.read_back(&lowered.hoisted), &images, numbers, limit),
            ),
            (
                "bounded",
                interpret(&self.read_back(&lowered.bounded), &images, numbers, limit),
            ),
        ];
        for (what, outcome) in stages {
            let outcome = run(what, outcome);
            self.assert_close(what, &outcome, &reference, DOUBLE, 0);
            assert_same_text(what, &outcome.printed, &reference.printed);
        }
        (lowered, reference)
    }

    /// Runs machine code for every number of strands per call in both precisions; in single precision `strays` numbers may
    /// be wrong, where rounding decides about a condition.
    #[track_caller]
    pub(crate) fn machine_code_agrees(
        &self,
        (lowered, reference): &(Lowered, Outcome),
        strays: usize,
    ) {
        // What runs is what the text says.
        let bounded = self.read_back(&lowered.bounded);
        for width in WIDTHS {
            for (double, tolerance, strays) in [(true, DOUBLE, 0), (false, SINGLE, strays)] {
                let options = Options {
                    double,
                    long_int: self.long_int,
                    width: Some(width),
                    ..Options::default()
                };
                let what = format!("width {width}, double {double}");
                // Nothing before code generation depends on these options.
                let generated = |isa| {
                    let (program, lanes) = (bounded.clone(), options.lanes());
                    let zeros = Zeros::aligned(&program.interface);
                    let fitted = low::fit(&program, zeros);
                    codegen::generate(program, fitted, lanes, isa, Vec::new())
                };
                let found = self.finish(self.begin(generated(Isa::Baseline), 2));
                self.assert_close(&what, &found, reference, tolerance, strays);
                if double {
                    assert_same_text(&what, &found.printed, &reference.printed);
                }
                // Code that is generated for vectors directly gives the same bits.
                for isa in [Isa::Avx2, Isa::Avx512]
                    .into_iter()
                    .filter(|isa| isa.is_available())
                {
                    let program = generated(isa);
                    if program.code.maker(Role::Update) == Some("vector") {
                        let direct = self.finish(self.begin(program, 2));
                        let both = [&direct, &found].map(|outcome| format!("{outcome:?}"));
                        assert_eq!(both[0], both[1], "{} {what} {isa:?}", self.name);
                    }
                }
            }
        }
    }

    /// Runs the program in Device-IR, where primitives are scalar operations, in both precisions; it must give the bits of
    /// machine code. Programs that only the CPU runs, that leave a strand to it, or probe images that are too small, have no
    /// such result.
    #[track_caller]
    pub(crate) fn device_agrees(&self) {
        for double in [false, true] {
            let options = Options {
                double,
                long_int: self.long_int,
                ..Options::default()
            };
            let lowered = self.lower(&options);
            let interface = &lowered.hoisted.interface;
            // The evaluator sums smoothed images in another order than the runtime, so their last bits differ.
            if interface.scales().next().is_some() {
                continue;
            }
            let over_time = interface.fems.iter().any(|fem| fem.timed);
            // The evaluator sums the volumes of cells in another order than the runtime.
            let of_meshes = !interface.meshes.is_empty() && !interface.facts.is_empty();
            if over_time || of_meshes || device::unsupported(&lowered.hoisted).is_some() {
                continue;
            }
            let tables = tables_of_meshes(interface, double);
            let traits: Vec<MeshTraits> = tables.iter().map(|(traits, _)| traits.clone()).collect();
            let wanted = device::mesh_demands(&lowered.hoisted);
            if (0..).zip(&traits).any(|(number, traits)| {
                device::refuse_meshes(&wanted, number, &traits.mesh, || false).is_some()
            }) {
                continue;
            }
            let images = self.eval_images(&lowered.hoisted.interface);
            let demands = device::demands(&lowered.hoisted, double);
            if demands.iter().any(|demand| {
                let size = images[demand.image as usize].sizes[demand.axis];
                !(demand.least..=demand.most).contains(&size)
            }) {
                continue;
            }
            let expanded = lowered
                .hoisted
                .clone()
                .map(|_, f| device::expand(&f, double));
            assert_eq!(expanded.verify(), Vec::<String>::new(), "{}", self.name);
            let numbers = Numbers {
                double,
                long_int: self.long_int,
            };
            self.read_back(&expanded);
            let special = expanded.map(|_, f| device::specialize(&f, double, &traits));
            assert_eq!(special.verify(), Vec::<String>::new(), "{}", self.name);
            let meshes = EvalMeshes {
                tables: tables.into_iter().map(|(_, tables)| tables).collect(),
                ..EvalMeshes::load(&special.interface, double)
            };
            let special = self.read_back(&special);
            match interpret_with(&special, &images, meshes, numbers, self.limit) {
                Ok(found) => self.assert_same_bits(&found, &self.run(&options, 1)),
                Err(Interrupt::Error { message, .. }) => {
                    assert_eq!(message, LEFT, "{}", self.name);
                    eprintln!("{}: {message}", self.name);
                }
            }
        }
    }

    /// Compares outputs exactly, except for what kind of no number a NaN is.
    #[track_caller]
    pub(crate) fn assert_same_bits(&self, found: &Outcome, wanted: &Outcome) {
        let bits = |outcome: &Outcome| -> Vec<(String, Vec<u64>)> {
            let canonical = |&x: &f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
            let outputs = outcome.outputs.iter();
            outputs
                .map(|(name, numbers)| (name.clone(), numbers.iter().map(canonical).collect()))
                .collect()
        };
        if bits(found) != bits(wanted) {
            self.assert_close("device", found, wanted, 0.0, 0);
            panic!("{}: signs of zeros differ", self.name);
        }
        assert_eq!(found.printed, wanted.printed, "{}", self.name);
    }

    /// The same with 64-bit integers; in single precision these run one strand at a time.
    #[track_caller]
    pub(crate) fn long_integers_agree(&self, reference: &Outcome) {
        for (double, tolerance) in [(true, DOUBLE), (false, SINGLE)] {
            let options = Options {
                double,
                long_int: true,
                ..Options::default()
            };
            let what = format!("long integers, double {double}");
            self.assert_close(&what, &self.run(&options, 2), reference, tolerance, 0);
        }
    }

    /// The program that is read back from the text of a program in any IR; it prints as the same text.
    #[track_caller]
    fn read_back<D: Dialect>(&self, program: &Program<D>) -> Program<D> {
        let text = program.to_string();
        let again: Program<D> =
            (text.parse()).unwrap_or_else(|e| panic!("{}: {e}\n{text}", self.name));
        assert_eq!(again.to_string(), text, "{}", self.name);
        assert_eq!(again.interface, program.interface, "{}", self.name);
        again
    }

    /// Compares all outputs.
    #[track_caller]
    pub(crate) fn assert_close(
        &self,
        what: &str,
        found: &Outcome,
        wanted: &Outcome,
        tolerance: f64,
        strays: usize,
    ) {
        let name = &self.name;
        let text = &self.source.text;
        assert_eq!(found.outputs.len(), wanted.outputs.len(), "{name} {what}");
        for ((output, found), (_, wanted)) in found.outputs.iter().zip(&wanted.outputs) {
            assert_eq!(
                found.len(),
                wanted.len(),
                "{name} {what}: length of `{output}`\n{text}"
            );
            let far: Vec<String> = (found.iter().zip(wanted).enumerate())
                .filter(|(_, (f, w))| {
                    let near = (*f - *w).abs() <= tolerance * (1.0 + w.abs());
                    !(near || (f.is_nan() && w.is_nan()) || f == w)
                })
                .map(|(n, (f, w))| format!("`{output}`[{n}] is {f}, wanted {w}"))
                .collect();
            assert!(
                far.len() <= strays,
                "{name} {what}: {}\n{text}",
                far[..far.len().min(5)].join("\n")
            );
        }
    }
}

/// Compares printed texts: words exactly, numbers within rounding.
#[track_caller]
fn assert_same_text(what: &str, found: &str, wanted: &str) {
    let words = |text: &str| -> Vec<String> {
        let is_part = |c: char| c.is_ascii_digit() || ".-+e".contains(c);
        text.split_inclusive(|c| !is_part(c))
            .flat_map(|word| match word.char_indices().next_back() {
                Some((at, last)) if !is_part(last) => vec![word[..at].into(), last.to_string()],
                _ => vec![word.to_string()],
            })
            .collect()
    };
    let (found_words, wanted_words) = (words(found), words(wanted));
    let same = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= DOUBLE * (1.0 + b.abs()),
        _ => a == b,
    };
    let all = found_words.len() == wanted_words.len()
        && found_words
            .iter()
            .zip(&wanted_words)
            .all(|(a, b)| same(a, b));
    assert!(all, "{what}:\n{found}\nwanted:\n{wanted}");
}

/// What a generator of data gives with this many samples along each axis: an image over [−1.5, 1.5] along each.
pub(crate) fn generated(
    program: &str,
    dim: usize,
    voxel: &[usize],
    size: i64,
    shape: &str,
) -> ImageSource {
    let mut source = read(&root().join(format!("programs/synth/{program}.diderot")));
    source.text = source
        .text
        .replace("= \"sphere\"", &format!("= \"{shape}\""));
    let mut case = Case::new(source);
    case.ints = vec![("size", size)];
    let outcome = case.run(&Options::default(), 2);
    let extents = [&vec![size as usize; dim][..], voxel].concat();
    let samples = ArrayD::from_shape_vec(IxDyn(&extents), outcome.outputs[0].1.clone())
        .expect("as many numbers as samples");
    let step = 3.0 / (size - 1) as f64;
    let directions: Vec<Vec<f64>> = (0..dim)
        .map(|axis| {
            (0..dim)
                .map(|k| if k == axis { step } else { 0.0 })
                .collect()
        })
        .collect();
    let orientation = Orientation::new(&directions, &vec![-1.5; dim]).expect("a grid");
    ImageSource::Array(ImageArray::new(samples, orientation))
}
