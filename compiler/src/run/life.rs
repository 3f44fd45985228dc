//! Strands as long as they are kept, and what remains of them afterwards.

use super::{places::position_variable, strands::Strands};
use crate::codegen::Compiled;
use runtime::{
    reduce::Values,
    strands::{Counts, StrandSet},
    world::{Completed, Gathered, World},
};
use std::sync::Arc;

/// Where the strands of a run are.
pub(super) enum Life {
    World(Box<World<Strands>>),
    Completed(Box<Remains>),
}

/// The results of strands that were not kept.
pub(super) struct Remains {
    strands: Strands,
    kept: Kept,
    initial: Vec<Arc<Values>>,
    /// None if they were only streamed.
    outputs: Vec<Option<Arc<Values>>>,
    completed: Completed,
}

/// Variables of the state that are kept, by their numbers in its layout.
pub(super) struct Kept {
    pub(super) initial: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

impl Kept {
    /// The outputs, and where strands are in the beginning.
    pub(super) fn of(program: &Compiled) -> Kept {
        let in_layout = |n: usize| program.state.variables[n];
        let state = program.interface.state.iter().enumerate();
        let outputs = state.filter(|(_, state)| state.output);
        let position = position_variable(&program.interface).into_iter();
        Kept {
            initial: position.map(in_layout).collect(),
            outputs: outputs.map(|(n, _)| in_layout(n)).collect(),
        }
    }
}

impl Life {
    pub(super) fn completed(strands: Strands, kept: Kept, mut completed: Completed) -> Life {
        let outputs = std::mem::take(&mut completed.outputs).into_iter();
        let initial = std::mem::take(&mut completed.initial).into_iter();
        Life::Completed(Box::new(Remains {
            strands,
            kept,
            initial: initial.map(Arc::new).collect(),
            outputs: outputs.map(|values| values.map(Arc::new)).collect(),
            completed,
        }))
    }

    pub(super) fn strands(&self) -> &Strands {
        match self {
            Life::World(world) => world.program(),
            Life::Completed(remains) => &remains.strands,
        }
    }

    /// The values of a variable of the layout: one of each strand, or the lengths of sequences and their elements. Of strands
    /// that are not kept, those of outputs.
    pub(super) fn gather(
        &self,
        variable: usize,
        set: StrandSet,
    ) -> (Arc<Values>, Option<Vec<usize>>) {
        match self {
            Life::World(world) => gathered(world.gather(variable, set)),
            Life::Completed(remains) => {
                let outputs = remains.kept.outputs.iter();
                let found = outputs.zip(&remains.outputs).find(|(n, _)| **n == variable);
                let values = found.and_then(|(_, values)| values.as_ref());
                (Arc::clone(values.expect("values that are kept")), None)
            }
        }
    }

    /// The values of the variable that has positions, before the first super-step.
    pub(super) fn initial(&self, variable: usize) -> Arc<Values> {
        match self {
            Life::World(world) => gathered(world.gather(variable, StrandSet::All)).0,
            Life::Completed(remains) => {
                let initial = remains.kept.initial.iter();
                let found = initial.zip(&remains.initial).find(|(n, _)| **n == variable);
                Arc::clone(found.expect("a variable that is kept").1)
            }
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

impl Remains {
    pub(super) fn steps(&self) -> u64 {
        self.completed.steps
    }

    pub(super) fn handed_on(&self) -> bool {
        self.completed.handed_on
    }

    pub(super) fn counts(&self) -> Counts {
        self.completed.counts
    }

    pub(super) fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.completed.on_workers(work)
    }
}
