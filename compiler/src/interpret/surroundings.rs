//! A strand's view of the other strands, in the reference evaluators.

use crate::ssa::Interrupt;
use ein_ir::ops::StrandSet;
use std::{fmt, sync::Arc};

/// A living strand as others see it.
#[derive(Clone, Debug)]
pub struct Seen<D> {
    /// Its state.
    pub state: Vec<D>,
    /// Whether it is stable rather than active.
    pub stable: bool,
}

/// The function that gives a strand's value in a reduction: reads state and arguments of the world it runs in.
pub type Body<W, D> = Arc<dyn Fn(&mut W) -> Result<Vec<D>, Interrupt>>;

/// The other strands, for code that runs in a world `W` on values `D`.
pub struct Surroundings<W, D> {
    /// The living strands in their order: in a method as of the start of the super-step.
    pub strands: Arc<Vec<Seen<D>>>,
    /// The place of the running strand among them.
    pub own: Option<usize>,
    /// The initial states of the strands that were made.
    pub born: Vec<Vec<D>>,
    /// The bodies of the program's reductions over strands.
    pub bodies: Vec<Body<W, D>>,
}

impl<W, D> Default for Surroundings<W, D> {
    fn default() -> Self {
        Surroundings {
            strands: Arc::default(),
            own: None,
            born: Vec::new(),
            bodies: Vec::new(),
        }
    }
}

impl<W, D: Clone> Clone for Surroundings<W, D> {
    fn clone(&self) -> Self {
        Surroundings {
            strands: self.strands.clone(),
            own: self.own,
            born: self.born.clone(),
            bodies: self.bodies.clone(),
        }
    }
}

impl<W, D: fmt::Debug> fmt::Debug for Surroundings<W, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("strands", &self.strands)
            .field("own", &self.own)
            .field("born", &self.born)
            .finish_non_exhaustive()
    }
}

impl<W, D> Surroundings<W, D> {
    /// The strands of a set, in order.
    pub fn members(&self, set: StrandSet) -> impl Iterator<Item = &Seen<D>> {
        self.strands.iter().filter(move |strand| match set {
            StrandSet::All => true,
            StrandSet::Active => !strand.stable,
            StrandSet::Stable => strand.stable,
        })
    }

    /// The places of the other strands closer to a centre than a radius.
    pub fn near(
        &self,
        position: impl Fn(&[D]) -> Vec<f64>,
        centre: &[f64],
        radius: f64,
    ) -> Vec<usize> {
        let is_near = |n: &usize| {
            let there = position(&self.strands[*n].state);
            let squares = there.iter().zip(centre).map(|(a, b)| (a - b) * (a - b));
            radius > 0.0 && squares.sum::<f64>() < radius * radius
        };
        (0..self.strands.len())
            .filter(|n| Some(*n) != self.own)
            .filter(is_near)
            .collect()
    }
}
