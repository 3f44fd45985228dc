//! The reference interpreter: runs a whole program in any IR, strand by strand, as the evaluators define it.
//!
//! It is slow and plain on purpose: generated code, the scheduler and every pass are tested against it.

use super::{
    blur::blurred,
    facts::Data,
    fem::EvalMeshes,
    primitives::EvalImage,
    surroundings::{Body, Seen, Surroundings},
};
use crate::{
    front::tree::{Constant, InputDefault},
    ir::{interface::InputTarget, load::sequence_from_file, status, tensor::Ty},
    ssa::{Datum, Evaluate, Interrupt, Program, Role, evaluate},
};
use std::{path::Path, sync::Arc};

/// A dialect whose programs can be run: how its evaluator keeps the variables.
pub trait Runnable: Evaluate {
    /// An evaluator's world with these images, meshes and numbers.
    fn world(images: &[Arc<EvalImage>], meshes: EvalMeshes, numbers: Numbers) -> Self::World;
    /// The global variables, the state and the arguments.
    fn variables(world: &mut Self::World) -> [&mut Vec<Self::Datum>; 3];
    /// The other strands.
    fn surroundings(world: &mut Self::World) -> &mut Surroundings<Self::World, Self::Datum>;
    /// The printed text.
    fn printed(world: &Self::World) -> &str;
    /// How many values a variable of a type is.
    fn width(ty: &Ty) -> usize;
    /// A constant of a type as values of the IR.
    fn constant(world: &mut Self::World, constant: &Constant, ty: &Ty) -> Vec<Self::Datum>;
    /// A variable of a type as numbers; the length too, if it is a sequence of varying length.
    fn numbers(world: &Self::World, ty: &Ty, values: &[Self::Datum]) -> (Vec<f64>, Option<usize>);
}

/// The numbers of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Whether reals have 64 bits rather than 32.
    pub double: bool,
    /// Whether integers have 64 bits rather than 32.
    pub long_int: bool,
}

/// What a program gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For every output, its numbers for all living strands in order. The lengths of sequences are an output `NAME-len` of
    /// their own.
    pub outputs: Vec<(String, Vec<f64>)>,
    /// The printed text.
    pub printed: String,
}

/// What a strand has become.
#[derive(Clone, Copy, PartialEq)]
enum Life {
    New,
    Active,
    Stable,
    Dead,
}

struct Strand<D: Evaluate> {
    life: Life,
    state: Vec<D::Datum>,
}

impl<D: Evaluate> Strand<D> {
    fn is_active(&self) -> bool {
        matches!(self.life, Life::New | Life::Active)
    }
}

/// Runs a program on the defaults of its inputs, at most `limit` super-steps.
///
/// # Errors
/// The run-time error that ended it.
///
/// # Panics
/// If a sequence or mesh that the program loads cannot be read.
pub fn interpret<D: Runnable>(
    program: &Program<D>,
    images: &[Arc<EvalImage>],
    numbers: Numbers,
    limit: usize,
) -> Result<Outcome, Interrupt> {
    let meshes = EvalMeshes::load(&program.interface, numbers.double);
    interpret_with(program, images, meshes, numbers, limit)
}

/// The same with meshes from elsewhere. There is an image for each of the interface; those that the program smooths are replaced.
///
/// # Errors
/// The run-time error that ended it.
///
/// # Panics
/// If a sequence that the program loads cannot be read.
pub fn interpret_with<D: Runnable>(
    program: &Program<D>,
    images: &[Arc<EvalImage>],
    meshes: EvalMeshes,
    numbers: Numbers,
    limit: usize,
) -> Result<Outcome, Interrupt> {
    let mut run = Run::new(program, images, &meshes, numbers);
    if run.has(Role::Scales) {
        let images = run.smoothed(images)?;
        run = Run::new(program, &images, &meshes, numbers);
    }
    run.create()?;
    run.global_block(Role::GlobalStart)?;
    for _ in 0..limit {
        if !run.strands.iter().any(Strand::is_active) {
            break;
        }
        run.super_step()?;
    }
    Ok(Outcome {
        outputs: run.outputs(),
        printed: D::printed(&run.world).to_string(),
    })
}

struct Run<'a, D: Runnable> {
    program: &'a Program<D>,
    world: D::World,
    globals: Vec<D::Datum>,
    strands: Vec<Strand<D>>,
}

impl<'a, D: Runnable> Run<'a, D> {
    fn new(
        program: &'a Program<D>,
        images: &[Arc<EvalImage>],
        meshes: &EvalMeshes,
        numbers: Numbers,
    ) -> Run<'a, D> {
        let data = Data { images, meshes };
        let facts = program.interface.facts.iter();
        let known: Vec<(u32, Constant)> = facts
            .map(|known| (known.global, data.fact(known.fact)))
            .collect();
        let mut world = D::world(images, meshes.clone(), numbers);
        let bodies = program.functions.iter().filter_map(|(role, function)| {
            let function = function.clone();
            let body: Body<D::World, D::Datum> = Arc::new(move |world| evaluate(&function, world));
            matches!(role, Role::Reduce(_)).then_some(body)
        });
        D::surroundings(&mut world).bodies = bodies.collect();
        let globals = initial_globals(program, &mut world, &known, numbers);
        Run {
            program,
            world,
            globals,
            strands: Vec::new(),
        }
    }

    /// The images with those that the program smooths.
    fn smoothed(&mut self, images: &[Arc<EvalImage>]) -> Result<Vec<Arc<EvalImage>>, Interrupt> {
        let mut scales = self.call(Role::Scales, &[], &[])?.into_iter();
        let mut images = images.to_vec();
        let interface = &self.program.interface;
        for (n, blur) in interface.scales() {
            let ty = &interface.globals[blur.scale as usize].ty;
            let values: Vec<D::Datum> = scales.by_ref().take(D::width(ty)).collect();
            let (scale, _) = D::numbers(&self.world, ty, &values);
            let made = blurred(&images[blur.of as usize], &blur.border, &scale);
            images[n] = Arc::new(made);
        }
        Ok(images)
    }

    fn call(
        &mut self,
        role: Role,
        state: &[D::Datum],
        args: &[D::Datum],
    ) -> Result<Vec<D::Datum>, Interrupt> {
        let [g, s, a] = D::variables(&mut self.world);
        (*g, *s, *a) = (self.globals.clone(), state.to_vec(), args.to_vec());
        let before_strands = matches!(role, Role::Scales | Role::Globals | Role::Domain);
        if let Some(invariants) = self.program.function(Role::Invariants)
            && !before_strands
        {
            let invariants = evaluate(invariants, &mut self.world)?;
            D::variables(&mut self.world)[0].extend(invariants);
        }
        let function = self.program.function(role);
        evaluate(
            function.expect("a function of the program"),
            &mut self.world,
        )
    }

    fn has(&self, role: Role) -> bool {
        self.program.function(role).is_some()
    }

    fn create(&mut self) -> Result<(), Interrupt> {
        let named = self.call(Role::Globals, &[], &[])?;
        self.globals.splice(..named.len(), named);
        let mut domain = self.call(Role::Domain, &[], &[])?;
        let mut sequences = domain
            .split_off(2 * self.program.interface.axes.len())
            .into_iter();
        for &source in &self.program.interface.sources {
            let first = self.place(source);
            let width = D::width(&self.program.interface.globals[source as usize].ty);
            self.globals
                .splice(first..first + width, sequences.by_ref().take(width));
        }
        let bounds: Vec<i64> = domain.iter().map(Datum::as_int).collect();
        for index in iterate(&bounds) {
            let args: Vec<D::Datum> = index.into_iter().map(D::Datum::from_int).collect();
            let state = self.call(Role::Create, &[], &args)?;
            self.strands.push(Strand {
                life: Life::New,
                state,
            });
        }
        Ok(())
    }

    /// The place of a global variable among the values.
    fn place(&self, global: u32) -> usize {
        let before = &self.program.interface.globals[..global as usize];
        before.iter().map(|v| D::width(&v.ty)).sum()
    }

    /// Shows the strands to each other as they are now.
    fn publish(&mut self) {
        let seen = self.strands.iter().map(|strand| Seen {
            state: strand.state.clone(),
            stable: strand.life == Life::Stable,
        });
        D::surroundings(&mut self.world).strands = Arc::new(seen.collect());
    }

    /// Runs a method of a strand.
    fn method(&mut self, role: Role, n: usize) -> Result<(), Interrupt> {
        D::surroundings(&mut self.world).own = Some(n);
        let state = self.strands[n].state.clone();
        let mut results = self.call(role, &state, &[])?;
        let status = results.remove(0).as_int();
        self.strands[n].state = results;
        if role != Role::Stabilize {
            self.strands[n].life = match status {
                status::STABILIZE => Life::Stable,
                status::DIE => Life::Dead,
                _ => Life::Active,
            };
            if self.strands[n].life == Life::Stable {
                self.stabilize(n)?;
            }
        }
        Ok(())
    }

    fn stabilize(&mut self, n: usize) -> Result<(), Interrupt> {
        self.strands[n].life = Life::Stable;
        if self.has(Role::Stabilize) {
            self.method(Role::Stabilize, n)?;
        }
        Ok(())
    }

    fn super_step(&mut self) -> Result<(), Interrupt> {
        self.publish();
        for n in 0..self.strands.len() {
            if self.strands[n].life == Life::New && self.has(Role::Start) {
                self.method(Role::Start, n)?;
            }
            if self.strands[n].is_active() {
                self.method(Role::Update, n)?;
            }
        }
        self.strands.retain(|strand| strand.life != Life::Dead);
        let born = std::mem::take(&mut D::surroundings(&mut self.world).born);
        self.strands.extend(born.into_iter().map(|state| Strand {
            life: Life::New,
            state,
        }));
        self.global_block(Role::GlobalUpdate)
    }

    /// Runs a global block, if there is one, and applies its status to all strands.
    fn global_block(&mut self, role: Role) -> Result<(), Interrupt> {
        if !self.has(role) {
            return Ok(());
        }
        self.publish();
        let mut results = self.call(role, &[], &[])?;
        let status = results.remove(0).as_int();
        self.globals.splice(..results.len(), results);
        if status == status::DIE {
            self.strands.retain(|strand| !strand.is_active());
        }
        for n in 0..self.strands.len() {
            if status == status::STABILIZE && self.strands[n].is_active() {
                self.stabilize(n)?;
            }
        }
        Ok(())
    }

    fn outputs(&self) -> Vec<(String, Vec<f64>)> {
        let interface = &self.program.interface;
        let mut first = 0;
        let mut outputs = Vec::new();
        for state in &interface.state {
            let ty = &state.variable.ty;
            let width = D::width(ty);
            if state.output {
                let (mut numbers, mut lengths) = (Vec::new(), Vec::new());
                for strand in &self.strands {
                    let values = &strand.state[first..first + width];
                    let (more, length) = D::numbers(&self.world, ty, values);
                    numbers.extend(more);
                    lengths.extend(length.map(|n| n as f64));
                }
                outputs.push((state.variable.name.clone(), numbers));
                if matches!(ty, Ty::List(_)) {
                    outputs.push((format!("{}-len", state.variable.name), lengths));
                }
            }
            first += width;
        }
        outputs
    }
}

/// The global variables with the defaults of the inputs, the loaded sequences and the facts at their places; the others are not read.
fn initial_globals<D: Runnable>(
    program: &Program<D>,
    world: &mut D::World,
    facts: &[(u32, Constant)],
    Numbers { double, long_int }: Numbers,
) -> Vec<D::Datum> {
    let interface = &program.interface;
    let mut globals = Vec::new();
    for (n, variable) in interface.globals.iter().enumerate() {
        let target = InputTarget::Global(n as u32);
        let input = interface.inputs.iter().find(|i| i.target == target);
        let load = interface.loads.iter().find(|load| load.global == n as u32);
        let from_file = |file: &str, ty| {
            sequence_from_file(Path::new(file), ty, long_int, double)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let constant = match (input.and_then(|i| Some((i, i.default.as_ref()?))), load) {
            (Some((_, InputDefault::Value(constant))), _) => Some(constant.clone()),
            (Some((input, InputDefault::File(file))), _) => Some(from_file(file, &input.ty)),
            (Some((_, InputDefault::Computed(_))), _) => None,
            (None, Some(load)) => Some(from_file(&load.file, &load.ty)),
            (None, None) => {
                let known = facts.iter().find(|(global, _)| *global == n as u32);
                known.map(|(_, value)| value.clone())
            }
        };
        match constant {
            Some(constant) => globals.extend(D::constant(world, &constant, &variable.ty)),
            None => globals.extend(vec![D::Datum::from_int(0); D::width(&variable.ty)]),
        }
    }
    globals
}

/// All index tuples between pairs of bounds, the last fastest.
fn iterate(bounds: &[i64]) -> Vec<Vec<i64>> {
    bounds.chunks(2).fold(vec![vec![]], |tuples, range| {
        tuples
            .into_iter()
            .flat_map(|tuple| {
                (range[0]..=range[1]).map(move |n| tuple.iter().copied().chain([n]).collect())
            })
            .collect()
    })
}
