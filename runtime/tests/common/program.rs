//! Strand programs for tests, written strand by strand. [`Program`] makes methods over blocks of them, as the compiler would.

#![allow(dead_code, reason = "every test uses a part of it")]

use runtime::abi::{FailureKind, LaneLists, LaneMask, LaneOutcome};
use runtime::sequence::Sequence;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Kind, Scalar, Sharing, StateLayout, Variable};
use runtime::world::{Abilities, Executor, GlobalContext, StepContext, StrandProgram};
use std::ops::{Deref, DerefMut};

/// A variable of `components` numbers.
pub(crate) fn tensor(name: &str, scalar: Scalar, components: usize, sharing: Sharing) -> Variable {
    Variable {
        name: name.into(),
        kind: Kind::Tensor { scalar, components },
        sharing,
    }
}

/// A private variable that is a sequence of numbers.
pub(crate) fn sequence(name: &str, scalar: Scalar) -> Variable {
    Variable {
        name: name.into(),
        kind: Kind::Sequence {
            scalar,
            components: 1,
        },
        sharing: Sharing::Private,
    }
}

/// What becomes of a strand after a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Active,
    Stable,
    Dead,
}

/// A strand while one of its methods runs.
pub(crate) struct Strand<'a, 'c> {
    pub(crate) cx: &'a mut StepContext<'c>,
    pub(crate) lane: usize,
    layout: &'a StateLayout,
    block: *mut u8,
}

impl Strand<'_, '_> {
    fn plane<T: Copy>(&mut self, variable: usize, component: usize) -> &mut [T] {
        let plane = self.layout.plane(variable, component);
        // SAFETY: the block belongs to the method.
        unsafe { lanes_mut(self.block, plane, self.layout.width()) }
    }

    /// A component of a variable.
    pub(crate) fn get<T: Copy>(&mut self, variable: usize, component: usize) -> T {
        let lane = self.lane;
        self.plane(variable, component)[lane]
    }

    pub(crate) fn set<T: Copy>(&mut self, variable: usize, component: usize, value: T) {
        let lane = self.lane;
        self.plane(variable, component)[lane] = value;
    }

    /// Reports a run-time error of this strand.
    pub(crate) fn fail(&mut self, kind: FailureKind, place: u32, details: [i64; 2]) {
        self.cx.fail(1 << self.lane, kind, place, |_| details);
    }

    /// The slots of the strands in a disc around a point of the plane.
    pub(crate) fn sphere(&mut self, centre: [f32; 2], radius: f32) -> Vec<u32> {
        let width = self.layout.width();
        let centres: Vec<f32> = centre.iter().flat_map(|&x| vec![x; width]).collect();
        let radii = vec![radius; width];
        let mut lists = LaneLists::EMPTY;
        // SAFETY: there are planes of the position's type, and lists are read before the method returns.
        unsafe {
            let (centres, radii) = (centres.as_ptr().cast(), radii.as_ptr().cast());
            self.cx.sphere(1 << self.lane, centres, radii, &mut lists);
            let length = lists.lengths[self.lane] as usize;
            // A strand that has to wait has no list.
            if length == 0 {
                return Vec::new();
            }
            std::slice::from_raw_parts(lists.slots[self.lane], length).to_vec()
        }
    }

    /// Appends a number to a variable that is a sequence.
    pub(crate) fn append(&mut self, variable: usize, value: i64) {
        let values = vec![value; self.layout.width()];
        let old: Sequence = self.get(variable, 0);
        // SAFETY: the sequence is alive, and its elements are of 8 bytes, as the values are.
        let new = unsafe {
            let values = values.as_ptr().cast();
            self.cx
                .extend_sequence(self.lane, [8, 1], old, values, true)
        };
        self.set(variable, 0, new);
    }
}

/// A program by the methods of one strand.
pub(crate) trait Strands: Sync {
    /// Iterators of the creation clause.
    const AXES: usize;

    fn layout(&self) -> &StateLayout;

    fn abilities(&self) -> Abilities;

    fn executor(&self) -> Option<&dyn Executor> {
        None
    }

    /// Initializes a strand at this position of the iterators.
    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]);

    /// Is called once for every block of strands that is updated.
    fn before_update(&self) {}

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate;

    fn stabilize(&self, _: &mut Strand<'_, '_>) {}

    /// Runs after every super-step, if the abilities have it.
    fn global_update(&mut self, _: &mut GlobalContext<'_>) {}
}

/// The program of such strands.
pub(crate) struct Program<S>(pub(crate) S);

impl<S> Deref for Program<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> DerefMut for Program<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.0
    }
}

impl<S: Strands> Program<S> {
    /// Calls a method for every strand; the last comes first, because their order must not matter.
    fn each(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        mut method: impl FnMut(&mut Strand<'_, '_>) -> Fate,
    ) -> LaneOutcome {
        let layout = self.0.layout();
        let mut outcome = LaneOutcome::CONTINUE;
        for lane in (0..layout.width())
            .rev()
            .filter(|lane| lanes >> lane & 1 == 1)
        {
            let mut strand = Strand {
                cx,
                lane,
                layout,
                block,
            };
            match method(&mut strand) {
                Fate::Active => {}
                Fate::Stable => outcome.stable |= 1 << lane,
                Fate::Dead => outcome.dead |= 1 << lane,
            }
        }
        outcome
    }
}

// SAFETY: strands touch their own lanes only.
unsafe impl<S: Strands> StrandProgram for Program<S> {
    fn layout(&self) -> &StateLayout {
        self.0.layout()
    }

    fn abilities(&self) -> Abilities {
        self.0.abilities()
    }

    fn executor(&self) -> Option<&dyn Executor> {
        self.0.executor()
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        let width = self.0.layout().width();
        self.each(cx, block, lanes, |strand| {
            // SAFETY: there are as many coordinates of each axis as lanes.
            let at = |axis: usize| unsafe { *coordinates.add(axis * width + strand.lane) };
            let at: Vec<u32> = (0..S::AXES).map(at).collect();
            self.0.create(strand, &at);
            Fate::Active
        });
    }

    unsafe fn start(&self, _: &mut StepContext<'_>, _: *mut u8, _: LaneMask) -> LaneOutcome {
        LaneOutcome::CONTINUE
    }

    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        self.0.before_update();
        self.each(cx, block, lanes, |strand| self.0.update(strand))
    }

    unsafe fn stabilize(&self, cx: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        self.each(cx, block, lanes, |strand| {
            self.0.stabilize(strand);
            Fate::Active
        });
    }

    fn global_start(&mut self, _: &mut GlobalContext<'_>) {}

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        self.0.global_update(cx);
    }

    fn held_sequences(&self, _: &mut dyn FnMut(Sequence)) {}
}
