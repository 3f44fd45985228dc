//! Faults that are seeded on purpose, to see that they are found: all that a tree does not have by the checker of register
//! assignments in its tests, those of masks by programs that `datm mutants` runs, with the feature `mutants`. Otherwise there are none, and nothing of them is left.

#![cfg_attr(
    not(feature = "mutants"),
    allow(unreachable_pub, reason = "public where they can be on")
)]

macro_rules! faults {
    ($($fault:ident: $what:literal;)*) => {
        /// A deliberate fault in code for vectors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Fault { $(#[doc = $what] $fault,)* }

        /// Every fault and its effect.
        #[cfg(any(test, feature = "mutants"))]
        pub(super) const FAULTS: &[(Fault, &str)] = &[$((Fault::$fault, $what),)*];
    };
}

faults! {
    // Faults in the tree of a function, before registers are chosen.
    InnerMaskAlone: "a condition inside another one forgets the lanes of that one";
    OtherMaskAlone: "the second arm of a condition runs in lanes that do not run";
    MaskNotRestored: "after a condition only the lanes of its second arm run";
    LoopForAll: "a loop is entered by lanes that do not run";
    LoopNotLeft: "a lane that leaves a loop early goes on with the others";
    // Faults in the emitted code for masks.
    LostMask: "an arm for all lanes replaces a value that a branch around it still needs in its other lanes";
    MergeUnderActive: "a merge is made under the lanes that run at all";
    MergeOmitted: "a merge is not made";
    VariableNotKept: "lanes that have left a loop do not keep their values";
    ActiveNotUpdated: "lanes that end go on";
    EndedNotStored: "the state of lanes that end is not stored";
    StoredForOthers: "the state is stored for the lanes that end also when the call ends";
    // Faults in the choice of registers. They can have any effect, even endless loops.
    SpillOmitted: "a value leaves its register and is not stored";
    RegisterReleasedEarly: "the register of an operand is free although the operand is used later";
    SlotGivenBackEarly: "a slot is given back although its value is used later";
    RestoreSkipped: "where ways meet, one value is not brought back";
    CircleInOrder: "moves in a circle are done one after the other";
    NotAside: "a value in a slot into which another one comes is not copied first";
    CallNotSaved: "a register is not saved before a call";
    RareCallNotSaved: "a call that is rarely made does not save a register";
    InPlaceThoughUsed: "a result of a branch, or a variable of a loop, takes the place of a value that is used later";
    NextNotMoved: "a variable of a loop or of super-steps does not get its next value";
    WrongArgument: "a value that is handed to a call is another one";
    OperandsSwapped: "the operands of a difference change places";
}

/// The faults of masks, which programs show by their values.
#[cfg(feature = "mutants")]
pub fn of_masks() -> &'static [(Fault, &'static str)] {
    &FAULTS[..Fault::SpillOmitted as usize]
}

#[cfg(test)]
impl Fault {
    /// Whether the tree is wrong already, which the checker takes for the truth.
    pub(super) fn is_in_tree(self) -> bool {
        (self as u8) < Fault::LostMask as u8
    }
}

#[cfg(test)]
thread_local! {
    static SEEDED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Does something with a fault.
#[cfg(test)]
pub(super) fn with<R>(fault: Fault, act: impl FnOnce() -> R) -> R {
    SEEDED.set(Some(fault));
    let result = act();
    SEEDED.set(None);
    result
}

/// The number of the fault that is on.
#[cfg(all(feature = "mutants", not(test)))]
static ON: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(u8::MAX);

/// Switches one fault on, or all off.
#[cfg(all(feature = "mutants", not(test)))]
pub fn switch_on(fault: Option<Fault>) {
    let number = fault.map_or(u8::MAX, |fault| fault as u8);
    ON.store(number, std::sync::atomic::Ordering::SeqCst);
}

/// Whether a fault is seeded.
#[inline(always)]
pub(super) fn is_seeded(fault: Fault) -> bool {
    #[cfg(test)]
    let seeded = SEEDED.get() == Some(fault);
    #[cfg(all(feature = "mutants", not(test)))]
    let seeded = ON.load(std::sync::atomic::Ordering::Relaxed) == fault as u8;
    #[cfg(not(any(feature = "mutants", test)))]
    let seeded = {
        let _ = fault;
        false
    };
    seeded
}
