//! Arrays and tables.

use super::{Directory, column, output};
use runtime::output::{Column, Domain, Length, Scalar, Values};

/// The type and shape that the header of an array says, and its bytes.
fn read_npy(bytes: &[u8]) -> (String, Vec<usize>, &[u8]) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0, "the data are aligned");
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.ends_with('\n') && header.contains("'fortran_order': False"));
    let between = |start: &str, end: &str| {
        let after = &header[header.find(start).unwrap() + start.len()..];
        after[..after.find(end).unwrap()].to_string()
    };
    let shape = between("'shape': (", ")");
    let shape = shape
        .split(',')
        .filter(|s| !s.trim().is_empty())
        .map(|s| s.trim().parse().unwrap());
    (
        between("'descr': '", "'"),
        shape.collect(),
        &bytes[10 + length..],
    )
}

#[test]
fn numpy_arrays_have_iterators_first_and_components_last() {
    let dir = Directory::new("npy");
    let numbers: Vec<f32> = (0..2 * 3 * 2 * 4).map(|i| i as f32 * 0.5).collect();
    let out = output("v", &[4], Length::Fixed(2), Scalar::Real);
    let bytes = dir
        .write(
            "v.npy",
            &[column(&out, Values::F32(&numbers))],
            &Domain::Grid(vec![2, 3]),
            None,
        )
        .unwrap();
    let (ty, shape, data) = read_npy(&bytes);
    assert_eq!((ty.as_str(), shape), ("<f4", vec![2, 3, 2, 4]));
    let read: Vec<f32> = data
        .chunks(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    assert_eq!(read, numbers);
    let rows = [
        (Values::F64(&[1.0, 2.0]), "<f8", 16),
        (Values::I32(&[1, 2]), "<i4", 8),
        (Values::I64(&[1, 2]), "<i8", 16),
        (Values::Bool(&[0, 255]), "|b1", 2),
    ];
    for (values, ty, size) in rows {
        let out = output("v", &[], Length::One, Scalar::Real);
        let bytes = dir
            .write("v.npy", &[column(&out, values)], &Domain::List(2), None)
            .unwrap();
        let (found, shape, data) = read_npy(&bytes);
        assert_eq!((found.as_str(), shape, data.len()), (ty, vec![2], size));
        assert!(ty != "|b1" || data == [0, 1]);
    }
}

/// The CRC of ZIP files, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 * (crc & 1));
        }
    }
    !crc
}

/// The names and contents of the entries of a ZIP file with 64-bit sizes, found by its directory as readers do.
fn read_zip(file: &[u8]) -> Vec<(String, &[u8])> {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let end = file.len() - 22;
    let locator = end - 20;
    assert_eq!(&file[end..end + 4], b"PK\x05\x06");
    assert_eq!(&file[locator..locator + 4], b"PK\x06\x07");
    let record = u64_at(locator + 8);
    assert_eq!(&file[record..record + 4], b"PK\x06\x06");
    assert_eq!(record + 12 + u64_at(record + 4), locator);
    let (count, size, mut at) = (
        u64_at(record + 32),
        u64_at(record + 40),
        u64_at(record + 48),
    );
    assert_eq!(at + size, record);
    let mut entries = Vec::new();
    for _ in 0..count {
        assert_eq!(&file[at..at + 4], b"PK\x01\x02");
        assert_eq!(u16_at(at + 10), 0, "not compressed");
        let (name, extra) = (u16_at(at + 28), u16_at(at + 30));
        let fields = at + 46 + name;
        assert_eq!((u16_at(fields), u16_at(fields + 2)), (1, 24));
        let [long, short, place] = [4, 12, 20].map(|n| u64_at(fields + n));
        assert_eq!(long, short);
        assert_eq!(&file[place..place + 4], b"PK\x03\x04");
        assert_eq!(
            file[place + 4..place + 28],
            file[at + 6..at + 30],
            "the same facts twice"
        );
        let start = place + 30 + u16_at(place + 26) + u16_at(place + 28);
        let data = &file[start..start + long];
        assert_eq!(crc32(data), u32_at(at + 16));
        let name_bytes = &file[at + 46..fields];
        entries.push((String::from_utf8(name_bytes.to_vec()).unwrap(), data));
        at = fields + extra;
    }
    entries
}

#[test]
fn numpy_archives_have_an_array_for_each_output() {
    let dir = Directory::new("npz");
    let outs = [
        output("σ", &[2], Length::One, Scalar::Real),
        output("ok", &[], Length::One, Scalar::Bool),
        output("path", &[3], Length::Dynamic, Scalar::Real),
    ];
    let points: Vec<f64> = (0..9).map(f64::from).collect();
    let columns = [
        column(&outs[0], Values::F32(&[0.5, 1.5, 2.5, 3.5])),
        column(&outs[1], Values::Bool(&[0, 7])),
        Column {
            lengths: Some(&[1, 2]),
            ..column(&outs[2], Values::F64(&points))
        },
    ];
    let file = dir.write("all.npz", &columns, &Domain::Grid(vec![1, 2]), None);
    let file = file.unwrap();
    let found: Vec<_> = read_zip(&file)
        .into_iter()
        .map(|(name, data)| (name, read_npy(data)))
        .collect();
    let bytes_of = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let wanted: [(&str, &str, &[usize], Vec<u8>); 4] = [
        (
            "σ.npy",
            "<f4",
            &[1, 2, 2],
            [0.5_f32, 1.5, 2.5, 3.5].map(f32::to_le_bytes).concat(),
        ),
        ("ok.npy", "|b1", &[1, 2], vec![0, 1]),
        ("path.npy", "<f8", &[3, 3], bytes_of(&points)),
        (
            "path_lengths.npy",
            "<i8",
            &[1, 2],
            [1_i64, 2].map(i64::to_le_bytes).concat(),
        ),
    ];
    assert_eq!(found.len(), wanted.len());
    for ((name, (ty, shape, data)), wanted) in found.iter().zip(&wanted) {
        assert_eq!(
            (&name[..], &ty[..], &shape[..], *data),
            (wanted.0, wanted.1, wanted.2, &wanted.3[..])
        );
    }
}

#[test]
fn tables_have_a_column_for_each_component_of_all_outputs() {
    let dir = Directory::new("csv");
    let outs = [
        output("pos", &[2], Length::One, Scalar::Real),
        output("m", &[2, 2], Length::One, Scalar::Real),
        output("count", &[], Length::One, Scalar::Int),
        output("ok", &[], Length::One, Scalar::Bool),
    ];
    let columns = [
        column(&outs[0], Values::F32(&[0.1, 1e20, f32::NAN, -0.0])),
        column(
            &outs[1],
            Values::F64(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1e-300]),
        ),
        column(&outs[2], Values::I32(&[-7, 8])),
        column(&outs[3], Values::Bool(&[0, 7])),
    ];
    let bytes = dir
        .write("t.csv", &columns, &Domain::List(2), None)
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    assert_eq!(
        names,
        [
            "pos_0", "pos_1", "m_0_0", "m_0_1", "m_1_0", "m_1_1", "count", "ok"
        ]
    );
    let first: Vec<f64> = lines
        .next()
        .unwrap()
        .iter()
        .map(|w| w.parse().unwrap())
        .collect();
    // Single precision is written with as few digits as tell it apart, so 0.1 stays 0.1.
    assert_eq!(first, [0.1, 1e20, 1.0, 2.0, 3.0, 4.0, -7.0, 0.0]);
    let second: Vec<f64> = lines
        .next()
        .unwrap()
        .iter()
        .map(|w| w.parse().unwrap())
        .collect();
    assert!(second[0].is_nan() && second[1].is_sign_negative());
    assert_eq!(second[2..], [5.0, 6.0, 7.0, 1e-300, 8.0, 1.0]);
    assert_eq!(lines.next(), None);
}
