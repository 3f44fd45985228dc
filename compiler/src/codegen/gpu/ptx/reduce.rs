//! The entry point for reductions over strands: a thread stores the value of its strand beside those of the other strands of its block.

use super::{Class, PtxPrinter};
use crate::{
    codegen::gpu::{header::Header, kernel::Kernel, reduce::scalar_bytes},
    device::Device,
    ssa::Function,
};

impl PtxPrinter<'_> {
    /// The entry point. The header has the number of the reduction.
    pub(super) fn reduce_entry(&mut self) {
        let slot = self.thread(Header::COUNT);
        self.begin_truths();
        self.more = self.address(Header::MORE);
        self.state.clear();
        let lanes = self.lane_addresses(&slot, Header::STATE, self.stride);
        self.load_state(&lanes);
        let wanted = self.word(Header::BITS);
        let kernel = self.kernel;
        for (number, body) in &kernel.reductions {
            let next = self.label();
            let is_other = self.compare("ne", &wanted, *number);
            self.line(&format!("@{is_other} bra {next}"));
            self.values_of(body, &slot);
            self.line("bra DONE");
            self.place_label(&next);
        }
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::REDUCE);
    }

    /// Computes and stores the value of a strand.
    fn values_of(&mut self, body: &Function<Device>, slot: &str) {
        self.begin(body);
        self.given.clear();
        self.block(body, &body.body);
        let yields = &body.body.yields;
        let width = self.lanes.width;
        let bytes = scalar_bytes(body, self.lanes);
        let plane = width * bytes;
        let (shift, mask) = (width.trailing_zeros().to_string(), (width - 1).to_string());
        let block = self.compute(Class::Word, "shr.u32", &[slot, &shift]);
        let lane = self.compute(Class::Word, "and.b32", &[slot, &mask]);
        let values = self.element(Header::PLACES, &block, yields.len() * plane);
        let bytes_text = bytes.to_string();
        let to = self.compute(Class::Wide, "mad.wide.u32", &[&lane, &bytes_text, &values]);
        for (n, value) in yields.iter().enumerate() {
            let register = self.values[value].clone();
            let at = format!("[{to}+{}]", n * plane);
            match Class::of(*body.type_of(*value)) {
                Class::Truth => {
                    let truth = self.compute(Class::Word, "selp.u32", &["1", "0", &register]);
                    self.line(&format!("st.global.u8 {at}, {truth}"));
                }
                class => {
                    // It may be a constant.
                    let number = self.register(class);
                    self.copy(class, &number, &register);
                    self.store_number(&at, (class, bytes), &number);
                }
            }
        }
    }
}
