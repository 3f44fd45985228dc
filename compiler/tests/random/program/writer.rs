//! The state of writing a program: the names in scope, and where they may be used.

use super::dice::Dice;
use super::types::{Field, Function, Kind, Origin, Place, Ty, Var};
use compiler::front::syntax::ast::Version;

/// What programs are generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Every construct.
    Any,
    /// Only those that kernels for GPUs have.
    Gpu,
    /// Strands that end with their first update, without loops and without anything that may fail.
    OneStep,
}

pub(crate) struct Writer {
    pub(crate) dice: Dice,
    pub(crate) version: Version,
    pub(crate) purpose: Purpose,
    pub(crate) vars: Vec<Var>,
    pub(crate) functions: Vec<Function>,
    pub(crate) fields: Vec<Field>,
    pub(crate) place: Place,
    /// Whether strands may be born and die.
    pub(crate) collection: bool,
    /// The type of `pos`, if strands look for others.
    pub(crate) position: Option<Ty>,
    /// Whether nothing in methods may fail or needs the runtime, so that code for vectors runs several super-steps in one call.
    pub(crate) is_quiet: bool,
    /// Loops around this place, by their rounds.
    pub(crate) rounds: usize,
    /// The result of the function that is written.
    pub(crate) result: Option<Ty>,
    /// How many expressions may still be written before only leaves are.
    pub(crate) fuel: usize,
    /// The last number of a name.
    names: usize,
}

impl Writer {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Writer {
        let mut dice = Dice::new(seed);
        let is_old = purpose == Purpose::Any && dice.once_in(12);
        Writer {
            version: if is_old { Version::V1 } else { Version::V2 },
            dice,
            purpose,
            vars: Vec::new(),
            functions: Vec::new(),
            fields: Vec::new(),
            place: Place::Globals,
            collection: false,
            position: None,
            is_quiet: false,
            rounds: 1,
            result: None,
            fuel: 0,
            names: 0,
        }
    }

    pub(crate) fn is_new(&self) -> bool {
        self.version == Version::V2
    }

    /// Whether sequences of varying length may be written.
    pub(crate) fn has_lists(&self) -> bool {
        !self.is_quiet
    }

    /// An integer from 0 to `most` that another one decides.
    pub(crate) fn limited(&self, int: &str, most: usize) -> String {
        match self.is_quiet {
            true => format!("min(max({int}, 0), {most})"),
            false => format!("|({int}) % {}|", most + 1),
        }
    }

    /// An integer near 0 that another one decides.
    pub(crate) fn bounded_int(&self, int: &str) -> String {
        match self.is_quiet {
            true => format!("min(max({int}, -17), 17)"),
            false => format!("({int}) % 17"),
        }
    }

    /// A name that nothing has.
    pub(crate) fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    pub(crate) fn written(&self, ty: &Ty) -> String {
        ty.text(self.version)
    }

    pub(crate) fn define(&mut self, name: &str, ty: Ty, origin: Origin, kind: Kind) {
        let name = name.to_string();
        self.vars.push(Var {
            name,
            ty,
            origin,
            kind,
        });
    }

    /// Writes something whose names are not seen afterwards.
    pub(crate) fn scope(&mut self, write: impl FnOnce(&mut Writer) -> String) -> String {
        let before = self.vars.len();
        let text = write(self);
        self.vars.truncate(before);
        text
    }

    /// A variable of a type.
    pub(crate) fn variable(&mut self, ty: &Ty) -> Option<String> {
        self.choose(|var| var.ty == *ty)
    }

    /// A variable that may be assigned here.
    pub(crate) fn target(&mut self, wanted: impl Fn(&Ty) -> bool) -> Option<Var> {
        let place = self.place;
        let fits = |var: &&Var| place.assigns(var.origin) && wanted(&var.ty);
        let found: Vec<Var> = self.vars.iter().filter(fits).cloned().collect();
        (!found.is_empty()).then(|| found[self.dice.below(found.len())].clone())
    }

    /// A variable, if there is one; inner ones are more likely.
    pub(crate) fn choose(&mut self, wanted: impl Fn(&Var) -> bool) -> Option<String> {
        let found: Vec<&Var> = self.vars.iter().filter(|var| wanted(var)).collect();
        if found.is_empty() {
            return None;
        }
        let [a, b] = [0, 1].map(|_| self.dice.below(found.len()));
        Some(found[a.max(b)].name.clone())
    }

    /// Uses some fuel; gives the depth that is left below, which is 0 if there is none.
    pub(crate) fn below(&mut self, depth: usize) -> usize {
        self.fuel = self.fuel.saturating_sub(1);
        if self.fuel == 0 {
            0
        } else {
            depth.saturating_sub(1)
        }
    }

    /// An element of a sequence.
    pub(crate) fn element(&self, sequence: &str, index: &str) -> String {
        match self.version {
            Version::V1 => format!("{sequence}{{{index}}}"),
            Version::V2 => format!("{sequence}[{index}]"),
        }
    }
}
