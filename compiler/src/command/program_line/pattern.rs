//! Names of files with the values of inputs in them: `out/{vol}-{isoval:.2f}.png`, `{n:03}`.

use runtime::{
    file_name::escaped,
    file_reference::{library_name, mesh_and_array},
    input::InputValue,
    print::short,
};
use std::{ffi::OsStr, path::Path};

/// A name of a file with fields in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Field { name: String, format: Format },
}

/// How a number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Format {
    /// Digits and sign at least, filled with zeros.
    width: usize,
    /// Digits after the point.
    decimals: Option<usize>,
}

/// Digits that a format may ask for, at most.
const MOST_DIGITS: usize = 30;

impl Pattern {
    /// The pattern of a text; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A brace has no partner, or a format is not one.
    pub(super) fn parse(text: &str) -> Result<Pattern, String> {
        let alone = |brace: char| {
            format!(
                "found a single `{brace}` in {text}; a brace of the name itself is written twice"
            )
        };
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain += &rest[..at];
            let brace = if rest[at..].starts_with('{') {
                '{'
            } else {
                '}'
            };
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                plain.push(brace);
                rest = after;
                continue;
            }
            let field = (brace == '{').then(|| after.split_once('}')).flatten();
            let (field, after) = field.ok_or_else(|| alone(brace))?;
            let (name, format) = field.split_once(':').unwrap_or((field, ""));
            let format = Format::parse(format).ok_or_else(|| {
                format!("found `{{{field}}}` in {text}; formats are `:03` for integers and `:.2f` for real numbers")
            })?;
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Field {
                name: name.to_string(),
                format,
            });
            rest = after;
        }
        plain += rest;
        parts.push(Part::Text(plain));
        Ok(Pattern { parts })
    }

    /// Whether there is something to fill in.
    pub(super) fn has_fields(&self) -> bool {
        let is_field = |part: &Part| matches!(part, Part::Field { .. });
        self.parts.iter().any(is_field)
    }

    /// The text with the values of its fields.
    ///
    /// # Errors
    /// A name is not known, or its value has another format.
    pub(super) fn fill(&self, values: &[(&str, &InputValue)]) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text += plain,
                Part::Field { name, format } => {
                    let found = values.iter().find(|(known, _)| known == name);
                    let (_, value) = found.ok_or_else(|| unknown(name, values))?;
                    let written = format.write(value);
                    text += &written.map_err(|message| format!("`{{{name}:…}}`: {message}"))?;
                }
            }
        }
        Ok(text)
    }
}

fn unknown(name: &str, values: &[(&str, &InputValue)]) -> String {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    format!(
        "`{{{name}}}` is not the name of an input that varies or is given; there are: {}",
        names.join(", ")
    )
}

impl Format {
    /// `03`, `.2f`, `07.2f`; a letter `d` may follow integers.
    fn parse(text: &str) -> Option<Format> {
        let number = |digits: &str| -> Option<usize> {
            let number = digits.parse().ok()?;
            let is_plain = digits.bytes().all(|b| b.is_ascii_digit());
            (is_plain && number <= MOST_DIGITS).then_some(number)
        };
        let width = |text: &str| match text.strip_prefix('0') {
            _ if text.is_empty() => Some(0),
            Some(width) => number(width),
            None => None,
        };
        match text.split_once('.') {
            Some((before, decimals)) => Some(Format {
                width: width(before)?,
                decimals: Some(number(decimals.strip_suffix('f')?)?),
            }),
            None => Some(Format {
                width: width(text.strip_suffix('d').unwrap_or(text))?,
                decimals: None,
            }),
        }
    }

    fn write(self, value: &InputValue) -> Result<String, String> {
        let Format { width, decimals } = self;
        let is_plain = self == Format::default();
        let real = |x: f64| match decimals {
            Some(decimals) => Ok(format!("{x:0width$.decimals$}")),
            None if is_plain => Ok(short(x)),
            None => {
                Err("zeros before a number are for integers; `:.2f` is for real numbers".into())
            }
        };
        match value {
            InputValue::Int(n) if decimals.is_none() => Ok(format!("{n:0width$}")),
            InputValue::Int(n) => real(*n as f64),
            InputValue::Real(x) => real(*x),
            InputValue::Tensor(components) => {
                let components = components.iter().map(|&x| real(x));
                Ok(components.collect::<Result<Vec<_>, _>>()?.join("_"))
            }
            InputValue::Seq(elements) => {
                let elements = elements.iter().map(|element| self.write(element));
                Ok(elements.collect::<Result<Vec<_>, _>>()?.join("_"))
            }
            _ if !is_plain => Err("its values are not numbers".into()),
            InputValue::Bool(value) => Ok(value.to_string()),
            // A value does not lead to another directory.
            InputValue::String(text) => Ok(text.replace(['/', '\\'], "-")),
            InputValue::File(file) => Ok(stem(file)),
        }
    }
}

/// A value as messages and contact sheets show it.
pub(super) fn shown(value: &InputValue) -> String {
    match value {
        InputValue::File(file) => file.to_string(),
        InputValue::Tensor(components) => {
            let components: Vec<String> = components.iter().map(|&x| short(x)).collect();
            components.join(",")
        }
        other => Format::default().write(other).unwrap_or_default(),
    }
}

/// Suffixes of compressed files, which may follow another.
const COMPRESSED: &[&str] = &["gz", "bz2", "xz", "zst"];

/// Suffixes of images, meshes and tables.
const KNOWN: &[&str] = &[
    "nrrd", "nhdr", "nii", "hdr", "img", "mha", "mhd", "npy", "npz", "tif", "tiff", "vtk", "vti",
    "vtu", "vtp", "png", "jpg", "jpeg", "pgm", "ppm", "pnm", "pbm", "pfm", "pam", "bmp", "ply",
    "obj", "stl", "msh", "xdmf", "mesh", "txt", "csv",
];

/// The name of a file without its directory and the suffixes of its format. The array or frame that a name chooses follows after a
/// dash.
pub(super) fn stem(file: &Path) -> String {
    if let Some(name) = library_name(file) {
        return name.to_string();
    }
    let (file, array) = mesh_and_array(file);
    let name = escaped(file.file_name().unwrap_or(OsStr::new("")));
    let without = |name: &str, suffixes: &[&str]| match name.rsplit_once('.') {
        Some((stem, suffix))
            if !stem.is_empty() && suffixes.iter().any(|s| suffix.eq_ignore_ascii_case(s)) =>
        {
            Some(stem.to_string())
        }
        _ => None,
    };
    let name = without(&name, COMPRESSED).unwrap_or(name);
    let name = without(&name, KNOWN).unwrap_or(name);
    let array = array.map_or(String::new(), |array| format!("-{array}"));
    (name + &array).replace(['/', '\\'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_in() {
        let vol = InputValue::File("scans/patient 7.nii.gz".into());
        let eye = InputValue::Tensor(vec![1.0, -0.5, 3.0]);
        let (isoval, n) = (InputValue::Real(0.1 + 0.2), InputValue::Int(7));
        let title = InputValue::String("../a".into());
        let values = [
            ("vol", &vol),
            ("eye", &eye),
            ("isoval", &isoval),
            ("n", &n),
            ("title", &title),
        ];
        let filled = |text: &str| Pattern::parse(text).and_then(|p| p.fill(&values));
        for (text, expected) in [
            ("out/{vol}-{isoval:.2f}.png", "out/patient 7-0.30.png"),
            ("{isoval}", "0.3"),
            ("{n:03}.png", "007.png"),
            ("{n:03d}{n}", "0077"),
            ("{isoval:07.3f}", "000.300"),
            ("{eye}", "1_-0.5_3"),
            ("{eye:.1f}", "1.0_-0.5_3.0"),
            ("{n:.1f}", "7.0"),
            ("a{{n}}b", "a{n}b"),
            ("{{{n}}}", "{7}"),
            ("{title}.png", "..-a.png"),
            ("plain", "plain"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, part) in [
            ("{volume}", "there are: vol, eye, isoval, n, title"),
            ("{vol:03}", "not numbers"),
            ("{isoval:03}", "`:.2f` is for real numbers"),
            ("{n:x}", "formats are"),
            ("{n:3}", "formats are"),
            ("{n:.2}", "formats are"),
            ("{n:.99f}", "formats are"),
            ("{n", "found a single `{`"),
            ("n}", "found a single `}`"),
        ] {
            let message = filled(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn stems_lack_directories_and_known_suffixes() {
        for (name, expected) in [
            ("scans/a.nii.gz", "a"),
            ("a.NRRD", "a"),
            ("a.b.nrrd", "a.b"),
            ("scan.2024", "scan.2024"),
            (".nrrd", ".nrrd"),
            ("std:viridis", "viridis"),
            ("dir/flow.vtu#p", "flow-p"),
        ] {
            assert_eq!(stem(Path::new(name)), expected, "{name}");
        }
    }
}
