//! Points, lines, grids, arrays, tables and films: what is written is read back by small readers that know the formats from
//! their own descriptions and nothing of the writers.

use runtime::nrrd::Space;
use runtime::output::film::Film;
use runtime::output::format::Destination;
use runtime::output::place::Place;
use runtime::output::write::{Contents, Style, write};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values};
use runtime::png::{self, Range};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("formats-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(
        &self,
        name: &str,
        columns: &[Column<'_>],
        domain: &Domain,
        place: Option<&Place>,
    ) -> Result<Vec<u8>, String> {
        let file = self.0.join(name).display().to_string();
        let contents = Contents {
            columns,
            domain,
            place,
        };
        let written = write(
            &Destination::parse(&file)?,
            None,
            contents,
            &Style::default(),
        );
        written.map_err(|e| e.to_string())?;
        Ok(std::fs::read(file).unwrap())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn output(name: &str, shape: &[usize], length: Length, scalar: Scalar) -> Output {
    Output {
        name: name.into(),
        shape: shape.to_vec(),
        length,
        scalar,
    }
}

fn column<'a>(output: &'a Output, values: Values<'a>) -> Column<'a> {
    Column {
        output,
        values,
        lengths: None,
        range: Range::Usual,
    }
}

// ---------------------------------------------------------------------------------------------------------------- NumPy

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

// ------------------------------------------------------------------------------------------------------------------ CSV

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

// ------------------------------------------------------------------------------------------------------------------ VTK

/// The elements of an XML file of VTK: names with attributes, in order; and the arrays by the element they stand in.
struct Vtk {
    elements: Vec<(String, HashMap<String, String>)>,
    arrays: HashMap<(String, String), (String, usize, Vec<u8>)>,
}

fn read_vtk(bytes: &[u8]) -> Vtk {
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
    fn attribute(&self, element: &str, name: &str) -> &str {
        let found = self.elements.iter().find(|(found, _)| found == element);
        &found.unwrap_or_else(|| panic!("no {element}")).1[name]
    }

    fn numbers(&self, element: &str, name: &str) -> (usize, Vec<f64>) {
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
}

/// Three strands, the second without points.
fn lines() -> ([Output; 3], Vec<f64>, [usize; 3]) {
    let outs = [
        output("path", &[3], Length::Dynamic, Scalar::Real),
        output("speed", &[], Length::Dynamic, Scalar::Real),
        output("seed", &[], Length::One, Scalar::Int),
    ];
    (outs, (0..15).map(f64::from).collect(), [2, 0, 3])
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

// ------------------------------------------------------------------------------------------------------------------ PLY

/// The elements of a PLY file: for each a list of rows of numbers by the names of the properties.
fn read_ply(bytes: &[u8]) -> HashMap<String, (Vec<String>, Vec<Vec<f64>>)> {
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
            _ => panic!("{line}"),
        }
    }
    let mut read = HashMap::new();
    for (name, count, properties) in elements {
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = Vec::new();
            for (ty, _) in &properties {
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

// ---------------------------------------------------------------------------------------------------------------- grids

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

// ---------------------------------------------------------------------------------------------------------------- films

/// The pictures of an animated PNG, as still ones, and the duration of each.
fn read_apng(bytes: &[u8]) -> Vec<(png::Png, f64)> {
    let mut rest = &bytes[8..];
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let (chunk, after) = rest.split_at(12 + length);
        let mut sum = flate2::Crc::new();
        sum.update(&chunk[4..8 + length]);
        assert_eq!(chunk[8 + length..], sum.sum().to_be_bytes());
        chunks.push((chunk[4..8].to_vec(), chunk[8..8 + length].to_vec()));
        rest = after;
    }
    let put = |out: &mut Vec<u8>, name: &[u8], data: &[u8]| {
        out.extend((data.len() as u32).to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(data);
        out.extend([name, data, &sum.sum().to_be_bytes()].concat());
    };
    assert_eq!(
        (&chunks[0].0[..], &chunks[1].0[..]),
        (&b"IHDR"[..], &b"acTL"[..])
    );
    let count = u32::from_be_bytes(chunks[1].1[..4].try_into().unwrap());
    let (mut found, mut delay, mut expected) = (Vec::new(), 0.0, 0_u32);
    let mut number = |data: &[u8]| {
        assert_eq!(data[..4], expected.to_be_bytes(), "chunks are numbered");
        expected += 1;
    };
    for (name, data) in &chunks[2..] {
        match &name[..] {
            b"fcTL" => {
                number(data);
                let half = |at: usize| f64::from(u16::from_be_bytes([data[at], data[at + 1]]));
                delay = half(20) / half(22);
            }
            b"IDAT" | b"fdAT" => {
                let pixels = if name == b"fdAT" {
                    number(data);
                    &data[4..]
                } else {
                    data
                };
                let mut still = bytes[..8].to_vec();
                put(&mut still, b"IHDR", &chunks[0].1);
                put(&mut still, b"IDAT", pixels);
                put(&mut still, b"IEND", &[]);
                found.push((png::decode(&still).unwrap(), delay));
            }
            other => assert_eq!(other, b"IEND"),
        }
    }
    assert_eq!(found.len(), count as usize);
    found
}

#[test]
fn a_film_has_the_pictures_that_were_put_into_it() {
    let dir = Directory::new("film");
    let out = output("v", &[3], Length::One, Scalar::Real);
    let domain = Domain::Grid(vec![2, 5]);
    for name in ["f.apng", "f.y4m"] {
        let file = dir.0.join(name).display().to_string();
        let mut film = Film::new(&Destination::parse(&file).unwrap(), 20.0);
        for frame in 0..3 {
            let values: Vec<f32> = (0..30).map(|i| (i + frame) as f32 / 255.0).collect();
            let columns = [column(&out, Values::F32(&values))];
            let contents = Contents {
                columns: &columns,
                domain: &domain,
                place: None,
            };
            film.add(contents, &Style::default()).unwrap();
            assert!(!Path::new(&file).exists(), "it appears when it is complete");
        }
        let other = [0.0_f32; 3];
        let columns = [column(&out, Values::F32(&other))];
        let contents = Contents {
            columns: &columns,
            domain: &Domain::Grid(vec![1, 1]),
            place: None,
        };
        assert!(
            film.add(contents, &Style::default()).is_err(),
            "pictures are alike"
        );
        film.finish().unwrap();
    }
    let frames = read_apng(&std::fs::read(dir.0.join("f.apng")).unwrap());
    for (n, (png, delay)) in frames.iter().enumerate() {
        let expected: Vec<u16> = (0..30).map(|i| i + n as u16).collect();
        assert_eq!(
            (png.width(), png.height(), png.samples(), *delay),
            (5, 2, &expected[..], 0.05)
        );
    }
    assert_eq!(frames.len(), 3);
    let stream = std::fs::read(dir.0.join("f.y4m")).unwrap();
    let end = stream.iter().position(|&b| b == b'\n').unwrap();
    assert_eq!(&stream[..end], b"YUV4MPEG2 W5 H2 F20000:1000 Ip A1:1 C444");
    assert_eq!(stream.len() - end - 1, 3 * (6 + 3 * 10));
    assert_eq!(
        std::fs::read_dir(&dir.0).unwrap().count(),
        2,
        "nothing else is left"
    );
}
