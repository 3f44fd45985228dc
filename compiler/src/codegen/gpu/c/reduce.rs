//! The entry point for reductions over strands.

use super::{CPrinter, c_type, entry, name};
use crate::{
    codegen::gpu::{kernel::Kernel, reduce::scalar_bytes},
    device::{Device, Ty},
    low,
    ssa::Function,
};
use std::fmt::Write;

impl CPrinter<'_> {
    /// The function that stores the value of a strand for a reduction.
    pub(super) fn reduction(&mut self, number: u32, body: &Function<Device>) {
        let yields = &body.body.yields;
        let width = self.kernel.lanes.width;
        let bytes = scalar_bytes(body, self.kernel.lanes);
        let wide = bytes == size_of::<i64>() && !self.kernel.lanes.long_int;
        let ty = yields.first().map(|value| *body.type_of(*value));
        let ty = match ty {
            Some(Ty::Scalar(low::Ty::Bool)) => "unsigned char",
            Some(Ty::Scalar(low::Ty::Int | low::Ty::Str)) if wide => "long long",
            Some(ty) => c_type(ty),
            None => "char",
        };
        let _ = writeln!(
            self.text,
            "\n__device__ static void reduce_{number}(const struct Parameters *P, struct State *S, unsigned slot) {{"
        );
        self.line("(void)P;");
        self.block(body, &body.body);
        let of_block = yields.len() * width;
        self.line(&format!(
            "{ty} *values = ({ty} *)P->places + (size_t)(slot / {width}) * {of_block} + slot % {width};"
        ));
        for (n, value) in yields.iter().enumerate() {
            self.line(&format!("values[{}] = {};", n * width, name(*value)));
        }
        self.text += "}\n";
    }

    /// What finds the reduction, and the entry point.
    pub(super) fn reducer(&self) -> String {
        let width = self.kernel.lanes.width;
        let mut text = format!(
            "\n// Stores the value of the strand of a thread for a reduction.\n\
             __device__ static void reduce_one(const struct Parameters *P, unsigned slot) {{\n    \
             if (slot >= P->count) return;\n    \
             char *block = P->state + (size_t)(slot / {width}) * {};\n    \
             const unsigned lane = slot % {width};\n    struct State strand, *S = &strand;\n{}",
            self.kernel.stride,
            self.loads(),
        );
        for (number, _) in &self.kernel.reductions {
            let _ = writeln!(
                text,
                "    if (P->bits == {number}) reduce_{number}(P, S, slot);"
            );
        }
        text + "}\n\n" + &entry(Kernel::REDUCE, "reduce_one")
    }
}
