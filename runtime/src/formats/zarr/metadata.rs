//! What the metadata of an array say: of version 2 in `.zarray` and `.zattrs`, of version 3 in `zarr.json`.

use std::path::Path;

use serde_json::Value;

use super::packing::Packing;
use crate::formats::hdf5::half;
use crate::nrrd::{Endian, SampleType};

/// An element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) of: SampleType,
    /// Two bytes of half precision, which become single precision.
    pub(super) is_half: bool,
    /// Two for complex numbers.
    pub(super) parts: usize,
}

impl Element {
    /// Bytes in a chunk.
    pub(super) fn size(self) -> usize {
        let one = if self.is_half {
            2
        } else {
            self.of.size().unwrap_or(1)
        };
        one * self.parts
    }

    /// The type, for messages.
    pub(super) fn name(self) -> String {
        match (self.is_half, self.parts) {
            (true, _) => "half".to_string(),
            (false, 2) => format!("complex {}", self.of),
            _ => self.of.to_string(),
        }
    }

    fn named(name: &str) -> Option<Element> {
        let (of, is_half, parts) = match name {
            "bool" | "b1" | "uint8" | "u1" => (SampleType::U8, false, 1),
            "int8" | "i1" => (SampleType::I8, false, 1),
            "int16" | "i2" => (SampleType::I16, false, 1),
            "uint16" | "u2" => (SampleType::U16, false, 1),
            "int32" | "i4" => (SampleType::I32, false, 1),
            "uint32" | "u4" => (SampleType::U32, false, 1),
            "int64" | "i8" => (SampleType::I64, false, 1),
            "uint64" | "u8" => (SampleType::U64, false, 1),
            "float16" | "f2" => (SampleType::F32, true, 1),
            "float32" | "f4" => (SampleType::F32, false, 1),
            "float64" | "f8" => (SampleType::F64, false, 1),
            "complex64" | "c8" => (SampleType::F32, false, 2),
            "complex128" | "c16" => (SampleType::F64, false, 2),
            _ => return None,
        };
        Some(Element { of, is_half, parts })
    }

    /// The bytes of a fill value, the lowest first.
    fn fill(self, value: &Value) -> Vec<u8> {
        let numbers: Vec<&Value> = match value {
            Value::Array(parts) => parts.iter().collect(),
            one => vec![one; 1],
        };
        let one = |value: &Value| -> Vec<u8> {
            let real = match value {
                Value::Number(number) => number.as_f64().unwrap_or(0.0),
                Value::Bool(true) => 1.0,
                Value::String(text) => match text.as_str() {
                    "NaN" => f64::NAN,
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    other => other.parse().unwrap_or(0.0),
                },
                _ => 0.0,
            };
            let integer = value.as_i64().unwrap_or(real as i64);
            let natural = value.as_u64().unwrap_or(integer as u64);
            match self.of {
                // A half is found by its value, among those that are exact.
                _ if self.is_half => {
                    let equal = |bits: &u16| half(*bits) == real as f32;
                    let bits = (0..=u16::MAX).find(equal);
                    bits.unwrap_or(if real.is_nan() { 0x7e00 } else { 0 })
                        .to_le_bytes()
                        .to_vec()
                }
                SampleType::F32 => (real as f32).to_le_bytes().to_vec(),
                SampleType::F64 => real.to_le_bytes().to_vec(),
                SampleType::U64 => natural.to_le_bytes().to_vec(),
                other => integer.to_le_bytes()[..other.size().unwrap_or(1)].to_vec(),
            }
        };
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(one).collect();
        bytes.resize(self.size(), 0);
        bytes
    }
}

/// How the elements of a chunk become bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Codecs {
    /// Orders of axes, in the order in which they were applied.
    pub(super) transposes: Vec<Vec<usize>>,
    pub(super) serial: Serial,
    pub(super) packings: Vec<Packing>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Serial {
    Plain(Endian),
    /// A chunk is a file of smaller ones with an index.
    Shards {
        shape: Vec<u64>,
        inner: Box<Codecs>,
        index: Box<Codecs>,
        index_first: bool,
    },
}

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    pub(super) element: Element,
    pub(super) fill: Vec<u8>,
    pub(super) codecs: Codecs,
    /// What stands before the numbers of a chunk, and between them.
    pub(super) prefix: &'static str,
    pub(super) separator: char,
}

/// A node of a hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The array; none for a group.
    pub(super) array: Option<Result<Array, String>>,
    pub(super) attributes: Value,
}

/// Metadata longer than this are a sign of damage.
const LONGEST: u64 = 64 << 20;

fn json(path: &Path) -> Option<Result<Value, String>> {
    let length = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    if length > LONGEST {
        return Some(Err("the metadata are too long".to_string()));
    }
    let claim = crate::memory::claim(length.saturating_mul(40));
    let read = claim.map_err(|e| e.to_string()).and_then(|_claim| {
        let text = std::fs::read(path).map_err(|e| e.to_string())?;
        serde_json::from_slice(&text).map_err(|e| format!("the metadata are damaged: {e}"))
    });
    Some(read)
}

impl Node {
    /// The node at a directory; `None` if there is none.
    pub(super) fn at(path: &Path) -> Option<Result<Node, String>> {
        if let Some(found) = json(&path.join("zarr.json")) {
            return Some(found.map(|value| Node::third(&value)));
        }
        let array = json(&path.join(".zarray"));
        let group = json(&path.join(".zgroup"));
        let attributes = json(&path.join(".zattrs"))
            .and_then(Result::ok)
            .unwrap_or_default();
        match (array, group) {
            (Some(array), _) => Some(array.map(|value| Node {
                array: Some(second(&value)),
                attributes,
            })),
            (None, Some(group)) => Some(group.map(|_| Node {
                array: None,
                attributes,
            })),
            (None, None) => None,
        }
    }

    fn third(value: &Value) -> Node {
        let is_array = value["node_type"] == "array";
        Node {
            array: is_array.then(|| third(value)),
            attributes: value["attributes"].clone(),
        }
    }
}

fn sizes(value: &Value, what: &str) -> Result<Vec<u64>, String> {
    let all = value.as_array().filter(|all| all.len() <= 16);
    let numbers = all.and_then(|all| all.iter().map(Value::as_u64).collect());
    numbers.ok_or_else(|| format!("the metadata have no `{what}`"))
}

fn checked(array: Array) -> Result<Array, String> {
    let axes = array.shape.len();
    match axes == array.chunk.len() && !array.chunk.contains(&0) {
        true => Ok(array),
        false => Err("the sizes of chunks do not fit those of the array".to_string()),
    }
}

/// An array of version 2.
fn second(value: &Value) -> Result<Array, String> {
    let name = value["dtype"]
        .as_str()
        .ok_or("arrays of structures are not read")?;
    let (order, letters) = name.split_at_checked(1).unwrap_or(("", name));
    let element = Element::named(letters);
    let element = element.ok_or_else(|| format!("samples of type `{name}` are not read"))?;
    let shape = sizes(&value["shape"], "shape")?;
    let mut packings = Vec::new();
    for filter in value["filters"].as_array().into_iter().flatten() {
        packings.push(packing(filter, element.size())?);
    }
    if !value["compressor"].is_null() {
        packings.push(packing(&value["compressor"], element.size())?);
    }
    let transposed = (value["order"] == "F").then(|| (0..shape.len()).rev().collect());
    let separator = value["dimension_separator"].as_str().unwrap_or(".");
    checked(Array {
        chunk: sizes(&value["chunks"], "chunks")?,
        fill: element.fill(&value["fill_value"]),
        codecs: Codecs {
            transposes: transposed.into_iter().collect(),
            serial: Serial::Plain(if order == ">" {
                Endian::Big
            } else {
                Endian::Little
            }),
            packings,
        },
        prefix: "",
        separator: if separator == "/" { '/' } else { '.' },
        shape,
        element,
    })
}

/// A codec of version 2, by its id.
fn packing(value: &Value, size: usize) -> Result<Packing, String> {
    let size = value["elementsize"]
        .as_u64()
        .map_or(size, |n| n.min(64) as usize);
    Packing::named(value["id"].as_str().unwrap_or_default(), size)
}

/// An array of version 3.
fn third(value: &Value) -> Result<Array, String> {
    let name = value["data_type"]
        .as_str()
        .ok_or("the type of samples is not read")?;
    let element = Element::named(name);
    let element = element.ok_or_else(|| format!("samples of type `{name}` are not read"))?;
    let grid = &value["chunk_grid"];
    if grid["name"] != "regular" {
        return Err("chunks of different sizes are not read".to_string());
    }
    let keys = &value["chunk_key_encoding"];
    let old = keys["name"] == "v2";
    let separator = keys["configuration"]["separator"].as_str();
    let shape = sizes(&value["shape"], "shape")?;
    checked(Array {
        chunk: sizes(&grid["configuration"]["chunk_shape"], "chunk_shape")?,
        fill: element.fill(&value["fill_value"]),
        codecs: codecs(&value["codecs"], shape.len(), element.size(), 0)?,
        prefix: if old { "" } else { "c" },
        separator: match separator.unwrap_or(if old { "." } else { "/" }) {
            "/" => '/',
            _ => '.',
        },
        shape,
        element,
    })
}

/// The codecs of version 3. Shards within shards are not deep.
fn codecs(value: &Value, axes: usize, size: usize, depth: usize) -> Result<Codecs, String> {
    let mut found = Codecs {
        transposes: Vec::new(),
        serial: Serial::Plain(Endian::Little),
        packings: Vec::new(),
    };
    let all = value.as_array().ok_or("the metadata have no `codecs`")?;
    for codec in all {
        let name = codec["name"]
            .as_str()
            .or(codec.as_str())
            .unwrap_or_default();
        let options = &codec["configuration"];
        match name {
            "transpose" => {
                let order = sizes(&options["order"], "order")?;
                let order: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
                let complete = (0..axes).all(|axis| order.contains(&axis)) && order.len() == axes;
                if !complete {
                    return Err("the order of axes is damaged".to_string());
                }
                found.transposes.push(order);
            }
            "bytes" if options["endian"] == "big" => found.serial = Serial::Plain(Endian::Big),
            "bytes" => {}
            "sharding_indexed" if depth < 3 => {
                let shape = sizes(&options["chunk_shape"], "chunk_shape")?;
                if shape.len() != axes || shape.contains(&0) {
                    return Err("the sizes of shards are damaged".to_string());
                }
                found.serial = Serial::Shards {
                    shape,
                    inner: Box::new(codecs(&options["codecs"], axes, size, depth + 1)?),
                    index: Box::new(codecs(&options["index_codecs"], 1, 8, depth + 1)?),
                    index_first: options["index_location"] == "start",
                };
            }
            other => {
                let size = options["elementsize"]
                    .as_u64()
                    .map_or(size, |n| n.min(64) as usize);
                found.packings.push(Packing::named(other, size)?);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_become_bytes() {
        let fill = |name: &str, text: &str| {
            let value = serde_json::from_str(text).unwrap();
            Element::named(name).unwrap().fill(&value)
        };
        assert_eq!(fill("i2", "-2"), [0xfe, 0xff]);
        assert_eq!(fill("float32", "1.5"), 1.5_f32.to_le_bytes());
        assert_eq!(fill("u8", "18446744073709551615"), [0xff; 8]);
        assert_eq!(fill("f2", "1"), 0x3c00_u16.to_le_bytes());
        assert!(f64::from_le_bytes(fill("f8", "\"NaN\"").try_into().unwrap()).is_nan());
        assert_eq!(fill("f4", "null"), [0; 4]);
    }

    #[test]
    fn codecs_that_are_not_known_are_named() {
        let text = r#"{"shape": [2], "chunks": [2], "dtype": "<f4", "compressor": {"id": "zfpy"}}"#;
        let error = second(&serde_json::from_str(text).unwrap()).unwrap_err();
        assert_eq!(error, "the codec `zfpy` is not read");
    }
}
