//! Expressions as text, with parentheses only where the levels of the operators ask for them.

use super::expr::{Expr, decimal, gives_sequence};
use crate::{
    Comparison, Index, OpDef, Rational,
    ops::{Level, Syntax},
};
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut binders = Vec::new();
        note_binders(self, &mut binders);
        let mut names = Vec::new();
        note_names(self, &mut names);
        let mut writer = Writer {
            out: String::new(),
            binders,
            names,
        };
        writer.operand(self, Level::Conditional);
        f.write_str(&writer.out)
    }
}

/// The summation indices of an expression in the order in which they are written.
pub(super) fn note_binders(expr: &Expr, found: &mut Vec<u32>) {
    if let Expr::Sum(binders, _) = expr {
        found.extend(
            binders
                .iter()
                .filter(|b| !found.contains(b))
                .copied()
                .collect::<Vec<_>>(),
        );
    }
    expr.children()
        .into_iter()
        .for_each(|inner| note_binders(inner, found));
}

/// The names that an expression mentions.
pub(super) fn note_names<'e>(expr: &'e Expr, found: &mut Vec<&'e str>) {
    if let Expr::Name(name) | Expr::Int(name) = expr {
        found.push(name);
    }
    expr.children()
        .into_iter()
        .for_each(|inner| note_names(inner, found));
}

/// The letter of an index: i, j, k for the axes of the result, p, q, r for those that are summed over; none of them is one of
/// these names.
pub(super) fn letter(index: Index, binders: &[u32], names: &[&str]) -> String {
    let numbered = |letters: &[char], k: usize| {
        let all = (0..).flat_map(|round| letters.iter().map(move |letter| (letter, round)));
        let all = all.map(|(letter, round)| match round {
            0 => letter.to_string(),
            round => format!("{letter}{round}"),
        });
        let mut free = all.filter(|letter| !names.contains(&letter.as_str()));
        free.nth(k).unwrap_or_default()
    };
    match index {
        Index::Const(component) => component.to_string(),
        Index::Axis(axis) => numbered(&['i', 'j', 'k', 'l', 'm', 'n'], axis),
        Index::Bound(binder) => {
            let place = binders
                .iter()
                .position(|&b| b == binder)
                .unwrap_or(binders.len());
            numbered(&['p', 'q', 'r', 's', 'u', 'v', 'w'], place)
        }
    }
}

/// How tightly the outermost part of an expression binds.
pub(super) fn level(expr: &Expr) -> Level {
    match expr {
        Expr::Name(_) | Expr::Int(_) | Expr::Value(_) => Level::Atom,
        Expr::Number(number) if decimal(*number).is_none() && !number.is_integer() => {
            Level::Product
        }
        Expr::Number(number) if *number < 0.into() => Level::Unary,
        Expr::Number(_) | Expr::Identity(_) | Expr::Zeros(_) => Level::Atom,
        Expr::Apply(row, _) => row_level(row),
        Expr::Power(..) => Level::Power,
        Expr::If { .. } => Level::Conditional,
        Expr::Slice(..) | Expr::Component(..) | Expr::Call(..) => Level::Suffix,
        Expr::Delta(..) | Expr::Epsilon(_) | Expr::Position(_) => Level::Suffix,
        Expr::Product(_) => Level::Product,
        Expr::Sum(..) | Expr::Partial(..) => Level::Suffix,
    }
}

/// How a row is written: the usual way.
pub(super) fn syntax(row: &OpDef) -> Syntax {
    row.syntax
        .first()
        .copied()
        .unwrap_or(Syntax::Call(row.name))
}

fn row_level(row: &OpDef) -> Level {
    syntax(row).level()
}

pub(super) fn comparison(test: Comparison) -> &'static str {
    match test {
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Equal => "==",
    }
}

struct Writer<'e> {
    out: String,
    binders: Vec<u32>,
    names: Vec<&'e str>,
}

impl Writer<'_> {
    fn letter(&self, index: Index) -> String {
        letter(index, &self.binders, &self.names)
    }

    /// An expression where nothing looser than `loosest` may stand without parentheses.
    fn operand(&mut self, expr: &Expr, loosest: Level) {
        let parentheses = level(expr) < loosest;
        self.out.push_str(if parentheses { "(" } else { "" });
        self.bare(expr);
        self.out.push_str(if parentheses { ")" } else { "" });
    }

    fn bare(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(name) | Expr::Int(name) => self.out.push_str(name),
            Expr::Number(number) => self.number(*number),
            Expr::Value(value) => self.out.push_str(&format!("v{}", value.0)),
            Expr::Apply(row, args) => self.apply(row, args),
            Expr::Slice(base, mask) => {
                self.operand(base, Level::Suffix);
                let index = |selected: &Option<usize>| match selected {
                    Some(component) => component.to_string(),
                    None => ":".to_string(),
                };
                // An element of a sequence, such as an eigenvector, is taken as a whole.
                let count = match gives_sequence(base) {
                    true => 1,
                    false => mask.len(),
                };
                let indices: Vec<String> = mask[..count].iter().map(index).collect();
                self.out.push_str(&format!("[{}]", indices.join(",")));
            }
            Expr::Power(base, exponent) => {
                self.operand(base, Level::Power.tighter());
                self.out.push_str(&match exponent {
                    0.. => format!("^{exponent}"),
                    _ => format!("^({exponent})"),
                });
            }
            Expr::Identity(n) => self.out.push_str(&format!("identity[{n}]")),
            Expr::Zeros(shape) => self.out.push_str(&format!("zeros{shape}")),
            Expr::If { test, parts } => {
                let [a, b, then, otherwise] = &**parts;
                self.operand(then, Level::Conditional.tighter());
                self.out.push_str(" if ");
                self.operand(a, Level::Comparison.tighter());
                self.out.push_str(&format!(" {} ", comparison(*test)));
                self.operand(b, Level::Comparison.tighter());
                self.out.push_str(" else ");
                self.operand(otherwise, Level::Conditional);
            }
            Expr::Call(name, args) => self.call(name, args),
            Expr::Component(base, indices) => {
                self.operand(base, Level::Suffix);
                self.indices(indices);
            }
            Expr::Delta(i, j) => {
                self.out.push('δ');
                self.indices(&[*i, *j]);
            }
            Expr::Epsilon(indices) => {
                self.out.push('ε');
                self.indices(indices);
            }
            Expr::Product(factors) => {
                for (k, factor) in factors.iter().enumerate() {
                    self.out.push_str(if k > 0 { "*" } else { "" });
                    self.operand(factor, Level::Product.tighter());
                }
            }
            Expr::Sum(binders, body) => {
                let letters: Vec<String> = binders
                    .iter()
                    .map(|&b| self.letter(Index::Bound(b)))
                    .collect();
                self.out.push_str(&format!("sum[{}](", letters.join(",")));
                self.operand(body, Level::Conditional);
                self.out.push(')');
            }
            Expr::Partial(index, body) => {
                let (mut indices, mut body) = (vec![self.letter(*index)], &**body);
                while let Expr::Partial(index, inner) = body {
                    indices.push(self.letter(*index));
                    body = inner;
                }
                self.out.push_str(&format!("∂[{}] ", indices.join(",")));
                // It binds tighter than a subscript, and the name before a call would be taken for a field.
                let is_field = |e: &Expr| matches!(e, Expr::Name(_));
                let is_plain = match body {
                    Expr::Component(base, _) => is_field(base),
                    other => is_field(other),
                };
                self.operand(body, if is_plain { Level::Suffix } else { Level::Atom });
            }
            Expr::Position(index) => {
                self.out.push('x');
                self.indices(&[*index]);
            }
        }
    }

    fn indices(&mut self, indices: &[Index]) {
        let letters: Vec<String> = indices.iter().map(|&i| self.letter(i)).collect();
        if !letters.is_empty() {
            self.out.push_str(&format!("[{}]", letters.join(",")));
        }
    }

    /// A fraction that is not a short decimal is a quotient of reals: that of integers would drop the remainder.
    fn number(&mut self, number: Rational) {
        let quotient = || match number.is_integer() {
            true => format!("{}.0", number.numer()),
            false => format!("{}.0/{}", number.numer(), number.denom()),
        };
        let text = decimal(number).unwrap_or_else(quotient);
        self.out.push_str(&text);
    }

    fn apply(&mut self, row: &OpDef, args: &[Expr]) {
        match (syntax(row), args) {
            (Syntax::Infix(symbol, level), [left, right]) => {
                let (left_level, right_level) = level.operands();
                let drops_remainder = symbol == "/" && left.is_integer() && right.is_integer();
                if drops_remainder {
                    self.call("real", std::slice::from_ref(left));
                } else {
                    self.factor(left, left_level, symbol);
                }
                // Sums are set wide, products tight.
                let is_wide = level < Level::Product || level == Level::Composition;
                let space = if is_wide { " " } else { "" };
                self.out.push_str(&format!("{space}{symbol}{space}"));
                self.factor(right, right_level, symbol);
            }
            (Syntax::Prefix(symbol, level), [operand]) => {
                self.out.push_str(symbol);
                self.operand(operand, level);
            }
            (Syntax::Form("|", ..), [inner]) => self.norm(inner),
            (Syntax::Form("(", ..), [field, position]) => {
                self.operand(field, Level::Suffix);
                self.list("(", std::slice::from_ref(position), ")");
            }
            (Syntax::Form("[", ..), parts) => self.list("[", parts, "]"),
            (syntax, args) => self.call(syntax.spelling(), args),
        }
    }

    /// An operand of an infix operator. Among products of tensors another kind of product gets parentheses for the eye, and
    /// so does a derivative like ∇⊗F among products of any kind.
    fn factor(&mut self, expr: &Expr, loosest: Level, around: &str) {
        const PRODUCTS: [&str; 4] = ["•", "×", "⊗", ":"];
        let is_product = |symbol: &str| PRODUCTS.contains(&symbol);
        let symbol = match expr {
            Expr::Apply(row, _) => Some(syntax(row)),
            _ => None,
        };
        let is_confusing = match symbol {
            Some(Syntax::Infix(symbol, _)) => {
                symbol != around && is_product(symbol) && is_product(around)
            }
            Some(Syntax::Prefix(symbol, Level::Derivative)) => {
                symbol.chars().count() > 1 && (is_product(around) || matches!(around, "*" | "/"))
            }
            _ => false,
        };
        self.operand(expr, if is_confusing { Level::Atom } else { loosest });
    }

    fn call(&mut self, name: &str, args: &[Expr]) {
        self.out.push_str(name);
        self.list("(", args, ")");
    }

    fn list(&mut self, open: &str, parts: &[Expr], close: &str) {
        self.out.push_str(open);
        for (k, part) in parts.iter().enumerate() {
            self.out.push_str(if k > 0 { ", " } else { "" });
            self.operand(part, Level::Conditional);
        }
        self.out.push_str(close);
    }

    /// Bars that touch would be read as the logical operator.
    fn norm(&mut self, inner: &Expr) {
        self.out.push('|');
        let start = self.out.len();
        self.operand(inner, Level::Conditional);
        if self.out[start..].starts_with('|') {
            self.out.insert(start, ' ');
        }
        if self.out.ends_with('|') {
            self.out.push(' ');
        }
        self.out.push('|');
    }
}
