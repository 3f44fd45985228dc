//! Labels: the text that is a case.
//!
//! A label is a prefix term and the settings behind it, e.g.
//! `inner(cross(F3#4[3],T[3]),F3#4[3])|krn=c4hexic|deg=2|grid=any|data=poly|n=10|pos=7|coef=full|seed=1`.
//! Leaves are types; a leaf that occurs twice carries a tag, as in `outer(F3#4[3]:a,F3#4[3]:a)`. Reading a label gives the
//! case, whatever operators and enumerations exist besides; settings that are left out have their usual value.

use crate::frame::Settings;
use crate::operator::operator;
use crate::tree::{Constant, Rules, Tree};
use crate::types::Type;
use std::fmt;
use std::str::FromStr;

/// A case: an expression and everything that determines its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The expression; well typed, with variables numbered by first occurrence.
    pub tree: Tree,
    /// How data, grids and positions are drawn.
    pub settings: Settings,
}

/// A term as it is written: a head, and arguments if it has parentheses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) head: String,
    pub(crate) arguments: Option<Vec<Term>>,
}

impl Term {
    /// Reads one term and nothing else.
    pub(crate) fn parse(text: &str) -> Result<Term, String> {
        let (term, rest) = Term::read(text)?;
        if rest.is_empty() {
            Ok(term)
        } else {
            Err(format!(
                "found `{rest}` after the expression, wanted its end"
            ))
        }
    }

    fn read(text: &str) -> Result<(Term, &str), String> {
        // Brackets belong to the head: `slice[1,:]`, `F3#4[3,3]`.
        let mut depth = 0usize;
        let end = text
            .char_indices()
            .find(|&(_, c)| {
                match c {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && matches!(c, '(' | ')' | ',')
            })
            .map_or(text.len(), |(at, _)| at);
        let (head, mut rest) = text.split_at(end);
        if head.is_empty() {
            return Err(format!(
                "found `{text}`, wanted an operator, a type or a constant"
            ));
        }
        let head = head.to_string();
        let Some(mut inside) = rest.strip_prefix('(') else {
            return Ok((
                Term {
                    head,
                    arguments: None,
                },
                rest,
            ));
        };
        let mut arguments = Vec::new();
        loop {
            let (argument, after) = Term::read(inside)?;
            arguments.push(argument);
            if let Some(next) = after.strip_prefix(',') {
                inside = next;
            } else if let Some(next) = after.strip_prefix(')') {
                rest = next;
                break;
            } else {
                return Err(format!(
                    "found `{after}`, wanted `,` or `)` in the arguments of `{head}`"
                ));
            }
        }
        Ok((
            Term {
                head,
                arguments: Some(arguments),
            },
            rest,
        ))
    }

    /// The constant that the term writes, if it is one.
    pub(crate) fn constant(&self) -> Option<Constant> {
        if self.arguments.is_some() {
            return None;
        }
        if let Some(shape) = self.head.strip_prefix("zeros") {
            return shape.parse().ok().map(Constant::Zeros);
        }
        if let Some(extent) = self.head.strip_prefix("identity") {
            let extent = extent.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
            return (2..=4)
                .contains(&extent)
                .then_some(Constant::Identity(extent));
        }
        let (whole, fraction) = self.head.split_once('.').unwrap_or((&self.head, ""));
        let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
        let places = u32::try_from(fraction.len())
            .ok()
            .filter(|&places| places < 16)?;
        Some(Constant::Decimal { digits, places })
    }
}

/// The expression of a term; tags are collected so that equal ones are the same variable.
fn tree_of(term: &Term, tags: &mut Vec<String>) -> Result<Tree, String> {
    if let Some(arguments) = &term.arguments {
        let operator = operator(&term.head)?;
        if arguments.len() != operator.arity {
            let (name, wanted, found) = (operator.name, operator.arity, arguments.len());
            return Err(format!(
                "found {found} arguments of `{name}`, wanted {wanted}"
            ));
        }
        let arguments: Result<Vec<Tree>, String> = arguments
            .iter()
            .map(|argument| tree_of(argument, tags))
            .collect();
        return Ok(Tree::Apply(operator, arguments?));
    }
    if let Some(constant) = term.constant() {
        return Ok(Tree::Constant(constant));
    }
    let (ty, tag) = match term.head.split_once(':') {
        Some((ty, tag)) => (ty, format!("{ty}:{tag}")),
        None => (term.head.as_str(), format!("#{}", tags.len())),
    };
    let number = tags
        .iter()
        .position(|known| *known == tag)
        .unwrap_or_else(|| {
            tags.push(tag);
            tags.len() - 1
        });
    Ok(Tree::variable(ty.parse::<Type>()?, number))
}

/// The name of the n-th shared variable: a, b, …, z, a1, …
fn tag_name(n: usize) -> String {
    let letter = char::from(b'a' + (n % 26) as u8);
    if n < 26 {
        letter.to_string()
    } else {
        format!("{letter}{}", n / 26)
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, tree: &Tree, tags: &[Option<String>]) -> fmt::Result {
    match tree {
        Tree::Variable { ty, number } => match tags.get(*number).and_then(Option::as_ref) {
            Some(tag) => write!(f, "{ty}:{tag}"),
            None => write!(f, "{ty}"),
        },
        Tree::Constant(constant) => write!(f, "{constant}"),
        Tree::Apply(operator, arguments) => {
            write!(f, "{}(", operator.name)?;
            for (i, argument) in arguments.iter().enumerate() {
                if i > 0 {
                    f.write_str(",")?;
                }
                write_term(f, argument, tags)?;
            }
            f.write_str(")")
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shared = 0;
        let tags: Vec<Option<String>> = self
            .occurrences()
            .into_iter()
            .map(|count| {
                (count > 1).then(|| {
                    shared += 1;
                    tag_name(shared - 1)
                })
            })
            .collect();
        write_term(f, self, &tags)
    }
}

impl FromStr for Tree {
    type Err = String;

    fn from_str(text: &str) -> Result<Tree, String> {
        let tree = tree_of(&Term::parse(text)?, &mut Vec::new())?;
        match tree.type_of(Rules::Language) {
            Some(_) => Ok(tree),
            None => Err(format!(
                "found `{text}`, whose arguments do not fit an operator; wanted a well-typed expression"
            )),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}|{}", self.tree, self.settings)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(label: &str) -> Result<Case, String> {
        let (tree, settings) = label.split_once('|').unwrap_or((label, ""));
        Ok(Case {
            tree: tree.parse()?,
            settings: settings.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_read_back_as_they_are_written() {
        for text in [
            "inner(cross(F3#4[3],T[3]),F3#4[3])",
            "outer(F3#4[3]:a,F3#4[3]:a)",
            "acos(mul(0.01,F1#2[]))",
            "add(add(F2#4[2]:a,F2#4[2]:b),sub(F2#4[2]:b,F2#4[2]:a))",
            "modulate(slice[0,:](identity[3]),T[3])",
            "sub(zeros[2,2],T[2,2])",
            "power[-2](T[])",
            "mul(-1.50,T[])",
        ] {
            let case: Case = text.parse().expect(text);
            let label = case.to_string();
            assert!(label.starts_with(&format!("{text}|")), "{label}");
            assert_eq!(label.parse::<Case>().as_ref(), Ok(&case));
        }
    }

    #[test]
    fn wrong_labels_say_what_is_wrong() {
        for (text, part) in [
            ("", "wanted an operator"),
            ("frobnicate(T[])", "found operator `frobnicate`"),
            ("add(T[])", "found 1 arguments of `add`, wanted 2"),
            ("add(T[],T[2])", "do not fit"),
            ("add(T[],T[]", "wanted `,` or `)`"),
            ("neg(T[])x", "wanted its end"),
            ("neg(T[9])", "found shape"),
            ("neg(T[])|krn=foo", "found kernel `foo`"),
            ("neg(T[])|nonsense", "found setting `nonsense`"),
        ] {
            let message = text.parse::<Case>().expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
