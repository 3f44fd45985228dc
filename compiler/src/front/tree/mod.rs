//! The typed program: names resolved, overloads chosen, coercions explicit, constants evaluated.
//!
//! Every expression has the type it is used at. The checker makes this tree of a program without errors of types, with index notation
//! as it is written; the transformations of `elaborate` replace that. Later stages may rely on the rules stated here; a violation is
//! a compiler bug.

mod builtin_value;
pub(crate) mod convert;
mod ids;
pub mod notation;
pub mod part;
mod parts;
mod print;
mod print_notation;
pub(crate) mod reads;
pub(crate) mod recurrence;
pub(crate) mod value;

pub use ids::{FunctionId, VarId};
pub use notation::Notation;
pub use part::Axis;
pub use print::print;
pub use recurrence::{Layout, Past, Recurrence, Segment};

use crate::front::{
    as_text,
    source::Span,
    syntax::ast::{MethodKind, Version},
};
use ein_ir::{
    Ein, Kernel, Shape, Type,
    ops::{Instance, StrandSet},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// Its role in the program.
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
    /// `field#k(d)[σ] F(x) = e;`, `field#k(d,time#m)[σ] F(x, t) = e;`
    FieldFunction {
        /// The field.
        var: VarId,
        /// The position: a `tensor[d]`, or a `real` if d is 1.
        param: VarId,
        /// The time, a `real`, of a field over time.
        time: Option<VarId>,
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
    /// An expression that depends on these inputs.
    Computed(Vec<String>),
}

impl InputDefault {
    /// What help says of a default that is computed.
    pub fn computed_text(&self) -> String {
        match self {
            InputDefault::Computed(inputs) if !inputs.is_empty() => {
                format!("computed from {}", inputs.join(", "))
            }
            _ => "computed".to_owned(),
        }
    }
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

impl Constant {
    /// Nothing but zeros.
    pub(crate) fn blank(ty: &Type) -> Constant {
        match ty {
            Type::Seq(element, n) => Constant::Seq(vec![Constant::blank(element); n.unwrap_or(0)]),
            Type::Tensor(shape) => Constant::Tensor(shape.clone(), vec![0.0; shape.size()]),
            Type::Int => Constant::Int(0),
            Type::Bool => Constant::Bool(false),
            Type::String => Constant::String(String::new()),
            _ => Constant::Tensor(Shape::SCALAR, vec![0.0]),
        }
    }
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
    /// The statement itself.
    pub kind: StmtKind,
    /// Where it is written.
    pub span: Span,
}

impl Stmt {
    /// The expressions that it evaluates before its blocks.
    pub fn expressions(&self) -> &[Expr] {
        match &self.kind {
            StmtKind::Decl { value, .. } => value.as_slice(),
            StmtKind::Assign { value: e, .. }
            | StmtKind::Return(e)
            | StmtKind::If { condition: e, .. }
            | StmtKind::Foreach { source: e, .. }
            | StmtKind::ByValue { source: e, .. } => std::slice::from_ref(e),
            StmtKind::Print(args) | StmtKind::New(args) => args,
            StmtKind::Block(_) | StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue => &[],
        }
    }

    /// The same, to be changed in place.
    pub(crate) fn expressions_mut(&mut self) -> &mut [Expr] {
        match &mut self.kind {
            StmtKind::Decl { value, .. } => value.as_mut_slice(),
            StmtKind::Assign { value: e, .. }
            | StmtKind::Return(e)
            | StmtKind::If { condition: e, .. }
            | StmtKind::Foreach { source: e, .. }
            | StmtKind::ByValue { source: e, .. } => std::slice::from_mut(e),
            StmtKind::Print(args) | StmtKind::New(args) => args,
            StmtKind::Block(_) | StmtKind::Stabilize | StmtKind::Die | StmtKind::Continue => {
                &mut []
            }
        }
    }

    /// The blocks in it, in their order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second, copies) = match &self.kind {
            StmtKind::Block(block) | StmtKind::Foreach { body: block, .. } => {
                (Some(block), None, &[][..])
            }
            StmtKind::If {
                then, otherwise, ..
            } => (Some(then), Some(otherwise), &[][..]),
            StmtKind::ByValue { copies, .. } => (None, None, &copies[..]),
            _ => (None, None, &[][..]),
        };
        let copies = copies.iter().map(|(_, copy)| copy);
        first.into_iter().chain(second).chain(copies)
    }

    /// The same, to be changed in place.
    pub(crate) fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            StmtKind::Block(block) | StmtKind::Foreach { body: block, .. } => vec![block],
            StmtKind::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            StmtKind::ByValue { copies, .. } => copies.iter_mut().map(|(_, copy)| copy).collect(),
            _ => Vec::new(),
        }
    }
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
        /// The code of one iteration.
        body: Block,
        /// Whether the variable is a subscript of a tensor or field, so that the loop has to be unrolled. Elaboration does.
        is_unrolled: bool,
    },
    /// A loop over a range that is known, whose body has other types for each value. Elaboration puts the copies in a row.
    ByValue {
        /// The variable. In the copies it is a constant.
        var: VarId,
        /// The range.
        source: Expr,
        /// The values and the code for them, up to one that always exits.
        copies: Vec<(i64, Block)>,
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
    /// The expression itself.
    pub kind: ExprKind,
    /// Where it is written.
    pub span: Span,
}

/// What a comprehension runs over.
#[derive(Clone, Debug)]
pub enum Domain {
    /// The elements of a sequence.
    Seq(Box<Expr>),
    /// The strands of a set; only in global code, and the comprehension is reduced.
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
    /// An operator that the program defines by index. The axes of an argument that is a sequence come before those of its
    /// elements; so do those of a result that is one.
    Indexed {
        /// The operator.
        operator: Arc<Ein>,
        /// One expression per parameter.
        args: Vec<Expr>,
    },
    /// A value that needs others first, each under a name of its own.
    Let {
        /// The names and their values, in order.
        bindings: Vec<(VarId, Expr)>,
        /// The value.
        body: Box<Expr>,
    },
    /// The derivative of a value by a variable, with the axes of the variable after those of the value.
    Derivative {
        /// The value.
        target: Box<Expr>,
        /// The variable.
        parameter: Box<Expr>,
    },
    /// A part of a tensor or field by ranges, or by indices that are known where the variables of loops are; if all subscripts are
    /// constants, that is a row of the operator table. Elaboration replaces it.
    Part {
        /// The whole.
        base: Box<Expr>,
        /// The subscripts, one for each axis.
        axes: Vec<Axis>,
    },
    /// Index notation as it is written. Elaboration replaces it: by the variants above, and by sequences in steps.
    Notation(Box<Notation>),
    /// A sequence that is computed step by step along one axis.
    Recurrence(Box<Recurrence>),
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
    /// `{ body | var in domain }`
    Comprehension {
        /// The element.
        body: Box<Expr>,
        /// The variable.
        var: VarId,
        /// Its range.
        domain: Domain,
    },
    /// The value that the user gave to an input, or else its default.
    Given {
        /// The input, which has a value only if the user gave one.
        input: VarId,
        /// The default.
        otherwise: Box<Expr>,
    },
    /// A state variable of another strand.
    Select {
        /// The strand.
        strand: Box<Expr>,
        /// The state variable.
        var: VarId,
    },
}

/// An expression with its type.
pub(crate) fn typed(ty: Type, kind: ExprKind, span: Span) -> Expr {
    Expr { ty, kind, span }
}

/// A value that is known.
pub(crate) fn literal(ty: Type, value: Constant, span: Span) -> Expr {
    typed(ty, ExprKind::Constant(value), span)
}

/// The least and the greatest int.
pub(crate) fn int_range(long_int: bool) -> (i64, i64) {
    match long_int {
        true => (i64::MIN, i64::MAX),
        false => (i32::MIN.into(), i32::MAX.into()),
    }
}
