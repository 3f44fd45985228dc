//! The times of frames in files with headers of text or fields, and what the user says of them.

mod time_files;

use runtime::grid::TimeAxis;
use runtime::image::{Declared, Frames, Image, ImageError, Loaded, Reading, describe};
use std::path::{Path, PathBuf};
use time_files::nrrd;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/files")
        .join(name)
}

fn regular(start: f64, step: f64) -> TimeAxis {
    TimeAxis::regular(start, step).unwrap()
}

type Read = Result<Loaded<f32>, ImageError>;

fn read(bytes: &[u8], declared: Declared<'_>, reading: &Reading) -> Read {
    Image::from_bytes(bytes, declared, reading)
}

/// Whether some note has this part.
fn notes(loaded: &Loaded<f32>, part: &str) -> bool {
    loaded.notes.iter().any(|note| note.text.contains(part))
}

#[test]
fn nrrd_has_times_by_kinds_directions_spacings_and_units() {
    let space = "space dimension: 4\nspace directions: (1,0,0,0) (0,1,0,0) (0,0,1,0) (0,0,0,2.5)\nspace origin: (0,0,0,10)";
    let rows = [
        // The lines, the axis, and a part of a note.
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 0.5\nunits: \"mm\" \"mm\" \"mm\" \"s\"",
            regular(0.0, 0.5),
            None,
        ),
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 500\nunits: \"mm\" \"mm\" \"mm\" \"ms\"",
            regular(0.0, 0.5),
            None,
        ),
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 2\naxis mins: 0 0 0 6\nunits: \"\" \"\" \"\" \"min\"",
            regular(360.0, 120.0),
            None,
        ),
        (
            "kinds: domain domain domain time\naxis mins: nan nan nan 1\naxis maxs: nan nan nan 3\nunits: \"\" \"\" \"\" \"h\"",
            regular(3600.0, 3600.0),
            None,
        ),
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 3",
            regular(0.0, 3.0),
            Some("no unit of time; seconds are assumed"),
        ),
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 3\nunits: \"\" \"\" \"\" \"ticks\"",
            regular(0.0, 3.0),
            Some("`ticks` is not a known unit"),
        ),
        (
            "kinds: domain domain domain time",
            TimeAxis::NUMBERS,
            Some("the frames have no times"),
        ),
        (
            "kinds: domain domain domain domain",
            TimeAxis::NUMBERS,
            Some("axis 3 of size 3 is taken as time"),
        ),
        (
            "",
            TimeAxis::NUMBERS,
            Some("axis 3 of size 3 is taken as time"),
        ),
        (space, regular(10.0, 2.5), Some("no unit of time")),
    ];
    for (lines, wanted, note) in rows {
        let bytes = nrrd(&[2, 3, 4, 3], lines);
        let loaded = read(&bytes, Declared::over_time(3, &[]), &Reading::default()).expect(lines);
        let image = &loaded.image;
        assert_eq!(
            (image.frames(), image.time()),
            (3, Some(&wanted)),
            "{lines}"
        );
        assert_eq!(image.sizes(), [2, 3, 4], "{lines}");
        for frame in 0..3 {
            let found = image.sample_of(frame, 0, &[1, 2, 3]);
            assert_eq!(found, Some((frame * 24 + 23) as f32), "{lines}");
        }
        match note {
            Some(part) => assert!(notes(&loaded, part), "{lines}: {:?}", loaded.notes),
            None => assert!(loaded.notes.is_empty(), "{lines}: {:?}", loaded.notes),
        }
    }
    let units = format!("{space}\nspace units: \"mm\" \"mm\" \"mm\" \"s\"");
    let bytes = nrrd(&[2, 3, 4, 3], &units);
    let loaded = read(&bytes, Declared::over_time(3, &[]), &Reading::default()).unwrap();
    assert_eq!(loaded.image.time(), Some(&regular(10.0, 2.5)));
    assert_eq!(loaded.image.orientation().origin(), [0.0; 3]);
}

#[test]
fn time_may_be_any_axis_and_components_another() {
    // The value of a sample is its number in the file.
    let place = |sizes: &[usize], index: &[usize]| {
        let pairs = index.iter().zip(sizes).rev();
        pairs.fold(0, |at, (i, n)| at * n + i) as f32
    };
    let kinds = [
        "time domain vector domain",
        "vector time domain domain",
        "domain domain time vector",
    ];
    for kinds in kinds {
        let words: Vec<&str> = kinds.split(' ').collect();
        let mut domain = 0;
        let sizes: Vec<usize> = words
            .iter()
            .map(|kind| match *kind {
                "time" => 5,
                "vector" => 2,
                _ => {
                    domain += 1;
                    2 + domain
                }
            })
            .collect();
        let bytes = nrrd(&sizes, &format!("kinds: {kinds}"));
        for frames in [None, Some(Frames::Range(1, 3)), Some(Frames::One(4))] {
            let reading = Reading {
                frames,
                ..Reading::default()
            };
            let span = match frames {
                None => 0..5,
                Some(Frames::Range(first, last)) => first..last + 1,
                Some(Frames::One(one)) => one..one + 1,
            };
            let loaded = read(&bytes, Declared::over_time(2, &[2]), &reading).expect(kinds);
            let image = loaded.image;
            assert_eq!((image.frames(), image.sizes()), (span.len(), &[3, 4][..]));
            assert_eq!(image.time().unwrap().start(), span.start as f64);
            for (number, frame) in span.enumerate() {
                for (c, i, j) in [(0, 0, 0), (1, 2, 1), (0, 1, 3)] {
                    let mut grid = [i, j].into_iter();
                    let index: Vec<usize> = words
                        .iter()
                        .map(|kind| match *kind {
                            "time" => frame,
                            "vector" => c,
                            _ => grid.next().unwrap(),
                        })
                        .collect();
                    let found = image.sample_of(number, c, &[i, j]);
                    assert_eq!(found, Some(place(&sizes, &index)), "{kinds} {index:?}");
                }
            }
        }
    }
}

#[test]
fn wrong_axes_of_time_are_refused() {
    let directions = |of_z: &str, of_time: &str| {
        format!(
            "space dimension: 4\nspace directions: (1,0,0,0) (0,1,0,0) {of_z} {of_time}\nspace origin: (0,0,0,0)"
        )
    };
    let rows = [
        (directions("(0,0,1,0.5)", "(0,0,0,2)"), "mix space and time"),
        (directions("(0,0,1,0)", "(0,0,0.5,2)"), "mix space and time"),
        (
            directions("(0,0,1,0)", "(0,0,0,-2)"),
            "is -2, wanted more than 0",
        ),
        (
            "kinds: vector domain domain domain".to_string(),
            "leaves 3 axes for grid and time, but image(3,time)[] wants 4",
        ),
        (
            "kinds: domain domain domain time\nspacings: 1 1 1 -1".to_string(),
            "is -1, wanted more than 0",
        ),
    ];
    for (lines, part) in rows {
        let bytes = nrrd(&[2, 2, 2, 2], &lines);
        let error = read(&bytes, Declared::over_time(3, &[]), &Reading::default());
        let error = error.map(|_| ()).expect_err(&lines).to_string();
        assert!(error.contains(part), "{lines}: {error}");
    }
    let bytes = nrrd(&[2, 2, 2], "");
    let error = read(&bytes, Declared::over_time(3, &[]), &Reading::default());
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("but image(3,time)[] wants 4 axes"),
        "{error}"
    );
    // The error for images without time has the type that takes the file.
    let bytes = nrrd(&[2, 2, 2, 5], "kinds: domain domain domain time");
    let reading = Reading {
        name: Some("film".to_string()),
        ..Reading::default()
    };
    let error = read(&bytes, Declared::new(3, &[]), &reading);
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("declare `input image(3,time)[] film;`"),
        "{error}"
    );
    let outside = Reading {
        frames: Some(Frames::Range(3, 5)),
        ..Reading::default()
    };
    let error = read(&bytes, Declared::over_time(3, &[]), &outside);
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("frame 5 is asked for"), "{error}");
    assert!(error.contains("has frames 0 to 4"), "{error}");
}

#[test]
fn a_file_that_is_cut_off_or_too_large_is_refused_before_memory_is_taken() {
    let mut bytes = b"NRRD0005\ntype: float\ndimension: 4\nsizes: 8 8 8 6\nkinds: domain domain domain time\nencoding: raw\nendian: little\n\n".to_vec();
    bytes.resize(bytes.len() + 8 * 8 * 8 * 5 * 4, 0);
    let declared = Declared::over_time(3, &[]);
    let error = read(&bytes, declared, &Reading::default()).map(|_| ());
    assert!(error.is_err());
    // A span does not make it whole.
    let span = Reading {
        frames: Some(Frames::Range(0, 1)),
        ..Reading::default()
    };
    assert!(read(&bytes, declared, &span).is_err());
    bytes.resize(bytes.len() + 8 * 8 * 8 * 4, 0);
    assert!(read(&bytes, declared, &Reading::default()).is_ok());
    let limited = |frames: u64| Reading {
        memory: Some(frames * 2048),
        ..Reading::default()
    };
    assert!(read(&bytes, declared, &limited(6)).is_ok());
    let error = read(&bytes, declared, &limited(5)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("needs"), "{error}");
    let two = Reading {
        frames: Some(Frames::Range(4, 5)),
        ..limited(2)
    };
    assert!(read(&bytes, declared, &two).is_ok());
}

/// A file of NIfTI-1 with four axes: the units, the first time, and the step of time.
fn nifti(units: u8, first: f32, step: f32) -> Vec<u8> {
    let mut bytes = vec![0; 352];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &348_i32.to_le_bytes());
    for (i, size) in [4_i16, 2, 2, 2, 3].into_iter().enumerate() {
        put(40 + 2 * i, &size.to_le_bytes());
    }
    put(70, &16_i16.to_le_bytes());
    put(72, &32_i16.to_le_bytes());
    for (i, step) in [1.0, 1.0, 1.0, 1.0, step].into_iter().enumerate() {
        put(76 + 4 * i, &step.to_le_bytes());
    }
    put(108, &352_f32.to_le_bytes());
    put(123, &[units]);
    put(136, &first.to_le_bytes());
    put(344, b"n+1\0");
    bytes.extend((0..24).flat_map(|n| (n as f32).to_le_bytes()));
    bytes
}

/// The same as NIfTI-2.
fn nifti_2(units: i32, first: f64, step: f64) -> Vec<u8> {
    let mut bytes = vec![0; 544];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &540_i32.to_le_bytes());
    put(4, b"n+2\0\r\n\x1a\n");
    put(12, &16_i16.to_le_bytes());
    put(14, &32_i16.to_le_bytes());
    for (i, size) in [4_i64, 2, 2, 2, 3].into_iter().enumerate() {
        put(16 + 8 * i, &size.to_le_bytes());
    }
    for (i, step) in [1.0, 1.0, 1.0, 1.0, step].into_iter().enumerate() {
        put(104 + 8 * i, &step.to_le_bytes());
    }
    put(168, &544_i64.to_le_bytes());
    put(216, &first.to_le_bytes());
    put(500, &units.to_le_bytes());
    bytes.extend((0..24).flat_map(|n| (n as f32).to_le_bytes()));
    bytes
}

#[test]
fn nifti_has_an_offset_a_step_and_units() {
    let near = |axis: &TimeAxis, start: f64, step: f64| match axis {
        TimeAxis::Regular { start: a, step: b } => {
            (a - start).abs() < 1e-12 && (b - step).abs() < 1e-12
        }
        TimeAxis::Table(_) => false,
    };
    let rows = [
        // The code of the units, offset and step, and the seconds of both.
        (2 + 8, (0.0, 2.5), (0.0, 2.5), None),
        (2 + 8, (100.0, 2.5), (100.0, 2.5), None),
        (2 + 16, (100.0, 2500.0), (0.1, 2.5), None),
        (2 + 24, (0.0, 250_000.0), (0.0, 0.25), None),
        (2, (0.0, 2.0), (0.0, 2.0), Some("no unit of time")),
        (
            2 + 32,
            (0.0, 2.0),
            (0.0, 2.0),
            Some("`Hz` is not a known unit"),
        ),
        (
            2 + 8,
            (7.0, 0.0),
            (0.0, 1.0),
            Some("the frames have no times"),
        ),
    ];
    for (units, (first, step), (start, seconds), note) in rows {
        let files = [
            nifti(units, first, step),
            nifti_2(i32::from(units), f64::from(first), f64::from(step)),
        ];
        for bytes in files {
            let loaded = read(&bytes, Declared::over_time(3, &[]), &Reading::default()).unwrap();
            let axis = loaded.image.time().unwrap();
            assert!(
                near(axis, start, seconds),
                "{units} {first} {step}: {axis:?}"
            );
            assert_eq!(loaded.image.sample_of(2, 0, &[1, 0, 1]), Some(21.0));
            assert_eq!(
                note.is_some_and(|part| notes(&loaded, part)),
                note.is_some()
            );
        }
    }
}

#[test]
fn files_of_other_programs_have_their_frames_in_order() {
    // Frames are those that are read one by one, which other tests compare with the programs that wrote the files.
    for (name, shape, frames, time) in [
        ("h5py-many.h5#frames", &[][..], 2, TimeAxis::NUMBERS),
        ("netcdf-classic.nc#u", &[], 3, regular(0.0, 21600.0)),
        ("netcdf-classic.nc#u,v", &[2], 3, regular(0.0, 21600.0)),
        ("ome-2.zarr", &[2], 2, regular(0.0, 5.0)),
        ("ome-3.zarr", &[2], 2, regular(0.0, 5.0)),
        ("tifffile-imagej.tif", &[3], 2, TimeAxis::NUMBERS),
    ] {
        let declared = Declared::over_time(3, shape);
        let film = Image::<f64>::read_with(&file(name), declared, &Reading::default());
        let film = film.expect(name).image;
        assert_eq!(
            (film.frames(), film.time()),
            (frames, Some(&time)),
            "{name}"
        );
        let length = film.frame_stride();
        for (frame, found) in film.samples().chunks(length).take(frames).enumerate() {
            let one = Image::<f64>::read(&file(&format!("{name}#{frame}")), 3, shape);
            let one = one.expect(name).image;
            let bits = |samples: &[f64]| samples.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&one.samples()[..length]),
                bits(found),
                "{name}#{frame}"
            );
        }
    }
    for name in ["itk-frames.nrrd", "itk-frames.mha", "itk-frames.nii.gz"] {
        let declared = Declared::over_time(3, &[]);
        let loaded = Image::<f64>::read_with(&file(name), declared, &Reading::default());
        let image = loaded.expect(name).image;
        assert_eq!(image.time(), Some(&regular(0.0, 2.0)), "{name}");
        assert_eq!(image.frames(), 3, "{name}");
        for frame in 0..3 {
            let one = file(&format!("{name}#{frame}"));
            let one = Image::<f64>::read(&one, 3, &[]).unwrap().image;
            let length = image.frame_stride();
            let start = frame * length;
            assert_eq!(
                one.samples()[..length],
                image.samples()[start..start + length]
            );
            assert_eq!(one.orientation(), image.orientation(), "{name}");
        }
        // A span of frames.
        let span = file(&format!("{name}#1:2"));
        let span = Image::<f64>::read_with(&span, declared, &Reading::default());
        let span = span.unwrap().image;
        assert_eq!((span.frames(), span.time()), (2, Some(&regular(2.0, 2.0))));
        let length = image.frame_stride();
        assert_eq!(
            span.samples()[..2 * length],
            image.samples()[length..3 * length]
        );
        let described = describe(&file(name)).unwrap();
        let declare = described.declare("fmri");
        assert_eq!(declare.as_deref(), Some("input image(3,time)[] fmri;"));
        let own = described.image.unwrap();
        let time = own.time.unwrap();
        let shown = format!("frames {}, {time}", own.frames);
        assert_eq!(shown, "frames 3, every 2 s from 0");
    }
    let text = "NDims = 4\nDimSize = 2 1 1 3\nElementType = MET_UCHAR\nOffset = 1 2 3 40\nElementSpacing = 1 1 1 0.25\n\
                ElementByteOrderMSB = False\nElementDataFile = LOCAL\n\x01\x02\x03\x04\x05\x06";
    let loaded = read(
        text.as_bytes(),
        Declared::over_time(3, &[]),
        &Reading::default(),
    )
    .unwrap();
    assert_eq!(loaded.image.time(), Some(&regular(40.0, 0.25)));
    assert_eq!(loaded.image.orientation().origin(), [1.0, 2.0, 3.0]);
    assert_eq!(loaded.image.sample_of(2, 0, &[1, 0, 0]), Some(6.0));
}
