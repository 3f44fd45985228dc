//! Straight-line regions: operator applications in dependency order.
//!
//! This is what normalization takes and gives: all operators of a region with all the values that are needed from it.

use crate::{Ein, Param};

/// A value of a region: the inputs come first, then the definitions in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub usize);

/// One operator applied to values defined before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Def {
    /// The operator.
    pub op: Ein,
    /// One value per parameter.
    pub args: Vec<ValueId>,
}

/// A sequence of definitions over inputs. Inputs of field kind are *leaf fields* (convolutions): opaque and smooth as
/// far as their continuity goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    /// The inputs of the region.
    pub inputs: Vec<Param>,
    /// Its definitions, in order.
    pub defs: Vec<Def>,
    /// The values that are wanted from it.
    pub roots: Vec<ValueId>,
}

impl Region {
    /// What every value is: the inputs, then what each definition gives.
    pub fn kinds(&self) -> Vec<Param> {
        self.inputs
            .iter()
            .cloned()
            .chain(self.defs.iter().map(|def| def.op.result()))
            .collect()
    }
}
