//! A program written by hand in the way the compiler writes one: methods over planes that reach the
//! runtime through the step context only. It is the example of `runtime::world::guide`. In the language it would be
//!
//! ```text
//! real cold = 0;
//! real[] diary = {};
//! strand Ember (int i) {
//!     real pos = i;                    // read by others, never assigned: constant
//!     real[] marks = {i, 10*i};        // the same
//!     output real heat = i + 1;        // read by others and assigned: communicated
//!     output real[] log = {};          // private
//!     update {
//!         real gain = 0;
//!         foreach (Ember o in sphere(1.5)) { gain += o.heat + o.marks[length(o.marks) - 1]; }
//!         heat = (heat + gain)/8;
//!         log = log @ heat;
//!         if (heat > cold && numStrands() < 40) { new Ember(i + 3); }
//!         if (heat > 40) { die; }
//!         if (length(log) == 4) { stabilize; }
//!     }
//!     stabilize { heat = -heat; }
//! }
//! global update {
//!     cold = mean { x.heat*x.heat | x in Ember.active } / 32;
//!     diary = diary @ cold;
//! }
//! ```

use runtime::abi::{LaneLists, LaneMask, LaneOutcome, StepHead};
use runtime::reduce::{Reduction, Values};
use runtime::sequence::Sequence;
use runtime::strands::{Kind, Plane, Scalar, Sharing, StateLayout, StrandSet, Variable};
use runtime::world::{
    Abilities, Creation, Gathered, GlobalContext, GlobalSequences, RunEnd, StepContext,
    StrandProgram, World,
};

const POS: usize = 0;
const MARKS: usize = 1;
const HEAT: usize = 2;
const LOG: usize = 3;

/// Bytes and number of the scalars of an element.
const REAL: [usize; 2] = [8, 1];

struct Embers {
    layout: StateLayout,
    cold: f64,
    diary: Sequence,
}

impl Embers {
    fn new(width: usize) -> Embers {
        let real = Kind::Tensor {
            scalar: Scalar::F64,
            components: 1,
        };
        let reals = Kind::Sequence {
            scalar: Scalar::F64,
            components: 1,
        };
        let variables = [
            ("pos", real, Sharing::Constant),
            ("marks", reals, Sharing::Constant),
            ("heat", real, Sharing::Communicated),
            ("log", reals, Sharing::Private),
        ];
        let variables = variables.map(|(name, kind, sharing)| Variable {
            name: name.into(),
            kind,
            sharing,
        });
        Embers {
            layout: StateLayout::new(width, variables.to_vec(), Some(POS)).unwrap(),
            cold: 0.0,
            diary: Sequence::EMPTY,
        }
    }

    /// Address of a variable's lanes in a block.
    fn lanes<T>(&self, block: *mut u8, variable: usize) -> *mut T {
        block
            .wrapping_add(self.layout.plane(variable, 0).offset)
            .cast()
    }

    /// Initializes strands: of the creation clause in a block of the state, of `new` in the staging
    /// block. Every plane of every lane gets a value.
    unsafe fn initialize(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        i: &[f64; 16],
    ) {
        let width = self.layout.width();
        let mut marks = [0.0; 32];
        for lane in members(lanes) {
            marks[lane] = i[lane];
            marks[width + lane] = 10.0 * i[lane];
            // SAFETY: the lane is ours.
            unsafe {
                *self.lanes::<f64>(block, POS).add(lane) = i[lane];
                *self.lanes::<f64>(block, HEAT).add(lane) = i[lane] + 1.0;
                *self.lanes::<u64>(block, LOG).add(lane) = 0;
            }
        }
        for lane in members(lanes) {
            // SAFETY: two elements of one component are two planes, and the lane is ours.
            unsafe {
                let made = cx.create_sequence(lane, REAL, 2, marks.as_ptr().cast());
                *self.lanes::<Sequence>(block, MARKS).add(lane) = made;
            }
        }
    }
}

fn members(lanes: LaneMask) -> impl Iterator<Item = usize> {
    (0..16).filter(move |lane| lanes >> lane & 1 == 1)
}

/// The value of another strand at the start of the super-step.
unsafe fn other<T: Copy>(head: &StepHead, layout: &StateLayout, plane: Plane, slot: u32) -> T {
    let (base, stride) = match plane.sharing {
        Sharing::Communicated => (head.published, layout.published_stride()),
        Sharing::Constant | Sharing::Private => (head.state, layout.stride()),
    };
    let width = layout.width() as u32;
    let (block, lane) = (slot / width, slot % width);
    // SAFETY: the slot comes from a query of this super-step.
    unsafe {
        *base
            .add(block as usize * stride + plane.offset + lane as usize * plane.bytes)
            .cast()
    }
}

// SAFETY: the methods touch their own lanes only.
unsafe impl StrandProgram for Embers {
    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            stabilizes: true,
            communicates: true,
            creates: true,
            counts: true,
            global_update: true,
            ..Abilities::default()
        }
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        let mut i = [0.0; 16];
        // SAFETY: there is one axis, and the lanes are ours.
        unsafe {
            members(lanes).for_each(|lane| i[lane] = f64::from(*coordinates.add(lane)));
            self.initialize(cx, block, lanes, &i);
        }
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
        let (pos, heat) = (
            self.lanes::<f64>(block, POS),
            self.lanes::<f64>(block, HEAT),
        );
        let log = self.lanes::<Sequence>(block, LOG);
        let head = *cx.head();
        // SAFETY: planes are as wide as the block, and the lanes are ours.
        unsafe {
            let mut near = LaneLists::EMPTY;
            cx.sphere(lanes, pos.cast(), [1.5; 16].as_ptr().cast(), &mut near);

            // The loop over neighbours runs as long as some lane has one left.
            let mut gain = [0.0; 16];
            let has = |nth: u32| members(lanes).filter(move |&lane| nth < near.lengths[lane]);
            for nth in (0..).take_while(|&nth| has(nth).next().is_some()) {
                for lane in has(nth) {
                    let slot = *near.slots[lane].add(nth as usize);
                    let plane = |variable| self.layout.plane(variable, 0);
                    let marks: Sequence = other(&head, &self.layout, plane(MARKS), slot);
                    let heat: f64 = other(&head, &self.layout, plane(HEAT), slot);
                    let last = cx.sequence_data(marks).cast::<f64>().add(marks.len() - 1);
                    gain[lane] += heat + *last;
                }
            }

            let (mut born, mut outcome) = (0, LaneOutcome::CONTINUE);
            let mut i = [0.0; 16];
            for lane in members(lanes) {
                *heat.add(lane) = (*heat.add(lane) + gain[lane]) / 8.0;
                *log.add(lane) = cx.extend_sequence(lane, REAL, *log.add(lane), heat.cast(), true);
            }
            for lane in members(lanes) {
                if *heat.add(lane) > self.cold && head.all < 40 {
                    born |= 1 << lane;
                    i[lane] = *pos.add(lane) + 3.0;
                }
                if *heat.add(lane) > 40.0 {
                    outcome.dead |= 1 << lane;
                } else if (*log.add(lane)).to_bits() as u32 == 4 {
                    outcome.stable |= 1 << lane;
                }
            }
            let staging = cx.staging();
            self.initialize(cx, staging, born, &i);
            cx.spawn(born, staging);
            outcome
        }
    }

    unsafe fn stabilize(&self, _: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        let heat = self.lanes::<f64>(block, HEAT);
        // SAFETY: the lanes are ours.
        members(lanes).for_each(|lane| unsafe { *heat.add(lane) = -*heat.add(lane) });
    }

    fn global_start(&mut self, _: &mut GlobalContext<'_>) {}

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        let offset = self.layout.plane(HEAT, 0).offset;
        let square = |block: *const u8, lanes: LaneMask, values: *mut u8| {
            members(lanes).for_each(|lane| {
                // SAFETY: both planes hold one real per lane.
                unsafe {
                    let heat = *block.add(offset).cast::<f64>().add(lane);
                    *values.cast::<f64>().add(lane) = heat * heat;
                }
            });
        };
        let mean = cx.reduce_map(Reduction::Mean, StrandSet::Active, Scalar::F64, 1, &square);
        let Some(Values::F64(mean)) = mean else {
            panic!("a mean of reals")
        };
        self.cold = mean[0] / 32.0;
        // SAFETY: the diary is held, so it is alive, and it holds reals.
        let longer = unsafe { cx.sequences.append(self.diary, &self.cold.to_ne_bytes()) };
        self.diary = longer.expect("a short sequence");
    }

    fn held_sequences(&self, hold: &mut dyn FnMut(Sequence)) {
        hold(self.diary);
    }
}

/// A strand of the direct simulation.
#[derive(Clone)]
struct Ember {
    pos: f64,
    marks: Vec<f64>,
    heat: f64,
    log: Vec<f64>,
    stable: bool,
}

impl Ember {
    fn new(i: f64) -> Ember {
        Ember {
            pos: i,
            marks: vec![i, 10.0 * i],
            heat: i + 1.0,
            log: Vec::new(),
            stable: false,
        }
    }
}

const COUNT: usize = 17;
const STEPS: u64 = 12;

/// The strands alive after the run, the last value of `cold`, and how many strands died.
fn simulate() -> (Vec<Ember>, f64, u64) {
    let mut embers: Vec<Ember> = (0..COUNT).map(|i| Ember::new(i as f64)).collect();
    let (mut cold, mut died) = (0.0, 0);
    for _ in 0..STEPS {
        let before = embers.clone();
        let (mut after, mut born) = (Vec::new(), Vec::new());
        for (own, mut ember) in before.iter().cloned().enumerate() {
            if ember.stable {
                after.push(ember);
                continue;
            }
            let others = before.iter().enumerate().filter(|&(index, _)| index != own);
            let near = others.filter(|(_, other)| (other.pos - ember.pos).abs() < 1.5);
            let gain = near.fold(0.0, |gain, (_, other)| gain + (other.heat + other.marks[1]));
            ember.heat = (ember.heat + gain) / 8.0;
            ember.log.push(ember.heat);
            if ember.heat > cold && before.len() < 40 {
                born.push(Ember::new(ember.pos + 3.0));
            }
            if ember.heat > 40.0 {
                died += 1;
                continue;
            }
            if ember.log.len() == 4 {
                ember.stable = true;
                ember.heat = -ember.heat;
            }
            after.push(ember);
        }
        after.append(&mut born);
        embers = after;
        let active: Vec<f64> = embers
            .iter()
            .filter(|e| !e.stable)
            .map(|e| e.heat)
            .collect();
        cold = active.iter().map(|heat| heat * heat).sum::<f64>() / active.len() as f64 / 32.0;
        if active.is_empty() {
            break;
        }
    }
    (embers, cold, died)
}

#[test]
fn a_program_like_a_compiled_one_does_what_its_source_says() {
    let (embers, cold, died) = simulate();
    let stable = embers.iter().filter(|ember| ember.stable).count();
    assert!(
        embers.len() > COUNT && died > 3 && stable > 3,
        "too little happens"
    );
    for (width, workers) in [(1, 1), (4, 1), (8, 1), (16, 1), (1, 8), (4, 2), (8, 3)] {
        let creation = Creation::Collection(vec![COUNT]);
        let program = Embers::new(width);
        let mut world = World::new(program, &creation, GlobalSequences::new(), workers).unwrap();
        let end = world.run(Some(STEPS), &mut std::io::sink()).unwrap();
        assert_ne!(end, RunEnd::Cancelled);
        let case = format!("width {width}, {workers} workers");
        assert_eq!(
            world.gather(HEAT, StrandSet::All),
            Gathered::Tensors {
                components: 1,
                values: Values::F64(embers.iter().map(|ember| ember.heat).collect()),
            },
            "{case}"
        );
        assert_eq!(
            world.gather(LOG, StrandSet::All),
            Gathered::Sequences {
                lengths: embers.iter().map(|ember| ember.log.len()).collect(),
                components: 1,
                values: Values::F64(embers.iter().flat_map(|e| e.log.clone()).collect()),
            },
            "{case}"
        );
        assert_eq!(world.counts().stable as usize, stable, "{case}");
        assert_eq!(world.counts().dead, died, "{case}");
        assert_eq!(world.program().cold.to_bits(), cold.to_bits(), "{case}");
        assert_eq!(world.program().diary.len() as u64, world.steps(), "{case}");
        // Two sequences of at most 32 bytes per strand, and the diary.
        let per_strand = embers
            .iter()
            .map(|e| 32 * (1 + i64::from(!e.log.is_empty())));
        let diary = (8 * world.steps() as i64).max(32) as u64;
        let bytes = per_strand.sum::<i64>() + diary.next_power_of_two() as i64;
        assert_eq!(world.live_sequence_bytes(), bytes, "{case}");
    }
}
