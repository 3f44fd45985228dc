//! Elements by tag: texts, numbers, and items with elements of their own.

use std::collections::BTreeMap;

use super::tags::Tag;

/// A value that is kept.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Numbers(Vec<f64>),
    Items(Vec<Elements>),
}

/// Elements by tag.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements(pub(super) BTreeMap<Tag, Value>);

impl Elements {
    /// A value as text, without the blanks at its ends.
    pub(super) fn text(&self, tag: Tag) -> Option<&str> {
        match self.0.get(&tag)? {
            Value::Text(text) => {
                Some(text.trim_matches([' ', '\0'])).filter(|text| !text.is_empty())
            }
            Value::Numbers(_) | Value::Items(_) => None,
        }
    }

    /// The numbers of a value; none if one of them is not a number.
    pub(super) fn numbers(&self, tag: Tag) -> Option<Vec<f64>> {
        match self.0.get(&tag)? {
            Value::Numbers(numbers) => Some(numbers.clone()).filter(|numbers| !numbers.is_empty()),
            Value::Text(_) => {
                let words = self.text(tag)?.split('\\');
                let numbers = words.map(|word| word.trim_matches([' ', '\0']).parse::<f64>().ok());
                numbers.collect::<Option<Vec<f64>>>()
            }
            Value::Items(_) => None,
        }
    }

    pub(super) fn number(&self, tag: Tag) -> Option<f64> {
        self.numbers(tag)?
            .first()
            .copied()
            .filter(|x| x.is_finite())
    }

    pub(super) fn items(&self, tag: Tag) -> &[Elements] {
        match self.0.get(&tag) {
            Some(Value::Items(items)) => items,
            _ => &[],
        }
    }

    /// All elements with those of its groups of one item beside them: the functional groups of a frame.
    pub(super) fn flattened(&self) -> Elements {
        let mut flat = Elements::default();
        for (tag, value) in &self.0 {
            match value {
                Value::Items(items) => {
                    if let Some(first) = items.first() {
                        flat.0.extend(first.0.clone());
                    }
                }
                other => {
                    flat.0.insert(*tag, other.clone());
                }
            }
        }
        flat
    }
}
