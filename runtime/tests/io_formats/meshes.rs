//! PLY and OBJ.

use super::{Directory, column, lines, output};
use runtime::output::{Column, Domain, Length, Scalar, Values};
use std::collections::HashMap;

/// The elements of a PLY file: for each a list of rows of numbers by the names of the properties. A list of indices is that many
/// numbers of the row.
pub(super) fn read_ply(bytes: &[u8]) -> HashMap<String, (Vec<String>, Vec<Vec<f64>>)> {
    let end = b"end_header\n";
    let at = bytes.windows(end.len()).position(|w| w == end).unwrap();
    let header = std::str::from_utf8(&bytes[..at]).unwrap();
    let mut data = &bytes[at + end.len()..];
    let mut lines = header.lines();
    assert_eq!(lines.next(), Some("ply"));
    assert_eq!(lines.next(), Some("format binary_little_endian 1.0"));
    type Element = (String, usize, Vec<(String, String)>);
    let mut elements: Vec<Element> = Vec::new();
    for line in lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["element", name, count] => {
                elements.push((name.into(), count.parse().unwrap(), vec![]))
            }
            ["property", ty, name] => elements
                .last_mut()
                .unwrap()
                .2
                .push((ty.into(), name.into())),
            ["property", "list", "uchar", "int", name] => elements
                .last_mut()
                .unwrap()
                .2
                .push(("list".into(), name.into())),
            _ => panic!("{line}"),
        }
    }
    let mut read = HashMap::new();
    for (name, count, properties) in elements {
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = Vec::new();
            for (ty, _) in &properties {
                if ty == "list" {
                    let (list, rest) = data[1..].split_at(4 * usize::from(data[0]));
                    data = rest;
                    let index = |b: &[u8]| f64::from(i32::from_le_bytes(b.try_into().unwrap()));
                    row.extend(list.chunks(4).map(index));
                    continue;
                }
                let size = match ty.as_str() {
                    "uchar" => 1,
                    "float" | "int" => 4,
                    _ => 8,
                };
                let (number, rest) = data.split_at(size);
                data = rest;
                row.push(match ty.as_str() {
                    "uchar" => number[0].into(),
                    "float" => f32::from_le_bytes(number.try_into().unwrap()).into(),
                    "int" => i32::from_le_bytes(number.try_into().unwrap()).into(),
                    _ => f64::from_le_bytes(number.try_into().unwrap()),
                });
            }
            rows.push(row);
        }
        read.insert(
            name,
            (properties.into_iter().map(|(_, name)| name).collect(), rows),
        );
    }
    assert!(data.is_empty(), "{} bytes too many", data.len());
    read
}

#[test]
fn meshes_have_properties_colours_and_edges() {
    let dir = Directory::new("ply");
    let outs = [
        output("pos", &[3], Length::One, Scalar::Real),
        output("rgb", &[3], Length::One, Scalar::Real),
        output("t", &[2], Length::One, Scalar::Real),
    ];
    let columns = [
        column(&outs[0], Values::F32(&[1.0, 2.0, 3.0])),
        column(&outs[1], Values::F32(&[0.0, 0.5, 2.0])),
        column(&outs[2], Values::F32(&[0.25, -4.0])),
    ];
    let ply = read_ply(
        &dir.write("p.ply", &columns, &Domain::List(1), None)
            .unwrap(),
    );
    let (names, rows) = &ply["vertex"];
    assert_eq!(
        names,
        &["x", "y", "z", "red", "green", "blue", "t_0", "t_1"]
    );
    assert_eq!(
        rows[..],
        [vec![1.0, 2.0, 3.0, 0.0, 128.0, 255.0, 0.25, -4.0]]
    );
    let (outs, points, lengths) = lines();
    let columns = [
        Column {
            lengths: Some(&lengths),
            ..column(&outs[0], Values::F64(&points))
        },
        column(&outs[2], Values::I32(&[10, 11, 12])),
    ];
    let ply = read_ply(
        &dir.write("l.ply", &columns, &Domain::List(3), None)
            .unwrap(),
    );
    let seeds: Vec<f64> = ply["vertex"].1.iter().map(|row| row[3]).collect();
    assert_eq!(
        seeds,
        [10.0, 10.0, 12.0, 12.0, 12.0],
        "what a line has, its points have"
    );
    assert_eq!(
        ply["edge"].1,
        [vec![0.0, 1.0], vec![2.0, 3.0], vec![3.0, 4.0]]
    );
}
