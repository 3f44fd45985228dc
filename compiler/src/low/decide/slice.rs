//! Comparisons of a field as functions: from the values of the field to a truth value.

use super::Guarding;
use crate::{
    ir::Simple,
    low::{Low, Op, Ty, interval},
    ssa::{Builder, Function, Inst, Kind, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The comparison that gives `v`, as a function of the values of a probe on which the values `dependent` depend; none if nothing can be told about it.
/// Arguments after the components of the field are values of the strand, which may be anything.
pub(super) fn comparison(
    pass: &Guarding<'_>,
    probe: &Inst<Low>,
    dependent: &FxHashSet<Value>,
    v: Value,
) -> Option<Function<Low>> {
    let Kind::Op(Op::Probe(field, _), _) = &probe.kind else {
        unreachable!("a comparison is about a probe")
    };
    let components = field.shape.size();
    let mut slice = Slice {
        pass,
        dependent,
        b: Builder::default(),
        copies: FxHashMap::default(),
        unknown: components as u32,
    };
    for (n, &value) in probe.results.iter().enumerate() {
        let copy = match n < components {
            true => slice.b.op1(Op::Arg(n as u32, Ty::Real), &[]),
            false => slice.unknown(Ty::Real),
        };
        slice.copies.insert(value, copy);
    }
    let result = slice.copy(v);
    let function = slice.b.finish("", vec![result]);
    let function = crate::ssa::remove_dead(function);
    is_hopeful(&function, components as u32, result).then_some(function)
}

struct Slice<'a> {
    pass: &'a Guarding<'a>,
    dependent: &'a FxHashSet<Value>,
    b: Builder<Low>,
    copies: FxHashMap<Value, Value>,
    /// The next argument that may be anything.
    unknown: u32,
}

impl Slice<'_> {
    fn unknown(&mut self, ty: Ty) -> Value {
        self.unknown += 1;
        self.b.op1(Op::Arg(self.unknown - 1, ty), &[])
    }

    fn copy(&mut self, v: Value) -> Value {
        if let Some(&copy) = self.copies.get(&v) {
            return copy;
        }
        // All strands have these in common, and intervals know them.
        let is_shared =
            |op: &Op| op.is_constant() && !matches!(op, Op::State(..) | Op::Arg(..) | Op::Str(_));
        let copy = match self.pass.definitions.get(&v) {
            Some((op, args, n)) if self.dependent.contains(&v) || is_shared(op) => {
                let args: Vec<Value> = args.iter().map(|&arg| self.copy(arg)).collect();
                self.b.op(op.clone(), &args)[*n]
            }
            _ => self.unknown(self.pass.ty(v)),
        };
        self.copies.insert(v, copy);
        copy
    }
}

/// Whether intervals may tell something about a result: it depends on the field, and not only on unknown values.
fn is_hopeful(function: &Function<Low>, components: u32, result: Value) -> bool {
    let mut unknown = vec![false; function.types.len()];
    let mut depends = vec![false; function.types.len()];
    function.each_op(&mut |op, args, results| {
        let is = |of: &[bool], n: usize| of[args[n].0 as usize];
        let any = |of: &[bool]| args.iter().any(|v| of[v.0 as usize]);
        let now = match op {
            Op::Arg(n, _) => *n >= components,
            // Zero makes any product zero, or not a number.
            Op::Simple(Simple::Mul) => is(&unknown, 0) && is(&unknown, 1),
            Op::Select(_) => is(&unknown, 1) && is(&unknown, 2),
            op => any(&unknown) || !interval::is_followed(op),
        };
        let is_field = matches!(op, Op::Arg(n, _) if *n < components);
        let of_field = is_field || any(&depends);
        for v in results {
            unknown[v.0 as usize] = now;
            depends[v.0 as usize] = of_field;
        }
    });
    depends[result.0 as usize] && !unknown[result.0 as usize]
}
