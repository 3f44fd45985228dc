//! Control flow, exhaustively: every nesting of conditions and loops to a depth, around every kind of assignment and exit.
//!
//! Conditions depend on the strand, on inputs, on globals or on a loop's variable, and have one arm or two; loops run a
//! fixed number of times, or as often as an input, a value of the strand or a sequence says. Several nests are put into one program.
//! Its expected results are computed by a separate evaluator, in exact numbers that every precision has, so that all machine code
//! and the interpreters are compared with it to the bit.

mod evaluate;
mod execute;
mod kinds;
mod number;
mod space;
mod tree;

pub use execute::Wrong;
pub use kinds::Kind;

use execute::{Way, all_ways, check, in_turn};
use kinds::{ASSIGNMENTS, EFFECTS, Piece, program};
use rayon::prelude::*;
use space::nests;

/// Which nests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every nest with one kind of assignment, another for the next nest; those of up to two levels with every kind. All code for
    /// vectors runs; portable code and an interpreter in one way, another one for the next program.
    InTurn,
    /// Every nest with every kind of assignment, and code of all sorts.
    All,
}

/// The levels to which exits and other effects are nested.
const EFFECT_DEPTH: usize = 2;

/// Nests in a program: few leave registers free, many do not.
const CROWDS: [usize; 3] = [3, 8, 20];

/// The result of [`control`].
#[derive(Clone, Debug, Default)]
pub struct ControlReport {
    /// How many nests.
    pub nests: usize,
    /// How many programs they were in.
    pub programs: usize,
    /// In how many ways each program was run.
    pub ways: usize,
    /// For every nest that is wrong, the smallest program that shows it, and how it is wrong.
    pub wrong: Vec<(String, String, Wrong)>,
}

/// Runs all nests of up to `depth` levels; calls `progress` after every program with its number of nests.
pub fn control(depth: usize, extent: Extent, progress: &(dyn Fn(usize) + Sync)) -> ControlReport {
    let programs = programs(depth, extent);
    let ways = |n: usize| match extent {
        Extent::InTurn => in_turn(n),
        Extent::All => all_ways(),
    };
    let wrong = programs.par_iter().enumerate().flat_map(|(n, pieces)| {
        let wrong = suspects(pieces, &ways(n));
        progress(pieces.len());
        wrong
    });
    ControlReport {
        wrong: wrong.collect(),
        nests: programs.iter().map(Vec::len).sum(),
        programs: programs.len(),
        // Each with all inputs.
        ways: ways(0).len() * evaluate::INPUTS.len(),
    }
}

/// Looks for a nest of up to two levels that is wrong in code for vectors, some programs at a time; gives the smallest of the first that
/// are, and how many nests were run.
#[cfg(feature = "mutants")]
pub(crate) fn first_wrong(at_a_time: usize) -> (Option<(String, Wrong)>, usize) {
    let ways = execute::for_vectors();
    let mut tried = 0;
    // Wrong lanes that reach the runtime with handles of sequences or strands would end this process.
    let is_safe = |piece: &Piece| {
        let handles = [Kind::List, Kind::New, Kind::Near, Kind::EachNear];
        !handles.contains(&piece.kind) && !piece.nest.contains(&space::ELEMENTS)
    };
    let mut programs = programs(EFFECT_DEPTH, Extent::All);
    programs
        .iter_mut()
        .for_each(|pieces| pieces.retain(is_safe));
    programs.retain(|pieces| !pieces.is_empty());
    for programs in programs.chunks(at_a_time) {
        tried += programs.iter().map(Vec::len).sum::<usize>();
        let wrong = programs
            .par_iter()
            .flat_map(|pieces| suspects(pieces, &ways));
        let wrong = wrong.map(|(label, _, wrong)| (label, wrong));
        if let Some(smallest) = wrong.min_by_key(|(label, _)| label.len()) {
            return (Some(smallest), tried);
        }
    }
    (None, tried)
}

/// How many nests [`control`] runs.
pub fn control_nests(depth: usize, extent: Extent) -> usize {
    programs(depth, extent).iter().map(Vec::len).sum()
}

/// The nests of every program.
fn programs(depth: usize, extent: Extent) -> Vec<Vec<Piece>> {
    let mut together = Vec::new();
    let mut alone = Vec::new();
    for levels in 1..=depth {
        for (n, nest) in nests(levels).into_iter().enumerate() {
            let kinds = match extent {
                Extent::InTurn if levels > EFFECT_DEPTH => {
                    &ASSIGNMENTS[n % ASSIGNMENTS.len()..][..1]
                }
                _ => &ASSIGNMENTS,
            };
            let effects = if levels <= EFFECT_DEPTH {
                &EFFECTS[..]
            } else {
                &[]
            };
            for &kind in kinds.iter().chain(effects) {
                let piece = Piece {
                    nest: nest.clone(),
                    kind,
                };
                if kind.stands_alone() {
                    alone.push(vec![piece])
                } else {
                    together.push(piece)
                }
            }
        }
    }
    // Kinds that make the others' programs special have their own.
    let sort = |piece: &Piece| {
        let effect = EFFECTS.contains(&piece.kind).then_some(piece.kind);
        (effect, piece.is_loud())
    };
    together.sort_by_key(sort);
    let mut programs = Vec::new();
    let mut rest = &together[..];
    for crowd in CROWDS.iter().cycle() {
        let Some(first) = rest.first().map(sort) else {
            break;
        };
        let alike = rest.iter().take_while(|piece| sort(piece) == first).count();
        let (these, others) = rest.split_at(alike.min(*crowd));
        programs.push(these.to_vec());
        rest = others;
    }
    programs.extend(alone);
    programs
}

/// The nests of a program that are wrong, each in the smallest program that shows it.
fn suspects(pieces: &[Piece], ways: &[Way]) -> Vec<(String, String, Wrong)> {
    let Err(wrong) = check(&program(pieces), ways) else {
        return Vec::new();
    };
    let single = pieces.iter().filter_map(|piece| {
        let single = program(std::slice::from_ref(piece));
        let wrong = check(&single, ways).err()?;
        Some((piece.label(), single.text(), wrong))
    });
    let mut all: Vec<_> = single.collect();
    if all.is_empty() {
        let labels: Vec<String> = pieces.iter().map(Piece::label).collect();
        all.push((labels.join(", "), program(pieces).text(), wrong));
    }
    all
}
