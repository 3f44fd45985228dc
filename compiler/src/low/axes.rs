//! Removes products that the axes of images make zero.
//!
//! Positions go to an image, and derivatives come from it, through its matrix. Most images are aligned with the axes of the world, and
//! then most entries of that matrix are zero. A product with such an entry is removed, whatever the other factor is, so
//! that an infinite coordinate does not affect the others.

use super::{Low, Op, Slots, fold::fold};
use crate::{
    ir::{interface::Interface, leaf::ImageInfo},
    ssa::{Program, Role, number_values, remove_dead},
};
use std::collections::HashSet;

/// The entries that are zero in the matrices from world to index coordinates, as image, row and column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zeros(HashSet<(u32, u8, u8)>);

impl Zeros {
    /// Of images that are aligned with the axes of the world.
    pub fn aligned(interface: &Interface) -> Zeros {
        Zeros::of(
            interface.images.iter().map(|image| image.dim),
            |_, row, column| row != column,
        )
    }

    /// Of images of these dimensions, by image, row and column.
    pub fn of(
        dims: impl Iterator<Item = usize>,
        is_zero: impl Fn(usize, usize, usize) -> bool,
    ) -> Zeros {
        let mut zeros = HashSet::new();
        for (image, dim) in dims.enumerate() {
            let entries = (0..dim * dim).map(|n| (n / dim, n % dim));
            let found = entries.filter(|&(row, column)| is_zero(image, row, column));
            zeros.extend(found.map(|(row, column)| (image as u32, row as u8, column as u8)));
        }
        Zeros(zeros)
    }

    /// Whether the other images have all of these zeros too.
    pub fn are_among(&self, other: &Zeros) -> bool {
        self.0.is_subset(&other.0)
    }

    fn has(&self, op: &Op) -> bool {
        match op {
            Op::Image(image, ImageInfo::ToIndex(row, column)) => {
                self.0.contains(&(*image, *row, *column))
            }
            _ => false,
        }
    }
}

/// A program for images whose matrices have some zeros.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The zeros.
    pub zeros: Zeros,
    /// The program that needs them.
    pub program: Program<Low>,
}

/// The program for images whose matrices have these zeros.
pub fn fit(program: &Program<Low>, zeros: Zeros) -> Fitted {
    let program = fitted(program, &zeros);
    Fitted { zeros, program }
}

fn fitted(program: &Program<Low>, zeros: &Zeros) -> Program<Low> {
    if zeros.0.is_empty() {
        return program.clone();
    }
    // Values that are computed once are read as globals afterwards.
    let first = Slots::of(&program.interface).global_count();
    let invariants = program.function(Role::Invariants);
    let empty: HashSet<u32> = invariants.map_or_else(HashSet::new, |function| {
        let (_, empty) = fold(function.clone(), &|op| zeros.has(op));
        let slots = (first..).zip(empty);
        slots.filter_map(|(slot, is)| is.then_some(slot)).collect()
    });
    program.clone().map(|_, function| {
        let is_nothing = |op: &Op| match op {
            Op::Global(slot, _) => empty.contains(slot),
            _ => zeros.has(op),
        };
        remove_dead(number_values(fold(function, &is_nothing).0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::{Function, parse_function};

    fn fitted(text: &str, zeros: &Zeros) -> String {
        let function: Function<Low> = parse_function(text).unwrap();
        let (function, _) = fold(function, &|op| zeros.has(op));
        remove_dead(function).to_string()
    }

    const POSITION: &str = "function f {\n  v0: real = state 0 real()\n  v1: real = state 1 real()\n  \
        v2: real = image 0 to-index 0 0()\n  v3: real = image 0 to-index 0 1()\n  v4: real = mul(v2, v0)\n  \
        v5: real = mul(v3, v1)\n  v6: real = add(v4, v5)\n  v7: real = image 0 offset 0()\n  \
        v8: real = add(v6, v7)\n  yield v8\n}\n";

    #[test]
    fn a_coordinate_along_an_axis_depends_on_nothing_else() {
        let zeros = Zeros::of([2].into_iter(), |_, row, column| row != column);
        assert_eq!(
            fitted(POSITION, &zeros),
            "function f {\n  v0: real = state 0 real()\n  v2: real = image 0 to-index 0 0()\n  \
             v4: real = mul(v2, v0)\n  v7: real = image 0 offset 0()\n  v8: real = add(v4, v7)\n  yield v8\n}\n"
        );
    }

    #[test]
    fn other_images_are_left_alone() {
        let zeros = Zeros::of([0, 2].into_iter(), |_, row, column| row != column);
        assert_eq!(fitted(POSITION, &zeros), POSITION);
    }
}
