//! Enumeration of a row's instances: the loop that tests run over.

use super::signature::{Pattern, Slot};
use super::{Instance, Lift, OpDef};
use crate::{Continuity, Shape, Type};

/// What the names in a signature may stand for.
#[derive(Clone, Debug)]
pub struct Variety {
    /// Dimensions of fields.
    pub dims: Vec<usize>,
    /// Extents that are not the dimension of a domain.
    pub extents: Vec<usize>,
    /// Sequences of axes.
    pub shapes: Vec<Shape>,
    /// Numbers of repeated arguments.
    pub counts: Vec<usize>,
    /// The continuity of argument fields.
    pub continuity: Continuity,
}

/// A choice for every name of a signature.
#[derive(Clone, Default)]
struct Choice {
    extents: Vec<(char, usize)>,
    shapes: Vec<(char, Shape)>,
}

impl OpDef {
    /// Every instance of this row whose names stand for members of the variety and whose arguments are tensors, fields
    /// and integers, in every mix of tensors and fields that the row is lifted to. Empty for rows with other arguments.
    pub fn instances(&'static self, variety: &Variety) -> Vec<Instance> {
        let signature = self.signature();
        let mut found: Vec<Instance> = Vec::new();
        let counts = if signature.repeat.is_some() {
            &variety.counts[..]
        } else {
            &[1]
        };
        for count in counts {
            let Some(patterns) = signature.patterns(signature.args.len() + count - 1) else {
                continue;
            };
            for choice in choices(self, &patterns, variety) {
                for args in mixes(self, &patterns, &choice, variety) {
                    let known = |i: &Instance| i.args == args;
                    if let Ok(instance) = self.accept(&args, false)
                        && !found.iter().any(known)
                    {
                        found.push(instance);
                    }
                }
            }
        }
        found
    }
}

/// All choices for the names in these patterns.
fn choices(row: &OpDef, patterns: &[&Pattern], variety: &Variety) -> Vec<Choice> {
    let (mut dims, mut slots) = (Vec::new(), Vec::new());
    for pattern in patterns {
        match pattern {
            Pattern::Tensor(shape) => slots.extend(shape),
            Pattern::Field { dim, shape, .. } => {
                dims.push(*dim);
                slots.extend(shape);
            }
            Pattern::Bool | Pattern::Int | Pattern::String | Pattern::Kernel => {}
            Pattern::Strand | Pattern::Variable(_) => {}
            Pattern::Image { .. } | Pattern::Fem { .. } | Pattern::Mesh(_) | Pattern::Seq(..) => {}
        }
    }
    if row.lift == Lift::Derivative {
        dims.push(Slot::Extent('d'));
    }
    let mut all = vec![Choice::default()];
    for (slot, extents) in dims
        .iter()
        .map(|slot| (slot, &variety.dims))
        .chain(slots.iter().map(|slot| (slot, &variety.extents)))
    {
        all = all
            .into_iter()
            .flat_map(|choice| extend(choice, *slot, extents, &variety.shapes))
            .collect();
    }
    all
}

fn extend(choice: Choice, slot: Slot, extents: &[usize], shapes: &[Shape]) -> Vec<Choice> {
    match slot {
        Slot::Extent(name) if choice.extent(name).is_none() => extents
            .iter()
            .map(|&n| {
                let mut next = choice.clone();
                next.extents.push((name, n));
                next
            })
            .collect(),
        Slot::Shape(name) if choice.shape(name).is_none() => shapes
            .iter()
            .map(|shape| {
                let mut next = choice.clone();
                next.shapes.push((name, shape.clone()));
                next
            })
            .collect(),
        Slot::Fixed(_) | Slot::Extent(_) | Slot::Shape(_) => vec![choice],
    }
}

impl Choice {
    fn extent(&self, name: char) -> Option<usize> {
        self.extents
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, n)| *n)
    }

    fn shape(&self, name: char) -> Option<&Shape> {
        self.shapes
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, shape)| shape)
    }

    fn shape_of(&self, slots: &[Slot]) -> Option<Shape> {
        let mut dims = Vec::new();
        for slot in slots {
            match slot {
                Slot::Fixed(n) => dims.push(*n),
                Slot::Extent(name) => dims.push(self.extent(*name)?),
                Slot::Shape(name) => dims.extend(self.shape(*name)?.dims()),
            }
        }
        Some(Shape::new(dims))
    }
}

/// The argument types for one choice: for a lifted row, every argument as a tensor and as a field of every dimension.
fn mixes(row: &OpDef, patterns: &[&Pattern], choice: &Choice, variety: &Variety) -> Vec<Vec<Type>> {
    let continuity = variety.continuity;
    let mut all = Vec::new();
    let lifted: Vec<Option<usize>> = match row.lift {
        Lift::None => vec![None],
        Lift::Derivative => vec![choice.extent('d')],
        Lift::Pointwise => std::iter::once(None)
            .chain(variety.dims.iter().copied().map(Some))
            .collect(),
    };
    for dim in lifted {
        let mut mixes: Vec<Vec<Type>> = vec![Vec::new()];
        for pattern in patterns {
            let types: Option<Vec<Type>> = match pattern {
                Pattern::Int => Some(vec![Type::Int]),
                Pattern::Tensor(slots) => choice.shape_of(slots).map(|shape| {
                    let tensor = Type::Tensor(shape.clone());
                    match dim {
                        None => vec![tensor],
                        Some(dim) => vec![
                            tensor,
                            Type::Field {
                                continuity,
                                dim,
                                time: None,
                                shape,
                            },
                        ],
                    }
                }),
                Pattern::Field { dim, shape, .. } => {
                    let dim = match dim {
                        Slot::Fixed(n) => Some(*n),
                        Slot::Extent(name) => choice.extent(*name),
                        Slot::Shape(_) => None,
                    };
                    dim.zip(choice.shape_of(shape)).map(|(dim, shape)| {
                        vec![Type::Field {
                            continuity,
                            dim,
                            time: None,
                            shape,
                        }]
                    })
                }
                Pattern::Bool | Pattern::String | Pattern::Kernel | Pattern::Strand => None,
                Pattern::Variable(_) | Pattern::Image { .. } | Pattern::Seq(..) => None,
                Pattern::Fem { .. } | Pattern::Mesh(_) => None,
            };
            let Some(types) = types else {
                return Vec::new();
            };
            let extended = mixes.iter().flat_map(|args| {
                types
                    .iter()
                    .map(move |ty| args.iter().cloned().chain([ty.clone()]).collect())
            });
            mixes = extended.collect();
        }
        all.extend(mixes);
    }
    all
}
