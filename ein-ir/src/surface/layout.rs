//! Regions as lines: each value with a name on a line of its own, others where they are used, temporaries where a value is
//! used more than once or a line would become too long.

use super::{
    components::component,
    compose::substitute,
    convert::{Operand, as_row, whole},
    expr::Expr,
    recognize::Recognizer,
    text::{letter, note_names},
    units::Units,
};
use crate::{
    Groups, Index, Param, Symmetry, Term,
    region::{Region, ValueId},
};
use std::collections::{BTreeMap, BTreeSet};

/// One definition, `name = expr`.
#[derive(Clone, Debug)]
pub struct Line {
    /// The value of the region that is defined.
    pub value: ValueId,
    /// Its name, or an expression that stands for it.
    pub name: Expr,
    /// How many indices it is defined by: none if it is defined as a whole, all its axes in index notation.
    pub indices: usize,
    /// Its right side.
    pub expr: Expr,
}

impl Line {
    /// Whether the definition can stand in a program, as a whole or by index.
    pub fn is_surface(&self) -> bool {
        match self.indices {
            0 => self.expr.is_surface(),
            _ => self.expr.is_component(),
        }
    }

    /// The indices that stand after the name, in brackets; nothing if it is defined as a whole.
    pub fn left(&self) -> String {
        let mut names = Vec::new();
        note_names(&self.expr, &mut names);
        match self.indices {
            0 => String::new(),
            _ => format!("[{}]", self.letters(&names).join(",")),
        }
    }

    /// The line in the notation of programs.
    pub fn text(&self) -> String {
        format!("{}{} = {}", self.name, self.left(), self.expr)
    }

    /// The line as LaTeX, aligned at the equals sign.
    pub fn latex(&self) -> String {
        let indices = self.letters(&[]);
        let name = self.name.latex();
        match indices.is_empty() {
            true => format!("{name} &= {}", self.expr.latex()),
            false => format!(
                "{{{name}}}_{{{}}} &= {}",
                indices.join(" "),
                self.expr.latex()
            ),
        }
    }

    fn letters(&self, names: &[&str]) -> Vec<String> {
        let axes = 0..self.indices;
        axes.map(|axis| letter(Index::Axis(axis), &[], names))
            .collect()
    }
}

/// How a region is to be written.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    /// What each input is called.
    pub inputs: &'a [Expr],
    /// The values that get a line of their own, with their names.
    pub names: &'a BTreeMap<ValueId, String>,
    /// How each definition is symmetric; empty if nothing is known.
    pub symmetry: &'a [Symmetry],
    /// What the names of temporaries begin with.
    pub temporaries: &'a str,
    /// Whether the region is not a program's own text: then a value that is used more than once gets a temporary, and several
    /// operations may be written as the one row that says the same.
    pub shares: bool,
    /// The length of a line that is not to be exceeded if that can be avoided.
    pub width: usize,
}

/// A region in lines.
#[derive(Clone, Debug)]
pub struct Written {
    /// The definitions, in order.
    pub lines: Vec<Line>,
    /// How each value that was wanted is written.
    pub values: Vec<Expr>,
}

/// What a definition says of its arguments.
enum Form {
    Whole(Expr),
    /// Only by components.
    Indexed(Expr),
    /// Part of what another one says.
    Absorbed,
}

impl Layout<'_> {
    /// Writes the wanted values of a region and all that they need.
    pub fn write(&self, region: &Region, wanted: &[ValueId]) -> Written {
        let mut writer = Writer {
            layout: self,
            region,
            kinds: region.kinds(),
            forms: BTreeMap::new(),
            written: BTreeMap::new(),
            lines: Vec::new(),
            temporaries: 0,
            binders: 1000,
        };
        let needed = needed(region, wanted);
        writer.convert(&needed, wanted);
        let uses = writer.uses();
        for value in needed {
            writer.place(value, wanted, &uses);
        }
        let values = wanted
            .iter()
            .map(|&value| writer.reference(value))
            .collect();
        Written {
            lines: writer.lines,
            values,
        }
    }
}

/// The definitions that the wanted values need, in order.
fn needed(region: &Region, wanted: &[ValueId]) -> Vec<ValueId> {
    let inputs = region.inputs.len();
    let mut marked = vec![false; inputs + region.defs.len()];
    wanted.iter().for_each(|value| marked[value.0] = true);
    for k in (inputs..marked.len()).rev() {
        if marked[k] {
            region.defs[k - inputs]
                .args
                .iter()
                .for_each(|arg| marked[arg.0] = true);
        }
    }
    (inputs..marked.len())
        .filter(|&k| marked[k])
        .map(ValueId)
        .collect()
}

/// How a value is used.
#[derive(Default)]
struct Uses {
    count: usize,
    /// Somewhere as a whole, not by components.
    whole: bool,
}

struct Writer<'a> {
    layout: &'a Layout<'a>,
    region: &'a Region,
    kinds: Vec<Param>,
    forms: BTreeMap<ValueId, Form>,
    /// The values that are inlined where they are used, with their expressions.
    written: BTreeMap<ValueId, Expr>,
    lines: Vec<Line>,
    temporaries: usize,
    /// A summation index that is not used yet.
    binders: u32,
}

impl Writer<'_> {
    fn def(&self, value: ValueId) -> Option<&crate::region::Def> {
        value
            .0
            .checked_sub(self.region.inputs.len())
            .map(|k| &self.region.defs[k])
    }

    fn operand(&self, value: ValueId) -> Operand {
        let k = value.0.checked_sub(self.region.inputs.len());
        let symmetry = k.and_then(|k| self.layout.symmetry.get(k));
        Operand {
            expr: Expr::Value(value),
            kind: self.kinds[value.0].clone(),
            symmetry: symmetry.map_or_else(Groups::new, |known| known.symmetric.clone()),
        }
    }

    /// Says each definition in terms of its arguments; those that are part of a row with another are absorbed.
    fn convert(&mut self, needed: &[ValueId], wanted: &[ValueId]) {
        let mut users: BTreeMap<ValueId, usize> = BTreeMap::new();
        for value in needed {
            let args: BTreeSet<ValueId> = self.region.defs[value.0 - self.region.inputs.len()]
                .args
                .iter()
                .copied()
                .collect();
            args.into_iter()
                .for_each(|arg| *users.entry(arg).or_default() += 1);
        }
        let (mut recognizer, mut units) = (Recognizer::take(), Units::default());
        // A definition that has absorbed others is not absorbed itself.
        let mut composites: BTreeSet<ValueId> = BTreeSet::new();
        for &value in needed {
            let def = self.region.defs[value.0 - self.region.inputs.len()].clone();
            let can_be_absorbed = |arg: &ValueId| {
                self.layout.shares
                    && users[arg] == 1
                    && !wanted.contains(arg)
                    && !self.layout.names.contains_key(arg)
                    && !composites.contains(arg)
                    && self
                        .def(*arg)
                        .is_some_and(|def| !matches!(def.op.body, Term::Probe { .. }))
            };
            let parts: Vec<ValueId> = def.args.iter().copied().filter(can_be_absorbed).collect();
            if !parts.is_empty() {
                let inner = |arg: ValueId| {
                    parts
                        .contains(&arg)
                        .then(|| self.def(arg).cloned())
                        .flatten()
                };
                let joined = substitute(&def, &inner);
                let operands: Vec<Operand> =
                    joined.args.iter().map(|&arg| self.operand(arg)).collect();
                if let Some(expr) = as_row(&mut recognizer, &joined.op, &operands) {
                    composites.insert(value);
                    self.forms.insert(value, Form::Whole(expr));
                    // The matrix of an eigensystem stays an argument.
                    for part in parts.iter().filter(|part| !joined.args.contains(part)) {
                        self.forms.insert(*part, Form::Absorbed);
                    }
                    continue;
                }
            }
            let operands = def.args.iter().map(|&arg| self.operand(arg)).collect();
            let (op, operands) = units.fold(value, &def, operands);
            let form = match whole(&mut recognizer, &op, operands.clone()) {
                Some(expr) => Form::Whole(expr),
                None => Form::Indexed(component(&mut recognizer, &op, operands)),
            };
            self.forms.insert(value, form);
        }
        recognizer.give_back();
    }

    fn uses(&self) -> BTreeMap<ValueId, Uses> {
        fn count(expr: &Expr, by_component: bool, uses: &mut BTreeMap<ValueId, Uses>) {
            if let Expr::Value(value) = expr {
                let known = uses.entry(*value).or_default();
                known.count += 1;
                known.whole |= !by_component;
            }
            let by_component = matches!(expr, Expr::Component(..));
            expr.children()
                .into_iter()
                .for_each(|inner| count(inner, by_component, uses));
        }
        let mut uses = BTreeMap::new();
        for form in self.forms.values() {
            match form {
                Form::Whole(expr) | Form::Indexed(expr) => count(expr, false, &mut uses),
                Form::Absorbed => {}
            }
        }
        uses
    }

    /// Puts a value on a line or keeps it for where it is used.
    fn place(&mut self, value: ValueId, wanted: &[ValueId], uses: &BTreeMap<ValueId, Uses>) {
        let name = self.layout.names.get(&value).cloned();
        if self
            .def(value)
            .is_some_and(|def| matches!(def.op.body, Term::Position { .. }))
        {
            let name = Expr::Name(name.unwrap_or_else(|| "x".to_string()));
            self.written.insert(value, name);
            return;
        }
        let (expr, is_whole) = match &self.forms[&value] {
            Form::Absorbed => return,
            Form::Whole(expr) => (expr.clone(), true),
            Form::Indexed(expr) => (expr.clone(), self.kinds[value.0].shape().is_scalar()),
        };
        let room = self
            .layout
            .width
            .saturating_sub(name.as_ref().map_or(6, |name| name.len() + 3));
        let expr = self.fitted(expr, room);
        let (count, used_whole) = uses
            .get(&value)
            .map_or((0, false), |uses| (uses.count, uses.whole));
        let is_shared = self.layout.shares && count > 1 && !is_simple(&expr);
        let is_in_the_way = !is_whole && (used_whole || wanted.contains(&value));
        match name {
            Some(name) => self.line(value, name, expr, is_whole),
            None if is_shared || is_in_the_way => {
                let name = self.temporary();
                self.line(value, name, expr, is_whole);
            }
            None => {
                self.written.insert(value, expr);
            }
        }
    }

    fn line(&mut self, value: ValueId, name: String, expr: Expr, is_whole: bool) {
        let name = Expr::Name(name);
        self.written.insert(value, name.clone());
        let indices = if is_whole {
            0
        } else {
            self.kinds[value.0].shape().order()
        };
        self.lines.push(Line {
            value,
            name,
            indices,
            expr,
        });
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("{}{}", self.layout.temporaries, self.temporaries)
    }

    /// What stands for a value where it is used.
    fn reference(&self, value: ValueId) -> Expr {
        match self.layout.inputs.get(value.0) {
            Some(input) => input.clone(),
            None => self.written[&value].clone(),
        }
    }

    /// The expression with everything put in that stands where it is used, except what would make it too long: that gets a
    /// temporary.
    fn fitted(&mut self, form: Expr, room: usize) -> Expr {
        loop {
            let expr = self.resolve(form.clone());
            if expr.to_string().chars().count() <= room {
                return expr;
            }
            let mut inner: Vec<ValueId> = Vec::new();
            note_values(&form, &mut inner);
            let length = |value: &ValueId| self.reference(*value).to_string().chars().count();
            let longest = inner
                .into_iter()
                .filter(|value| value.0 >= self.region.inputs.len())
                .filter(|value| length(value) > SHORT)
                .max_by_key(length);
            let Some(value) = longest else { return expr };
            let name = self.temporary();
            let is_whole = match &self.forms[&value] {
                Form::Whole(_) => true,
                Form::Indexed(_) | Form::Absorbed => self.kinds[value.0].shape().is_scalar(),
            };
            let inner = self.written[&value].clone();
            self.line(value, name, inner, is_whole);
        }
    }

    fn resolve(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Component(inner, indices) => match *inner {
                Expr::Value(value) => {
                    let is_indexed = matches!(self.forms.get(&value), Some(Form::Indexed(_)))
                        && !matches!(self.written.get(&value), Some(Expr::Name(_)));
                    let inner = self.reference(value);
                    if is_indexed {
                        return self.at(inner, &indices);
                    }
                    Expr::Component(Box::new(inner), indices)
                }
                inner => Expr::Component(Box::new(self.resolve(inner)), indices),
            },
            Expr::Value(value) => self.reference(value),
            other => other.map(&mut |inner| self.resolve(inner)).tidy(),
        }
    }

    /// An expression in index notation at these indices, with summation indices of its own.
    fn at(&mut self, expr: Expr, indices: &[Index]) -> Expr {
        let first = self.binders;
        self.binders += 1000;
        expr.reindexed(&|index| match index {
            Index::Axis(axis) => indices[axis],
            Index::Bound(binder) => Index::Bound(first + binder % 1000),
            Index::Const(component) => Index::Const(component),
        })
    }
}

/// Expressions that are not worth a temporary to keep a line short.
const SHORT: usize = 10;

/// Whether writing it again is as short as a name.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_) | Expr::Int(_) | Expr::Number(_) | Expr::Value(_) => true,
        Expr::Identity(_) | Expr::Zeros(_) => true,
        Expr::Slice(inner, _) => is_simple(inner),
        Expr::Apply(row, args) => row.name == "neg" && args.iter().all(is_simple),
        _ => false,
    }
}

fn note_values(expr: &Expr, found: &mut Vec<ValueId>) {
    if let Expr::Value(value) = expr
        && !found.contains(value)
    {
        found.push(*value);
    }
    expr.children()
        .into_iter()
        .for_each(|inner| note_values(inner, found));
}
