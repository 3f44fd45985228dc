//! The contract between generated code and a world. This module has no code; `tests/world_generated.rs` is
//! a complete small program written the way the compiler writes one.
//!
//! # The super-step
//!
//! [`World::new`](super::World::new) calls `create` for all strands and publishes their state. The
//! first `run` begins with the global `start` block. Then every super-step does, in this order:
//!
//! 1. The spatial index is made from the published positions of all living strands.
//! 2. Block by block, in parallel: `start` for lanes that are new, then `update` for lanes that are
//!    still active. Lanes that answer `stable` run `stabilize` at once, in the same context. Every
//!    read of another strand gives its value at the start of the super-step.
//! 3. Printed text is put in strand order. A run-time error ends the run here.
//! 4. The dead leave, the others close up without changing their order.
//! 5. Strands made by `new` join at the end, in the order of their parents, and of one parent in
//!    the order it made them. They are active and new in the next super-step.
//! 6. Communicated planes are published. Replaced sequences are freed.
//! 7. The counts are taken, the step number grows by one, the global `update` block runs.
//!
//! A program without communication, `new`, counts, printing and a global `update` block
//! ([`Abilities::independent`](super::Abilities::independent)) runs each group of blocks to its end
//! instead. `Abilities` must therefore name everything the code does: a query without
//! `communicates` finds no strand, a spawned strand without `creates` joins too late.
//!
//! # Methods and blocks
//!
//! A method gets the context, its block and the lanes to run. Component `c` of variable `v` in lane
//! `l` is at `block + plane(v, c).offset + l * plane(v, c).bytes`
//! ([`StateLayout::plane`](crate::strands::StateLayout::plane)). The method writes only lanes in its
//! mask: the others hold stable strands, or nothing. It answers with the lanes that stabilized and
//! those that died; a lane in both is dead, a lane in neither stays active.
//!
//! Values are passed in the form `values[component * W + lane]`, even if the mask has only one lane.
//! Lanes outside the mask are neither read nor written, except that `sphere` sets all lists.
//!
//! [`StepContext::head`](super::StepContext::head) is the same for all methods of a super-step: `all`, `active` and
//! `stable` are `numStrands()`, `numActive()` and `numStable()`, as of the start of the super-step.
//!
//! # Calls
//!
//! The services of the runtime are methods of [`StepContext`](super::StepContext): `spawn`, `fail`,
//! `print_text`, `sphere`, and `create_sequence`, `extend_sequence`, `concatenate`, `sequence_data`.
//! `lanes` is a mask out of the method's own lanes; an empty mask does nothing.
//!
//! A lane that `fail` names counts as dead whatever the method answers, without `stabilize`; the
//! code must stop running it, but the other lanes go on to the end of the super-step, so that the
//! error reported is that of the first strand. A sequence that grows too long fails its lane by itself and gives the empty
//! sequence.
//!
//! # Sequences
//!
//! A variable of sequence type is one plane of 64-bit handles. The low half of a handle is the
//! length; the element at `i` begins at `data + i * bytes * components`, its components packed, and
//! an index must be checked by the code (`IndexOutOfRange`). A zero handle is the empty sequence,
//! for which `data` must not be read.
//!
//! Handles are values: they may be copied, stored in several variables, dropped. **Generated code
//! owns nothing and frees nothing.** After every method the runtime looks at the handles in the
//! state of each lane that ran, and
//!
//! * frees sequences that the method made and no variable holds: temporaries need no care;
//! * frees sequences that a variable held before and none holds now, at the end of the super-step
//!   if any sequence of the layout is read by others, else at once;
//! * copies sequences that a variable holds but that belong to another strand or to the globals,
//!   and replaces the handle in the state by that of the copy;
//! * frees all sequences of a strand that died.
//!
//! So a handle and the address of its elements are valid until the method returns, whatever is
//! appended in between: appending to the newest value writes behind its end, appending to an older
//! one copies, and neither moves existing elements. Only handles in the state live longer, and no
//! address does. `stabilize` counts as part of the method it ends. A handle must not be kept
//! anywhere else, such as in a global variable.
//!
//! # `new`
//!
//! Initialize the lanes of `staging()`, a block of the state's own layout, as `create` does a
//! block: **every plane**, since the block still holds earlier values (a sequence plane without a
//! value gets 0). Then call `spawn`, which copies the lanes away, sequences
//! included. The staging block may be used again at once; its handles now belong to the child and
//! must not be read. A method may spawn any number of times, also for lanes that then stabilize or
//! die. Calls during the initialization take the parent's lane. The child has no slot yet and
//! cannot be found by queries before the next super-step.
//!
//! # Reading others
//!
//! `sphere` gives the slots of living strands strictly closer than the radius, without the querying
//! strand, in strand order. The list of a lane is at `lists.slots[lane]` and is valid until the
//! method returns, even after further queries. A variable that is read through a slot must be
//! declared [`Communicated`](crate::strands::Sharing::Communicated), or
//! [`Constant`](crate::strands::Sharing::Constant) if no method assigns it. With the width W
//!
//! ```text
//! communicated:  head.published + slot / W * layout.published_stride() + plane.offset + slot % W * plane.bytes
//! constant:      head.state     + slot / W * layout.stride()           + plane.offset + slot % W * plane.bytes
//! ```
//!
//! Strides and offsets are constants of the layout; the two base addresses change between
//! super-steps. A strand reads its own variables in its block, where it sees its own
//! assignments. A sequence of another strand is its handle, read in the same way, then
//! `sequence_data`; it may be extended or stored like any other.
//!
//! # Global code
//!
//! Global code runs alone, between super-steps, with a [`GlobalContext`](super::GlobalContext)
//! instead of a step context, which has:
//!
//! * `counts()`, `step()`: as of now. `print_text`.
//! * A reduction `op { e | x in S.set }`: compile `e` as a function over a block like a method that
//!   only reads, and give it to [`reduce_map`](super::GlobalContext::reduce_map) as
//!   `map(block, lanes, values)`, which writes the planes of `e` to `values`. It is called for many
//!   blocks at the same time, must not write anything else and has no step context. The values are
//!   then folded in strand order, in a shape that depends on their number only. The map reads
//!   the block itself, which equals the published state between super-steps.
//! * `stabilize` and `die` in a global block: `stabilize_all`, `kill_all`, after the block's code.
//! * Sequences of global variables: `cx.sequences` ([`GlobalSequences`](super::GlobalSequences)), the
//!   same object that held those of inputs and initializers before the world was made. After each
//!   global block everything made there that
//!   [`held_sequences`](super::StrandProgram::held_sequences) does not name is freed, so it must name
//!   the handles of all global variables. Strand code reads a global sequence with
//!   `sequence_data`; extending or storing it copies.
//!
//! Strand code must not write global variables, and global code reads strands only by reductions.
