//! Fields over time on meshes: against exact values, in every IR, at every width, and errors for files that do not fit.

use super::{
    numbers,
    series::{Cells, Folder},
    stages::Case,
};
use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session},
    run::{Inputs, Run},
};
use rayon::prelude::*;
use runtime::image::Reading;
use std::path::Path;

const REGULAR: [f64; 4] = [0.5, 1.0, 1.5, 2.0];
const IRREGULAR: [f64; 4] = [0.5, 0.625, 1.75, 2.0];

/// Programs with `F` and `V`, a number and a vector over time, and `fixed`, which is not: definitions, `---`, and the code of a strand.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "value and gradient",
        "---
    output real y = 0;
    output tensor[DIM] slope = x;
    update { y = F(x, t); slope = ∇F(x, t); stabilize; }",
    ),
    (
        "vectors",
        "---
    output tensor[DIM] y = x;
    output tensor[DIM,DIM] slope = identity[DIM];
    output real spread = 0;
    update { y = V(x, t); slope = ∇⊗V(x, t); spread = ∇•V(x, t); stabilize; }",
    ),
    (
        "lifted operators",
        "field#1(DIM,time)[] G = sqrt(1 + F*F)*(V•V) + fixed;
---
    output real y = 0;
    output tensor[DIM] slope = x;
    update { y = G(x, t); slope = ∇G(x, t); stabilize; }",
    ),
    (
        "second derivatives",
        "---
    output tensor[DIM,DIM] bend = identity[DIM];
    output real both = 0;
    update { bend = ∇⊗∇F(x, t); both = F(x, t) + trace(∇⊗∇F(x, t)) + V(x, t)[1]; stabilize; }",
    ),
    (
        "several times at one position",
        "---
    output real y = 0;
    output tensor[DIM] slope = x;
    update { y = F(x, t) - 2*F(x, 2.5 - t) + V(x, t + 0.1)[0]; slope = ∇F(x, t) + ∇F(x, 1.3); stabilize; }",
    ),
    (
        "inside and beyond",
        "---
    output real y = 0;
    output int known = 0;
    update {
        real late = t + 0.7*(i - 3);
        y = F(x, late);
        known = 1 if inside(x, late, F) else 0;
        known += 2 if inside(3*x, late, F + fixed) else 0;
        stabilize;
    }",
    ),
    (
        "facts",
        "real last = endTime(g);
---
    output real y = 0;
    update { y = 100*frames(g) + 10*startTime(g) + last + range(g)[1]; stabilize; }",
    ),
    (
        "slices and functions",
        "input real now = 1.2;
field#1(DIM)[] S(x) = F(x, now);
field#1(DIM,time)[] H(x, t) = t*F(x, t) if inside(x, t, F) else 3;
function real twice(field#1(DIM,time)[] A, tensor[DIM] p, real s) { return 2*A(p, s); }
---
    output real y = 0;
    output tensor[DIM] slope = x;
    update { y = S(x) + H(x, t) + H(2*x, t) + twice(F, x, t); slope = ∇S(x) + ∇H(x, t); stabilize; }",
    ),
    (
        "a value outside",
        "field#1(DIM,time)[] B = toField(border(g, 7));
---
    output real y = 0;
    output tensor[DIM] slope = x;
    update { y = B(2.1*x, t); slope = ∇B(2.1*x, t); stabilize; }",
    ),
    (
        "a path and its derivative",
        "---
    output tensor[DIM] end = x;
    output tensor[DIM,DIM] stretch = identity[DIM];
    update {
        tensor[DIM] p = x;
        tensor[DIM] q = p;
        foreach (int n in 0..4) { q += 0.02*V(q, t + 0.1*n); }
        end = q;
        stretch = ∂q/∂p;
        stabilize;
    }",
    ),
];

fn text_of(program: &str, cells: Cells, folder: &Folder) -> String {
    let (definitions, body) = program.split_once("---").expect("two parts");
    let at = match cells.dim() {
        2 => "[0.11 + 0.04*i, 0.93 - 0.08*i]",
        _ => "[0.11 + 0.04*i, 0.93 - 0.08*i, 0.2 + 0.055*i]",
    };
    let text = format!(
        "#version 2.0
fem#2(DIM,time)[] g = load_fem(\"FOLDER/series.pvd\", \"u\");
fem#1(DIM,time)[DIM] w = load_fem(\"FOLDER/series.pvd\", \"v\");
fem#1(DIM)[] single = load_fem(\"FOLDER/frame1.vtu\", \"u\");
field#2(DIM,time)[] F = toField(g);
field#1(DIM,time)[DIM] V = toField(w);
field#1(DIM)[] fixed = toField(single);
{definitions}
strand S (int i) {{
    tensor[DIM] x = {at};
    real t = 0.55 + 0.13*i;
{body}
}}
create_array {{ S(i) | i in 0..10 }}
"
    );
    text.replace("DIM", &cells.dim().to_string())
        .replace("FOLDER", &folder.path().display().to_string())
}

fn bumps(x: &[f64; 3], t: f64) -> [f64; 4] {
    let wave = |k: f64| (2.0 * x[0] - x[1] + k * x[2] + 1.3 * t + k).sin() + 0.3 * t * x[1];
    [wave(0.5), wave(1.0), wave(1.7), 0.0]
}

/// A vector in space has a third component.
fn in_space(x: &[f64; 3], t: f64) -> [f64; 4] {
    let [u, v, w, _] = bumps(x, t);
    [u, v, w, (x[2] * t + x[0]).cos()]
}

fn values(cells: Cells) -> &'static dyn Fn(&[f64; 3], f64) -> [f64; 4] {
    match cells.dim() {
        2 => &bumps,
        _ => &in_space,
    }
}

fn case(name: &str, program: &str, cells: Cells, folder: &Folder) -> Case {
    let file = format!("{name}-{cells:?}.diderot");
    Case::new(Source::new(file, text_of(program, cells, folder)))
}

/// Every program on half of the kinds of cells, and every kind with half of the programs.
#[test]
fn stages_and_machine_code_agree_on_meshes() {
    let all = Cells::ALL.into_par_iter().enumerate();
    all.for_each(|(n, cells)| {
        let times = [REGULAR, IRREGULAR][n % 2];
        let folder = Folder::new();
        folder.series(cells, &times, values(cells));
        for (name, program) in PROGRAMS.iter().skip(n / 2 % 2).step_by(2) {
            let case = case(name, program, cells, &folder);
            let agreed = case.stages_agree();
            case.machine_code_agrees(&agreed, 0);
        }
    });
}

/// Lanes in different frames, some of them outside, give the bits that they give alone.
#[test]
fn companions_in_other_frames_of_a_mesh_do_not_matter() {
    for cells in Cells::ALL {
        let folder = Folder::new();
        folder.series(cells, &IRREGULAR, values(cells));
        for name in [
            "value and gradient",
            "several times at one position",
            "inside and beyond",
        ] {
            let (_, program) = PROGRAMS
                .iter()
                .find(|(known, _)| *known == name)
                .expect(name);
            let case = case(name, program, cells, &folder);
            for double in [false, true] {
                let options = |width| Options {
                    double,
                    width: Some(width),
                    ..Options::default()
                };
                let alone = case.run(&options(1), 1);
                for width in [4, 8, 16] {
                    case.assert_same_bits(&case.run(&options(width), 2), &alone);
                }
            }
        }
    }
}

/// Functions that the cells hold exactly, times a linear function of time.
#[test]
fn polynomials_over_time_are_exact() {
    let program = "---
    output real value = 0;
    output tensor[DIM] slope = x;
    output real flow = 0;
    update {
        real p = POLYNOMIAL;
        value = F(x, t) - p*(1 + t/2);
        slope = ∇F(x, t) - GRADIENT*(1 + t/2);
        flow = |V(x, t) - (3 - t)*x|;
        stabilize;
    }";
    for cells in [
        Cells::Triangles,
        Cells::Tetrahedra,
        Cells::QuadraticTetrahedra,
        Cells::Hexahedra,
    ] {
        let (polynomial, gradient) = match (cells.dim(), cells.degree()) {
            (2, _) => ("1 + 2*x[0] - x[1]", "[2, -1]"),
            (_, 1) => ("1 + 2*x[0] - x[1] + 3*x[2]", "[2, -1, 3]"),
            _ => ("x[0]*x[1] - x[2]*x[2] + x[0]", "[x[1] + 1, x[0], -2*x[2]]"),
        };
        let value = move |x: &[f64; 3], t: f64| {
            let p = match (cells.dim(), cells.degree()) {
                (_, 1) => 1.0 + 2.0 * x[0] - x[1] + 3.0 * x[2],
                _ => x[0] * x[1] - x[2] * x[2] + x[0],
            };
            let [a, b, c] = x.map(|x| (3.0 - t) * x);
            [p * (1.0 + t / 2.0), a, b, c]
        };
        let program = program
            .replace("POLYNOMIAL", polynomial)
            .replace("GRADIENT", gradient);
        for times in [REGULAR, IRREGULAR] {
            let folder = Folder::new();
            folder.series(cells, &times, &value);
            let case = case("exact", &program, cells, &folder);
            for (double, tolerance) in [(false, 1e-5), (true, 1e-12)] {
                let options = Options {
                    double,
                    ..Options::default()
                };
                for (name, errors) in &case.run(&options, 1).outputs {
                    let worst = errors.iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
                    println!("{cells:?} {name}: {worst:e}, double {double}");
                    assert!(
                        worst <= tolerance,
                        "{cells:?} {name}: {worst:e}, double {double}"
                    );
                }
            }
        }
    }
}

/// Rotation at the speed 1 + t, followed by steps of Runge and Kutta: at the time 1 the angle is 1.5.
#[test]
fn pathlines_on_meshes_end_where_they_should() {
    let program = "---
    output tensor[DIM] end = x;
    update {
        tensor[DIM] q = START;
        real h = 0.01;
        foreach (int n in 0..99) {
            real s = n*h;
            tensor[DIM] a = V(q, s);
            tensor[DIM] b = V(q + h/2*a, s + h/2);
            tensor[DIM] c = V(q + h/2*b, s + h/2);
            tensor[DIM] d = V(q + h*c, s + h);
            q += h/6*(a + 2*b + 2*c + d);
        }
        end = q;
        stabilize;
    }";
    for (cells, start) in [
        (Cells::Triangles, "[0.9, 0.5]"),
        (Cells::Tetrahedra, "[0.9, 0.5, 0.25]"),
    ] {
        for times in [
            &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0][..],
            &[0.0, 0.1, 0.25, 0.3, 0.7, 1.0],
        ] {
            let folder = Folder::new();
            folder.series(cells, times, &|x, t| {
                [
                    0.0,
                    -(1.0 + t) * (x[1] - 0.5),
                    (1.0 + t) * (x[0] - 0.5),
                    0.0,
                ]
            });
            let case = case("path", &program.replace("START", start), cells, &folder);
            for (double, tolerance) in [(false, 3e-7), (true, 6e-10)] {
                let options = Options {
                    double,
                    ..Options::default()
                };
                let end = numbers(&case.run(&options, 1), "end");
                let error =
                    (end[0] - 0.5 - 0.4 * 1.5f64.cos()).hypot(end[1] - 0.5 - 0.4 * 1.5f64.sin());
                println!(
                    "{cells:?}, {} frames, double {double}: {error:e}",
                    times.len()
                );
                assert!(error <= tolerance, "{error:e}");
            }
        }
    }
}

const PROBE: &str = "#version 2.0
input fem#1(2,time)[] g;
field#1(2,time)[] F = toField(g);
strand S (int i) {
    output vec4 y = [frames(g), startTime(g), endTime(g), F([0.3, 0.4], i)];
    update { stabilize; }
}
create_array { S(i) | i in 0..3 }
";

fn compiled(text: &str) -> pipeline::Compiled {
    let source = Source::new("probe.diderot", text);
    let options = Options {
        double: true,
        ..Options::default()
    };
    pipeline::compile(&mut Session::default(), &source, &options).expect("a program")
}

/// Runs a program with the mesh of a name, or gives the message of the error.
fn run(text: &str, file: &str, times: Option<&str>) -> Result<Vec<f64>, String> {
    let program = compiled(text);
    let mut inputs = Inputs::of(&program);
    let name = runtime::input::InputValue::File(file.into());
    inputs.set("g", name).expect("an input");
    if let Some(times) = times {
        let mut reading = Reading::default();
        reading.set_times(times)?;
        inputs.set_reading("g", reading).expect("an input");
    }
    let mut running = Run::new(&program, &inputs, 1).map_err(|e| e.to_string())?;
    running
        .run(None, &mut Vec::new(), &mut [])
        .map_err(|e| e.to_string())?;
    Ok(running.outputs().expect("strands")[0].numbers())
}

/// Values 1 + x + t at (0.3, 0.4): all times, some, one, and those that a user gives.
#[test]
fn times_come_from_files_and_users() {
    let folder = Folder::new();
    let cells = Cells::Triangles;
    folder.series(cells, &[3.0, 1.0, 1.5], &|x, t| {
        [1.0 + x[0] + t, 0.0, 0.0, 0.0]
    });
    let path = folder.path().display();
    let all = |frames: [f64; 3], at: [f64; 4]| {
        let rows = at.map(|y| [frames[0], frames[1], frames[2], y]);
        rows.concat()
    };
    let near = |found: Result<Vec<f64>, String>, wanted: Vec<f64>| {
        let found = found.expect("a run");
        let mut pairs = found.iter().zip(&wanted);
        assert!(
            pairs.all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}, wanted {wanted:?}"
        );
    };
    let pvd = format!("{path}/series.pvd");
    near(
        run(PROBE, &pvd, None),
        all([3.0, 1.0, 3.0], [2.3, 2.3, 3.3, 4.3]),
    );
    near(
        run(PROBE, &format!("{pvd}#u"), None),
        all([3.0, 1.0, 3.0], [2.3, 2.3, 3.3, 4.3]),
    );
    near(
        run(PROBE, &format!("{pvd}#1:2"), None),
        all([2.0, 1.5, 3.0], [2.8, 2.8, 3.3, 4.3]),
    );
    near(
        run(PROBE, &format!("{pvd}@1.5"), None),
        all([1.0, 1.5, 1.5], [2.8; 4]),
    );
    near(
        run(PROBE, &format!("{pvd}#0"), None),
        all([1.0, 3.0, 3.0], [4.3; 4]),
    );
    near(
        run(PROBE, &format!("{path}/frame1.vtu"), None),
        all([1.0, 0.0, 0.0], [2.3; 4]),
    );
    near(
        run(PROBE, &pvd, Some("zero=first")),
        all([3.0, 0.0, 2.0], [2.3, 3.3, 4.3, 4.3]),
    );
    let numbered = format!("{path}/frame%d.vtu 1 2");
    near(
        run(PROBE, &numbered, None),
        all([2.0, 0.0, 1.0], [2.3, 2.8, 2.8, 2.8]),
    );
    near(
        run(PROBE, &numbered, Some("1:2")),
        all([2.0, 1.0, 3.0], [2.3, 2.3, 2.55, 2.8]),
    );
    folder.write("times.txt", "0 3");
    let times = format!("{path}/times.txt");
    near(run(PROBE, &format!("{numbered}#u"), Some(&times)), {
        all(
            [2.0, 0.0, 3.0],
            [2.3, 2.3 + 0.5 / 3.0, 2.3 + 1.0 / 3.0, 2.8],
        )
    });
}

/// Files in pieces give the values of files in one piece.
#[test]
fn frames_may_be_in_pieces() {
    let folder = Folder::new();
    let value = |x: &[f64; 3], t: f64| [1.0 + x[0] * t + x[1], 0.0, 0.0, 0.0];
    let times = [0.0, 1.0, 1.5];
    folder.series(Cells::Triangles, &times, &value);
    folder.pieces(Cells::Triangles, &times, &value);
    let path = folder.path().display();
    let whole = run(PROBE, &format!("{path}/series.pvd"), None).expect("a run");
    let found = run(PROBE, &format!("{path}/pieces.pvd"), None).expect("a run");
    assert_eq!(found, whole);
}

/// Values 0.7 + x + 2y + 3z + t at the times 0 and 0.5, as meshio writes them.
#[test]
fn frames_may_have_their_numbers_in_hdf5() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("../runtime/tests/fem/files/pieces/series.xdmf");
    let text = PROBE.replace("(2,time)", "(3,time)");
    let text = text.replace("F([0.3, 0.4], i)", "F([0.3, 0.4, 0.5], 0.25*i)");
    let found = run(&text, &file.display().to_string(), None).expect("a run");
    let (rows, rest) = found.as_chunks::<4>();
    assert_eq!((rows.len(), rest.len()), (4, 0));
    for (row, time) in rows.iter().zip([0.0, 0.25, 0.5, 0.5]) {
        assert_eq!(row[..3], [2.0, 0.0, 0.5]);
        assert!((row[3] - (3.3 + time)).abs() < 1e-12, "{row:?}");
    }
}

/// An output must not replace a file of a mesh, however the input names it.
#[test]
fn all_files_of_a_mesh_are_known() {
    let folder = Folder::new();
    folder.pieces(Cells::Triangles, &[0.0, 1.0], &|_, _| [0.0; 4]);
    let item = "<DataItem Dimensions=\"1\" Format=\"HDF\">numbers.h5:/u</DataItem>";
    folder.write(
        "grids.xdmf",
        &format!("<Xdmf><Domain>{item}</Domain></Xdmf>"),
    );
    let program = compiled(PROBE);
    for (name, files) in [
        (
            "pieces.pvd#1:2#u",
            &[
                "pieces.pvd",
                "left0.vtu",
                "right0.vtu",
                "second.pvtu",
                "left1.vtu",
                "right1.vtu",
            ][..],
        ),
        ("second.pvtu#u", &["second.pvtu", "left1.vtu", "right1.vtu"]),
        ("left%d.vtu 0 1#u", &["left0.vtu", "left1.vtu"]),
        ("left0.vtu", &["left0.vtu"]),
        ("grids.xdmf@0.5", &["grids.xdmf", "numbers.h5"]),
        ("none.vtu#u", &["none.vtu"]),
    ] {
        let mut inputs = Inputs::of(&program);
        let file = folder.path().join(name);
        let value = runtime::input::InputValue::File(file.into());
        inputs.set("g", value).expect("an input");
        let found = inputs.files_read().into_iter();
        let mut found: Vec<_> = found.map(|used| used.file.to_path_buf()).collect();
        let mut wanted: Vec<_> = files.iter().map(|file| folder.path().join(file)).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn files_that_are_not_series_are_refused() {
    let folder = Folder::new();
    let cells = Cells::Triangles;
    folder.series(cells, &[0.0, 0.5], &|x, t| [x[0] + t, 0.0, 0.0, 0.0]);
    folder.sheared("other.vtu", cells);
    folder.collection(
        "moving.pvd",
        &[(0.0, "frame0.vtu".into()), (0.5, "other.vtu".into())],
    );
    folder.collection(
        "missing.pvd",
        &[(0.0, "frame0.vtu".into()), (0.5, "none.vtu".into())],
    );
    folder.write("times.txt", "0 1 2");
    let path = folder.path().display();
    let says = |text: &str, file: &str, times: Option<&str>, wanted: &str| {
        let message = run(text, &format!("{path}/{file}"), times).expect_err(wanted);
        assert!(message.contains(wanted), "{message}, wanted {wanted}");
    };
    let times = format!("{path}/times.txt");
    says(PROBE, "moving.pvd", None, "the mesh changes at time 0.5");
    says(PROBE, "missing.pvd", None, "at time 0.5: ");
    says(
        PROBE,
        "series.pvd#1:2",
        None,
        "the file has no time number 2; it has 2",
    );
    says(PROBE, "series.pvd@2", None, "the file has no time 2");
    says(
        PROBE,
        "series.pvd",
        Some(&times),
        "3 times are given, but there are 2 frames",
    );
    let fixed = PROBE.replace("(2,time)", "(2)").replace(
        "[frames(g), startTime(g), endTime(g), F([0.3, 0.4], i)]",
        "[F([0.3, 0.4]), i, 0, 0]",
    );
    says(&fixed, "series.pvd", None, "the file has 2 times: 0, 0.5");
    says(&fixed, "frame0.vtu", Some("0:1"), "times are given");
    let both = PROBE
        .replace("input fem#1(2,time)[] g;", "input mesh(2) g;\nfem#1(2,time)[] u = load_fem(g, \"u\");\nfem#1(2)[] still = load_fem(g, \"u\");\nfield#1(2)[] R = toField(still);")
        .replace("toField(g)", "toField(u)")
        .replace("[frames(g), startTime(g), endTime(g)", "[frames(u), R([0.3, 0.4]), 0");
    says(
        &both,
        "series.pvd",
        None,
        "the file has 2 times, but `still` is not over time",
    );
}
