//! Messages between pages and the viewer.
//!
//! Texts are JSON objects with a field `type`. Binary messages are the length of a header as `u32`, the header in JSON, zeros up to a multiple
//! of four bytes, and data in little-endian order.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A message of a page.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Incoming {
    /// The first message of a page in a browser.
    Hello { token: String },
    /// Sets inputs.
    Set {
        id: u64,
        inputs: Map<String, Value>,
        #[serde(default)]
        dragging: bool,
    },
    /// No more changes are to come soon.
    Rest,
    /// Chooses the output to be shown, and the range of values of coarse pictures.
    Show {
        output: String,
        #[serde(default)]
        range: Option<[f64; 2]>,
    },
    /// A binary message has been drawn.
    Shown { frame: u64 },
    /// The values of the picture are wanted as they are.
    Exact,
    /// Steers a program that evolves.
    Run { action: Action },
    /// Asks for a file.
    Export {
        output: String,
        format: String,
        /// Options of the command, each with its value.
        #[serde(default)]
        options: Vec<String>,
    },
}

/// A wish about the course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Play,
    Pause,
    Step,
    Restart,
    Stop,
}

/// A binary message.
pub(super) fn binary(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = Vec::with_capacity(header.len() + data.len() + 8);
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(data);
    bytes
}

/// A number for JSON, which has no infinities.
pub(super) fn number(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn binary_messages_have_their_data_at_a_multiple_of_four() {
        for name in ["", "a", "ab", "abc", "∇"] {
            let header = json!({ "name": name });
            let message = binary(&header, &[1, 2, 3]);
            let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
            let read: Value = serde_json::from_slice(&message[4..4 + length]).unwrap();
            assert_eq!(read, header);
            let start = (4 + length).next_multiple_of(4);
            assert_eq!(message[start..], [1, 2, 3]);
        }
    }

    #[test]
    fn messages_with_other_types_or_fields_are_not_understood() {
        let understood = |text: &str| serde_json::from_str::<Incoming>(text).is_ok();
        assert!(understood(
            r#"{"type":"set","id":1,"inputs":{"a":[1,2],"b":null}}"#
        ));
        assert!(understood(r#"{"type":"run","action":"step"}"#));
        assert!(understood(r#"{"type":"rest"}"#));
        for wrong in [
            "",
            "[]",
            "{}",
            r#"{"type":"set"}"#,
            r#"{"type":"set","id":-1,"inputs":{}}"#,
            r#"{"type":"run","action":"fly"}"#,
            r#"{"type":"shown"}"#,
            "\u{0}",
        ] {
            assert!(!understood(wrong), "{wrong}");
        }
    }

    #[test]
    fn numbers_without_a_value_in_json_are_null() {
        assert_eq!(number(0.5), json!(0.5));
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(f64::INFINITY), Value::Null);
    }
}
