//! Types of generated programs, and the variables that have them.

use compiler::front::syntax::ast::Version;

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Bool,
    Int,
    Text,
    Real,
    /// A tensor with at least one axis.
    Tensor(Vec<usize>),
    /// A sequence of fixed length.
    Fixed(Box<Ty>, usize),
    /// A sequence of varying length.
    List(Box<Ty>),
}

impl Ty {
    pub(crate) fn tensor(shape: &[usize]) -> Ty {
        match shape {
            [] => Ty::Real,
            _ => Ty::Tensor(shape.to_vec()),
        }
    }

    pub(crate) fn fixed(element: Ty, length: usize) -> Ty {
        Ty::Fixed(Box::new(element), length)
    }

    pub(crate) fn list(element: Ty) -> Ty {
        Ty::List(Box::new(element))
    }

    /// As it is written.
    pub(crate) fn text(&self, version: Version) -> String {
        let [open, close] = match version {
            Version::V1 => ["{", "}"],
            Version::V2 => ["[", "]"],
        };
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int => "int".into(),
            Ty::Text => "string".into(),
            Ty::Real => "real".into(),
            Ty::Tensor(shape) => match shape[..] {
                [n] if n <= 4 => format!("vec{n}"),
                [n, m] if n == m && n <= 4 && version == Version::V2 => format!("mat{n}"),
                _ => format!("tensor{shape:?}"),
            },
            Ty::Fixed(element, n) => format!("{}{open}{n}{close}", element.text(version)),
            Ty::List(element) => format!("{}{open}{close}", element.text(version)),
        }
    }
}

/// Where a variable comes from, which decides where it may be assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Inputs and globals.
    Global,
    /// Parameters, constants and variables of loops, which are never assigned.
    Fixed,
    /// State of the strand.
    State,
    /// A local variable.
    Local,
}

#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) origin: Origin,
    /// Whether it is the same for all strands, as an input is, or the variable of a loop.
    pub(crate) kind: Kind,
}

/// What a condition on a variable depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Common,
    Counter,
    Varying,
}

/// A field that can be probed.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) dim: usize,
    pub(crate) shape: Vec<usize>,
    /// How often it may be differentiated.
    pub(crate) smooth: usize,
    /// Where it is interesting along every axis: the middle, and how far from there.
    pub(crate) middle: f64,
    pub(crate) reach: f64,
    /// Whether operators on fields apply to it.
    pub(crate) closed: bool,
    /// Whether it is made of values on a mesh, and of nothing else.
    pub(crate) has_cells: bool,
    /// How often it may be differentiated by time, if it is over time.
    pub(crate) time: Option<usize>,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Ty>,
    pub(crate) result: Ty,
}

/// Where statements and expressions stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Values of globals.
    Globals,
    /// The body of a function.
    Function,
    /// The values of state variables when the strand is created.
    State,
    /// The `initialize` block of the strand.
    Initialize,
    /// The method `start`.
    Start,
    /// The method `update`.
    Update,
    /// The method `stabilize`.
    Stabilize,
    /// The global `initialize` block.
    GlobalInitialize,
    /// Other global blocks.
    GlobalBlock,
}

impl Place {
    pub(crate) fn is_method(self) -> bool {
        matches!(self, Place::Start | Place::Update | Place::Stabilize)
    }

    /// Whether a variable may be assigned here.
    pub(crate) fn assigns(self, origin: Origin) -> bool {
        match origin {
            Origin::Fixed => false,
            Origin::Local => true,
            Origin::State => self.is_method() || self == Place::Initialize,
            Origin::Global => matches!(self, Place::GlobalInitialize | Place::GlobalBlock),
        }
    }
}
