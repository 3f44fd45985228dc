//! Fields on meshes: kernels for generated meshes of every element, straight, shaken and bent, give the bits of the CPU at random
//! positions, along rays, on faces and outside.

#[path = "../../../runtime/tests/fem/meshes.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod generated;

use crate::{machine::Interpreter, program, stages::Case};
use compiler::{
    codegen::Target,
    front::source::Source,
    pipeline::Options,
    run::{FemSource, Inputs, Run},
};
use generated::{grid, with_array};
use runtime::fem::{ArrayPlace, CellKind, ELEMENTS, Element, FemArray, FemFile, FileCell};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// How strands look at a mesh.
#[derive(Clone, Copy)]
struct Looks {
    /// Positions of one strand.
    steps: usize,
    /// Strands.
    strands: usize,
    /// The highest order of derivatives.
    order: usize,
    /// Whether coordinates are multiples of an eighth, many of them on faces and corners.
    on_faces: bool,
    /// Another number for other positions.
    seed: u64,
}

const LOOKS: Looks = Looks {
    steps: 12,
    strands: 40,
    order: 1,
    on_faces: false,
    seed: 0,
};

/// A program whose strands walk through a mesh and a little way out of it.
fn text(dim: usize, looks: Looks) -> String {
    let Looks {
        steps,
        strands,
        order,
        on_faces,
        seed,
    } = looks;
    let parts = if on_faces { 8.0 } else { 1009.0 };
    let coordinate = |axis: usize, what: u64| {
        let factor = 7919 + 31 * axis as u64 + 977 * what;
        format!("(((i + {}) * {factor}) % 1009)/1009.0", seed % 1000)
    };
    let vector = |what: u64, scale: f64, off: f64| {
        let all = (0..dim).map(|axis| match on_faces {
            true => format!(
                "floor({parts:?}*{scale:?}*{} + {off:?}*{parts:?})/{parts:?}",
                coordinate(axis, what)
            ),
            false => format!("{scale:?}*{} + {off:?}", coordinate(axis, what)),
        });
        format!("[{}]", all.collect::<Vec<_>>().join(", "))
    };
    let nabla = ["", "∇", "∇⊗∇", "∇⊗∇⊗∇"];
    let shapes = ["", "D", "D,D", "D,D,D"].map(|s| s.replace('D', &dim.to_string()));
    let zero = [
        "0".to_string(),
        format!("zeros[{}]", shapes[1]),
        format!("zeros[{}]", shapes[2]),
        format!("zeros[{}]", shapes[3]),
    ];
    let (mut outputs, mut sums) = (String::new(), String::new());
    for n in 0..order + 1 {
        let ty = if n == 0 {
            "real".to_string()
        } else {
            format!("tensor[{}]", shapes[n])
        };
        outputs += &format!("    output {ty} s{n} = {};\n", zero[n]);
        sums += &format!("s{n} += {}F(x); ", nabla[n]);
    }
    format!(
        "#version 2.0
input fem#3({dim})[] g;
field#3({dim})[] F = toField(g);
strand s (int i) {{
    vec{dim} x = {};
    vec{dim} d = {};
{outputs}    output int hits = 0;
    output int place = 0;
    output real raw = 0;
    int n = 0;
    update {{
        if (inside(x, F)) {{ {sums}hits += 1; place += n*GetCell(F, x); }}
        raw = F(x);
        x += d;
        n += 1;
        if (n == {steps}) stabilize;
    }}
}}
create_array {{ s(i) | i in 0..{} }}
",
        vector(1, 1.1, -0.05),
        vector(2, 0.12, -0.06),
        strands - 1,
    )
}

/// What a run gives: outputs by name, as bits.
type Bits = Vec<(String, Vec<u64>)>;

fn bits(
    case: &Case,
    file: &Arc<FemFile>,
    machine: Option<Arc<Interpreter>>,
    double: bool,
) -> (Bits, Vec<String>) {
    let options = Options {
        target: if machine.is_some() {
            Target::CudaOnly
        } else {
            Target::Cpu
        },
        double,
        ..Options::default()
    };
    let mut program = case.compile(&options);
    program.machines = machine.into_iter().map(|machine| machine as _).collect();
    let mut inputs = Inputs::of(&program);
    let source = FemSource::Memory(Arc::clone(file));
    inputs.set_fem("g", source, Some("u")).expect("an input");
    let mut running =
        Run::new(&program, &inputs, 1).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    running
        .run(Some(case.limit as u64), &mut std::io::sink(), &mut [])
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let missed = running.missed();
    let outputs = running.outputs().expect("strands").into_iter();
    let outputs = outputs.map(|data| {
        let numbers = data.numbers().into_iter();
        let canonical = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
        (data.output.name.clone(), numbers.map(canonical).collect())
    });
    (outputs.collect(), missed)
}

/// Compares the two, and says how many strands the machine has left to the CPU.
fn agrees(name: &str, file: FemFile, looks: Looks, double: bool) -> usize {
    let dim = file.cells.at(0).element.cell.dim();
    let case = Case::new(Source::new(format!("{name}.diderot"), text(dim, looks)));
    let file = Arc::new(file);
    let (cpu, _) = bits(&case, &file, None, double);
    let machine = Arc::new(Interpreter::default());
    let (gpu, _) = bits(&case, &file, Some(Arc::clone(&machine)), double);
    assert!(
        machine.launches.load(Relaxed) > 0,
        "{name}: not on the machine"
    );
    for ((output, cpu), (_, gpu)) in cpu.iter().zip(&gpu) {
        let differs = cpu.iter().zip(gpu).position(|(a, b)| a != b);
        assert_eq!(
            differs, None,
            "{name}, double {double}: {output}\n{}",
            case.source.text
        );
    }
    let hits = &cpu
        .iter()
        .find(|(name, _)| name == "hits")
        .expect("an output")
        .1;
    assert!(hits.iter().any(|&hits| hits != 0), "{name}: nothing inside");
    machine.left.load(Relaxed)
}

/// Values that no polynomial of the elements reproduces.
fn wavy(p: [f64; 3]) -> f64 {
    (3.0 * p[0]).sin() * (2.0 * p[1]).cos() + p[2] * p[2] + 0.25 * p[0]
}

/// A map that bends cells.
fn bent(amount: f64, dim: usize) -> impl Fn([f64; 3]) -> [f64; 3] {
    let lift = if dim == 3 { amount } else { 0.0 };
    move |[x, y, z]| [x, y + amount * x * x, z + lift * (x * y - 0.5 * x * x)]
}

fn cells_along(element: &Element) -> usize {
    if element.cell.dim() == 3 { 2 } else { 4 }
}

/// Every element: straight, shaken, and bent if it can be; other positions in every run.
#[test]
fn every_element_gives_the_same_bits() {
    let seed = program::seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let (mut strands, mut left) = (0, 0);
    for (number, element) in ELEMENTS.iter().enumerate() {
        let n = cells_along(element);
        for (bend, shake) in [(0.0, 0.0), (0.0, 0.2), (0.15, 0.15)] {
            if bend > 0.0 && element.degree == 1 {
                continue;
            }
            let double = (number + usize::from(shake > 0.0)) % 2 == 0;
            // Cells with many nodes have long kernels.
            let many = element.nodes().len() > 30;
            let looks = Looks {
                order: if many || bend > 0.0 { 1 } else { 2 },
                strands: if many { 8 } else { 40 },
                seed: seed + number as u64,
                ..LOOKS
            };
            let file = with_array(
                grid(element, n, shake, bent(bend, element.cell.dim())),
                "u",
                wavy,
            );
            let name = format!("{} shaken {shake} bent {bend}", element.name);
            let own = agrees(&name, file, looks, double);
            println!("{name}: {own} of {} left", looks.strands);
            (strands, left) = (strands + looks.strands, left + own);
        }
    }
    println!("{left} of {strands} strands left to the CPU");
    // It is one in a thousand in the mean, and all of them are in shaken cells.
    assert!(
        100 * left <= strands,
        "{left} of {strands} strands left to the CPU"
    );
}

/// Positions on faces, edges and corners are decided by the rule over all cells of a bin.
#[test]
fn positions_on_faces_give_the_same_bits() {
    for name in ["tri-p1", "tet-p2", "quad-q1", "hex-q1", "wedge-p1"] {
        let Some(element) = ELEMENTS.iter().find(|element| element.name == name) else {
            panic!(
                "{name}: {:?}",
                ELEMENTS.iter().map(|e| e.name).collect::<Vec<_>>()
            );
        };
        for double in [false, true] {
            let looks = Looks {
                on_faces: true,
                strands: 60,
                steps: 6,
                ..LOOKS
            };
            let file = with_array(grid(element, 4, 0.0, |p| p), "u", wavy);
            assert_eq!(agrees(name, file, looks, double), 0, "{name}");
        }
    }
}

/// Derivatives to the third order in straight cells, to the second in curved ones.
#[test]
fn higher_derivatives_give_the_same_bits() {
    for (name, bend, order) in [
        ("tri-p3", 0.0, 3),
        ("tet-p2", 0.0, 3),
        ("quad-q2", 0.0, 3),
        ("tri-p2", 0.15, 2),
        ("tet-p2", 0.15, 2),
        ("quad-q2", 0.15, 2),
    ] {
        let element = ELEMENTS
            .iter()
            .find(|element| element.name == name)
            .expect(name);
        let file = with_array(
            grid(element, 3, 0.0, bent(bend, element.cell.dim())),
            "u",
            wavy,
        );
        let looks = Looks {
            order,
            strands: 20,
            ..LOOKS
        };
        for double in [false, true] {
            agrees(&format!("{name} bent {bend}"), file.clone(), looks, double);
        }
    }
}

/// Cells of several kinds in one mesh, with values that belong to cells as a whole.
#[test]
fn meshes_of_several_kinds_give_the_same_bits() {
    let element = |name: &str| {
        ELEMENTS
            .iter()
            .find(|element| element.name == name)
            .expect(name)
    };
    let mut both = FemFile::default();
    for (name, off, bend) in [
        ("tri-p2", 0.0, 0.1),
        ("quad-q1", 1.0, 0.0),
        ("tri-p1", 2.0, 0.0),
    ] {
        let part = grid(element(name), 3, 0.1, bent(bend, 2));
        for cell in part.cells.iter() {
            let first = both.connectivity.len() + cell.first;
            both.cells.push(FileCell {
                first,
                number: both.cells.len() as u32,
                ..cell
            });
        }
        let before = both.points.len() as u32;
        both.connectivity
            .extend(part.connectivity.iter().map(|&n| n + before));
        both.points.extend(
            part.points
                .iter()
                .map(|&[x, y, z]| [x / 3.0 + off / 3.0, y, z]),
        );
    }
    for by_cell in [false, true] {
        let file = match by_cell {
            false => with_array(both.clone(), "u", wavy),
            true => {
                let mut file = both.clone();
                let values = (0..file.cells.len()).map(|n| (n as f64).sin()).collect();
                file.arrays.push(FemArray {
                    name: "u".to_string(),
                    place: ArrayPlace::Cells,
                    components: 1,
                    values,
                });
                file
            }
        };
        for double in [false, true] {
            agrees("several kinds", file.clone(), LOOKS, double);
        }
    }
}

/// A mesh that all positions miss is noticed, and one that some position meets is not.
#[test]
fn a_mesh_that_is_missed_is_noticed() {
    let element = ELEMENTS
        .iter()
        .find(|element| element.cell == CellKind::Triangle);
    for off in [0.0, 100.0] {
        let file = grid(element.expect("triangles"), 3, 0.0, |[x, y, z]| {
            [x + off, y, z]
        });
        let file = Arc::new(with_array(file, "u", wavy));
        let case = Case::new(Source::new("missed.diderot", text(2, LOOKS)));
        let machines = [None, Some(Arc::new(Interpreter::default()))];
        let missed = machines.map(|machine| bits(&case, &file, machine, false).1);
        assert_eq!(missed[0].is_empty(), off == 0.0, "{missed:?}");
        assert_eq!(missed[0], missed[1]);
        let positions = "the positions of the probes were in";
        assert!(missed[0].iter().all(|told| told.contains(positions)));
    }
}

/// Third derivatives in curved cells and cells that have collapsed are for the CPU, with the reason.
#[test]
fn what_meshes_leave_to_the_cpu_is_named() {
    let element = ELEMENTS.iter().find(|element| element.name == "tri-p2");
    let element = element.expect("quadratic triangles");
    let bent = |bend| grid(element, 3, 0.0, bent(bend, 2));
    for (order, file, reason) in [
        (3, bent(0.0), None),
        (2, bent(0.15), None),
        (
            3,
            bent(0.15),
            Some("derivatives of order 3 are probed in curved cells"),
        ),
        (
            1,
            pyramids(),
            Some("a mesh has cells with corners at one place, as pyramids have"),
        ),
    ] {
        let dim = file.cells.at(0).element.cell.dim();
        let text = text(dim, Looks { order, ..LOOKS });
        let case = Case::new(Source::new("refused.diderot", text));
        let mut program = case.compile(&Options {
            target: Target::Cuda,
            ..Options::default()
        });
        program.machines = vec![Arc::new(Interpreter::default())];
        let mut inputs = Inputs::of(&program);
        let source = FemSource::Memory(Arc::new(with_array(file, "u", wavy)));
        inputs.set_fem("g", source, Some("u")).expect("an input");
        let running = Run::new(&program, &inputs, 1).expect("a run");
        let refusal = running.refusal().map(|refusal| refusal.reason.clone());
        assert_eq!(refusal.as_deref(), reason);
    }
}

/// Cubes divided into pyramids: hexahedra whose upper corners are at one place.
fn pyramids() -> FemFile {
    let element = ELEMENTS.iter().find(|element| element.name == "hex-q1");
    let element = element.expect("hexahedra");
    let cubes = grid(element, 2, 0.1, |p| p);
    let mut file = FemFile::default();
    for cell in cubes.cells.iter() {
        let corners: Vec<[f64; 3]> = (0..8)
            .map(|n| cubes.points[cubes.connectivity[cell.first + n] as usize])
            .collect();
        let top = std::array::from_fn(|axis| corners.iter().map(|c| c[axis]).sum::<f64>() / 8.0);
        for base in [
            [0, 1, 2, 3],
            [4, 7, 6, 5],
            [0, 4, 5, 1],
            [1, 5, 6, 2],
            [2, 6, 7, 3],
            [3, 7, 4, 0],
        ] {
            file.cells.push(FileCell {
                element,
                first: file.connectivity.len(),
                number: file.cells.len() as u32,
            });
            for node in base.map(|n| corners[n]).into_iter().chain([top; 4]) {
                file.connectivity.push(file.points.len() as u32);
                file.points.push(node);
            }
        }
    }
    file
}
