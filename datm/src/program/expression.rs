//! Text of expressions, with the definitions that they need.
//!
//! Parentheses are written only where precedence needs them, so the parser is under test too.

use super::{Dialect, by_index};
use crate::data::variable_name;
use crate::operator::{Level, Operator, Syntax, Truth};
use crate::tree::{Rules, Tree, result_type};
use crate::types::Type;

/// How much of an expression has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// A field is defined as a whole, before the strand, and probed.
    Whole,
    /// The same inside the method.
    Local,
    /// Nothing: the expression itself is probed.
    Inline,
    /// Nothing: operators are applied to values where possible, and the fields below them are probed.
    Values,
    /// Every operator has a definition.
    Each,
    /// Every operator has a definition by index, if index notation can say it.
    Indices,
    /// The part of the expression that can be computed from values is the body of a field function.
    Functions,
}

/// The text of an expression's value, and what must be defined before it.
#[derive(Default)]
pub(super) struct Written {
    /// Definitions before the strand.
    pub(super) globals: Vec<String>,
    /// Definitions inside the method.
    pub(super) locals: Vec<String>,
    /// Whether there are field functions among them.
    pub(super) field_functions: bool,
    /// The value at the position.
    pub(super) value: String,
}

/// Writes one expression.
struct Writer<'a> {
    dialect: &'a Dialect,
    parts: Parts,
    /// The name of the position.
    position: &'a str,
    names: usize,
    written: Written,
}

/// The parameter of field functions.
const PARAMETER: &str = "p";

/// The value of an expression at a position of this name.
pub(super) fn write(tree: &Tree, parts: Parts, position: &str, dialect: &Dialect) -> Written {
    let mut writer = Writer {
        dialect,
        parts,
        position,
        names: 0,
        written: Written::default(),
    };
    writer.written.value = writer.root(tree);
    writer.written
}

/// The text of an expression in version 2.0, with variables by their names. Field functions that it needs are left out.
pub fn expression(tree: &Tree) -> String {
    let mut writer = Writer {
        dialect: &super::VERSION_2,
        parts: Parts::Inline,
        position: "x",
        names: 0,
        written: Written::default(),
    };
    writer.text(tree).0
}

fn type_of(tree: &Tree) -> Type {
    // Trees are well typed; the type of anything else only has to be harmless.
    tree.type_of(Rules::Language)
        .unwrap_or(Type::tensor(crate::types::Shape::SCALAR))
}

/// Whether an operator on fields can as well be applied to their values.
fn is_of_values(operator: &Operator, arguments: &[Tree]) -> bool {
    let types: Vec<Type> = arguments
        .iter()
        .map(|argument| Type::tensor(type_of(argument).shape))
        .collect();
    matches!(operator.truth, Truth::Pointwise(_))
        && result_type(operator, &types, Rules::Language).is_some()
}

/// The text with blanks where it begins or ends with a bar.
fn apart(text: &str) -> String {
    let blank = |bar: bool| if bar { " " } else { "" };
    format!(
        "{}{text}{}",
        blank(text.starts_with('|')),
        blank(text.ends_with('|'))
    )
}

fn in_parentheses((text, found): (String, Level), level: Level) -> String {
    if found >= level {
        text
    } else {
        format!("({text})")
    }
}

impl Writer<'_> {
    /// The value of the whole expression.
    fn root(&mut self, tree: &Tree) -> String {
        let ty = type_of(tree);
        match self.parts {
            Parts::Whole | Parts::Local if ty.is_field() => {
                let (text, _) = self.text(tree);
                let definition = format!("{} G = {text};", ty.source());
                let list = match self.parts {
                    Parts::Local => &mut self.written.locals,
                    _ => &mut self.written.globals,
                };
                list.push(definition);
                format!("G({})", self.position)
            }
            Parts::Values if ty.is_field() => {
                let position = self.position.to_string();
                self.value(tree, &position).0
            }
            Parts::Functions if ty.varies() => {
                format!("{}({})", self.function(tree), self.position)
            }
            Parts::Inline | Parts::Each | Parts::Indices if ty.is_field() => {
                format!("{}({})", self.operand(tree, Level::Suffix), self.position)
            }
            Parts::Each | Parts::Indices => self.part(tree).0,
            _ => self.text(tree).0,
        }
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("G{}", self.names)
    }

    /// Defines a field function and gives its name. A value is a function that is only known where it is probed.
    fn function(&mut self, tree: &Tree) -> String {
        let ty = type_of(tree);
        let (text, _) = if ty.is_field() {
            self.value(tree, PARAMETER)
        } else {
            let position = std::mem::replace(&mut self.position, PARAMETER);
            let text = self.text(tree);
            self.position = position;
            text
        };
        let field = Type::field(ty.dim, ty.continuity, ty.shape).source();
        let name = self.new_name();
        let definition = format!("{field} {name} ({PARAMETER}) = {text};");
        self.written.globals.push(definition);
        self.written.field_functions = true;
        name
    }

    /// The value of a field at a position, with operators applied to values where possible. Of a tensor, its text.
    fn value(&mut self, tree: &Tree, position: &str) -> (String, Level) {
        match tree {
            _ if !type_of(tree).is_field() => self.text(tree),
            Tree::Apply(operator, arguments) if is_of_values(operator, arguments) => {
                let parts = arguments.iter().map(|part| self.value(part, position));
                let parts = parts.collect();
                self.application(operator, parts)
            }
            _ => {
                let text = in_parentheses(self.text(tree), Level::Suffix);
                (format!("{text}({position})"), Level::Suffix)
            }
        }
    }

    /// An operand of an operator, by its name if it has one.
    fn operand(&mut self, tree: &Tree, level: Level) -> String {
        let part = self.part(tree);
        in_parentheses(part, level)
    }

    fn part(&mut self, tree: &Tree) -> (String, Level) {
        let Tree::Apply(operator, arguments) = tree else {
            return self.text(tree);
        };
        let ty = type_of(tree);
        match self.parts {
            Parts::Functions if ty.is_field() && is_of_values(operator, arguments) => {
                (self.function(tree), Level::Atom)
            }
            Parts::Each | Parts::Indices => {
                let by_index = match self.parts {
                    Parts::Indices => self.by_index(operator, arguments, ty),
                    _ => None,
                };
                let (left, text) = by_index.unwrap_or_else(|| (String::new(), self.text(tree).0));
                let name = self.new_name();
                let definition = format!("{} {name}{left} = {text};", ty.source());
                if ty.varies() && !ty.is_field() {
                    self.written.locals.push(definition);
                } else {
                    self.written.globals.push(definition);
                }
                (name, Level::Atom)
            }
            _ => self.text(tree),
        }
    }

    /// The left and the right side of a definition by index, if there is one.
    fn by_index(
        &mut self,
        operator: &Operator,
        arguments: &[Tree],
        ty: Type,
    ) -> Option<(String, String)> {
        // Without a definition by index, the definitions of its operands are removed again: they would be made twice.
        let (names, count) = (self.names, self.written.globals.len());
        let locals = self.written.locals.len();
        let operands: Vec<(String, Type)> = arguments
            .iter()
            .map(|argument| (self.operand(argument, Level::Suffix), type_of(argument)))
            .collect();
        let left = by_index::left(ty.shape);
        let body = by_index::body(operator, &operands, &left, self.position);
        let of_components = || {
            if !by_index::is_by_components(operator, &operands, ty.shape) {
                return None;
            }
            let parts = operands
                .iter()
                .map(|(name, own)| match own.shape == ty.shape {
                    true => (by_index::component(name, &left), Level::Suffix),
                    false => (name.clone(), Level::Suffix),
                });
            Some(self.application(operator, parts.collect()).0)
        };
        let body = body.or_else(of_components);
        if body.is_none() {
            self.names = names;
            self.written.globals.truncate(count);
            self.written.locals.truncate(locals);
        }
        Some((by_index::component("", &left), body?))
    }

    /// The text of an expression as it stands.
    fn text(&mut self, tree: &Tree) -> (String, Level) {
        match tree {
            Tree::Variable { ty, number } => (variable_name(*ty, *number), Level::Atom),
            Tree::Constant(constant) => {
                let text = constant.to_string();
                let level = if text.starts_with('-') {
                    Level::Negation
                } else {
                    Level::Atom
                };
                (text, level)
            }
            Tree::Apply(operator, _)
                if operator.syntax == Syntax::Choice && type_of(tree).is_field() =>
            {
                (self.function(tree), Level::Atom)
            }
            Tree::Apply(operator, arguments) => {
                let parts = arguments.iter().map(|part| self.part(part)).collect();
                self.application(operator, parts)
            }
        }
    }

    /// An operator between or around its operands.
    fn application(&self, operator: &Operator, parts: Vec<(String, Level)>) -> (String, Level) {
        let operand = |n: usize, level| in_parentheses(parts[n].clone(), level);
        let list = || {
            let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
            texts.join(", ")
        };
        match operator.syntax {
            Syntax::Invisible => parts[0].clone(),
            // Infix operators group from the left, so only a right operand of the same level needs parentheses.
            Syntax::Infix(symbol, level) => {
                let (left, right) = match level {
                    Level::Sum => (Level::Sum, Level::Product),
                    Level::Product => (Level::Product, Level::Negation),
                    // Only powers are left; they group from neither side.
                    _ => (Level::Suffix, Level::Suffix),
                };
                let (left, right) = (operand(0, left), operand(1, right));
                (format!("{left} {symbol} {right}"), level)
            }
            Syntax::Negation => (format!("-{}", operand(0, Level::Negation)), Level::Negation),
            Syntax::Nabla(symbol) => (
                format!("{symbol}{}", operand(0, Level::Nabla)),
                Level::Nabla,
            ),
            // Two bars that touch would be the logical operator.
            Syntax::Bars => (format!("|{}|", apart(&parts[0].0)), Level::Atom),
            // A nabla before a call is one of what the function gives.
            Syntax::Call(name) => (format!("{name}({})", list()), Level::Nabla),
            Syntax::CallWith(name, first) => (format!("{name}({first}, {})", list()), Level::Nabla),
            Syntax::Suffix(text) => (
                format!("{}{text}", operand(0, Level::Suffix)),
                Level::Suffix,
            ),
            Syntax::Probe => (
                format!("{}({})", operand(0, Level::Suffix), self.position),
                Level::Suffix,
            ),
            Syntax::Power(text) => (format!("{}{text}", operand(0, Level::Suffix)), Level::Power),
            Syntax::List => (format!("[{}]", list()), Level::Atom),
            Syntax::Choice => {
                let [yes, no, decides] = [0, 1, 2].map(|n| operand(n, Level::Sum));
                (format!("{yes} if {decides} > 0 else {no}"), Level::Choice)
            }
            Syntax::Around(text, level) => {
                let (open, close) = self.dialect.sequence;
                let text = text.replace('{', open).replace('}', close);
                (text.replace('$', &parts[0].0), level)
            }
        }
    }
}
