//! Values of inputs: from pages, to pages, and as words of a command line.

use super::protocol::number;
use crate::front::tree::Constant;
use runtime::input::{InputType, InputValue, IntWidth, parse_value};
use serde_json::{Value, json};

/// The value of an input that a page has sent.
///
/// # Errors
/// It does not suit the type. Pages do not name files.
pub(super) fn from_page(
    value: &Value,
    ty: &InputType,
    ints: IntWidth,
) -> Result<InputValue, String> {
    let words = match value {
        Value::Array(items) => items.iter().map(word).collect::<Option<Vec<_>>>(),
        other => word(other).map(|word| vec![word]),
    };
    let words = words.ok_or_else(|| format!("found {value}, expected a value of type {ty}"))?;
    match parse_value(ty, &words, ints)? {
        InputValue::File(_) => Err("a file is given on the command line".to_string()),
        value => Ok(value),
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Bool(b) => Some(b.to_string()),
        Value::String(s) => Some(s.clone()),
        // Scripts have no integers.
        Value::Number(n) => match n.as_f64() {
            Some(x) if x.fract() == 0.0 && x.abs() < 2_f64.powi(53) => Some(format!("{x:.0}")),
            _ => Some(n.to_string()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A value for pages.
pub(super) fn to_page(value: &InputValue) -> Value {
    match value {
        InputValue::Bool(b) => json!(b),
        InputValue::Int(n) => json!(n),
        InputValue::Real(x) => number(*x),
        InputValue::String(s) => json!(s),
        InputValue::Tensor(numbers) => numbers.iter().map(|&x| number(x)).collect(),
        InputValue::Seq(elements) => flat(elements.iter().map(to_page)),
        InputValue::File(file) => json!(file.to_string()),
    }
}

/// A value that the program has computed or defines, for pages. A real of 32 bits has its shortest spelling.
pub(super) fn of_constant(constant: &Constant, double: bool) -> Value {
    let real = |x: f64| match double {
        true => number(x),
        false => (x as f32).to_string().parse().map_or(Value::Null, number),
    };
    match constant {
        Constant::Bool(b) => json!(b),
        Constant::Int(n) => json!(n),
        Constant::String(s) => json!(s),
        Constant::Tensor(shape, numbers) if shape.is_scalar() => {
            numbers.first().map_or(Value::Null, |&x| real(x))
        }
        Constant::Tensor(_, numbers) => numbers.iter().map(|&x| real(x)).collect(),
        Constant::Seq(elements) => flat(elements.iter().map(|e| of_constant(e, double))),
    }
}

/// The elements of lists in one list.
fn flat(elements: impl Iterator<Item = Value>) -> Value {
    let items = elements.flat_map(|element| match element {
        Value::Array(items) => items,
        one => vec![one],
    });
    Value::Array(items.collect())
}

/// A value as words of a command line.
pub(super) fn words(value: &InputValue) -> Vec<String> {
    match value {
        InputValue::Bool(b) => vec![b.to_string()],
        InputValue::Int(n) => vec![n.to_string()],
        InputValue::Real(x) => vec![x.to_string()],
        InputValue::String(s) => vec![s.clone()],
        InputValue::Tensor(numbers) => numbers.iter().map(f64::to_string).collect(),
        InputValue::Seq(elements) => elements.iter().flat_map(words).collect(),
        InputValue::File(file) => vec![file.to_string()],
    }
}

/// The words of a sequence of any length, which are one word.
pub(super) fn words_of(value: &InputValue, ty: &InputType) -> Vec<String> {
    match (value, ty) {
        (InputValue::Seq(elements), InputType::Seq { len: None, .. }) => {
            let element = |element: &InputValue| words(element).join(",");
            vec![elements.iter().map(element).collect::<Vec<_>>().join(";")]
        }
        _ => words(value),
    }
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%#".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('#') {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTS: IntWidth = IntWidth::Bits32;

    #[test]
    fn values_of_pages_have_the_types_of_inputs() {
        let vec3 = InputType::Tensor(vec![3]);
        let of = |value: Value, ty: &InputType| from_page(&value, ty, INTS);
        assert_eq!(of(json!(2.5), &InputType::Real), Ok(InputValue::Real(2.5)));
        assert_eq!(of(json!(3.0), &InputType::Int), Ok(InputValue::Int(3)));
        assert_eq!(
            of(json!(true), &InputType::Bool),
            Ok(InputValue::Bool(true))
        );
        let vector = InputValue::Tensor(vec![1.0, -2.5, 1e-30]);
        assert_eq!(of(json!([1, -2.5, 1e-30]), &vec3), Ok(vector));
        for (wrong, ty) in [
            (json!(2.5), InputType::Int),
            (json!([1, 2]), vec3.clone()),
            (json!({}), InputType::Real),
            (json!("x"), InputType::Real),
            (json!([[1]]), InputType::Real),
        ] {
            assert!(of(wrong.clone(), &ty).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pages_cannot_name_files() {
        let reals = InputType::Seq {
            elem: Box::new(InputType::Real),
            len: None,
        };
        let listed = from_page(&json!("1,2,3"), &reals, INTS).unwrap();
        assert_eq!(words_of(&listed, &reals), ["1;2;3"]);
        assert!(from_page(&json!("/etc/passwd"), &reals, INTS).is_err());
    }

    #[test]
    fn numbers_survive_the_way_through_a_page_and_a_command_line() {
        for x in [0.1, 1.0 / 3.0, 1e300, -5e-324, 123456789.125, 0.0] {
            let sent = serde_json::from_str(&json!(x).to_string()).unwrap();
            let value = from_page(&sent, &InputType::Real, INTS).unwrap();
            assert_eq!(value, InputValue::Real(x));
            let read = parse_value(&InputType::Real, &words(&value), INTS);
            assert_eq!(read, Ok(value));
        }
    }

    #[test]
    fn words_are_quoted_for_shells() {
        assert_eq!(quoted("a/b.nrrd#2"), "a/b.nrrd#2");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
