//! The memory that a large mesh takes, counted by the allocator: while its file is read, while the mesh is made, and at rest.

#[path = "../nrrd/tests/counting/mod.rs"]
mod counting;

use counting::{alone, peak_of};
use runtime::fem::{Choice, FemFile, FemValues, Mesh};
use runtime::simd::Real;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Cubes along an edge of the box; each is six tetrahedra.
const EDGE: usize = 32;
const CELLS: usize = 6 * EDGE * EDGE * EDGE;

/// Bytes per cell at most in all, as for 10 million tetrahedra in 2 GB, and what does not grow with the mesh.
const PER_CELL: usize = 200;
const FIXED: usize = 1 << 20;

/// The axes in the order in which the edges of a tetrahedron go through its cube.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The widths of integers that VTK writes, with the names of their types.
const WIDTHS: [(usize, &str); 2] = [(4, "Int32"), (8, "Int64")];

/// Numbers in base 64 after their length in bytes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let length = (bytes.len() as u64).to_le_bytes();
    let all = [&length[..], bytes].concat();
    let mut text = String::new();
    for three in all.chunks(3) {
        let mut word = [0; 4];
        word[1..=three.len()].copy_from_slice(three);
        let word = u32::from_be_bytes(word);
        for n in 0..4 {
            text.push(match n <= three.len() {
                true => char::from(DIGITS[(word >> (18 - 6 * n) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

/// A file of the box, its arrays as bytes behind the XML or as text within it.
fn write(name: &str, (width, ints): (usize, &str), appended: bool) -> PathBuf {
    let side = EDGE + 1;
    let at = |[x, y, z]: [usize; 3]| (z * side + y) * side + x;
    let mut points: Vec<f32> = Vec::new();
    for n in 0..side * side * side {
        let place = [n % side, n / side % side, n / side / side];
        points.extend(place.map(|i| i as f32 / EDGE as f32));
    }
    let values: Vec<f32> = points.chunks_exact(3).map(|p| p[0] + p[1] * p[2]).collect();
    let mut nodes: Vec<u64> = Vec::new();
    for n in 0..EDGE * EDGE * EDGE {
        let low = [n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE];
        for axes in ORDERS {
            let mut corner = low;
            nodes.push(at(corner) as u64);
            for axis in axes {
                corner[axis] += 1;
                nodes.push(at(corner) as u64);
            }
        }
    }
    let whole = |numbers: &[u64]| -> Vec<u8> {
        let bytes = numbers.iter().map(|n| n.to_le_bytes());
        bytes.flat_map(|b| b.into_iter().take(width)).collect()
    };
    let reals =
        |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let ends: Vec<u64> = (1..CELLS as u64 + 1).map(|n| 4 * n).collect();
    let (mut text, mut data) = (String::new(), Vec::new());
    let mut array = |text: &mut String, head: &str, bytes: &[u8]| {
        let _ = match appended {
            true => write!(
                text,
                "<DataArray {head} format=\"appended\" offset=\"{}\"/>",
                data.len()
            ),
            false => write!(
                text,
                "<DataArray {head} format=\"binary\">{}</DataArray>",
                base64(bytes)
            ),
        };
        data.extend((bytes.len() as u64).to_le_bytes());
        data.extend(bytes);
    };
    text.push_str("<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">");
    let _ = write!(
        text,
        "<UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{CELLS}\"><PointData>",
        values.len()
    );
    array(&mut text, "type=\"Float32\" Name=\"T\"", &reals(&values));
    text.push_str("</PointData><Points>");
    array(
        &mut text,
        "type=\"Float32\" NumberOfComponents=\"3\"",
        &reals(&points),
    );
    text.push_str("</Points><Cells>");
    let named = |name: &str| format!("type=\"{ints}\" Name=\"{name}\"");
    array(&mut text, &named("connectivity"), &whole(&nodes));
    array(&mut text, &named("offsets"), &whole(&ends));
    array(&mut text, "type=\"UInt8\" Name=\"types\"", &vec![10; CELLS]);
    text.push_str("</Cells></Piece></UnstructuredGrid>");
    let mut file = text.into_bytes();
    if appended {
        file.extend(b"<AppendedData encoding=\"raw\">_");
        file.extend(data);
        file.extend(b"</AppendedData>");
    }
    file.extend(b"</VTKFile>");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, file).expect("a file of the test");
    path
}

#[test]
fn a_mesh_of_tetrahedra_takes_few_bytes_per_cell() {
    let _alone = alone();
    let choice = Choice {
        array: None,
        variable: "T",
        shape: &[],
    };
    for integers in WIDTHS {
        for appended in [true, false] {
            let name = format!("memory-{}-{appended}.vtu", integers.1);
            let path = write(&name, integers, appended);
            let most = PER_CELL * CELLS + FIXED;
            let mut made = None;
            let peak = peak_of(|| {
                let file = FemFile::read(&path).unwrap_or_else(|e| panic!("{e}"));
                let mesh = Mesh::new(&file, 3, Real::F32).unwrap_or_else(|e| panic!("{e}"));
                let values = FemValues::new(&mesh, &file, &choice);
                made = Some((mesh, values.unwrap_or_else(|e| panic!("{e}"))));
            });
            let (mesh, _) = made.as_ref().expect("a mesh");
            println!(
                "{name}: {} bytes per cell, {} of the mesh",
                peak / CELLS,
                mesh.bytes() / CELLS
            );
            assert_eq!(mesh.cells(), CELLS);
            assert!(peak <= most, "{name}: {peak} bytes for {CELLS} cells");
            // Cells are found where they are.
            for n in 0..2000 {
                let x = [0.414_213_562, 0.732_050_807, 0.236_067_977]
                    .map(|a: f64| (a * f64::from(n)).fract());
                let Some(wanted) = number(&x) else {
                    continue;
                };
                let found = mesh.locate(&x, None).map(|found| mesh.number(found.cell));
                assert_eq!(found, Some(wanted), "{x:?}");
            }
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The number in the file of the tetrahedron of a position: the cube, and in it the order of the coordinates from the largest. Nothing
/// near faces, which several share.
fn number(x: &[f64; 3]) -> Option<u32> {
    let at = x.map(|x| x * EDGE as f64);
    let [i, j, k] = at.map(|x| x as usize);
    let within = at.map(f64::fract);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| within[b].total_cmp(&within[a]));
    let [first, second, third] = order.map(|axis| within[axis]);
    let gaps = [1.0 - first, first - second, second - third, third];
    let place = ORDERS.iter().position(|known| *known == order)?;
    let clear = gaps.iter().all(|gap| *gap > 1e-3);
    clear.then_some((6 * ((k * EDGE + j) * EDGE + i) + place) as u32)
}
