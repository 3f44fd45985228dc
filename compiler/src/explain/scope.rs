//! Values of a function as expressions: by the names that the source has for them, or by how they are made.

use crate::{
    high::{High, Names, Op},
    ir::{
        Bits, Simple,
        interface::{Interface, Target},
        leaf::{Border, Convolution, Leaf},
        tensor::{Base, Operator, Ty},
    },
    ssa::{Block, Function, Kind, Value},
};
use ein_ir::{
    OpDef, Param, Rational, Shape,
    region::{Def, Region, ValueId},
    surface::{Expr, Layout},
};
use std::{collections::BTreeMap, sync::Arc};

/// The names in force while a region is written.
pub(super) type Display = BTreeMap<Value, String>;

/// What is known of the values of a function.
pub(super) struct Scope<'a> {
    interface: &'a Interface,
    types: &'a [Ty],
    makers: BTreeMap<Value, (Op, Vec<Value>)>,
    /// The names of each value, in the order in which it got them.
    names: BTreeMap<Value, Vec<String>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        interface: &'a Interface,
        function: &'a Function<High>,
        names: &Names,
    ) -> Self {
        let mut makers = BTreeMap::new();
        note_makers(&function.body, &mut makers);
        let mut known: BTreeMap<Value, Vec<String>> = BTreeMap::new();
        for (value, name) in names {
            let names = known.entry(*value).or_default();
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Scope {
            interface,
            types: &function.types,
            makers,
            names: known,
        }
    }

    /// The names that the source has for a value.
    pub(super) fn names(&self, value: Value) -> &[String] {
        self.names.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The leaf field that a value is.
    pub(super) fn leaf(&self, value: Value) -> Option<&Leaf> {
        match self.makers.get(&value) {
            Some((Op::Field(leaf), _)) => Some(leaf),
            _ => None,
        }
    }

    /// The constant tensor that a value is.
    pub(super) fn constant(&self, value: Value) -> Option<&Base> {
        match self.makers.get(&value) {
            Some((Op::Base(base @ Base::Tensor(..)), _)) => Some(base),
            _ => None,
        }
    }

    /// A value as an expression; those that have neither a name nor a form of the language are `…`.
    pub(super) fn expr(&self, value: Value, display: &Display) -> Expr {
        let is_int = self.types[value.0 as usize] == Ty::Int;
        let named = display.get(&value).or_else(|| self.names(value).first());
        if let Some(name) = named {
            return match is_int {
                true => Expr::Int(name.clone()),
                false => Expr::Name(name.clone()),
            };
        }
        let made = self
            .makers
            .get(&value)
            .and_then(|(op, args)| self.made(op, args, display));
        made.unwrap_or_else(|| Expr::Name("…".to_string()))
    }

    fn made(&self, op: &Op, args: &[Value], display: &Display) -> Option<Expr> {
        let arg = |k: usize| self.expr(args[k], display);
        let all = || (0..args.len()).map(arg).collect::<Vec<_>>();
        Some(match op {
            Op::Field(Leaf::Convolution(field)) => {
                Expr::Name(format!("({})", self.convolution(field)))
            }
            Op::Ein(operator) => self.operator(operator, args, display),
            Op::Base(Base::Tensor(shape, components)) => literal(shape, components),
            Op::Base(Base::Int(n)) => Expr::Number(Rational::from_integer((*n).into())),
            Op::Base(Base::Global(n, _)) => {
                Expr::Name(self.interface.globals[*n as usize].name.clone())
            }
            Op::Base(Base::State(n, _)) => {
                Expr::Name(self.interface.state[*n as usize].variable.name.clone())
            }
            Op::Base(Base::Simple(Simple::ToReal)) => arg(0),
            Op::Base(Base::Simple(simple)) => {
                let row = match simple {
                    Simple::IntAdd => "add",
                    Simple::IntSub => "sub",
                    Simple::IntMul => "scale_left",
                    Simple::IntNeg => "neg",
                    _ => return None,
                };
                Expr::Apply(OpDef::named(row)?, all())
            }
            Op::Base(Base::Element(_)) => Expr::Name(format!("{}[{}]", arg(0), arg(1))),
            _ => return None,
        })
    }

    /// An operator that is not part of the region, applied to expressions.
    fn operator(&self, operator: &Arc<Operator>, args: &[Value], display: &Display) -> Expr {
        let inputs: Vec<Expr> = args.iter().map(|&arg| self.expr(arg, display)).collect();
        let region = Region {
            inputs: operator.ein.params.clone(),
            defs: vec![Def {
                op: operator.ein.clone(),
                args: (0..inputs.len()).map(ValueId).collect(),
            }],
            roots: vec![ValueId(inputs.len())],
        };
        let layout = Layout {
            inputs: &inputs,
            names: &BTreeMap::new(),
            symmetry: &[],
            temporaries: "…",
            shares: false,
            width: usize::MAX,
        };
        layout.write(&region, &region.roots).values.remove(0)
    }

    /// An image convolved with kernels, as programs write it.
    pub(super) fn convolution(&self, field: &Convolution) -> String {
        let mut kernels: Vec<&str> = field.kernels.iter().map(|kernel| kernel.0.name).collect();
        kernels.dedup();
        let kernels = match kernels[..] {
            [one] => one.to_string(),
            _ => {
                let all: Vec<&str> = field.kernels.iter().map(|kernel| kernel.0.name).collect();
                format!("KRNS({})", all.join(", "))
            }
        };
        let image = self.image(field.image);
        let image = match &field.border {
            Border::None => image,
            Border::Clamp => format!("clamp({image})"),
            Border::Mirror => format!("mirror({image})"),
            Border::Wrap => format!("wrap({image})"),
            Border::Constant(bits) => {
                let components: Vec<Bits> = bits
                    .iter()
                    .map(|&bits| f64::from_bits(bits).into())
                    .collect();
                format!("border({image}, {})", literal(&field.shape, &components))
            }
        };
        format!("{kernels} ⊛ {image}")
    }

    fn image(&self, number: u32) -> String {
        let inputs = &self.interface.inputs;
        let input = inputs
            .iter()
            .find(|input| input.target == Target::Image(number));
        match (input, &self.interface.images[number as usize].file) {
            (Some(input), _) => input.name.clone(),
            (None, Some(file)) => format!("load_image(\"{file}\")"),
            (None, None) => format!("image {number}"),
        }
    }
}

/// What an operator's parameter is for a type.
pub(super) fn param(ty: &Ty) -> Option<Param> {
    match ty {
        Ty::Tensor(shape) => Some(Param::Tensor(shape.clone())),
        Ty::Field { dim, shape } => Some(Param::Field {
            dim: *dim,
            shape: shape.clone(),
        }),
        _ => None,
    }
}

fn note_makers(block: &Block<High>, makers: &mut BTreeMap<Value, (Op, Vec<Value>)>) {
    for inst in &block.insts {
        if let (Kind::Op(op, args), [result]) = (&inst.kind, &inst.results[..]) {
            makers.insert(*result, (op.clone(), args.clone()));
        }
        inst.kind
            .blocks()
            .into_iter()
            .for_each(|inner| note_makers(inner, makers));
    }
}

/// A constant tensor as programs write it.
fn literal(shape: &Shape, components: &[Bits]) -> Expr {
    let Some((first, rest)) = shape.dims().split_first() else {
        return number(components[0].get());
    };
    let (rest, size) = (Shape::from(rest), components.len() / first);
    let parts = components
        .chunks(size)
        .map(|part| literal(&rest, part).to_string());
    Expr::Name(format!("[{}]", parts.collect::<Vec<_>>().join(", ")))
}

/// The number that a few digits are.
fn short_number(text: &str) -> Option<Rational> {
    const DIGITS: usize = 9;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = [whole, fraction].concat();
    if digits.len() > DIGITS {
        return None;
    }
    let unit = 10i128.pow(fraction.len() as u32);
    Some(Rational::new(digits.parse().ok()?, unit))
}

fn number(x: f64) -> Expr {
    let text = match x.abs() {
        size if size.is_nan() => "nan".to_string(),
        f64::INFINITY => "∞".to_string(),
        size => size.to_string(),
    };
    if let Some(number) = short_number(&text) {
        return Expr::Number(if x < 0.0 { -number } else { number });
    }
    match (x < 0.0, OpDef::named("neg")) {
        (true, Some(neg)) => Expr::Apply(neg, vec![Expr::Name(text)]),
        _ => Expr::Name(text),
    }
}
