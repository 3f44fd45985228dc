//! Writing and reading back gives the same array, and no change to the bytes of a file makes reading panic.

use nrrd_rs::{
    Axis, Centering, Encoding, Endian, Format, Header, Kind, NamedSpace, Nrrd, SampleType, Samples,
    Space,
};
use proptest::prelude::*;

/// Samples of `sample_type` made of arbitrary bits; text keeps no payload of not-a-numbers, so there is one only.
fn samples(sample_type: SampleType, bits: &[u64]) -> Samples {
    let single = |b: u64| f32::from_bits(b as u32);
    let canonical32 = |x: f32| if x.is_nan() { f32::NAN } else { x };
    let canonical64 = |x: f64| if x.is_nan() { f64::NAN } else { x };
    let bits = bits.iter().copied();
    match sample_type {
        SampleType::I8 => Samples::I8(bits.map(|b| b as i8).collect()),
        SampleType::U8 => Samples::U8(bits.map(|b| b as u8).collect()),
        SampleType::I16 => Samples::I16(bits.map(|b| b as i16).collect()),
        SampleType::U16 => Samples::U16(bits.map(|b| b as u16).collect()),
        SampleType::I32 => Samples::I32(bits.map(|b| b as i32).collect()),
        SampleType::U32 => Samples::U32(bits.map(|b| b as u32).collect()),
        SampleType::I64 => Samples::I64(bits.map(|b| b as i64).collect()),
        SampleType::U64 => Samples::U64(bits.collect()),
        SampleType::F32 => Samples::F32(bits.map(|b| canonical32(single(b))).collect()),
        SampleType::F64 => Samples::F64(bits.map(|b| canonical64(f64::from_bits(b))).collect()),
        SampleType::Block => Samples::Block {
            size: 8,
            bytes: bits.flat_map(u64::to_le_bytes).collect(),
        },
    }
}

/// The bits of the samples, so that not-a-number equals itself.
fn bits(samples: &Samples) -> Vec<u64> {
    match samples {
        Samples::F32(v) => v.iter().map(|x| u64::from(x.to_bits())).collect(),
        Samples::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        Samples::Block { bytes, .. } => bytes.iter().map(|&b| u64::from(b)).collect(),
        other => other.convert().unwrap(),
    }
}

fn written(nrrd: &Nrrd, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    nrrd_rs::write_attached(nrrd, format, &mut bytes).unwrap();
    bytes
}

fn word() -> impl Strategy<Value = String> {
    // Everything that may stand in a text of one line, with what needs care: quotes, colons, backslashes, non-ascii.
    proptest::string::string_regex("([a-z\":=#é]([a-zé \":=#\\\\]{0,6}[a-zé\"])?)?").unwrap()
}

fn number() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(prop_oneof![Just(0.5), Just(-1e-300), Just(1e22), -1e3..1e3])
        .prop_map(|x| x.filter(|x| *x != 0.0))
}

fn axis(space: usize) -> impl Strategy<Value = Axis> {
    let names = (word(), word());
    let kind = proptest::option::of(prop_oneof![
        Just(Kind::Domain),
        Just(Kind::List),
        Just(Kind::Point)
    ]);
    let centering = proptest::option::of(prop_oneof![Just(Centering::Node), Just(Centering::Cell)]);
    let direction = proptest::option::of(proptest::collection::vec(-1e3..1e3, space));
    let numbers = (number(), number(), number(), number());
    (1_usize..4, numbers, names, kind, centering, direction).prop_map(
        move |(size, numbers, (label, units), kind, centering, direction)| {
            let direction = direction.filter(|_| space > 0);
            let free = direction.is_none();
            Axis {
                size,
                spacing: numbers.0.filter(|_| free),
                thickness: numbers.1.map(f64::abs),
                min: numbers.2.filter(|_| free),
                max: numbers.3.filter(|_| free),
                centering,
                direction,
                kind,
                label,
                units: if free { units } else { String::new() },
            }
        },
    )
}

fn space() -> impl Strategy<Value = Space> {
    prop_oneof![
        Just(Space::Unknown),
        (1_usize..5).prop_map(Space::Dimension),
        Just(Space::Named(NamedSpace::Lps)),
        Just(Space::Named(NamedSpace::RightUp)),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    space().prop_flat_map(|space| {
        let n = space.dimension();
        let axes = proptest::collection::vec(axis(n), 1..5);
        let vector = || proptest::collection::vec(-1e3..1e3, n);
        let origin = proptest::option::of(vector());
        let frame = proptest::option::of(proptest::collection::vec(vector().prop_map(Some), n));
        let units = proptest::collection::vec(word(), n);
        let texts = (word(), word());
        let olds = (number(), number());
        let pairs = proptest::collection::vec(("[a-z]{1,4}", "[a-z :=\\\\\n]{0,6}"), 0..3);
        let comments = proptest::collection::vec(word(), 0..3);
        (axes, origin, frame, units, texts, olds, pairs, comments).prop_map(
            move |(axes, origin, frame, units, texts, olds, key_values, comments)| Header {
                axes,
                space: space.clone(),
                space_origin: origin.filter(|_| n > 0),
                // Units that are all empty are not written, and so come back as none.
                space_units: if units.iter().all(String::is_empty) {
                    Vec::new()
                } else {
                    units
                },
                measurement_frame: frame.filter(|_| n > 0),
                content: texts.0,
                sample_units: texts.1,
                old_min: olds.0,
                old_max: olds.1,
                key_values,
                comments,
                ..Header::new(SampleType::U8, &[])
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn every_type_encoding_byte_order_and_dimension_comes_back(
        sizes in proptest::collection::vec(1_usize..4, 1..7),
        seed in any::<u64>(),
    ) {
        let count: usize = sizes.iter().product();
        let mut state = seed;
        let random: Vec<u64> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        }).take(count).collect();
        for sample_type in SampleType::all() {
            let mut header = Header::new(sample_type, &sizes);
            header.block_size = (sample_type == SampleType::Block).then_some(8);
            let nrrd = Nrrd::new(header, samples(sample_type, &random)).unwrap();
            for encoding in Encoding::all() {
                for endian in Endian::all() {
                    if sample_type == SampleType::Block && encoding == Encoding::Ascii {
                        continue;
                    }
                    let bytes = written(&nrrd, Format { encoding, endian });
                    let back = nrrd_rs::read_bytes(&bytes, None).unwrap();
                    prop_assert_eq!(bits(back.samples()), bits(nrrd.samples()));
                    prop_assert_eq!(back.header(), nrrd.header());
                }
            }
        }
    }

    #[test]
    fn every_field_comes_back(header in header()) {
        let count = header.sample_count().unwrap();
        let nrrd = Nrrd::new(header, Samples::U8(vec![7; count])).unwrap();
        let bytes = written(&nrrd, Format::default());
        let back = nrrd_rs::read_bytes(&bytes, None);
        prop_assert_eq!(back.as_ref(), Ok(&nrrd), "{}", String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn changed_files_are_read_or_refused(
        header in header(),
        encoding in proptest::sample::select(Encoding::all().collect::<Vec<_>>()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..4),
    ) {
        let count = header.sample_count().unwrap();
        let nrrd = Nrrd::new(header, Samples::U8(vec![200; count])).unwrap();
        let mut bytes = written(&nrrd, Format { encoding, ..Format::default() });
        for (at, byte, edit) in edits {
            // An empty file cannot be edited further.
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at + 1),
            }
        }
        // Whatever comes of it, it is a value: an array whose samples fit its header, or an error with a message.
        match nrrd_rs::read_bytes(&bytes, None) {
            Ok(nrrd) => prop_assert_eq!(Some(nrrd.samples().len()), nrrd.header().sample_count()),
            Err(error) => prop_assert!(!error.message().is_empty()),
        }
    }
}

#[test]
fn every_truncation_of_a_file_is_an_error() {
    let header = Header::new(SampleType::I16, &[3, 2]);
    let nrrd = Nrrd::new(header, Samples::I16(vec![1, -2, 3, 4, 5, 10000])).unwrap();
    for encoding in Encoding::all() {
        let bytes = written(
            &nrrd,
            Format {
                encoding,
                ..Format::default()
            },
        );
        // A text may lose the line feed at its end and the last digits of its last number.
        let spare = match encoding {
            Encoding::Ascii => 5,
            Encoding::Hex => 1,
            Encoding::Raw | Encoding::Gzip | Encoding::Bzip2 => 0,
        };
        for length in 0..bytes.len() - spare {
            let read = nrrd_rs::read_bytes(&bytes[..length], None);
            assert!(
                read.is_err(),
                "{encoding} cut at {length} of {}",
                bytes.len()
            );
        }
    }
}

#[test]
fn what_a_header_cannot_express_is_refused_when_writing() {
    let plain = Header::new(SampleType::U8, &[2]);
    let with = |change: fn(&mut Header)| {
        let mut header = plain.clone();
        change(&mut header);
        header
    };
    let rows = [
        (
            with(|h| h.content = "two\nlines".to_string()),
            "expected `field: value`",
        ),
        (
            with(|h| h.content = " blank first".to_string()),
            "field `content`",
        ),
        (
            with(|h| h.comments.push("a\ntype: float".to_string())),
            "already given",
        ),
        (
            with(|h| h.comments.push("return\r".to_string())),
            "a comment",
        ),
        (
            with(|h| h.key_values.push(("a: b".to_string(), String::new()))),
            "unknown field `a`",
        ),
        (
            with(|h| h.key_values.push(("#a".to_string(), String::new()))),
            "a comment",
        ),
        (
            with(|h| h.key_values.push((String::new(), String::new()))),
            "is empty",
        ),
        (
            with(|h| h.key_values.push(("a:=b".to_string(), String::new()))),
            "a key/value pair",
        ),
        (
            with(|h| h.axes[0].label = "back\\".to_string()),
            "no quote closes",
        ),
    ];
    for (header, part) in rows {
        let nrrd = Nrrd::new(header, Samples::U8(vec![1, 2])).unwrap();
        let error = nrrd_rs::write_attached(&nrrd, Format::default(), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn headers_and_samples_that_disagree_are_no_array() {
    let rows = [
        (
            Header::new(SampleType::U8, &[3]),
            "found 2 samples, the header says 3",
        ),
        (
            Header::new(SampleType::I8, &[2]),
            "samples are of type `unsigned char`",
        ),
        (Header::new(SampleType::U8, &[0]), "axis 0 has size 0"),
        (Header::new(SampleType::U8, &[]), "found dimension 0"),
        (Header::new(SampleType::U8, &[1; 17]), "found dimension 17"),
    ];
    for (header, part) in rows {
        let error = Nrrd::new(header, Samples::U8(vec![1, 2])).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn arrays_have_the_fastest_axis_last() {
    let array = ndarray::Array::from_shape_fn((2, 3), |(row, column)| (10 * row + column) as f32);
    let nrrd = Nrrd::from_array(array.view().into_dyn()).unwrap();
    assert_eq!(nrrd.header().sizes(), [3, 2]);
    assert_eq!(
        *nrrd.samples(),
        Samples::F32(vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    );
    assert_eq!(nrrd.to_array::<f32>().unwrap(), array.into_dyn());
    assert_eq!(nrrd.to_array::<f64>(), None);
}

#[test]
fn detached_files_come_back() {
    let directory = std::env::temp_dir().join(format!("nrrd-detached-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let nrrd = Nrrd::new(
        Header::new(SampleType::F64, &[2]),
        Samples::F64(vec![0.1, -1e300]),
    )
    .unwrap();
    for encoding in Encoding::all() {
        let path = directory.join("array.nhdr");
        let format = Format {
            encoding,
            endian: Endian::Big,
        };
        nrrd_rs::write(&nrrd, format, &path).unwrap();
        let data = nrrd_rs::detached_data_name(&path, encoding).unwrap();
        assert!(directory.join(data).exists());
        assert_eq!(nrrd_rs::read(&path), Ok(nrrd.clone()));
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
