//! A program in any IR: its interface to the world, which no pass changes, and its functions.

use crate::{
    source::Span,
    ssa::{self, Dialect, Function},
    tensor::Ty,
    typed::tree::InputDefault,
};
use ein_ir::{Shape, Type};
use std::{borrow::Cow, fmt, sync::Arc};

/// What the runtime and the user see of a program.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The strand's name.
    pub strand: String,
    /// The inputs in order.
    pub inputs: Vec<Input>,
    /// The global variables; inputs of value type are among them. Those that the source does not name come last.
    pub globals: Vec<Variable>,
    /// The sequences that must be loaded.
    pub loads: Vec<Load>,
    /// The global variables whose elements the creation of strands iterates over.
    pub sources: Vec<u32>,
    /// The images that must be loaded.
    pub images: Vec<Image>,
    /// The state of a strand: state variables, and the parameters that methods read.
    pub state: Vec<State>,
    /// Whether the strands form a grid rather than a collection.
    pub grid: bool,
    /// The number of creation iterators; each runs over integers.
    pub axes: usize,
}

/// A named value at run time.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: Ty,
}

/// A variable of a strand's state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name and type.
    pub variable: Variable,
    /// Whether it is written out.
    pub output: bool,
}

/// An input of the program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type in the source.
    pub ty: Type,
    /// The help text.
    pub description: Option<String>,
    /// The value used when the user gives none.
    pub default: Option<InputDefault>,
    /// Where its value goes.
    pub target: Target,
}

/// Where an input's value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To a global variable.
    Global(u32),
    /// To an image.
    Image(u32),
}

/// An image that must be loaded before the program runs.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file named in the program, or none if it comes from an input.
    pub file: Option<String>,
    /// Number of spatial axes.
    pub dim: usize,
    /// Shape of a voxel.
    pub shape: Shape,
    /// Where it is named.
    pub span: Span,
}

/// A sequence that must be loaded before the program runs.
#[derive(Clone, Debug)]
pub struct Load {
    /// The file.
    pub file: String,
    /// The sequence's type in the source.
    pub ty: Type,
    /// The global variable that it becomes.
    pub global: u32,
    /// Where it is named.
    pub span: Span,
}

/// What a function of the program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Yields the global variables, from those that are inputs.
    Globals,
    /// Yields further globals, which strand code reads; runs when the global variables have changed.
    Invariants,
    /// Yields the first and last value of each creation iterator, outermost first, and then the sequences that some of
    /// them index.
    Domain,
    /// Yields the state of a new strand, from the values of the iterators.
    Create,
    /// Yields status and state.
    Start,
    /// Yields status and state.
    Update,
    /// Yields status and state; the status means nothing.
    Stabilize,
    /// Yields status and global variables.
    GlobalStart,
    /// Yields status and global variables.
    GlobalUpdate,
    /// Yields what a reduction over strands, by its number, is about: the value of a strand.
    Reduce(u32),
}

impl Role {
    /// The function's name in dumps.
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Role::Reduce(n) => return format!("reduce-{n}").into(),
            Role::Globals => "globals",
            Role::Invariants => "invariants",
            Role::Domain => "domain",
            Role::Create => "create",
            Role::Start => "start",
            Role::Update => "update",
            Role::Stabilize => "stabilize",
            Role::GlobalStart => "global-start",
            Role::GlobalUpdate => "global-update",
        };
        name.into()
    }

    /// Whether it runs for strands rather than once.
    pub fn is_strand_code(self) -> bool {
        matches!(
            self,
            Role::Create | Role::Start | Role::Update | Role::Stabilize | Role::Reduce(_)
        )
    }

    /// Whether it runs in a super-step, rather than before or after.
    pub fn is_method(self) -> bool {
        self.is_strand_code() && !matches!(self, Role::Reduce(_))
    }
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program<D: Dialect> {
    /// Its interface.
    pub interface: Arc<Interface>,
    /// Its functions, in the order of their roles.
    pub functions: Vec<(Role, Function<D>)>,
}

impl<D: Dialect> Program<D> {
    /// The function with this role.
    pub fn function(&self, role: Role) -> Option<&Function<D>> {
        self.functions
            .iter()
            .find(|(r, _)| *r == role)
            .map(|(_, f)| f)
    }

    /// The same program with every function rewritten, possibly into another IR.
    pub fn map<E: Dialect>(
        self,
        mut pass: impl FnMut(Role, Function<D>) -> Function<E>,
    ) -> Program<E> {
        Program {
            interface: self.interface,
            functions: self
                .functions
                .into_iter()
                .map(|(role, f)| (role, pass(role, f)))
                .collect(),
        }
    }

    /// Every violation in any function.
    pub fn verify(&self) -> Vec<String> {
        self.functions
            .iter()
            .flat_map(|(role, f)| {
                ssa::verify(f)
                    .into_iter()
                    .map(|v| format!("{}: {v}", role.name()))
            })
            .collect()
    }
}

impl<D: Dialect> fmt::Display for Program<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.functions
            .iter()
            .try_for_each(|(_, function)| writeln!(f, "{function}"))
    }
}
