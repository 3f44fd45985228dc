//! Samples with interleaved components, and results side by side.

use super::{Class, KnownAddress, PtxPrinter};
use crate::{
    codegen::gpu::{
        header::Header,
        kernel::{Kernel, WORD},
    },
    ssa::Value,
};

impl PtxPrinter<'_> {
    /// The first of the components that are interleaved with this one in memory: this one, if there are no others.
    pub(super) fn first_beside(&self, image: u32, component: u32) -> u32 {
        let pack = self.packs.iter().find(|pack| pack.image == image);
        pack.map_or(component, |pack| pack.components[0])
    }

    /// A sample of an image's component, this many after an offset.
    pub(in crate::codegen::gpu) fn sample(
        &mut self,
        (image, component, ahead): (u32, u32, u32),
        offset: Value,
        given: &str,
    ) -> String {
        let pack = self.packs.iter().find(|pack| pack.image == image);
        let (stride, place, vector) = match pack {
            Some(pack) => (pack.stride(), pack.place(component), pack.vector),
            None => (1, 0, 1),
        };
        let key = (offset, image, ahead, place / vector);
        if vector > 1
            && let Some(known) = self.vectors.get(&key)
        {
            return known[place % vector].clone();
        }
        let (ty, bytes) = (self.ty(Class::Real), self.lanes.bytes());
        let first = self.first_beside(image, component);
        let base = self.base(image, first);
        let row = KnownAddress::Samples(offset, image, first);
        let row = self.address_of(row, given, bytes * stride, &base);
        let at = bytes * (stride * ahead as usize + place / vector * vector);
        if vector == 1 {
            let register = self.register(Class::Real);
            self.line(&format!("ld.global.nc.{ty} {register}, [{row}+{at}]"));
            return register;
        }
        let registers: Vec<String> = (0..vector).map(|_| self.register(Class::Real)).collect();
        let all = registers.join(", ");
        self.line(&format!(
            "ld.global.nc.v{vector}.{ty} {{{all}}}, [{row}+{at}]"
        ));
        self.vectors.insert(key, registers.clone());
        registers[place % vector].clone()
    }

    /// The entry point that puts a sample of a component in its place.
    pub(super) fn pack_entry(&mut self) {
        let number = self.thread(Header::COUNT);
        let (ty, sample) = (self.ty(Class::Real), self.register(Class::Real));
        let from = self.element(Header::STATE, &number, self.lanes.bytes());
        self.line(&format!("ld.global.nc.{ty} {sample}, [{from}]"));
        let (first, step) = (self.address(Header::PLACES), self.word(Header::STEPS));
        let to = self.compute(Class::Wide, "mad.wide.u32", &[&number, &step, &first]);
        self.line(&format!("st.global.{ty} [{to}], {sample}"));
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::PACK);
    }

    /// The entry point that puts a word of the results of a block beside the others.
    pub(super) fn collect_entry(&mut self) {
        let number = self.thread(Header::COUNT);
        let per_block = self.word(Header::BITS);
        let block = self.compute(Class::Word, "div.u32", &[&number, &per_block]);
        let word = self.compute(Class::Word, "rem.u32", &[&number, &per_block]);
        let mut at = |array: usize, stride: usize| {
            let (first, stride) = (self.address(array), self.word(stride));
            let row = self.compute(Class::Wide, "mad.wide.u32", &[&block, &stride, &first]);
            let bytes = WORD.to_string();
            self.compute(Class::Wide, "mad.wide.u32", &[&word, &bytes, &row])
        };
        let from = at(Header::STATE, Header::STEPS);
        let to = at(Header::PLACES, Header::CHUNKS);
        let copied = self.register(Class::Word);
        self.line(&format!("ld.global.u32 {copied}, [{from}]"));
        self.line(&format!("st.global.u32 [{to}], {copied}"));
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::COLLECT);
    }

    /// The entry point that puts a scalar of a strand in its place among those of all strands.
    pub(super) fn spread_entry(&mut self) {
        let slot = self.thread(Header::COUNT);
        let width = self.word(Header::BITS);
        let block = self.compute(Class::Word, "div.u32", &[&slot, &width]);
        let lane = self.compute(Class::Word, "rem.u32", &[&slot, &width]);
        let (first, stride) = (self.address(Header::STATE), self.word(Header::STEPS));
        let row = self.compute(Class::Wide, "mad.wide.u32", &[&block, &stride, &first]);
        let number = self.kernel.number();
        let bytes = number.to_string();
        let from = self.compute(Class::Wide, "mad.wide.u32", &[&lane, &bytes, &row]);
        let (at, rank) = (
            self.element(Header::RANKS, &slot, WORD),
            self.register(Class::Word),
        );
        self.line(&format!("ld.global.u32 {rank}, [{at}]"));
        let (places, distance) = (self.address(Header::PLACES), self.word(Header::CHUNKS));
        let to = self.compute(Class::Wide, "mad.wide.u32", &[&rank, &distance, &places]);
        for at in (0..number).step_by(WORD) {
            let word = self.register(Class::Word);
            self.line(&format!("ld.global.u32 {word}, [{from}+{at}]"));
            self.line(&format!("st.global.u32 [{to}+{at}], {word}"));
        }
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::SPREAD);
    }
}
