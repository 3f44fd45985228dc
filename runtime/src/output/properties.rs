//! The properties of PLY's elements: names, types and bytes of the values of outputs.

use super::values::component_names;
use super::{Column, Values};

/// The order of the bytes of this machine, in which values are written.
pub(super) const BYTE_ORDER: &str = if cfg!(target_endian = "little") {
    "little"
} else {
    "big"
};

/// One property of an element: its name, its type, and the values that it is taken from.
pub(super) struct Property<'a> {
    pub(super) name: String,
    pub(super) ty: &'static str,
    values: Values<'a>,
    /// The number of components of a row of values, and which of them this is.
    size: usize,
    component: usize,
    /// Whether reals from 0 to 1 become bytes.
    is_colour: bool,
}

/// The type of reals.
pub(super) fn real_type(is_double: bool) -> &'static str {
    if is_double { "double" } else { "float" }
}

/// The properties that an output becomes.
pub(super) fn of_column<'a>(column: &Column<'a>) -> impl Iterator<Item = Property<'a>> {
    let output = column.output;
    properties(
        &output.name,
        output.component_names(),
        output.shape == [3],
        column.values,
    )
}

/// The properties that data of a shape become.
pub(super) fn of_data<'a>(
    name: &str,
    shape: &[usize],
    values: Values<'a>,
) -> impl Iterator<Item = Property<'a>> {
    properties(name, component_names(name, shape), shape == [3], values)
}

/// Properties for all components. Colours and normals have names of their own.
fn properties<'a>(
    name: &str,
    names: Vec<String>,
    is_vector: bool,
    values: Values<'a>,
) -> impl Iterator<Item = Property<'a>> {
    let size = names.len();
    let is_real = matches!(values, Values::F32(_) | Values::F64(_));
    let is_colour =
        matches!(name, "rgb" | "rgba" | "color" | "colour") && is_real && (3..=4).contains(&size);
    let is_normal = name == "normals" && is_real && is_vector;
    let ty = match values {
        _ if is_colour => "uchar",
        Values::F32(_) => "float",
        // The format has no integers of 64 bits.
        Values::F64(_) | Values::I64(_) => "double",
        Values::I32(_) => "int",
        Values::Bool(_) => "uchar",
    };
    let property = move |(component, name): (usize, String)| Property {
        name: match (is_colour, is_normal) {
            (true, _) => ["red", "green", "blue", "alpha"][component].to_string(),
            (_, true) => ["nx", "ny", "nz"][component].to_string(),
            (false, false) => name,
        },
        ty,
        values,
        size,
        component,
        is_colour,
    };
    names.into_iter().enumerate().map(property)
}

impl Property<'_> {
    /// Appends the bytes of a row.
    pub(super) fn append(&self, row: usize, bytes: &mut Vec<u8>) {
        let at = row * self.size + self.component;
        let byte = |x: f64| (x * 255.0).round().clamp(0.0, 255.0) as u8;
        match self.values {
            Values::F32(values) if self.is_colour => bytes.push(byte(values[at].into())),
            Values::F64(values) if self.is_colour => bytes.push(byte(values[at])),
            Values::F32(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::F64(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::I32(values) => bytes.extend(values[at].to_ne_bytes()),
            Values::I64(values) => bytes.extend((values[at] as f64).to_ne_bytes()),
            Values::Bool(values) => bytes.push(u8::from(values[at] != 0)),
        }
    }
}
