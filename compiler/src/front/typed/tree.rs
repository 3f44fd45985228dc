//! The typed program: names resolved, overloads chosen, coercions explicit, constants evaluated.
//!
//! Every expression has the type it is used at. All user errors were reported before this tree exists, so whoever reads it
//! may rely on what is written here; anything else is a compiler bug.

use crate::front::{
    as_text,
    source::Span,
    syntax::ast::{MethodKind, Version},
};
use ein_ir::{Kernel, Shape, Type, ops::Instance};
use serde::{Deserialize, Serialize};

/// A variable: a position in [`Program::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// A user function: a position in [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The version of the language it is written in.
    pub version: Version,
    /// Every variable of the program.
    pub vars: Vec<Var>,
    /// Every function, in textual order; a body refers to earlier functions only.
    pub functions: Vec<Function>,
    /// Inputs, globals and field functions in textual order. Constants are gone: uses hold their values.
    pub globals: Vec<Global>,
    /// The global `initialize` block.
    pub initialize: Option<Block>,
    /// The strand.
    pub strand: Strand,
    /// The global `start` block.
    pub start: Option<Block>,
    /// The global `update` block.
    pub update: Option<Block>,
    /// The initial strands.
    pub create: Create,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// An input of the program.
    Input,
    /// A global variable, field, image or kernel.
    Global,
    /// A parameter of a function, field function or strand.
    Param,
    /// A state variable of the strand.
    State,
    /// A local variable of a block, a loop or comprehension variable, or a creation iterator.
    Local,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub kind: VarKind,
    /// Where it is declared.
    pub span: Span,
}

/// A definition at the top level.
#[derive(Clone, Debug)]
pub enum Global {
    /// `input T x ("description") = e;`
    Input {
        /// The variable.
        var: VarId,
        /// The help text.
        description: Option<String>,
        /// The value used when the user gives none.
        default: Option<InputDefault>,
    },
    /// `T x = e;`; without a value it is assigned in `initialize`.
    Variable {
        /// The variable.
        var: VarId,
        /// Its value.
        value: Option<Expr>,
    },
    /// `field#k(d)[σ] F(x) = e;`
    FieldFunction {
        /// The field.
        var: VarId,
        /// The position: a `tensor[d]`, or a `real` if d is 1.
        param: VarId,
        /// The value at the position.
        body: Expr,
    },
}

/// The default of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputDefault {
    /// A constant of the input's type.
    Value(Constant),
    /// A file to load: an image or a sequence.
    File(String),
}

/// A compile-time value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Constant {
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `string`.
    String(String),
    /// A tensor, row-major; a `real` has the scalar shape.
    Tensor(
        #[serde(with = "as_text")] Shape,
        #[serde(with = "as_text::reals")] Vec<f64>,
    ),
    /// A sequence.
    Seq(Vec<Constant>),
}

/// A user function. Every path of its body ends in a return.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<VarId>,
    /// The type of its result.
    pub result: Type,
    /// Its body; `= e` is a block with one return.
    pub body: Block,
    /// Where it is defined.
    pub span: Span,
}

/// The strand definition.
#[derive(Clone, Debug)]
pub struct Strand {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<VarId>,
    /// Its state variables in order.
    pub state: Vec<StateVar>,
    /// Its `initialize` block.
    pub initialize: Option<Block>,
    /// Its methods, at most one of each kind; `update` is there.
    pub methods: Vec<(MethodKind, Block)>,
    /// The state variable `pos`, if it can serve spatial queries.
    pub position: Option<VarId>,
}

/// A state variable.
#[derive(Clone, Debug)]
pub struct StateVar {
    /// The variable.
    pub var: VarId,
    /// Whether it is written out.
    pub output: bool,
    /// Its initial value; without one `initialize` assigns it.
    pub value: Option<Expr>,
}

/// The initial strands.
#[derive(Clone, Debug)]
pub struct Create {
    /// A grid rather than a collection.
    pub grid: bool,
    /// The iterators, outermost first, each over a sequence.
    pub iters: Vec<(VarId, Expr)>,
    /// The strand's arguments, coerced to its parameters' types.
    pub args: Vec<Expr>,
}

/// Statements in order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements; none follows an unconditional exit.
    pub stmts: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it is written.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A nested block.
    Block(Block),
    /// Declares a local variable.
    Decl {
        /// The variable.
        var: VarId,
        /// Its initial value.
        value: Option<Expr>,
    },
    /// Assigns to a variable; `x op= e` is written out as `x = x op e`.
    Assign {
        /// The variable: local, state, or in global code a global or input.
        var: VarId,
        /// The new value.
        value: Expr,
    },
    /// Chooses a block.
    If {
        /// A `bool`.
        condition: Expr,
        /// Run where it holds.
        then: Block,
        /// Run where it does not.
        otherwise: Block,
    },
    /// Runs the body for every element.
    Foreach {
        /// The element.
        var: VarId,
        /// A sequence, possibly of strands.
        source: Expr,
        /// What is run.
        body: Block,
    },
    /// Prints the arguments.
    Print(Vec<Expr>),
    /// Creates a strand; the arguments have the parameters' types.
    New(Vec<Expr>),
    /// Stabilizes this strand, or in global code all.
    Stabilize,
    /// Kills this strand, or in global code all.
    Die,
    /// Ends this execution of the method or global block.
    Continue,
    /// Returns from a function.
    Return(Expr),
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its type.
    pub ty: Type,
    /// What it computes.
    pub kind: ExprKind,
    /// Where it is written.
    pub span: Span,
}

/// A set of strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrandSet {
    /// Active and stable strands.
    All,
    /// Strands that will be updated again.
    Active,
    /// Strands that are done.
    Stable,
}

/// What a comprehension or reduction runs over.
#[derive(Clone, Debug)]
pub enum Domain {
    /// The elements of a sequence.
    Seq(Box<Expr>),
    /// The strands of a set; only in global code, under a reduction.
    Strands(StrandSet),
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A value known now: a literal or a constant.
    Constant(Constant),
    /// A kernel per axis; one entry serves all axes.
    Kernel(Vec<&'static Kernel>),
    /// The value of a variable.
    Var(VarId),
    /// A row of the operator table applied to arguments of the instance's types.
    Op {
        /// The row at these types.
        op: Instance,
        /// One expression per argument.
        args: Vec<Expr>,
    },
    /// An integer power of a real or scalar field by a constant.
    Power {
        /// The base.
        base: Box<Expr>,
        /// The exponent.
        exponent: i32,
    },
    /// `[a, …]` of tensors or of fields, the new axis first; at least two elements.
    Tensor(Vec<Expr>),
    /// `{a, …}`, elements of the sequence's element type.
    Sequence(Vec<Expr>),
    /// Components of a tensor or field: `Some(i)` selects, `None` keeps an axis.
    Slice {
        /// The tensor or field.
        base: Box<Expr>,
        /// One entry per axis.
        mask: Vec<Option<usize>>,
    },
    /// An element of a sequence, checked at run time.
    Index {
        /// The sequence.
        base: Box<Expr>,
        /// An `int`.
        index: Box<Expr>,
    },
    /// `identity[n]`
    Identity(usize),
    /// `zeros[σ]`, of the expression's shape.
    Zeros,
    /// `nan[σ]`, of the expression's shape.
    Nan,
    /// A field at a position.
    Probe {
        /// The field.
        field: Box<Expr>,
        /// The position.
        at: Box<Expr>,
    },
    /// A call of a user function.
    Call {
        /// The function.
        function: FunctionId,
        /// Arguments of the parameters' types.
        args: Vec<Expr>,
    },
    /// The same value at the expression's own type: int as real, a fixed sequence as dynamic, elements converted,
    /// a field with continuity forgotten.
    Coerce(Box<Expr>),
    /// `then if condition else otherwise`
    If {
        /// A `bool`.
        condition: Box<Expr>,
        /// Value where it holds.
        then: Box<Expr>,
        /// Value where it does not.
        otherwise: Box<Expr>,
    },
    /// `a && b`; `b` is evaluated only if `a` holds.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`; `b` is evaluated only if `a` does not hold.
    Or(Box<Expr>, Box<Expr>),
    /// `a..b`, a dynamic sequence of ints, both ends included.
    Range(Box<Expr>, Box<Expr>),
    /// `{ body | var in domain }` as a value.
    Comprehension {
        /// The element.
        body: Box<Expr>,
        /// The variable.
        var: VarId,
        /// What it runs over.
        domain: Box<Expr>,
    },
    /// A reduction of `body` over a domain; a reduction of a plain sequence has its element as body.
    Reduce {
        /// The reduction's row at the element's type.
        op: Instance,
        /// What is reduced.
        body: Box<Expr>,
        /// The variable.
        var: VarId,
        /// What it runs over.
        domain: Domain,
    },
    /// A state variable of another strand.
    Select {
        /// The strand.
        strand: Box<Expr>,
        /// The state variable.
        var: VarId,
    },
    /// An image from a file named by a constant.
    LoadImage(String),
    /// A sequence from a file named by a constant.
    LoadSequence(String),
    /// The strands around a point; the strand's own position if there is no centre.
    Sphere {
        /// The centre, of the type of `pos`.
        center: Option<Box<Expr>>,
        /// The radius.
        radius: Box<Expr>,
    },
    /// A field chosen at run time: `swap(i, F1, …)`, `i` counted from 1 and clamped.
    Swap {
        /// An `int`.
        selector: Box<Expr>,
        /// Fields of one type.
        fields: Vec<Expr>,
    },
}

impl Expr {
    /// The expressions that it is made of.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Constant(_)
            | ExprKind::Kernel(_)
            | ExprKind::Var(_)
            | ExprKind::Identity(_)
            | ExprKind::Zeros
            | ExprKind::Nan
            | ExprKind::LoadImage(_)
            | ExprKind::LoadSequence(_) => vec![],
            ExprKind::Op { args, .. }
            | ExprKind::Call { args, .. }
            | ExprKind::Tensor(args)
            | ExprKind::Sequence(args) => args.iter().collect(),
            ExprKind::Power { base: inner, .. }
            | ExprKind::Slice { base: inner, .. }
            | ExprKind::Coerce(inner)
            | ExprKind::Select { strand: inner, .. } => vec![inner],
            ExprKind::Index { base: a, index: b }
            | ExprKind::Probe { field: a, at: b }
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Range(a, b)
            | ExprKind::Comprehension {
                body: a, domain: b, ..
            } => vec![a, b],
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            ExprKind::Reduce { body, domain, .. } => match domain {
                Domain::Seq(source) => vec![body, source],
                Domain::Strands(_) => vec![body],
            },
            ExprKind::Sphere { center, radius } => {
                center.as_deref().into_iter().chain([&**radius]).collect()
            }
            ExprKind::Swap { selector, fields } => {
                [&**selector].into_iter().chain(fields).collect()
            }
        }
    }
}
