//! Files that are written while their values come.

use runtime::cluster::wire::Reader;
use runtime::output::early::Early;
use runtime::output::format::Destination;
use runtime::output::together::{Address, Pieces, Report};
use runtime::output::write::{self, Contents, Number, Style};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::Range;
use std::fs;
use std::path::{Path, PathBuf};

const SIZES: [usize; 2] = [30, 50];

fn directory(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("early-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("the directory");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

fn vectors() -> Output {
    Output {
        name: "out".into(),
        shape: vec![2],
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    }
}

fn destination(dir: &Path, name: &str) -> Destination {
    Destination::parse(dir.join(name).to_str().unwrap()).unwrap()
}

/// Does something with an output of these values.
fn with<R>(values: Values<'_>, work: impl FnOnce(Contents<'_>) -> R) -> R {
    let output = vectors();
    let columns = [Column {
        output: &output,
        values,
        lengths: None,
        range: Range::Usual,
        colours: None,
    }];
    work(Contents {
        columns: &columns,
        domain: &Domain::Grid(SIZES.to_vec()),
        place: None,
    })
}

#[test]
fn parts_in_any_order_make_the_file_that_is_written_in_one_go() {
    let dir = directory("same");
    let numbers: Vec<f64> = (0..3000).map(|n| f64::from(n).sqrt()).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let number = Some(Number {
        value: 7,
        digits: 3,
    });
    for (number, suffix) in [
        (None, "nrrd"),
        (number, "nrrd"),
        (None, "npy"),
        (number, "npy"),
    ] {
        let [early, late] = ["a", "b"].map(|name| destination(&dir, &format!("{name}.{suffix}")));
        let told = with(Values::F64(&numbers), |contents| {
            write::write(&late, number, contents, &Style::default()).unwrap()
        });
        let file = with(Values::F64(&[]), |contents| {
            Early::begin(&early, number, contents).expect("a file of its kind")
        });
        std::thread::scope(|scope| {
            for (n, part) in bytes.chunks(999).enumerate().rev() {
                let file = &file;
                scope.spawn(move || file.put(n * 999, part));
            }
        });
        let written = file.finish().unwrap();
        assert_eq!(written[0].description, told[0].description);
        let read = |written: &[write::Written]| fs::read(&written[0].file).unwrap();
        assert!(read(&written) == read(&told));
    }
    assert_eq!(
        names(&dir),
        [
            "a-007.npy",
            "a-007.nrrd",
            "a.npy",
            "a.nrrd",
            "b-007.npy",
            "b-007.nrrd",
            "b.npy",
            "b.nrrd"
        ]
    );
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let dir = directory("left");
    fs::write(dir.join("a.nrrd"), "before").unwrap();
    let begin = || {
        with(Values::F32(&[]), |contents| {
            Early::begin(&destination(&dir, "a.nrrd"), None, contents).expect("a file")
        })
    };
    let file = begin();
    assert_eq!(names(&dir).len(), 2, "a file under another name");
    drop(file);
    let file = begin();
    file.put(0, &[0; 100]);
    let error = file.finish().unwrap_err().to_string();
    assert!(error.contains("a.nrrd"), "{error}");
    assert_eq!(names(&dir), ["a.nrrd"]);
    assert_eq!(fs::read(dir.join("a.nrrd")).unwrap(), b"before");
}

/// A file in a directory of this name that was begun, and a letter that leads another process to it.
fn begun(name: &str) -> (PathBuf, Early, Vec<u8>) {
    let dir = directory(name);
    let file = with(Values::F32(&[]), |contents| {
        Early::begin(&destination(&dir, "a.nrrd"), None, contents).expect("a file")
    });
    let mut letter = Vec::new();
    file.address().expect("an address").put(&mut letter);
    (dir, file, letter)
}

fn opened(letter: &[u8]) -> Option<Pieces> {
    Pieces::open(&Address::read(&mut Reader(letter)).expect("an address"))
}

/// The report of another process, as it arrives.
fn report(pieces: Pieces) -> Report {
    let mut letter = Vec::new();
    pieces.close().put(&mut letter);
    Report::read(&mut Reader(&letter)).expect("a report")
}

#[test]
fn pieces_of_several_processes_make_one_file() {
    let numbers: Vec<f32> = (0..3000u16).map(f32::from).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let (dir, file, letter) = begun("pieces");
    let others = [
        opened(&letter).expect("a file"),
        opened(&letter).expect("a file"),
    ];
    for (n, part) in bytes.chunks(500).enumerate().rev() {
        match n % 3 {
            0 => file.put(n * 500, part),
            other => others[other - 1].put(n * 500, part),
        }
    }
    others.into_iter().for_each(|other| file.add(report(other)));
    file.finish().unwrap();
    with(Values::F32(&numbers), |contents| {
        let late = destination(&dir, "b.nrrd");
        write::write(&late, None, contents, &Style::default()).unwrap()
    });
    let read = |name: &str| fs::read(dir.join(name)).unwrap();
    assert!(read("a.nrrd") == read("b.nrrd"));
    assert_eq!(names(&dir), ["a.nrrd", "b.nrrd"]);
}

#[test]
fn a_file_that_another_process_has_not_written_in_full_does_not_appear() {
    let (dir, file, letter) = begun("part");
    file.put(0, &[0; 11900]);
    let other = opened(&letter).expect("a file");
    other.put(11900, &[0; 99]);
    file.add(report(other));
    let error = file.finish().unwrap_err().to_string();
    let whole = "a.nrrd: 11999 of 12000 bytes have come";
    assert!(error.ends_with(whole), "{error}");
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn another_file_of_the_same_name_is_not_opened() {
    let (dir, file, letter) = begun("replaced");
    let hidden = dir.join(&names(&dir)[0]);
    fs::rename(&hidden, dir.join("away")).unwrap();
    assert!(opened(&letter).is_none(), "there is no file of this name");
    fs::write(&hidden, "short").unwrap();
    assert!(opened(&letter).is_none(), "it has another length");
    drop(file);
    let mut damaged = letter;
    damaged.truncate(20);
    assert!(Address::read(&mut Reader(&damaged)).is_none());
}

#[test]
fn other_files_are_written_when_all_is_there() {
    let dir = directory("other");
    for name in ["a.png", "a.txt", "a.npz", "a.nhdr", "none/a.nrrd"] {
        let begun = with(Values::F32(&[]), |contents| {
            Early::begin(&destination(&dir, name), None, contents)
        });
        assert!(begun.is_none(), "{name}");
    }
    let truths = with(Values::Bool(&[]), |contents| {
        Early::begin(&destination(&dir, "a.nrrd"), None, contents)
    });
    assert!(truths.is_none(), "their bytes may be others than 0 and 1");
    let standard = Destination::parse("-").unwrap();
    let begun = with(Values::F32(&[]), |contents| {
        Early::begin(&standard, None, contents)
    });
    assert!(begun.is_none());
    assert!(names(&dir).is_empty());
}
