//! The fields of the header: one row per field, in the order in which they are written.
//!
//! A row says how the field is spelled, which version of the format brought it, what must precede it, how its value is
//! read into the description and how it is written from it. Reading, writing, messages and tests all walk this table.

use super::data_file;
use super::header::{Axis, Header, MAX_DIMENSION, MAX_SPACE_DIMENSION, Space, Storage};
use super::number::Written;
use super::value::{self, Parsed};
use super::vocabulary::{Centering, Encoding, Endian, Kind, NamedSpace, SampleType};

/// What a header describes: the array and how it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    pub(super) header: Header,
    pub(super) storage: Storage,
}

/// What must be known before a field can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    Dimension,
    SpaceDimension,
}

/// One field of the header.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) synonyms: &'static [&'static str],
    /// The first version of the format that has the field.
    pub(super) since: u8,
    pub(super) required: bool,
    pub(super) needs: Needs,
    pub(super) parse: fn(&mut Description, &str) -> Parsed<()>,
    pub(super) print: fn(&Description) -> Option<String>,
}

impl Field {
    /// Whether `text` spells this field: in any case, and with or without the blank between its words.
    fn is_spelled(&self, text: &str) -> bool {
        let spelled = |name: &str| {
            name.eq_ignore_ascii_case(text) || name.replace(' ', "").eq_ignore_ascii_case(text)
        };
        spelled(self.name) || self.synonyms.iter().any(|s| spelled(s))
    }
}

/// The row of the field spelled `text`.
pub(super) fn find(text: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.is_spelled(text))
}

/// An optional field of the first version, whose value needs nothing else.
const PLAIN: Field = Field {
    name: "",
    synonyms: &[],
    since: 1,
    required: false,
    needs: Needs::Nothing,
    parse: |_, _| Ok(()),
    print: |_| None,
};

const PER_AXIS: Field = Field {
    needs: Needs::Dimension,
    ..PLAIN
};

const IN_SPACE: Field = Field {
    since: 4,
    needs: Needs::SpaceDimension,
    ..PLAIN
};

/// Every field of the format.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "content",
        parse: |d, text| {
            d.header.content = text.to_string();
            Ok(())
        },
        print: |d| some_text(&d.header.content),
        ..PLAIN
    },
    // The count follows from the sizes; whatever stands here is ignored.
    Field {
        name: "number",
        ..PLAIN
    },
    Field {
        name: "type",
        required: true,
        parse: |d, text| {
            let value = SampleType::from_name(text);
            d.header.sample_type = value::one_of(text, value, SampleType::choices())?;
            Ok(())
        },
        print: |d| Some(d.header.sample_type.name().to_string()),
        ..PLAIN
    },
    Field {
        name: "block size",
        parse: |d, text| {
            d.header.block_size = Some(value::integer(text, "a number of bytes")?);
            Ok(())
        },
        print: |d| d.header.block_size.map(|size| size.to_string()),
        ..PLAIN
    },
    Field {
        name: "dimension",
        required: true,
        parse: |d, text| {
            let wanted = format!("an integer from 1 to {MAX_DIMENSION}");
            let dimension = value::integer::<usize>(text, &wanted)?;
            if !(1..=MAX_DIMENSION).contains(&dimension) {
                return Err(format!("found `{text}`, expected {wanted}"));
            }
            d.header.axes = vec![Axis::default(); dimension];
            Ok(())
        },
        print: |d| Some(d.header.axes.len().to_string()),
        ..PLAIN
    },
    Field {
        name: "space",
        since: 4,
        parse: |d, text| {
            let named = value::one_of(text, NamedSpace::from_name(text), NamedSpace::choices())?;
            set_space(d, Space::Named(named))
        },
        print: |d| match d.header.space {
            Space::Named(named) => Some(named.name().to_string()),
            Space::Unknown | Space::Dimension(_) => None,
        },
        ..PLAIN
    },
    Field {
        name: "space dimension",
        since: 4,
        parse: |d, text| {
            let wanted = format!("an integer from 1 to {MAX_SPACE_DIMENSION}");
            let dimension = value::integer::<usize>(text, &wanted)?;
            if !(1..=MAX_SPACE_DIMENSION).contains(&dimension) {
                return Err(format!("found `{text}`, expected {wanted}"));
            }
            set_space(d, Space::Dimension(dimension))
        },
        print: |d| match d.header.space {
            Space::Dimension(dimension) => Some(dimension.to_string()),
            Space::Unknown | Space::Named(_) => None,
        },
        ..PLAIN
    },
    Field {
        name: "sizes",
        required: true,
        parse: |d, text| {
            let positive = |word: &str| match word.parse::<usize>() {
                Ok(size) if size > 0 => Ok(size),
                _ => Err(format!("found `{word}`, expected a positive integer")),
            };
            set_axes(d, text, positive, |axis, size| axis.size = size)
        },
        print: |d| {
            let sizes: Vec<_> = d.header.axes.iter().map(|a| a.size.to_string()).collect();
            Some(sizes.join(" "))
        },
        ..PER_AXIS
    },
    Field {
        name: "spacings",
        parse: |d, text| set_axes(d, text, value::known_real, |axis, x| axis.spacing = x),
        print: |d| axis_numbers(d, |axis| axis.spacing),
        ..PER_AXIS
    },
    Field {
        name: "thicknesses",
        since: 4,
        parse: |d, text| set_axes(d, text, value::known_real, |axis, x| axis.thickness = x),
        print: |d| axis_numbers(d, |axis| axis.thickness),
        ..PER_AXIS
    },
    Field {
        name: "axis mins",
        parse: |d, text| set_axes(d, text, value::known_real, |axis, x| axis.min = x),
        print: |d| axis_numbers(d, |axis| axis.min),
        ..PER_AXIS
    },
    Field {
        name: "axis maxs",
        parse: |d, text| set_axes(d, text, value::known_real, |axis, x| axis.max = x),
        print: |d| axis_numbers(d, |axis| axis.max),
        ..PER_AXIS
    },
    Field {
        name: "space directions",
        parse: |d, text| {
            if d.header.axes.is_empty() {
                return Err("`dimension` must come before this field".to_string());
            }
            let count = d.header.axes.len();
            let vectors = value::vectors(text, count, d.header.space.dimension())?;
            for (axis, vector) in d.header.axes.iter_mut().zip(vectors) {
                axis.direction = vector;
            }
            Ok(())
        },
        print: |d| {
            let directions: Vec<_> = d.header.axes.iter().map(|a| a.direction.clone()).collect();
            value::written_list(&directions, "none", |v| value::written_vector(v))
        },
        ..IN_SPACE
    },
    Field {
        name: "centers",
        synonyms: &["centerings"],
        parse: |d, text| {
            let centering = |word: &str| {
                let value = Centering::from_name(word);
                value::one_of_or_unknown(word, value, Centering::choices())
            };
            set_axes(d, text, centering, |axis, c| axis.centering = c)
        },
        print: |d| {
            let centerings: Vec<_> = d.header.axes.iter().map(|a| a.centering).collect();
            value::written_list(&centerings, "???", |c| c.name().to_string())
        },
        ..PER_AXIS
    },
    Field {
        name: "kinds",
        since: 3,
        parse: |d, text| {
            let kind =
                |word: &str| value::one_of_or_unknown(word, Kind::from_name(word), Kind::choices());
            set_axes(d, text, kind, |axis, kind| axis.kind = kind)
        },
        print: |d| {
            let kinds: Vec<_> = d.header.axes.iter().map(|a| a.kind).collect();
            value::written_list(&kinds, "???", |k| k.name().to_string())
        },
        ..PER_AXIS
    },
    Field {
        name: "labels",
        parse: |d, text| {
            let labels = value::quoted(text, d.header.axes.len())?;
            for (axis, label) in d.header.axes.iter_mut().zip(labels) {
                axis.label = label;
            }
            Ok(())
        },
        print: |d| {
            let labels: Vec<_> = d.header.axes.iter().map(|a| a.label.as_str()).collect();
            value::written_quoted(&labels)
        },
        ..PER_AXIS
    },
    Field {
        name: "units",
        parse: |d, text| {
            let units = value::quoted(text, d.header.axes.len())?;
            for (axis, unit) in d.header.axes.iter_mut().zip(units) {
                axis.units = unit;
            }
            Ok(())
        },
        print: |d| {
            let units: Vec<_> = d.header.axes.iter().map(|a| a.units.as_str()).collect();
            value::written_quoted(&units)
        },
        ..PER_AXIS
    },
    // The range of the samples is found in the samples; whatever stands here is ignored.
    Field {
        name: "min",
        ..PLAIN
    },
    Field {
        name: "max",
        ..PLAIN
    },
    Field {
        name: "old min",
        parse: |d, text| {
            d.header.old_min = value::known_real(text)?;
            Ok(())
        },
        print: |d| d.header.old_min.map(|x| Written(x).to_string()),
        ..PLAIN
    },
    Field {
        name: "old max",
        parse: |d, text| {
            d.header.old_max = value::known_real(text)?;
            Ok(())
        },
        print: |d| d.header.old_max.map(|x| Written(x).to_string()),
        ..PLAIN
    },
    Field {
        name: "sample units",
        since: 4,
        parse: |d, text| {
            d.header.sample_units = text.to_string();
            Ok(())
        },
        print: |d| some_text(&d.header.sample_units),
        ..PLAIN
    },
    Field {
        name: "space units",
        parse: |d, text| {
            d.header.space_units = value::quoted(text, d.header.space.dimension())?;
            Ok(())
        },
        print: |d| {
            let units: Vec<_> = d.header.space_units.iter().map(String::as_str).collect();
            value::written_quoted(&units)
        },
        ..IN_SPACE
    },
    Field {
        name: "space origin",
        parse: |d, text| {
            let mut origin = value::vectors(text, 1, d.header.space.dimension())?;
            d.header.space_origin = origin.pop().flatten();
            Ok(())
        },
        print: |d| d.header.space_origin.as_deref().map(value::written_vector),
        ..IN_SPACE
    },
    Field {
        name: "measurement frame",
        since: 5,
        parse: |d, text| {
            let dimension = d.header.space.dimension();
            let frame = value::vectors(text, dimension, dimension)?;
            let known = frame.iter().any(Option::is_some);
            d.header.measurement_frame = known.then_some(frame);
            Ok(())
        },
        print: |d| {
            let frame = d.header.measurement_frame.as_ref()?;
            value::written_list(frame, "none", |v| value::written_vector(v))
        },
        ..IN_SPACE
    },
    Field {
        name: "endian",
        parse: |d, text| {
            let endian = value::one_of(text, Endian::from_name(text), Endian::choices())?;
            d.storage.endian = Some(endian);
            Ok(())
        },
        print: |d| d.storage.endian.map(|endian| endian.name().to_string()),
        ..PLAIN
    },
    Field {
        name: "encoding",
        required: true,
        parse: |d, text| {
            let value = Encoding::from_name(text);
            d.storage.encoding = value::one_of(text, value, Encoding::choices())?;
            Ok(())
        },
        print: |d| Some(d.storage.encoding.name().to_string()),
        ..PLAIN
    },
    Field {
        name: "line skip",
        parse: |d, text| {
            d.storage.line_skip = value::integer(text, "a number of lines")?;
            Ok(())
        },
        print: |d| (d.storage.line_skip != 0).then(|| d.storage.line_skip.to_string()),
        ..PLAIN
    },
    Field {
        name: "byte skip",
        parse: |d, text| {
            d.storage.byte_skip = value::integer(text, "a number of bytes")?;
            Ok(())
        },
        print: |d| (d.storage.byte_skip != 0).then(|| d.storage.byte_skip.to_string()),
        ..PLAIN
    },
    // Last, because the names of a list follow this line up to the end of the header.
    Field {
        name: "data file",
        parse: |d, text| {
            d.storage.data_file = data_file::parse(text)?;
            Ok(())
        },
        print: |d| data_file::print(&d.storage.data_file),
        ..PLAIN
    },
];

fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

fn set_space(d: &mut Description, space: Space) -> Parsed<()> {
    if d.header.space != Space::Unknown {
        return Err("`space` and `space dimension` exclude each other".to_string());
    }
    d.header.space = space;
    Ok(())
}

/// Reads one word per axis.
fn set_axes<T>(
    d: &mut Description,
    text: &str,
    parse: fn(&str) -> Parsed<T>,
    set: fn(&mut Axis, T),
) -> Parsed<()> {
    let values = value::list(text, d.header.axes.len(), parse)?;
    for (axis, value) in d.header.axes.iter_mut().zip(values) {
        set(axis, value);
    }
    Ok(())
}

fn axis_numbers(d: &Description, number: fn(&Axis) -> Option<f64>) -> Option<String> {
    let numbers: Vec<_> = d.header.axes.iter().map(number).collect();
    value::written_list(&numbers, "nan", |&x| Written(x).to_string())
}
