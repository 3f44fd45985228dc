//! The layout of what every launch is given in front of the cells.

use std::mem::offset_of;

/// One table for the layout: the struct, the offset of each field for PTX, its bytes, and its declaration in C.
macro_rules! header {
    ($($(#[$doc:meta])* $field:ident $offset:ident: $ty:ty = $c:literal,)*) => {
        /// What every launch is given, in front of the cells.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Header {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl Header {
            $(pub(super) const $offset: usize = offset_of!(Header, $field);)*

            /// The declarations of the fields in C, in order.
            pub(super) const IN_C: &[&str] = &[$(concat!($c, stringify!($field))),*];

            /// Its bytes in memory: no field needs padding in front of it.
            pub(super) fn bytes(&self) -> Vec<u8> {
                let fields = [$(self.$field.to_le_bytes().to_vec()),*];
                fields.concat()
            }
        }
    };
}

header! {
    /// The blocks of states; for the entry point `pack`, the samples of a component; for `collect`, the first word of the results; for `spread`,
    /// the first number of a scalar.
    state STATE: u64 = "char *",
    /// The fate of each strand: a word of 32 bits, see [`runtime::world::fate`].
    fates FATES: u64 = "unsigned *",
    /// Words that the kernel sets if strands go on after this launch, have ended, or are left to the CPU.
    flags FLAGS: u64 = "unsigned *",
    /// The cells beyond those that are parameters.
    more MORE: u64 = "const union Cell *",
    /// The published parts of the blocks, as of the start of the super-step.
    published PUBLISHED: u64 = "void *",
    /// The rank of the strand in each slot.
    ranks RANKS: u64 = "void *",
    /// For each box of space the number of strands in it, and their first place in the order of boxes: two words.
    boxes BOXES: u64 = "void *",
    /// For each slot the box of its strand and its number there: two words.
    seats SEATS: u64 = "void *",
    /// In the order of boxes, the slots of strands.
    order ORDER: u64 = "void *",
    /// In the same order, four reals for each strand: its position, and the bits of its rank as the last. For the entry point
    /// `pack`, the destination of the first sample; for `collect`, that of the first word; for `spread`, that of the first number;
    /// for `reduce`, that of the first value.
    places PLACES: u64 = "void *",
    /// In the same order, the other state that strands read of their neighbours, as of the start of the super-step: a record of
    /// [`Near::record`](super::kernel::Near::record) bytes for each.
    seen SEEN: u64 = "void *",
    /// The buffers of the heap of sequences, see `sequences.rs`.
    heap HEAP: u64 = "void *",
    /// The common sequences.
    common COMMON: u64 = "void *",
    /// The number of the first unit of the heap that was never taken; for `compact`, of another heap, which begins at `places`.
    next NEXT: u64 = "void *",
    /// The units of the heap.
    units UNITS: u64 = "unsigned long long ",
    /// For each slot the free part of its chunk: two words.
    chunks_of CHUNKS_OF: u64 = "void *",
    /// The super-step, counted from the beginning of the run, at which strands with sequences pause.
    until UNTIL: u64 = "unsigned long long ",
    /// The records of events, see `events.rs`.
    events EVENTS: u64 = "void *",
    /// The units that there is room for.
    event_units EVENT_UNITS: u64 = "unsigned long long ",
    /// Boxes in a unit of length.
    per_unit PER_UNIT: f64 = "double ",
    /// The number of strands, samples or words.
    count COUNT: u32 = "unsigned ",
    /// Super-steps of this launch at most; or bytes from a sample, or a block, to the next.
    steps STEPS: u32 = "unsigned ",
    /// The bits of the number of a box along an axis; for `collect`, the words of a block; for `spread`, its strands; for `create`, the
    /// number of all strands; for `reduce`, the number of the reduction.
    bits BITS: u32 = "unsigned ",
    /// The number of boxes, in units of [`Near::BOXES`](super::kernel::Near::BOXES). The last ones are for strands without a
    /// finite position. For `collect`, the bytes from the results of a block to those of the next; for `spread`, from a number to the next.
    chunks CHUNKS: u32 = "unsigned ",
}

/// The words behind [`Header::flags`], in bytes from the first.
impl Header {
    pub(super) const GOES_ON: usize = 0;
    pub(super) const ENDED: usize = 4;
    pub(super) const LEFT: usize = 8;
    /// The largest radius that some strands asked for, as the first bits of a real.
    pub(super) const RADIUS: usize = 12;
    /// The number of strands with a place in the order of boxes.
    pub(super) const PLACED: usize = 16;
    /// Strands wait for a larger heap.
    pub(super) const FULL: usize = 20;
    /// The most super-steps that a strand has taken; `tally` finds it.
    pub(super) const MOST_STEPS: usize = 24;
    /// The units that the records of events would take.
    pub(super) const TOLD: usize = 28;
    pub(super) const FLAG_COUNT: usize = 8;
}

const _: () = {
    let (addresses, words) = (
        19 * size_of::<u64>() + size_of::<f64>(),
        4 * size_of::<u32>(),
    );
    assert!(
        size_of::<Header>() == addresses + words,
        "a header without padding"
    );
};
