//! NIfTI and TIFF: grids with the steps or the place that the formats have.

use super::{Directory, column, output};
use flate2::read::GzDecoder;
use runtime::grid::Place;
use runtime::image::{Declared, Image, Reading, World};
use runtime::nrrd::{NamedSpace, Space};
use runtime::output::format::{Destination, FileFormat};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::Range;
use std::io::Read;
use std::path::Path;

/// Four by three by two strands, in an oblique grid of the space of DICOM.
const GRID: [usize; 3] = [2, 3, 4];

fn place(space: Space) -> Place {
    Place {
        space,
        directions: vec![
            vec![0.5, 0.25, 0.0],
            vec![-1.0, 2.0, 0.5],
            vec![0.0, 0.75, 3.0],
        ],
        origin: vec![-10.0, 20.5, 5.25],
        units: vec!["mm".to_string(); 3],
    }
}

fn lps() -> Place {
    place(Space::Named(NamedSpace::Lps))
}

/// The fields of a header, at the offsets of `nifti1.h`.
struct Nifti<'a>(&'a [u8]);

impl Nifti<'_> {
    fn short(&self, at: usize) -> i16 {
        i16::from_le_bytes(self.0[at..at + 2].try_into().unwrap())
    }

    fn floats(&self, at: usize, count: usize) -> Vec<f32> {
        let bytes = self.0[at..at + 4 * count].chunks(4);
        bytes
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    fn sizes(&self) -> Vec<i16> {
        let count = self.short(40) as usize;
        (1..=count).map(|n| self.short(40 + 2 * n)).collect()
    }

    fn check(&self) {
        assert_eq!(self.0[..4], 348_i32.to_le_bytes());
        assert_eq!(&self.0[344..348], b"n+1\0");
        assert_eq!(self.floats(108, 3), [352.0, 1.0, 0.0]);
        let count: i64 = self.sizes().iter().map(|&n| i64::from(n)).product();
        let bytes = count * i64::from(self.short(72)) / 8;
        assert_eq!(self.0.len() as i64, 352 + bytes);
    }
}

#[test]
fn nifti_has_scalars_at_their_place() {
    let dir = Directory::new("nii");
    let numbers: Vec<f32> = (0..24).map(|n| n as f32 / 3.0).collect();
    let out = output("v", &[], Length::One, Scalar::Real);
    let columns = [column(&out, Values::F32(&numbers))];
    let domain = Domain::Grid(GRID.to_vec());
    let plain = dir.write("v.nii", &columns, &domain, Some(&lps())).unwrap();
    let file = Nifti(&plain);
    file.check();
    assert_eq!(file.sizes(), [4, 3, 2]);
    assert_eq!(
        (file.short(68), file.short(70), file.short(72)),
        (0, 16, 32)
    );
    // Left and posterior become right and anterior.
    let rows = [
        [-0.5, 1.0, 0.0, 10.0],
        [-0.25, -2.0, -0.75, -20.5],
        [0.0, 0.5, 3.0, 5.25],
    ];
    assert_eq!(file.floats(280, 12), rows.concat());
    assert_eq!((file.short(252), file.short(254), plain[123]), (0, 1, 2));
    let lengths = [0.3125_f32, 5.25, 9.5625].map(f32::sqrt);
    assert_eq!(file.floats(80, 3), lengths);
    assert_eq!(file.floats(352, 24), numbers);
    let packed = dir
        .write("v.nii.gz", &columns, &domain, Some(&lps()))
        .unwrap();
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed[..])
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, plain);
    // A space that is not a patient's is taken as it is, and no place is none.
    let own = place(Space::Dimension(3));
    let bytes = dir.write("v.nii", &columns, &domain, Some(&own)).unwrap();
    assert_eq!(Nifti(&bytes).floats(280, 4), [0.5, -1.0, 0.0, -10.0]);
    let bytes = dir.write("v.nii", &columns, &domain, None).unwrap();
    assert_eq!(Nifti(&bytes).short(254), 0);
}

#[test]
fn nifti_has_components_last_and_every_type() {
    let dir = Directory::new("nii-types");
    let domain = Domain::Grid(GRID.to_vec());
    let reals: Vec<f64> = (0..24 * 9).map(f64::from).collect();
    let singles: Vec<f32> = reals.iter().map(|&x| x as f32).collect();
    let integers: Vec<i32> = (0..24).collect();
    let longs: Vec<i64> = (0..48).collect();
    let bits: Vec<u8> = (0..24).map(|n| 255 * (n % 2)).collect();
    let rows: [(&[usize], Length, Values<'_>, &[i16]); 6] = [
        (
            &[3],
            Length::One,
            Values::F32(&singles[..72]),
            &[1007, 16, 3],
        ),
        (&[3, 3], Length::One, Values::F64(&reals), &[1004, 64, 9]),
        (&[], Length::Fixed(2), Values::I64(&longs), &[0, 1024, 2]),
        (&[2], Length::One, Values::F64(&reals[..48]), &[1007, 64, 2]),
        (&[], Length::One, Values::I32(&integers), &[0, 8, 1]),
        (&[], Length::One, Values::Bool(&bits), &[0, 2, 1]),
    ];
    for (shape, length, values, expected) in rows {
        let out = output("v", shape, length, Scalar::Real);
        let columns = [column(&out, values)];
        let bytes = dir.write("v.nii", &columns, &domain, None).unwrap();
        let file = Nifti(&bytes);
        file.check();
        let components = expected[2] as usize;
        assert_eq!((file.short(68), file.short(70)), (expected[0], expected[1]));
        if components > 1 {
            assert_eq!(file.sizes(), [4, 3, 2, 1, expected[2]]);
        }
        // Sample n of a component is sample n * components of the strands.
        let numbers = values.numbers();
        let size = file.short(72) as usize / 8;
        for (n, sample) in bytes[352..].chunks(size).enumerate() {
            let (component, strand) = (n / 24, n % 24);
            let found = match values {
                Values::F32(_) => f64::from(f32::from_le_bytes(sample.try_into().unwrap())),
                Values::F64(_) => f64::from_le_bytes(sample.try_into().unwrap()),
                Values::I32(_) => f64::from(i32::from_le_bytes(sample.try_into().unwrap())),
                Values::I64(_) => i64::from_le_bytes(sample.try_into().unwrap()) as f64,
                Values::Bool(_) => f64::from(sample[0]),
            };
            assert_eq!(found, numbers[strand * components + component]);
        }
    }
}

/// Says that a written file has the samples of the strands, at the place of their grid.
fn is_read_back(file: &Path, values: &[f64], shape: &[usize], place: &Place, world: World) {
    let reading = Reading {
        world,
        ..Reading::default()
    };
    let loaded = Image::<f64>::read_with(file, Declared::new(3, shape), &reading);
    let image = loaded.unwrap_or_else(|e| panic!("{e}")).image;
    let components = shape.iter().product::<usize>();
    for (strand, values) in values.chunks(components).enumerate() {
        let index = [strand % 4, strand / 4 % 3, strand / 12];
        for (component, value) in values.iter().enumerate() {
            assert_eq!(image.sample(component, &index), Some(*value), "{file:?}");
        }
        let at = image.orientation().to_world(&index.map(|i| i as f64));
        for (row, found) in at.iter().enumerate() {
            let steps = index.iter().zip(&place.directions);
            let step: f64 = steps.map(|(&i, d)| i as f64 * d[row]).sum();
            let wanted = place.origin[row] + step;
            assert!((found - wanted).abs() < 1e-5, "{file:?}: {found} {wanted}");
        }
    }
}

#[test]
fn own_readers_find_samples_and_places() {
    let dir = Directory::new("volumes-back");
    let domain = Domain::Grid(GRID.to_vec());
    let reals: Vec<f64> = (0..24 * 9).map(|n| f64::from(n) * 0.25).collect();
    // Steps along the coordinates, from the origin, are all that TIFF has.
    let straight = Place {
        directions: vec![
            vec![0.5, 0.0, 0.0],
            vec![0.0, 0.3, 0.0],
            vec![0.0, 0.0, 2.0],
        ],
        origin: vec![0.0; 3],
        space: Space::Dimension(3),
        units: vec!["mm".to_string(); 3],
    };
    let cases: [(&str, Place, World); 6] = [
        ("v.nii", lps(), World::Lps),
        ("v.nii.gz", lps(), World::Lps),
        (
            "v.NII.GZ",
            place(Space::Named(NamedSpace::Ras)),
            World::Stored,
        ),
        ("v.tif", straight.clone(), World::Stored),
        ("v.tiff", straight.clone(), World::Stored),
        (
            "v.tif",
            Place {
                units: Vec::new(),
                ..straight
            },
            World::Stored,
        ),
    ];
    for (name, place, world) in &cases {
        for shape in [&[][..], &[3], &[3, 3]] {
            let out = output("v", shape, Length::One, Scalar::Real);
            let count = 24 * shape.iter().product::<usize>();
            let columns = [column(&out, Values::F64(&reals[..count]))];
            dir.write(name, &columns, &domain, Some(place)).unwrap();
            is_read_back(&dir.0.join(name), &reals[..count], shape, place, *world);
        }
    }
}

#[test]
fn flat_grids_are_images_of_two_dimensions() {
    let dir = Directory::new("volumes-flat");
    let domain = Domain::Grid(vec![3, 4]);
    let numbers: Vec<f32> = (0..12).map(|n| n as f32).collect();
    let out = output("v", &[], Length::One, Scalar::Real);
    let place = Place {
        directions: vec![vec![0.5, 0.0], vec![0.0, 0.25]],
        origin: vec![0.0, 0.0],
        space: Space::Dimension(2),
        units: vec!["mm".to_string(); 2],
    };
    for name in ["v.nii", "v.tif"] {
        let columns = [column(&out, Values::F32(&numbers))];
        dir.write(name, &columns, &domain, Some(&place)).unwrap();
        let loaded = Image::<f32>::read(&dir.0.join(name), 2, &[]);
        let image = loaded.unwrap_or_else(|e| panic!("{name}: {e}")).image;
        assert_eq!(image.sample(0, &[3, 1]), Some(7.0), "{name}");
        let at = image.orientation().to_world(&[2.0, 2.0]);
        assert!(
            (at[0] - 1.0).abs() < 1e-6 && (at[1] - 0.5).abs() < 1e-6,
            "{name}: {at:?}"
        );
    }
}

/// An entry of a directory of TIFF: its number of values, and the four bytes in which these or their place are.
struct Entry<'a>(&'a [u8], &'a [u8]);

impl Entry<'_> {
    fn count(&self) -> usize {
        u32::from_le_bytes(self.1[4..8].try_into().unwrap()) as usize
    }

    fn place(&self) -> usize {
        u32::from_le_bytes(self.1[8..12].try_into().unwrap()) as usize
    }

    fn number(&self, n: usize) -> usize {
        let size = match self.1[2] {
            3 => 2,
            4 => 4,
            other => panic!("type {other}"),
        };
        let bytes = match self.count() * size <= 4 {
            true => &self.1[8..],
            false => &self.0[self.place()..],
        };
        let own = &bytes[n * size..(n + 1) * size];
        own.iter().rev().fold(0, |x, &b| x << 8 | usize::from(b))
    }
}

/// The pages of a little-endian TIFF without compression.
fn pages(file: &[u8]) -> Vec<std::collections::HashMap<usize, Entry<'_>>> {
    let number = |at: usize, size: usize| {
        let bytes = &file[at..at + size];
        bytes.iter().rev().fold(0, |x, &b| x << 8 | usize::from(b))
    };
    assert_eq!(&file[..4], b"II*\0");
    let (mut at, mut pages) = (number(4, 4), Vec::new());
    while at != 0 {
        let count = number(at, 2);
        let entries = (0..count).map(|n| {
            let bytes = &file[at + 2 + 12 * n..][..12];
            let tag = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            (tag, Entry(file, bytes))
        });
        pages.push(entries.collect());
        at = number(at + 2 + 12 * count, 4);
    }
    pages
}

/// The bytes of a page, strip by strip.
fn strips(page: &std::collections::HashMap<usize, Entry<'_>>) -> Vec<u8> {
    assert_eq!(page.get(&259).map_or(1, |entry| entry.number(0)), 1);
    let (places, counts) = (&page[&273], &page[&279]);
    let strip = |n: usize| &places.0[places.number(n)..][..counts.number(n)];
    (0..places.count()).flat_map(strip).copied().collect()
}

#[test]
fn tiff_has_a_page_for_each_slice_and_channel() {
    let dir = Directory::new("tiff");
    let numbers: Vec<f32> = (0..48).map(|n| n as f32 / 3.0).collect();
    let out = output("v", &[2], Length::One, Scalar::Real);
    let columns = [column(&out, Values::F32(&numbers))];
    let domain = Domain::Grid(GRID.to_vec());
    let file = dir.write("v.tif", &columns, &domain, Some(&lps())).unwrap();
    let pages = pages(&file);
    assert_eq!(pages.len(), 4);
    for (n, page) in pages.iter().enumerate() {
        let of = |tag: usize| page[&tag].number(0);
        // Width, height, bits, samples of a pixel, and the format of real numbers.
        assert_eq!([256, 257, 258, 277, 339].map(of), [4, 3, 32, 1, 3]);
        let (slice, channel) = (n / 2, n % 2);
        let wanted = numbers[24 * slice..][..24].iter().skip(channel).step_by(2);
        let wanted: Vec<u8> = wanted.flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(strips(page), wanted);
        // ImageJ reads all pages behind the first as one block.
        assert_eq!(page[&273].number(0), pages[0][&273].number(0) + 48 * n);
    }
    let description = &pages[0][&270];
    let text = &file[description.place()..][..description.count()];
    let text = std::str::from_utf8(text).unwrap().trim_end_matches('\0');
    let step = (0.75_f64.powi(2) + 9.0).sqrt();
    assert_eq!(
        text,
        format!(
            "ImageJ=1.11a\nimages=4\nchannels=2\nslices=2\nhyperstack=true\nunit=mm\nspacing={step}\nloop=false\n"
        )
    );
    // Pixels per millimetre.
    let across = &pages[0][&282];
    let part = |n: usize| {
        let at = across.place() + 4 * n;
        f64::from(u32::from_le_bytes(file[at..at + 4].try_into().unwrap()))
    };
    let density = 1.0 / 0.3125_f64.sqrt();
    assert!((part(0) / part(1) - density).abs() < 1e-8 * density);
    assert_eq!(pages[0][&296].number(0), 1);
}

/// A column whose numbers become levels.
fn ranged<'a>(out: &'a Output, values: Values<'a>, range: Range) -> Column<'a> {
    Column {
        range,
        ..column(out, values)
    }
}

#[test]
fn a_range_makes_levels_of_numbers() {
    let dir = Directory::new("tiff-levels");
    let numbers: Vec<f64> = (0..72).map(f64::from).collect();
    let domain = Domain::Grid(GRID.to_vec());
    let out = output("v", &[], Length::One, Scalar::Real);
    let columns = [ranged(&out, Values::F64(&numbers[..24]), Range::Auto)];
    let file = dir.write("v.tif", &columns, &domain, None).unwrap();
    let found = pages(&file);
    assert_eq!(found.len(), 2);
    // One range for all slices.
    let levels: Vec<u8> = found.iter().flat_map(strips).collect();
    let wanted: Vec<u8> = (0..24)
        .map(|n| (255.0 * f64::from(n) / 23.0).round() as u8)
        .collect();
    assert_eq!(levels, wanted);
    let colour = output("rgb", &[3], Length::One, Scalar::Real);
    let range = Range::Between(0.0, 255.0);
    let columns = [ranged(&colour, Values::F64(&numbers), range)];
    let file = dir.write("c.tif", &columns, &domain, None).unwrap();
    let found = pages(&file);
    assert_eq!(found.len(), 2);
    // Colours: three samples of eight bits in each pixel.
    let of = |tag: usize| found[0][&tag].number(0);
    assert_eq!([258, 262, 277].map(of), [8, 2, 3]);
    let levels: Vec<u8> = found.iter().flat_map(strips).collect();
    assert_eq!(levels, (0..72).collect::<Vec<u8>>());
}

#[test]
fn names_of_two_parts_choose_their_format() {
    for (name, suffix, third) in [
        ("a.nii", "nii", "a-03.nii"),
        ("a.nii.gz", "nii.gz", "a-03.nii.gz"),
        ("b.c.Nii.Gz", "nii.gz", "b.c-03.nii.gz"),
        ("a.tiff", "tiff", "a-03.tiff"),
    ] {
        let found = Destination::parse(name).unwrap();
        assert_eq!(found.format.suffix(), suffix);
        assert_eq!(found.numbered(3, 2).file, *third);
    }
    let error = Destination::parse("a.gz").unwrap_err();
    assert!(
        error.contains("found suffix `.gz`") && error.contains(".nii.gz"),
        "{error}"
    );
    assert_eq!(
        Destination::parse("nii.gz:-").unwrap().format.suffix(),
        "nii.gz"
    );
}

#[test]
fn what_the_formats_cannot_hold_is_refused_before() {
    let one = output("v", &[], Length::One, Scalar::Real);
    let varying = output("v", &[], Length::Dynamic, Scalar::Real);
    for (suffix, out, domain, fits) in [
        ("nii", &one, Domain::Grid(vec![2, 32767]), true),
        ("nii", &one, Domain::Grid(vec![2, 32768]), false),
        ("nii.gz", &one, Domain::List(3), false),
        ("nii", &varying, Domain::Grid(vec![2, 2]), false),
        ("tif", &one, Domain::Grid(vec![2, 2, 2]), true),
        ("tif", &one, Domain::Grid(vec![2, 2, 2, 2]), false),
        ("tif", &one, Domain::List(3), false),
    ] {
        let format = FileFormat::named(suffix).unwrap();
        assert_eq!(format.suits(&[out], &domain), fits, "{suffix} {domain:?}");
    }
}
