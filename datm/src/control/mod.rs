//! Control flow, exhaustively: every nesting of conditions and loops to a depth, around every kind of assignment and exit.
//!
//! Conditions depend on the strand, on inputs, on globals or on a loop's variable, and have one arm or two; loops run a
//! fixed number of times, or as often as an input, a value of the strand or a sequence says. Several nests are put into one program.
//! What it must give is computed by an evaluator of its own, in exact numbers that every precision has, so that all machine code and the
//! interpreters are compared with it to the bit.

mod evaluate;
mod execute;
mod kinds;
mod number;
mod space;
mod tree;

pub use execute::Wrong;
pub use kinds::Kind;

use execute::{Variant, check, in_turn, variants};
use kinds::{ASSIGNMENTS, EFFECTS, Piece, program};
use rayon::prelude::*;
use space::nests;

/// Which nests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every nest with one kind of assignment, another for the next nest; those of up to two levels with every kind. Portable code
    /// is made for one width in each precision, others for the next program.
    InTurn,
    /// Every nest with every kind of assignment, and code of all sorts.
    All,
}

/// The levels to which exits and other effects are nested.
const EFFECT_DEPTH: usize = 2;

/// Nests in a program: few leave registers free, many do not.
const CROWDS: [usize; 3] = [3, 8, 20];

/// What was run.
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
    let variants = variants();
    let programs = programs(depth, extent);
    let sorts = |n: usize| match extent {
        Extent::InTurn => in_turn(n, &variants),
        Extent::All => variants.clone(),
    };
    let wrong = programs.par_iter().enumerate().flat_map(|(n, pieces)| {
        let wrong = suspects(pieces, &sorts(n));
        progress(pieces.len());
        wrong
    });
    ControlReport {
        wrong: wrong.collect(),
        nests: programs.iter().map(Vec::len).sum(),
        programs: programs.len(),
        // Every program also runs in two interpreters in two precisions, each with all inputs.
        ways: (sorts(0).len() + 4) * evaluate::INPUTS.len(),
    }
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
    together.sort_by_key(|piece| EFFECTS.contains(&piece.kind).then_some(piece.kind));
    let mut programs = Vec::new();
    let mut rest = &together[..];
    for crowd in CROWDS.iter().cycle() {
        let kind = |piece: &Piece| EFFECTS.contains(&piece.kind).then_some(piece.kind);
        let Some(first) = rest.first().map(kind) else {
            break;
        };
        let alike = rest.iter().take_while(|piece| kind(piece) == first).count();
        let (these, others) = rest.split_at(alike.min(*crowd));
        programs.push(these.to_vec());
        rest = others;
    }
    programs.extend(alone);
    programs
}

/// The nests of a program that are wrong, each in the smallest program that shows it.
fn suspects(pieces: &[Piece], variants: &[Variant]) -> Vec<(String, String, Wrong)> {
    let Err(wrong) = check(&program(pieces), variants) else {
        return Vec::new();
    };
    let single = pieces.iter().filter_map(|piece| {
        let single = program(std::slice::from_ref(piece));
        let wrong = check(&single, variants).err()?;
        Some((piece.label(), single.text(), wrong))
    });
    let mut all: Vec<_> = single.collect();
    if all.is_empty() {
        let labels: Vec<String> = pieces.iter().map(Piece::label).collect();
        all.push((labels.join(", "), program(pieces).text(), wrong));
    }
    all
}
