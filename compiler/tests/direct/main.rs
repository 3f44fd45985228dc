//! Code that is generated for vectors directly gives the same bits as that of the portable code generator, and what the
//! reference interpreter gives: every function of every program, and random functions, on random state, for any lanes, for one
//! and for several super-steps.

mod functions;
mod host;
mod rig;

use compiler::{
    front::source::Source,
    interpret::low::{Datum, Machine},
    low::{Low, Ty},
    pipeline::{self, Options, Session},
    ssa::{Function, Program, Role, evaluate, parse_function, verify},
};
use rayon::prelude::*;
use rig::{Dice, Rig, configurations};
use runtime::simd::Isa;
use std::path::{Path, PathBuf};

/// Calls of each function with each configuration.
const ROUNDS: u64 = 12;

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let folders = ["checks", "methods", "language", "particles", "synth"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder"))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "diderot"))
        .collect();
    found.sort();
    found
}

fn lower(source: &Source) -> Program<Low> {
    pipeline::lower(&mut Session::default(), source, &Options::default())
        .unwrap_or_else(|e| panic!("{}: {e:?}", source.path.display()))
        .hoisted
}

/// The lanes of a round.
fn mask(dice: &mut Dice, round: u64, width: usize) -> u32 {
    let all = (1 << width) - 1;
    let some = match round % 3 {
        0 => all,
        1 => dice.bits() as u32 & all,
        _ => (dice.bits() & dice.bits()) as u32 & all,
    };
    some.max(1)
}

/// Calls a function in both ways, several times.
#[track_caller]
fn agree(rig: &Rig, role: Role, what: &str) {
    let mut dice = Dice::new(7);
    for round in 0..ROUNDS {
        let globals = rig.globals(&mut dice);
        let lanes = mask(&mut dice, round, rig.direct.lanes.width);
        let steps = if role == Role::Update {
            1 + round % 3
        } else {
            1
        };
        let call = (lanes, steps, dice.bits());
        let wanted = rig.call(&rig.portable, role, &globals, call);
        let found = rig.call(&rig.direct, role, &globals, call);
        assert_eq!(found, wanted, "{what}, lanes {lanes:#x}, {steps} steps");
    }
}

#[test]
fn functions_of_programs_give_the_same_bits() {
    let count = programs().into_par_iter().map(|path| {
        let mut count = 0;
        let source = Source::new(
            path.clone(),
            std::fs::read_to_string(&path).expect("a program"),
        );
        let program = lower(&source);
        // The rig has one time of a mesh.
        if program.interface.fems.iter().any(|fem| fem.timed) {
            return count;
        }
        for (options, isa) in configurations() {
            let rig = Rig::new(&program, &options, isa, &mut Dice::new(3));
            for (role, _) in &program.functions {
                if role.is_strand_code() {
                    let name = source.path.file_name().unwrap_or_default();
                    let what = format!("{name:?} {} {isa:?} {options:?}", role.name());
                    agree(&rig, *role, &what);
                    count += 1;
                }
            }
        }
        count
    });
    let count: usize = count.sum();
    assert!(count >= 200 * configurations().len(), "only {count}");
}

/// The program of random functions with this one as its `update`.
fn with_update(function: &Function<Low>) -> Program<Low> {
    assert_eq!(verify(function), Vec::<String>::new(), "{function}");
    let source = Source::new("random", functions::SOURCE);
    let mut program = lower(&source);
    let slots = program
        .interface
        .state
        .iter()
        .flat_map(|s| s.variable.ty.scalars());
    assert_eq!(
        slots.count() + 1,
        function.body.yields.len(),
        "status and state"
    );
    for (role, f) in &mut program.functions {
        if *role == Role::Update {
            *f = function.clone();
        }
    }
    program
}

/// Calls an `update` directly and interprets it for every lane.
#[track_caller]
fn interpreted_alike(rig: &Rig, function: &Function<Low>, seed: u64) {
    let mut dice = Dice::new(seed);
    let globals = rig.globals(&mut dice);
    let lanes = rig.direct.lanes;
    let mask = mask(&mut dice, seed, lanes.width);
    let seed = dice.bits();
    let before = rig.call(&rig.direct, Role::Update, &globals, (mask, 0, seed));
    let after = rig.call(&rig.direct, Role::Update, &globals, (mask, 1, seed));
    let datum = |ty: Ty, bits: u64| match ty {
        Ty::Real if lanes.double => Datum::Real(f64::from_bits(bits)),
        Ty::Real => Datum::Real(f32::from_bits(bits as u32).into()),
        Ty::Bool => Datum::Bool(bits != 0),
        Ty::Int | Ty::Str => Datum::Int(bits as i64),
    };
    let planes = &rig.direct.state.planes;
    for lane in 0..lanes.width {
        let state = |left: &rig::Left| -> Vec<Datum> {
            let slots = planes.iter().zip(&left.state);
            slots.map(|(p, lanes)| datum(p.ty, lanes[lane])).collect()
        };
        let mut machine = Machine {
            double: lanes.double,
            long_int: lanes.long_int,
            globals: (rig.globals.iter().zip(&globals))
                .map(|(&ty, &bits)| datum(ty, bits))
                .collect(),
            state: state(&before),
            ..Machine::default()
        };
        let runs = mask >> lane & 1 == 1;
        let wanted = if runs {
            evaluate(function, &mut machine).expect("no errors")
        } else {
            let mut kept = vec![Datum::Int(0)];
            kept.extend(machine.state);
            kept
        };
        let wanted_ends = [2, 3].map(|code| wanted[0].int() == code);
        let ends = after.ended.map(|lanes| lanes >> lane & 1 == 1);
        assert_eq!(ends, wanted_ends, "lane {lane} of {mask:#x}\n{function}");
        for (slot, (found, wanted)) in state(&after).iter().zip(&wanted[1..]).enumerate() {
            let same = match (found, wanted) {
                (Datum::Real(x), Datum::Real(y)) => {
                    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
                }
                (Datum::Int(n), Datum::Int(m)) if !lanes.long_int => *n as i32 == *m as i32,
                (found, wanted) => found == wanted,
            };
            assert!(
                same,
                "lane {lane} of {mask:#x}, slot {slot}: {found:?}, wanted {wanted:?}\n{function}"
            );
        }
    }
}

#[test]
fn random_functions_give_the_same_bits() {
    let seeds = std::env::var("SEEDS").map_or(0..60, |seeds| {
        let (from, to) = seeds.split_once("..").expect("SEEDS=from..to");
        from.parse().expect("a number")..to.parse().expect("a number")
    });
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let size = [10, 40, 150][dice.below(3)];
        let function = functions::update(&mut dice, size, seed % 4 == 0);
        let program = with_update(&function);
        for (options, isa) in configurations() {
            let rig = Rig::new(&program, &options, isa, &mut dice);
            let what = format!("seed {seed}, {isa:?} {options:?}\n{function}");
            agree(&rig, Role::Update, &what);
            for round in 0..3 {
                interpreted_alike(&rig, &function, seed * 3 + round);
            }
        }
    }
}

/// A loop up to the greatest integer ends, and its counter passes it by nowhere.
#[test]
fn loops_end_at_the_greatest_integer() {
    let text = |last: i64| {
        format!(
            "function update {{\n  v0: real = state 0 real()\n  v1: real = state 1 real()\n  v2: real = state 2 real()\n  \
             v3: real = state 3 real()\n  v4: real = state 4 real()\n  v5: int = state 5 int()\n  v6: int = state 6 int()\n  \
             v7: int = state 7 int()\n  v8: bool = state 8 bool()\n  v9: bool = state 9 bool()\n  v18: int = state 10 int()\n  v10: int = int {last}()\n  \
             v11: int = int-sub(v10, v5)\n  v12: int = int 0()\n  v13: int = int 1()\n  \
             v14: int = for v15 in v11 .. v10 with v16: int = v12 {{\n    v17: int = int-add(v16, v13)\n    yield v17\n  }}\n  \
             yield v12, v0, v1, v2, v3, v4, v5, v14, v7, v8, v9, v18\n}}\n"
        )
    };
    for (options, isa) in configurations() {
        let last = if options.long_int {
            i64::MAX
        } else {
            i64::from(i32::MAX)
        };
        let function: Function<Low> = parse_function(&text(last)).expect("a function");
        let program = with_update(&function);
        let rig = Rig::new(&program, &options, isa, &mut Dice::new(1));
        let mut dice = Dice::new(2);
        let globals = rig.globals(&mut dice);
        let before = rig.call(&rig.direct, Role::Update, &globals, (0xf, 0, 5));
        let after = rig.call(&rig.direct, Role::Update, &globals, (0xf, 1, 5));
        for lane in 0..4 {
            let rounds = after.state[6][lane];
            assert_eq!(rounds, before.state[5][lane] + 1, "{isa:?} {options:?}");
        }
    }
}

#[test]
fn without_the_instructions_there_is_no_direct_code() {
    let source = Source::new("random", functions::SOURCE);
    for (isa, width, direct) in [
        (Isa::Baseline, None, false),
        (Isa::Avx2, None, Isa::Avx2.is_available()),
        (Isa::Avx2, Some(16), false),
        (Isa::Avx2, Some(4), false),
        (Isa::Avx512, Some(1), false),
    ] {
        let options = Options {
            isa: Some(isa),
            width,
            ..Options::default()
        };
        let compiled = pipeline::compile(&mut Session::default(), &source, &options)
            .unwrap_or_else(|e| panic!("{e:?}"));
        let maker = if direct { "vector" } else { "cranelift" };
        assert_eq!(
            compiled.code.maker(Role::Update),
            Some(maker),
            "{options:?}"
        );
    }
}
