//! Files of figures: their pixels are those of pictures, their numbers those of the data, whatever the data are.

use std::fs;
use std::path::PathBuf;

use crate::read::{Svg, apart, pdf_images, svg};
use runtime::colour_maps::ColourMap;
use runtime::grid::Place;
use runtime::nrrd::Space;
use runtime::output::format::Destination;
use runtime::output::picture::NanColour;
use runtime::output::write::{Contents, Style, write};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::{self, Depth, Range};

/// Outputs over a grid or a collection.
struct Case<'a> {
    output: Output,
    values: &'a [f64],
    lengths: Option<&'a [usize]>,
    domain: Domain,
    range: Range,
    map: Option<&'static str>,
    place: Option<Place>,
    style: Style,
}

impl<'a> Case<'a> {
    /// A picture of one number per pixel.
    fn scalar([width, height]: [usize; 2], values: &'a [f64]) -> Case<'a> {
        Case {
            output: output("speed", &[], Length::One),
            values,
            lengths: None,
            domain: Domain::Grid(vec![height, width]),
            range: Range::Usual,
            map: None,
            place: None,
            style: Style::default(),
        }
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        let directory: PathBuf =
            std::env::temp_dir().join(format!("figures-{}", std::process::id()));
        let directory = directory.join(format!("{:?}", std::thread::current().id()));
        fs::create_dir_all(&directory).unwrap();
        let destination = Destination::parse(directory.join(name).as_os_str()).unwrap();
        let column = Column {
            output: &self.output,
            values: Values::F64(self.values),
            lengths: self.lengths,
            range: self.range,
            colours: self.map.map(|name| ColourMap::named(name).unwrap()),
        };
        let contents = Contents {
            columns: &[column],
            domain: &self.domain,
            place: self.place.as_ref(),
        };
        write(&destination, None, contents, &self.style).unwrap();
        let bytes = fs::read(&*destination.file).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        bytes
    }

    fn svg(&self, name: &str) -> Svg {
        svg(&String::from_utf8(self.bytes(name)).unwrap())
    }
}

fn output(name: &str, shape: &[usize], length: Length) -> Output {
    Output {
        name: name.into(),
        shape: shape.to_vec(),
        length,
        scalar: Scalar::Real,
        is_position: name == "pos",
    }
}

fn placed(step: f64, origin: [f64; 2]) -> Option<Place> {
    Some(Place {
        space: Space::Dimension(2),
        directions: vec![vec![step, 0.0], vec![0.0, step]],
        origin: origin.to_vec(),
        units: Vec::new(),
    })
}

/// Numbers without order between two others.
fn noise(count: usize, low: f64, high: f64) -> Vec<f64> {
    let part = |n: usize| (n * 7919 % 1009) as f64 / 1008.0;
    (0..count).map(|n| low + (high - low) * part(n)).collect()
}

#[test]
fn pixels_are_those_of_the_picture() {
    for channels in 1..=4 {
        for (depth, nan) in [
            (Depth::Eight, NanColour::Grey),
            (Depth::Sixteen, NanColour::Transparent),
        ] {
            for map in [None, Some("viridis")] {
                if map.is_some() && channels > 1 {
                    continue;
                }
                let mut values = noise(37 * 23 * channels, -0.2, 1.3);
                values[5 * channels] = f64::NAN;
                let shape = if channels == 1 {
                    vec![]
                } else {
                    vec![channels]
                };
                let case = Case {
                    output: output("v", &shape, Length::One),
                    range: Range::Between(0.0, 1.0),
                    map,
                    style: Style {
                        depth,
                        nan,
                        ..Style::default()
                    },
                    ..Case::scalar([37, 23], &values)
                };
                let expected = png::decode(&case.bytes("a.png")).unwrap();
                let svg = case.svg("a.svg");
                assert_eq!(svg.images.len(), 1, "embedded once");
                assert_eq!(png::decode(&svg.images[0].1).unwrap(), expected);
                assert_eq!(pdf_images(&case.bytes("a.pdf")), apart(&expected));
            }
        }
    }
}

/// The numbers at the colour bar, each with its height on the page.
fn bar(svg: &Svg) -> Vec<(f64, f64)> {
    let label = svg.texts.iter().find(|t| t.letters.starts_with("speed"));
    let label = &label.expect("a label").letters;
    let power = label
        .split_once("(10")
        .map_or("0", |(_, power)| power.trim_end_matches(')'));
    let number = |text: &str| text.replace('\u{2212}', "-");
    let [[x, _, width, _], ..] = svg.images.iter().map(|i| i.0).collect::<Vec<_>>()[..] else {
        panic!("no picture");
    };
    let beside = svg
        .texts
        .iter()
        .filter(|t| t.anchor == "start" && t.at[0] > x + width);
    let ticks = beside.filter_map(|t| {
        let value = format!("{}e{}", number(&t.letters), number(power))
            .parse()
            .ok()?;
        Some((value, t.at[1]))
    });
    ticks.collect()
}

#[test]
fn the_colour_bar_tells_the_range_of_the_data() {
    let ranges = [
        (0.0, 213.4),
        (-1.0, 1.0),
        (0.001, 0.0042),
        (0.0, 3e-12),
        (-2e12, 1e12),
        (99_000.0, 99_400.0),
        (-7.5e-9, -7.1e-9),
    ];
    for (low, high) in ranges {
        let mut values = noise(1009, low, high);
        (values[0], values[1]) = (low, high);
        // One row of high pixels.
        let case = Case {
            map: Some("magma"),
            place: Some(Place {
                space: Space::Dimension(2),
                directions: vec![vec![1.0, 0.0], vec![0.0, 1009.0]],
                origin: vec![0.0; 2],
                units: Vec::new(),
            }),
            ..Case::scalar([1009, 1], &values)
        };
        let svg = case.svg("figure.svg");
        let [_, top, _, height] = svg.images[0].0;
        let ticks = bar(&svg);
        assert!((4..=9).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        for &(value, y) in &ticks {
            assert!(low <= value && value <= high, "{value}");
            let part = (top + height - y + 0.36 * 7.0) / height;
            let expected = (value - low) / (high - low);
            assert!(
                (part - expected).abs() < 1e-4,
                "{value} at {part}, expected {expected}"
            );
        }
        assert!(svg.desc.starts_with("cmap=magma range="), "{}", svg.desc);
        let (_, range) = svg.desc.split_once("range=").unwrap();
        let (first, last) = range.split_once("..").unwrap();
        assert_eq!((first.parse(), last.parse()), (Ok(low), Ok(high)));
    }
}

#[test]
fn coloured_pictures_have_their_range_in_the_file() {
    let values = [0.0, f64::from(213.4_f32), 1.0, 2.0];
    let case = Case {
        map: Some("viridis"),
        ..Case::scalar([2, 2], &values)
    };
    let texts = |case: &Case<'_>| {
        let bytes = case.bytes("a.png");
        let reader = ::png::Decoder::new(std::io::Cursor::new(&bytes)).read_info();
        let reader = reader.unwrap();
        let texts = reader.info().uncompressed_latin1_text.iter();
        texts
            .map(|t| (t.keyword.clone(), t.text.clone()))
            .collect::<Vec<_>>()
    };
    let expected = (
        "Diderot".to_string(),
        "cmap=viridis range=0..213.4".to_string(),
    );
    assert_eq!(texts(&case), [expected]);
    assert_eq!(texts(&Case::scalar([2, 2], &values)), []);
    let nothing = Case {
        map: Some("viridis"),
        ..Case::scalar([2, 2], &[f64::NAN; 4])
    };
    assert_eq!(texts(&nothing), []);
}

#[test]
fn titles_are_names_of_files_or_what_is_asked_for() {
    let values = [0.5; 4];
    let case = Case::scalar([2, 2], &values);
    assert_eq!(case.svg("flow-0001.svg").title, "flow-0001");
    let strange = "a <b> & \"c\" λ漢 é\u{1}";
    let case = Case {
        style: Style {
            title: Some(strange.into()),
            ..Style::default()
        },
        ..case
    };
    let svg = case.svg("flow.svg");
    let shown = strange.replace('\u{1}', "\u{fffd}");
    assert_eq!(svg.title, shown);
    assert!(svg.texts.iter().any(|t| t.letters == shown));
    assert_eq!(pdf_images(&case.bytes("flow.pdf")).len(), 1);
}

#[test]
fn any_data_become_a_figure() {
    let grids = [[1, 1], [3, 2], [1, 50], [50, 1]];
    let samples = [
        0.0,
        1.0,
        -1e-12,
        1e12,
        1e300,
        -1e308,
        1e308,
        5e-324,
        f64::NAN,
        f64::INFINITY,
    ];
    let places = [
        None,
        placed(1.0, [0.0; 2]),
        placed(1e-300, [1e300, -1e300]),
        placed(1e307, [0.0; 2]),
        placed(1e-12, [1e12; 2]),
        placed(f64::NAN, [0.0; 2]),
        placed(-3.0, [f64::INFINITY, 0.0]),
    ];
    let looks = [
        (None, Range::Usual),
        (None, Range::Percentiles(1.0, 99.0)),
        (Some("diverging"), Range::Usual),
        (Some("heat"), Range::Auto),
    ];
    for [width, height] in grids {
        for (n, place) in places.iter().enumerate() {
            for (map, range) in looks {
                for constant in samples {
                    let mut values = vec![constant; width * height];
                    values[0] = samples[n];
                    let case = Case {
                        map,
                        range,
                        place: place.clone(),
                        ..Case::scalar([width, height], &values)
                    };
                    let text = String::from_utf8(case.bytes("a.svg")).unwrap();
                    let numbers = ["\"NaN", "\"inf", " NaN", " inf", "LNaN"];
                    assert!(!numbers.iter().any(|n| text.contains(n)), "{values:?}");
                    assert_eq!(svg(&text).images.len(), 1);
                    assert_eq!(pdf_images(&case.bytes("a.pdf")).len(), 1);
                }
            }
        }
    }
}

#[test]
fn points_and_lines_are_drawn_in_world_coordinates() {
    let points = [
        0.0,
        0.0,
        2.0,
        0.0,
        2.0,
        1.0,
        f64::NAN,
        0.0,
        1.0,
        1.0,
        0.0,
        1.0,
    ];
    let case = Case {
        output: output("pos", &[2], Length::One),
        domain: Domain::List(6),
        ..Case::scalar([1, 1], &points)
    };
    let svg = case.svg("points.svg");
    assert_eq!(svg.circles.len(), 5);
    let [a, b, c] = [svg.circles[0], svg.circles[1], svg.circles[2]];
    // The first axis to the right, the second upwards, with equal steps: 2.16 units on four inches.
    let unit = 288.0 / 2.16;
    let close = |x: f64, y: f64| (x - y).abs() < 2e-3;
    assert!(
        close(b[0] - a[0], 2.0 * unit) && close(b[1], a[1]),
        "{a:?} {b:?}"
    );
    assert!(close(b[1] - c[1], unit) && close(b[0], c[0]), "{b:?} {c:?}");
    assert!(svg.images.is_empty());
    assert!(pdf_images(&case.bytes("points.pdf")).is_empty());
    // Two lines; the second has a gap and a point alone.
    let case = Case {
        output: output("path", &[2], Length::Dynamic),
        lengths: Some(&[2, 0, 4]),
        domain: Domain::List(3),
        ..case
    };
    let svg = case.svg("lines.svg");
    let data = svg.paths.iter().find(|d| !d.contains('Z')).expect("lines");
    assert_eq!(data.matches('M').count(), 2, "{data}");
    assert_eq!(data.matches('L').count(), 2, "{data}");
    // Two triangles, the second with a corner that cannot be drawn.
    let corners = [
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        f64::NAN,
        0.0,
        0.0,
        1.0,
    ];
    let case = Case {
        output: output("t", &[3, 2], Length::Dynamic),
        lengths: Some(&[1, 1]),
        domain: Domain::List(2),
        ..Case::scalar([1, 1], &corners)
    };
    let svg = case.svg("triangles.svg");
    let closed = |d: &&String| d.matches('L').count() == 2 && d.matches('Z').count() == 1;
    assert_eq!(
        svg.paths.iter().filter(closed).count(),
        2,
        "an area and its sides: {:?}",
        svg.paths
    );
}
