//! The same birds as a strand program over blocks of W lanes.

use crate::rules::*;
use runtime::abi::{LaneLists, LaneMask, LaneOutcome};
use runtime::reduce::{Reduction, Values};
use runtime::sequence::Sequence;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Kind, Plane, Scalar, Sharing, StateLayout, StrandSet, Variable};
use runtime::world::{Abilities, GlobalContext, StepContext, StrandProgram};

pub(crate) const POS: usize = 0;
pub(crate) const ENERGY: usize = 1;
pub(crate) const KIND: usize = 2;
pub(crate) const AGE: usize = 3;
pub(crate) const TIRED: usize = 4;
pub(crate) const PATH: usize = 5;

pub(crate) struct Flock {
    pub(crate) layout: StateLayout,
    pub(crate) climate: Climate,
    /// A global sequence, replaced in every global block.
    pub(crate) diary: Sequence,
}

impl Flock {
    pub(crate) fn new(width: usize) -> Flock {
        let real = |components| Kind::Tensor {
            scalar: Scalar::F64,
            components,
        };
        let int = Kind::Tensor {
            scalar: Scalar::I32,
            components: 1,
        };
        let variables = [
            ("pos", real(2), Sharing::Communicated),
            ("energy", real(1), Sharing::Communicated),
            ("kind", int, Sharing::Constant),
            ("age", int, Sharing::Private),
            (
                "tired",
                Kind::Tensor {
                    scalar: Scalar::Bool,
                    components: 1,
                },
                Sharing::Private,
            ),
            (
                "path",
                Kind::Sequence {
                    scalar: Scalar::F64,
                    components: 2,
                },
                Sharing::Communicated,
            ),
        ];
        let variables = variables
            .map(|(name, kind, sharing)| Variable {
                name: name.into(),
                kind,
                sharing,
            })
            .to_vec();
        let layout = StateLayout::new(width, variables, Some(POS)).unwrap();
        Flock {
            layout,
            climate: Climate {
                heat: 1.0,
                round: 0,
            },
            diary: Sequence::EMPTY,
        }
    }

    /// # Safety
    /// As for the methods of a program.
    unsafe fn get<T: Copy>(
        &self,
        block: *mut u8,
        variable: usize,
        component: usize,
        lane: usize,
    ) -> T {
        unsafe {
            lanes_mut::<T>(
                block,
                self.layout.plane(variable, component),
                self.layout.width(),
            )[lane]
        }
    }

    /// # Safety
    /// As for the methods of a program.
    unsafe fn set<T: Copy>(
        &self,
        block: *mut u8,
        variable: usize,
        component: usize,
        lane: usize,
        value: T,
    ) {
        unsafe {
            lanes_mut::<T>(
                block,
                self.layout.plane(variable, component),
                self.layout.width(),
            )[lane] = value
        }
    }

    /// # Safety
    /// As for the methods of a program.
    unsafe fn read(&self, cx: &StepContext<'_>, block: *mut u8, lane: usize) -> Bird {
        unsafe {
            let path: Sequence = self.get(block, PATH, 0, lane);
            Bird {
                pos: [self.get(block, POS, 0, lane), self.get(block, POS, 1, lane)],
                energy: self.get(block, ENERGY, 0, lane),
                kind: self.get(block, KIND, 0, lane),
                age: self.get(block, AGE, 0, lane),
                tired: self.get::<u8>(block, TIRED, 0, lane) != 0,
                path: std::slice::from_raw_parts(cx.sequence_data(path).cast::<Vec2>(), path.len())
                    .to_vec(),
            }
        }
    }

    /// # Safety
    /// As for the methods of a program; the slot comes from a query.
    unsafe fn see(&self, cx: &StepContext<'_>, slot: u32) -> Seen {
        let plane = |variable, component| -> Plane { self.layout.plane(variable, component) };
        unsafe {
            let path: Sequence = cx.other(plane(PATH, 0), slot);
            Seen {
                pos: [cx.other(plane(POS, 0), slot), cx.other(plane(POS, 1), slot)],
                energy: cx.other(plane(ENERGY, 0), slot),
                kind: cx.other(plane(KIND, 0), slot),
                path_length: path.len(),
                path_last: *cx.sequence_data(path).cast::<Vec2>().add(path.len() - 1),
            }
        }
    }

    /// A vector in one lane of two planes.
    fn planes(&self, lane: usize, value: Vec2) -> [f64; 32] {
        let mut planes = [0.0; 32];
        planes[lane] = value[0];
        planes[self.layout.width() + lane] = value[1];
        planes
    }
}

pub(crate) const VEC2: [usize; 2] = [8, 2];

pub(crate) fn lanes_of(mask: LaneMask) -> impl Iterator<Item = usize> {
    (0..16).filter(move |lane| mask >> lane & 1 == 1)
}

pub(crate) fn list(lists: &LaneLists, lane: usize) -> &[u32] {
    // SAFETY: lists are read before the method returns.
    if lists.lengths[lane] == 0 {
        &[]
    } else {
        unsafe { std::slice::from_raw_parts(lists.slots[lane], lists.lengths[lane] as usize) }
    }
}

// SAFETY: the methods touch their own lanes only.
unsafe impl StrandProgram for Flock {
    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            starts: true,
            stabilizes: true,
            communicates: true,
            creates: true,
            dies: true,
            counts: true,
            prints: true,
            ends_at_once: false,
            reductions_fail: false,
            global_start: false,
            global_update: true,
        }
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        for lane in lanes_of(lanes) {
            unsafe {
                // Two iterators, the second running over five values.
                let index =
                    *coordinates.add(lane) * 5 + *coordinates.add(self.layout.width() + lane);
                let bird = first_bird(index as usize);
                self.set(block, POS, 0, lane, bird.pos[0]);
                self.set(block, POS, 1, lane, bird.pos[1]);
                self.set(block, ENERGY, 0, lane, bird.energy);
                self.set(block, KIND, 0, lane, bird.kind);
                let path =
                    cx.create_sequence(lane, VEC2, 1, self.planes(lane, bird.pos).as_ptr().cast());
                self.set(block, PATH, 0, lane, path);
            }
        }
    }

    unsafe fn start(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        for lane in lanes_of(lanes) {
            unsafe {
                let bird = self.read(cx, block, lane);
                self.set(block, AGE, 0, lane, bird.age + 1);
                let path = cx.extend_sequence(
                    lane,
                    VEC2,
                    self.get(block, PATH, 0, lane),
                    self.planes(lane, bird.pos).as_ptr().cast(),
                    true,
                );
                self.set(block, PATH, 0, lane, path);
            }
        }
        LaneOutcome::CONTINUE
    }

    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        let width = self.layout.width();
        let mut outcome = LaneOutcome::CONTINUE;
        unsafe {
            let (mut centres, mut radii) = ([0.0f64; 32], [0.0f64; 16]);
            let mut birds: Vec<Option<Bird>> = vec![None; width];
            for lane in lanes_of(lanes) {
                let bird = self.read(cx, block, lane);
                centres[lane] = bird.pos[0];
                centres[width + lane] = bird.pos[1];
                radii[lane] = radius(bird.age);
                birds[lane] = Some(bird);
            }
            let (mut near, mut nearer) = (LaneLists::EMPTY, LaneLists::EMPTY);
            cx.sphere(
                lanes,
                centres.as_ptr().cast(),
                radii.as_ptr().cast(),
                &mut near,
            );
            let seen = |cx: &StepContext<'_>, lists: &LaneLists, lane| -> Vec<Seen> {
                list(lists, lane)
                    .iter()
                    .map(|&slot| self.see(cx, slot))
                    .collect()
            };
            for lane in lanes_of(lanes) {
                let pos = moved(
                    birds[lane].as_ref().unwrap(),
                    &seen(cx, &near, lane),
                    self.climate,
                );
                centres[lane] = pos[0];
                centres[width + lane] = pos[1];
                radii[lane] = 0.3;
            }
            cx.sphere(
                lanes,
                centres.as_ptr().cast(),
                radii.as_ptr().cast(),
                &mut nearer,
            );
            for lane in lanes_of(lanes) {
                let bird = birds[lane].take().unwrap();
                let alive = cx.head().all;
                let decision = decide(
                    &bird,
                    &seen(cx, &near, lane),
                    &seen(cx, &nearer, lane),
                    alive,
                );
                let pos = [centres[lane], centres[width + lane]];
                let planes = self.planes(lane, pos);
                let here = planes.as_ptr().cast();
                let path: Sequence = self.get(block, PATH, 0, lane);
                let path = match decision.path {
                    PathChange::Append => cx.extend_sequence(lane, VEC2, path, here, true),
                    PathChange::Restart => cx.create_sequence(lane, VEC2, 1, here),
                    PathChange::Prepend => cx.extend_sequence(lane, VEC2, path, here, false),
                    PathChange::Double => cx.concatenate(lane, path, path, 16),
                    PathChange::Adopt(nth) => {
                        let theirs = cx.other(self.layout.plane(PATH, 0), list(&near, lane)[nth]);
                        cx.extend_sequence(lane, VEC2, theirs, here, true)
                    }
                };
                self.set(block, POS, 0, lane, pos[0]);
                self.set(block, POS, 1, lane, pos[1]);
                self.set(block, ENERGY, 0, lane, decision.energy);
                self.set(block, AGE, 0, lane, bird.age + 1);
                self.set(block, PATH, 0, lane, path);
                if decision.speaks {
                    let path = self.read(cx, block, lane).path;
                    let told = format!("bird {} {pos:?} {path:?}\n", bird.age + 1);
                    cx.print_text(1 << lane, &told);
                }
                let parent = self.read(cx, block, lane);
                for new in decision.children {
                    let bird = child(&parent, new);
                    let staging = cx.staging();
                    self.set(staging, POS, 0, lane, bird.pos[0]);
                    self.set(staging, POS, 1, lane, bird.pos[1]);
                    self.set(staging, ENERGY, 0, lane, bird.energy);
                    self.set(staging, KIND, 0, lane, bird.kind);
                    self.set(staging, AGE, 0, lane, bird.age);
                    self.set(staging, TIRED, 0, lane, 0u8);
                    let inherited = cx.extend_sequence(
                        lane,
                        VEC2,
                        path,
                        self.planes(lane, bird.pos).as_ptr().cast(),
                        true,
                    );
                    self.set(staging, PATH, 0, lane, inherited);
                    cx.spawn(1 << lane, staging);
                }
                match decision.fate {
                    Fate::Fly => {}
                    Fate::Land => outcome.stable |= 1 << lane,
                    Fate::Die => outcome.dead |= 1 << lane,
                }
            }
        }
        outcome
    }

    unsafe fn stabilize(&self, _: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        for lane in lanes_of(lanes) {
            unsafe {
                let energy: f64 = self.get(block, ENERGY, 0, lane);
                self.set(block, ENERGY, 0, lane, 0.5 * energy);
                self.set(block, TIRED, 0, lane, 1u8);
            }
        }
    }

    fn global_start(&mut self, _: &mut GlobalContext<'_>) {}

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        let energy = self.layout.plane(ENERGY, 0);
        let mean = cx.reduce_map(
            Reduction::Mean,
            StrandSet::All,
            Scalar::F64,
            1,
            // SAFETY: the plane is in the block, and `energies` has room for one.
            &|block, _, energies| unsafe {
                let bytes = self.layout.width() * energy.bytes;
                block
                    .add(energy.offset)
                    .copy_to_nonoverlapping(energies, bytes);
            },
        );
        let Some(Values::F64(mean)) = mean else {
            panic!("a mean of reals")
        };
        let plane = self.layout.plane(AGE, 0);
        let width = self.layout.width();
        let oldest = cx.reduce_map(
            Reduction::Max,
            StrandSet::Active,
            Scalar::I32,
            1,
            &|block, _, values| {
                // SAFETY: the plane is in the block, and `values` has room for it.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        block.add(plane.offset).cast::<i32>(),
                        values.cast::<i32>(),
                        width,
                    )
                }
            },
        );
        let Some(Values::I32(oldest)) = oldest else {
            panic!("a maximum of integers")
        };
        self.climate = next_climate(self.climate, mean[0], oldest[0].max(0));
        let counts = cx.counts();
        cx.print_text(&format!(
            "round {} alive {} stable {}\n",
            self.climate.round,
            counts.all(),
            counts.stable
        ));
        // SAFETY: the diary is held, so it is alive.
        self.diary = unsafe {
            cx.sequences
                .append(self.diary, &self.climate.heat.to_ne_bytes())
                .unwrap()
        };
        if self.climate.round == LAST_ROUND {
            cx.stabilize_all(self);
        }
    }

    fn held_sequences(&self, hold: &mut dyn FnMut(Sequence)) {
        hold(self.diary);
    }
}
