//! The comparisons that bounds of images decide, in the notation of the language.

use super::scope::convolution;
use crate::{
    front::source::Source,
    ir::{Simple, interface::Interface, leaf::Convolution},
    low::{Low, Op, Slots},
    pipeline::{self, Options, Session},
    ssa::{Function, Kind, Program, Role, Value},
};
use std::sync::Arc;

/// Operations inside operations that are written; others are elided, as a value that is used twice is written twice.
const DEEPEST: usize = 7;

/// The comparisons of a program that bounds decide, each with the function that it is in; `leaves` are the names and definitions of fields.
pub(super) fn decided(
    source: &Source,
    options: &Options,
    leaves: &[(String, String)],
) -> Vec<(Role, String)> {
    let lowered = pipeline::lower(&mut Session::default(), source, options);
    let Ok(lowered) = lowered else {
        return Vec::new();
    };
    let program = &lowered.bounded;
    let mut found: Vec<(Role, u32, Arc<Convolution>)> = Vec::new();
    for (role, function) in &program.functions {
        function.each_op(&mut |op, _, _| {
            if let Op::Decide(number, field) = op
                && !found.iter().any(|(r, n, _)| r == role && n == number)
            {
                found.push((*role, *number, field.clone()));
            }
        });
    }
    let shown = |(role, number, field): (Role, u32, Arc<Convolution>)| {
        let function = program.function(Role::Decide(number))?;
        let notation = Notation {
            program,
            field: &field,
            leaves,
        };
        let text = notation.value(function, *function.body.yields.first()?, 0);
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        Some((role, inner.unwrap_or(&text).to_string()))
    };
    found.into_iter().filter_map(shown).collect()
}

struct Notation<'a> {
    program: &'a Program<Low>,
    /// The field that the comparison is about.
    field: &'a Convolution,
    leaves: &'a [(String, String)],
}

impl Notation<'_> {
    fn interface(&self) -> &Interface {
        &self.program.interface
    }

    /// A value of a function, as an expression.
    fn value(&self, function: &Function<Low>, v: Value, depth: usize) -> String {
        if depth > DEEPEST {
            return "…".to_string();
        }
        let mut insts = function.body.insts.iter();
        let Some(inst) = insts.find(|inst| inst.results.contains(&v)) else {
            return "…".to_string();
        };
        let Kind::Op(op, args) = &inst.kind else {
            return "…".to_string();
        };
        let component = inst.results.iter().position(|r| *r == v).unwrap_or(0);
        let arg = |n: usize| self.value(function, args[n], depth + 1);
        match op {
            Op::Real(x) => x.get().to_string(),
            Op::Int(n) => n.to_string(),
            Op::Bool(truth) => truth.to_string(),
            Op::Arg(n, _) if (*n as usize) < self.field.shape.size() => {
                let component = (self.field.shape.size() > 1).then_some(*n as usize);
                self.of_image(self.field, component)
            }
            Op::Global(slot, _) => self.global(*slot, depth),
            Op::Simple(simple) => match (infix(*simple), &args[..]) {
                (Some(sign), [_, _]) => format!("({} {sign} {})", arg(0), arg(1)),
                (_, [_]) if *simple == Simple::Neg => format!("-{}", arg(0)),
                (_, [_]) if *simple == Simple::Not => format!("!{}", arg(0)),
                _ => "…".to_string(),
            },
            Op::Math(f) if args.len() == 1 => format!("{}({})", f.def().name, arg(0)),
            Op::Select(_) => format!("({} if {} else {})", arg(1), arg(0), arg(2)),
            // Positions in index space mean nothing to a reader.
            Op::Probe(field, _) => {
                let component = (field.shape.size() > 1).then_some(component);
                self.of_image(field, component)
            }
            _ => "…".to_string(),
        }
    }

    /// A field by its name, or by its kernels and its image.
    fn of_image(&self, field: &Convolution, component: Option<usize>) -> String {
        let definition = convolution(self.interface(), field);
        let named = self.leaves.iter().find(|(_, known)| *known == definition);
        let field = named.map_or(format!("({definition})"), |(name, _)| name.clone());
        component.map_or(field.clone(), |n| format!("{field}[{n}]"))
    }

    /// A scalar of a global variable by its name, and values that follow from globals as an expression.
    fn global(&self, slot: u32, depth: usize) -> String {
        let slots = Slots::of(self.interface());
        let own = slots.globals.iter().rposition(|&first| first <= slot);
        match own.filter(|_| slot < slots.global_count()) {
            Some(n) => {
                let variable = &self.interface().globals[n];
                match variable.ty.scalars().len() {
                    1 => variable.name.clone(),
                    _ => format!("{}[{}]", variable.name, slot - slots.globals[n]),
                }
            }
            None => {
                let invariants = self.program.function(Role::Invariants);
                let place = (slot - slots.global_count()) as usize;
                let value = invariants.and_then(|f| Some((f, *f.body.yields.get(place)?)));
                value.map_or("…".to_string(), |(f, v)| self.value(f, v, depth + 1))
            }
        }
    }
}

fn infix(simple: Simple) -> Option<&'static str> {
    Some(match simple {
        Simple::Add => "+",
        Simple::Sub => "-",
        Simple::Mul => "*",
        Simple::Div => "/",
        Simple::Less => "<",
        Simple::LessEqual => "<=",
        Simple::Equal => "==",
        Simple::And => "&&",
        Simple::Or => "||",
        _ => return None,
    })
}
