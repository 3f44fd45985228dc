//! One super-step of neighbour work: a million particles in three dimensions, about thirty
//! neighbours each, against a cell grid written by hand for exactly this problem. Prints both times
//! and their ratio.
//!
//! Both sides build their cells from the positions, find for every particle the others within the
//! radius, and add up a force. The hand-written side goes through particles cell by cell and adds
//! in whatever order the cells give; the world gives neighbours in strand order, through the same
//! interface as compiled programs, and keeps double-buffered state.

use runtime::abi::{LaneLists, LaneMask, LaneOutcome};
use runtime::reduce::Values;
use runtime::sequence::Sequence;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Kind, Plane, Scalar, Sharing, StateLayout, StrandSet, Variable};
use runtime::world::{
    Abilities, Creation, Gathered, GlobalContext, GlobalSequences, StepContext, StrandProgram,
    World,
};
use std::hint::black_box;
use std::time::Instant;

const COUNT: usize = 1_000_000;
const NEIGHBOURS: f64 = 30.0;
const WIDTH: usize = 16;
const ROUNDS: usize = 5;

type Vec3 = [f32; 3];

fn radius() -> f32 {
    (NEIGHBOURS / COUNT as f64 * 0.75 / std::f64::consts::PI).cbrt() as f32
}

/// Uniform in the unit cube, in random order.
fn positions() -> Vec<Vec3> {
    let mut state = 42u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    (0..COUNT).map(|_| [next(), next(), next()]).collect()
}

/// What a neighbour does to a particle at this distance.
#[inline(always)]
fn push(force: &mut Vec3, own: Vec3, other: Vec3, radius: f32) {
    let away = [own[0] - other[0], own[1] - other[1], own[2] - other[2]];
    let distance = (away[0] * away[0] + away[1] * away[1] + away[2] * away[2]).sqrt();
    let strength = 1.0 - distance / radius;
    for (force, away) in force.iter_mut().zip(away) {
        *force += strength * away;
    }
}

/// Cells of one radius, points sorted by cell, neighbours added cell by cell.
fn by_hand(positions: &[Vec3], radius: f32, forces: &mut [Vec3]) {
    let size = (1.0 / radius).floor() as usize;
    let cell_of = |position: &Vec3| position.map(|x| ((x * size as f32) as usize).min(size - 1));
    let index = |[x, y, z]: [usize; 3]| (z * size + y) * size + x;
    let mut starts = vec![0u32; size * size * size + 1];
    for position in positions {
        starts[index(cell_of(position)) + 1] += 1;
    }
    for cell in 1..starts.len() {
        starts[cell] += starts[cell - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![([0.0f32; 3], 0u32); positions.len()];
    for (particle, position) in positions.iter().enumerate() {
        let place = &mut next[index(cell_of(position))];
        sorted[*place as usize] = (*position, particle as u32);
        *place += 1;
    }
    for z in 0..size {
        for y in 0..size {
            for x in 0..size {
                for own in starts[index([x, y, z])]..starts[index([x, y, z]) + 1] {
                    let (position, particle) = sorted[own as usize];
                    let mut force = [0.0; 3];
                    for nz in z.saturating_sub(1)..(z + 2).min(size) {
                        for ny in y.saturating_sub(1)..(y + 2).min(size) {
                            let first = starts[index([x.saturating_sub(1), ny, nz])];
                            let last = starts[index([(x + 1).min(size - 1), ny, nz]) + 1];
                            for (other_position, other) in &sorted[first as usize..last as usize] {
                                let away: [f32; 3] = std::array::from_fn(|axis| {
                                    other_position[axis] - position[axis]
                                });
                                let square =
                                    away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
                                if square < radius * radius && *other != particle {
                                    push(&mut force, position, *other_position, radius);
                                }
                            }
                        }
                    }
                    forces[particle as usize] = force;
                }
            }
        }
    }
}

/// The same as a program: `pos` is read by others and written, so it is kept twice.
struct Particles {
    layout: StateLayout,
    positions: Vec<Vec3>,
    radius: f32,
}

impl Particles {
    fn new() -> Particles {
        let vector = Kind::Tensor {
            scalar: Scalar::F32,
            components: 3,
        };
        let variable = |name: &str, sharing| Variable {
            name: name.into(),
            kind: vector,
            sharing,
        };
        let variables = vec![
            variable("pos", Sharing::Communicated),
            variable("force", Sharing::Private),
        ];
        let layout = StateLayout::new(WIDTH, variables, Some(0)).expect("a valid layout");
        Particles {
            layout,
            positions: positions(),
            radius: radius(),
        }
    }

    fn planes(&self, variable: usize) -> [Plane; 3] {
        std::array::from_fn(|axis| self.layout.plane(variable, axis))
    }
}

// SAFETY: the methods touch their own lanes only.
unsafe impl StrandProgram for Particles {
    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            communicates: true,
            ..Abilities::default()
        }
    }

    unsafe fn create(
        &self,
        _: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        for (axis, plane) in self.planes(0).into_iter().enumerate() {
            // SAFETY: the block is ours.
            let lanes_of_plane = unsafe { lanes_mut::<f32>(block, plane, WIDTH) };
            for (lane, x) in lanes_of_plane
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| lanes >> lane & 1 == 1)
            {
                // SAFETY: one coordinate per lane.
                *x = self.positions[unsafe { *coordinates.add(lane) } as usize][axis];
            }
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
        let pos = self.planes(0);
        // SAFETY: the block is ours, the three planes of `pos` follow each other, and lists are
        // read before the method returns.
        unsafe {
            let centres = block.add(pos[0].offset);
            let own: [&mut [f32]; 3] = pos.map(|plane| lanes_mut(block, plane, WIDTH));
            let force: [&mut [f32]; 3] = self.planes(1).map(|plane| lanes_mut(block, plane, WIDTH));
            let mut lists = LaneLists::EMPTY;
            cx.sphere(
                lanes,
                centres,
                [self.radius; WIDTH].as_ptr().cast(),
                &mut lists,
            );
            for lane in (0..WIDTH).filter(|lane| lanes >> lane & 1 == 1) {
                let here = [own[0][lane], own[1][lane], own[2][lane]];
                let mut sum = [0.0; 3];
                for index in 0..lists.lengths[lane] as usize {
                    let slot = *lists.slots[lane].add(index);
                    push(
                        &mut sum,
                        here,
                        pos.map(|plane| cx.other(plane, slot)),
                        self.radius,
                    );
                }
                for axis in 0..3 {
                    force[axis][lane] = sum[axis];
                }
            }
        }
        LaneOutcome::CONTINUE
    }

    unsafe fn stabilize(&self, _: &mut StepContext<'_>, _: *mut u8, _: LaneMask) {}

    fn global_start(&mut self, _: &mut GlobalContext<'_>) {}

    fn global_update(&mut self, _: &mut GlobalContext<'_>) {}

    fn held_sequences(&self, _: &mut dyn FnMut(Sequence)) {}
}

fn main() {
    let positions = positions();
    let radius = radius();
    let mut forces = vec![[0.0; 3]; COUNT];
    let mut world = World::new(
        Particles::new(),
        &Creation::Collection(vec![COUNT]),
        GlobalSequences::new(),
        1,
    )
    .expect("a world");
    // The first super-step learns the radius and moves strands near their neighbours; it is not
    // typical.
    world
        .run(Some(1), &mut std::io::sink())
        .expect("a super-step");
    let (mut hand, mut ours) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        by_hand(black_box(&positions), radius, &mut forces);
        hand = hand.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        world
            .run(Some(1), &mut std::io::sink())
            .expect("a super-step");
        ours = ours.min(start.elapsed().as_secs_f64());
    }
    let Gathered::Tensors {
        values: Values::F32(values),
        ..
    } = world.gather(1, StrandSet::All)
    else {
        panic!("forces are reals")
    };
    let largest = values
        .chunks_exact(3)
        .zip(&forces)
        .fold(0.0f32, |largest, (ours, hand)| {
            ours.iter()
                .zip(hand)
                .fold(largest, |largest, (a, b)| largest.max((a - b).abs()))
        });
    assert!(largest < 1e-4, "forces differ by {largest}");
    println!("{COUNT} particles, {WIDTH} lanes, one worker, minimum of {ROUNDS} rounds");
    println!(
        "by hand {:.0} ms, world {:.0} ms, ratio {:.2} (goal: at most 1.3)",
        hand * 1e3,
        ours * 1e3,
        ours / hand
    );
}
