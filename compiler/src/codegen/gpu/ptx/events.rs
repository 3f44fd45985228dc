//! Events in a kernel: what a strand prints or makes is a record in a buffer; `events.rs` tells how it is laid out.

use super::{Class, PtxPrinter};
use crate::{
    codegen::gpu::{events::UNIT, header::Header},
    low::{self, Element},
};

impl PtxPrinter<'_> {
    /// Writes the record of an event. A strand is left to the CPU if there is no room, or if only the CPU does it.
    pub(in crate::codegen::gpu) fn event(&mut self, op: &low::Op, given: &[&str]) {
        let kernel = self.kernel;
        let Some((number, site)) = kernel.site(op) else {
            return self.line("bra LEAVE");
        };
        let flags = self.address(Header::FLAGS);
        let units = site.units().to_string();
        let (first, all) = (self.register(Class::Word), self.register(Class::Wide));
        let told = Header::TOLD;
        self.line(&format!(
            "atom.global.add.u32 {first}, [{flags}+{told}], {units}"
        ));
        self.line(&format!("ld.param.u64 {all}, [P+{}]", Header::EVENT_UNITS));
        let all = self.compute(Class::Word, "cvt.u32.u64", &[&all]);
        let is_beyond = self.compute(Class::Truth, "setp.ge.u32", &[&first, &all]);
        self.line(&format!("@{is_beyond} bra LEAVE"));
        let record = self.element(Header::EVENTS, &first, UNIT);
        let last = self.compute(Class::Word, "add.u32", &[&first, &units]);
        let fits = self.compute(Class::Truth, "setp.le.u32", &[&last, &all]);
        let number = self.compute(Class::Word, "selp.u32", &[&number.to_string(), "0", &fits]);
        self.line(&format!("st.global.u32 [{record}+0], {number}"));
        self.line(&format!("@!{fits} bra LEAVE"));
        let slot = self.slot.clone();
        self.line(&format!("st.global.u32 [{record}+4], {slot}"));
        for (n, (ty, value)) in site.values.iter().zip(given).enumerate() {
            let scalar = Element {
                ty: *ty,
                scalars: 1,
            };
            self.put(scalar, &[value], &record, (UNIT * (1 + n)) as u64);
        }
    }
}
