//! The operator table: every operator and function of the surface language is one row.
//!
//! A row has the spellings of the operator, its types, its meaning, its extension to fields, and an independent
//! definition for the tests. The parser's precedences, overload resolution, translation, test generation and the manual
//! are all read from the rows, so that adding an operator is adding a row.
//!
//! Meanings are EIN text (see [`crate::parse`](mod@crate::parse)) over the arguments `a`, `b`, `c`, … and the names of
//! the signature: with the signature `[α n] [n β] -> [α β]`, the text `α β | Σ k:n. a[α k] b[k β]` is the inner product
//! at all shapes. Tensor arguments of a field operator are constant fields, so no row exists twice.

mod accept;
mod arithmetic;
mod builtin;
mod calculus;
mod eigen;
mod elementary;
mod images;
mod instances;
mod interpolation;
mod logic;
mod manual;
mod mismatch;
mod sequences;
mod signature;
pub mod special;
pub mod spelling;
mod tensor;
pub(crate) mod vocabulary;
mod wanted;

pub use accept::{Fixed, Instance, resolve, resolve_as};
pub use builtin::{Border, Builtin, DataFact, FramesFact, Reduction, Relation, StrandSet};
pub use instances::Variety;
pub use manual::manual;
pub use mismatch::{Mismatch, Rejection};
pub use vocabulary::{Associativity, Domain, Level, Lift, Syntax};
pub use wanted::wanted;

use crate::{Elementary, Jet, Tensor};
pub(crate) use signature::Bindings;
use signature::Signature;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What an operator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// An EIN operator, as text over the names of the signature. If the result is a sequence, its elements are along
    /// the first axis.
    Ein(&'static str),
    /// An elementary function of its arguments.
    Elementary(Elementary),
    /// An EIN operator that depends on more than the shapes of its arguments; built by [`special`].
    Form(Form),
    /// No EIN operator.
    Builtin(Builtin),
}

/// EIN operators with parameters that the program fixes, or with any number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A field at a position.
    Probe,
    /// Components or parts of a tensor; the program fixes the mask of indices.
    Slice,
    /// A tensor from its parts along a new first axis.
    Concat,
    /// An integer power. The program fixes the exponent, except that of a tensor, which may also be an argument.
    Power,
    /// One of several tensors or fields by its number, counted from 1 and clamped.
    Swap,
}

/// The meaning of an operator by components, written independently of its EIN text. Nothing is compiled from it.
#[derive(Clone, Copy, Debug)]
pub enum Oracle {
    /// There is none: EIN cannot express the operator, or it needs more than its arguments.
    None,
    /// A function of the arguments' components.
    Components(fn(&[Tensor<Jet>]) -> Tensor<Jet>),
    /// The Taylor series of an elementary function.
    Series(Elementary),
}

/// A row of the operator table.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// The operator's name in messages, dumps and tests; unique.
    pub name: &'static str,
    /// How it is written: the usual way, then alternatives.
    pub syntax: &'static [Syntax],
    /// On which types it works, in the notation of the table.
    pub sig: &'static str,
    /// Its meaning.
    pub meaning: Meaning,
    /// How it extends to fields.
    pub lift: Lift,
    /// How many derivatives it takes: the result has that many continuous ones fewer than the argument with the fewest.
    pub derivatives: u32,
    /// How many derivatives by time it takes.
    pub time_derivatives: u32,
    /// What arguments, by position, must stay away from.
    pub domain: &'static [(usize, Domain)],
    /// The meaning by components, for every operator that EIN can express.
    pub oracle: Oracle,
    /// Its documentation, in one line.
    pub doc: &'static str,
}

/// What most rows have in common: an operator on tensors that works point by point on fields.
const POINTWISE: OpDef = OpDef {
    name: "",
    syntax: &[],
    sig: "",
    meaning: Meaning::Ein(""),
    lift: Lift::Pointwise,
    derivatives: 0,
    time_derivatives: 0,
    domain: &[],
    oracle: Oracle::None,
    doc: "",
};

/// What rows have in common that take their arguments just as the signature says.
const PLAIN: OpDef = OpDef {
    lift: Lift::None,
    ..POINTWISE
};

/// What differential operators have in common.
const DERIVATIVE: OpDef = OpDef {
    lift: Lift::Derivative,
    derivatives: 1,
    ..POINTWISE
};

/// A row for what EIN cannot express.
const fn builtin_row(
    name: &'static str,
    syntax: &'static [Syntax],
    sig: &'static str,
    builtin: Builtin,
    doc: &'static str,
) -> OpDef {
    OpDef {
        name,
        syntax,
        sig,
        meaning: Meaning::Builtin(builtin),
        doc,
        ..PLAIN
    }
}

const TABLES: [&[OpDef]; 9] = [
    arithmetic::ROWS,
    logic::ROWS,
    tensor::ROWS,
    eigen::ROWS,
    interpolation::ROWS,
    elementary::ROWS,
    calculus::ROWS,
    images::ROWS,
    sequences::ROWS,
];

const COUNT: usize = {
    let (mut count, mut table) = (0, 0);
    while table < TABLES.len() {
        count += TABLES[table].len();
        table += 1;
    }
    count
};

/// All rows. Among rows of one spelling the order is that of overload resolution.
pub static OPERATORS: [OpDef; COUNT] = {
    let mut rows = [POINTWISE; COUNT];
    let (mut filled, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            rows[filled] = TABLES[table][row];
            filled += 1;
            row += 1;
        }
        table += 1;
    }
    rows
};

static BY_SPELLING: LazyLock<BTreeMap<&'static str, Vec<&'static OpDef>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<&str, Vec<&OpDef>> = BTreeMap::new();
    for row in &OPERATORS {
        for syntax in row.syntax {
            rows.entry(syntax.spelling()).or_default().push(row);
        }
    }
    rows
});

static SIGNATURES: LazyLock<BTreeMap<&'static str, Signature>> = LazyLock::new(|| {
    OPERATORS
        .iter()
        .map(|row| (row.sig, Signature::parse(row.sig)))
        .collect()
});

/// The rows with this spelling in the order in which overload resolution tries them; none if there is no such operator.
pub fn candidates(spelling: &str) -> impl Iterator<Item = &'static OpDef> + use<> {
    BY_SPELLING.get(spelling).into_iter().flatten().copied()
}

impl OpDef {
    /// The row with this name.
    pub fn named(name: &str) -> Option<&'static OpDef> {
        OPERATORS.iter().find(|row| row.name == name)
    }

    /// The result that the row's oracle gives, if it has one.
    ///
    /// Arguments are jets around a common point and so is the result. A field that is probed is expanded around the
    /// position; a derivative knows as many orders less than its argument as it takes.
    pub fn expected(&self, args: &[Tensor<Jet>]) -> Option<Tensor<Jet>> {
        match self.oracle {
            Oracle::None => None,
            Oracle::Components(result) => Some(result(args)),
            Oracle::Series(function) => {
                let args: Vec<Jet> = args.iter().map(|arg| arg.components()[0].clone()).collect();
                Some(Tensor::scalar(function.expand(&args)))
            }
        }
    }

    /// The number of arguments; none if there may be any number.
    pub(crate) fn arity(&self) -> Option<usize> {
        let signature = self.signature();
        signature.repeat.is_none().then_some(signature.args.len())
    }

    fn signature(&self) -> &'static Signature {
        &SIGNATURES[self.sig]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_of_rows_are_unique() {
        let names: BTreeSet<&str> = OPERATORS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), OPERATORS.len());
    }

    #[test]
    fn rows_are_documented_and_every_ein_meaning_has_an_oracle() {
        for row in &OPERATORS {
            assert!(
                !row.syntax.is_empty() && !row.doc.is_empty(),
                "{}",
                row.name
            );
            // The oracle of a slice, an identity or zeros would need what only the program says.
            let has_oracle = match row.meaning {
                Meaning::Ein(_) => !row.signature().args.is_empty(),
                Meaning::Elementary(_) => true,
                Meaning::Form(Form::Slice) => false,
                Meaning::Form(Form::Probe | Form::Concat | Form::Swap | Form::Power) => true,
                Meaning::Builtin(_) => false,
            };
            let oracle = !matches!(row.oracle, Oracle::None);
            assert_eq!(oracle, has_oracle, "{}", row.name);
        }
    }

    #[test]
    fn one_spelling_has_one_precedence_per_position() {
        let mut levels = BTreeMap::new();
        for syntax in OPERATORS.iter().flat_map(|row| row.syntax) {
            let position = match syntax {
                Syntax::Infix(..) => "infix",
                Syntax::Prefix(..) => "prefix",
                Syntax::Call(_) | Syntax::Constant(_) | Syntax::Form(..) => "other",
            };
            let level = *levels
                .entry((syntax.spelling(), position))
                .or_insert(syntax.level());
            assert_eq!(level, syntax.level(), "{}", syntax.spelling());
        }
    }

    #[test]
    fn symbols_that_cannot_be_typed_have_an_ascii_spelling() {
        for row in &OPERATORS {
            assert!(
                row.syntax.iter().any(|syntax| syntax.spelling().is_ascii()),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn precedence_levels_are_those_of_the_language() {
        let level = |spelling: &str| candidates(spelling).next().unwrap().syntax[0].level();
        let loosest_first = [
            "if", "..", "||", "&&", "<", "+", "*", "∘", "!", "^", "length", "∇", "π",
        ];
        for pair in loosest_first.windows(2) {
            assert!(level(pair[0]) < level(pair[1]), "{pair:?}");
        }
        for (spelling, like) in [
            ("@", "+"),
            ("⊛", "*"),
            ("•", "*"),
            (":", "*"),
            ("%", "*"),
            ("==", "<"),
        ] {
            assert_eq!(level(spelling), level(like), "{spelling}");
        }
    }
}
