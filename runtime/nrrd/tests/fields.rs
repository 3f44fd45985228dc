//! Header lines one by one: every field with values that must be taken and values that must be refused.

use nrrd_rs::{
    Centering, DataFile, Encoding, Endian, ErrorKind, Header, Kind, NamedSpace, NrrdError, Reader,
    SampleType, Space, Storage,
};

/// The header of `text`, whose data need not exist.
fn header(text: &str) -> Result<(Header, Storage), NrrdError> {
    let reader = Reader::from_stream(text.as_bytes(), None, "t.nrrd", None)?;
    Ok((reader.header().clone(), reader.storage().clone()))
}

/// A header of a 2-D array of floats in a space of dimension 3, with `line` among its fields. A line about a field that
/// the header has anyway replaces it.
fn with_line(line: &str) -> String {
    let usual = [
        "type: float",
        "dimension: 2",
        "sizes: 3 4",
        "space dimension: 3",
        "endian: little",
        "encoding: raw",
    ];
    let name = |l: &str| {
        l.split(':')
            .next()
            .unwrap_or("")
            .to_lowercase()
            .replace(' ', "")
    };
    let replaced = usual.iter().position(|u| name(u) == name(line));
    // A named space says the dimension itself.
    let replaced = replaced.or((name(line) == "space").then_some(3));
    let mut lines: Vec<&str> = usual.to_vec();
    match replaced {
        Some(i) => lines[i] = line,
        None => lines.insert(4, line),
    }
    format!("NRRD0005\n{}\n\n", lines.join("\n"))
}

fn good(line: &str) -> (Header, Storage) {
    header(&with_line(line)).unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn every_type_is_read_under_each_of_its_names() {
    let rows = [
        (SampleType::I8, "signed char,int8,int8_t"),
        (
            SampleType::U8,
            "unsigned char,uchar,uint8,uint8_t,UCHAR,Unsigned Char",
        ),
        (
            SampleType::I16,
            "short,short int,signed short,signed short int,int16,int16_t",
        ),
        (
            SampleType::U16,
            "unsigned short,ushort,unsigned short int,uint16,uint16_t",
        ),
        (SampleType::I32, "int,signed int,int32,int32_t"),
        (SampleType::U32, "unsigned int,uint,uint32,uint32_t"),
        (
            SampleType::I64,
            "long long int,longlong,long long,signed long long,signed long long int,int64,int64_t",
        ),
        (
            SampleType::U64,
            "unsigned long long int,ulonglong,unsigned long long,uint64,uint64_t",
        ),
        (SampleType::F32, "float"),
        (SampleType::F64, "double"),
    ];
    for (sample_type, names) in rows {
        for name in names.split(',') {
            let (header, _) = good(&format!("type: {name}"));
            assert_eq!(header.sample_type, sample_type, "{name}");
        }
    }
    for name in ["char", "long", "real", "", "unsigned", "half"] {
        assert!(
            header(&with_line(&format!("type: {name}"))).is_err(),
            "{name}"
        );
    }
}

#[test]
fn values_of_fields_arrive_in_the_header() {
    let (h, _) = good("spacings: 0.5 nan");
    assert_eq!((h.axes[0].spacing, h.axes[1].spacing), (Some(0.5), None));
    let (h, _) = good("thicknesses: 0 2e1");
    assert_eq!(
        (h.axes[0].thickness, h.axes[1].thickness),
        (Some(0.0), Some(20.0))
    );
    let (h, _) = good("axismins: -pi 3");
    assert_eq!(h.axes[0].min, Some(-std::f64::consts::PI));
    let (h, _) = good("axis maxs:   NaN\t3");
    assert_eq!((h.axes[0].max, h.axes[1].max), (None, Some(3.0)));
    for line in ["centers: node ???", "centerings: NODE none"] {
        let (h, _) = good(line);
        assert_eq!(
            (h.axes[0].centering, h.axes[1].centering),
            (Some(Centering::Node), None)
        );
    }
    let (h, _) = good("kinds: 3-vector Space");
    assert_eq!(
        (h.axes[0].kind, h.axes[1].kind),
        (Some(Kind::Vector3), Some(Kind::Space))
    );
    let (h, _) = good("labels: \"x (\\\"left\\\")\"  \"\"");
    assert_eq!(
        (h.axes[0].label.as_str(), h.axes[1].label.as_str()),
        ("x (\"left\")", "")
    );
    let (h, _) = good("units: \"mm\" \"s\"");
    assert_eq!(
        (h.axes[0].units.as_str(), h.axes[1].units.as_str()),
        ("mm", "s")
    );
    let (h, _) = good("space directions: ( 1 , 0 ,0) none");
    assert_eq!(
        (h.axes[0].direction.clone(), h.axes[1].direction.clone()),
        (Some(vec![1.0, 0.0, 0.0]), None)
    );
    let (h, _) = good("SpaceOrigin: (1,-2e-1,3)");
    assert_eq!(h.space_origin, Some(vec![1.0, -0.2, 3.0]));
    let (h, _) = good("space origin: (nan,nan,nan)");
    assert_eq!(h.space_origin, None);
    let (h, _) = good("space units: \"mm\" \"mm\" \"s\"");
    assert_eq!(h.space_units, ["mm", "mm", "s"]);
    let (h, _) = good("measurement frame: (1,0,0)(0,1,0) (0,0,-1)");
    assert_eq!(h.measurement_frame.unwrap()[2], Some(vec![0.0, 0.0, -1.0]));
    let (h, _) = good("content: an array: of things  ");
    assert_eq!(h.content, "an array: of things");
    let (h, _) = good("sample units: Hounsfield");
    assert_eq!(h.sample_units, "Hounsfield");
    let (h, _) = good("old min: -inf");
    assert_eq!(h.old_min, Some(f64::NEG_INFINITY));
    let (h, _) = good("oldmax: nan");
    assert_eq!(h.old_max, None);
    let (h, _) = good("space: LPS");
    assert_eq!(h.space, Space::Named(NamedSpace::Lps));
    let (h, _) = good("space: 3D-right-handed-time");
    assert_eq!(h.space.dimension(), 4);
    let (h, _) = good("type: block\nblock size: 8");
    assert_eq!(h.block_size, Some(8));
    let (_, s) = good("endian: Big");
    assert_eq!(s.endian, Some(Endian::Big));
    let (_, s) = good("encoding: bz2");
    assert_eq!(s.encoding, Encoding::Bzip2);
    let (_, s) = good("lineskip: 3");
    assert_eq!(s.line_skip, 3);
    let (_, s) = good("byte skip: -1");
    assert_eq!(s.byte_skip, -1);
    let (_, s) = good("data file: some dir/x.raw");
    assert_eq!(s.data_file, DataFile::Single("some dir/x.raw".to_string()));
    for ignored in ["number: anything at all", "min: low", "max: (high)"] {
        good(ignored);
    }
}

#[test]
fn every_kind_and_space_is_read_under_its_canonical_name() {
    for kind in Kind::all() {
        let size = kind.size().unwrap_or(5);
        let text = format!(
            "NRRD0003\ntype: uchar\ndimension: 1\nsizes: {size}\nkinds: {kind}\nencoding: raw\n\n"
        );
        assert_eq!(header(&text).unwrap().0.axes[0].kind, Some(kind));
    }
    for space in NamedSpace::all() {
        assert_eq!(
            good(&format!("space: {space}")).0.space,
            Space::Named(space)
        );
    }
}

/// Bad lines, each with a part of the message it must give.
#[rustfmt::skip]
const BAD: &[(&str, &str)] = &[
    ("endian:little", "expected `field: value`"),
    ("colour: red", "unknown field `colour`"),
    ("sp ace: LPS", "unknown field `sp ace`"),
    (":=x", "key before `:=` is empty"),
    ("just words", "expected `field: value`"),
    ("type: ", "expected one of"),
    ("dimension: 0", "1 to 16"),
    ("dimension: 17", "1 to 16"),
    ("dimension: two", "found `two`"),
    ("sizes: 3", "found 1 values, expected 2"),
    ("sizes: 3 4 5", "found 3 values, expected 2"),
    ("sizes: 3 0", "found `0`, expected a positive integer"),
    ("sizes: 3 -4", "found `-4`"),
    ("sizes: 3 4.5", "found `4.5`"),
    ("sizes: 4294967296 4294967296", "too large"),
    ("sizes: 99999999999999999999 1", "positive integer"),
    ("spacings: 0 1", "0 is not allowed"),
    ("spacings: inf 1", "inf is not allowed"),
    ("spacings: 1", "found 1 values, expected 2"),
    ("spacings: 1 two", "found `two`, expected a number"),
    ("thicknesses: -1 1", "-1 is not allowed"),
    ("axis mins: -inf 1", "-inf is not allowed"),
    ("axis maxs: 1 inf", "inf is not allowed"),
    ("centers: node", "found 1 values"),
    ("centers: node middle", "found `middle`"),
    ("kinds: 3-vector 3-vector", "axis 1 of kind `3-vector` has size 4, expected 3"),
    ("kinds: space tensor", "found `tensor`"),
    ("labels: \"x\"", "found 1 strings, expected 2"),
    ("labels: x y", "double quotes"),
    ("labels: \"x\" \"y", "no quote closes"),
    ("units: \"mm\" \"mm\" \"mm\"", "found 3 strings, expected 2"),
    ("space: nowhere", "found `nowhere`"),
    ("space dimension: 9", "1 to 8"),
    ("space directions: (1,0,0)", "found 1 vectors, expected 2"),
    ("space directions: (1,0) (0,1)", "has 2 coefficients, expected 3"),
    ("space directions: (1,0,0) (0,1,0", "no `)` closes"),
    ("space directions: (1,0,0) 0,1,0", "expected a vector"),
    ("space directions: (1,nan,0) none", "all finite or all nan"),
    ("space directions: (1,inf,0) none", "all finite or all nan"),
    ("space origin: (1,2,3) (4,5,6)", "found 2 vectors, expected 1"),
    ("space units: \"mm\"", "found 1 strings, expected 3"),
    ("measurement frame: (1,0,0) (0,1,0)", "found 2 vectors, expected 3"),
    ("old min: low", "found `low`"),
    ("old max: high", "found `high`"),
    ("block size: many", "found `many`, expected a number of bytes"),
    ("endian: middle", "expected one of: little, big"),
    ("encoding: zip", "expected one of: raw, ascii, hex, gzip, bzip2"),
    ("line skip: -1", "found `-1`"),
    ("byte skip: many", "found `many`"),
    ("data file: ", "expected a file name"),
    ("data file: x%02d.raw 1 2", "expected: min max step"),
    ("data file: x%02d.raw 1 2 3 4 5", "expected: min max step"),
    ("data file: x%02d.raw 1 2 0", "step of the file numbers is 0"),
    ("data file: x%02d.raw 1 4 -1", "do not approach"),
    ("data file: LIST three", "found `three`"),
];

/// Every field of the format, and whether any text is a value of it.
#[rustfmt::skip]
const FIELDS: &[(&str, bool)] = &[
    ("content", true), ("number", true), ("type", false), ("block size", false), ("dimension", false),
    ("space", false), ("space dimension", false), ("sizes", false), ("spacings", false),
    ("thicknesses", false), ("axis mins", false), ("axis maxs", false), ("space directions", false),
    ("centers", false), ("kinds", false), ("labels", false), ("units", false), ("min", true), ("max", true),
    ("old min", false), ("old max", false), ("sample units", true), ("space units", false),
    ("space origin", false), ("measurement frame", false), ("endian", false), ("encoding", false),
    ("line skip", false), ("byte skip", false), ("data file", false),
];

#[test]
fn every_field_that_can_be_wrong_has_a_bad_line() {
    for (field, anything_goes) in FIELDS {
        let is_refused = BAD
            .iter()
            .any(|(line, _)| line.starts_with(&format!("{field}: ")));
        assert_eq!(is_refused, !anything_goes, "{field}");
    }
}

#[test]
fn bad_lines_are_refused_with_their_line_and_what_was_expected() {
    for (line, part) in BAD {
        let text = with_line(line);
        let error = header(&text).expect_err(line);
        assert!(error.to_string().contains(part), "{line}: {error}");
        assert_eq!(error.kind(), ErrorKind::Header, "{line}");
        assert_eq!(error.file(), "t.nrrd");
        let number = text.lines().position(|l| l == *line).unwrap() + 1;
        assert_eq!(error.line(), Some(number), "{line}: {error}");
    }
}

#[test]
fn a_direction_excludes_spacing_min_max_and_units_of_the_same_axis() {
    for other in [
        "spacings: 1 nan",
        "axis mins: 0 nan",
        "axis maxs: 1 nan",
        "units: \"mm\" \"\"",
    ] {
        let text = with_line(&format!("space directions: (1,0,0) (0,1,0)\n{other}"));
        let error = header(&text).expect_err(other);
        assert!(
            error.to_string().contains("both a space direction"),
            "{error}"
        );
        let elsewhere = with_line(&format!("space directions: none (0,1,0)\n{other}"));
        assert!(header(&elsewhere).is_ok(), "{other}");
    }
}

#[test]
fn fields_keep_their_order_and_occur_once() {
    let rows = [
        (
            "NRRD0001\ntype: uchar\nsizes: 3\n",
            "`dimension` must come before",
        ),
        (
            "NRRD0001\ndimension: 1\nspace origin: (1)\n",
            "must come before this field",
        ),
        (
            "NRRD0001\nspace dimension: 1\nspace directions: (1)\n",
            "`dimension` must come before",
        ),
        (
            "NRRD0001\nspace: LPS\nspace dimension: 3\n",
            "exclude each other",
        ),
        (
            "NRRD0001\ntype: uchar\ntype: uchar\n",
            "already given in line 2",
        ),
        (
            "NRRD0001\ntype: uchar\ndimension: 1\nsizes: 3\n\n",
            "`encoding` is missing",
        ),
        (
            "NRRD0001\ndimension: 1\nsizes: 3\nencoding: raw\n\n",
            "`type` is missing",
        ),
        (
            "NRRD0001\ntype: uchar\nencoding: raw\n\n",
            "`dimension` is missing",
        ),
        (
            "NRRD0001\ntype: uchar\ndimension: 1\nencoding: raw\n\n",
            "`sizes` is missing",
        ),
        (
            "NRRD0001\ntype: short\ndimension: 1\nsizes: 3\nencoding: hex\n\n",
            "`endian` is missing",
        ),
        (
            "NRRD0001\ntype: block\ndimension: 1\nsizes: 3\nencoding: raw\n\n",
            "needs a `block size`",
        ),
        (
            "NRRD0001\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: raw\n",
            "without an empty line",
        ),
        (
            "NRRD0001\ntype: uchar\ndimension: 1\nsizes: 3\ndata file: LIST\nencoding: raw\n",
            "`encoding` is missing",
        ),
    ];
    for (text, part) in rows {
        let error = header(text).expect_err(text);
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    assert!(header("NRRD0001\ntype: short\ndimension: 1\nsizes: 3\nencoding: ascii\n\n").is_ok());
    assert!(
        header(
            "NRRD0001\r\ntype: uchar\r\ndimension: 1\r\nsizes: 3\r\nencoding: raw\r\ndatafile: x"
        )
        .is_ok()
    );
}

#[test]
fn only_the_seven_magics_begin_a_header() {
    let rest = "type: uchar\ndimension: 1\nsizes: 1\nencoding: raw\n\n";
    for magic in [
        "NRRD00.01",
        "NRRD0001",
        "NRRD0002",
        "NRRD0003",
        "NRRD0004",
        "NRRD0005",
        "NRRD0006",
    ] {
        assert!(header(&format!("{magic}\n{rest}")).is_ok(), "{magic}");
    }
    for magic in [
        "NRRD0007",
        "nrrd0001",
        "NRRD",
        "NRRD0001 ",
        "\u{89}PNG",
        "",
        "NRRD0000",
        "NRRD00011",
    ] {
        let error = header(&format!("{magic}\n{rest}")).expect_err(magic);
        assert_eq!(error.kind(), ErrorKind::NotNrrd, "{magic}");
    }
}

#[test]
fn comments_and_key_values_are_kept_in_order() {
    let (h, _) = good(
        "# first\n#second\n#\nkey:=value: with colon\na b:=\nkey:=line\\nbreak \\\\n \\x\nspace:=LPS",
    );
    assert_eq!(h.comments, ["first", "second", ""]);
    let pairs = [
        ("key", "value: with colon"),
        ("a b", ""),
        ("key", "line\nbreak \\n \\x"),
        ("space", "LPS"),
    ];
    let found: Vec<_> = h
        .key_values
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(found, pairs);
}
