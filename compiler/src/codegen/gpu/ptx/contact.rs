//! Whether strands probe images, and whether that is ever inside: in registers while a strand runs, then in memory.

use super::{Class, PtxPrinter};
use crate::{codegen::gpu::kernel::Cell, device::Op};

/// The registers about an image while a strand runs: whether it was probed, and whether it was inside.
pub(super) struct Contact {
    image: u32,
    words: [String; 2],
}

impl PtxPrinter<'_> {
    /// Takes notice of a probe.
    pub(in crate::codegen::gpu) fn notice(&mut self, image: u32, is_inside: &str) {
        let known = self.contacts.iter().find(|contact| contact.image == image);
        let [probed, inside] = known.expect("an image that strands probe").words.clone();
        self.line(&format!("mov.u32 {probed}, 1"));
        self.line(&format!("@{is_inside} mov.u32 {inside}, 1"));
    }

    /// Begins with nothing noticed.
    pub(super) fn begin_contacts(&mut self) {
        let images = self.kernel.numbers(|op| match op {
            Op::Notice(image) => Some(*image),
            _ => None,
        });
        for image in images {
            let words = [0; 2].map(|_| self.compute(Class::Word, "mov.u32", &["0"]));
            self.contacts.push(Contact { image, words });
        }
    }

    /// Stores the notices.
    pub(super) fn tell_contacts(&mut self) {
        for contact in std::mem::take(&mut self.contacts) {
            let [probed, inside] = &contact.words;
            self.tell(Cell::Contact(contact.image), [probed, inside]);
        }
    }

    /// Stores ones where words are not zero and memory has zeros. Only few strands write: it is one place for all.
    pub(super) fn tell(&mut self, contact: Cell, words: [&str; 2]) {
        let generic = self.cell(contact, "u64", Class::Wide);
        let contact = self.compute(Class::Wide, "cvta.to.global.u64", &[&generic]);
        for (word, at) in words.into_iter().zip([0, 4]) {
            let told = self.load("global", &contact, at);
            let is_silent = self.compute(Class::Truth, "setp.eq.u32", &[&told, "0"]);
            let is_so = self.compute(Class::Truth, "setp.ne.u32", &[word, "0"]);
            let tells = self.compute(Class::Truth, "and.pred", &[&is_silent, &is_so]);
            let one = self.compute(Class::Word, "mov.u32", &["1"]);
            self.line(&format!("@{tells} st.global.u32 [{contact}+{at}], {one}"));
        }
    }
}
