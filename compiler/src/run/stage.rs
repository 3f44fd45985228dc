//! The stages of a run: before its strands, with its strands, and with their results.

use super::{places::position_variable, strands::Strands};
use crate::codegen::Compiled;
use runtime::{
    reduce::Values,
    strands::StrandSet,
    world::{Completed, Gathered, GlobalSequences, World},
};
use std::sync::Arc;

/// The progress of a run.
pub(super) enum Stage {
    /// Globals have their values; strands do not exist yet.
    Prepared(Box<(Strands, GlobalSequences)>),
    /// Strands are kept.
    Kept(Box<World<Strands>>),
    /// Strands were forgotten as they ended.
    Completed(Box<Remains>),
    /// It was cancelled or has failed, and nothing can be read.
    Over,
}

/// The results of strands that were not kept.
pub(super) struct Remains {
    strands: Strands,
    wanted: WantedVariables,
    initial: Vec<Arc<Values>>,
    /// None if they were only streamed.
    outputs: Vec<Option<Arc<Values>>>,
    pub(super) completed: Completed,
}

/// The variables that are needed of strands that are not kept, by their numbers in the layout.
pub(super) struct WantedVariables {
    pub(super) initial: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

impl WantedVariables {
    /// The outputs, and the positions at the creation.
    pub(super) fn of(program: &Compiled) -> WantedVariables {
        let in_layout = |n: usize| program.state.variables[n];
        let state = program.interface.state.iter().enumerate();
        let outputs = state.filter(|(_, state)| state.output);
        let position = position_variable(&program.interface).into_iter();
        WantedVariables {
            initial: position.map(in_layout).collect(),
            outputs: outputs.map(|(n, _)| in_layout(n)).collect(),
        }
    }
}

impl Stage {
    pub(super) fn completed(
        strands: Strands,
        wanted: WantedVariables,
        mut completed: Completed,
    ) -> Stage {
        let outputs = std::mem::take(&mut completed.outputs).into_iter();
        let initial = std::mem::take(&mut completed.initial).into_iter();
        Stage::Completed(Box::new(Remains {
            strands,
            wanted,
            initial: initial.map(Arc::new).collect(),
            outputs: outputs.map(|values| values.map(Arc::new)).collect(),
            completed,
        }))
    }

    /// The program with its globals, unless the run is over.
    pub(super) fn strands(&self) -> Option<&Strands> {
        match self {
            Stage::Prepared(prepared) => Some(&prepared.0),
            Stage::Kept(world) => Some(world.program()),
            Stage::Completed(remains) => Some(&remains.strands),
            Stage::Over => None,
        }
    }

    /// The values of a variable of the layout: one of each strand, or the lengths of sequences and their elements. Of strands
    /// that are not kept, those of outputs. Nothing without strands.
    pub(super) fn gather(
        &self,
        variable: usize,
        set: StrandSet,
    ) -> Option<(Arc<Values>, Option<Vec<usize>>)> {
        match self {
            Stage::Kept(world) => Some(gathered(world.gather(variable, set))),
            Stage::Completed(remains) => {
                let outputs = remains.wanted.outputs.iter();
                let found = outputs.zip(&remains.outputs).find(|(n, _)| **n == variable);
                found.and_then(|(_, values)| Some((Arc::clone(values.as_ref()?), None)))
            }
            Stage::Prepared(_) | Stage::Over => None,
        }
    }

    /// The values of the variable that has positions, before the first super-step.
    pub(super) fn initial(&self, variable: usize) -> Option<Arc<Values>> {
        match self {
            Stage::Kept(world) => Some(gathered(world.gather(variable, StrandSet::All)).0),
            Stage::Completed(remains) => {
                let initial = remains.wanted.initial.iter();
                let found = initial.zip(&remains.initial).find(|(n, _)| **n == variable);
                found.map(|(_, values)| Arc::clone(values))
            }
            Stage::Prepared(_) | Stage::Over => None,
        }
    }
}

fn gathered(gathered: Gathered) -> (Arc<Values>, Option<Vec<usize>>) {
    match gathered {
        Gathered::Tensors { values, .. } => (Arc::new(values), None),
        Gathered::Sequences {
            lengths, values, ..
        } => (Arc::new(values), Some(lengths)),
    }
}
