//! The names of sample types in VTK's files.

use crate::nrrd::SampleType;

/// The names in XML files.
const XML: &[(&str, SampleType)] = &[
    ("Int8", SampleType::I8),
    ("UInt8", SampleType::U8),
    ("Int16", SampleType::I16),
    ("UInt16", SampleType::U16),
    ("Int32", SampleType::I32),
    ("UInt32", SampleType::U32),
    ("Int64", SampleType::I64),
    ("UInt64", SampleType::U64),
    ("Float32", SampleType::F32),
    ("Float64", SampleType::F64),
];

/// The names in legacy files. A `long` is taken to have eight bytes, as on all systems but Windows.
const LEGACY: &[(&str, SampleType)] = &[
    ("char", SampleType::I8),
    ("signed_char", SampleType::I8),
    ("unsigned_char", SampleType::U8),
    ("short", SampleType::I16),
    ("unsigned_short", SampleType::U16),
    ("int", SampleType::I32),
    ("unsigned_int", SampleType::U32),
    ("long", SampleType::I64),
    ("unsigned_long", SampleType::U64),
    ("vtktypeint64", SampleType::I64),
    ("vtktypeuint64", SampleType::U64),
    ("vtkIdType", SampleType::I32),
    ("float", SampleType::F32),
    ("double", SampleType::F64),
];

/// The type that a name in an XML file stands for.
pub(crate) fn xml_type(name: &str) -> Result<SampleType, String> {
    let row = XML.iter().find(|(n, _)| *n == name);
    row.map(|(_, t)| *t).ok_or_else(|| unknown(name))
}

/// The type that a name in a legacy file stands for, in letters of any case.
pub(crate) fn legacy_type(name: &str) -> Result<SampleType, String> {
    let row = LEGACY.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
    row.map(|(_, t)| *t).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> String {
    format!("the type `{name}` cannot be read")
}
