//! The reference meaning of sequences of varying length and of other strands, in Low-IR.

use super::{
    exact_sum::exact_sum,
    low::{Datum, Machine},
};
use crate::{
    ir::Simple,
    low::{Dynamic, Element, StrandReduction, Ty},
    ssa::Interrupt,
};
use ein_ir::ops::Reduction;

/// What sequences and queries refer to. Nothing is ever freed.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    /// The elements of each buffer, as scalars one after the other. Buffer 0 is the empty sequence.
    pub buffers: Vec<Vec<Datum>>,
    /// What queries found.
    found: Vec<Vec<usize>>,
}

impl Heap {
    /// A new sequence of the elements in `scalars`: buffer and length.
    pub fn list(&mut self, scalars: Vec<Datum>, length: usize) -> Vec<Datum> {
        if self.buffers.is_empty() {
            self.buffers.push(Vec::new());
        }
        self.buffers.push(scalars);
        let buffer = self.buffers.len() as i64 - 1;
        vec![Datum::Int(buffer), Datum::Int(length as i64)]
    }

    /// The scalars of a sequence.
    pub fn scalars(&self, buffer: &Datum, length: &Datum, element: Element) -> &[Datum] {
        let count = length.int() as usize * element.scalars as usize;
        self.buffers
            .get(buffer.int() as usize)
            .map_or(&[], |scalars| &scalars[..count])
    }
}

impl Machine {
    pub(super) fn dynamic(
        &mut self,
        op: &Dynamic,
        args: &[&Datum],
    ) -> Result<Vec<Datum>, Interrupt> {
        let owned = |args: &[&Datum]| args.iter().map(|&a| a.clone()).collect::<Vec<_>>();
        Ok(match op {
            Dynamic::List(_, count) => self.heap.list(owned(args), *count as usize),
            Dynamic::Append(element) | Dynamic::Prepend(element) => {
                let old = self.heap.scalars(args[0], args[1], *element).to_vec();
                let one = owned(&args[2..]);
                let both = match op {
                    Dynamic::Append(_) => [old, one],
                    _ => [one, old],
                };
                self.heap.list(both.concat(), args[1].int() as usize + 1)
            }
            Dynamic::Concatenate(element) => {
                let [a, b] =
                    [0, 2].map(|n| self.heap.scalars(args[n], args[n + 1], *element).to_vec());
                let length = args[1].int() + args[3].int();
                self.heap.list([a, b].concat(), length as usize)
            }
            Dynamic::Item(element) => {
                let scalars = self.heap.scalars(args[0], args[1], *element);
                let item = usize::try_from(args[2].int())
                    .ok()
                    .and_then(|n| scalars.chunks(element.scalars as usize).nth(n));
                item.map_or_else(
                    || vec![element.ty.default_datum(); element.scalars as usize],
                    <[Datum]>::to_vec,
                )
            }
            Dynamic::Sphere { position, dim } => {
                let first = *position as usize;
                let at = |state: &[Datum]| -> Vec<f64> {
                    state[first..first + usize::from(*dim)]
                        .iter()
                        .map(Datum::real)
                        .collect()
                };
                let numbers: Vec<f64> = args.iter().map(|a| a.real()).collect();
                let (radius, centre) = numbers.split_last().expect("a sphere has a radius");
                let found = self.surroundings.near(at, centre, *radius);
                let length = found.len() as i64;
                self.heap.found.push(found);
                let query = self.heap.found.len() as i64 - 1;
                [query, 0, length].map(Datum::Int).to_vec()
            }
            Dynamic::StrandAt => {
                let found = self.heap.found.get(args[0].int() as usize);
                let strand = found.and_then(|f| f.get(args[3].int() as usize)).copied();
                vec![Datum::Int(strand.unwrap_or(0) as i64)]
            }
            Dynamic::Other(slot, _) => {
                let strand = &self.surroundings.strands[args[0].int() as usize];
                vec![strand.state[*slot as usize].clone()]
            }
            Dynamic::New(_) => {
                self.surroundings.born.push(owned(args));
                vec![]
            }
            Dynamic::Count(set) => vec![Datum::Int(self.surroundings.members(*set).count() as i64)],
            Dynamic::Reduce(reduction) => self.reduce_strands(reduction, args)?,
        })
    }

    fn reduce_strands(
        &mut self,
        reduction: &StrandReduction,
        args: &[&Datum],
    ) -> Result<Vec<Datum>, Interrupt> {
        let body = self.surroundings.bodies[reduction.body as usize].clone();
        let members: Vec<Vec<Datum>> = self
            .surroundings
            .members(reduction.set)
            .map(|strand| strand.state.clone())
            .collect();
        self.args = args.iter().map(|&a| a.clone()).collect();
        let mut rows = Vec::new();
        for state in members {
            self.state = state;
            rows.push(body(self)?);
        }
        Ok(self.reduce(reduction.reduction, &rows, reduction.element))
    }

    /// The value of a reduction over rows of scalars, from the first to the last.
    pub(crate) fn reduce(
        &self,
        reduction: Reduction,
        rows: &[Vec<Datum>],
        element: Element,
    ) -> Vec<Datum> {
        if let Some(extreme) = reduction.extreme() {
            return winner(extreme, rows, element);
        }
        let count = Datum::Real(rows.len() as f64);
        let is_int = element.ty == Ty::Int;
        let apply = |op: Simple, a: &Datum, b: &Datum| self.simple(op, &[a, b]);
        let fold = |start: Datum, column: &[Datum], f: &dyn Fn(&Datum, &Datum) -> Datum| {
            column.iter().fold(start, |total, value| f(&total, value))
        };
        let sum =
            |column: &[Datum]| Datum::Real(exact_sum(column.iter().map(Datum::real), self.double));
        let mean = |column: &[Datum]| apply(Simple::Div, &sum(column), &count);
        let number = |int: i64, real: f64| {
            if is_int {
                Datum::Int(int)
            } else {
                Datum::Real(real)
            }
        };
        let (least, greatest) = if self.long_int {
            (i64::MIN, i64::MAX)
        } else {
            (i32::MIN.into(), i32::MAX.into())
        };
        let less = if is_int {
            Simple::IntLess
        } else {
            Simple::Less
        };
        let better = |a: &Datum, b: &Datum| apply(less, a, b) == Datum::Bool(true);
        (0..element.scalars as usize)
            .map(|n| {
                let column: Vec<Datum> = rows.iter().map(|row| row[n].clone()).collect();
                match reduction {
                    Reduction::All => Datum::Bool(column.iter().all(Datum::bool)),
                    Reduction::Exists => Datum::Bool(column.iter().any(Datum::bool)),
                    Reduction::Sum if is_int => {
                        fold(Datum::Int(0), &column, &|a, b| apply(Simple::IntAdd, a, b))
                    }
                    Reduction::Sum => sum(&column),
                    Reduction::Product => {
                        let times = if is_int { Simple::IntMul } else { Simple::Mul };
                        fold(number(1, 1.0), &column, &|a, b| apply(times, a, b))
                    }
                    Reduction::Min => fold(number(greatest, f64::INFINITY), &column, &|a, b| {
                        if better(b, a) { b.clone() } else { a.clone() }
                    }),
                    Reduction::Max => fold(number(least, f64::NEG_INFINITY), &column, &|a, b| {
                        if better(a, b) { b.clone() } else { a.clone() }
                    }),
                    Reduction::Mean => mean(&column),
                    Reduction::Variance => {
                        let middle = mean(&column);
                        let squares: Vec<Datum> = column
                            .iter()
                            .map(|value| {
                                let distance = apply(Simple::Sub, value, &middle);
                                apply(Simple::Mul, &distance, &distance)
                            })
                            .collect();
                        mean(&squares)
                    }
                    Reduction::ArgMin | Reduction::ArgMax => unreachable!("whole rows win"),
                }
            })
            .collect()
    }
}

/// The row whose first scalar is least or greatest, the first of equals; NaN if no first scalar is a number.
fn winner(extreme: Reduction, rows: &[Vec<Datum>], element: Element) -> Vec<Datum> {
    let mut best: Option<&Vec<Datum>> = None;
    for row in rows.iter().filter(|row| !row[0].real().is_nan()) {
        let wins = best.is_none_or(|best| match extreme {
            Reduction::Min => row[0].real() < best[0].real(),
            _ => row[0].real() > best[0].real(),
        });
        if wins {
            best = Some(row);
        }
    }
    match best {
        Some(best) => best.clone(),
        None => vec![Datum::Real(f64::NAN); element.scalars as usize],
    }
}
