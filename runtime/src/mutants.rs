//! Deliberate faults of the runtime, to see that testing would find them.
//!
//! A part of the runtime lists its faults with [`mutants!`], which defines them and whether they are on. Without the feature
//! `mutants` no fault can be on, and nothing of it is left. `datm mutants` switches them on one at a time, after those of the
//! compiler.

/// Defines `Mutant`, the faults of a part of the runtime, and `is_on`. With the feature, also `MUTANTS`, which lists the faults with
/// their descriptions, and `switch_on`.
macro_rules! mutants {
    ($($mutant:ident: $fault:literal;)*) => {
        /// A deliberate fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Mutant { $(#[doc = $fault] $mutant,)* }

        /// Every fault and its description.
        #[cfg(feature = "mutants")]
        pub const MUTANTS: &[(Mutant, &str)] = &[$((Mutant::$mutant, $fault),)*];

        /// The number of the fault that is on.
        #[cfg(feature = "mutants")]
        static ON: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(u8::MAX);

        /// Switches one fault on, or all off.
        #[cfg(feature = "mutants")]
        pub fn switch_on(mutant: Option<Mutant>) {
            let number = mutant.map_or(u8::MAX, |mutant| mutant as u8);
            ON.store(number, std::sync::atomic::Ordering::SeqCst);
        }

        /// Whether a fault is switched on.
        #[cfg(feature = "mutants")]
        fn is_on(mutant: Mutant) -> bool {
            ON.load(std::sync::atomic::Ordering::Relaxed) == mutant as u8
        }

        /// Whether a fault is switched on.
        #[cfg(not(feature = "mutants"))]
        #[inline(always)]
        const fn is_on(_: Mutant) -> bool {
            false
        }
    };
}

pub(crate) use mutants;
