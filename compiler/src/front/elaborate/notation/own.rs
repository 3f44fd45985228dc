//! The sequence that is being defined by clauses, while its elements are computed.

use crate::front::{
    source::Span,
    tree::{
        Past, VarId,
        notation::{Point, Range},
    },
};
use std::collections::BTreeMap;

/// The sequence that is being defined by clauses.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) var: VarId,
    pub(super) lengths: Vec<usize>,
    /// The elements that are computed, each a variable; in steps, those of this step.
    pub(super) computed: BTreeMap<Point, VarId>,
    /// The place that is being computed.
    pub(super) here: Point,
    /// An element that was read too early, and the place of the read in the source.
    pub(super) early: Option<(Point, Span)>,
    pub(super) steps: Option<Steps>,
}

/// The steps that are being computed alike.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// The axis along which steps are taken.
    pub(super) axis: usize,
    /// The places of the steps along it.
    pub(super) now: Range,
    /// 1 if steps go to greater places, -1 if they go to smaller ones.
    pub(super) direction: i64,
    /// The number of the element at each place; the place along the axis of the steps does not count.
    pub(super) numbers: BTreeMap<Point, usize>,
    /// The elements of earlier steps that are read.
    pub(super) past: Vec<Past>,
    /// How far back indices are that depend on the step alone, by where they are written.
    pub(super) distances: Vec<(Span, i64)>,
}

/// Where an element of the sequence is read.
pub(super) struct Read {
    /// Its place; in steps, for the first of them.
    pub(super) point: Point,
    /// In steps, how far back it is.
    pub(super) back: i64,
}

impl Own {
    pub(super) fn new(var: VarId, lengths: Vec<usize>) -> Own {
        Own {
            var,
            lengths,
            computed: BTreeMap::new(),
            here: Vec::new(),
            early: None,
            steps: None,
        }
    }

    pub(super) fn begin(&mut self, steps: Option<Steps>) {
        self.computed.clear();
        self.early = None;
        self.steps = steps;
    }

    /// How many elements it has.
    pub(super) fn size(&self) -> usize {
        let lengths = self.lengths.iter();
        lengths.fold(1, |all, &n| all.saturating_mul(n))
    }

    /// How many axes it has.
    pub(super) fn order(&self) -> usize {
        self.lengths.len()
    }

    /// Whether all steps that are computed alike find an element where they read.
    pub(super) fn is_inside(&self, read: &Read) -> bool {
        let last = self
            .steps
            .as_ref()
            .map(|s| (s.axis, s.now.count as i64 - 1));
        let along = read.point.iter().zip(&self.lengths).enumerate();
        along.into_iter().all(|(axis, (&place, &length))| {
            let further = match last {
                Some((of_steps, more)) if of_steps == axis => more,
                _ => 0,
            };
            place >= 0 && place + further < length as i64
        })
    }
}
