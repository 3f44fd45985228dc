//! The entry point that makes strands.

use super::{CPrinter, entry, name};
use crate::{
    codegen::gpu::{
        header::Header,
        kernel::{Cell, Iteration, Kernel, WORD},
    },
    device::Device,
    ssa::Function,
};
use runtime::world::fate;
use std::fmt::Write;

impl CPrinter<'_> {
    /// The function that gives the state of a strand from the values of the iterators.
    pub(super) fn creation(&mut self, function: &Function<Device>) {
        self.text += "\n__device__ static Int method_create(const struct Parameters *P, struct State *S, const Int *given) {\n";
        self.line("(void)P, (void)given;");
        self.makes_strands = true;
        self.block(function, &function.body);
        self.makes_strands = false;
        for (slot, value) in function.body.yields.iter().enumerate() {
            let line = format!("S->s{slot} = {};", name(*value));
            self.line(&line);
        }
        self.line("return 0;\n}");
    }

    /// What finds the values of the iterators for one strand and stores its state, and the entry point.
    pub(super) fn maker(&self, has_start: bool) -> String {
        let axes = self.kernel.interface.axes.len();
        let mut text = format!(
            "\n// Makes the strand of a thread.\n\
             __device__ static void make(const struct Parameters *P, unsigned slot) {{\n    \
             if (slot >= P->count) return;\n    \
             unsigned rest = ((const unsigned *)P->ranks)[slot];\n    \
             P->fates[slot] = {};\n    \
             if (rest >= P->bits) return;\n    \
             Int given[{}];\n",
            fate::IDLE,
            axes.max(1)
        );
        for axis in (0..axes as u8).rev() {
            let [count, first, stride] = [Iteration::Count, Iteration::First, Iteration::Stride]
                .map(|what| self.cell(Cell::Iterator(axis, what), "integer"));
            let _ = writeln!(
                text,
                "    given[{axis}] = ADD(MUL((Int)(rest % (unsigned){count}), {stride}), {first});\n    rest /= (unsigned){count};"
            );
        }
        let _ = write!(
            text,
            "    struct State strand, *S = &strand;\n    \
             if (method_create(P, S, given) == LEAVE) {{\n        P->fates[slot] = {};\n        return;\n    }}\n    \
             char *block = P->state + (size_t)(slot / {width}) * {};\n    \
             const unsigned lane = slot % {width};\n{}    \
             P->fates[slot] = {};\n}}\n\n{}",
            fate::LEFT,
            self.kernel.stride,
            self.stores("    "),
            if has_start {
                fate::FRESH
            } else {
                fate::RUNNING
            },
            entry(Kernel::CREATE, "make"),
            width = self.kernel.lanes.width,
        );
        let _ = write!(
            text,
            "\n{LARGER}// Tells the most super-steps of a strand, and whether one is not stable.\n\
             __device__ static void tally_one(const struct Parameters *P, unsigned slot) {{\n    \
             if (slot >= P->count) return;\n    \
             const unsigned steps = P->fates[slot] >> {bits}, kind = P->fates[slot] & {mask};\n    \
             if (kind == {IDLE}) return;\n    \
             if (steps > P->flags[{MOST}]) LARGER(&P->flags[{MOST}], steps);\n    \
             if (kind != {STABLE}) P->flags[{LEFT}] = 1;\n}}\n\n{}",
            entry(Kernel::TALLY, "tally_one"),
            bits = fate::BITS,
            mask = (1 << fate::BITS) - 1,
            IDLE = fate::IDLE,
            STABLE = fate::STABLE,
            MOST = Header::MOST_STEPS / WORD,
            LEFT = Header::LEFT / WORD,
        );
        text
    }
}

/// The maximum of a word of all threads and a number.
const LARGER: &str = "#ifdef __CUDACC__
#define LARGER(word, number) atomicMax(word, number)
#else
#define LARGER(word, number) (*(word) = (number))
#endif
";
