//! The times of frames in containers and lists of files, and arrays in memory with frames.

mod time_files;

use ndarray::{ArrayD, IxDyn};
use runtime::grid::TimeAxis;
use runtime::image::{
    Arrangement, Declared, FirstDate, Image, ImageArray, Loaded, Orientation, Reading, SharedImage,
    Strided, describe,
};
use runtime::nrrd::{Endian, SampleType, Space};
use runtime::probe::Border;
use std::path::{Path, PathBuf};
use time_files::{FRAMES, Moment, SIZES, sample};

/// A directory of the test's own, empty.
fn own_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("time-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn regular(start: f64, step: f64) -> TimeAxis {
    TimeAxis::regular(start, step).unwrap()
}

const DECLARED: Declared<'static> = Declared {
    dim: 3,
    timed: true,
    shape: &[],
};

/// Checks the frames of an image, and gives its times.
fn times(loaded: &Loaded<f32>, what: &str) -> TimeAxis {
    let image = &loaded.image;
    assert_eq!(
        (image.sizes(), image.frames()),
        (&SIZES[..], FRAMES),
        "{what}"
    );
    for frame in 0..FRAMES {
        for place in [[0, 0, 0], [2, 1, 0], [1, 0, 1], [2, 1, 1]] {
            let wanted = f32::from(sample(frame, place));
            assert_eq!(image.sample_of(frame, 0, &place), Some(wanted), "{what}");
        }
    }
    image.time().expect("an image over time").clone()
}

fn of_bytes(bytes: &[u8], what: &str) -> TimeAxis {
    let loaded = Image::from_bytes(bytes, DECLARED, &Reading::default());
    times(&loaded.expect(what), what)
}

fn has_note(loaded: &Loaded<f32>, part: &str) -> bool {
    loaded.notes.iter().any(|note| note.text.contains(part))
}

#[test]
fn netcdf_has_times_since_a_date() {
    for (unit, values, wanted) in [
        (
            "hours since 2020-01-01 00:00:00",
            [0.0, 6.0, 12.0, 18.0],
            regular(0.0, 21600.0),
        ),
        (
            "days since 1970-01-01",
            [2.0, 3.0, 4.0, 5.0],
            regular(172_800.0, 86400.0),
        ),
        (
            "seconds since 2020-01-01",
            [0.5, 1.0, 1.5, 2.0],
            regular(0.5, 0.5),
        ),
        (
            "minutes since 2020-01-01",
            [0.0, 1.0, 3.0, 4.0],
            TimeAxis::Table(vec![0.0, 60.0, 180.0, 240.0]),
        ),
        (
            "Milliseconds since 2020-01-01",
            [0.0, 20.0, 30.0, 40.0],
            TimeAxis::Table(vec![0.0, 0.02, 0.03, 0.04]),
        ),
    ] {
        let found = of_bytes(&time_files::netcdf(unit, &values), unit);
        match (&found, &wanted) {
            (TimeAxis::Table(found), TimeAxis::Table(wanted)) => {
                let mut pairs = found.iter().zip(wanted);
                assert!(
                    pairs.all(|(a, b)| (a - b).abs() < 1e-12),
                    "{unit}: {found:?}"
                );
            }
            _ => assert_eq!(found, wanted, "{unit}"),
        }
    }
    for (unit, values, part) in [
        (
            "months since 2020-01-01",
            [0.0, 1.0, 2.0, 3.0],
            "are in months, which are not all of one length",
        ),
        (
            "years since 2020-01-01",
            [0.0, 1.0, 2.0, 3.0],
            "are in years",
        ),
        (
            "hours since 2020-01-01",
            [0.0, 2.0, 1.0, 3.0],
            "not later than frame 1",
        ),
        (
            "hours since 2020-01-01",
            [3.0, 2.0, 1.0, 0.0],
            "wanted more than 0",
        ),
    ] {
        let bytes = time_files::netcdf(unit, &values);
        let error = Image::<f32>::from_bytes(&bytes, DECLARED, &Reading::default()).map(|_| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(part), "{unit}: {error}");
        // A user who knows the times can say them, and a single frame needs none.
        let mut reading = Reading::default();
        reading.set_times("0:1").unwrap();
        let loaded = Image::from_bytes(&bytes, DECLARED, &reading).unwrap();
        assert_eq!(times(&loaded, unit), regular(0.0, 1.0));
    }
    let unknown = time_files::netcdf("fortnights since 2020-01-01", &[0.0, 1.0, 2.0, 3.0]);
    let loaded: Loaded<f32> = Image::from_bytes(&unknown, DECLARED, &Reading::default()).unwrap();
    assert!(
        has_note(&loaded, "`fortnights` is not a known unit of time"),
        "{:?}",
        loaded.notes
    );
    // Images of one program count from the date of the first.
    let since = |unit: &str| -> Loaded<f32> {
        let bytes = time_files::netcdf(unit, &[0.0, 6.0, 12.0, 18.0]);
        Image::from_bytes(&bytes, DECLARED, &Reading::default()).unwrap()
    };
    let mut first = FirstDate::default();
    let [a, b] = ["hours since 2020-01-01", "hours since 2020-01-02 12:00:00"].map(since);
    assert_eq!(first.seconds_before("a", &a.surroundings).unwrap(), 0.0);
    let later = first.seconds_before("b", &b.surroundings).unwrap();
    let moved = b.image.moved_in_time(later);
    assert_eq!(moved.time(), Some(&regular(129_600.0, 21600.0)));
    assert_eq!(moved.samples().as_ptr(), b.image.samples().as_ptr());
    let mut cut = time_files::netcdf("s", &[0.0, 1.0, 2.0, 3.0]);
    cut.truncate(cut.len() - 60);
    assert!(Image::<f32>::from_bytes(&cut, DECLARED, &Reading::default()).is_err());
}

#[test]
fn tiff_has_times_of_imagej_and_ome() {
    let images = FRAMES * SIZES[2];
    let imagej = |rest: &str| {
        format!(
            "ImageJ=1.53\nimages={images}\nslices={}\nframes={FRAMES}\nhyperstack=true\n{rest}",
            SIZES[2]
        )
    };
    let of = |description: &str| of_bytes(&time_files::tiff(description), description);
    assert_eq!(of(&imagej("finterval=5.0\n")), regular(0.0, 5.0));
    assert_eq!(
        of(&imagej(
            "unit=micron\nspacing=2\nfinterval=20\ntunit=msec\n"
        )),
        regular(0.0, 0.02)
    );
    assert_eq!(of(&imagej("")), TimeAxis::NUMBERS);
    let ome = |attributes: &str, planes: &str| {
        format!(
            "<?xml version=\"1.0\"?><OME><Image ID=\"0\"><Pixels DimensionOrder=\"XYZTC\" SizeX=\"{}\" SizeY=\"{}\" SizeZ=\"{}\" \
             SizeT=\"{FRAMES}\" SizeC=\"1\" Type=\"uint8\" {attributes}>{planes}</Pixels></Image></OME>",
            SIZES[0], SIZES[1], SIZES[2]
        )
    };
    assert_eq!(of(&ome("TimeIncrement=\"5\"", "")), regular(0.0, 5.0));
    assert_eq!(
        of(&ome("TimeIncrement=\"250\" TimeIncrementUnit=\"ms\"", "")),
        regular(0.0, 0.25)
    );
    assert_eq!(
        of(&ome("TimeIncrement=\"2\" TimeIncrementUnit=\"min\"", "")),
        regular(0.0, 120.0)
    );
    let planes = |times: &[f64], unit: &str| -> String {
        let plane = |(t, time): (usize, &f64)| {
            let of = |z: usize, time: f64| {
                format!("<Plane TheZ=\"{z}\" TheT=\"{t}\" TheC=\"0\" DeltaT=\"{time}\"{unit}/>")
            };
            of(1, time + 0.01) + &of(0, *time)
        };
        times.iter().enumerate().map(plane).collect()
    };
    let irregular = [0.5, 1.0, 2.5, 3.0];
    let found = of(&ome("TimeIncrement=\"1\"", &planes(&irregular, "")));
    assert_eq!(found, TimeAxis::Table(irregular.to_vec()));
    let found = of(&ome(
        "",
        &planes(&[500.0, 1000.0, 1500.0, 2000.0], " DeltaTUnit=\"ms\""),
    ));
    assert_eq!(found, regular(0.5, 0.5));
    // Planes that lack a frame, or are not in order, do not count.
    assert_eq!(
        of(&ome("TimeIncrement=\"7\"", &planes(&[0.0, 1.0], ""))),
        regular(0.0, 7.0)
    );
    let back = planes(&[3.0, 2.0, 1.0, 0.0], "");
    assert_eq!(of(&ome("TimeIncrement=\"7\"", &back)), regular(0.0, 7.0));
    let directory = own_directory("tiff");
    let path = directory.join("film.tif");
    std::fs::write(&path, time_files::tiff(&imagej("finterval=5.0\n"))).unwrap();
    let described = describe(&path).unwrap();
    let declare = described.declare("film");
    assert_eq!(declare.as_deref(), Some("input image(3,time)[] film;"));
    let own = described.image.unwrap();
    assert_eq!(
        (own.frames, own.time.unwrap().to_string().as_str()),
        (FRAMES, "every 5 s from 0")
    );
}

#[test]
fn zarr_has_a_scale_a_translation_and_a_unit_of_time() {
    let directory = own_directory("zarr");
    for (unit, step, start, wanted) in [
        ("second", 5.0, 0.0, regular(0.0, 5.0)),
        ("millisecond", 500.0, 2000.0, regular(2.0, 0.5)),
        ("minute", 1.0, 1.0, regular(60.0, 60.0)),
        ("", 3.0, 0.0, regular(0.0, 3.0)),
    ] {
        let path = directory.join(format!("film-{unit}.zarr"));
        time_files::zarr(&path, unit, step, start);
        let loaded = Image::read_with(&path, DECLARED, &Reading::default()).expect(unit);
        assert_eq!(times(&loaded, unit), wanted);
        assert_eq!(has_note(&loaded, "seconds are assumed"), unit.is_empty());
    }
}

#[test]
fn dicom_has_temporal_positions_triggers_and_times_of_acquisition() {
    let directory = own_directory("dicom");
    let irregular = [0.0, 0.1, 0.3, 0.35];
    let rows = [
        (Moment::Trigger(&[0.5, 0.75, 1.0, 1.25]), regular(0.5, 0.25)),
        (
            Moment::Trigger(&irregular),
            TimeAxis::Table(irregular.to_vec()),
        ),
        (
            Moment::Acquired(&["235958", "235958.5", "235959", "235959.5"]),
            regular(0.0, 0.5),
        ),
        (Moment::Numbered, TimeAxis::NUMBERS),
    ];
    for (n, (moments, wanted)) in rows.into_iter().enumerate() {
        let path = directory.join(n.to_string());
        time_files::dicom(&path, &moments);
        let loaded = Image::read_with(&path, DECLARED, &Reading::default()).unwrap();
        let found = times(&loaded, &n.to_string());
        match (&found, &wanted) {
            (TimeAxis::Table(found), TimeAxis::Table(wanted)) => {
                let mut pairs = found.iter().zip(wanted);
                assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
            }
            _ => assert_eq!(found, wanted, "{n}"),
        }
    }
}

#[test]
fn numbered_files_are_frames_with_the_times_that_are_given() {
    let directory = own_directory("numbered");
    let file = |frame: usize| directory.join(format!("v{frame:03}.nrrd"));
    for frame in 0..FRAMES {
        std::fs::write(file(frame), time_files::nrrd_of_frame(frame)).unwrap();
    }
    let name = directory.join(format!("v%03d.nrrd 0 {}", FRAMES - 1));
    let mut reading = Reading::default();
    let loaded = Image::read_with(&name, DECLARED, &reading).unwrap();
    assert_eq!(times(&loaded, "numbered"), TimeAxis::NUMBERS);
    assert_eq!(loaded.image.orientation().origin(), [1.0, 2.0, 3.0]);
    reading.set_times("10:0.5").unwrap();
    let loaded = Image::read_with(&name, DECLARED, &reading).unwrap();
    assert_eq!(times(&loaded, "numbered"), regular(10.0, 0.5));
    // Some of them.
    let some = directory.join("v%03d.nrrd 1 3 2");
    let loaded = Image::<f32>::read_with(&some, DECLARED, &reading).unwrap();
    assert_eq!(loaded.image.frames(), 2);
    let found = loaded.image.sample_of(1, 0, &[2, 0, 0]);
    assert_eq!(found, Some(f32::from(sample(3, [2, 0, 0]))));
    // Arrays of NumPy have their frames first.
    let found = of_bytes(&time_files::npy(), "npy");
    assert_eq!(found, TimeAxis::NUMBERS);
    // A series with a gap, or a file that is cut off, is not read.
    let whole = std::fs::read(file(2)).unwrap();
    std::fs::write(file(2), &whole[..whole.len() - 1]).unwrap();
    let error = Image::<f32>::read_with(&name, DECLARED, &reading).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("v002.nrrd"));
    std::fs::remove_file(file(2)).unwrap();
    let error = Image::<f32>::read_with(&name, DECLARED, &reading).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("v002.nrrd"));
}

#[test]
fn arrays_in_memory_have_their_frames_first() {
    let shape = [FRAMES, SIZES[2], SIZES[1], SIZES[0], 2];
    let value = |t: usize, k: usize, j: usize, i: usize, c: usize| {
        f64::from(sample(t, [i, j, k])) + 0.25 * c as f64
    };
    let array = ArrayD::from_shape_fn(IxDyn(&shape), |n| value(n[0], n[1], n[2], n[3], n[4]));
    let table = TimeAxis::of_times(&[0.0, 1.0, 4.0, 5.0]).unwrap();
    let check = |image: &Image<f32>, what: &str| {
        assert_eq!(
            (image.frames(), image.sizes()),
            (FRAMES, &SIZES[..]),
            "{what}"
        );
        for (t, k, j, i, c) in [
            (0, 0, 0, 0, 0),
            (3, 1, 1, 2, 1),
            (2, 0, 1, 1, 0),
            (1, 1, 0, 2, 1),
        ] {
            let wanted = value(t, k, j, i, c) as f32;
            assert_eq!(image.sample_of(t, c, &[i, j, k]), Some(wanted), "{what}");
        }
    };
    let declared = Declared::over_time(3, &[2]);
    let in_memory =
        ImageArray::new(array.clone(), Orientation::identity(3)).over_time(table.clone());
    let image = in_memory.image::<f32>(declared).unwrap();
    check(&image, "array");
    assert_eq!(image.time(), Some(&table));
    assert!(in_memory.image::<f32>(Declared::new(3, &[2])).is_err());
    let plain = ImageArray::new(array.clone(), Orientation::identity(3));
    assert!(plain.image::<f32>(declared).is_err());
    let few = TimeAxis::Table(vec![0.0, 1.0, 4.0]);
    let few = ImageArray::new(array.clone(), Orientation::identity(3)).over_time(few);
    let error = few.image::<f32>(declared).map(|_| ()).unwrap_err();
    assert_eq!(error.message(), "array has 4 frames, but 3 times");
    // The same in the memory of others.
    for time in [None, Some(table), Some(regular(2.0, 0.5))] {
        let strides = array.strides();
        let axes = shape
            .iter()
            .zip(strides)
            .map(|(&n, &s)| (n, s * 8))
            .collect();
        let first = array.as_ptr().cast();
        let owner = Box::new(array.clone());
        // SAFETY: the array outlives all images that are made of it here.
        let samples = unsafe { Strided::new(first, SampleType::F64, Endian::Little, axes, owner) };
        let shared = SharedImage::over_time(
            samples,
            Arrangement::SlowestFirst,
            Some(Orientation::identity(3)),
            Space::Unknown,
            time.clone(),
        );
        let loaded = shared.image::<f32>(declared, &Reading::default()).unwrap();
        check(&loaded.image, "shared");
        assert_eq!(
            loaded.image.time(),
            Some(&time.unwrap_or(TimeAxis::NUMBERS))
        );
    }
}

#[test]
fn the_blur_of_a_film_is_that_of_its_frames() {
    let shape = [FRAMES, 9, 8, 7, 2];
    let value = |n: usize| ((n * n) as f64 * 0.37).sin();
    let count: usize = shape.iter().product();
    let array = ArrayD::from_shape_vec(IxDyn(&shape), (0..count).map(value).collect()).unwrap();
    let film =
        ImageArray::new(array.clone(), Orientation::identity(3)).over_time(regular(0.0, 1.0));
    let film = film.image::<f64>(Declared::over_time(3, &[2])).unwrap();
    for border in [Border::Mirror, Border::Constant(&[0.5, -1.0])] {
        let blurred = runtime::blur::blur(&film, &[1.0, 0.7, 1.5], border).unwrap();
        assert_eq!(
            (blurred.frames(), blurred.time()),
            (film.frames(), film.time())
        );
        for frame in 0..FRAMES {
            let one = array.index_axis(ndarray::Axis(0), frame).to_owned();
            let one = ImageArray::new(one, Orientation::identity(3));
            let one = one.image::<f64>(Declared::new(3, &[2])).unwrap();
            let one = runtime::blur::blur(&one, &[1.0, 0.7, 1.5], border).unwrap();
            let length = film.frame_stride();
            let start = frame * length;
            assert_eq!(
                one.samples()[..length],
                blurred.samples()[start..start + length]
            );
        }
    }
}
