//! Statements.

use super::others::STRAND;
use super::types::{Kind, Origin, Place, Ty, Var};
use super::writer::{Purpose, Writer};

/// Rounds of all loops around a place together, at most.
const MOST_ROUNDS: usize = 12;

impl Writer {
    /// Statements in braces.
    pub(crate) fn block(&mut self, count: usize, depth: usize) -> String {
        let statements = self.scope(|this| this.statements(count, depth));
        format!("{{\n{statements}}}\n")
    }

    pub(crate) fn statements(&mut self, count: usize, depth: usize) -> String {
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        let nested = if depth == 0 { 0 } else { 9 };
        match self.dice.below(16 + nested) {
            0..=6 => self.assignment(),
            7 => self.combined_assignment(),
            8 => self.declaration(),
            9 => self.late_declaration(),
            10 if self.is_new() => self.indexed_definition(),
            11 if self.is_new() && self.place == Place::Update => self.request(),
            12 => self.exit(),
            13 => self.grows(),
            14 => self.print(),
            15 => self.birth(),
            16..=19 => self.branch(depth),
            20..=22 => self.repetition(depth),
            23 => {
                let count = 1 + self.dice.below(2);
                self.block(count, depth - 1)
            }
            24 => self.exchange(),
            _ => self.assignment(),
        }
    }

    /// A value for a variable that stays bounded however often it is fed back.
    fn bounded(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Real => match self.dice.below(4) {
                0 => {
                    let e = self.real(2);
                    format!("({e})/(1 + |({e})|)")
                }
                1 => format!("clamp(-2, 2, {})", self.real(3)),
                _ => format!("sin({})", self.real(4)),
            },
            Ty::Int => {
                let e = self.int(3);
                self.bounded_int(&e)
            }
            Ty::Tensor(shape) => {
                let e = self.tensor(shape, 2);
                format!("({e})/(1 + |{e}|)")
            }
            Ty::Fixed(element, n) => {
                let parts: Vec<String> = (0..*n).map(|_| self.bounded(element)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Ty::List(element) => {
                let e = self.bounded(element);
                match self.dice.below(4) {
                    0 => "{}".into(),
                    1 if self.is_new() => {
                        let end = self.int(0);
                        format!("{{{e} | t0 in 0..{end} % 4}}")
                    }
                    _ => format!("{{{e}}}"),
                }
            }
            Ty::Bool => self.truth(3),
            Ty::Text => self.expr(ty, 1),
        }
    }

    fn assignment(&mut self) -> String {
        let Some(Var { name, ty, .. }) = self.target(|_| true) else {
            return self.declaration();
        };
        format!("{name} = {};\n", self.bounded(&ty))
    }

    /// `+=` and the like, of values that are not fed back into themselves without bounds.
    fn combined_assignment(&mut self) -> String {
        let Some(Var { name, ty, .. }) =
            self.target(|ty| matches!(ty, Ty::Real | Ty::Int | Ty::Tensor(_)))
        else {
            return self.declaration();
        };
        let op = match ty {
            Ty::Int if self.is_quiet => self.dice.pick(&["+=", "-=", "*="]),
            Ty::Int => self.dice.pick(&["+=", "-=", "*=", "/=", "%="]),
            _ => self.dice.pick(&["+=", "-=", "*=", "/="]),
        };
        let value = match (&ty, op) {
            (Ty::Int, "/=" | "%=") => format!("3 + |{} % 4|", self.int(1)),
            (Ty::Int, _) => {
                let e = self.int(2);
                self.limited(&e, 4)
            }
            (_, "*=") => format!("cos({})", self.real(2)),
            (_, "/=") => format!("1.25 + |({})|", self.real(2)),
            _ => format!("0.25*{}", self.expr_in_parentheses(&ty)),
        };
        let again = match ty {
            Ty::Int => format!("{name} = {};\n", self.bounded_int(&name)),
            _ => format!("{name} = {name}/(1 + |{name}|);\n"),
        };
        format!("{name} {op} {value};\n{again}")
    }

    fn expr_in_parentheses(&mut self, ty: &Ty) -> String {
        format!("({})", self.expr(ty, 2))
    }

    fn any_type(&mut self) -> Ty {
        match self.dice.below(14) {
            0..=4 => Ty::Real,
            5 | 6 => Ty::Int,
            7 => Ty::Bool,
            8 => Ty::tensor(&[2]),
            9 => Ty::tensor(&[3]),
            10 => Ty::tensor(
                self.dice
                    .pick(&[&[2, 2][..], &[3, 3], &[2, 3], &[4], &[2, 2, 2]]),
            ),
            11 => Ty::fixed(Ty::Real, 2 + self.dice.below(3)),
            12 if self.has_lists() => Ty::list(Ty::Real),
            _ => Ty::Text,
        }
    }

    fn declaration(&mut self) -> String {
        let ty = self.any_type();
        let name = self.fresh("v");
        let value = self.bounded(&ty);
        let text = format!("{} {name} = {value};\n", self.written(&ty));
        self.define(&name, ty, Origin::Local, Kind::Varying);
        text
    }

    /// A variable that gets its value in two arms.
    fn late_declaration(&mut self) -> String {
        if !self.is_new() {
            return self.declaration();
        }
        let ty = self.any_type();
        let name = self.fresh("v");
        let condition = self.condition();
        let [a, b] = [0, 1].map(|_| self.bounded(&ty));
        let text = format!(
            "{} {name};\nif ({condition}) {{ {name} = {a}; }} else {{ {name} = {b}; }}\n",
            self.written(&ty)
        );
        self.define(&name, ty, Origin::Local, Kind::Varying);
        text
    }

    /// Two variables change places.
    fn exchange(&mut self) -> String {
        let Some(a) = self.target(|_| true) else {
            return String::new();
        };
        let Some(b) = self.target(|ty| *ty == a.ty) else {
            return String::new();
        };
        let t = self.fresh("v");
        let ty = self.written(&a.ty);
        let (a, b) = (a.name, b.name);
        format!("{{ {ty} {t} = {a}; {a} = {b}; {b} = {t}; }}\n")
    }

    /// A sequence becomes longer.
    fn grows(&mut self) -> String {
        let Some(Var { name, ty, .. }) = self.target(|ty| matches!(ty, Ty::List(_))) else {
            return self.assignment();
        };
        let Ty::List(element) = ty else {
            unreachable!()
        };
        let e = self.bounded(&element);
        let longer = match self.dice.below(4) {
            0 => format!("{name} = {e} @ {name}"),
            1 => format!("{name} @= {e}"),
            _ => format!("{name} = {name} @ {e}"),
        };
        format!("if (length({name}) < 6) {{ {longer}; }}\n")
    }

    fn exit(&mut self) -> String {
        match self.place {
            Place::Function => {
                let Some(ty) = self.result.clone() else {
                    return String::new();
                };
                let value = self.bounded(&ty);
                format!("if ({}) {{ return {value}; }}\n", self.condition())
            }
            Place::Update | Place::Start if self.purpose != Purpose::OneStep => {
                let exit = match self.collection {
                    true => self.dice.pick(&["stabilize", "die", "continue"]),
                    false => self.dice.pick(&["stabilize", "continue"]),
                };
                let old = if self.place == Place::Update {
                    "age > 1 && "
                } else {
                    ""
                };
                match self.dice.below(2) {
                    0 => format!("if ({old}{}) {exit};\n", self.condition()),
                    _ => {
                        let before = self.scope(Writer::assignment);
                        format!("if ({old}{}) {{ {before} {exit}; }}\n", self.condition())
                    }
                }
            }
            Place::GlobalBlock => {
                let exit = match self.collection {
                    true => self.dice.pick(&["stabilize", "die", "continue"]),
                    false => self.dice.pick(&["stabilize", "continue"]),
                };
                format!("if (round0 > 2 && {}) {{ {exit}; }}\n", self.condition())
            }
            _ => self.assignment(),
        }
    }

    fn print(&mut self) -> String {
        let allowed = self.place.is_method() || self.place == Place::GlobalBlock;
        let allowed = allowed && !(self.is_quiet && self.place.is_method());
        if !allowed || !self.dice.once_in(3) {
            return self.assignment();
        }
        let n = 1 + self.dice.below(3);
        let mut parts = Vec::new();
        for _ in 0..n {
            let ty = self.any_type();
            parts.push(self.expr(&ty, 1));
        }
        format!("print({}, \"\\n\");\n", parts.join(", \" \", "))
    }

    /// A new strand.
    fn birth(&mut self) -> String {
        let allowed = self.collection && matches!(self.place, Place::Update | Place::Start);
        if !allowed || self.is_quiet || self.rounds > 1 || !self.dice.once_in(2) {
            return self.assignment();
        }
        // Those that are born have none themselves.
        let (n, condition) = (self.int(1), self.condition());
        format!(
            "if (i < 40 && age == 1 && {condition}) {{ new {STRAND}(40 + |{n} % 4|, j + 1); }}\n"
        )
    }

    fn branch(&mut self, depth: usize) -> String {
        let condition = self.condition();
        let count = 1 + self.dice.below(2);
        let then = match self.dice.below(6) {
            0 => {
                // Without braces.
                let place = self.place;
                match self
                    .target(|ty| *ty == Ty::Real)
                    .filter(|_| place != Place::State)
                {
                    Some(var) => format!("{} = {};\n", var.name, self.bounded(&Ty::Real)),
                    None => self.block(1, depth - 1),
                }
            }
            1 => "{ }\n".into(),
            _ => self.block(count, depth - 1),
        };
        match self.dice.below(5) {
            0 | 1 => format!("if ({condition}) {then}"),
            2 => {
                let other = self.branch(depth.max(2) - 1);
                format!("if ({condition}) {then}else {other}")
            }
            _ => format!(
                "if ({condition}) {then}else {}",
                self.block(1 + count / 2, depth - 1)
            ),
        }
    }

    fn repetition(&mut self, depth: usize) -> String {
        if self.rounds >= MOST_ROUNDS || self.purpose == Purpose::OneStep {
            return self.assignment();
        }
        let (ty, source, rounds, kind) = match self.dice.below(8) {
            0 if self.is_new() => {
                let end = 1 + self.dice.below(2);
                (Ty::Int, format!("0..{end}"), end + 1, Kind::Counter)
            }
            1 if self.is_new() => (Ty::Int, "1..m".into(), 3, Kind::Counter),
            2 | 3 if self.is_new() => {
                let e = self.int(1);
                (
                    Ty::Int,
                    format!("1..{}", self.limited(&e, 3)),
                    3,
                    Kind::Counter,
                )
            }
            4 if self.has_lists() && self.is_new() => {
                (Ty::Real, self.list(&Ty::Real, 1), 4, Kind::Varying)
            }
            5 | 6 if self.place.is_method() && self.position.is_some() => {
                return self.for_each_neighbour();
            }
            _ => {
                let n = 2 + self.dice.below(2);
                (Ty::Real, self.fixed(&Ty::Real, n, 1), n, Kind::Varying)
            }
        };
        let name = self.fresh("k");
        let before = (self.vars.len(), self.rounds);
        self.define(&name, ty.clone(), Origin::Fixed, kind);
        self.rounds *= rounds;
        let count = 1 + self.dice.below(2);
        let body = self.block(count, depth - 1);
        self.vars.truncate(before.0);
        self.rounds = before.1;
        format!("foreach ({} {name} in {source}) {body}", self.written(&ty))
    }

    /// A loop over strands. Its result does not depend on their order.
    fn for_each_neighbour(&mut self) -> String {
        let Some(strands) = self.sphere(1) else {
            return self.assignment();
        };
        let [q, near] = ["q", "near"].map(|letter| self.fresh(letter));
        let (before, source) = match self.is_new() && self.dice.once_in(3) {
            true => (format!("{STRAND}[] {near} = {strands};\n"), near),
            false => (String::new(), strands),
        };
        let gathers = match self.dice.below(3) {
            0 => format!("p = (p + {q}.p) % 1024;"),
            1 => format!(
                "if ({q}.a > {}) {{ p = (p + 1) % 1024; }}",
                self.dice.odd_number()
            ),
            _ => format!("a = max(a, {q}.a*{});", self.dice.odd_number()),
        };
        format!("{{ {before}foreach ({STRAND} {q} in {source}) {{ {gathers} }} p = p % 17; }}\n")
    }
}
