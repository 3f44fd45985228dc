//! Arrays and tables.

use super::{Directory, column, output};
use runtime::output::{Domain, Length, Scalar, Values};

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
