//! The Game of Life through neighbour queries: positions that never move, state that is published,
//! on a grid, compared with a direct simulation.

use runtime::abi::{LaneLists, LaneMask, LaneOutcome};
use runtime::reduce::Values;
use runtime::sequence::Sequence;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Kind, Scalar, Sharing, StateLayout, StrandSet, Variable};
use runtime::world::{
    Abilities, Creation, Gathered, GlobalContext, GlobalSequences, RunEnd, StepContext,
    StrandProgram, World,
};

const SIZE: usize = 24;
const STEPS: u64 = 40;
const POS: usize = 0;
const ALIVE: usize = 1;

/// A glider, a blinker and a block.
fn alive_at_first(row: usize, column: usize) -> bool {
    let cells = [
        (1, 2),
        (2, 3),
        (3, 1),
        (3, 2),
        (3, 3),
        (15, 5),
        (15, 6),
        (15, 7),
        (5, 18),
        (5, 19),
        (6, 18),
        (6, 19),
    ];
    cells.contains(&(row, column))
}

struct Life {
    layout: StateLayout,
}

impl Life {
    fn new(width: usize) -> Life {
        let variables = vec![
            Variable {
                name: "pos".into(),
                kind: Kind::Tensor {
                    scalar: Scalar::F32,
                    components: 2,
                },
                sharing: Sharing::Constant,
            },
            Variable {
                name: "alive".into(),
                kind: Kind::Tensor {
                    scalar: Scalar::Bool,
                    components: 1,
                },
                sharing: Sharing::Communicated,
            },
        ];
        Life {
            layout: StateLayout::new(width, variables, Some(POS)).unwrap(),
        }
    }
}

// SAFETY: the methods touch their own lanes only.
unsafe impl StrandProgram for Life {
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
        let width = self.layout.width();
        for lane in (0..width).filter(|lane| lanes >> lane & 1 == 1) {
            // SAFETY: the block is ours, and there are two axes.
            unsafe {
                let (row, column) = (*coordinates.add(lane), *coordinates.add(width + lane));
                lanes_mut(block, self.layout.plane(POS, 0), width)[lane] = column as f32;
                lanes_mut(block, self.layout.plane(POS, 1), width)[lane] = row as f32;
                lanes_mut(block, self.layout.plane(ALIVE, 0), width)[lane] =
                    u8::from(alive_at_first(row as usize, column as usize));
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
        let width = self.layout.width();
        let alive = self.layout.plane(ALIVE, 0);
        // SAFETY: the block is ours, and lists are read before the method returns.
        unsafe {
            let mut centres = [0f32; 32];
            for axis in 0..2 {
                let plane = self.layout.plane(POS, axis);
                centres[axis * width..][..width]
                    .copy_from_slice(lanes_mut::<f32>(block, plane, width));
            }
            let mut lists = LaneLists::EMPTY;
            cx.sphere(
                lanes,
                centres.as_ptr().cast(),
                [1.5f32; 16].as_ptr().cast(),
                &mut lists,
            );
            for lane in (0..width).filter(|lane| lanes >> lane & 1 == 1) {
                let slots =
                    (0..lists.lengths[lane] as usize).map(|index| *lists.slots[lane].add(index));
                let living = slots
                    .filter(|&slot| cx.other::<u8>(alive, slot) == 1)
                    .count();
                let cell = &mut lanes_mut::<u8>(block, alive, width)[lane];
                *cell = u8::from(living == 3 || (living == 2 && *cell == 1));
            }
        }
        // Cells on the border of the far corner leave the game early, so that stable strands are
        // read as well.
        let done = |lane: &usize| cx.head().step == 5 && cx.id(*lane) as usize >= SIZE * (SIZE - 2);
        let stable = (0..width)
            .filter(|lane| lanes >> lane & 1 == 1)
            .filter(done);
        LaneOutcome {
            stable: stable.fold(0, |mask, lane| mask | 1 << lane),
            dead: 0,
        }
    }

    unsafe fn stabilize(&self, _: &mut StepContext<'_>, _: *mut u8, _: LaneMask) {}

    fn global_start(&mut self, _: &mut GlobalContext<'_>) {}

    fn global_update(&mut self, _: &mut GlobalContext<'_>) {}

    fn held_sequences(&self, _: &mut dyn FnMut(Sequence)) {}
}

fn simulate() -> Vec<u8> {
    let mut cells = [[false; SIZE]; SIZE];
    for (row, cells) in cells.iter_mut().enumerate() {
        for (column, cell) in cells.iter_mut().enumerate() {
            *cell = alive_at_first(row, column);
        }
    }
    for step in 0..STEPS {
        let old = cells;
        for row in 0..SIZE {
            if row >= SIZE - 2 && step > 5 {
                continue;
            }
            for column in 0..SIZE {
                let near = |centre: usize| centre.saturating_sub(1)..(centre + 2).min(SIZE);
                let block = near(row).flat_map(|r| near(column).map(move |c| (r, c)));
                let living = block
                    .filter(|&(r, c)| (r, c) != (row, column) && old[r][c])
                    .count();
                cells[row][column] = living == 3 || (living == 2 && old[row][column]);
            }
        }
    }
    cells.concat().into_iter().map(u8::from).collect()
}

#[test]
fn life_on_a_grid_is_life() {
    let expected = simulate();
    assert!(
        expected.iter().filter(|&&cell| cell == 1).count() > 8,
        "something should live on"
    );
    for width in [1, 4, 8, 16] {
        for workers in [1, 2, 3, 8, 64] {
            let creation = Creation::Grid(vec![SIZE, SIZE]);
            let mut world =
                World::new(Life::new(width), &creation, GlobalSequences::new(), workers).unwrap();
            assert_eq!(
                world.run(Some(STEPS), &mut std::io::sink()).unwrap(),
                RunEnd::StepLimit
            );
            let values = Values::Bool(expected.clone());
            let gathered = world.gather(ALIVE, StrandSet::All);
            assert_eq!(
                gathered,
                Gathered::Tensors {
                    components: 1,
                    values
                },
                "width {width}, {workers} workers"
            );
            assert_eq!(world.counts().stable as usize, 2 * SIZE);
        }
    }
}
