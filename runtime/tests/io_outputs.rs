//! Outputs: layout of the arrays, formats by suffix, and the files that remain when writing fails.

use std::fs;
use std::path::{Path, PathBuf};

use runtime::nrrd::{self, Samples};
use runtime::output::format::Destination;
use runtime::output::write::{self, Contents, Number, Style, Written};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values, to_nrrd, to_nrrd_pair};
use runtime::png::{self, Depth, Range};

/// A directory for one test, removed with its contents.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("outputs-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// The names of all files, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn output(shape: &[usize], length: Length) -> Output {
    let (name, shape) = ("out".to_string(), shape.to_vec());
    Output {
        name,
        shape,
        length,
        scalar: Scalar::Real,
        is_position: false,
    }
}

fn scalar() -> Output {
    output(&[], Length::One)
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

fn write(output: &Output, domain: &Domain, values: Values<'_>, file: &str) -> Result<(), String> {
    write_with(
        output,
        domain,
        (values, None),
        file,
        Range::Usual,
        &Style::default(),
    )
    .map(drop)
}

fn write_with(
    output: &Output,
    domain: &Domain,
    (values, lengths): (Values<'_>, Option<&[usize]>),
    file: &str,
    range: Range,
    style: &Style,
) -> Result<Vec<Written>, String> {
    let destination = Destination::parse(file)?;
    let columns = [Column {
        output,
        values,
        lengths,
        range,
        colours: None,
    }];
    let contents = Contents {
        columns: &columns,
        domain,
        place: None,
    };
    write::write(&destination, None, contents, style).map_err(|e| e.to_string())
}

fn write_sequences(
    output: &Output,
    lengths: &[usize],
    values: Values<'_>,
    file: &str,
) -> Result<Vec<Written>, String> {
    let domain = Domain::List(lengths.len());
    let values = (values, Some(lengths));
    write_with(
        output,
        &domain,
        values,
        file,
        Range::Usual,
        &Style::default(),
    )
}

#[test]
fn a_file_has_the_header_of_the_original() {
    let dir = Directory::new("header");
    let file = dir.file("v.nrrd");
    let values = numbers(3 * 4 * 3);
    // Iterators i in 0..3, j in 0..2: the last is the fastest axis.
    let domain = Domain::Grid(vec![4, 3]);
    write(
        &output(&[3], Length::One),
        &domain,
        Values::F32(&values),
        &file,
    )
    .unwrap();
    let endian = if cfg!(target_endian = "little") {
        "little"
    } else {
        "big"
    };
    let header = format!(
        "NRRD0003\n\
         # Complete NRRD file format specification at:\n\
         # http://teem.sourceforge.net/nrrd/format.html\n\
         type: float\ndimension: 3\nsizes: 3 3 4\nkinds: 3-vector space space\nendian: {endian}\nencoding: raw\n\n"
    );
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    assert_eq!(
        fs::read(&file).unwrap(),
        [header.as_bytes(), &bytes].concat()
    );
}

/// The sample type, the sizes and the kinds in the header of an output.
fn description(output: &Output, domain: &Domain, values: Values<'_>) -> String {
    let nrrd = to_nrrd(output, domain, values, None).unwrap();
    let kinds: Vec<_> = nrrd
        .header()
        .axes
        .iter()
        .map(|a| a.kind.unwrap().to_string())
        .collect();
    format!(
        "{} {:?} {}",
        nrrd.header().sample_type,
        nrrd.header().sizes(),
        kinds.join(" ")
    )
}

#[test]
fn every_type_has_its_samples_and_component_axis() {
    let ones = vec![1.0_f32; 100];
    let list = Domain::List(2);
    let rows: [(&[usize], Length, usize, &str); 11] = [
        (&[], Length::One, 1, "float [2] list"),
        (&[2], Length::One, 2, "float [2, 2] 2-vector list"),
        (&[3], Length::One, 3, "float [3, 2] 3-vector list"),
        (&[4], Length::One, 4, "float [4, 2] 4-vector list"),
        (&[2, 2], Length::One, 4, "float [4, 2] 2D-matrix list"),
        (&[3, 3], Length::One, 9, "float [9, 2] 3D-matrix list"),
        (&[5], Length::One, 5, "float [5, 2] list list"),
        (&[2, 3], Length::One, 6, "float [6, 2] list list"),
        (&[], Length::Fixed(1), 1, "float [2] list"),
        (&[3], Length::Fixed(1), 3, "float [3, 2] 3-vector list"),
        (&[3], Length::Fixed(2), 6, "float [6, 2] list list"),
    ];
    for (shape, length, size, expected) in rows {
        let values = Values::F32(&ones[..2 * size]);
        assert_eq!(description(&output(shape, length), &list, values), expected);
    }
    let grid = Domain::Grid(vec![1, 2, 3]);
    assert_eq!(
        description(&scalar(), &grid, Values::I32(&[1; 6])),
        "int [3, 2, 1] space space space"
    );
    assert_eq!(
        description(&scalar(), &grid, Values::I64(&[1; 6])),
        "long long int [3, 2, 1] space space space"
    );
    assert_eq!(
        description(&scalar(), &grid, Values::F64(&[1.0; 6])),
        "double [3, 2, 1] space space space"
    );
    let truths = to_nrrd(
        &scalar(),
        &Domain::List(3),
        Values::Bool(&[0, 1, 255]),
        None,
    )
    .unwrap();
    assert_eq!(*truths.samples(), Samples::U8(vec![0, 1, 1]));
}

#[test]
fn sequences_of_varying_length_are_offsets_and_elements() {
    let dynamic = output(&[2], Length::Dynamic);
    let domain = Domain::Grid(vec![2, 2]);
    let values = numbers(8);
    let (index, data) =
        to_nrrd_pair(&dynamic, &domain, &[1, 0, 2, 1], Values::F32(&values)).unwrap();
    assert_eq!(*index.samples(), Samples::I32(vec![0, 1, 1, 0, 1, 2, 3, 1]));
    assert_eq!(index.header().sizes(), [2, 2, 2]);
    let data = data.unwrap();
    assert_eq!(
        (data.header().sizes(), data.samples()),
        (vec![2, 4], &Samples::F32(values))
    );

    let dir = Directory::new("sequences");
    let scalars = output(&[], Length::Dynamic);
    let values = Values::I32(&[7, 8, 9]);
    let written = write_sequences(&scalars, &[2, 1], values, &dir.file("path.nrrd")).unwrap();
    assert!(written.iter().all(|w| w.notes.is_empty()));
    assert_eq!(dir.names(), ["path-data.nrrd", "path-len.nrrd"]);
    let data = nrrd::read(Path::new(&dir.file("path-data.nrrd"))).unwrap();
    assert_eq!(
        (data.header().sizes(), data.samples()),
        (vec![3], &Samples::I32(vec![7, 8, 9]))
    );
    assert_eq!(data.header().axes[0].kind, Some(nrrd::Kind::List));
}

#[test]
fn without_elements_only_the_lengths_are_written() {
    let dir = Directory::new("empty");
    let dynamic = output(&[3], Length::Dynamic);
    let written = write_sequences(&dynamic, &[0, 0], Values::F32(&[]), &dir.file("p")).unwrap();
    assert!(written[0].notes[0].contains("all sequences of output `out` are empty"));
    assert_eq!(dir.names(), ["p-len.nrrd"]);
}

#[test]
fn names_of_snapshots_count_super_steps() {
    let named = |name: &str| Destination::parse(name).unwrap();
    let numbered = |name: &str, step| named(name).numbered(step, 4).file;
    assert_eq!(numbered("dir/v", 0), "dir/v-0000.nrrd");
    assert_eq!(numbered("v", 123456), "v-123456.nrrd");
    assert_eq!(numbered("dir/iso.png", 50), "dir/iso-0050.png");
    assert_eq!(numbered("iso.PNG", 5), "iso-0005.png");
    assert_eq!(numbered("png:iso", 5), "iso-0005.png");
    let number = Some(Number {
        value: 42,
        digits: 4,
    });
    for (name, number, varying, files) in [
        (
            "v",
            number,
            true,
            &["v-len-0042.nrrd", "v-data-0042.nrrd"][..],
        ),
        ("x.nrrd", None, true, &["x-len.nrrd", "x-data.nrrd"]),
        ("x.nrrd", None, false, &["x.nrrd"]),
        ("x.nhdr", number, false, &["x-0042.raw", "x-0042.nhdr"]),
        ("x.npz", number, true, &["x-0042.npz"]),
    ] {
        assert_eq!(named(name).files(number, varying), files);
    }
}

#[test]
fn the_suffix_chooses_the_format() {
    let rows = [
        ("a.nrrd", "nrrd", "a.nrrd"),
        ("a.NHDR", "nhdr", "a.NHDR"),
        ("d.x/a.png", "png", "d.x/a.png"),
        ("dir.png/a", "nrrd", "dir.png/a"),
        ("-", "nrrd", "-"),
        ("png:-", "png", "-"),
        ("txt:a.b", "txt", "a.b"),
    ];
    for (name, suffix, file) in rows {
        let found = Destination::parse(name).unwrap();
        assert_eq!((found.format.suffix(), found.file), (suffix, file.into()));
    }
    let error = Destination::parse("a.jpg").unwrap_err();
    let expected = "a.jpg: found suffix `.jpg`, expected one of .nrrd, .nhdr, .png, .txt, ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn every_format_holds_the_same_values() {
    let dir = Directory::new("formats");
    let domain = Domain::Grid(vec![2, 3]);
    let values = [0.0, 0.25, 0.5, 1.0, 2.0, -1.0];
    for name in ["v.nrrd", "v.nhdr", "v.txt", "v.png"] {
        write(&scalar(), &domain, Values::F64(&values), &dir.file(name)).unwrap();
    }
    assert_eq!(dir.names(), ["v.nhdr", "v.nrrd", "v.png", "v.raw", "v.txt"]);
    for name in ["v.nrrd", "v.nhdr"] {
        let nrrd = nrrd::read(Path::new(&dir.file(name))).unwrap();
        assert_eq!(*nrrd.samples(), Samples::F64(values.to_vec()));
    }
    assert_eq!(
        fs::read_to_string(dir.file("v.txt")).unwrap(),
        "0 0.25 0.5\n1 2 -1\n"
    );
    let picture = png::read(Path::new(&dir.file("v.png"))).unwrap();
    assert_eq!((picture.width(), picture.height()), (3, 2));
    assert_eq!(picture.samples(), [0, 64, 128, 255, 255, 0]);
    let header = fs::read_to_string(dir.file("v.nhdr")).unwrap();
    assert!(header.contains("data file: v.raw\n"), "{header}");
}

#[test]
fn pictures_take_integers_as_levels_and_colours_from_components() {
    let dir = Directory::new("pictures");
    let domain = Domain::Grid(vec![1, 2]);
    let file = dir.file("p.png");
    let read = || png::read(Path::new(&file)).unwrap();
    write(&scalar(), &domain, Values::I32(&[7, 300]), &file).unwrap();
    assert_eq!(read().samples(), [7, 255]);
    write(&scalar(), &domain, Values::Bool(&[0, 1]), &file).unwrap();
    assert_eq!(read().samples(), [0, 255]);
    let style = Style {
        depth: Depth::Sixteen,
        ..Style::default()
    };
    let colours = output(&[3], Length::One);
    let values = [10.0, 20.0, 10.0, 20.0, 15.0, 12.0];
    let values = (Values::F32(&values), None);
    write_with(&colours, &domain, values, &file, Range::Auto, &style).unwrap();
    let picture = read();
    assert_eq!((picture.channels(), picture.depth()), (3, Depth::Sixteen));
    assert_eq!(picture.samples(), [0, 65535, 0, 65535, 32768, 13107]);
    let error = write(
        &output(&[5], Length::One),
        &domain,
        Values::F32(&numbers(10)),
        &file,
    )
    .unwrap_err();
    assert!(
        error.contains("found 5 values per strand over a grid of 2 axes"),
        "{error}"
    );
    let error = write(&scalar(), &Domain::List(2), Values::F32(&numbers(2)), &file).unwrap_err();
    assert!(
        error.contains("over a collection, expected 1 to 4 over a grid"),
        "{error}"
    );
    assert_eq!(
        read().samples(),
        picture.samples(),
        "a failed output leaves the former file alone"
    );
    assert_eq!(dir.names(), ["p.png"]);
}

#[test]
fn text_has_one_element_or_row_per_line() {
    let dir = Directory::new("text");
    let file = dir.file("t.txt");
    let read = || fs::read_to_string(&file).unwrap();
    write(
        &output(&[2], Length::One),
        &Domain::Grid(vec![1, 2]),
        Values::F32(&[0.5, 1.0, f32::NAN, -3.0]),
        &file,
    )
    .unwrap();
    assert_eq!(read(), "0.5 1\nnan -3\n");
    write(&scalar(), &Domain::List(3), Values::I32(&[1, -2, 3]), &file).unwrap();
    assert_eq!(read(), "1\n-2\n3\n");
}

#[test]
fn nothing_is_left_when_writing_fails() {
    let dir = Directory::new("failures");
    // A directory has the name of the output: the last step, giving the name, fails.
    fs::create_dir(dir.0.join("taken.nrrd")).unwrap();
    let error = write(
        &scalar(),
        &Domain::List(1),
        Values::F32(&[1.0]),
        &dir.file("taken.nrrd"),
    )
    .unwrap_err();
    assert!(error.contains("taken.nrrd: "), "{error}");
    assert_eq!(dir.names(), ["taken.nrrd"]);
    // The second of two files fails: the first has not appeared either.
    fs::create_dir(dir.0.join("p-data.nrrd")).unwrap();
    let dynamic = output(&[], Length::Dynamic);
    let one = Values::F32(&[1.0]);
    assert!(write_sequences(&dynamic, &[1], one, &dir.file("p")).is_err());
    fs::create_dir(dir.0.join("h.nhdr")).unwrap();
    assert!(
        write(
            &scalar(),
            &Domain::List(1),
            Values::F32(&[1.0]),
            &dir.file("h.nhdr")
        )
        .is_err()
    );
    assert_eq!(dir.names(), ["h.nhdr", "p-data.nrrd", "taken.nrrd"]);
    let error = write(
        &scalar(),
        &Domain::List(1),
        Values::F32(&[1.0]),
        &dir.file("none/x.nrrd"),
    )
    .unwrap_err();
    assert!(error.contains("none/x.nrrd: "), "{error}");
}

#[test]
fn values_that_do_not_fit_the_domain_are_refused() {
    let error = |output: &Output, domain: Domain, values: Values<'_>| {
        to_nrrd(output, &domain, values, None)
            .unwrap_err()
            .to_string()
    };
    let found = error(&scalar(), Domain::List(3), Values::F32(&[1.0]));
    assert_eq!(found, "output `out`: found 1 samples, the header says 3");
    let none = error(&scalar(), Domain::List(0), Values::F32(&[]));
    assert_eq!(none, "output `out`: there are no strands to write");
    let dynamic = output(&[], Length::Dynamic);
    assert!(error(&dynamic, Domain::List(1), Values::F32(&[1.0])).contains("varying length"));
    let lengths = to_nrrd_pair(&dynamic, &Domain::List(2), &[1], Values::F32(&[1.0])).unwrap_err();
    assert!(
        lengths
            .to_string()
            .contains("found 1 lengths, expected one for each of 2 strands")
    );
    let huge =
        to_nrrd_pair(&dynamic, &Domain::List(1), &[1 << 40], Values::F32(&[1.0])).unwrap_err();
    assert!(
        huge.to_string()
            .contains("more elements than 32 bits count")
    );
    let short = to_nrrd_pair(&dynamic, &Domain::List(1), &[2], Values::F32(&[1.0])).unwrap_err();
    assert!(short.to_string().contains("found 1 samples"));
}

#[test]
#[cfg(target_os = "linux")]
fn links_stay_links_and_pipes_stay_pipes() {
    use std::io::Read;

    let dir = Directory::new("links");
    fs::write(dir.0.join("real.nrrd"), "old").unwrap();
    std::os::unix::fs::symlink(dir.0.join("real.nrrd"), dir.0.join("link.nrrd")).unwrap();
    let one = Values::F32(&[1.0]);
    write(&scalar(), &Domain::List(1), one, &dir.file("link.nrrd")).unwrap();
    assert!(
        fs::symlink_metadata(dir.0.join("link.nrrd"))
            .unwrap()
            .is_symlink()
    );
    assert!(nrrd::read(&dir.0.join("real.nrrd")).is_ok());

    let pipe = dir.0.join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    // Opening a pipe for both directions does not block.
    let mut end = fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    write(&scalar(), &Domain::List(1), one, &dir.file("pipe")).unwrap();
    let mut magic = [0; 8];
    end.read_exact(&mut magic).unwrap();
    assert_eq!(&magic, b"NRRD0003");
    assert_eq!(dir.names(), ["link.nrrd", "pipe", "real.nrrd"]);
}
