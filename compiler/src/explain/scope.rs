//! Values of a function as expressions: by the names that the source has for them, or by how they are made.

use crate::{
    high::{High, Op},
    ir::{
        Bits, Simple,
        interface::{InputTarget, Interface},
        leaf::{Convolution, ImageInfo, Leaf, TimeKernel},
        tensor::{Base, Operator, Ty},
    },
    ssa::{Function, Value},
};
use ein_ir::{
    OpDef, Rational, Shape, Term,
    ops::{Border, Builtin, Meaning, OPERATORS},
    rational,
    region::{Def, Region, ValueId},
    surface::{Expr, Layout},
};
use std::{collections::BTreeMap, sync::Arc};

/// What the source calls values of a function: each name with the value that has it, in the order in which they got it.
pub(super) type Names = Vec<(Value, String)>;

/// The names in force while a region is written.
pub(super) type Display = BTreeMap<Value, String>;

/// The most operations in an expression outside the region that is explained. Of a larger one only the outermost are written, and
/// the mark [`ELIDED`] for the others: a value that is used twice is written twice, so the whole text can be exponentially long.
const OPERATIONS: usize = 16;

/// What stands for an expression that is not written.
const ELIDED: &str = "…";

/// The definitions, sizes and names of the values of a function.
pub(super) struct Scope<'a> {
    interface: &'a Interface,
    types: &'a [Ty],
    makers: BTreeMap<Value, (Op, Vec<Value>)>,
    /// How many operations an expression for each value has that is made of others, up to one more than [`OPERATIONS`].
    sizes: BTreeMap<Value, usize>,
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
        function.each_op(&mut |op, args, results| {
            let made = results.iter().filter(|_| results.len() == 1);
            makers.extend(made.map(|result| (*result, (op.clone(), args.to_vec()))));
        });
        let mut known: BTreeMap<Value, Vec<String>> = BTreeMap::new();
        // Numbers are shown as such: equal ones are one value, with the names of all variables that begin with it.
        let is_number =
            |value: &Value| matches!(makers.get(value), Some((Op::Base(Base::Tensor(..)), _)));
        for (value, name) in names.iter().filter(|(value, _)| !is_number(value)) {
            let names = known.entry(*value).or_default();
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        // Values are made of earlier ones.
        let mut sizes = BTreeMap::new();
        function.each_op(&mut |op, args, results| {
            let size_of = |arg: &Value| match known.contains_key(arg) {
                true => 1,
                false => sizes.get(arg).copied().unwrap_or(1),
            };
            let often = uses(op, args.len()).into_iter();
            let size: usize = often.zip(args).map(|(n, arg)| n * size_of(arg)).sum();
            sizes.extend(results.iter().map(|r| (*r, (size + 1).min(OPERATIONS + 1))));
        });
        Scope {
            interface,
            types: &function.types,
            makers,
            sizes,
            names: known,
        }
    }

    /// The names that the source has for a value.
    pub(super) fn names(&self, value: Value) -> &[String] {
        self.names.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The leaf fields that have a name, with their definitions.
    pub(super) fn leaves(&self) -> Vec<(String, String)> {
        let named = |(value, (op, _)): (&Value, &(Op, Vec<Value>))| match op {
            Op::Field(leaf) => {
                let name = self.names(*value).first()?;
                Some((name.clone(), self.definition(leaf)))
            }
            _ => None,
        };
        self.makers.iter().filter_map(named).collect()
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

    /// A value as an expression; those that have neither a name nor a form of the language are `…`, and so are parts of an
    /// expression that would be too long.
    pub(super) fn expr(&self, value: Value, display: &Display) -> Expr {
        self.expr_within(value, display, OPERATIONS)
    }

    /// A value as an expression with about this number of operations at most.
    fn expr_within(&self, value: Value, display: &Display, room: usize) -> Expr {
        let is_int = self.types[value.0 as usize] == Ty::Int;
        let named = display.get(&value).or_else(|| self.names(value).first());
        if let Some(name) = named {
            return match is_int {
                true => Expr::Int(name.clone()),
                false => Expr::Name(name.clone()),
            };
        }
        let maker = self.makers.get(&value).filter(|_| room > 0);
        let made = maker.and_then(|(op, args)| {
            let size = self.sizes.get(&value).copied().unwrap_or(1);
            // What fits is written whole; else the arguments share the room.
            let room = match size <= room {
                true => room,
                false => (room - 1) / uses(op, args.len()).iter().sum::<usize>().max(1),
            };
            self.made(op, args, display, room)
        });
        made.unwrap_or_else(|| Expr::Name(ELIDED.to_string()))
    }

    fn made(&self, op: &Op, args: &[Value], display: &Display, room: usize) -> Option<Expr> {
        let arg = |k: usize| self.expr_within(args[k], display, room);
        let all = || (0..args.len()).map(arg).collect::<Vec<_>>();
        Some(match op {
            Op::Field(leaf @ Leaf::Convolution(_)) => {
                Expr::Name(format!("({})", self.definition(leaf)))
            }
            Op::Field(leaf @ Leaf::Fem(_)) => Expr::Name(self.definition(leaf)),
            Op::Ein(operator) => {
                let inputs = all();
                // An operator whose inputs are all elided shows nothing.
                if !inputs.is_empty() && inputs.iter().all(is_elided) {
                    return None;
                }
                self.operator(operator, inputs)
            }
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
            Op::Base(Base::Image(number, ImageInfo::Size(axis))) => Expr::Int(format!(
                "size({})[{axis}]",
                image_of(self.interface, *number)
            )),
            Op::Base(Base::Element(_)) => match (self.makers.get(&args[0]), self.int(args[1])) {
                (Some((Op::Base(Base::Sequence(_)), elements)), Some(k)) => {
                    self.expr_within(*elements.get(k)?, display, room)
                }
                _ => Expr::Name(format!("{}[{}]", arg(0), arg(1))),
            },
            _ => return None,
        })
    }

    /// The integer that a value is.
    fn int(&self, value: Value) -> Option<usize> {
        match self.makers.get(&value) {
            Some((Op::Base(Base::Int(n)), _)) => usize::try_from(*n).ok(),
            _ => None,
        }
    }

    /// An operator that is not part of the region, applied to expressions.
    fn operator(&self, operator: &Arc<Operator>, inputs: Vec<Expr>) -> Expr {
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
            temporaries: ELIDED,
            shares: false,
            width: usize::MAX,
        };
        layout.write(&region, &region.roots).values.remove(0)
    }

    /// A leaf field as programs write it.
    pub(super) fn definition(&self, leaf: &Leaf) -> String {
        match leaf {
            Leaf::Convolution(field) => convolution(self.interface, field),
            Leaf::Fem(field) => {
                let fem = self.fem(field.fem);
                match &field.outside {
                    None => format!("toField({fem})"),
                    Some(outside) => {
                        format!("toField(border({fem}, {}))", literal(&field.shape, outside))
                    }
                }
            }
        }
    }

    fn fem(&self, number: u32) -> String {
        let mut inputs = self.interface.inputs.iter();
        if let Some(input) = inputs.find(|input| input.target == InputTarget::Fem(number)) {
            return input.name.clone();
        }
        let fem = &self.interface.fems[number as usize];
        match (&self.interface.meshes[fem.mesh as usize].file, &fem.array) {
            (Some(file), Some(array)) => format!("load_fem(\"{file}\", \"{array}\")"),
            (Some(file), None) => format!("load_fem(\"{file}\")"),
            (None, _) => fem.variable.clone(),
        }
    }
}

/// An image convolved with kernels, as programs write it.
pub(super) fn convolution(interface: &Interface, field: &Convolution) -> String {
    let all: Vec<&str> = field.kernels.iter().map(|kernel| kernel.0.name).collect();
    let mut different = all.clone();
    different.dedup();
    let space = if different.len() == 1 { different } else { all };
    let time = field.time.map(|time| time.kernel.0.name);
    // Linear in time is what an image has anyway.
    let kernels = match (&space[..], time) {
        ([one], None | Some("tent")) => (*one).to_string(),
        _ => {
            let all: Vec<&str> = space.into_iter().chain(time).collect();
            format!("KRNS({})", all.join(", "))
        }
    };
    let image = image_of(interface, field.image);
    let image = match &field.border {
        // What an image has anyway.
        Border::Clamp => image,
        border => {
            let kind = Builtin::Border(border.clone().map(|_| ()));
            let mut rows = OPERATORS.iter();
            let row = rows.find(|row| row.meaning == Meaning::Builtin(kind));
            let mut args = vec![Expr::Name(image)];
            if let Border::Constant(components) = border {
                args.push(literal(&field.shape, components));
            }
            Expr::Apply(row.expect("every border has a row"), args).to_string()
        }
    };
    match field.time {
        None | Some(TimeKernel { order: 0, .. }) => format!("{kernels} ⊛ {image}"),
        Some(time) => {
            let times = vec!["time"; time.order.into()].join(", ");
            format!("∂[{times}] ({kernels} ⊛ {image})")
        }
    }
}

fn image_of(interface: &Interface, number: u32) -> String {
    let inputs = &interface.inputs;
    let input = inputs
        .iter()
        .find(|input| input.target == InputTarget::Image(number));
    let image = &interface.images[number as usize];
    match (input, &image.file, &image.blur) {
        (Some(input), ..) => input.name.clone(),
        (None, Some(file), _) => format!("load_image(\"{file}\")"),
        (None, None, Some(blur)) => format!("blur({}, …)", image_of(interface, blur.of)),
        (None, None, None) => format!("image {number}"),
    }
}

fn is_elided(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(name) if name == ELIDED)
}

/// How often each argument of an operation may be written.
fn uses(op: &Op, args: usize) -> Vec<usize> {
    fn count(term: &Term, uses: &mut [usize]) {
        if let Term::Access { param, .. } | Term::Eigen { param, .. } = term {
            uses[*param] += 1;
        }
        term.children()
            .into_iter()
            .for_each(|inner| count(inner, uses));
    }
    let mut uses = vec![0; args];
    if let Op::Ein(operator) = op {
        count(&operator.ein.body, &mut uses);
    }
    uses.into_iter().map(|n| n.max(1)).collect()
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

fn number(x: f64) -> Expr {
    match rational::from_f64(x) {
        Some(number) => Expr::Number(number),
        None if x == f64::INFINITY => Expr::Name("∞".to_string()),
        None if x == f64::NEG_INFINITY => Expr::Name("-∞".to_string()),
        None => Expr::Name(format!("{x:e}").to_lowercase()),
    }
}
