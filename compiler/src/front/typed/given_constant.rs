//! Values of constants that are given on the command line: `--Cname=value`.
//!
//! A value is `true`, `false`, an integer, a real (`3`, `3.5`, `-2e4`, `inf`, `nan`), a quoted string, a tensor
//! `[a,b,…]` or a sequence `{a,b,…}`. A string may also stand without quotes, since shells take them away.

use super::tree::{Constant, int_range};
use ein_ir::{Shape, Type};

/// The value of a text where a constant of this type is wanted, or a message about the error in it.
pub(super) fn read(text: &str, wanted: &Type, long_int: bool) -> Result<Constant, String> {
    let quoted = text.trim_start().starts_with('"');
    if *wanted == Type::String && !quoted {
        return Ok(Constant::String(text.to_owned()));
    }
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    if !reader.rest.trim().is_empty() {
        return Err(format!("unexpected `{}`", reader.rest.trim()));
    }
    fit(value, wanted, long_int).ok_or_else(|| "it is of another type".to_owned())
}

/// The value at a type, if it is one of that type or converts to it.
fn fit(value: Constant, wanted: &Type, long_int: bool) -> Option<Constant> {
    match (value, wanted) {
        (value @ Constant::Bool(_), Type::Bool) => Some(value),
        (value @ Constant::String(_), Type::String) => Some(value),
        (Constant::Int(n), Type::Int) => {
            let (least, most) = int_range(long_int);
            (least..=most).contains(&n).then_some(Constant::Int(n))
        }
        (Constant::Int(n), Type::Tensor(shape)) if shape.is_scalar() => {
            Some(Constant::Tensor(Shape::SCALAR, vec![n as f64]))
        }
        (Constant::Tensor(shape, x), Type::Tensor(wanted)) => {
            (shape == *wanted).then_some(Constant::Tensor(shape, x))
        }
        (Constant::Seq(elements), Type::Seq(element, length)) => {
            if length.is_some_and(|length| length != elements.len()) {
                return None;
            }
            let elements = elements.into_iter().map(|e| fit(e, element, long_int));
            let elements: Option<Vec<Constant>> = elements.collect();
            elements.map(Constant::Seq)
        }
        _ => None,
    }
}

/// Brackets nested deeper than this are not a value that anyone means.
const DEEPEST: usize = 32;

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Constant, String> {
        if depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        if self.eat("[") {
            return tensor(self.list("]", depth)?);
        }
        if self.eat("{") {
            return self.list("}", depth).map(Constant::Seq);
        }
        if self.eat("\"") {
            let (text, rest) = self
                .rest
                .split_once('"')
                .ok_or("the closing quote is missing")?;
            self.rest = rest;
            return Ok(Constant::String(text.to_owned()));
        }
        let end = self
            .rest
            .find([',', ']', '}', ' '])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word_value(word)
    }

    fn list(&mut self, close: &str, depth: usize) -> Result<Vec<Constant>, String> {
        let mut elements = Vec::new();
        if self.eat(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.eat(close) {
                return Ok(elements);
            }
            if !self.eat(",") {
                return Err(format!("`,` or `{close}` is missing"));
            }
        }
    }
}

fn word_value(word: &str) -> Result<Constant, String> {
    match word {
        "true" => return Ok(Constant::Bool(true)),
        "false" => return Ok(Constant::Bool(false)),
        _ => {}
    }
    if let Ok(n) = word.parse::<i64>() {
        return Ok(Constant::Int(n));
    }
    match word.parse::<f64>() {
        Ok(x) => Ok(Constant::Tensor(Shape::SCALAR, vec![x])),
        Err(_) if word.is_empty() => Err("a value is missing".to_owned()),
        Err(_) => Err(format!("`{word}` is not a value")),
    }
}

/// The tensor with these parts along a new first axis.
fn tensor(parts: Vec<Constant>) -> Result<Constant, String> {
    let count = parts.len();
    let mut common: Option<Shape> = None;
    let mut components = Vec::new();
    for part in parts {
        let (shape, part) = match part {
            Constant::Int(n) => (Shape::SCALAR, vec![n as f64]),
            Constant::Tensor(shape, part) => (shape, part),
            Constant::Bool(_) | Constant::String(_) | Constant::Seq(_) => {
                return Err("a tensor has numbers as components".to_owned());
            }
        };
        if common.as_ref().is_some_and(|common| *common != shape) {
            return Err("the rows of the tensor differ in length".to_owned());
        }
        common = Some(shape);
        components.extend(part);
    }
    let inner = common.ok_or("a tensor has at least one component")?;
    Ok(Constant::Tensor(
        Shape::new([count]).append(inner.dims()),
        components,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, wanted: &Type) -> Result<Constant, String> {
        super::read(text, wanted, false)
    }

    #[test]
    fn every_kind_of_value_can_be_given() {
        let tensor =
            |dims: &[usize], x: &[f64]| Ok(Constant::Tensor(Shape::from(dims), x.to_vec()));
        assert_eq!(read("true", &Type::Bool), Ok(Constant::Bool(true)));
        assert_eq!(read("-7", &Type::Int), Ok(Constant::Int(-7)));
        assert_eq!(read("3", &Type::REAL), tensor(&[], &[3.0]));
        assert_eq!(read("-2e4", &Type::REAL), tensor(&[], &[-2e4]));
        assert_eq!(
            read("\"a b\"", &Type::String),
            Ok(Constant::String("a b".to_owned()))
        );
        assert_eq!(
            read("a b", &Type::String),
            Ok(Constant::String("a b".to_owned()))
        );
        assert_eq!(
            read("[1, 2.5]", &Type::tensor(&[2])),
            tensor(&[2], &[1.0, 2.5])
        );
        assert_eq!(
            read("[[1,0],[0,1]]", &Type::tensor(&[2, 2])),
            tensor(&[2, 2], &[1.0, 0.0, 0.0, 1.0])
        );
        let ints = Type::Seq(Box::new(Type::Int), None);
        assert_eq!(
            read("{1,2}", &ints),
            Ok(Constant::Seq(vec![Constant::Int(1), Constant::Int(2)]))
        );
        assert_eq!(read("{}", &ints), Ok(Constant::Seq(vec![])));
    }

    #[test]
    fn values_of_another_type_are_refused() {
        let three = Type::Seq(Box::new(Type::Int), Some(3));
        for (text, ty) in [
            ("3.5", Type::Int),
            ("9999999999", Type::Int),
            ("1", Type::Bool),
            ("[1,2,3]", Type::tensor(&[2])),
            ("[[1,2],[3]]", Type::tensor(&[2, 2])),
            ("{1,2}", three),
            ("", Type::Int),
            ("1 2", Type::Int),
            ("[1,2", Type::tensor(&[2])),
            ("\"open", Type::String),
        ] {
            assert!(read(text, &ty).is_err(), "{text} as {ty}");
        }
        assert!(read(&"[".repeat(10_000), &Type::REAL).is_err());
    }

    #[test]
    fn long_ints_have_64_bits() {
        let long = |text: &str| super::read(text, &Type::Int, true);
        assert_eq!(long("9999999999"), Ok(Constant::Int(9_999_999_999)));
        assert_eq!(long("-9223372036854775808"), Ok(Constant::Int(i64::MIN)));
        assert!(long("9223372036854775808").is_err());
    }
}
