//! Points, lines and grids for VTK.

use super::{Directory, column, lines, output};
use runtime::grid::Place;
use runtime::nrrd::Space;
use runtime::output::{Column, Domain, Length, Scalar, Values};
use std::collections::HashMap;

/// The elements of an XML file of VTK: names with attributes, in order; and the arrays by the element they stand in.
pub(super) struct Vtk {
    elements: Vec<(String, HashMap<String, String>)>,
    arrays: HashMap<(String, String), (String, usize, Vec<u8>)>,
}

pub(super) fn read_vtk(bytes: &[u8]) -> Vtk {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    let (xml, data) = (
        std::str::from_utf8(&bytes[..at]).unwrap(),
        &bytes[at + mark.len()..],
    );
    assert!(data.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
    let (mut elements, mut arrays, mut open) = (Vec::new(), HashMap::new(), Vec::<String>::new());
    for tag in xml.split('<').skip(1).filter(|tag| !tag.starts_with('?')) {
        let tag = tag.split('>').next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = HashMap::new();
        let mut parts = rest.trim_end_matches('/').split('"');
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            attributes.insert(
                key.trim().trim_end_matches('=').to_string(),
                value.to_string(),
            );
        }
        if name == "DataArray" {
            let offset: usize = attributes["offset"].parse().unwrap();
            let length = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
            let body = data[offset + 8..offset + 8 + length].to_vec();
            let components = attributes["NumberOfComponents"].parse().unwrap();
            let key = (open.last().unwrap().clone(), attributes["Name"].clone());
            arrays.insert(key, (attributes["type"].clone(), components, body));
        }
        if !tag.ends_with('/') {
            open.push(name.to_string());
        }
        elements.push((name.to_string(), attributes));
    }
    Vtk { elements, arrays }
}

impl Vtk {
    pub(super) fn attribute(&self, element: &str, name: &str) -> &str {
        let found = self.elements.iter().find(|(found, _)| found == element);
        &found.unwrap_or_else(|| panic!("no {element}")).1[name]
    }

    pub(super) fn numbers(&self, element: &str, name: &str) -> (usize, Vec<f64>) {
        let (ty, components, bytes) = &self.arrays[&(element.to_string(), name.to_string())];
        let numbers: Vec<f64> = match ty.as_str() {
            "Float32" => bytes
                .chunks(4)
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()).into())
                .collect(),
            "Float64" => bytes
                .chunks(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
                .collect(),
            "Int32" => bytes
                .chunks(4)
                .map(|b| i32::from_le_bytes(b.try_into().unwrap()).into())
                .collect(),
            "Int64" => bytes
                .chunks(8)
                .map(|b| i64::from_le_bytes(b.try_into().unwrap()) as f64)
                .collect(),
            "UInt8" => bytes.iter().map(|&b| b.into()).collect(),
            other => panic!("{other}"),
        };
        (*components, numbers)
    }
}

#[test]
fn points_carry_all_other_outputs() {
    let dir = Directory::new("vtp");
    let outs = [
        output("energy", &[], Length::One, Scalar::Real),
        output("pos", &[2], Length::One, Scalar::Real),
        output("dir", &[3], Length::One, Scalar::Real),
        output("id", &[], Length::One, Scalar::Int),
    ];
    let columns = [
        column(&outs[0], Values::F32(&[0.25, 0.5])),
        column(&outs[1], Values::F32(&[1.0, 2.0, 3.0, 4.0])),
        column(&outs[2], Values::F32(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0])),
        column(&outs[3], Values::I32(&[7, 8])),
    ];
    let vtk = read_vtk(
        &dir.write("p.vtp", &columns, &Domain::List(2), None)
            .unwrap(),
    );
    assert_eq!(vtk.attribute("VTKFile", "type"), "PolyData");
    assert_eq!(vtk.attribute("VTKFile", "header_type"), "UInt64");
    assert_eq!(
        (
            vtk.attribute("Piece", "NumberOfPoints"),
            vtk.attribute("Piece", "NumberOfVerts")
        ),
        ("2", "2")
    );
    assert_eq!(
        vtk.numbers("Points", "Points"),
        (3, vec![1.0, 2.0, 0.0, 3.0, 4.0, 0.0])
    );
    assert_eq!(vtk.numbers("PointData", "energy"), (1, vec![0.25, 0.5]));
    assert_eq!(vtk.numbers("PointData", "dir").0, 3);
    assert_eq!(vtk.numbers("PointData", "id"), (1, vec![7.0, 8.0]));
    assert_eq!(vtk.numbers("Verts", "connectivity").1, [0.0, 1.0]);
    assert_eq!(vtk.numbers("Verts", "offsets").1, [1.0, 2.0]);
    let mesh = dir.write("p.vtu", &columns, &Domain::List(2), None);
    let mesh = read_vtk(&mesh.unwrap());
    assert_eq!(mesh.attribute("VTKFile", "type"), "UnstructuredGrid");
    assert_eq!(mesh.attribute("Piece", "NumberOfCells"), "2");
    // Cells of type 1 are points.
    assert_eq!(mesh.numbers("Cells", "types").1, [1.0, 1.0]);
    assert_eq!(mesh.numbers("Cells", "offsets").1, [1.0, 2.0]);
    for name in ["energy", "dir", "id"] {
        let [own, other] = [&mesh, &vtk].map(|file| file.numbers("PointData", name));
        assert_eq!(own, other, "{name}");
    }
}

#[test]
fn sequences_of_vectors_are_lines() {
    let dir = Directory::new("lines");
    let (outs, points, lengths) = lines();
    let speeds = [0.1, 0.2, 0.3, 0.4, 0.5];
    let of = |output, values| Column {
        lengths: Some(&lengths[..]),
        ..column(output, values)
    };
    let columns = [
        of(&outs[0], Values::F64(&points)),
        of(&outs[1], Values::F64(&speeds)),
        column(&outs[2], Values::I32(&[10, 11, 12])),
    ];
    let domain = Domain::List(3);
    let vtk = read_vtk(&dir.write("l.vtp", &columns, &domain, None).unwrap());
    assert_eq!(
        (
            vtk.attribute("Piece", "NumberOfPoints"),
            vtk.attribute("Piece", "NumberOfLines")
        ),
        ("5", "2")
    );
    assert_eq!(vtk.numbers("Points", "Points"), (3, points.clone()));
    assert_eq!(
        vtk.numbers("Lines", "connectivity").1,
        [0.0, 1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(vtk.numbers("Lines", "offsets").1, [2.0, 5.0]);
    assert_eq!(vtk.numbers("PointData", "speed").1, speeds);
    assert_eq!(
        vtk.numbers("CellData", "seed").1,
        [10.0, 12.0],
        "a strand without points has no line"
    );
    let mesh = read_vtk(&dir.write("l.vtu", &columns, &domain, None).unwrap());
    assert_eq!(mesh.attribute("Piece", "NumberOfPoints"), "5");
    assert_eq!(mesh.attribute("Piece", "NumberOfCells"), "2");
    // Cells of type 4 are lines of many points.
    assert_eq!(mesh.numbers("Cells", "types").1, [4.0, 4.0]);
    assert_eq!(mesh.numbers("Cells", "offsets").1, [2.0, 5.0]);
    assert_eq!(
        mesh.numbers("Cells", "connectivity").1,
        [0.0, 1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(mesh.numbers("PointData", "speed").1, speeds);
    assert_eq!(mesh.numbers("CellData", "seed").1, [10.0, 12.0]);
    let text = String::from_utf8(dir.write("l.obj", &columns, &domain, None).unwrap()).unwrap();
    assert_eq!(
        text,
        "v 0 1 2\nv 3 4 5\nv 6 7 8\nv 9 10 11\nv 12 13 14\nl 1 2\nl 3 4 5\n"
    );
    // A sequence of another length has no place at the points.
    let other = Column {
        lengths: Some(&[2, 1, 2]),
        ..columns[1]
    };
    let error = dir
        .write("l.vtp", &[columns[0], other], &domain, None)
        .unwrap_err();
    assert!(
        error.contains("the sequences `path` and `speed` differ in length"),
        "{error}"
    );
}

#[test]
fn a_grid_for_vtk_is_where_the_strands_are() {
    let dir = Directory::new("vti");
    let out = output("v", &[], Length::One, Scalar::Real);
    let numbers: Vec<f32> = (0..24).map(|i| i as f32).collect();
    // A turned grid: x steps along (0, 2, 0), y along (-1, 0, 0), z along (0, 0, 3).
    let place = Place {
        space: Space::Dimension(3),
        directions: vec![
            vec![0.0, 2.0, 0.0],
            vec![-1.0, 0.0, 0.0],
            vec![0.0, 0.0, 3.0],
        ],
        origin: vec![10.0, 20.0, 30.0],
        units: Vec::new(),
    };
    let domain = Domain::Grid(vec![2, 3, 4]);
    let columns = [column(&out, Values::F32(&numbers))];
    let vtk = read_vtk(&dir.write("v.vti", &columns, &domain, Some(&place)).unwrap());
    let list = |name| -> Vec<f64> {
        vtk.attribute("ImageData", name)
            .split(' ')
            .map(|w| w.parse().unwrap())
            .collect()
    };
    assert_eq!(list("WholeExtent"), [0.0, 3.0, 0.0, 2.0, 0.0, 1.0]);
    let (origin, spacing, direction) = (list("Origin"), list("Spacing"), list("Direction"));
    // What VTK computes: origin + direction · (spacing × index).
    let world = |index: [f64; 3]| {
        [0, 1, 2].map(|r| {
            origin[r]
                + (0..3)
                    .map(|a| direction[3 * r + a] * spacing[a] * index[a])
                    .sum::<f64>()
        })
    };
    assert_eq!(world([0.0; 3]), [10.0, 20.0, 30.0]);
    assert_eq!(world([1.0, 2.0, 1.0]), [8.0, 22.0, 33.0]);
    assert_eq!(
        vtk.numbers("PointData", "v"),
        (1, numbers.iter().map(|&x| x.into()).collect())
    );
    let sheared = Place {
        directions: vec![
            vec![1.0, 0.0, 0.0],
            vec![1.0, 1.0, 0.0],
            vec![0.0, 0.0, 1.0],
        ],
        ..place
    };
    let error = dir
        .write("s.vti", &columns, &domain, Some(&sheared))
        .unwrap_err();
    assert!(error.contains(".nrrd"), "{error}");
    assert!(!dir.0.join("s.vti").exists());
    // Without a place, and with fewer axes, the rest is as it would be anywhere.
    let vtk = read_vtk(
        &dir.write("f.vti", &columns, &Domain::Grid(vec![24]), None)
            .unwrap(),
    );
    assert_eq!(vtk.attribute("ImageData", "WholeExtent"), "0 23 0 0 0 0");
    assert_eq!(vtk.attribute("ImageData", "Direction"), "1 0 0 0 1 0 0 0 1");
}
