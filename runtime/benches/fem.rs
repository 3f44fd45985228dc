//! Fields on a mesh of 196,608 tetrahedra: nanoseconds per probe of value and gradient, in double precision, on one thread.
//!
//! Rays are 500 steps of 0.002 along an axis, a sixteenth of a cell's edge each; random positions are anywhere. Sixteen strands are probed
//! together, each from the cell in which it was last. The best of many short runs counts, so other work on the machine does
//! not.
//!
//! ```text
//! cargo bench -p diderot-runtime --bench fem
//! ```
//!
//! `fem_vtk.py` runs it beside VTK's probe filter.

use runtime::fem::{
    ArrayPlace, Choice, Element, FemArray, FemFile, FemValues, FemWanted, FileCell, Mesh, Outside,
};
use runtime::simd::Real;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CUBES: usize = 32;
const WIDTH: usize = 16;

fn main() {
    println!(
        "{:12} {:>8} {:>10} {:>8}",
        "ns per probe", "rays", "random", "load ms"
    );
    for (name, element, bend) in [
        ("P1", "tet-p1", 0.0),
        ("P2", "tet-p2", 0.0),
        ("P2 curved", "tet-p2", 1.0),
    ] {
        let file = mesh_file(Element::named(element).expect("an element"), bend);
        let start = Instant::now();
        let mesh = Mesh::new(&file, 3, Real::F64).expect("a mesh");
        let choice = Choice {
            array: Some("u"),
            variable: "",
            shape: &[],
        };
        let values = FemValues::new(&mesh, &file, &choice).expect("values");
        let load = start.elapsed();
        let wanted = [FemWanted {
            values: Arc::new(values),
            orders: 0b11,
            outside: Outside::Nan,
        }];
        let rays = measure(&mesh, &wanted, bend, |n, lane| {
            let step = n % 500;
            let ray = (n / 500 * WIDTH + lane) as f64;
            let across = |k: f64| 0.05 + 0.9 * (ray * k).fract();
            [
                0.0005 + 0.002 * step as f64,
                across(0.618_033_988_7),
                across(0.754_877_666_2),
            ]
        });
        let random = measure(&mesh, &wanted, bend, |n, lane| {
            let seed = (n * WIDTH + lane) as f64;
            [0.618_033_988_7, 0.754_877_666_2, 0.819_172_513_4]
                .map(|k| 0.001 + 0.998 * (seed * k).fract())
        });
        let load = load.as_secs_f64() * 1e3;
        println!("{name:12} {rays:8.0} {random:10.0} {load:8.0}");
    }
}

/// Nanoseconds per probe: the best of many runs of 100 steps of all lanes.
fn measure(
    mesh: &Mesh,
    wanted: &[FemWanted],
    bend: f64,
    position: impl Fn(usize, usize) -> [f64; 3],
) -> f64 {
    let mut best = Duration::MAX;
    let mut hints = [0_u32; WIDTH];
    let mut sum = 0.0;
    for run in 0..500 {
        let positions: Vec<[f64; 3 * WIDTH]> = (0..100)
            .map(|n| {
                let mut planes = [0.0; 3 * WIDTH];
                for lane in 0..WIDTH {
                    let x = bent(position(run * 100 + n, lane), bend);
                    for (axis, x) in x.into_iter().enumerate() {
                        planes[axis * WIDTH + lane] = x;
                    }
                }
                planes
            })
            .collect();
        let (mut reference, mut out) = ([0.0; 3 * WIDTH], [0.0; 4 * WIDTH]);
        let lanes = (0xffff, WIDTH);
        let start = Instant::now();
        for at in &positions {
            // SAFETY: all planes have the width, and there are as many as the calls want.
            unsafe {
                let cells = mesh.locate_lanes(
                    lanes,
                    at.as_ptr(),
                    hints.as_mut_ptr(),
                    reference.as_mut_ptr(),
                );
                mesh.probe_lanes(wanted, lanes, &cells, reference.as_ptr(), out.as_mut_ptr());
            }
            sum += out[0] + out[4 * WIDTH - 1];
        }
        best = best.min(start.elapsed());
    }
    assert!(sum.is_finite(), "every position is inside");
    best.as_nanos() as f64 / (100 * WIDTH) as f64
}

fn bent([x, y, z]: [f64; 3], by: f64) -> [f64; 3] {
    [x, y + by * x * x / 4.0, z + by * x * y / 4.0]
}

/// A unit cube of cubes in six tetrahedra each, inner corners moved by up to 15 % of an edge, bent.
fn mesh_file(element: &'static Element, bend: f64) -> FemFile {
    let corner = |at: [usize; 3]| -> [f64; 3] {
        let mut seed = (at[0] * 1009 + at[1]) * 1013 + at[2];
        at.map(|n| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let unit = (seed >> 40) as f64 / (1_u64 << 24) as f64;
            let off = if n > 0 && n < CUBES {
                0.3 * unit - 0.15
            } else {
                0.0
            };
            (n as f64 + off) / CUBES as f64
        })
    };
    let paths = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [1, 0, 2],
        [2, 1, 0],
    ];
    let mut file = FemFile::default();
    let mut values = Vec::new();
    for cube in 0..CUBES * CUBES * CUBES {
        let low = [cube % CUBES, cube / CUBES % CUBES, cube / CUBES / CUBES];
        for path in paths {
            let mut at = low;
            let mut corners = vec![corner(at)];
            for axis in path {
                at[axis] += 1;
                corners.push(corner(at));
            }
            file.cells.push(FileCell {
                element,
                first: file.connectivity.len(),
                number: file.cells.len() as u32,
            });
            for n in 0..element.nodes().len() {
                let xi = element.node(n);
                let weights = [1.0 - xi.iter().sum::<f64>(), xi[0], xi[1], xi[2]];
                let straight =
                    std::array::from_fn(|i| (0..4).map(|c| weights[c] * corners[c][i]).sum());
                let x = bent(straight, bend);
                file.connectivity.push(file.points.len() as u32);
                file.points.push(x);
                values.push((3.0 * x[0]).sin() * (2.0 * x[1]).cos() + x[2] * x[2]);
            }
        }
    }
    file.arrays.push(FemArray {
        name: "u".to_string(),
        place: ArrayPlace::Points,
        components: 1,
        values,
    });
    file
}
