//! Versions of the language: the version line, and the constructs that only one version has.
//!
//! One grammar reads both versions. For a construct of one version the parser uses its row here, so that the message
//! for a file with the wrong version line can show the spelling of the other version.

use std::fmt;

use super::ast::Version;
use crate::front::{
    codes,
    diag::{Diagnostic, Fix},
    source::Span,
};

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V1 => "1.0",
            Version::V2 => "2.0",
        })
    }
}

impl Version {
    /// The other one.
    pub fn other(self) -> Version {
        match self {
            Version::V1 => Version::V2,
            Version::V2 => Version::V1,
        }
    }
}

/// What the beginning of a file says.
#[derive(Debug)]
pub(crate) struct VersionLine {
    /// The version in which the file is read.
    pub(crate) version: Version,
    /// How many bytes the byte-order mark and the directive take.
    pub(crate) length: usize,
    /// An error in it, or a warning.
    pub(crate) diagnostic: Option<Diagnostic>,
}

const DIRECTIVE: &str = "#version";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the version from the first line of a text.
pub(crate) fn version_line(text: &str) -> VersionLine {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let start = text.len() - body.len();
    if body.is_empty() {
        let empty = Diagnostic::error(
            codes::EMPTY_FILE,
            Span::new(start, start),
            "empty source file",
        );
        return VersionLine {
            version: Version::V1,
            length: start,
            diagnostic: Some(empty),
        };
    }
    let line = body.split('\n').next().unwrap_or(body);
    let Some(rest) = line.strip_prefix(DIRECTIVE) else {
        return VersionLine {
            version: Version::V1,
            length: start,
            diagnostic: Some(unspecified(text, start, line)),
        };
    };
    let number = rest.trim_start_matches([' ', '\t']);
    let blanks = rest.len() - number.len();
    let digits = number
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
        .map_or(number, |end| &number[..end]);
    let length = start + DIRECTIVE.len() + blanks + digits.len();
    let span = Span::new(start, length);
    let (version, diagnostic) = match (blanks > 0).then(|| parse_number(digits)).flatten() {
        Some((1, 0)) => (Version::V1, None),
        Some((2, 0)) => (Version::V2, None),
        Some((major, minor)) => {
            let version = if major < 2 { Version::V1 } else { Version::V2 };
            let message = format!("no support for Diderot version {major}.{minor}");
            (
                version,
                Some(Diagnostic::error(codes::VERSION_LINE, span, message)),
            )
        }
        None => {
            let message = "invalid `#version` directive";
            (
                Version::V2,
                Some(Diagnostic::error(codes::VERSION_LINE, span, message)),
            )
        }
    };
    VersionLine {
        version,
        length,
        diagnostic: diagnostic
            .map(|error| error.hint("write `#version 1.0` or `#version 2.0` as the first line")),
    }
}

fn unspecified(text: &str, start: usize, line: &str) -> Diagnostic {
    let warning = Diagnostic::warning(
        codes::NO_VERSION,
        Span::new(start, start + line.trim_end().len()),
        "no language version specified, so this is read as version 1.0",
    );
    let late = text
        .lines()
        .any(|line| line.trim_start().starts_with(DIRECTIVE));
    match late {
        true => warning.hint("`#version` counts only at the very beginning of the first line"),
        false => warning
            .hint("begin the file with `#version 1.0` or `#version 2.0`")
            .fix(Fix {
                title: "insert `#version 2.0`".to_owned(),
                edits: vec![(Span::new(0, 0), "#version 2.0\n".to_owned())],
            }),
    }
}

/// `major[.minor]`, both decimal.
fn parse_number(text: &str) -> Option<(u32, u32)> {
    let decimal = |digits: &str| {
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| digits.parse().ok()).flatten()
    };
    match text.split_once('.') {
        None => Some((decimal(text)?, 0)),
        Some((major, minor)) => Some((decimal(major)?, decimal(minor)?)),
    }
}

/// A construct that only one version has.
#[derive(Debug)]
pub(crate) struct Construct {
    /// The version that has it.
    version: Version,
    /// Its description, as the subject of a sentence.
    what: &'static str,
    /// How it is written in the other version.
    instead: &'static str,
}

const fn only_1(what: &'static str, instead: &'static str) -> Construct {
    Construct {
        version: Version::V1,
        what,
        instead,
    }
}

const fn only_2(what: &'static str, instead: &'static str) -> Construct {
    Construct {
        version: Version::V2,
        what,
        instead,
    }
}

macro_rules! constructs {
    ($($name:ident = $row:expr;)*) => {
        $(pub(crate) const $name: Construct = $row;)*
        /// Every row, for the tests.
        #[cfg(test)]
        pub(crate) const CONSTRUCTS: &[Construct] = &[$($name,)*];
    };
}

constructs! {
    BRACE_SEQUENCE_TYPE = only_1("a sequence type written with braces", "write `T[n]` or `T[]`");
    BRACE_INDEX = only_1("a sequence index in braces", "write `s[i]`");
    IMAGE_EXPRESSION = only_1("`image(…)` as an expression", "write `load_image(…)`");
    FOREACH_WITHOUT_BLOCK = only_1("a `foreach` whose body is not a block", "put the body in braces");

    IMPORT = only_2("an import", "copy what you need into the program");
    BRACKET_SEQUENCE_TYPE = only_2("a sequence type written with brackets", "write `T{n}` or `T{}`");
    SMOOTH_FIELD = only_2("a field type without `#k`", "write `field#k(d)[…]` with the continuity k");
    KERNEL_CONTINUITY = only_2("a kernel with a forced continuity", "use the kernel's name alone");
    FIELD_FUNCTION = only_2("a field function", "build the field from images with `⊛`");
    TIME = only_2("a field or image over time", "use an image for each frame");
    DIMENSION_EXPRESSION = only_2("a dimension that is not an integer literal", "write the number itself");
    RANGE_EXPRESSION = only_2("a range outside the creation clause", "use a sequence such as `{0, 1, 2}`");
    COMPREHENSION = only_2("a comprehension that does not follow a function name", "pass it to a reduction: `sum { … }`");
    NO_INITIAL_VALUE = only_2("a variable without an initial value", "add `= …` before the `;`");
    SEMICOLON_AFTER_BLOCK = only_2("a `;` after the closing brace", "remove the `;`");
    GLOBAL_UPDATE = only_2("an `update` block outside the strand", "write `global { … }`");
    EMPTY_PRINT = only_2("a `print` without arguments", "print at least one value");
    RICH_PARAMETER = only_2("a parameter that is a sequence, field, image or kernel", "use a global variable");
    COMPUTED_DEFAULT = only_2("a default that is not a literal", "write the value as a literal");
    INDEX_NOTATION = only_2("a definition by index", "write the tensor with operators");
    COMPUTED_FILE_NAME = only_2("a file name that is not a string literal", "write the file name in quotes");
}

impl Construct {
    /// The error for this construct in a file of another version; none if it has the right one.
    pub(crate) fn check(&self, version: Version, span: Span) -> Option<Diagnostic> {
        (version != self.version).then(|| {
            let message = format!(
                "{} is version {} syntax, but this file is version {version}",
                self.what, self.version
            );
            Diagnostic::error(codes::VERSION_SYNTAX, span, message)
                .hint(format!("in version {version} {}", self.instead))
                .hint(format!(
                    "or make `#version {}` the first line",
                    self.version
                ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, version: Version, length: usize, message: Option<&str>) {
        let line = version_line(text);
        assert_eq!((line.version, line.length), (version, length), "{text:?}");
        assert_eq!(
            line.diagnostic.map(|d| d.message).as_deref(),
            message,
            "{text:?}"
        );
    }

    #[test]
    fn the_first_line_selects_the_version() {
        check("#version 1.0\n", Version::V1, 12, None);
        check("#version 2.0", Version::V2, 12, None);
        check("#version \t 2 // two", Version::V2, 12, None);
        check("\u{feff}#version 2.0", Version::V2, 15, None);
        check("#version 2.0\r\nreal", Version::V2, 12, None);
    }

    #[test]
    fn a_file_without_a_version_is_1_0_with_a_warning() {
        let message = "no language version specified, so this is read as version 1.0";
        for text in [
            "real x;",
            "\n#version 2.0",
            " #version 2.0",
            "// #version 2.0",
        ] {
            check(text, Version::V1, 0, Some(message));
            let warning = version_line(text).diagnostic.expect("a warning");
            assert!(!warning.is_error());
        }
    }

    #[test]
    fn other_versions_and_malformed_numbers_are_errors() {
        check(
            "#version 3.0\n",
            Version::V2,
            12,
            Some("no support for Diderot version 3.0"),
        );
        check(
            "#version 1.1\n",
            Version::V1,
            12,
            Some("no support for Diderot version 1.1"),
        );
        for text in [
            "#version",
            "#version two",
            "#version2.0",
            "#version 2.",
            "#version 2.0.1",
            "#version 2x",
        ] {
            check(
                text,
                Version::V2,
                text.len(),
                Some("invalid `#version` directive"),
            );
        }
        check("", Version::V1, 0, Some("empty source file"));
    }

    #[test]
    fn a_construct_is_an_error_only_in_the_version_that_lacks_it() {
        for construct in CONSTRUCTS {
            assert!(
                construct
                    .check(construct.version, Span::default())
                    .is_none()
            );
            let error = construct
                .check(construct.version.other(), Span::default())
                .expect("an error");
            assert!(
                error
                    .message
                    .contains(&construct.version.other().to_string())
            );
        }
    }
}
