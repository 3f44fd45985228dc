//! Meshes of triangles in all formats that hold them.

use super::meshes::read_ply;
use super::vtk::read_vtk;
use super::{Directory, column, output};
use runtime::output::triangles::{Precision, Triangles, mesh};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::reduce;
use std::collections::HashMap;

const FORMATS: [&str; 5] = ["m.ply", "m.stl", "m.obj", "m.vtp", "m.vtu"];

/// A mesh as a file has it: points and triangles.
#[derive(Debug, PartialEq)]
struct Read {
    points: Vec<[f64; 3]>,
    triangles: Vec<[usize; 3]>,
}

impl Read {
    /// Vertices - edges + faces; every edge has to belong to two triangles that pass it in opposite directions.
    fn euler(&self) -> i64 {
        let mut edges: HashMap<[usize; 2], i32> = HashMap::new();
        for [a, b, c] in &self.triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                *edges.entry([*from.min(to), *from.max(to)]).or_default() += 1;
                assert!(from != to);
            }
        }
        assert!(edges.values().all(|&count| count == 2), "it is closed");
        self.points.len() as i64 - edges.len() as i64 + self.triangles.len() as i64
    }

    fn corners(&self) -> Vec<[[f64; 3]; 3]> {
        let triangles = self.triangles.iter();
        triangles.map(|t| t.map(|n| self.points[n])).collect()
    }
}

fn threes<T: Copy, U>(numbers: &[T], convert: impl Fn(T) -> U) -> Vec<[U; 3]> {
    let rows = numbers.chunks_exact(3);
    rows.map(|row| [convert(row[0]), convert(row[1]), convert(row[2])])
        .collect()
}

fn read(name: &str, bytes: &[u8]) -> Read {
    match name.rsplit('.').next().unwrap() {
        "ply" => {
            let ply = read_ply(bytes);
            let rows = |element: &str| -> Vec<[f64; 3]> {
                let rows = ply[element].1.iter();
                rows.map(|row| [row[0], row[1], row[2]]).collect()
            };
            Read {
                points: rows("vertex"),
                triangles: rows("face").iter().map(|t| t.map(|n| n as usize)).collect(),
            }
        }
        "stl" => read_stl(bytes),
        "obj" => {
            let text = std::str::from_utf8(bytes).unwrap();
            let words = |kind: &'static str| {
                let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
                lines.filter(move |words| words[0] == kind)
            };
            let index = |word: &str| word.split('/').next().unwrap().parse::<usize>().unwrap() - 1;
            Read {
                points: words("v")
                    .map(|w| [1, 2, 3].map(|k| w[k].parse().unwrap()))
                    .collect(),
                triangles: words("f").map(|w| [1, 2, 3].map(|k| index(w[k]))).collect(),
            }
        }
        suffix => {
            let vtk = read_vtk(bytes);
            let (ty, element, count) = match suffix {
                "vtp" => ("PolyData", "Polys", "NumberOfPolys"),
                _ => ("UnstructuredGrid", "Cells", "NumberOfCells"),
            };
            assert_eq!(vtk.attribute("VTKFile", "type"), ty);
            let (_, points) = vtk.numbers("Points", "Points");
            let (_, corners) = vtk.numbers(element, "connectivity");
            let (_, ends) = vtk.numbers(element, "offsets");
            assert_eq!(vtk.attribute("Piece", count), ends.len().to_string());
            assert!((1..).zip(&ends).all(|(n, end)| f64::from(3 * n) == *end));
            if suffix == "vtu" {
                assert_eq!(vtk.numbers("Cells", "types"), (1, vec![5.0; ends.len()]));
            }
            Read {
                points: threes(&points, |x| x),
                triangles: threes(&corners, |n| n as usize),
            }
        }
    }
}

/// The triangles of an STL file, whose points have no numbers: equal ones are put together here.
fn read_stl(bytes: &[u8]) -> Read {
    let count = u32::from_le_bytes(bytes[80..84].try_into().unwrap()) as usize;
    assert!(!bytes.starts_with(b"solid"));
    assert_eq!(bytes.len(), 84 + 50 * count);
    let (mut points, mut triangles) = (Vec::<[f64; 3]>::new(), Vec::new());
    for triangle in bytes[84..].chunks_exact(50) {
        let number = |k: usize| f32::from_le_bytes(triangle[4 * k..4 * k + 4].try_into().unwrap());
        let vector = |k: usize| [3 * k, 3 * k + 1, 3 * k + 2].map(|k| f64::from(number(k)));
        let [normal, a, b, c] = [vector(0), vector(1), vector(2), vector(3)];
        for (from, to) in [(a, b), (a, c)] {
            let along: f64 = (0..3).map(|k| normal[k] * (to[k] - from[k])).sum();
            assert!(along.abs() < 1e-6, "at right angles");
        }
        assert!((normal.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-6);
        triangles.push([a, b, c].map(|corner| {
            let known = points.iter().position(|point| *point == corner);
            known.unwrap_or_else(|| {
                points.push(corner);
                points.len() - 1
            })
        }));
    }
    Read { points, triangles }
}

/// A sphere by parts of an octahedron, with the corners of each triangle computed again: 8 · 4ⁿ triangles, counterclockwise from
/// outside.
fn sphere(n: u32) -> Vec<[[f64; 3]; 3]> {
    let mut triangles = Vec::new();
    for signs in 0..8 {
        let [x, y, z] = [1, 2, 4].map(|bit| if signs & bit == 0 { 1.0 } else { -1.0 });
        let (a, b, c) = ([x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]);
        triangles.push(if x * y * z > 0.0 {
            [a, b, c]
        } else {
            [a, c, b]
        });
    }
    let middle = |p: [f64; 3], q: [f64; 3]| {
        let sum = [0, 1, 2].map(|k| p[k] + q[k]);
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        sum.map(|x| x / length)
    };
    for _ in 0..n {
        let parts = |[a, b, c]: [[f64; 3]; 3]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        triangles = triangles.into_iter().flat_map(parts).collect();
    }
    triangles
}

fn flat(triangles: &[[[f64; 3]; 3]]) -> Vec<f64> {
    triangles.iter().flatten().flatten().copied().collect()
}

fn sequences<'a>(output: &'a Output, values: Values<'a>, lengths: &'a [usize]) -> Column<'a> {
    Column {
        lengths: Some(lengths),
        ..column(output, values)
    }
}

fn surface(name: &str) -> Output {
    output(name, &[3, 3], Length::Dynamic, Scalar::Real)
}

#[test]
fn closed_surfaces_stay_closed_in_every_format_and_precision() {
    let dir = Directory::new("spheres");
    let out = surface("surface");
    for n in 0..3 {
        let truth = sphere(n);
        let count = truth.len();
        let doubles = flat(&truth);
        let singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
        let lengths = [1, 0, count - 4, 3];
        for name in FORMATS {
            let domain = Domain::List(4);
            let write = |values: Values<'_>, lengths: &[usize]| {
                let columns = [sequences(&out, values, lengths)];
                dir.write(name, &columns, &domain, None).unwrap()
            };
            let bytes = write(Values::F64(&doubles), &lengths);
            assert!(bytes == write(Values::F64(&doubles), &[count, 0, 0, 0]));
            let (double, single) = (
                read(name, &bytes),
                read(name, &write(Values::F32(&singles), &lengths)),
            );
            for mesh in [&double, &single] {
                assert_eq!((mesh.triangles.len(), mesh.euler()), (count, 2), "{name}");
            }
            let single_of = |corners: &[[[f64; 3]; 3]]| -> Vec<_> {
                let round = |x: f64| f64::from(x as f32);
                corners.iter().map(|t| t.map(|p| p.map(round))).collect()
            };
            let rounded = single_of(&truth);
            assert_eq!(single_of(&single.corners()), rounded);
            let is_single = name == "m.stl";
            assert_eq!(
                double.corners(),
                if is_single { rounded } else { truth.clone() }
            );
        }
    }
}

#[test]
fn outputs_become_data_of_corners_or_triangles_by_their_lengths_and_shapes() {
    let dir = Directory::new("data");
    let dynamic = |name: &str, shape: &[usize]| output(name, shape, Length::Dynamic, Scalar::Real);
    let outs = [
        dynamic("area", &[]),
        surface("normals"),
        surface("triangles"),
        dynamic("height", &[]),
        dynamic("flow", &[3]),
        output("cell", &[], Length::One, Scalar::Int),
        output("weights", &[], Length::Fixed(2), Scalar::Real),
    ];
    // The sphere of radius 1: normals are positions. One triangle more has two equal corners.
    let mut corners = sphere(1);
    corners.insert(2, [[1.0; 3], [0.0; 3], [1.0; 3]]);
    let count = corners.len();
    let lengths = [2, 4, 0, count - 6];
    let triangles = flat(&corners);
    let areas: Vec<f64> = (0..count).map(|n| n as f64).collect();
    let heights: Vec<f64> = corners.iter().flatten().map(|p| p[2]).collect();
    let flow: Vec<f64> = corners.iter().flat_map(|t| t[0]).collect();
    let of_corners = lengths.map(|n| 3 * n);
    let columns = [
        sequences(&outs[0], Values::F64(&areas), &lengths),
        sequences(&outs[1], Values::F64(&triangles), &lengths),
        sequences(&outs[2], Values::F64(&triangles), &lengths),
        sequences(&outs[3], Values::F64(&heights), &of_corners),
        sequences(&outs[4], Values::F64(&flow), &lengths),
        column(&outs[5], Values::I32(&[7, 8, 9, 10])),
        column(
            &outs[6],
            Values::F32(&[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]),
        ),
    ];
    let kept: Vec<usize> = (0..count).filter(|&n| n != 2).collect();
    let strand = |n: usize| [0, 0, 1, 1, 1, 1].get(n).copied().unwrap_or(3);
    let domain = Domain::List(4);
    for name in ["m.vtp", "m.vtu"] {
        let bytes = dir.write(name, &columns, &domain, None).unwrap();
        let mesh = read(name, &bytes);
        assert_eq!((mesh.triangles.len(), mesh.euler()), (count - 1, 2));
        let vtk = read_vtk(&bytes);
        let points: Vec<f64> = mesh.points.iter().flatten().copied().collect();
        assert_eq!(vtk.numbers("PointData", "normals"), (3, points));
        assert_eq!(vtk.attribute("PointData", "Normals"), "normals");
        let heights: Vec<f64> = mesh.points.iter().map(|p| p[2]).collect();
        assert_eq!(vtk.numbers("PointData", "height"), (1, heights));
        let areas: Vec<f64> = kept.iter().map(|&n| n as f64).collect();
        assert_eq!(vtk.numbers("CellData", "area"), (1, areas));
        let flow: Vec<f64> = kept.iter().flat_map(|&n| corners[n][0]).collect();
        assert_eq!(vtk.numbers("CellData", "flow"), (3, flow));
        let cells: Vec<f64> = kept.iter().map(|&n| 7.0 + strand(n) as f64).collect();
        assert_eq!(vtk.numbers("CellData", "cell"), (1, cells));
        let weights = kept.iter().map(|&n| 0.5 + 2.0 * strand(n) as f64);
        let weights: Vec<f64> = weights.flat_map(|w| [w, w + 1.0]).collect();
        assert_eq!(vtk.numbers("CellData", "weights"), (2, weights));
    }
    let ply = read_ply(&dir.write("m.ply", &columns, &domain, None).unwrap());
    let (names, rows) = &ply["vertex"];
    assert_eq!(names, &["x", "y", "z", "nx", "ny", "nz", "height"]);
    assert!(rows.iter().all(|r| r[..3] == r[3..6] && r[2] == r[6]));
    let (names, rows) = &ply["face"];
    let data = [
        "area",
        "flow_0",
        "flow_1",
        "flow_2",
        "cell",
        "weights_0",
        "weights_1",
    ];
    assert_eq!(names[0], "vertex_indices");
    assert_eq!(names[1..], data);
    assert_eq!(rows[2][3..5], [3.0, corners[3][0][0]]);
    let obj = String::from_utf8(dir.write("m.obj", &columns, &domain, None).unwrap()).unwrap();
    let numbers =
        |word: &str| -> Vec<&str> { obj.lines().filter_map(|l| l.strip_prefix(word)).collect() };
    assert_eq!(numbers("v "), numbers("vn "));
    assert_eq!(numbers("f ")[0], "1//1 2//2 3//3");
}

#[test]
fn equal_corners_are_one_point_and_its_data_are_those_of_the_first() {
    let (out, data) = (surface("triangles"), surface("velocity"));
    let next = |x: f64| f64::from_bits(x.to_bits() + 1);
    let corners = [
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[-0.0, 0.0, -0.0], [0.0, 1.0, 0.0], [next(1.0), 0.0, 0.0]],
        [[0.0, 1.0, 0.0], [5.0, 5.0, 5.0], [-0.0, 1.0, -0.0]],
    ];
    let values = flat(&corners);
    let velocity: Vec<f64> = (0..27).map(f64::from).collect();
    let columns = [
        sequences(&out, Values::F64(&values), &[2, 1]),
        sequences(&data, Values::F64(&velocity), &[2, 1]),
    ];
    let made: Triangles = mesh(&columns, None, Precision::Given).unwrap();
    assert_eq!(made.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!((made.degenerate, made.point_count()), (1, 4));
    let reduce::Values::F64(points) = &made.points else {
        panic!("double precision")
    };
    assert!(points.iter().all(|x| x.is_sign_positive()));
    let first = [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17].map(f64::from);
    assert_eq!(
        made.of_points[0].values,
        reduce::Values::F64(first.to_vec())
    );
    assert_eq!(made.of_points[0].shape, [3]);
    // What differs in the last bit of double precision is the same in single precision.
    let made = mesh(&columns, None, Precision::Single).unwrap();
    assert_eq!(made.triangles, [[0, 1, 2], [0, 2, 1]]);
}

#[test]
fn planar_triangles_and_meshes_without_any_are_written_too() {
    let dir = Directory::new("planar");
    let planar = output("t", &[3, 2], Length::Dynamic, Scalar::Real);
    let square = [
        0.0_f32, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0,
    ];
    for name in FORMATS {
        let columns = [sequences(&planar, Values::F32(&square), &[1, 1])];
        let bytes = dir.write(name, &columns, &Domain::Grid(vec![2]), None);
        let mesh = read(name, &bytes.unwrap());
        let wanted = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        assert_eq!(mesh.points, wanted.map(|[x, y]| [x, y, 0.0]));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        let columns = [sequences(&planar, Values::F32(&[]), &[0, 0])];
        let bytes = dir.write(name, &columns, &Domain::List(2), None);
        let empty = read(name, &bytes.unwrap());
        assert_eq!((empty.points.len(), empty.triangles.len()), (0, 0));
    }
}

#[test]
fn sequences_of_other_lengths_are_refused() {
    let dir = Directory::new("lengths");
    let (out, data) = (
        surface("triangles"),
        output("w", &[], Length::Dynamic, Scalar::Real),
    );
    let values = flat(&sphere(0));
    let write = |lengths: &[usize]| {
        let count = lengths.iter().sum();
        let weights = vec![0.5; count];
        let columns = [
            sequences(&out, Values::F64(&values), &[5, 3]),
            sequences(&data, Values::F64(&weights), lengths),
        ];
        dir.write("m.vtp", &columns, &Domain::List(2), None)
    };
    assert!(write(&[5, 3]).is_ok() && write(&[15, 9]).is_ok());
    for wrong in [&[4, 4][..], &[5, 9], &[8]] {
        let error = write(wrong).unwrap_err();
        assert!(
            error.contains("`w` do not fit those of `triangles`"),
            "{error}"
        );
    }
}
