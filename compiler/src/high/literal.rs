//! Numbers of a program as operators: the constants that the laws of algebra know.

use crate::ir::tensor::Base;
use ein_ir::{Ein, Rational, ops::special, rational};

/// The operator without parameters that gives a constant tensor; none if a component is not a rational number.
pub(super) fn literal(base: &Base) -> Option<Ein> {
    let Base::Tensor(shape, components) = base else {
        return None;
    };
    let components: Option<Vec<Rational>> = components
        .iter()
        .map(|bits| rational::from_f64(bits.get()))
        .collect();
    Some(special::literal(shape, &components?))
}
