//! The order of events: of methods, of counts, and of printed text.

use runtime::abi::{LaneMask, LaneOutcome};
use runtime::reduce::{Reduction, Values};
use runtime::sequence::Sequence;
use runtime::strands::blocks::lanes_mut;
use runtime::strands::{Kind, Scalar, Sharing, StateLayout, StrandSet, Variable};
use runtime::world::{
    Abilities, Creation, Gathered, GlobalContext, GlobalSequences, RunEnd, RunError, StepContext,
    StrandProgram, World,
};
use std::io::{self, Write};

const NAME: usize = 0;

/// What a strand called `name` does in a method.
type Act = fn(name: i32, step: u64) -> Deed;

#[derive(Clone, Copy, PartialEq)]
enum Deed {
    Nothing,
    Stabilize,
    Die,
    /// Make a strand of this name and go on.
    New(i32),
    /// Make a strand of this name and die.
    NewAndDie(i32),
}

/// Strands that print their actions.
struct Chatter {
    layout: StateLayout,
    abilities: Abilities,
    start: Act,
    update: Act,
    global: fn(&mut Chatter, &mut GlobalContext<'_>),
}

impl Chatter {
    fn new(width: usize, start: Act, update: Act) -> Chatter {
        let name = Variable {
            name: "name".into(),
            kind: Kind::Tensor {
                scalar: Scalar::I32,
                components: 1,
            },
            sharing: Sharing::Private,
        };
        Chatter {
            layout: StateLayout::new(width, vec![name], None).unwrap(),
            abilities: Abilities {
                starts: true,
                stabilizes: true,
                creates: true,
                dies: true,
                counts: true,
                prints: true,
                ends_at_once: false,
                reductions_fail: false,
                global_start: true,
                global_update: true,
                communicates: false,
            },
            start,
            update,
            global: |_, cx| {
                let counts = cx.counts();
                cx.print_text(&format!(
                    "| {}/{}/{}\n",
                    counts.active, counts.stable, counts.dead
                ));
            },
        }
    }

    fn run(
        &self,
        word: &str,
        act: Act,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        let width = self.layout.width();
        let mut outcome = LaneOutcome::CONTINUE;
        // Lanes in reverse, to show that their order is not that of the calls.
        for lane in (0..width).rev().filter(|lane| lanes >> lane & 1 == 1) {
            // SAFETY: the block is ours.
            let name = unsafe { lanes_mut::<i32>(block, self.layout.plane(NAME, 0), width)[lane] };
            cx.print_text(1 << lane, word);
            let all = cx.head().all;
            cx.print_text(1 << lane, &format!("{name}({all}) "));
            let deed = act(name, cx.head().step);
            let mut make = |name: i32| {
                let staging = cx.staging();
                // SAFETY: the staging block is ours, and the lane is initialized.
                unsafe {
                    lanes_mut::<i32>(staging, self.layout.plane(NAME, 0), width)[lane] = name;
                    cx.spawn(1 << lane, staging);
                }
            };
            match deed {
                Deed::Nothing => {}
                Deed::Stabilize => outcome.stable |= 1 << lane,
                Deed::Die => outcome.dead |= 1 << lane,
                Deed::New(name) => make(name),
                Deed::NewAndDie(name) => {
                    make(name);
                    outcome.dead |= 1 << lane;
                }
            }
        }
        outcome
    }
}

// SAFETY: the methods touch their own lanes only.
unsafe impl StrandProgram for Chatter {
    fn layout(&self) -> &StateLayout {
        &self.layout
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        let width = self.layout.width();
        for lane in (0..width).rev().filter(|lane| lanes >> lane & 1 == 1) {
            // SAFETY: the block is ours, and there is one axis.
            unsafe {
                lanes_mut(block, self.layout.plane(NAME, 0), width)[lane] =
                    *coordinates.add(lane) as i32
            };
            cx.print_text(1 << lane, ".");
        }
    }

    unsafe fn start(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        self.run("s", self.start, cx, block, lanes)
    }

    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        self.run("u", self.update, cx, block, lanes)
    }

    unsafe fn stabilize(&self, cx: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        self.run("z", |_, _| Deed::Nothing, cx, block, lanes);
    }

    fn global_start(&mut self, cx: &mut GlobalContext<'_>) {
        cx.print_text(" begin\n");
    }

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        (self.global)(self, cx);
    }

    fn held_sequences(&self, _: &mut dyn FnMut(Sequence)) {}
}

/// Runs a program at every width with several workers; its printed text and its final values must
/// always be the same.
#[track_caller]
fn check(
    count: usize,
    program: impl Fn(usize) -> Chatter,
    limit: Option<u64>,
    text: &str,
    names: &[i32],
    stable: &[i32],
) {
    for width in [1, 4, 8, 16] {
        for workers in [1, 2, 8] {
            let creation = Creation::Collection(vec![count]);
            let mut world =
                World::new(program(width), &creation, GlobalSequences::new(), workers).unwrap();
            let mut printed = Vec::new();
            world.run(limit, &mut printed).unwrap();
            assert_eq!(
                String::from_utf8(printed).unwrap(),
                text,
                "width {width}, {workers} workers"
            );
            for (set, names) in [(StrandSet::All, names), (StrandSet::Stable, stable)] {
                let values = Values::I32(names.to_vec());
                assert_eq!(
                    world.gather(NAME, set),
                    Gathered::Tensors {
                        components: 1,
                        values
                    }
                );
            }
        }
    }
}

#[test]
fn a_strand_that_stabilizes_or_dies_in_start_never_updates() {
    let start: Act = |name, _| [Deed::Nothing, Deed::Stabilize, Deed::Die][name as usize];
    check(
        3,
        |width| Chatter::new(width, start, |_, _| Deed::Stabilize),
        None,
        "... begin\ns0(3) u0(3) z0(3) s1(3) z1(3) s2(3) | 0/2/1\n",
        &[0, 1],
        &[0, 1],
    );
}

#[test]
fn new_strands_join_after_the_step_in_the_order_of_their_parents() {
    let update: Act = |name, step| match (name, step) {
        (0, 0) => Deed::New(10),
        (1, 0) => Deed::NewAndDie(11),
        (2, 0) => Deed::New(12),
        (_, 0) => Deed::Nothing,
        (12, _) => Deed::Die,
        _ => Deed::Stabilize,
    };
    check(
        3,
        |width| Chatter::new(width, |_, _| Deed::Nothing, update),
        None,
        "... begin\n\
         s0(3) u0(3) s1(3) u1(3) s2(3) u2(3) | 5/0/1\n\
         u0(5) z0(5) u2(5) z2(5) s10(5) u10(5) z10(5) s11(5) u11(5) z11(5) s12(5) u12(5) | 0/4/2\n",
        &[0, 2, 10, 11],
        &[0, 2, 10, 11],
    );
}

#[test]
fn a_global_stabilize_takes_effect_at_once_and_ends_the_run() {
    let program = |width| Chatter {
        global: |program, cx| {
            cx.print_text("[");
            cx.stabilize_all(program);
            let (plane, width) = (program.layout.plane(NAME, 0), program.layout.width());
            let sum = cx.reduce_map(
                Reduction::Sum,
                StrandSet::Stable,
                Scalar::I32,
                1,
                // SAFETY: the plane is in the block, and `names` has room for one.
                &|block, _, names| unsafe {
                    block
                        .add(plane.offset)
                        .copy_to_nonoverlapping(names, width * plane.bytes);
                },
            );
            assert_eq!(sum, Some(Values::I32(vec![3])));
            cx.print_text(&format!("] {}\n", cx.counts().stable));
        },
        ..Chatter::new(
            width,
            |_, _| Deed::Nothing,
            |name, _| {
                if name == 1 {
                    Deed::Stabilize
                } else {
                    Deed::Nothing
                }
            },
        )
    };
    let text = "... begin\ns0(3) u0(3) s1(3) u1(3) z1(3) s2(3) u2(3) [z0(3) z2(3) ] 3\n";
    check(3, program, None, text, &[0, 1, 2], &[0, 1, 2]);
}

#[test]
fn a_global_die_leaves_the_stable_only() {
    let program = |width| Chatter {
        global: |_, cx| {
            cx.kill_all();
            cx.print_text(&format!(
                "{}/{}/{}\n",
                cx.counts().active,
                cx.counts().stable,
                cx.counts().dead
            ));
        },
        ..Chatter::new(
            width,
            |_, _| Deed::Nothing,
            |name, _| {
                if name == 1 {
                    Deed::Stabilize
                } else {
                    Deed::Nothing
                }
            },
        )
    };
    let text = "... begin\ns0(3) u0(3) s1(3) u1(3) z1(3) s2(3) u2(3) 0/1/2\n";
    check(3, program, None, text, &[1], &[1]);
}

#[test]
fn a_step_limit_leaves_the_active_as_they_are() {
    let program = |width| {
        Chatter::new(
            width,
            |_, _| Deed::Nothing,
            |name, _| {
                if name == 0 {
                    Deed::Stabilize
                } else {
                    Deed::Nothing
                }
            },
        )
    };
    let text = ".. begin\ns0(2) u0(2) z0(2) s1(2) u1(2) | 1/1/0\nu1(2) | 1/1/0\n";
    check(2, program, Some(2), text, &[0, 1], &[0]);
}

#[test]
fn a_population_that_turns_over_keeps_its_order() {
    // Every strand is replaced by its successor in each step, a hundred times over; every seventh
    // stays.
    let update: Act = |name, step| match step {
        100 => Deed::Stabilize,
        _ if name % 7 == 0 => Deed::Nothing,
        _ => Deed::NewAndDie(name + 1000),
    };
    for width in [1, 4, 16] {
        let creation = Creation::Collection(vec![50]);
        let program = Chatter::new(width, |_, _| Deed::Nothing, update);
        let mut world = World::new(program, &creation, GlobalSequences::new(), 2).unwrap();
        assert_eq!(world.run(None, &mut io::sink()).unwrap(), RunEnd::Finished);
        let mut expected: Vec<i32> = (0..50).collect();
        for _ in 0..100 {
            let (stay, go): (Vec<i32>, Vec<i32>) =
                expected.iter().partition(|&&name| name % 7 == 0);
            expected = stay
                .into_iter()
                .chain(go.into_iter().map(|name| name + 1000))
                .collect();
        }
        let values = Values::I32(expected);
        assert_eq!(
            world.gather(NAME, StrandSet::Stable),
            Gathered::Tensors {
                components: 1,
                values
            }
        );
    }
}

/// A file that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space left"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn text_that_cannot_be_written_stops_the_run() {
    let creation = Creation::Collection(vec![2]);
    let program = Chatter::new(4, |_, _| Deed::Nothing, |_, _| Deed::Stabilize);
    let mut world = World::new(program, &creation, GlobalSequences::new(), 1).unwrap();
    let error = world.run(None, &mut Full).unwrap_err();
    assert!(matches!(error, RunError::Print(_)));
    assert_eq!(
        error.to_string(),
        "cannot write printed text: no space left"
    );
}
