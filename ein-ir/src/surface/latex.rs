//! Expressions as LaTeX mathematics. An operator without a LaTeX form is printed as its name with arguments.

use super::{
    expr::{Expr, decimal},
    text::{comparison, letter, level, note_binders, syntax},
};
use crate::{
    Index, OpDef,
    ops::{Level, Syntax},
};

/// How operators look whose usual form in mathematics is not the program's; `#1` and `#2` are the arguments.
const FORMS: &[(&str, &str)] = &[
    ("divide", "\\frac{#1}{#2}"),
    ("sqrt", "\\sqrt{#1}"),
    ("abs", "\\lvert #1\\rvert"),
    ("norm", "\\lVert #1\\rVert"),
    ("normalize", "\\frac{#1}{\\lVert #1\\rVert}"),
    ("exp", "e^{#1}"),
    ("floor", "\\lfloor #1\\rfloor"),
    ("ceil", "\\lceil #1\\rceil"),
];

/// Operators that are written after their argument, which is in parentheses unless it is one symbol.
const SUPERSCRIPTS: &[(&str, &str)] = &[
    ("transpose", "^{\\mathsf{T}}"),
    ("inverse1", "^{-1}"),
    ("inverse2", "^{-1}"),
    ("inverse3", "^{-1}"),
];

/// Symbols of operators.
const SYMBOLS: &[(&str, &str)] = &[
    ("*", "\\,"),
    ("•", "\\cdot "),
    ("×", "\\times "),
    ("⊗", "\\otimes "),
    (":", "\\mathbin{:}"),
    ("∘", "\\circ "),
    ("⊛", "\\circledast "),
    ("∇", "\\nabla "),
    ("∇⊗", "\\nabla\\otimes "),
    ("∇×", "\\nabla\\times "),
    ("∇²", "\\nabla^{2} "),
    ("∇•", "\\nabla\\cdot "),
    ("+", "+"),
    ("-", "-"),
];

/// Functions that LaTeX has commands for.
const FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "log", "det", "min", "max", "arcsin", "arccos", "arctan",
];

/// A name as LaTeX: one letter as it is, digits at its end as an index, longer names upright, and other strings as text.
fn latex_name(name: &str) -> String {
    if !name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '\''))
    {
        return format!(
            "\\text{{{}}}",
            name.chars().map(latex_char).collect::<String>()
        );
    }
    let primes = name.len() - name.trim_end_matches('\'').len();
    let name = name.trim_end_matches('\'');
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &name[stem.len()..];
    let stem = stem.replace('_', "\\_");
    let stem = match stem.chars().count() {
        0 | 1 => stem,
        _ => format!("\\mathrm{{{stem}}}"),
    };
    let index = match (stem.is_empty(), number.is_empty()) {
        (_, true) => String::new(),
        (true, false) => number.to_string(),
        (false, false) => format!("_{{{number}}}"),
    };
    format!("{stem}{index}{}", "'".repeat(primes))
}

/// A character of a text as LaTeX.
fn latex_char(c: char) -> String {
    let symbol = SYMBOLS.iter().find(|(symbol, _)| symbol.chars().eq([c]));
    match (c, symbol) {
        ('…', _) => "\\ldots{}".to_string(),
        ('∞', _) => "$\\infty$".to_string(),
        ('#' | '$' | '%' | '&' | '_' | '{' | '}', _) => format!("\\{c}"),
        (_, Some((_, symbol))) if !c.is_ascii() => format!("${}$", symbol.trim()),
        _ => c.to_string(),
    }
}

impl Expr {
    /// The expression as LaTeX, for mathematics mode.
    pub fn latex(&self) -> String {
        let mut binders = Vec::new();
        note_binders(self, &mut binders);
        Writer { binders }.operand(self, Level::Conditional)
    }
}

struct Writer {
    binders: Vec<u32>,
}

impl Writer {
    fn operand(&self, expr: &Expr, loosest: Level) -> String {
        let text = self.bare(expr);
        if self.level(expr) < loosest {
            format!("\\left({text}\\right)")
        } else {
            text
        }
    }

    /// Forms with brackets of their own need no others.
    fn level(&self, expr: &Expr) -> Level {
        match expr {
            Expr::Apply(row, _) if matches!(row.name, "divide" | "normalize") => Level::Unary,
            Expr::Apply(row, _) if row.name == "exp" => Level::Power,
            Expr::Apply(row, _) if FORMS.iter().any(|(name, _)| *name == row.name) => Level::Atom,
            Expr::Number(_) if level(expr) == Level::Product => Level::Atom,
            _ => level(expr),
        }
    }

    fn bare(&self, expr: &Expr) -> String {
        match expr {
            Expr::Name(name) | Expr::Int(name) => latex_name(name),
            Expr::Number(number) => decimal(*number).unwrap_or_else(|| match number.is_integer() {
                true => number.to_string(),
                false => format!("\\tfrac{{{}}}{{{}}}", number.numer(), number.denom()),
            }),
            Expr::Value(value) => format!("v_{{{}}}", value.0),
            Expr::Apply(row, args) => self.apply(row, args),
            Expr::Slice(base, mask) => {
                let index = |selected: &Option<usize>| match selected {
                    Some(component) => component.to_string(),
                    None => ":".to_string(),
                };
                let indices: Vec<String> = mask.iter().map(index).collect();
                // A base that already has an index is made a group, so that it can get another one.
                let base = self.operand(base, Level::Suffix);
                format!("{{{base}}}_{{{}}}", indices.join(","))
            }
            Expr::Power(base, exponent) => {
                format!("{}^{{{exponent}}}", self.operand(base, Level::Atom))
            }
            Expr::Identity(n) => format!("I_{{{n}}}"),
            Expr::Zeros(_) => "0".to_string(),
            Expr::If { test, parts } => {
                let [a, b, then, otherwise] =
                    [0, 1, 2, 3].map(|k| self.operand(&parts[k], Level::Conditional.tighter()));
                let test = match comparison(*test) {
                    "<=" => "\\le",
                    "==" => "=",
                    test => test,
                };
                format!(
                    "\\begin{{cases}}{then}&{a}{test} {b}\\\\{otherwise}&\\text{{otherwise}}\\end{{cases}}"
                )
            }
            Expr::Call(name, args) => self.call(name, args),
            Expr::Component(base, indices) => {
                let base = self.operand(base, Level::Atom);
                format!("{{{base}}}{}", self.indices(indices))
            }
            Expr::Delta(i, j) => format!("\\delta{}", self.indices(&[*i, *j])),
            Expr::Epsilon(indices) => format!("\\varepsilon{}", self.indices(indices)),
            Expr::Product(factors) => {
                let factor = |f: &Expr| self.operand(f, Level::Product.tighter());
                factors.iter().map(factor).collect::<Vec<_>>().join("\\,")
            }
            Expr::Sum(binders, body) => {
                let letters = binders
                    .iter()
                    .map(|&b| letter(Index::Bound(b), &self.binders, &[]));
                let letters = letters.collect::<Vec<_>>().join(",");
                format!("\\sum_{{{letters}}} {}", self.operand(body, Level::Product))
            }
            Expr::Partial(index, body) => {
                let index = letter(*index, &self.binders, &[]);
                format!("\\partial_{{{index}}} {}", self.operand(body, Level::Unary))
            }
            Expr::Position(index) => format!("x{}", self.indices(&[*index])),
        }
    }

    fn indices(&self, indices: &[Index]) -> String {
        let letters: Vec<String> = indices
            .iter()
            .map(|&i| letter(i, &self.binders, &[]))
            .collect();
        match letters.is_empty() {
            true => String::new(),
            false => format!("_{{{}}}", letters.join(" ")),
        }
    }

    fn apply(&self, row: &OpDef, args: &[Expr]) -> String {
        let known = |table: &[(&str, &'static str)], name: &str| {
            table
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, form)| *form)
        };
        if let Some(form) = known(FORMS, row.name) {
            let argument = |k: usize| match args.get(k) {
                Some(arg) => self.operand(arg, Level::Conditional),
                None => String::new(),
            };
            return form.replace("#1", &argument(0)).replace("#2", &argument(1));
        }
        if let (Some(superscript), [only]) = (known(SUPERSCRIPTS, row.name), args) {
            return format!("{}{superscript}", self.operand(only, Level::Atom));
        }
        match (syntax(row), args) {
            (Syntax::Infix("^", _), [base, exponent]) => {
                let exponent = self.operand(exponent, Level::Conditional);
                format!("{}^{{{exponent}}}", self.operand(base, Level::Atom))
            }
            (Syntax::Infix(symbol, level), [left, right]) => {
                let (left_level, right_level) = level.operands();
                let symbol = known(SYMBOLS, symbol).unwrap_or(symbol);
                let left = self.operand(left, left_level);
                format!("{left}{symbol}{}", self.operand(right, right_level))
            }
            (Syntax::Prefix(symbol, level), [operand]) => {
                let symbol = known(SYMBOLS, symbol).unwrap_or(symbol);
                format!("{symbol}{}", self.operand(operand, level))
            }
            (Syntax::Form("(", ..), [field, position]) => {
                let position = self.operand(position, Level::Conditional);
                format!("{}({position})", self.operand(field, Level::Suffix))
            }
            (Syntax::Form("[", ..), parts) => {
                let part = |part: &Expr| self.operand(part, Level::Conditional);
                let parts: Vec<String> = parts.iter().map(part).collect();
                format!("\\begin{{bmatrix}}{}\\end{{bmatrix}}", parts.join("\\\\"))
            }
            (syntax, args) => self.call(syntax.spelling(), args),
        }
    }

    fn call(&self, name: &str, args: &[Expr]) -> String {
        let args: Vec<String> = args
            .iter()
            .map(|arg| self.operand(arg, Level::Conditional))
            .collect();
        let name = match name {
            "trace" => "\\operatorname{tr}".to_string(),
            name if FUNCTIONS.contains(&name) => format!("\\{name}"),
            name => format!("\\operatorname{{{}}}", name.replace('_', "\\_")),
        };
        format!("{name}\\left({}\\right)", args.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPERATORS;

    #[test]
    fn every_form_belongs_to_a_row() {
        for (name, _) in FORMS.iter().chain(SUPERSCRIPTS) {
            assert!(OpDef::named(name).is_some(), "no row `{name}`");
        }
        let symbols = OPERATORS.iter().flat_map(|row| row.syntax);
        let symbols: Vec<&str> = symbols.map(|syntax| syntax.spelling()).collect();
        for (symbol, _) in SYMBOLS {
            assert!(symbols.contains(symbol), "no operator `{symbol}`");
        }
    }

    #[test]
    fn names_and_texts() {
        let rows = [
            ("a", "a"),
            ("t12", "t_{12}"),
            ("kappa'", "\\mathrm{kappa}'"),
            ("my_x2", "\\mathrm{my\\_x}_{2}"),
            ("size(im_1)[0]", "\\text{size(im\\_1)[0]}"),
            ("(tent ⊛ f)", "\\text{(tent $\\circledast$ f)}"),
        ];
        for (name, wanted) in rows {
            assert_eq!(latex_name(name), wanted);
        }
    }
}
