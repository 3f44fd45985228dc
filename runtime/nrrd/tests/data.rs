//! Where and how samples are stored: encodings, skips, data files, and data that are not as they should be.

use std::fs;
use std::path::{Path, PathBuf};

use nrrd_rs::{
    self as nrrd, Endian, ErrorKind, Header, Nrrd, NrrdError, Reader, SampleType, Samples, Storage,
};

/// A directory for one test, removed with its contents.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("nrrd-data-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Result<Nrrd, NrrdError> {
        nrrd::read(&self.0.join(name))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn attached(fields: &str, data: &[u8]) -> Result<Nrrd, NrrdError> {
    let header = format!("NRRD0004\n{fields}\n\n");
    nrrd::read_bytes(&[header.as_bytes(), data].concat(), None)
}

fn bytes_of(nrrd: Nrrd) -> Vec<u8> {
    match nrrd.samples() {
        Samples::U8(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const FOUR: &str = "type: uchar\ndimension: 1\nsizes: 4\n";

#[test]
fn byte_order_and_text_give_the_same_numbers() {
    let fields = |endian: &str, encoding: &str| {
        format!("type: short\ndimension: 1\nsizes: 3\nendian: {endian}\nencoding: {encoding}")
    };
    let expected = Samples::I16(vec![1, -2, 300]);
    let rows: [(&str, &str, &[u8]); 5] = [
        ("little", "raw", &[1, 0, 0xfe, 0xff, 0x2c, 1]),
        ("big", "raw", &[0, 1, 0xff, 0xfe, 1, 0x2c]),
        ("big", "hex", b"0001 FffE\n01\n2c trailing"),
        ("little", "ascii", b" 1\n-2 , ,300 more"),
        ("little", "raw", &[1, 0, 0xfe, 0xff, 0x2c, 1, 99, 99]),
    ];
    for (endian, encoding, data) in rows {
        let nrrd = attached(&fields(endian, encoding), data).unwrap();
        assert_eq!(*nrrd.samples(), expected, "{endian} {encoding}");
    }
}

#[test]
fn text_that_is_no_number_of_the_type_is_refused() {
    for text in ["1 2,3 4 5", "1 2 x 4", "1 2 3.5 4", "1 2 256 4", "1 2 -1 4"] {
        let error = attached(&format!("{FOUR}encoding: ascii"), text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(
            error
                .to_string()
                .contains("expected a number of type `unsigned char`"),
            "{error}"
        );
    }
    let error = attached(&format!("{FOUR}encoding: hex"), b"01 0g").unwrap_err();
    assert!(
        error.to_string().contains("expected a hexadecimal digit"),
        "{error}"
    );
}

#[test]
fn skips_count_lines_first_and_then_bytes_from_either_end() {
    let skips = |line: usize, byte: i64, encoding: &str| {
        format!("{FOUR}line skip: {line}\nbyte skip: {byte}\nencoding: {encoding}")
    };
    let rows: [(usize, i64, &[u8]); 5] = [
        (0, 0, b"abcdXX"),
        (2, 0, b"one\ntwo\nabcdXX"),
        (1, 3, b"one\n...abcdXX"),
        (0, -1, b"anything\nabcd"),
        (1, -3, b"one\n......abcdXX"),
    ];
    for (line, byte, data) in rows {
        let nrrd = attached(&skips(line, byte, "raw"), data).unwrap();
        assert_eq!(bytes_of(nrrd), b"abcd", "{line} {byte}");
    }
    // Lines are skipped in the compressed file, bytes in its decompressed contents.
    for (name, compress) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("bzip2", bzip2)] {
        for (byte, content) in [
            (2, &b"..abcdXX"[..]),
            (-1, b"....abcd"),
            (-3, b"....abcdXX"),
        ] {
            let data = [&b"a line\n"[..], &compress(content)].concat();
            let nrrd = attached(&skips(1, byte, name), &data).unwrap();
            assert_eq!(bytes_of(nrrd), b"abcd", "{name} {byte}");
        }
    }
    let bad: [(usize, i64, &str, &[u8], &str); 6] = [
        (3, 0, "raw", b"one\ntwo\n", "the data have 2 lines"),
        (
            0,
            9,
            "raw",
            b"abcd",
            "the data have 4 bytes, fewer than the 9",
        ),
        (0, -1, "raw", b"abc", "end after 3 bytes, expected 4"),
        (0, -3, "raw", b"abcde", "end after 3 bytes, expected 4"),
        (0, -1, "ascii", b"1 2 3 4", "counts from the end"),
        (0, i64::MIN, "raw", b"abcd", "end after 0 bytes"),
    ];
    for (line, byte, encoding, data, part) in bad {
        let error = attached(&skips(line, byte, encoding), data).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn the_end_of_a_long_stream_is_found() {
    let long: Vec<u8> = (0..1_000_000_u32).map(|i| (i * 7 % 251) as u8).collect();
    let fields = "type: uchar\ndimension: 1\nsizes: 1000\nbyte skip: -11\nencoding: gzip";
    let nrrd = attached(fields, &gzip(&long)).unwrap();
    assert_eq!(bytes_of(nrrd), long[long.len() - 1010..long.len() - 10]);
}

#[test]
fn compressed_members_are_joined_and_what_follows_them_is_ignored() {
    for (name, compress) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("bzip2", bzip2)] {
        let data = [compress(b"ab"), compress(b"cd"), b"garbage".to_vec()].concat();
        let nrrd = attached(&format!("{FOUR}encoding: {name}"), &data).unwrap();
        assert_eq!(bytes_of(nrrd), b"abcd");
    }
}

#[test]
fn zlib_streams_are_taken_for_gzip() {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(b"abcd").unwrap();
    let zlib = encoder.finish().unwrap();
    let fields = format!("{FOUR}encoding: gzip");
    let nrrd = attached(&fields, &[&zlib[..], b"x"].concat()).unwrap();
    assert_eq!(bytes_of(nrrd), b"abcd");
    for cut in 0..zlib.len() {
        let error = attached(&fields, &zlib[..cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "cut at {cut}");
    }
}

#[test]
fn the_lengths_of_files_bound_the_samples() {
    let dir = Directory::new("lengths");
    dir.put("a.raw", &[7; 10]);
    dir.put("b.raw", &[7; 30]);
    let capacity = |fields: &str, data: &[u8]| {
        let file = [
            format!("NRRD0006\ndimension: 2\nsizes: 2 2\n{fields}\n\n").as_bytes(),
            data,
        ]
        .concat();
        let reader = Reader::from_bytes(&file, "x", Some(dir.0.clone())).unwrap();
        reader.capacity()
    };
    let rows = [
        ("type: uchar\nencoding: raw", 20),
        ("type: uchar\nencoding: raw\nbyte skip: 3", 17),
        ("type: ushort\nendian: big\nencoding: raw", 10),
        ("type: uchar\nencoding: ascii", 10),
        ("type: ushort\nendian: big\nencoding: hex", 5),
        (
            "type: ushort\nendian: big\nencoding: raw\ndata file: LIST\na.raw\nb.raw",
            20,
        ),
    ];
    for (fields, samples) in rows {
        assert_eq!(capacity(fields, &[b'1'; 20]), Ok(Some(samples)), "{fields}");
    }
    let error = capacity("type: uchar\nencoding: raw\ndata file: c.raw", b"").unwrap_err();
    assert!(error.file().ends_with("c.raw"), "{error}");
    let stream = std::io::BufReader::new(
        &b"NRRD0001\ntype: uchar\ndimension: 1\nsizes: 1\nencoding: raw\n\na"[..],
    );
    let reader = Reader::from_stream(stream, None, "pipe", None).unwrap();
    assert_eq!(reader.capacity(), Ok(None));
    assert!(reader.read().is_ok());
}

#[test]
fn an_array_described_elsewhere_is_read_the_same() {
    let storage = Storage {
        byte_skip: 3,
        endian: Some(Endian::Big),
        ..Storage::default()
    };
    let header = Header::new(SampleType::U16, &[2]);
    let read = |header: Header, storage: Storage| {
        Reader::from_parts(
            header,
            storage,
            &b"...\x01\x02\x03\x04"[..],
            Some(7),
            "parts",
            None,
        )?
        .read()
    };
    let nrrd = read(header.clone(), storage.clone()).unwrap();
    assert_eq!(*nrrd.samples(), Samples::U16(vec![0x0102, 0x0304]));
    let no_order = Storage {
        endian: None,
        ..storage.clone()
    };
    let error = read(header, no_order).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parts: required field `endian` is missing"
    );
    let error = read(Header::new(SampleType::U16, &[0]), storage).unwrap_err();
    assert!(
        error.to_string().starts_with("parts: field `sizes`"),
        "{error}"
    );
}

#[test]
fn damaged_or_short_data_are_errors() {
    for (name, compress) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("bzip2", bzip2)] {
        let fields = format!("{FOUR}encoding: {name}");
        let sound = compress(b"abcd");
        for cut in 0..sound.len() {
            let error = attached(&fields, &sound[..cut]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{name} cut at {cut}");
        }
        let error = attached(&fields, &compress(b"abc")).unwrap_err();
        assert!(
            error.to_string().contains("end after 3 bytes, expected 4"),
            "{error}"
        );
        let mut damaged = sound.clone();
        let checksum = if name == "gzip" { sound.len() - 8 } else { 10 };
        damaged[checksum] ^= 1;
        let error = attached(&fields, &damaged).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{name}: {error}");
    }
    for (encoding, data) in [
        ("raw", &b"abc"[..]),
        ("hex", b"616263"),
        ("ascii", b"1 2 3"),
    ] {
        let error = attached(&format!("{FOUR}encoding: {encoding}"), data).unwrap_err();
        assert!(error.to_string().contains("end after 3"), "{error}");
    }
}

#[test]
fn sizes_that_the_data_do_not_justify_allocate_nothing() {
    // Each of these headers claims exabytes; to allocate as much would abort the process.
    for encoding in ["raw", "ascii", "hex", "gzip", "bzip2"] {
        let fields = format!(
            "type: uchar\ndimension: 2\nsizes: 2147483648 2147483648\nencoding: {encoding}"
        );
        let data = match encoding {
            "gzip" => gzip(&[1; 100_000]),
            "bzip2" => bzip2(&[1; 100_000]),
            _ => b"1 1 1 1 1 1".to_vec(),
        };
        let error = attached(&fields, &data).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    }
    let many_files = "type: uchar\ndimension: 2\nsizes: 1 9000000000\nencoding: raw\n\
                      data file: x%d 1 9000000000000000000 1";
    let error = attached(many_files, b"").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("found 9000000000000000000 data files"),
        "{error}"
    );
}

#[test]
fn data_files_are_found_beside_the_header_in_every_form() {
    let dir = Directory::new("forms");
    for (name, bytes) in [("s1.raw", b"ab"), ("s3.raw", b"cd"), ("s5.raw", b"ef")] {
        dir.put(name, bytes);
    }
    dir.put("all.raw", b"abcdef");
    dir.put("left.raw", b"..abc");
    dir.put("right.raw", b".def");
    let absolute = dir.0.join("all.raw").display().to_string();
    let rows = [
        ("data file: all.raw".to_string(), "abcdef"),
        (format!("data file: {absolute}"), "abcdef"),
        ("data file: s%d.raw 1 5 2".to_string(), "abcdef"),
        ("data file: s%d.raw 1 6 2 1".to_string(), "abcdef"),
        ("data file: s%d.raw 5 1 -2".to_string(), "efcdab"),
        ("data file: s%d.raw 1 5 2 2".to_string(), "abcdef"),
        (
            "data file: LIST\ns3.raw\ns1.raw\ns5.raw\n".to_string(),
            "cdabef",
        ),
        ("data file: LIST 2\nall.raw".to_string(), "abcdef"),
        (
            "data file: SKIPLIST\n0 s1.raw\n1 left.raw\n-1 right.raw".to_string(),
            "ab.aef",
        ),
    ];
    for (line, expected) in &rows {
        let header =
            format!("NRRD0006\ntype: uchar\ndimension: 2\nsizes: 2 3\nencoding: raw\n{line}\n");
        dir.put("x.nhdr", header.as_bytes());
        let nrrd = dir.read("x.nhdr").unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(bytes_of(nrrd), expected.as_bytes(), "{line}");
        let in_memory = nrrd::read_bytes(header.as_bytes(), Some(&dir.0)).unwrap();
        assert_eq!(bytes_of(in_memory), expected.as_bytes(), "{line}");
    }
    let bad = [
        ("data file: none.raw", "none.raw: "),
        (
            "data file: s1.raw",
            "s1.raw: the raw data end after 2 bytes, expected 6",
        ),
        (
            "data file: s%d.raw 1 3 2",
            "x.nhdr:6: found 2 data files of dimension 1, expected 3",
        ),
        (
            "data file: s%d.raw 1 3 2 2",
            "2 data files do not divide the 3 slices",
        ),
        (
            "data file: s%d.raw 1 5 2 3",
            "dimension of one data file is 3, expected 1 to 2",
        ),
        ("data file: LIST\ns1.raw", "found 1 data files"),
        (
            "data file: SKIPLIST\n0 s1.raw\ns3.raw\n0 s5.raw",
            "x.nhdr:8: found `s3.raw`",
        ),
    ];
    for (line, part) in bad {
        let header =
            format!("NRRD0006\ntype: uchar\ndimension: 2\nsizes: 2 3\nencoding: raw\n{line}\n");
        dir.put("x.nhdr", header.as_bytes());
        let error = dir.read("x.nhdr").unwrap_err();
        assert!(error.to_string().contains(part), "{line}: {error}");
    }
}

#[test]
fn a_header_in_memory_without_a_directory_cannot_name_files() {
    let error = attached(&format!("{FOUR}encoding: raw\ndata file: x.raw"), b"").unwrap_err();
    assert!(
        error.to_string().contains("the header is in no directory"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = nrrd::read(Path::new("no/such/file.nrrd")).unwrap_err();
    assert_eq!(
        (error.kind(), error.file()),
        (ErrorKind::Io, "no/such/file.nrrd")
    );
}
