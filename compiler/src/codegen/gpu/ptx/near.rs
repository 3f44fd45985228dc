//! The data for neighbour queries, prepared in every super-step by separate entry points: a copy of the state that other
//! strands may read, and the strands in the order of boxes.
//!
//! Space is cut into boxes of equal edges, and their numbers along an axis are taken modulo a power of two, so that no
//! bounds have to be known. The number of a box grows with the coordinate, so a search of all boxes between those of
//! two coordinates misses nothing between these; which strands share a box changes only how long a query takes.

use super::{Class, PtxPrinter};
use crate::codegen::{
    abi::StatePlane,
    gpu::{
        header::Header,
        kernel::{Kernel, Near},
    },
};
use runtime::{strands::Sharing, world::fate};

/// The box of a strand that has none, because there is no strand.
const NOWHERE: u32 = u32::MAX;
/// Numbers of boxes are at most so large, and at least the negative: they fit words, and so do their differences.
const FARTHEST: f64 = (1u32 << 30) as f64;

impl PtxPrinter<'_> {
    /// The entry points, in the order of their names.
    pub(super) fn make_ready(&mut self, near: Near) {
        let prints: [fn(&mut Self, Near); 4] = [Self::clear, Self::seat, Self::allot, Self::place];
        for (name, print) in Kernel::NEAR.into_iter().zip(prints) {
            print(self, near);
            self.place_label("DONE");
            self.line("ret");
            self.finish(name);
        }
    }

    /// The slot of the strand that a thread runs, in the order of boxes: those that run together look at the same ones.
    pub(super) fn next_in_order(&mut self) -> String {
        let thread = self.thread(Header::COUNT);
        let flags = self.address(Header::FLAGS);
        let placed = self.load("global.nc", &flags, Header::PLACED);
        self.end_from(&thread, &placed);
        let at = self.element(Header::ORDER, &thread, 4);
        self.load("global.nc", &at, 0)
    }

    /// A word in memory.
    pub(super) fn load(&mut self, space: &str, address: &str, offset: usize) -> String {
        let word = self.register(Class::Word);
        self.line(&format!("ld.{space}.u32 {word}, [{address}+{offset}]"));
        word
    }

    fn constant(&mut self, number: u32) -> String {
        self.compute(Class::Word, "mov.u32", &[&number.to_string()])
    }

    /// No strand is in a box.
    fn clear(&mut self, _: Near) {
        let number = self.number_of_thread();
        let chunks = self.word(Header::CHUNKS);
        let chunk = Near::BOXES.trailing_zeros().to_string();
        let boxes = self.compute(Class::Word, "shl.b32", &[&chunks, &chunk]);
        self.end_from(&number, &boxes);
        let at = self.element(Header::BOXES, &number, 8);
        let zero = self.compute(Class::Wide, "mov.u64", &["0"]);
        self.line(&format!("st.global.u64 [{at}], {zero}"));
    }

    /// The address of the boxes of a thread.
    fn chunk(&mut self) -> String {
        let chunk = self.thread(Header::CHUNKS);
        let bytes = 8 * Near::BOXES as usize;
        self.element(Header::BOXES, &chunk, bytes)
    }

    /// Publishes a strand, and counts it in its box.
    fn seat(&mut self, near: Near) {
        let slot = self.thread(Header::COUNT);
        let seat = self.element(Header::SEATS, &slot, 8);
        let fate_at = self.element(Header::FATES, &slot, 4);
        let told = self.load("global", &fate_at, 0);
        let kinds = (1u32 << fate::BITS) - 1;
        let kind = self.compute(Class::Word, "and.b32", &[&told, &kinds.to_string()]);
        // Those that are running, fresh or stable are next to each other.
        const { assert!(fate::RUNNING + 1 == fate::FRESH && fate::FRESH + 1 == fate::STABLE) };
        let first = fate::RUNNING.to_string();
        let after = self.compute(Class::Word, "sub.u32", &[&kind, &first]);
        let kinds = (fate::STABLE - fate::RUNNING).to_string();
        let alive = self.compute(Class::Truth, "setp.le.u32", &[&after, &kinds]);
        let number = self.constant(NOWHERE);
        self.line(&format!("st.global.u32 [{seat}], {number}"));
        self.line(&format!("@!{alive} bra DONE"));
        let from = self.lane_addresses(&slot, Header::STATE, self.stride);
        let to = self.lane_addresses(&slot, Header::PUBLISHED, near.stride);
        for plane in self.planes {
            if plane.sharing == Sharing::Communicated {
                let to = format!("{}+{}", to[plane.stride / 8], plane.offset);
                self.copy_lane(plane, &from, &to);
            }
        }
        let position = self.position(near, &from);
        let number = self.box_of(&position);
        let in_box = self.element(Header::BOXES, &number, 8);
        let before = self.register(Class::Word);
        self.line(&format!("atom.global.add.u32 {before}, [{in_box}], 1"));
        self.line(&format!("st.global.u32 [{seat}], {number}"));
        self.line(&format!("st.global.u32 [{seat}+4], {before}"));
    }

    /// Copies a scalar of the strand whose lanes these are to an address.
    fn copy_lane(&mut self, plane: &StatePlane, lanes: &[String; 2], to: &str) {
        let (class, ty) = match plane.stride {
            8 => (Class::Wide, "u64"),
            _ => (Class::Word, "u32"),
        };
        let (copied, at) = (self.register(class), &lanes[plane.stride / 8]);
        let offset = plane.offset;
        self.line(&format!("ld.global.{ty} {copied}, [{at}+{offset}]"));
        self.line(&format!("st.global.{ty} [{to}], {copied}"));
    }

    /// The rank of the strand in a slot.
    pub(super) fn rank(&mut self, slot: &str) -> String {
        let at = self.element(Header::RANKS, slot, 4);
        self.load("global.nc", &at, 0)
    }

    /// Says where the strands of some boxes begin in the order of boxes.
    fn allot(&mut self, _: Near) {
        let first = self.chunk();
        let counts: Vec<String> = (0..Near::BOXES)
            .map(|n| self.load("global", &first, 8 * n as usize))
            .collect();
        let mut begins = vec![self.constant(0)];
        for count in &counts {
            let last = &begins[begins.len() - 1];
            let next = self.compute(Class::Word, "add.u32", &[last, count]);
            begins.push(next);
        }
        let all = &begins[begins.len() - 1];
        let flags = self.address(Header::FLAGS);
        let start = self.register(Class::Word);
        self.line(&format!(
            "atom.global.add.u32 {start}, [{flags}+{}], {all}",
            Header::PLACED
        ));
        for (n, before) in begins[..counts.len()].iter().enumerate() {
            let begin = self.compute(Class::Word, "add.u32", &[&start, before]);
            self.line(&format!("st.global.u32 [{first}+{}], {begin}", 8 * n + 4));
        }
    }

    /// Puts a strand, with the state that others read, in the order of boxes: strands that are near each other are stored together.
    fn place(&mut self, near: Near) {
        let slot = self.thread(Header::COUNT);
        let seat = self.element(Header::SEATS, &slot, 8);
        let number = self.load("global", &seat, 0);
        let nowhere = NOWHERE.to_string();
        let is_none = self.compute(Class::Truth, "setp.eq.u32", &[&number, &nowhere]);
        self.line(&format!("@{is_none} bra DONE"));
        let before = self.load("global", &seat, 4);
        let in_box = self.element(Header::BOXES, &number, 8);
        let begin = self.load("global", &in_box, 4);
        let place = self.compute(Class::Word, "add.u32", &[&begin, &before]);
        let in_order = self.element(Header::ORDER, &place, 4);
        self.line(&format!("st.global.u32 [{in_order}], {slot}"));
        let from = self.lane_addresses(&slot, Header::STATE, self.stride);
        let position = self.position(near, &from);
        let rank = self.rank(&slot);
        let (real, bytes) = (self.ty(Class::Real), self.lanes.bytes());
        let bits = match self.lanes.double {
            true => {
                let wide = self.compute(Class::Wide, "cvt.u64.u32", &[&rank]);
                self.compute(Class::Real, "mov.b64", &[&wide])
            }
            false => self.compute(Class::Real, "mov.b32", &[&rank]),
        };
        let at = self.element(Header::PLACES, &place, 4 * bytes);
        let zero = self.number(0.0, Class::Real);
        let mut record = position;
        record.resize_with(3, || {
            self.compute(Class::Real, &format!("mov.{real}"), &[&zero])
        });
        record.push(bits);
        // A store takes 16 bytes.
        let vector = 16 / bytes;
        for (n, numbers) in record.chunks(vector).enumerate() {
            let numbers = numbers.join(", ");
            let to = format!("[{at}+{}]", 16 * n);
            self.line(&format!("st.global.v{vector}.{real} {to}, {{{numbers}}}"));
        }
        let record = self.element(Header::SEEN, &place, near.record);
        for (&slot, &offset) in self.seen {
            let plane = &self.planes[slot as usize];
            self.copy_lane(plane, &from, &format!("{record}+{offset}"));
        }
    }

    /// The position of the strand whose lanes these are.
    fn position(&mut self, near: Near, lanes: &[String; 2]) -> Vec<String> {
        let first = near.position as usize;
        let planes = &self.planes[first..first + usize::from(near.dim)];
        let ty = self.ty(Class::Real);
        let load = |printer: &mut PtxPrinter<'_>, plane: &StatePlane| {
            let x = printer.register(Class::Real);
            let lane = &lanes[plane.stride / 8];
            printer.line(&format!("ld.global.{ty} {x}, [{lane}+{}]", plane.offset));
            x
        };
        planes.iter().map(|plane| load(self, plane)).collect()
    }

    /// The number of the box of a position; one behind all others if that is not finite.
    fn box_of(&mut self, position: &[String]) -> String {
        let is_finite = self.are_finite(position);
        let (mask, bits) = self.box_mask();
        let mut number: Option<String> = None;
        for x in position.iter().rev() {
            let x = self.widened(x);
            let along = self.box_along(&x);
            let along = self.compute(Class::Word, "and.b32", &[&along, &mask]);
            number = Some(self.append_box(number, &along, &bits));
        }
        let chunks = self.word(Header::CHUNKS);
        let behind = self.compute(Class::Word, "sub.u32", &[&chunks, "1"]);
        let chunk = Near::BOXES.trailing_zeros().to_string();
        let behind = self.compute(Class::Word, "shl.b32", &[&behind, &chunk]);
        let number = number.expect("a position has coordinates");
        self.compute(Class::Word, "selp.u32", &[&number, &behind, &is_finite])
    }

    /// Whether numbers are finite.
    pub(super) fn are_finite(&mut self, numbers: &[String]) -> String {
        let ty = self.ty(Class::Real);
        let infinity = self.number(f64::INFINITY, Class::Real);
        let mut all: Option<String> = None;
        for x in numbers {
            let size = self.compute(Class::Real, &format!("abs.{ty}"), &[x]);
            let is = self.compute(Class::Truth, &format!("setp.lt.{ty}"), &[&size, &infinity]);
            all = Some(match all {
                None => is,
                Some(all) => self.compute(Class::Truth, "and.pred", &[&all, &is]),
            });
        }
        all.expect("a position has coordinates")
    }

    /// The bits of a box's number along an axis: as a mask, and how many.
    pub(super) fn box_mask(&mut self) -> (String, String) {
        let bits = self.word(Header::BITS);
        let one = self.constant(1);
        let end = self.compute(Class::Word, "shl.b32", &[&one, &bits]);
        (self.compute(Class::Word, "sub.u32", &[&end, "1"]), bits)
    }

    /// The number of a box by those along the axes before and the next one.
    pub(super) fn append_box(&mut self, number: Option<String>, along: &str, bits: &str) -> String {
        match number {
            None => along.to_string(),
            Some(number) => {
                let shifted = self.compute(Class::Word, "shl.b32", &[&number, bits]);
                self.compute(Class::Word, "or.b32", &[&shifted, along])
            }
        }
    }

    /// A real in double precision.
    pub(super) fn widened(&mut self, x: &str) -> String {
        let instruction = if self.lanes.double {
            "mov.f64"
        } else {
            "cvt.f64.f32"
        };
        self.compute(Class::Double, instruction, &[x])
    }

    /// The number of the box of a coordinate along its axis, before it is taken modulo.
    pub(super) fn box_along(&mut self, x: &str) -> String {
        let per_unit = self.register(Class::Double);
        self.line(&format!(
            "ld.param.f64 {per_unit}, [P+{}]",
            Header::PER_UNIT
        ));
        let [low, high] = [-FARTHEST, FARTHEST].map(|n| self.number(n, Class::Double));
        let along = self.compute(Class::Double, "mul.rn.f64", &[x, &per_unit]);
        let along = self.compute(Class::Double, "max.f64", &[&along, &low]);
        let along = self.compute(Class::Double, "min.f64", &[&along, &high]);
        let along = self.compute(Class::Double, "cvt.rmi.f64.f64", &[&along]);
        self.compute(Class::Word, "cvt.rzi.s32.f64", &[&along])
    }
}
