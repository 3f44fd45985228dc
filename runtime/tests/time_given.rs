//! The times of frames that a user gives, and the arithmetic of time axes.

mod time_files;

use runtime::grid::TimeAxis;
use runtime::image::{Declared, Frames, Image, ImageError, Level, Loaded, Reading};
use std::path::{Path, PathBuf};
use time_files::nrrd;

/// A directory of the test's own.
fn own_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("time-given-{name}"));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn regular(start: f64, step: f64) -> TimeAxis {
    TimeAxis::regular(start, step).unwrap()
}

type Read = Result<Loaded<f32>, ImageError>;

fn read(bytes: &[u8], declared: Declared<'_>, reading: &Reading) -> Read {
    Image::from_bytes(bytes, declared, reading)
}

#[test]
fn the_user_may_give_the_times() {
    let bytes = nrrd(
        &[2, 4],
        "kinds: domain time\nspacings: 1 10\naxis mins: 0 300\nunits: \"\" \"s\"",
    );
    let declared = Declared::over_time(1, &[]);
    let of = |reading: &Reading| {
        let loaded = read(&bytes, declared, reading);
        loaded.map(|loaded| loaded.image.time().unwrap().clone())
    };
    let with = |set: &dyn Fn(&mut Reading) -> Result<(), String>| {
        let mut reading = Reading::default();
        set(&mut reading).map(|()| reading)
    };
    assert_eq!(of(&Reading::default()).unwrap(), regular(300.0, 10.0));
    let given = with(&|reading| reading.set_times("-1:0.5")).unwrap();
    assert_eq!(of(&given).unwrap(), regular(-1.0, 0.5));
    let mut zero = with(&|reading| reading.set_times("zero=first")).unwrap();
    assert_eq!(of(&zero).unwrap(), regular(0.0, 10.0));
    zero.frames = Some(Frames::Range(2, 3));
    assert_eq!(of(&zero).unwrap(), regular(0.0, 10.0));
    for wrong in ["", "1", "1:", "a:b", "0:0", "0:-1", "inf:1", "zero=last"] {
        assert!(
            with(&|reading| reading.set_times(wrong)).is_err(),
            "{wrong}"
        );
    }
    let directory = own_directory("given");
    let times = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let table = times("table.txt", "# seconds\n0 1\n4.5, 6 # the last\n");
    let mut given = with(&|reading| reading.set_times(&table)).unwrap();
    assert_eq!(
        of(&given).unwrap(),
        TimeAxis::Table(vec![0.0, 1.0, 4.5, 6.0])
    );
    given.frames = Some(Frames::Range(1, 3));
    assert_eq!(of(&given).unwrap(), TimeAxis::Table(vec![1.0, 4.5, 6.0]));
    let even = times("even.txt", "0\n2\n4\n6\n");
    let given = with(&|reading| reading.set_times(&even)).unwrap();
    assert_eq!(of(&given).unwrap(), regular(0.0, 2.0));
    let three = times("three.txt", "0 1 2");
    let given = with(&|reading| reading.set_times(&three)).unwrap();
    let error = of(&given).unwrap_err().to_string();
    assert!(
        error.contains("3 times are given, but there are 4 frames"),
        "{error}"
    );
    for (name, text, part) in [
        (
            "back.txt",
            "0 2 1 3",
            "frame 2 is at 1 s, which is not later than frame 1",
        ),
        ("word.txt", "0\nx", "line 2: found `x`, expected a number"),
        ("empty.txt", "# none", "there are no times"),
        ("nan.txt", "0 nan", "frame 1 has the time NaN"),
    ] {
        let file = times(name, text);
        let error = with(&|reading| reading.set_times(&file)).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    assert!(with(&|reading| reading.set_times("no such file")).is_err());
}

#[test]
fn times_that_single_precision_does_not_tell_apart_are_told() {
    let year = "kinds: domain time\nspacings: 1 2\naxis mins: 0 31536000\nunits: \"\" \"s\"";
    let bytes = nrrd(&[2, 4], year);
    let mut reading = Reading {
        name: Some("wind".to_string()),
        ..Reading::default()
    };
    let declared = Declared::over_time(1, &[]);
    let loaded = read(&bytes, declared, &reading).unwrap();
    let warned = |note: &runtime::image::Note| {
        note.level == Level::Warning && note.text.contains("`--times-wind zero=first`")
    };
    assert!(loaded.notes.iter().any(warned), "{:?}", loaded.notes);
    let double = Image::<f64>::from_bytes(&bytes, declared, &reading).unwrap();
    assert!(!double.notes.iter().any(warned));
    reading.set_times("zero=first").unwrap();
    let loaded = read(&bytes, declared, &reading).unwrap();
    assert!(!loaded.notes.iter().any(warned), "{:?}", loaded.notes);
}

#[test]
fn axes_of_times_are_regular_or_tables() {
    let axis = TimeAxis::of_times(&[1.0, 1.5, 2.0, 2.5]).unwrap();
    assert_eq!(axis, regular(1.0, 0.5));
    assert_eq!((axis.start(), axis.end(4)), (1.0, 2.5));
    assert_eq!(axis.position(2.25), (2.5, 2.0));
    let jitter = TimeAxis::of_times(&[0.0, 1.0 + 4e-7, 2.0]).unwrap();
    assert_eq!(jitter, regular(0.0, 1.0));
    let table = TimeAxis::of_times(&[0.0, 1.0 + 4e-6, 2.0]).unwrap();
    assert!(matches!(table, TimeAxis::Table(_)));
    let table = TimeAxis::of_times(&[0.0, 1.0, 3.0, 3.5]).unwrap();
    for (time, position) in [
        (-1.0, (-1.0, 1.0)),
        (0.25, (0.25, 1.0)),
        (2.0, (1.5, 0.5)),
        (3.25, (2.5, 2.0)),
        (4.0, (4.0, 2.0)),
    ] {
        assert_eq!(table.position(time), position, "{time}");
    }
    assert_eq!(table.end(4), 3.5);
    assert_eq!(TimeAxis::of_times(&[5.0]).unwrap(), regular(5.0, 1.0));
    for wrong in [
        &[][..],
        &[1.0, 1.0],
        &[2.0, 1.0],
        &[0.0, f64::NAN],
        &[f64::INFINITY],
    ] {
        assert!(TimeAxis::of_times(wrong).is_err(), "{wrong:?}");
    }
}
