//! The turns of loops over ranges that are known.

use crate::front::tree::{Constant, Expr, VarId, value};

/// How many copies of its body a loop may become.
const MOST_COPIES: usize = 4096;

/// Values of variables of loops.
pub(crate) type Given = Vec<(VarId, Constant)>;

/// A loop over a range that is known where the variables of the loops around it are.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// The variable.
    pub(crate) var: VarId,
    /// The range.
    pub(crate) source: Expr,
    /// Whether the first turn is the last, because its body always exits.
    pub(crate) is_once: bool,
}

impl Turns {
    /// The values of the variable, in order.
    fn values(&self, given: &Given, long_int: bool) -> Option<Vec<i64>> {
        let mut values = values(&self.source, given, long_int)?;
        if self.is_once {
            values.truncate(1);
        }
        Some(values)
    }
}

/// The values of a range, if it is known where some variables are, and short enough.
pub(crate) fn values(source: &Expr, given: &Given, long_int: bool) -> Option<Vec<i64>> {
    ints(value::evaluate(source, given.clone(), long_int).ok()?)
}

/// The ints of a sequence, if there are few enough.
pub(crate) fn ints(sequence: Constant) -> Option<Vec<i64>> {
    let Constant::Seq(elements) = sequence else {
        return None;
    };
    if elements.len() > MOST_COPIES {
        return None;
    }
    let int = |element: Constant| match element {
        Constant::Int(n) => Some(n),
        _ => None,
    };
    elements.into_iter().map(int).collect()
}

/// Does something in each turn of nested loops, the innermost first, until that gives false. The variable of a loop has no value where its
/// range is not known. Gives whether all turns were made.
pub(crate) fn each_turn(
    loops: &[Turns],
    given: &mut Given,
    long_int: bool,
    visit: &mut dyn FnMut(&Given) -> bool,
) -> bool {
    let Some((outer, inner)) = loops.split_last() else {
        return visit(given);
    };
    let Some(values) = outer.values(given, long_int) else {
        return visit(given);
    };
    values.into_iter().all(|value| {
        given.push((outer.var, Constant::Int(value)));
        let goes_on = each_turn(inner, given, long_int, visit);
        given.pop();
        goes_on
    })
}
