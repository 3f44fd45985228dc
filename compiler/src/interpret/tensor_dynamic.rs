//! The reference meaning of sequences of varying length and of other strands, in High-IR and Mid-IR.

use super::{
    low,
    tensor::{Datum, Store},
};
use crate::{
    ir::tensor::{Dynamic, StrandReduction, Ty},
    low::Element,
    ssa::Interrupt,
};
use ein_ir::Tensor;

impl Datum {
    /// A value of a type from its scalars, as many as it takes.
    pub fn from_scalars(ty: &Ty, scalars: &mut impl Iterator<Item = low::Datum>) -> Datum {
        if let Ty::Seq(element, n) = ty {
            let elements = (0..*n).map(|_| Datum::from_scalars(element, scalars));
            return Datum::Seq(elements.collect());
        }
        let mut next = || scalars.next().expect("a scalar for every component");
        match ty {
            Ty::Bool => Datum::Bool(next().bool()),
            Ty::Int => Datum::Int(next().int()),
            Ty::Tensor(shape) => {
                let components = (0..shape.size()).map(|_| next().real()).collect();
                Datum::Tensor(Tensor::new(shape.clone(), components))
            }
            other => panic!("a value of type {other} from scalars"),
        }
    }

    fn elements(&self) -> &[Datum] {
        match self {
            Datum::Seq(elements) => elements,
            other => panic!("{other:?} is not a sequence"),
        }
    }

    /// Some value of a type, for what no element gives.
    fn filler(ty: &Ty) -> Datum {
        match ty {
            Ty::Bool => Datum::Bool(false),
            Ty::Int | Ty::Strand => Datum::Int(0),
            Ty::Str => Datum::Str("".into()),
            Ty::Tensor(shape) => Datum::Tensor(Tensor::new(shape.clone(), vec![0.0; shape.size()])),
            Ty::Seq(element, n) => Datum::Seq(vec![Datum::filler(element); *n]),
            Ty::List(_) | Ty::Strands => Datum::Seq(vec![]),
            Ty::Field { .. } => panic!("a field is not an element"),
        }
    }
}

impl Store {
    pub(super) fn dynamic(
        &mut self,
        op: &Dynamic,
        args: &[&Datum],
    ) -> Result<Vec<Datum>, Interrupt> {
        let owned = |args: &[&Datum]| args.iter().map(|&a| a.clone()).collect::<Vec<_>>();
        Ok(vec![match op {
            Dynamic::List(_) => Datum::Seq(owned(args)),
            Dynamic::Append(_) => Datum::Seq([args[0].elements(), &[args[1].clone()]].concat()),
            Dynamic::Prepend(_) => Datum::Seq([&[args[1].clone()], args[0].elements()].concat()),
            Dynamic::Concatenate(_) => {
                Datum::Seq([args[0].elements(), args[1].elements()].concat())
            }
            Dynamic::Length(_) => Datum::Int(args[0].elements().len() as i64),
            Dynamic::Item(sequence) => {
                let element = sequence.element().expect("a sequence has elements");
                let index = usize::try_from(args[1].int()).ok();
                let item = index.and_then(|n| args[0].elements().get(n)).cloned();
                item.unwrap_or_else(|| Datum::filler(element))
            }
            Dynamic::NoStrands => Datum::Seq(vec![]),
            Dynamic::Sphere { position, .. } => {
                let at = |state: &[Datum]| state[*position as usize].components().to_vec();
                let radius = args[1].components()[0];
                let found = self.surroundings.near(at, args[0].components(), radius);
                Datum::Seq(found.into_iter().map(|n| Datum::Int(n as i64)).collect())
            }
            Dynamic::Other(n, _) => {
                let strand = &self.surroundings.strands[args[0].int() as usize];
                strand.state[*n as usize].clone()
            }
            Dynamic::New(_) => {
                self.surroundings.born.push(owned(args));
                return Ok(vec![]);
            }
            Dynamic::Count(set) => Datum::Int(self.surroundings.members(*set).count() as i64),
            Dynamic::Reduce(reduction) => self.reduce_strands(reduction, args)?,
        }])
    }

    fn reduce_strands(
        &mut self,
        reduction: &StrandReduction,
        args: &[&Datum],
    ) -> Result<Datum, Interrupt> {
        let body = self.surroundings.bodies[reduction.body as usize].clone();
        let members: Vec<Vec<Datum>> = self
            .surroundings
            .members(reduction.set)
            .map(|strand| strand.state.clone())
            .collect();
        // An argument is found at the place of its first scalar.
        self.args = Vec::new();
        for (arg, ty) in args.iter().zip(&reduction.captured) {
            self.args.push((*arg).clone());
            let first = self.args.len() - 1;
            self.args.resize(first + ty.scalars().len(), Datum::Int(0));
        }
        let mut rows = Vec::new();
        for state in members {
            self.state = state;
            rows.push(body(self)?[0].scalars());
        }
        let types = reduction.element.scalars();
        let element = Element {
            ty: types[0],
            scalars: types.len() as u32,
        };
        let machine = low::Machine {
            double: true,
            long_int: self.long_int,
            ..low::Machine::default()
        };
        let scalars = machine.reduce(reduction.reduction, &rows, element);
        Ok(Datum::from_scalars(
            &reduction.element,
            &mut scalars.into_iter(),
        ))
    }
}
