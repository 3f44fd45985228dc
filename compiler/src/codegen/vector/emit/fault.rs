//! Faults that tests seed on purpose, to see that the checker of register assignments finds them. Outside of tests there are
//! none.

/// A fault in the assignment of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::vector) enum Fault {
    /// An arm for all lanes replaces a value that a branch around it still needs in its other lanes.
    LostMask,
    /// A value leaves its register and is not stored.
    SpillOmitted,
    /// The register of an operand is free although the operand is used later.
    RegisterReleasedEarly,
    /// A slot is given back although its value is used later.
    SlotGivenBackEarly,
    /// Where ways meet, one value is not brought back.
    RestoreSkipped,
    /// Moves in a circle are done one after the other.
    CircleInOrder,
    /// A register is not saved before a call.
    CallNotSaved,
    /// A call that is rarely made does not save a register.
    RareCallNotSaved,
    /// A merge is made under the lanes that run at all.
    MergeUnderActive,
    /// A merge is not made.
    MergeOmitted,
    /// A result of a branch, or a variable of a loop, takes the place of a value that is used later.
    InPlaceThoughUsed,
    /// A variable of a loop or of super-steps does not get its next value.
    NextNotMoved,
    /// Lanes that have left a loop do not keep their values.
    VariableNotKept,
    /// Lanes that end go on.
    ActiveNotUpdated,
    /// The state of lanes that end is not stored.
    EndedNotStored,
    /// The state is stored for the lanes that end also when the call ends.
    StoredForOthers,
    /// A value that is handed to a call is another one.
    WrongArgument,
    /// The operands of a difference change places.
    OperandsSwapped,
}

#[cfg(test)]
thread_local! {
    static SEEDED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Whether a fault is seeded.
#[cfg(test)]
pub(super) fn is_seeded(fault: Fault) -> bool {
    SEEDED.get() == Some(fault)
}

/// Whether a fault is seeded: never.
#[cfg(not(test))]
pub(super) fn is_seeded(_: Fault) -> bool {
    false
}

/// Does something with a fault in the emitter.
#[cfg(test)]
pub(in crate::codegen::vector) fn with<R>(fault: Fault, act: impl FnOnce() -> R) -> R {
    SEEDED.set(Some(fault));
    let result = act();
    SEEDED.set(None);
    result
}

#[cfg(test)]
impl Fault {
    /// All of them.
    pub(in crate::codegen::vector) const ALL: [Fault; 18] = [
        Fault::LostMask,
        Fault::SpillOmitted,
        Fault::RegisterReleasedEarly,
        Fault::SlotGivenBackEarly,
        Fault::RestoreSkipped,
        Fault::CircleInOrder,
        Fault::CallNotSaved,
        Fault::RareCallNotSaved,
        Fault::MergeUnderActive,
        Fault::MergeOmitted,
        Fault::InPlaceThoughUsed,
        Fault::NextNotMoved,
        Fault::VariableNotKept,
        Fault::ActiveNotUpdated,
        Fault::EndedNotStored,
        Fault::StoredForOthers,
        Fault::WrongArgument,
        Fault::OperandsSwapped,
    ];
}
