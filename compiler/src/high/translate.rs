//! Translates a typed program to High-IR.
//!
//! Functions are inlined where they are called; assignments become values, merged where control flow joins; an exit becomes a
//! status (see [`crate::ssa`]). Statics and kernels are resolved; fields become values that normalization
//! will remove.

mod expr;
mod facts;
mod field;
mod flow;
mod indexed;
mod iterate;
mod operators;
mod ranges;
mod requests;
mod scales;
mod statics;
mod steps;
mod strands;
mod time;

use super::High;
use crate::{
    front::{
        limits::{closed_form::obstacles, observed::Observed},
        tree::{self, Block, Expr, ExprKind, Global, InputDefault, VarId, int_range},
    },
    ir::{
        Bits,
        interface::{Input, InputTarget, Interface, State, Variable},
        tensor::{Base, Dynamic, Ty},
    },
    ssa::{Builder, Function, Program, Role, Value},
};
use ein_ir::Type;
use requests::Parameters;
pub use requests::Request;
use statics::Statics;
use std::{collections::BTreeMap, sync::Arc};
use time::{OverTime, Translated};

/// The variables that values of a function were given to, in that order.
pub type Names = Vec<(Value, VarId)>;

/// A translated program.
#[derive(Debug)]
pub struct Translation {
    /// The program.
    pub program: Program<High>,
    /// The variables of each function.
    pub names: BTreeMap<Role, Names>,
    /// The derivatives that the program asks for, by their numbers.
    pub requests: Vec<Request>,
}

/// Translates a whole program.
pub fn translate(program: &tree::Program, long_int: bool) -> Translation {
    let plan = Plan::new(program, long_int);
    let mut statics = Statics::default();
    let mut functions = vec![(Role::Globals, globals(program, &plan, &mut statics))];
    functions.push((Role::Domain, domain(program, &plan, &mut statics)));
    functions.push((Role::Create, create(program, &plan, &mut statics)));
    for (kind, block) in &program.strand.methods {
        let role = match kind {
            crate::front::syntax::ast::MethodKind::Start => Role::Start,
            crate::front::syntax::ast::MethodKind::Update => Role::Update,
            crate::front::syntax::ast::MethodKind::Stabilize => Role::Stabilize,
        };
        functions.push((role, method(program, &plan, &mut statics, role, block)));
    }
    for (role, block) in [
        (Role::GlobalStart, &program.start),
        (Role::GlobalUpdate, &program.update),
    ] {
        if let Some(block) = block {
            functions.push((
                role,
                global_block(program, &plan, &mut statics, role, block),
            ));
        }
    }
    let scales = scales::scales(program, &plan, &mut statics);
    functions.extend(scales.map(|function| (Role::Scales, function)));
    let reductions = std::mem::take(&mut statics.reductions);
    functions.extend((0..).map(Role::Reduce).zip(reductions));
    functions.sort_by_key(|(role, _)| *role);
    let names = std::mem::take(&mut statics.names).into_iter().collect();
    let requests = std::mem::take(&mut statics.requests);
    let interface = plan.interface(program, statics);
    Translation {
        program: Program {
            interface: Arc::new(interface),
            functions,
        },
        names,
        requests,
    }
}

/// The variable that a top-level definition defines.
fn defined(global: &Global) -> VarId {
    match global {
        Global::Input { var, .. }
        | Global::Variable { var, .. }
        | Global::FieldFunction { var, .. } => *var,
    }
}

/// Where the variables of the source live at run time.
struct Plan {
    /// Global variables with values at run time, in order.
    globals: Vec<VarId>,
    /// State variables, then the parameters of the strand.
    state: Vec<VarId>,
    /// The least and the greatest integer.
    ints: (i64, i64),
    /// The field functions that have no closed form and are code, with their places among the globals.
    code_fields: BTreeMap<VarId, usize>,
    /// The parts of variables that are read.
    observed: Observed,
    /// The variables that derivatives are taken by.
    parameters: Parameters,
}

impl Plan {
    fn new(program: &tree::Program, long_int: bool) -> Plan {
        let observed = Observed::of(program);
        let is_value = |var: &VarId| program.vars[var.0].ty.is_value();
        // Of a sequence in steps that only others are defined by, nothing has to be stored.
        let is_stored = |var: VarId, value: &Option<Expr>| {
            let in_steps = |e: &Expr| matches!(e.kind, ExprKind::Recurrence(_));
            !(value.as_ref().is_some_and(in_steps) && observed.is_passing(var))
        };
        let is_global = |global: &&Global| match global {
            Global::Variable { var, value } => is_stored(*var, value),
            _ => true,
        };
        let globals = program
            .globals
            .iter()
            .filter(is_global)
            .map(defined)
            .filter(is_value)
            .collect();
        let state = program
            .strand
            .state
            .iter()
            .filter(|s| is_stored(s.var, &s.value))
            .map(|s| s.var)
            .chain(program.strand.params.iter().copied())
            .collect();
        let obstacles = obstacles(program);
        let vars = program.globals.iter().map(defined).zip(0..);
        let code_fields = vars
            .filter(|(var, _)| obstacles.contains_key(var))
            .collect();
        Plan {
            globals,
            state,
            ints: int_range(long_int),
            code_fields,
            observed,
            parameters: Parameters::of(program),
        }
    }

    fn interface(&self, program: &tree::Program, statics: Statics) -> Interface {
        let variable = |var: &VarId| {
            let var = &program.vars[var.0];
            Variable {
                name: var.name.clone(),
                ty: Ty::of(&var.ty),
            }
        };
        let inputs = program.globals.iter().filter_map(|global| match global {
            Global::Input {
                var,
                description,
                default,
            } => {
                let source = &program.vars[var.0];
                let target = match self.globals.iter().position(|g| g == var) {
                    Some(n) => InputTarget::Global(n as u32),
                    None => statics.of_input(*var)?,
                };
                Some(Input {
                    name: source.name.clone(),
                    ty: source.ty.clone(),
                    description: description.clone(),
                    default: match default {
                        Some(InputDefault::Computed(_)) => {
                            Some(InputDefault::Computed(Plan::sources_of(program, *var)))
                        }
                        known => known.clone(),
                    },
                    target,
                })
            }
            Global::Variable { .. } | Global::FieldFunction { .. } => None,
        });
        let outputs = program.strand.state.iter().filter(|s| s.output);
        let outputs: Vec<VarId> = outputs.map(|s| s.var).collect();
        Interface {
            strand: program.strand.name.clone(),
            inputs: inputs.collect(),
            globals: self
                .globals
                .iter()
                .map(variable)
                .chain(statics.unnamed_globals.iter().cloned())
                .collect(),
            images: statics.images(),
            meshes: statics.meshes.clone(),
            fems: statics.fems.clone(),
            loads: statics.loads,
            facts: statics.facts,
            sources: statics.sources,
            state: self
                .state
                .iter()
                .map(|var| State {
                    variable: variable(var),
                    output: outputs.contains(var),
                    is_position: program.strand.position == Some(*var),
                })
                .collect(),
            grid: program.create.grid,
            axes: (program.create.iters.iter())
                .map(|(var, _)| program.vars[var.0].name.clone())
                .collect(),
        }
    }
}

/// A variable that control flow can change: one of the source, or one that stands for an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    /// A variable of the source.
    Var(VarId),
    /// How the method, global block or function ended, see [`crate::ir::status`].
    Status,
    /// What the function returns.
    Result,
}

/// The state of translating one function of the program.
struct Translator<'a> {
    program: &'a tree::Program,
    plan: &'a Plan,
    statics: &'a mut Statics,
    b: Builder<High>,
    /// The current value of every variable in scope.
    env: BTreeMap<Key, Value>,
    /// The function that is being translated.
    role: Role,
    /// The variables that values were given to so far.
    named: Names,
    /// Whether the body of a field function is being translated, where tensors may have become fields.
    in_field_body: bool,
    /// The variable that stands for the strand itself, in the body of a reduction.
    reduced: Option<VarId>,
    /// The call that is being translated, by its number; 0 outside of calls.
    call: u32,
    /// Whether code is translated a second time, for derivatives through it. It does not print again.
    is_repeated: bool,
    /// The definitions of fields over time.
    over_time: OverTime,
    /// The number of definitions of fields over time so far.
    definitions: usize,
    /// The fields that they have been translated to.
    translated: Translated,
    /// The time at which a field over time is being translated.
    time: Option<Value>,
}

impl<'a> Translator<'a> {
    fn new(
        program: &'a tree::Program,
        plan: &'a Plan,
        statics: &'a mut Statics,
        role: Role,
    ) -> Self {
        Translator {
            program,
            plan,
            statics,
            role,
            named: Vec::new(),
            b: Builder::default(),
            env: BTreeMap::new(),
            in_field_body: false,
            reduced: None,
            call: 0,
            is_repeated: false,
            over_time: OverTime::new(),
            definitions: 0,
            translated: Translated::new(),
            time: None,
        }
    }

    /// Gives a variable a value; values remember the names they had, for explanations.
    fn bind(&mut self, var: VarId, value: Value) {
        self.named.push((value, var));
        self.give(var, value);
    }

    /// The finished function.
    fn finish(self, yields: Vec<Value>) -> Function<High> {
        self.statics.names.push((self.role, self.named));
        self.b.finish(self.role.name(), yields)
    }

    fn base(&mut self, op: Base, args: &[Value]) -> Value {
        self.b.op1(super::Op::Base(op), args)
    }

    fn int(&mut self, n: i64) -> Value {
        self.base(Base::Int(n), &[])
    }

    fn ty(&self, var: VarId) -> &Type {
        &self.program.vars[var.0].ty
    }

    /// Some value of a type, for variables that are assigned before they are used.
    fn default(&mut self, ty: &Ty) -> Value {
        match ty {
            Ty::Bool => self.base(Base::Bool(false), &[]),
            Ty::Int => self.int(0),
            Ty::Str => self.base(Base::Str("".into()), &[]),
            Ty::Tensor(shape) => self.base(
                Base::Tensor(shape.clone(), vec![Bits::from(0.0); shape.size()]),
                &[],
            ),
            Ty::Seq(element, n) => {
                let value = self.default(element);
                self.base(Base::Sequence((**element).clone()), &vec![value; *n])
            }
            Ty::List(element) => self.dynamic(Dynamic::List((**element).clone()), &[]),
            Ty::Strands => self.dynamic(Dynamic::NoStrands, &[]),
            Ty::Strand | Ty::Field { .. } => panic!("a field or strand is never assigned"),
        }
    }

    fn load_globals(&mut self, only: impl Fn(VarId) -> bool) {
        for (n, &var) in self.plan.globals.iter().enumerate() {
            if only(var) {
                let ty = Ty::of(self.ty(var));
                let value = self.base(Base::Global(n as u32, ty), &[]);
                self.bind(var, value);
            }
        }
    }

    fn load_state(&mut self) {
        for (n, &var) in self.plan.state.iter().enumerate() {
            let ty = Ty::of(self.ty(var));
            let value = self.base(Base::State(n as u32, ty), &[]);
            self.bind(var, value);
        }
    }

    /// Loads the global variables, and evaluates the definitions of fields, which are not run-time values, in the current function.
    fn enter_code(&mut self) {
        self.load_globals(|_| true);
        for global in &self.program.globals {
            match global {
                Global::Variable {
                    var,
                    value: Some(value),
                } if !self.ty(*var).is_value() => self.define(*var, value),
                Global::Variable {
                    var,
                    value: Some(value),
                } if self.plan.parameters.repeated.contains(var) => self.define_again(*var, value),
                Global::FieldFunction {
                    var,
                    param,
                    time,
                    body,
                } => self.define_field_function(*var, *param, *time, body),
                Global::Input { .. } | Global::Variable { .. } => {}
            }
        }
    }

    /// Defines a variable that is not assigned again: a field, image, kernel, mesh, or values on a mesh.
    fn define(&mut self, var: VarId, value: &Expr) {
        match self.ty(var) {
            Type::Image { .. } => {
                let image = self.image(value);
                self.statics.define_image(var, image);
            }
            Type::Kernel(_) | Type::Kernels(_) => {
                let kernels = self.kernels(value);
                self.statics.define_kernels(var, kernels);
            }
            Type::Mesh(_) => {
                let mesh = self.mesh(value);
                self.statics.define_mesh(var, mesh);
            }
            Type::Field { time: Some(_), .. } => self.define_over_time(var, value),
            Type::Fem { .. } => {
                let name = self.program.vars[var.0].name.clone();
                let fem = self.fem(value, &name);
                self.statics.define_fem(var, fem);
            }
            _ => {
                let value = self.value_of(var, value);
                self.bind(var, value);
            }
        }
    }

    fn values(&self, vars: &[VarId]) -> Vec<Value> {
        vars.iter().map(|&var| self.env[&Key::Var(var)]).collect()
    }
}

fn globals(program: &tree::Program, plan: &Plan, statics: &mut Statics) -> Function<High> {
    let mut t = Translator::new(program, plan, statics, Role::Globals);
    define_globals(&mut t);
    if let Some(block) = &program.initialize {
        t.method_body(block);
    }
    let yields = t.values(&plan.globals);
    t.finish(yields)
}

/// The definitions at the top level, in their order.
fn define_globals(t: &mut Translator<'_>) {
    for global in &t.program.globals {
        match global {
            Global::Input { var, .. } if t.ty(*var).is_value() => t.load_globals(|v| v == *var),
            Global::Input { var, .. } => t.input_file(*var, global),
            Global::Variable {
                var,
                value: Some(value),
            } => t.define(*var, value),
            Global::Variable { var, value: None } => {
                let ty = Ty::of(t.ty(*var));
                let value = t.default(&ty);
                t.bind(*var, value);
            }
            Global::FieldFunction {
                var,
                param,
                time,
                body,
            } => t.define_field_function(*var, *param, *time, body),
        }
    }
}

fn domain(program: &tree::Program, plan: &Plan, statics: &mut Statics) -> Function<High> {
    let mut t = Translator::new(program, plan, statics, Role::Domain);
    t.enter_code();
    let (mut bounds, mut sequences) = (Vec::new(), Vec::new());
    for (var, source) in &program.create.iters {
        let over = t.iteration(source);
        bounds.extend([over.low, over.high]);
        if let Some(sequence) = over.sequence() {
            let ty = t.b.type_of(sequence).clone();
            let name = format!("the values of `{}`", program.vars[var.0].name);
            let unnamed = t.unnamed_global(name, ty);
            t.statics.sources.push(unnamed);
            sequences.push(sequence);
        }
    }
    t.finish([bounds, sequences].concat())
}

fn create(program: &tree::Program, plan: &Plan, statics: &mut Statics) -> Function<High> {
    let mut t = Translator::new(program, plan, statics, Role::Create);
    t.enter_code();
    let mut sources = t.statics.sources.clone().into_iter();
    for (n, (var, source)) in program.create.iters.iter().enumerate() {
        let index = t.base(Base::Arg(n as u32, Ty::Int), &[]);
        let item = if iterate::is_range(source) {
            index
        } else {
            // The sequence was made once, before the strands.
            let unnamed = sources.next().expect("the domain has made it a global");
            let ty = t.statics.unnamed_globals[unnamed as usize - plan.globals.len()]
                .ty
                .clone();
            let made = t.base(Base::Global(unnamed, ty), &[]);
            let over = t.iteration_over(made, source.span.start);
            t.item(&over, index)
        };
        let ty = Ty::of(t.ty(*var));
        let value = t.convert(item, &ty, source.span.start);
        t.bind(*var, value);
    }
    let args: Vec<Value> = program.create.args.iter().map(|arg| t.expr(arg)).collect();
    t.initial_state(&args);
    let yields = t.values(&plan.state);
    t.finish(yields)
}

fn method(
    program: &tree::Program,
    plan: &Plan,
    statics: &mut Statics,
    role: Role,
    block: &Block,
) -> Function<High> {
    let mut t = Translator::new(program, plan, statics, role);
    t.load_state();
    t.enter_code();
    let status = t.method_body(block);
    let mut yields = vec![status];
    yields.extend(t.values(&plan.state));
    t.finish(yields)
}

fn global_block(
    program: &tree::Program,
    plan: &Plan,
    statics: &mut Statics,
    role: Role,
    block: &Block,
) -> Function<High> {
    let mut t = Translator::new(program, plan, statics, role);
    t.enter_code();
    let status = t.method_body(block);
    let mut yields = vec![status];
    yields.extend(t.values(&plan.globals));
    t.finish(yields)
}

impl Translator<'_> {
    /// Binds the strand's parameters, runs the state initialisers and the strand's `initialize`.
    fn initial_state(&mut self, args: &[Value]) {
        let strand = &self.program.strand;
        for (&param, &value) in strand.params.iter().zip(args) {
            self.bind(param, value);
        }
        for state in &strand.state {
            let value = match &state.value {
                Some(value) => self.value_of(state.var, value),
                None => {
                    let ty = Ty::of(self.ty(state.var));
                    self.default(&ty)
                }
            };
            self.bind(state.var, value);
        }
        if let Some(block) = &strand.initialize {
            self.method_body(block);
        }
    }
}
