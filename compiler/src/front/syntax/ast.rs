//! The syntax tree, for both versions of the language.
//!
//! Every node has a span. The tree has the program as it was written: names are not resolved, operators are spellings of the
//! operator table's rows. Equality ignores nothing, so tests that compare trees clear the spans first.

use crate::front::source::Span;

/// A version of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `#version 1.0`, or no version line.
    V1,
    /// `#version 2.0`
    V2,
}

/// A program. Parts that a syntax error made unreadable are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The version of the language it is written in.
    pub version: Version,
    /// Constants, inputs, globals and functions in textual order.
    pub items: Vec<Item>,
    /// The global `initialize` block (2.0).
    pub initialize: Option<Block>,
    /// The strand definition.
    pub strand: Option<Strand>,
    /// The global `start` block (2.0).
    pub start: Option<Block>,
    /// The global `update` (2.0) or `global` (1.0) block.
    pub update: Option<Block>,
    /// The creation of the initial strands.
    pub create: Option<Create>,
}

/// `import "file";` (2.0). A program has none: they are resolved before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The file, as written.
    pub file: String,
    /// From the first token to the last.
    pub span: Span,
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A definition at the top level.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The definition itself.
    pub kind: ItemKind,
    /// From the first token to the last.
    pub span: Span,
}

impl Item {
    /// The name that it defines.
    pub fn name(&self) -> &Name {
        match &self.kind {
            ItemKind::Const { name, .. }
            | ItemKind::Input { name, .. }
            | ItemKind::Global { name, .. }
            | ItemKind::Axis { name, .. }
            | ItemKind::FieldFunction { name, .. }
            | ItemKind::Function { name, .. } => name,
        }
    }
}

/// What a top-level definition defines.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `const T x = e;`
    Const {
        /// Its declared type.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// Its value; without one the command line gives it.
        value: Option<Expr>,
    },
    /// `input T x ("description") = e;`
    Input {
        /// Its declared type.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// What the help of the program says about it.
        description: Option<String>,
        /// Its value if the user gives none.
        default: Option<Expr>,
    },
    /// `T x = e;`
    Global {
        /// Its declared type.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// Its initial value; optional in 2.0.
        value: Option<Expr>,
    },
    /// `axis x = n;`: an extent with a name.
    Axis {
        /// Its name.
        name: Name,
        /// The extent.
        extent: Expr,
    },
    /// `field#k(d)[σ] F(x) = e;`, `field#k(d,time#m)[σ] F(x, t) = e;`
    FieldFunction {
        /// Its declared type, which should be a field type.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// The name of the position.
        param: Name,
        /// The name of the time.
        time: Option<Name>,
        /// Its value at that position.
        body: Expr,
    },
    /// `function T f (T x, …) …`
    Function {
        /// The type of its result.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// Its parameters.
        params: Vec<Param>,
        /// How the result is computed.
        body: FunctionBody,
    },
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionBody {
    /// `= e;`
    Expr(Expr),
    /// `{ … }`
    Block(Block),
}

/// A parameter of a function or strand.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its declared type.
    pub ty: TypeExpr,
    /// Its name.
    pub name: Name,
}

/// A strand definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Strand {
    /// The strand's name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its state variables in order.
    pub state: Vec<StateVar>,
    /// Its `initialize` block (2.0).
    pub initialize: Option<Block>,
    /// Its methods in order, duplicates included.
    pub methods: Vec<Method>,
    /// From the first token to the last.
    pub span: Span,
}

/// A state variable.
#[derive(Clone, Debug, PartialEq)]
pub struct StateVar {
    /// Whether it is marked `output`.
    pub output: bool,
    /// Its declared type.
    pub ty: TypeExpr,
    /// Its name.
    pub name: Name,
    /// Its initial value.
    pub value: Option<Expr>,
    /// From the first token to the last.
    pub span: Span,
}

/// Which method of a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MethodKind {
    /// Runs once, in the strand's first super-step.
    Start,
    /// Runs in every super-step.
    Update,
    /// Runs once, when the strand stabilizes.
    Stabilize,
}

/// A method of a strand.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Which one.
    pub kind: MethodKind,
    /// Its body.
    pub body: Block,
    /// From the first token to the last.
    pub span: Span,
}

/// The creation of the initial strands.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// A grid (`[ … ]`, `create_array`) rather than a collection.
    pub grid: bool,
    /// The strand, as a call.
    pub spawn: Expr,
    /// The iterators, outermost first. In 1.0 each source is a range.
    pub iters: Vec<Iter>,
    /// From the first token to the last.
    pub span: Span,
}

/// `x in e`
#[derive(Clone, Debug, PartialEq)]
pub struct Iter {
    /// The variable.
    pub name: Name,
    /// Its range.
    pub source: Expr,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// The type itself.
    pub kind: TypeExprKind,
    /// Its place.
    pub span: Span,
}

/// The word that stands for time in types, and in `∂[time] F`.
pub const TIME: &str = "time";

/// `,time#m` after the dimension of a field, an image or values on a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeAxis {
    /// The word.
    pub span: Span,
    /// How many continuous derivatives by time a field has; without `#m` there need not be any.
    pub continuity: Option<Box<Expr>>,
}

/// A written type. Dimensions are constant expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `string`
    String,
    /// `real`
    Real,
    /// `tensor[…]`
    Tensor(Vec<Expr>),
    /// `vec2`, `vec3`, `vec4`
    Vec(u8),
    /// `mat2`, `mat3`, `mat4` (2.0)
    Mat(u8),
    /// `image(d)[…]`, `image(d,time)[…]`
    Image {
        /// The number of axes.
        dim: Box<Expr>,
        /// Whether it is over time.
        time: Option<TimeAxis>,
        /// The shape of a sample.
        shape: Vec<Expr>,
    },
    /// `field#k(d)[…]`, `field#k(d,time#m)[…]`; without `#k` (2.0) it is C^∞.
    Field {
        /// How many continuous derivatives it has.
        continuity: Option<Box<Expr>>,
        /// The dimension of its domain.
        dim: Box<Expr>,
        /// Whether it is over time.
        time: Option<TimeAxis>,
        /// The shape of its values.
        shape: Vec<Expr>,
    },
    /// `fem#k(d)[…]`, `fem#k(d,time)[…]`, `mesh(d)`: a word that is not a keyword, and the parameters of a type of data.
    Data {
        /// The word.
        name: Name,
        /// How often fields of it may be differentiated.
        continuity: Option<Box<Expr>>,
        /// The dimension.
        dim: Box<Expr>,
        /// Whether it is over time.
        time: Option<TimeAxis>,
        /// The shape of a value, if there are values.
        shape: Option<Vec<Expr>>,
    },
    /// `kernel#k`
    Kernel(Box<Expr>),
    /// The name of a strand.
    Named(Name),
    /// A sequence of `element`: `T[n]`, or `T[]` without a length.
    Seq {
        /// The type of the elements.
        element: Box<TypeExpr>,
        /// How many there are; a dynamic sequence says nothing.
        length: Option<Box<Expr>>,
    },
    /// `T[m, n, …]`: sequences of sequences, in the order in which they are subscripted.
    Grid {
        /// The type of the elements.
        element: Box<TypeExpr>,
        /// How many there are along each axis; at least two axes.
        lengths: Vec<Expr>,
    },
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The statement itself.
    pub kind: StmtKind,
    /// From the first token to the last.
    pub span: Span,
}

/// How an assignment combines the old value with the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `*=`
    Mul,
    /// `/=`
    Div,
    /// `%=`
    Rem,
    /// `@=`
    Append,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `{ … }`
    Block(Block),
    /// `T x = e;`
    Decl {
        /// Its declared type.
        ty: TypeExpr,
        /// Its name.
        name: Name,
        /// Its initial value; optional in 2.0.
        value: Option<Expr>,
    },
    /// `x = e;`, `x += e;` …
    Assign {
        /// The variable.
        name: Name,
        /// How the new value is made.
        op: AssignOp,
        /// The right side.
        value: Expr,
    },
    /// `if (c) … else …`
    If {
        /// What decides.
        condition: Expr,
        /// Chosen if the condition is true.
        then: Box<Stmt>,
        /// Chosen if it is false.
        otherwise: Option<Box<Stmt>>,
    },
    /// `foreach (T x in e) …`
    Foreach {
        /// The type of the variable.
        ty: TypeExpr,
        /// The variable and its range.
        iter: Iter,
        /// The body; a block in 2.0.
        body: Box<Stmt>,
    },
    /// `print(…);`
    Print(Vec<Expr>),
    /// `new S(…);`
    New {
        /// The strand.
        strand: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `stabilize;`
    Stabilize,
    /// `die;`
    Die,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Expr),
    /// What a syntax error made unreadable.
    Error,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The expression itself.
    pub kind: ExprKind,
    /// From the first token to the last.
    pub span: Span,
}

/// One position of a subscript.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// `:`
    All,
    /// An index.
    At(Expr),
    /// `i in a..b`: an index with its range, where an index is bound.
    In(Expr, Expr),
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A name used as a value.
    Name(String),
    /// `name#k`: a kernel with a forced continuity (2.0).
    KernelAs {
        /// The kernel.
        kernel: Name,
        /// Its declared continuity.
        continuity: Box<Expr>,
    },
    /// An integer literal, as written.
    Int(String),
    /// A real literal as written, or one of the constants `π` and `∞` (also for `inf`, `\pi`, `\inf`).
    Real(String),
    /// A string literal, unescaped.
    String(String),
    /// `true`, `false`
    Bool(bool),
    /// `op a`; the spelling is that of a row of the operator table in its Unicode form.
    Prefix {
        /// The operator.
        op: Operator,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `∂[i, …] F`
    Partial {
        /// The coordinates, the first derivative last.
        indices: Vec<Expr>,
        /// The field.
        operand: Box<Expr>,
    },
    /// `{ x[…] = e; … }` after the defined name: only as the value of a definition.
    Clauses(Vec<Clause>),
    /// `∂y` by itself, which means nothing: only as a part of a quotient that was not recognized.
    Differential(Box<Expr>),
    /// `∂y/∂x`
    Request {
        /// The differentiated name, with subscripts if it has any.
        target: Box<Expr>,
        /// By what: the same.
        parameter: Box<Expr>,
    },
    /// What stands right of a name in `T x[i, …] = e;`: only as the value of a definition.
    Indexed {
        /// The indices, one for each axis.
        binders: Vec<Subscript>,
        /// The component.
        body: Box<Expr>,
    },
    /// `a op b`
    Infix {
        /// The operator.
        op: Operator,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `a && b`
    And(Box<Expr>, Box<Expr>),
    /// `a || b`
    Or(Box<Expr>, Box<Expr>),
    /// `a if c else b`
    If {
        /// Chosen if the condition is true.
        then: Box<Expr>,
        /// What decides.
        condition: Box<Expr>,
        /// Chosen if it is false.
        otherwise: Box<Expr>,
    },
    /// `a..b`
    Range(Box<Expr>, Box<Expr>),
    /// `|a|`
    Norm(Box<Expr>),
    /// `f(a, …)`: a call, or a probe.
    Call {
        /// The function or field.
        callee: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `a[i, …]`
    Subscript {
        /// The tensor or sequence.
        base: Box<Expr>,
        /// One for each axis of a tensor, one for a sequence.
        subscripts: Vec<Subscript>,
    },
    /// `a{i}`: a sequence element (1.0).
    BraceIndex {
        /// The sequence.
        base: Box<Expr>,
        /// Which element.
        index: Box<Expr>,
    },
    /// `f { e | x in s }`
    CallComprehension {
        /// The function.
        callee: Box<Expr>,
        /// The element for each value of the variable.
        body: Box<Expr>,
        /// The variable and its range.
        iter: Box<Iter>,
    },
    /// `a.x`
    Select {
        /// The strand.
        base: Box<Expr>,
        /// The state variable, or the strand set.
        member: Name,
    },
    /// `[a, …]`
    Tensor(Vec<Expr>),
    /// `{a, …}`, `{}`
    Sequence(Vec<Expr>),
    /// `{ e | x in s }`
    Comprehension {
        /// The element for each value of the variable.
        body: Box<Expr>,
        /// The variable and its range.
        iter: Box<Iter>,
    },
    /// `real(e)`
    RealCast(Box<Expr>),
    /// `identity[n]`
    Identity(Box<Expr>),
    /// `zeros[…]`
    Zeros(Vec<Expr>),
    /// `nan`, `nan[…]`
    Nan(Vec<Expr>),
    /// `load_image(e)`, in 1.0 `image("…")`
    LoadImage(Box<Expr>),
    /// `load_sequence(e)`, in 1.0 `load("…")`
    LoadSequence(Box<Expr>),
    /// What a syntax error made unreadable.
    Error,
}

/// One clause of a definition: what the elements at some places are.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The variable that is defined.
    pub name: Name,
    /// A place, or an index, for each axis.
    pub slots: Vec<Subscript>,
    /// The element.
    pub body: ClauseBody,
    /// From the first token to the last.
    pub span: Span,
}

/// The right side of a clause.
#[derive(Clone, Debug, PartialEq)]
pub enum ClauseBody {
    /// `= e;`
    Expr(Expr),
    /// `{ T x = e; … return e; }`
    Block(Block),
}

/// An operator where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its Unicode spelling, however it was written.
    pub symbol: &'static str,
    /// Its place.
    pub span: Span,
}
