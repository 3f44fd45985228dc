//! Pictures: stored integers come back, numbers become levels, damaged files are errors.

use runtime::colour_maps::ColourMap;
use runtime::output::picture::{NanColour, Tally, picture};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::{self, Depth, Png, Range};

#[test]
fn pictures_come_back_as_they_were_written() {
    for depth in [Depth::Eight, Depth::Sixteen] {
        for channels in 1..=4 {
            let samples: Vec<u16> = (0..5 * 3 * channels as u32)
                .map(|i| (i * 7919 % (u32::from(depth.max()) + 1)) as u16)
                .collect();
            let png = Png::new(5, 3, channels, depth, samples).unwrap();
            let mut bytes = Vec::new();
            png::encode(&png, &mut bytes).unwrap();
            assert_eq!(png::decode(&bytes), Ok(png));
            for length in 0..bytes.len() - 12 {
                assert!(png::decode(&bytes[..length]).is_err(), "cut at {length}");
            }
        }
    }
    assert!(Png::new(2, 2, 5, Depth::Eight, vec![0; 20]).is_err());
    assert!(Png::new(2, 2, 1, Depth::Eight, vec![0; 3]).is_err());
    assert!(Png::new(0, 2, 1, Depth::Eight, vec![]).is_err());
    assert!(Png::new(1, 1, 1, Depth::Eight, vec![256]).is_err());
}

#[test]
fn grey_values_of_few_bits_are_not_stretched() {
    // A 4x1 picture of 2-bit grey values 0 1 2 3, deflated without compression.
    let bytes = two_bit_picture();
    let png = png::decode(&bytes).unwrap();
    assert_eq!((png.width(), png.samples()), (4, &[0, 1, 2, 3][..]));
}

fn two_bit_picture() -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(!0_u32, |crc, &b| {
            (0..8).fold(crc ^ u32::from(b), |c, _| {
                if c & 1 == 1 {
                    c >> 1 ^ 0xedb8_8320
                } else {
                    c >> 1
                }
            })
        })
    };
    let chunk = |name: &[u8], data: &[u8]| {
        let body = [name, data].concat();
        [
            &(data.len() as u32).to_be_bytes()[..],
            &body,
            &crc(&body).to_be_bytes(),
        ]
        .concat()
    };
    let row = [0_u8, 0b00_01_10_11];
    let adler = {
        let (a, b) = row.iter().fold((1_u32, 0_u32), |(a, b), &x| {
            (a + u32::from(x), b + a + u32::from(x))
        });
        b << 16 | a
    };
    let deflated = [
        &[0x78, 0x01, 1, 2, 0, 0xfd, 0xff][..],
        &row,
        &adler.to_be_bytes(),
    ]
    .concat();
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[0, 0, 0, 4, 0, 0, 0, 1, 2, 0, 0, 0, 0]),
        chunk(b"IDAT", &deflated),
        chunk(b"IEND", &[]),
    ]
    .concat()
}

/// The levels of a picture of one row, and what became of the numbers.
fn levels(
    values: Values<'_>,
    channels: usize,
    range: Range,
    depth: Depth,
    nan: NanColour,
) -> (Vec<u16>, Tally) {
    let output = Output {
        name: "out".into(),
        shape: if channels == 1 {
            vec![]
        } else {
            vec![channels]
        },
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    };
    let domain = Domain::Grid(vec![1, values.len() / channels]);
    let column = Column {
        output: &output,
        values,
        lengths: None,
        range,
        colours: None,
    };
    let (png, tally) = picture(column, &domain, depth, nan).unwrap();
    (png.samples().to_vec(), tally)
}

#[test]
fn numbers_have_the_colours_of_a_map() {
    let output = Output {
        name: "out".into(),
        shape: vec![],
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    };
    let shown = |map: &str, values: &[f64], range: Range, nan: NanColour| {
        let column = Column {
            output: &output,
            values: Values::F64(values),
            lengths: None,
            range,
            colours: Some(ColourMap::named(map).unwrap()),
        };
        let domain = Domain::Grid(vec![1, values.len()]);
        picture(column, &domain, Depth::Eight, nan).unwrap()
    };
    // The numbers of all colours, from the first to the last.
    let steps: Vec<f64> = (0..256).map(|n| 3.0 + f64::from(n) / 128.0).collect();
    for map in ColourMap::all().iter().filter(|map| !map.is_diverging()) {
        let (png, tally) = shown(map.name, &steps, Range::Usual, NanColour::Black);
        let expected: Vec<u16> = map.colours.iter().map(|&level| level.into()).collect();
        assert_eq!(png.samples(), expected, "{}", map.name);
        assert_eq!(tally.range, (3.0, 3.0 + 255.0 / 128.0));
        let note = format!("x.png: {} from 3 to 4.992", map.name);
        assert!(tally.notes("x.png", false)[0].starts_with(&note), "{note}");
    }
    // Zero is in the middle of a diverging map, whatever the numbers are.
    let (png, tally) = shown(
        "diverging",
        &[-1.0, 0.0, 4.0],
        Range::Usual,
        NanColour::Black,
    );
    let map = ColourMap::named("diverging").unwrap();
    let middle = map.colour(0.5).map(|tone| (tone * 255.0).round() as u16);
    assert_eq!(
        (tally.range, &png.samples()[3..6]),
        ((-4.0, 4.0), &middle[..])
    );
    // Numbers beyond the range have the outermost colours, and a NaN can be transparent.
    let values = [-9.0, f64::NAN, 9.0];
    let (png, tally) = shown(
        "heat",
        &values,
        Range::Between(0.0, 1.0),
        NanColour::Transparent,
    );
    let heat = ColourMap::named("heat").unwrap().colours;
    let [first, last] = [0, 765].map(|at| [0, 1, 2].map(|c| u16::from(heat[at + c])));
    let expected = [&first[..], &[255, 0, 0, 0, 0], &last[..], &[255]].concat();
    assert_eq!((png.channels(), png.samples()), (4, &expected[..]));
    assert_eq!((tally.below, tally.above, tally.nan), (1, 1, 1));
    // A picture of one number has the first colour, and one of no number no range to report.
    let (png, tally) = shown("heat", &[2.0; 3], Range::Usual, NanColour::Black);
    assert_eq!((&png.samples()[..3], tally.is_uniform), (&first[..], true));
    let (png, tally) = shown("heat", &[f64::NAN; 3], Range::Usual, NanColour::White);
    assert_eq!(png.samples(), [255; 9]);
    assert!(
        tally
            .notes("x.png", false)
            .iter()
            .all(|note| !note.contains("inf"))
    );
    assert!(ColourMap::named("jet").is_err_and(|message| message.contains("viridis")));
}

const VALUES: [f64; 8] = [
    -1.0,
    0.0,
    0.5,
    1.0,
    2.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

#[test]
fn numbers_become_levels_by_the_range_asked_for() {
    let rows = [
        (Range::Usual, Depth::Eight, [0, 0, 128, 255, 255, 0, 255, 0]),
        (
            Range::Usual,
            Depth::Sixteen,
            [0, 0, 32768, 65535, 65535, 0, 65535, 0],
        ),
        (
            Range::Between(0.0, 2.0),
            Depth::Eight,
            [0, 0, 64, 128, 255, 0, 255, 0],
        ),
        (
            Range::Between(1.0, 0.0),
            Depth::Eight,
            [255, 255, 128, 0, 0, 0, 0, 255],
        ),
        (Range::Auto, Depth::Eight, [0, 85, 128, 170, 255, 0, 255, 0]),
        (
            Range::Percentiles(25.0, 75.0),
            Depth::Eight,
            [0, 0, 128, 255, 255, 0, 255, 0],
        ),
    ];
    for (range, depth, expected) in rows {
        let (found, _) = levels(Values::F64(&VALUES), 1, range, depth, NanColour::Black);
        assert_eq!(found, expected, "{range:?}");
    }
    let (same, tally) = levels(
        Values::F64(&[3.0, 3.0]),
        1,
        Range::Auto,
        Depth::Eight,
        NanColour::Black,
    );
    assert_eq!(same, [0, 0]);
    assert!(tally.is_uniform);
    let (ints, _) = levels(
        Values::I32(&[7, 300, -1]),
        1,
        Range::Usual,
        Depth::Eight,
        NanColour::Black,
    );
    assert_eq!(ints, [7, 255, 0]);
}

#[test]
fn opacity_is_never_scaled_and_never_part_of_the_range() {
    // Two pixels of four channels: the opacities are 1 and a half.
    let values = [0.0, 100.0, 255.0, 1.0, 50.0, 50.0, 50.0, 0.5];
    for range in [
        Range::Between(0.0, 255.0),
        Range::Auto,
        Range::Percentiles(0.0, 100.0),
    ] {
        let (found, tally) = levels(
            Values::F64(&values),
            4,
            range,
            Depth::Eight,
            NanColour::Black,
        );
        assert_eq!(found, [0, 100, 255, 255, 50, 50, 50, 128], "{range:?}");
        assert_eq!(
            (tally.values, tally.below + tally.above, tally.extent),
            (6, 0, (0.0, 255.0))
        );
    }
    let clear = [0.5, 0.0, 0.7, 0.0];
    let (_, tally) = levels(
        Values::F64(&clear),
        2,
        Range::Usual,
        Depth::Eight,
        NanColour::Black,
    );
    assert!(tally.notes("p.png", false)[0].contains("transparent everywhere"));
}

#[test]
fn what_is_not_a_number_looks_as_asked_and_is_counted() {
    let rows = [
        (NanColour::Black, vec![0, 255]),
        (NanColour::Grey, vec![128, 255]),
        (NanColour::White, vec![255, 255]),
        (NanColour::Transparent, vec![0, 0, 255, 255]),
    ];
    for (nan, expected) in rows {
        let (found, tally) = levels(
            Values::F64(&[f64::NAN, 1.0]),
            1,
            Range::Usual,
            Depth::Eight,
            nan,
        );
        assert_eq!((found, tally.nan), (expected, 1), "{nan:?}");
        assert!(tally.notes("p.png", false)[0].contains("1 values are not numbers (50 %)"));
    }
}

#[test]
fn surprising_pictures_are_reported_and_others_are_not() {
    let notes = |values: &[f64], all| {
        let (_, tally) = levels(
            Values::F64(values),
            1,
            Range::Usual,
            Depth::Eight,
            NanColour::Black,
        );
        tally.notes("mag.png", all)
    };
    assert_eq!(notes(&[0.0, 0.3, 1.0], false), [""; 0]);
    // The noise of a reconstruction rounds to black and white.
    assert_eq!(notes(&[-0.0001, 0.3, 1.0001], false), [""; 0]);
    assert_eq!(
        notes(&[0.0, 0.3, 1.0], true),
        ["mag.png: values from 0 to 1"]
    );
    assert_eq!(
        notes(&[0.5, 7.0, 213.4], false),
        ["mag.png: 67 % of values are above 1 (largest 213.4); --range auto shows all of them"]
    );
    assert_eq!(
        notes(&[-2.0, 7.0, 0.5, 0.25], false),
        [
            "mag.png: 25 % of values are above 1 (largest 7), 25 % of values are below 0 (smallest -2); --range auto shows all of them"
        ]
    );
    assert_eq!(
        notes(&[0.25, 0.25], false),
        ["mag.png: all pixels have the same colour"]
    );
    // One value in two hundred may be clipped without a word.
    let mut many = vec![0.5; 200];
    (many[0], many[1]) = (1.5, 0.25);
    assert_eq!(notes(&many, false), [""; 0]);
    assert_eq!(notes(&many, true).len(), 1);
}

#[test]
fn pictures_with_changed_bytes_are_read_or_refused() {
    let mut sound = two_bit_picture();
    let png = Png::new(3, 2, 3, Depth::Sixteen, (0..18).map(|i| i * 1000).collect()).unwrap();
    let mut bytes = Vec::new();
    png::encode(&png, &mut bytes).unwrap();
    for file in [&mut sound, &mut bytes] {
        for at in 0..file.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                file[at] ^= flip;
                if let Ok(png) = png::decode(file) {
                    assert_eq!(
                        png.samples().len(),
                        png.width() * png.height() * png.channels()
                    );
                }
                file[at] ^= flip;
            }
        }
    }
}

/// The contents of all parts of this name, one after the other.
fn parts(file: &[u8], name: &[u8; 4]) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = &file[8..];
    while let [a, b, c, d, after @ ..] = rest {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        if &after[..4] == name {
            found.extend(&after[4..4 + length]);
        }
        rest = &after[length + 8..];
    }
    found
}

#[test]
fn large_pictures_are_one_stream_although_their_bands_are_compressed_apart() {
    let (width, height) = (701, 503);
    for (channels, depth) in [(1, Depth::Sixteen), (3, Depth::Eight), (4, Depth::Sixteen)] {
        let count = width * height * channels;
        // Smooth in places and noisy in others, so that rows have different filters.
        let sample = |n: usize| {
            let (x, y) = (n / channels % width, n / channels / width);
            let noise = (n as u32).wrapping_mul(2_654_435_761) >> 24;
            let value = if y % 7 < 3 { x + y } else { noise as usize };
            (value * if y % 11 == 0 { 0 } else { 1 }) as u16 & depth.max()
        };
        let samples: Vec<u16> = (0..count).map(sample).collect();
        let picture = Png::new(width, height, channels, depth, samples).unwrap();
        let mut file = Vec::new();
        png::encode(&picture, &mut file).unwrap();
        assert_eq!(png::decode(&file).unwrap(), picture);
        // The checksum at the end is that of all bands together.
        let mut bytes = Vec::new();
        let stream = parts(&file, b"IDAT");
        let mut decoder = flate2::read::ZlibDecoder::new(&stream[..]);
        std::io::Read::read_to_end(&mut decoder, &mut bytes).unwrap();
        let row = width * channels * if depth == Depth::Eight { 1 } else { 2 };
        assert_eq!(bytes.len(), height * (row + 1));
        assert!(bytes.len() > 1 << 18, "several bands");
    }
}

/// The compressor writes a piece of a stream in portions; where a portion ends depends on how well the piece can be compressed.
#[test]
fn large_pictures_come_back_however_well_they_can_be_compressed() {
    let (width, height) = (1500, 4000);
    let sample = |n: usize| {
        let (x, y) = (n % width, n / width);
        ((7 * x * x + 13 * y * y + x * y) >> 4) as u16
    };
    let samples: Vec<u16> = (0..width * height).map(sample).collect();
    let picture = Png::new(width, height, 1, Depth::Sixteen, samples).unwrap();
    let mut file = Vec::new();
    png::encode(&picture, &mut file).unwrap();
    assert!(png::decode(&file).unwrap() == picture);
}
