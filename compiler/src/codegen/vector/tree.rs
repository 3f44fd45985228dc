//! A function as a tree of machine operations on whole vectors, before registers are chosen.
//!
//! A value is W lanes or W truth values, defined once. Constants, globals, image properties and state that does not change
//! need no register: instructions read them where they are. Lanes that do not run hold anything; only merges,
//! stores and calls are limited to the lanes that do.

use smallvec::SmallVec;

/// What a step reads. Mostly few values, which need no memory of their own.
pub(super) type Vals = SmallVec<[Val; 4]>;

/// A value by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Val(pub(super) u32);

impl Val {
    /// The lanes that the function was called for.
    pub(super) const ACTIVE: Val = Val(0);

    /// For tables by value.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// W lanes.
    Vector,
    /// W truth values.
    Mask,
}

/// What addresses are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Globals,
    Images,
    State,
    Args,
    Frame,
    /// The constants of the function.
    Constants,
}

/// A place in memory that the function does not write while values there are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryPlace {
    pub(super) base: Base,
    pub(super) at: i32,
}

/// Where a value can be found without ever being computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// It must be computed.
    None,
    /// One lane in memory is that of all.
    Broadcast(MemoryPlace),
    /// A plane of lanes in memory.
    Plane(MemoryPlace),
    /// A truth value that is the same for all and known.
    Truth(bool),
    /// A truth value that is the same for all: a byte, 0 or 1.
    TruthAt(MemoryPlace),
}

/// Operations of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// The first operand where it is less, else the second.
    Min,
    /// The first operand where it is greater, else the second.
    Max,
    And,
    Or,
    Xor,
    IntAdd,
    IntSub,
    IntMul,
    /// The sum in lanes of 64 bits.
    LongAdd,
    /// The product of the lower halves of lanes of 64 bits, unsigned.
    LongMulHalves,
    /// The quotient of reals of 64 bits.
    LongDiv,
    /// Lanes of 32-bit integers from two halves of reals of 64 bits, truncated.
    Narrow,
}

impl Binary {
    /// Whether the operands can change places.
    pub(super) fn commutes(self) -> bool {
        !matches!(
            self,
            Binary::Sub
                | Binary::Div
                | Binary::Min
                | Binary::Max
                | Binary::IntSub
                | Binary::LongDiv
                | Binary::Narrow
        )
    }
}

/// Operations of one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Copy,
    Sqrt,
    Round(Rounding),
    /// Integers as reals.
    ToReal,
    /// The lower halves of lanes of 64 bits, extended by their signs.
    ExtendHalves,
    /// Bits of lanes shifted towards higher ones.
    ShiftLeft(u8),
    /// Bits of lanes shifted towards lower ones, zeros entering.
    ShiftRight(u8),
    /// The same in lanes of 64 bits.
    LongShiftLeft(u8),
    LongShiftRight(u8),
    /// Half of the lanes of 32 bits as lanes of 64 bits, zeros entering.
    Widen(Half),
    /// Half of the lanes of 32-bit integers as reals of 64 bits.
    WidenToReal(Half),
    /// Reals of 64 bits as 32-bit integers, truncated, extended by their signs.
    Truncate,
}

/// Towards which integer reals are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Down = 1,
    Up = 2,
    TowardsZero = 3,
}

/// Half of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Low,
    High,
}

/// Comparisons of two vectors; all are false with NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Less,
    LessEqual,
    Equal,
    IntLess,
    IntLessEqual,
    IntEqual,
}

/// Operations of two masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    /// Not the first, and the second.
    AndNot,
}

/// An operation that works lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Binary(Binary),
    Unary(Unary),
    /// Two vectors and, if there is a third argument, a mask; outside of it the result is false.
    Compare(Compare),
    /// The second argument where the first, a mask, holds, else the third.
    Select,
    Logic(Logic),
    Not,
    /// As for vectors.
    SelectMask,
    /// Lanes of zeros or ones as a mask.
    ToMask,
    /// A mask as lanes of zeros or ones.
    ToWord,
}

/// What a function that is called is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// The frame.
    Frame,
    /// The lanes to work on, as bits.
    Lanes,
    /// A number or an address.
    Number(u64),
    /// A probe image by its place in the frame's table.
    Field(usize),
    /// The address of the values that are handed over, a plane each.
    Values,
    /// The address of the planes for results, from the one with this number on.
    Results(usize),
}

/// A call of the runtime.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The address of the function.
    pub(super) function: usize,
    pub(super) arguments: Vec<Argument>,
    pub(super) lanes: Val,
    /// The values handed over.
    pub(super) values: Vec<Val>,
    pub(super) results: Vec<Val>,
    /// Whether it must happen even if the results are not needed.
    pub(super) effect: bool,
}

/// Reads one number per lane, at addresses of 64 bits.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    pub(super) result: Val,
    /// The member of the frame that addresses are relative to; none if they are absolute.
    pub(super) origin: Option<i32>,
    /// The offset that is added to every address.
    pub(super) displacement: i32,
    /// The addresses: one vector, or two halves if lanes have 32 bits.
    pub(super) addresses: Vec<Val>,
    /// The lanes that are read; the others become zero.
    pub(super) lanes: Val,
    /// Whether lanes of 64 bits are read from 32, zeros entering.
    pub(super) narrow: bool,
}

/// A step of a function.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its place in the order of steps, set when values' uses are collected.
    pub(super) at: u32,
    pub(super) kind: Kind,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Op {
        op: Op,
        result: Val,
        args: Vals,
    },
    Call(Box<Call>),
    /// A call that is made only if it has lanes, which is rare.
    Report(Box<Call>),
    Gather(Box<Gather>),
    /// Interpolates linearly in place; the call is for images with which that cannot be done.
    Tent {
        call: Box<Call>,
        /// Whether the position is known to be inside the image.
        inside: bool,
    },
    /// Reads 32-bit words of the state that are 64 bits apart.
    Unpack {
        result: Val,
        at: i32,
    },
    If(Box<If>),
    For(Box<For>),
}

/// Steps, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) nodes: Vec<Node>,
    /// The place of its end in the order of steps.
    pub(super) end: u32,
}

/// Blocks that run one after the other, each for its lanes.
#[derive(Clone, Debug)]
pub(super) struct If {
    pub(super) arms: Vec<Arm>,
    pub(super) merges: Vec<Merge>,
}

/// A block that runs if some lanes want it.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) test: Test,
    /// The lanes it runs for.
    pub(super) mask: Val,
    pub(super) block: Block,
    /// The place of its test in the order of steps.
    pub(super) start: u32,
}

/// When a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// If any lane of its mask is set.
    Lanes,
    /// If a byte in memory is this truth value, for all lanes.
    Byte(MemoryPlace, bool),
}

/// A result of an `if`.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    pub(super) result: Val,
    /// Its value where no arm gives one.
    pub(super) start: Option<Val>,
    /// What each arm gives.
    pub(super) yields: Vec<Option<Val>>,
}

/// A block that is repeated while any lane wants it.
#[derive(Clone, Debug)]
pub(super) struct For {
    /// The lanes that go on, one of the variables.
    pub(super) mask: Val,
    pub(super) variables: Vec<Variable>,
    pub(super) body: Block,
    /// Whether it may take long, so that it looks whether the call is to be left.
    pub(super) is_long: bool,
    /// The place of its test in the order of steps.
    pub(super) start: u32,
}

/// What a loop hands from one round to the next.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) value: Val,
    pub(super) init: Val,
    pub(super) next: Val,
    /// Whether lanes that leave the loop keep their value.
    pub(super) kept: bool,
    /// Its value after the loop.
    pub(super) result: Option<Val>,
}

/// What becomes of the results of a function.
#[derive(Clone, Debug)]
pub(super) enum Finish {
    /// The state of the lanes that run is replaced.
    State {
        /// Lanes that stabilize and that die, if the function has a status.
        ended: Option<[Val; 2]>,
        stores: Vec<Store>,
    },
    /// They become planes, one after the other.
    Results(Vec<Val>),
}

/// A plane of the state that changes.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// Bytes from the start of the block.
    pub(super) at: i32,
    pub(super) value: Val,
    /// The plane's value before, if the function reads it.
    pub(super) before: Option<Val>,
    /// Whether its words of 32 bits are 64 bits apart.
    pub(super) packed: bool,
}

/// A function.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) body: Block,
    pub(super) finish: Finish,
    pub(super) values: Values,
    /// Whether several super-steps can be run in one call.
    pub(super) repeats: bool,
    /// The bytes of its constants.
    pub(super) constants: Vec<u8>,
    /// How many lanes there are, and where the bit of each is stored.
    pub(super) width: usize,
    pub(super) bits: MemoryPlace,
    /// The number one, which interpolation in place needs, if there is one.
    pub(super) one: Option<MemoryPlace>,
}

/// Facts about values.
#[derive(Debug, Default)]
pub(super) struct Values {
    classes: Vec<Class>,
    homes: Vec<Home>,
}

impl Values {
    pub(super) fn make(&mut self, class: Class, home: Home) -> Val {
        self.classes.push(class);
        self.homes.push(home);
        Val(self.classes.len() as u32 - 1)
    }

    pub(super) fn class(&self, v: Val) -> Class {
        self.classes[v.index()]
    }

    pub(super) fn home(&self, v: Val) -> Home {
        self.homes[v.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }
}

impl Kind {
    /// The values that a step other than `if` and `for` reads.
    pub(super) fn reads(&self) -> Vals {
        match self {
            Kind::Op { args, .. } => args.clone(),
            Kind::Call(call) | Kind::Report(call) | Kind::Tent { call, .. } => {
                call.values.iter().copied().chain([call.lanes]).collect()
            }
            Kind::Gather(gather) => {
                let addresses = gather.addresses.iter().copied();
                addresses.chain([gather.lanes]).collect()
            }
            Kind::Unpack { .. } | Kind::If(_) | Kind::For(_) => Vals::new(),
        }
    }
}
