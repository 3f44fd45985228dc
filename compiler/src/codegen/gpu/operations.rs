//! The operations of Device-IR in PTX.

use super::{
    kernel::Cell,
    ptx::{Class, KnownAddress, PtxPrinter},
};
use crate::{
    device::{Arithmetic, Device, Op, Ty, Width},
    ir::Simple,
    low::{self, Dynamic},
    ssa::{Function, Value},
};

impl PtxPrinter<'_> {
    pub(super) fn operation(
        &mut self,
        function: &Function<Device>,
        op: &Op,
        args: &[Value],
        results: &[Value],
    ) {
        let operands = self.operands(function, args);
        let given: Vec<&str> = operands.iter().map(String::as_str).collect();
        let result = match op {
            Op::Low(low::Op::Simple(Simple::ToReal)) if self.size_less(args[0]).is_some() => {
                let cell = self.size_less(args[0]).expect("one was found");
                self.cell(cell, self.ty(Class::Real), Class::Real)
            }
            Op::Low(low::Op::Dynamic(Dynamic::Sphere { .. })) => {
                let found = self.sphere(&given);
                self.values.extend(results.iter().copied().zip(found));
                return;
            }
            Op::Low(low::Op::Dynamic(Dynamic::Other(slot, _))) => {
                self.other(*slot, args[0], given[0])
            }
            Op::Low(low::Op::Dynamic(dynamic))
                if let Some(made) = self.on_sequences(dynamic, &given) =>
            {
                self.values.extend(results.iter().copied().zip(made));
                return;
            }
            Op::Low(op) => match self.scalar(op, &given) {
                Some(result) => result,
                None => return,
            },
            Op::Arithmetic(arithmetic @ (Arithmetic::Min | Arithmetic::Max), Width::Real)
                if args.iter().all(|&arg| self.is_plain(arg)) =>
            {
                let name = arithmetic.name();
                let ty = self.ty(Class::Real);
                self.compute(Class::Real, &format!("{name}.{ty}"), &given)
            }
            Op::Arithmetic(arithmetic, width) => self.arithmetic(*arithmetic, *width, &given),
            Op::Double(x) => self.number(x.get(), Class::Double),
            Op::SelectDouble => {
                let operands = [given[1], given[2], given[0]];
                self.compute(Class::Double, "selp.f64", &operands)
            }
            Op::BitAnd => self.bits("and.b64", &given, None),
            Op::BitOr => self.bits("or.b64", &given, None),
            Op::ShiftLeft(n) => self.bits("shl.b64", &given, Some(*n)),
            Op::ShiftRight(n) => self.bits("shr.u64", &given, Some(*n)),
            Op::Widen if self.lanes.double => self.compute(Class::Double, "mov.f64", &given),
            Op::Widen => self.compute(Class::Double, "cvt.f64.f32", &given),
            Op::Narrow if self.lanes.double => self.compute(Class::Real, "mov.f64", &given),
            Op::Narrow => self.compute(Class::Real, "cvt.rn.f32.f64", &given),
            Op::ToInt => {
                let (int, real) = (self.ty(Class::Int), self.ty(Class::Real));
                self.compute(Class::Int, &format!("cvt.rzi.{int}.{real}"), &given)
            }
            Op::Load {
                image,
                component,
                ahead,
            } => self.sample((*image, *component, *ahead), args[0], given[0]),
            Op::Coefficient(table, power) => {
                if !self.tables.contains(table) {
                    self.tables.push(*table);
                }
                let bytes = self.lanes.bytes();
                let weights = crate::ir::weights::weights;
                let terms = weights(table.kernel, table.order, self.lanes.double)[0].len();
                let place = KnownAddress::Weights(args[0], *table);
                let base = match self.places.contains_key(&place) {
                    true => String::new(),
                    false => self.compute(Class::Wide, "mov.u64", &[&table.name()]),
                };
                let tap = self.address_of(place, given[0], bytes * terms, &base);
                let (ty, register) = (self.ty(Class::Real), self.register(Class::Real));
                let at = bytes * *power as usize;
                self.line(&format!("ld.const.{ty} {register}, [{tap}+{at}]"));
                register
            }
            Op::Intervals(image) => {
                self.cell(Cell::Intervals(*image), self.ty(Class::Int), Class::Int)
            }
            Op::IntervalBegin(image) => self.interval(*image, args[0], given[0], 0),
            Op::IntervalRate(image) => self.interval(*image, args[0], given[0], 1),
            Op::Mesh(op) => match self.mesh(*op, args, &given) {
                Some(result) => result,
                None => return,
            },
            Op::Notice(image) => return self.notice(*image, given[0]),
            Op::Leave => return self.line(&format!("@{} bra LEAVE", given[0])),
        };
        self.values.insert(results[0], result);
    }

    /// One of the two numbers of an interval of time.
    fn interval(&mut self, image: u32, number: Value, given: &str, part: usize) -> String {
        let generic = self.cell(Cell::Times(image), "u64", Class::Wide);
        let base = self.compute(Class::Wide, "cvta.to.global.u64", &[&generic]);
        let bytes = self.lanes.bytes();
        let place = KnownAddress::Interval(number, image);
        let interval = self.address_of(place, given, 2 * bytes, &base);
        let (ty, register) = (self.ty(Class::Real), self.register(Class::Real));
        let at = bytes * part;
        self.line(&format!("ld.global.nc.{ty} {register}, [{interval}+{at}]"));
        register
    }

    /// The operands of an operation, a register among them: the assembler computes with nothing else.
    fn operands(&mut self, function: &Function<Device>, args: &[Value]) -> Vec<String> {
        let mut operands: Vec<String> = args.iter().map(|v| self.values[v].clone()).collect();
        if !operands.is_empty() && operands.iter().all(|o| !o.starts_with('%')) {
            let class = Class::of(*function.type_of(args[0]));
            let ty = self.ty(class);
            operands[0] = self.compute(class, &format!("mov.{ty}"), &[&operands[0]]);
        }
        operands
    }

    /// `base + index · bytes`, computed once.
    pub(super) fn address_of(
        &mut self,
        place: KnownAddress,
        index: &str,
        bytes: usize,
        base: &str,
    ) -> String {
        if let Some(known) = self.places.get(&place) {
            return known.clone();
        }
        let instruction = match self.ty(Class::Int) {
            "s64" => "mad.lo.s64",
            _ => "mad.wide.s32",
        };
        let (base, index) = self
            .after_known(&place)
            .unwrap_or_else(|| (base.to_string(), index.to_string()));
        let bytes = bytes.to_string();
        let operands = [&index, &bytes, &base].map(String::as_str);
        let address = self.compute(Class::Wide, instruction, &operands);
        self.places.insert(place, address.clone());
        address
    }

    /// An operation on the bits of doubles.
    fn bits(&mut self, instruction: &str, given: &[&str], shift: Option<u32>) -> String {
        let mut operands: Vec<String> = given
            .iter()
            // The bits of a constant are written as an integer.
            .map(|x| self.compute(Class::Wide, "mov.b64", &[&x.replace("0d", "0x")]))
            .collect();
        operands.extend(shift.map(|n| n.to_string()));
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let bits = self.compute(Class::Wide, instruction, &operands);
        self.compute(Class::Double, "mov.b64", &[&bits])
    }

    fn arithmetic(&mut self, arithmetic: Arithmetic, width: Width, given: &[&str]) -> String {
        let class = Class::of(width.ty());
        let ty = self.ty(class);
        let instruction = match arithmetic {
            Arithmetic::Add => "add.rn",
            Arithmetic::Sub => "sub.rn",
            Arithmetic::Mul => "mul.rn",
            Arithmetic::Div => "div.rn",
            Arithmetic::Neg => "neg",
            Arithmetic::Fma => "fma.rn",
            Arithmetic::Sqrt => "sqrt.rn",
            Arithmetic::Abs => "abs",
            Arithmetic::Floor => {
                return self.compute(class, &format!("cvt.rmi.{ty}.{ty}"), given);
            }
            // The machine's own minimum loses a NaN and orders zeros.
            Arithmetic::Min | Arithmetic::Max => {
                let how = if arithmetic == Arithmetic::Min {
                    "lt"
                } else {
                    "gt"
                };
                let first = self.compute(Class::Truth, &format!("setp.{how}.{ty}"), given);
                let operands = [given[0], given[1], &first];
                return self.compute(class, &format!("selp.{ty}"), &operands);
            }
            Arithmetic::CopySign => {
                let operands = [given[1], given[0]];
                return self.compute(class, &format!("copysign.{ty}"), &operands);
            }
            Arithmetic::Less => return self.compute(Class::Truth, &format!("setp.lt.{ty}"), given),
            Arithmetic::LessEqual => {
                return self.compute(Class::Truth, &format!("setp.le.{ty}"), given);
            }
            Arithmetic::Equal => {
                return self.compute(Class::Truth, &format!("setp.eq.{ty}"), given);
            }
        };
        self.compute(class, &format!("{instruction}.{ty}"), given)
    }

    /// An operation that Low-IR has as well; nothing for a check that gives nothing.
    fn scalar(&mut self, op: &low::Op, given: &[&str]) -> Option<String> {
        let int = self.ty(Class::Int);
        Some(match op {
            low::Op::Real(x) => self.number(x.get(), Class::Real),
            low::Op::Int(n) if self.lanes.long_int => n.to_string(),
            low::Op::Int(n) => (*n as i32).to_string(),
            low::Op::Bool(b) => self.truths[usize::from(*b)].clone(),
            low::Op::Str(text) => self.string_number(text).to_string(),
            low::Op::State(slot, _) => self.state[*slot as usize].clone(),
            low::Op::Arg(n, ty) => match self.given.get(*n as usize) {
                Some(given) => given.clone(),
                None => self.variable(Cell::Captured(*n), *ty),
            },
            low::Op::Global(slot, ty) => self.variable(Cell::of_global(*slot, self.ends), *ty),
            low::Op::Image(image, info) => {
                let ty = match info.is_int() {
                    true => low::Ty::Int,
                    false => low::Ty::Real,
                };
                self.variable(Cell::Image(*image, *info), ty)
            }
            low::Op::Dynamic(Dynamic::Count(set)) => self.variable(Cell::Count(*set), low::Ty::Int),
            low::Op::Dynamic(Dynamic::StrandAt) => self.strand_at(given),
            low::Op::Simple(simple) => self.simple(*simple, given),
            low::Op::Select(low::Ty::Bool) => {
                let chosen = self.compute(Class::Truth, "and.pred", &[given[0], given[1]]);
                let not = self.compute(Class::Truth, "not.pred", &[given[0]]);
                let other = self.compute(Class::Truth, "and.pred", &[&not, given[2]]);
                self.compute(Class::Truth, "or.pred", &[&chosen, &other])
            }
            low::Op::Select(ty) => {
                let class = Class::of(Ty::Scalar(*ty));
                let select = format!("selp.{}", self.ty(class));
                self.compute(class, &select, &[given[1], given[2], given[0]])
            }
            low::Op::IntDiv(_) => self.quotient("div", given),
            low::Op::IntRem(_) => self.quotient("rem", given),
            low::Op::CheckIndex(_) => {
                let index = self.in_register(given[0]);
                let [below, above] = [("lt", "0"), ("ge", given[1])].map(|(how, bound)| {
                    let compare = format!("setp.{how}.{int}");
                    self.compute(Class::Truth, &compare, &[&index, bound])
                });
                let outside = self.compute(Class::Truth, "or.pred", &[&below, &above]);
                self.line(&format!("@{outside} bra LEAVE"));
                return None;
            }
            low::Op::Print(_) | low::Op::Dynamic(Dynamic::New(_)) => {
                self.event(op, given);
                return None;
            }
            other => unreachable!("`{other}` in a kernel"),
        })
    }

    /// An integer, in a register if it is a constant.
    pub(super) fn in_register(&mut self, operand: &str) -> String {
        if operand.starts_with('%') {
            return operand.to_string();
        }
        let ty = self.ty(Class::Int);
        self.compute(Class::Int, &format!("mov.{ty}"), &[operand])
    }

    /// A quotient or a remainder.
    fn quotient(&mut self, name: &str, given: &[&str]) -> String {
        let int = self.ty(Class::Int);
        if given[1].parse().is_ok_and(|n: i64| n != 0 && n != -1) {
            return self.compute(Class::Int, &format!("{name}.{int}"), given);
        }
        let [a, b] = [given[0], given[1]].map(|operand| self.in_register(operand));
        let zero = self.compute(Class::Truth, &format!("setp.eq.{int}"), &[&b, "0"]);
        self.line(&format!("@{zero} bra LEAVE"));
        // The quotient of the least number and −1 is none; its negative wraps.
        let minus = self.compute(Class::Truth, &format!("setp.eq.{int}"), &[&b, "-1"]);
        let divisor = self.compute(Class::Int, &format!("selp.{int}"), &["1", &b, &minus]);
        let wrapped = match name {
            "div" => self.compute(Class::Int, &format!("neg.{int}"), &[&a]),
            _ => "0".to_string(),
        };
        let usual = self.compute(Class::Int, &format!("{name}.{int}"), &[&a, &divisor]);
        self.compute(
            Class::Int,
            &format!("selp.{int}"),
            &[&wrapped, &usual, &minus],
        )
    }

    /// A global variable, or a property of an image.
    fn variable(&mut self, cell: Cell, ty: low::Ty) -> String {
        let class = Class::of(Ty::Scalar(ty));
        if class == Class::Truth {
            let byte = self.cell(cell, "u8", Class::Word);
            return self.compute(class, "setp.ne.u32", &[&byte, "0"]);
        }
        self.cell(cell, self.ty(class), class)
    }

    fn simple(&mut self, simple: Simple, given: &[&str]) -> String {
        let (real, int) = (self.ty(Class::Real), self.ty(Class::Int));
        let (class, instruction) = match simple {
            Simple::Add => (Class::Real, format!("add.rn.{real}")),
            Simple::Sub => (Class::Real, format!("sub.rn.{real}")),
            Simple::Mul => (Class::Real, format!("mul.rn.{real}")),
            Simple::Div => (Class::Real, format!("div.rn.{real}")),
            Simple::Neg => (Class::Real, format!("neg.{real}")),
            Simple::Less => (Class::Truth, format!("setp.lt.{real}")),
            Simple::LessEqual => (Class::Truth, format!("setp.le.{real}")),
            Simple::Equal => (Class::Truth, format!("setp.eq.{real}")),
            Simple::IntAdd => (Class::Int, format!("add.{int}")),
            Simple::IntSub => (Class::Int, format!("sub.{int}")),
            Simple::IntMul => (Class::Int, format!("mul.lo.{int}")),
            Simple::IntNeg => (Class::Int, format!("neg.{int}")),
            Simple::IntLess => (Class::Truth, format!("setp.lt.{int}")),
            Simple::IntLessEqual => (Class::Truth, format!("setp.le.{int}")),
            Simple::IntEqual | Simple::StrEqual => (Class::Truth, format!("setp.eq.{int}")),
            Simple::ToReal => (Class::Real, format!("cvt.rn.{real}.{int}")),
            Simple::And => (Class::Truth, "and.pred".into()),
            Simple::Or => (Class::Truth, "or.pred".into()),
            Simple::Not => (Class::Truth, "not.pred".into()),
        };
        self.compute(class, &instruction, given)
    }
}
