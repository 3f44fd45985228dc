//! Vectors that record their operations. With them the primitives, written once over `Vector`, become lists of operations.
//!
//! A machine that the primitives are not compiled for does the same operations in the same order, and so gives the same
//! bits. Where a primitive looks at a mask to treat rare lanes on their own, the recording says that it holds only where
//! the mask is false ([`Operation::Never`]).

use super::{Doubles, Float, MAX_WIDTH, Mask, Vector};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// An operation on numbers, their bits, or truth values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// An argument, by number.
    Argument(usize),
    /// A constant; a single where singles were recorded.
    Constant(f64),
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
    /// `a / b`
    Div,
    /// `−a`
    Neg,
    /// `a · b + c`, rounded once.
    Fma,
    /// `a` where `a < b`, else `b`.
    Min,
    /// `a` where `a > b`, else `b`.
    Max,
    /// The correctly rounded square root.
    Sqrt,
    /// The greatest integer not above.
    Floor,
    /// Without its sign.
    Abs,
    /// The magnitude of `a` with the sign of `b`.
    CopySign,
    /// `a < b`; false for NaN.
    Less,
    /// `a ≤ b`; false for NaN.
    LessEqual,
    /// `a = b`; false for NaN.
    Equal,
    /// `b` where the truth value `a` holds, else `c`.
    Select,
    /// Truth values: both.
    Both,
    /// Truth values: one or both.
    Either,
    /// Truth values: not.
    Not,
    /// The bits of `a` and `b`: those in both.
    BitAnd,
    /// Those in one or both.
    BitOr,
    /// The bits shifted towards the sign.
    ShiftLeft(u32),
    /// The bits shifted away from the sign.
    ShiftRight(u32),
    /// Gives nothing: where the truth value `a` holds, the recording is not what the primitive does.
    Never,
}

/// A step of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// The steps whose results are its operands; as many count as the operation takes.
    pub operands: [usize; 3],
}

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// All steps, each after those it uses.
    pub steps: Vec<Step>,
    /// The steps whose results are those of the whole.
    pub results: Vec<usize>,
}

thread_local! {
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

fn record(operation: Operation, operands: [usize; 3]) -> usize {
    STEPS.with_borrow_mut(|steps| {
        steps.push(Step {
            operation,
            operands,
        });
        steps.len() - 1
    })
}

/// Something recorded, numbers or truth values, by its step.
pub(crate) trait Recorded: Copy {
    fn step(self) -> usize;
}

/// Records what `work` does to `arguments` numbers of type `T`.
pub(crate) fn tape<T: Float, R: Recorded>(
    arguments: usize,
    work: impl FnOnce(&[Traced<T>]) -> Vec<R>,
) -> Tape {
    let before = STEPS.take();
    let given: Vec<Traced<T>> = (0..arguments)
        .map(|n| Traced::of(Operation::Argument(n), [0; 3]))
        .collect();
    let results = work(&given).into_iter().map(R::step).collect();
    let steps = STEPS.replace(before);
    Tape { steps, results }
}

/// A number that stands for the result of a step.
#[derive(Clone, Copy)]
pub(crate) struct Traced<T>(usize, PhantomData<T>);

/// A truth value that stands for the result of a step.
#[derive(Clone, Copy)]
pub(crate) struct Truth(usize);

impl<T: Float> Traced<T> {
    fn of(operation: Operation, operands: [usize; 3]) -> Traced<T> {
        Traced(record(operation, operands), PhantomData)
    }

    fn one(self, operation: Operation) -> Traced<T> {
        Traced::of(operation, [self.0, 0, 0])
    }

    fn two(self, operation: Operation, b: Traced<T>) -> Traced<T> {
        Traced::of(operation, [self.0, b.0, 0])
    }

    fn compared(self, operation: Operation, b: Traced<T>) -> Truth {
        Truth(record(operation, [self.0, b.0, 0]))
    }
}

impl<T: Float> Recorded for Traced<T> {
    fn step(self) -> usize {
        self.0
    }
}

impl Recorded for Truth {
    fn step(self) -> usize {
        self.0
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {
        $(impl<T: Float> $trait for Traced<T> {
            type Output = Traced<T>;
            fn $method(self, b: Traced<T>) -> Traced<T> {
                self.two(Operation::$trait, b)
            }
        })*
    };
}

operators! { Add add Sub sub Mul mul Div div }

impl<T: Float> Neg for Traced<T> {
    type Output = Traced<T>;
    fn neg(self) -> Traced<T> {
        self.one(Operation::Neg)
    }
}

impl BitAnd for Truth {
    type Output = Truth;
    fn bitand(self, b: Truth) -> Truth {
        Truth(record(Operation::Both, [self.0, b.0, 0]))
    }
}

impl BitOr for Truth {
    type Output = Truth;
    fn bitor(self, b: Truth) -> Truth {
        Truth(record(Operation::Either, [self.0, b.0, 0]))
    }
}

impl Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        Truth(record(Operation::Not, [self.0, 0, 0]))
    }
}

impl Mask for Truth {
    /// Code tests a mask only for rare lanes, which are left out of the recording.
    fn bits(self) -> u32 {
        record(Operation::Never, [self.0, 0, 0]);
        0
    }
}

/// Why there are no addresses here.
const NO_MEMORY: &str = "recorded primitives are arithmetic only";

// SAFETY: no method touches memory.
unsafe impl<T: Float> Vector for Traced<T> {
    type Elem = T;
    type Mask = Truth;
    const LANES: usize = 1;
    const FUSED: bool = true;

    fn splat(x: T) -> Self {
        Traced::of(Operation::Constant(x.to_f64()), [0; 3])
    }

    unsafe fn load(_: *const T) -> Self {
        unreachable!("{NO_MEMORY}")
    }

    unsafe fn store(self, _: *mut T) {
        unreachable!("{NO_MEMORY}")
    }

    fn mul_add(self, b: Self, c: Self) -> Self {
        Traced::of(Operation::Fma, [self.0, b.0, c.0])
    }

    fn min(self, b: Self) -> Self {
        self.two(Operation::Min, b)
    }

    fn max(self, b: Self) -> Self {
        self.two(Operation::Max, b)
    }

    fn sqrt(self) -> Self {
        self.one(Operation::Sqrt)
    }

    fn floor(self) -> Self {
        self.one(Operation::Floor)
    }

    fn abs(self) -> Self {
        self.one(Operation::Abs)
    }

    fn copysign(self, sign: Self) -> Self {
        self.two(Operation::CopySign, sign)
    }

    fn lt(self, b: Self) -> Truth {
        self.compared(Operation::Less, b)
    }

    fn le(self, b: Self) -> Truth {
        self.compared(Operation::LessEqual, b)
    }

    fn same(self, b: Self) -> Truth {
        self.compared(Operation::Equal, b)
    }

    fn select(mask: Truth, a: Self, b: Self) -> Self {
        Traced::of(Operation::Select, [mask.0, a.0, b.0])
    }

    /// There is one lane.
    fn mask(bits: u32) -> Truth {
        let [zero, one] = [0.0, 1.0].map(|x| Traced::splat(T::from_f64(x)));
        if bits & 1 == 0 {
            one.lt(zero)
        } else {
            zero.lt(one)
        }
    }

    fn offsets(_: &[Self; 3], _: &[i64; 3], _: usize) -> [i64; MAX_WIDTH] {
        unreachable!("{NO_MEMORY}")
    }

    unsafe fn rows2(_: *const T, _: &[i64; MAX_WIDTH]) -> [Self; 2] {
        unreachable!("{NO_MEMORY}")
    }

    unsafe fn rows4(_: *const T, _: &[i64; MAX_WIDTH]) -> [Self; 4] {
        unreachable!("{NO_MEMORY}")
    }
}

// SAFETY: as for `Vector`.
unsafe impl Doubles for Traced<f64> {
    fn and(self, b: Self) -> Self {
        self.two(Operation::BitAnd, b)
    }

    fn or(self, b: Self) -> Self {
        self.two(Operation::BitOr, b)
    }

    fn shift_left<const N: u32>(self) -> Self {
        self.one(Operation::ShiftLeft(N))
    }

    fn shift_right<const N: u32>(self) -> Self {
        self.one(Operation::ShiftRight(N))
    }

    unsafe fn load_singles(_: *const f32) -> Self {
        unreachable!("{NO_MEMORY}")
    }

    unsafe fn store_singles(self, _: *mut f32) {
        unreachable!("{NO_MEMORY}")
    }
}
