//! The Game of Life through neighbour queries: positions that never move, state that is published,
//! on a grid, compared with a direct simulation.

mod common;

use common::program::{Fate, Program, Strand, Strands, tensor};
use runtime::reduce::Values;
use runtime::strands::{Scalar, Sharing, StateLayout, StrandSet};
use runtime::world::{Abilities, Creation, Gathered, GlobalSequences, RunEnd, World};

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
            tensor("pos", Scalar::F32, 2, Sharing::Constant),
            tensor("alive", Scalar::Bool, 1, Sharing::Communicated),
        ];
        Life {
            layout: StateLayout::new(width, variables, Some(POS)).unwrap(),
        }
    }
}

impl Strands for Life {
    const AXES: usize = 2;

    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            communicates: true,
            ..Abilities::default()
        }
    }

    fn create(&self, strand: &mut Strand<'_, '_>, at: &[u32]) {
        let (row, column) = (at[0], at[1]);
        strand.set(POS, 0, column as f32);
        strand.set(POS, 1, row as f32);
        let alive = alive_at_first(row as usize, column as usize);
        strand.set(ALIVE, 0, u8::from(alive));
    }

    fn update(&self, strand: &mut Strand<'_, '_>) -> Fate {
        let centre = [strand.get::<f32>(POS, 0), strand.get::<f32>(POS, 1)];
        let alive = self.layout.plane(ALIVE, 0);
        let near = strand.sphere(centre, 1.5);
        // SAFETY: the slots are those of strands.
        let is_alive = |slot: &&u32| unsafe { strand.cx.other::<u8>(alive, **slot) } == 1;
        let living = near.iter().filter(is_alive).count();
        let cell = strand.get::<u8>(ALIVE, 0);
        let next = living == 3 || (living == 2 && cell == 1);
        strand.set(ALIVE, 0, u8::from(next));
        // Cells on the border of the far corner leave the game early, so that stable strands are
        // read as well.
        let id = strand.cx.id(strand.lane) as usize;
        match strand.cx.head().step == 5 && id >= SIZE * (SIZE - 2) {
            true => Fate::Stable,
            false => Fate::Active,
        }
    }
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
            let mut world = World::new(
                Program(Life::new(width)),
                &creation,
                GlobalSequences::new(),
                workers,
            )
            .unwrap();
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
