//! The operations of Device-IR: those of Low-IR on scalars, and those that primitives are made of.

use super::mesh::MeshOp;
use crate::{
    ir::{Bits, Simple, leaf::KernelRef, words::Words},
    low,
    ssa::{Dialect, Types},
};
use ein_ir::Kernel;
use std::{fmt, str::FromStr};

/// The Device-IR dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct Device;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// One of Low-IR.
    Scalar(low::Ty),
    /// A number in double precision, whatever the program's reals are.
    Double,
}

/// Real numbers in the program's precision, or in double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// The program's reals.
    Real,
    /// Double precision.
    Double,
}

impl Width {
    /// The type of such numbers.
    pub fn ty(self) -> Ty {
        match self {
            Width::Real => Ty::Scalar(low::Ty::Real),
            Width::Double => Ty::Double,
        }
    }
}

/// Defines the arithmetic on numbers of both widths: variant, name, number of arguments, and whether it gives a truth value.
macro_rules! arithmetic {
    ($($variant:ident $name:literal $arity:literal $truth:literal: $doc:literal;)*) => {
        /// Arithmetic on numbers of either width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Arithmetic { $(#[doc = $doc] $variant,)* }

        impl Arithmetic {
            /// All of it.
            pub const ALL: &[Arithmetic] = &[$(Arithmetic::$variant,)*];

            /// The name in text, after the width.
            pub fn name(self) -> &'static str {
                match self { $(Arithmetic::$variant => $name,)* }
            }

            /// The number of arguments.
            pub fn arity(self) -> usize {
                match self { $(Arithmetic::$variant => $arity,)* }
            }

            /// Whether it gives a truth value.
            pub fn is_comparison(self) -> bool {
                match self { $(Arithmetic::$variant => $truth,)* }
            }
        }
    };
}

arithmetic! {
    Add "add" 2 false: "a + b";
    Sub "sub" 2 false: "a − b";
    Mul "mul" 2 false: "a · b";
    Div "div" 2 false: "a / b";
    Neg "neg" 1 false: "−a";
    Fma "fma" 3 false: "a · b + c, rounded once";
    Min "min" 2 false: "a where a < b, else b";
    Max "max" 2 false: "a where a > b, else b";
    Sqrt "sqrt" 1 false: "the correctly rounded square root";
    Floor "floor" 1 false: "the greatest integer not above";
    Abs "abs" 1 false: "a without its sign";
    CopySign "copysign" 2 false: "the magnitude of a with the sign of b";
    Less "less" 2 true: "a < b; false with NaN";
    LessEqual "less-equal" 2 true: "a ≤ b; false with NaN";
    Equal "equal" 2 true: "a = b; false with NaN";
}

/// A table of the weights of a kernel's taps along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The kernel.
    pub kernel: KernelRef,
    /// The derivative.
    pub order: u32,
}

impl Table {
    /// The name of the table in a kernel.
    pub fn name(&self) -> String {
        format!("W_{}_{}", self.kernel.0.name, self.order)
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// One that Low-IR has as well.
    Low(low::Op),
    /// Arithmetic. On reals, what Low-IR has is written as there.
    Arithmetic(Arithmetic, Width),
    /// A constant in double precision.
    Double(Bits),
    /// The second argument where the first holds, else the third; doubles.
    SelectDouble,
    /// The bits that are set in both doubles.
    BitAnd,
    /// The bits that are set in one of two doubles, or both.
    BitOr,
    /// The bits of a double shifted towards the sign.
    ShiftLeft(u32),
    /// The bits of a double shifted away from the sign.
    ShiftRight(u32),
    /// A real in double precision.
    Widen,
    /// A double rounded to the program's precision.
    Narrow,
    /// The integer that a real is.
    ToInt,
    /// The sample of an image's component, this many after an offset from the first one.
    Load {
        /// The image.
        image: u32,
        /// The component.
        component: u32,
        /// The number that is added to the offset.
        ahead: u32,
    },
    /// The coefficient of a power in the weight of a tap, by the number of the tap.
    Coefficient(Table, u32),
    /// How many intervals of time an image has. Within each, frames follow each other evenly.
    Intervals(u32),
    /// When an interval of time begins, by its number.
    IntervalBegin(u32),
    /// Frames in a unit of time, by the number of the interval.
    IntervalRate(u32),
    /// One for fields on meshes.
    Mesh(MeshOp),
    /// An image was probed, inside where the argument holds: for a warning, without a result.
    Notice(u32),
    /// Where the argument holds, the strand is left to the CPU, as if the run had never touched it.
    Leave,
}

impl From<Simple> for Op {
    fn from(simple: Simple) -> Op {
        Op::Low(low::Op::Simple(simple))
    }
}

impl Op {
    /// Arithmetic, in the one way in which it is written.
    pub fn arithmetic(arithmetic: Arithmetic, width: Width) -> Op {
        let simple = match arithmetic {
            Arithmetic::Add => Simple::Add,
            Arithmetic::Sub => Simple::Sub,
            Arithmetic::Mul => Simple::Mul,
            Arithmetic::Div => Simple::Div,
            Arithmetic::Neg => Simple::Neg,
            Arithmetic::Less => Simple::Less,
            Arithmetic::LessEqual => Simple::LessEqual,
            Arithmetic::Equal => Simple::Equal,
            _ => return Op::Arithmetic(arithmetic, width),
        };
        match width {
            Width::Real => simple.into(),
            Width::Double => Op::Arithmetic(arithmetic, width),
        }
    }

    /// A real constant, in either width.
    pub fn constant(x: f64, width: Width) -> Op {
        match width {
            Width::Real => Op::Low(low::Op::Real(x.into())),
            Width::Double => Op::Double(x.into()),
        }
    }
}

impl Dialect for Device {
    const NAME: &'static str = "device";
    const BOOL: Ty = Ty::Scalar(low::Ty::Bool);
    const INT: Ty = Ty::Scalar(low::Ty::Int);
    type Op = Op;
    type Ty = Ty;

    fn type_of(op: &Op, args: &[&Ty]) -> Result<Types<Ty>, String> {
        let (wanted, results) = signature(op);
        if args.len() == wanted.len() && args.iter().zip(&wanted).all(|(a, w)| *a == w) {
            Ok(results.into())
        } else {
            Err(format!("arguments {args:?}, wanted {wanted:?}"))
        }
    }

    fn has_effect(op: &Op) -> bool {
        match op {
            Op::Low(op) => low::Low::has_effect(op),
            Op::Mesh(op) => op.has_effect(),
            Op::Notice(_) | Op::Leave => true,
            _ => false,
        }
    }

    fn commutes(op: &Op) -> bool {
        match op {
            Op::Low(op) => low::Low::commutes(op),
            Op::Arithmetic(Arithmetic::Add | Arithmetic::Mul | Arithmetic::Equal, _) => true,
            Op::BitAnd | Op::BitOr => true,
            _ => false,
        }
    }
}

/// Argument and result types of an operation.
fn signature(op: &Op) -> (Vec<Ty>, Vec<Ty>) {
    const REAL: Ty = Ty::Scalar(low::Ty::Real);
    let scalars = |types: Vec<low::Ty>| types.into_iter().map(Ty::Scalar).collect();
    match op {
        Op::Low(op) => {
            let (args, results) = low::signature(op);
            (scalars(args), scalars(results))
        }
        Op::Arithmetic(arithmetic, width) => {
            let result = if arithmetic.is_comparison() {
                Device::BOOL
            } else {
                width.ty()
            };
            (vec![width.ty(); arithmetic.arity()], vec![result])
        }
        Op::Double(_) => (vec![], vec![Ty::Double]),
        Op::SelectDouble => (vec![Device::BOOL, Ty::Double, Ty::Double], vec![Ty::Double]),
        Op::BitAnd | Op::BitOr => (vec![Ty::Double; 2], vec![Ty::Double]),
        Op::ShiftLeft(_) | Op::ShiftRight(_) => (vec![Ty::Double], vec![Ty::Double]),
        Op::Widen => (vec![REAL], vec![Ty::Double]),
        Op::Narrow => (vec![Ty::Double], vec![REAL]),
        Op::ToInt => (vec![REAL], vec![Device::INT]),
        Op::Load { .. } | Op::Coefficient(..) | Op::IntervalBegin(_) | Op::IntervalRate(_) => {
            (vec![Device::INT], vec![REAL])
        }
        Op::Intervals(_) => (vec![], vec![Device::INT]),
        Op::Mesh(op) => op.signature(),
        Op::Notice(_) | Op::Leave => (vec![Device::BOOL], vec![]),
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Scalar(ty) => write!(f, "{ty}"),
            Ty::Double => f.write_str("double"),
        }
    }
}

impl FromStr for Ty {
    type Err = String;

    fn from_str(text: &str) -> Result<Ty, String> {
        match text {
            "double" => Ok(Ty::Double),
            _ => text.parse().map(Ty::Scalar),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Low(op) => write!(f, "{op}"),
            Op::Arithmetic(arithmetic, width) => write!(f, "{} {}", width.ty(), arithmetic.name()),
            Op::Double(bits) => write!(f, "double {:?}", bits.get()),
            Op::SelectDouble => f.write_str("select-double"),
            Op::BitAnd => f.write_str("bit-and"),
            Op::BitOr => f.write_str("bit-or"),
            Op::ShiftLeft(n) => write!(f, "shift-left {n}"),
            Op::ShiftRight(n) => write!(f, "shift-right {n}"),
            Op::Widen => f.write_str("widen"),
            Op::Narrow => f.write_str("narrow"),
            Op::ToInt => f.write_str("to-int"),
            Op::Load {
                image,
                component,
                ahead,
            } => write!(f, "load {image} {component} {ahead}"),
            Op::Coefficient(table, power) => {
                let kernel = table.kernel.0.name;
                write!(f, "coefficient {kernel} {} {power}", table.order)
            }
            Op::Intervals(image) => write!(f, "intervals {image}"),
            Op::IntervalBegin(image) => write!(f, "interval-begin {image}"),
            Op::IntervalRate(image) => write!(f, "interval-rate {image}"),
            Op::Mesh(op) => write!(f, "{op}"),
            Op::Notice(image) => write!(f, "notice {image}"),
            Op::Leave => f.write_str("leave"),
        }
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Op, String> {
        let arithmetic = |width: Width, name: &str| {
            let known = Arithmetic::ALL.iter().find(|a| a.name() == name)?;
            Some(Op::Arithmetic(*known, width))
        };
        match text.split_once(' ') {
            Some(("real", name)) if let Some(op) = arithmetic(Width::Real, name) => return Ok(op),
            Some(("double", name)) if let Some(op) = arithmetic(Width::Double, name) => {
                return Ok(op);
            }
            _ => {}
        }
        let words = Words::of(text);
        Ok(match words.name() {
            "double" => Op::Double(words.number::<f64>(1)?.into()),
            "select-double" => Op::SelectDouble,
            "bit-and" => Op::BitAnd,
            "bit-or" => Op::BitOr,
            "shift-left" => Op::ShiftLeft(words.number(1)?),
            "shift-right" => Op::ShiftRight(words.number(1)?),
            "widen" => Op::Widen,
            "narrow" => Op::Narrow,
            "to-int" => Op::ToInt,
            "load" => Op::Load {
                image: words.number(1)?,
                component: words.number(2)?,
                ahead: words.number(3)?,
            },
            "coefficient" => {
                let name: String = words.number(1)?;
                let kernel = Kernel::named(&name)
                    .map(KernelRef)
                    .ok_or_else(|| words.bad())?;
                let table = Table {
                    kernel,
                    order: words.number(2)?,
                };
                Op::Coefficient(table, words.number(3)?)
            }
            "intervals" => Op::Intervals(words.number(1)?),
            "interval-begin" => Op::IntervalBegin(words.number(1)?),
            "interval-rate" => Op::IntervalRate(words.number(1)?),
            "notice" => Op::Notice(words.number(1)?),
            "leave" => Op::Leave,
            _ => match MeshOp::parse(&words) {
                Some(op) => Op::Mesh(op?),
                None => return text.parse().map(Op::Low),
            },
        })
    }
}
