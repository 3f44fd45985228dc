//! Small programs with control flow, as trees: [`super::evaluate`] runs them, and they are printed for the compiler.

use super::number::Dyadic;
use std::fmt::{self, Write};

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Real,
    Int,
    Bool,
    /// `vec2`
    Pair,
    /// A sequence of reals with this length.
    Fixed(usize),
    /// A sequence of reals of varying length.
    List,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Real(Dyadic),
    Int(i64),
    Bool(bool),
    /// A variable, a parameter or an input.
    Name(String),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    /// The quotient of integers.
    Div(Box<Expr>, Box<Expr>),
    /// The remainder of integers.
    Rem(Box<Expr>, Box<Expr>),
    Less(Box<Expr>, Box<Expr>),
    Equal(Box<Expr>, Box<Expr>),
    Vector(Vec<Expr>),
    Sequence(Vec<Expr>),
    Item(Box<Expr>, Box<Expr>),
    Append(Box<Expr>, Box<Expr>),
    /// `{ scale*t | t in from..to }`
    Multiples(Dyadic, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// The field of a kernel at a position.
    Probe(Kernel, Box<Expr>),
    /// The sum of a state variable of the other strands that are closer than a radius.
    Near(Dyadic, &'static str),
    /// A state variable of another strand.
    Member(String, &'static str),
}

/// A kernel whose weights are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Tent,
    CatmullRom,
}

/// What a loop runs over.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Range {
    /// Integers from one to another, inclusive.
    Count(Expr, Expr),
    /// The elements of a sequence of reals.
    Elements(Expr),
    /// The other strands that are closer than a radius.
    Strands(Dyadic),
}

/// What leaves a method or function.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Exit {
    Stabilize,
    Die,
    Continue,
    Return(Expr),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stmt {
    Declare(Type, String, Expr),
    Set(String, Expr),
    If(Expr, Vec<Stmt>, Option<Vec<Stmt>>),
    Each(String, Range, Vec<Stmt>),
    Exit(Exit),
    /// A new strand with these arguments.
    New(Vec<Expr>),
    /// Integers, each after a blank, and a new line.
    Print(Vec<Expr>),
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<(Type, &'static str)>,
    pub(super) result: Type,
    pub(super) body: Vec<Stmt>,
}

/// A state variable.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) output: bool,
    pub(super) ty: Type,
    pub(super) name: String,
    pub(super) value: Expr,
}

/// A program. Its strands have one parameter, the integer `i`; the inputs, globals and fields are those of [`PREAMBLE`].
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) functions: Vec<Function>,
    pub(super) state: Vec<State>,
    pub(super) update: Vec<Stmt>,
    pub(super) stabilize: Vec<Stmt>,
    /// Whether strands may be born and die.
    pub(super) collection: bool,
    /// How many strands there are in the beginning.
    pub(super) strands: i64,
    /// Super-steps at most.
    pub(super) steps: usize,
}

/// What every program begins with.
pub(super) const PREAMBLE: &str = "#version 2.0
input bool on0 = true;
input bool on1 = true;
input bool on2 = true;
input real h0 = 0.5;
input real h1 = 0.5;
input real h2 = 0.5;
input int m = 2;
input image(1)[] img;
field#0(1)[] F = tent ⊛ clamp(img);
field#1(1)[] G = ctmr ⊛ clamp(img);
real g0 = h0 + 0.25;
real g1 = h1 + 0.25;
real g2 = h2 + 0.25;
";

impl Expr {
    pub(super) fn name(name: &str) -> Expr {
        Expr::Name(name.to_string())
    }

    pub(super) fn plus(self, other: Expr) -> Expr {
        Expr::Add(Box::new(self), Box::new(other))
    }

    pub(super) fn minus(self, other: Expr) -> Expr {
        Expr::Sub(Box::new(self), Box::new(other))
    }

    pub(super) fn times(self, other: Expr) -> Expr {
        Expr::Mul(Box::new(self), Box::new(other))
    }

    pub(super) fn rem(self, n: i64) -> Expr {
        Expr::Rem(Box::new(self), Box::new(Expr::Int(n)))
    }

    pub(super) fn less(self, other: Expr) -> Expr {
        Expr::Less(Box::new(self), Box::new(other))
    }

    pub(super) fn equal(self, other: Expr) -> Expr {
        Expr::Equal(Box::new(self), Box::new(other))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Real => f.write_str("real"),
            Type::Int => f.write_str("int"),
            Type::Bool => f.write_str("bool"),
            Type::Pair => f.write_str("vec2"),
            Type::Fixed(n) => write!(f, "real[{n}]"),
            Type::List => f.write_str("real[]"),
        }
    }
}

/// Texts, separated.
struct Listed<'a, T>(&'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, item) in self.0.iter().enumerate() {
            let separator = if n == 0 { "" } else { self.1 };
            write!(f, "{separator}{item}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Real(x) => write!(f, "{x}"),
            Expr::Int(n) => write!(f, "{n}"),
            Expr::Bool(b) => write!(f, "{b}"),
            Expr::Name(name) => f.write_str(name),
            Expr::Add(a, b) => write!(f, "({a} + {b})"),
            Expr::Sub(a, b) => write!(f, "({a} - {b})"),
            Expr::Mul(a, b) => write!(f, "({a} * {b})"),
            Expr::Div(a, b) => write!(f, "({a} / {b})"),
            Expr::Rem(a, b) => write!(f, "({a} % {b})"),
            Expr::Less(a, b) => write!(f, "({a} < {b})"),
            Expr::Equal(a, b) => write!(f, "({a} == {b})"),
            Expr::Vector(parts) => write!(f, "[{}]", Listed(parts, ", ")),
            Expr::Sequence(parts) => write!(f, "{{{}}}", Listed(parts, ", ")),
            Expr::Item(sequence, index) => write!(f, "{sequence}[{index}]"),
            Expr::Append(sequence, item) => write!(f, "({sequence} @ {item})"),
            Expr::Multiples(scale, from, to) => write!(f, "{{{scale}*t | t in {from}..{to}}}"),
            Expr::Call(function, arguments) => write!(f, "{function}({})", Listed(arguments, ", ")),
            Expr::Probe(Kernel::Tent, at) => write!(f, "F({at})"),
            Expr::Probe(Kernel::CatmullRom, at) => write!(f, "G({at})"),
            Expr::Near(radius, member) => write!(f, "sum {{q.{member} | q in sphere({radius})}}"),
            Expr::Member(strand, member) => write!(f, "{strand}.{member}"),
        }
    }
}

impl Stmt {
    fn write(&self, out: &mut String, depth: usize) {
        let indent = "    ".repeat(depth);
        let mut line = |text: fmt::Arguments<'_>| {
            let _ = writeln!(out, "{indent}{text}");
        };
        match self {
            Stmt::Declare(ty, name, value) => line(format_args!("{ty} {name} = {value};")),
            Stmt::Set(name, value) => line(format_args!("{name} = {value};")),
            Stmt::If(condition, then, otherwise) => {
                line(format_args!("if ({condition}) {{"));
                write_all(then, out, depth + 1);
                if let Some(otherwise) = otherwise {
                    let _ = writeln!(out, "{indent}}} else {{");
                    write_all(otherwise, out, depth + 1);
                }
                let _ = writeln!(out, "{indent}}}");
            }
            Stmt::Each(variable, range, body) => {
                match range {
                    Range::Count(from, to) => {
                        line(format_args!("foreach (int {variable} in {from}..{to}) {{"));
                    }
                    Range::Elements(of) => {
                        line(format_args!("foreach (real {variable} in {of}) {{"))
                    }
                    Range::Strands(radius) => {
                        line(format_args!(
                            "foreach (s {variable} in sphere({radius})) {{"
                        ));
                    }
                }
                write_all(body, out, depth + 1);
                let _ = writeln!(out, "{indent}}}");
            }
            Stmt::Exit(Exit::Stabilize) => line(format_args!("stabilize;")),
            Stmt::Exit(Exit::Die) => line(format_args!("die;")),
            Stmt::Exit(Exit::Continue) => line(format_args!("continue;")),
            Stmt::Exit(Exit::Return(value)) => line(format_args!("return {value};")),
            Stmt::New(arguments) => line(format_args!("new s({});", Listed(arguments, ", "))),
            Stmt::Print(items) => line(format_args!(
                "print({}, \"\\n\");",
                Listed(items, ", \" \", ")
            )),
        }
    }
}

fn write_all(statements: &[Stmt], out: &mut String, depth: usize) {
    for statement in statements {
        statement.write(out, depth);
    }
}

impl Program {
    /// The source text.
    pub(super) fn text(&self) -> String {
        let mut out = PREAMBLE.to_string();
        for function in &self.functions {
            let parameters: Vec<String> = function
                .parameters
                .iter()
                .map(|(ty, name)| format!("{ty} {name}"))
                .collect();
            let _ = writeln!(
                out,
                "function {} {} ({}) {{",
                function.result,
                function.name,
                parameters.join(", ")
            );
            write_all(&function.body, &mut out, 1);
            out.push_str("}\n");
        }
        out.push_str("strand s (int i) {\n");
        for State {
            output,
            ty,
            name,
            value,
        } in &self.state
        {
            let output = if *output { "output " } else { "" };
            let _ = writeln!(out, "    {output}{ty} {name} = {value};");
        }
        out.push_str("    update {\n");
        write_all(&self.update, &mut out, 2);
        out.push_str("    }\n");
        if !self.stabilize.is_empty() {
            out.push_str("    stabilize {\n");
            write_all(&self.stabilize, &mut out, 2);
            out.push_str("    }\n");
        }
        let create = if self.collection {
            "create_collection"
        } else {
            "create_array"
        };
        let _ = writeln!(
            out,
            "}}\n{create} {{ s(i) | i in 0..{} }}",
            self.strands - 1
        );
        out
    }
}
