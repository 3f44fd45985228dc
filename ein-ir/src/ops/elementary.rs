//! Rows of elementary functions, made from their table: adding one there adds its row here.

use super::{Meaning, OpDef, Oracle, POINTWISE};
use crate::elementary::{ELEMENTARY, ElementaryDef};

pub(super) const ROWS: &[OpDef] = &{
    let mut rows = [POINTWISE; COUNT];
    let (mut filled, mut k) = (0, 0);
    while k < ELEMENTARY.len() {
        if !ELEMENTARY[k].syntax.is_empty() {
            rows[filled] = row(&ELEMENTARY[k]);
            filled += 1;
        }
        k += 1;
    }
    rows
};

const COUNT: usize = {
    let (mut count, mut k) = (0, 0);
    while k < ELEMENTARY.len() {
        if !ELEMENTARY[k].syntax.is_empty() {
            count += 1;
        }
        k += 1;
    }
    count
};

const fn row(def: &ElementaryDef) -> OpDef {
    OpDef {
        name: def.name,
        syntax: def.syntax,
        sig: if def.derivatives.len() == 1 {
            "[] -> []"
        } else {
            "[] [] -> []"
        },
        meaning: Meaning::Elementary(def.function),
        lift: def.lift,
        domain: def.domain,
        oracle: Oracle::Series(def.function),
        doc: def.doc,
        ..POINTWISE
    }
}
