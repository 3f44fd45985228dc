//! Sequences by clauses: how far back their steps read × which of their elements are read. Their values are those of a plain
//! evaluation, in every IR and as machine code, and a loop over their steps carries only the values that are needed.

mod reductions;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod stages;

use compiler::{
    front::source::Source,
    pipeline::{Lowered, Options},
    ssa::Role,
};
use stages::Case;

/// The elements of a sequence that are read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Read {
    Final,
    LastThree,
    Whole,
    /// An element whose place is known at run time.
    Chosen,
}

/// Runs the statements of an `update` that compute `y`: in every IR, and as machine code. Returns the numbers of `y`, and the number
/// of values that each loop of the program carries from one iteration to the next.
#[track_caller]
fn run(name: &str, statements: &str) -> (Vec<f64>, Vec<usize>) {
    let text = format!(
        "#version 2.0
input real base = 0.7;
input int pick = 5;
field#4(2)[2] V(z) = [-z[1], z[0]*z[0] - 0.5];
strand S (int n) {{
    output real y = 0;
    update {{
        {statements}
        stabilize;
    }}
}}
create_array {{ S(n) | n in 0..0 }}
"
    );
    let case = Case::new(Source::new(name, text));
    let (lowered, outcome) = case.stages_agree();
    let y = |outcome: &compiler::interpret::Outcome| {
        let found = outcome.outputs.iter().find(|(output, _)| output == "y");
        found.expect("an output").1.clone()
    };
    let interpreted = y(&outcome);
    let options = Options {
        double: true,
        width: Some(4),
        ..Options::default()
    };
    let compiled = y(&case.run(&options, 1));
    for (a, b) in interpreted.iter().zip(&compiled) {
        assert!(
            (a - b).abs() <= 1e-12 * a.abs().max(1.0),
            "{name}: {a} and {b}"
        );
    }
    (interpreted, windows(&lowered))
}

/// The number of values that each loop of `update` carries from one iteration to the next.
fn windows(lowered: &Lowered) -> Vec<usize> {
    let functions = lowered.derived.functions.iter();
    let update = functions.filter(|(role, _)| *role == Role::Update);
    let text: String = update.map(|(_, function)| function.to_string()).collect();
    let loops = text
        .lines()
        .filter(|line| line.contains("= for v") || line.trim().starts_with("for v"));
    loops
        .map(|line| match line.split_once(" with ") {
            Some((_, carried)) => carried.matches(" = ").count(),
            None => 0,
        })
        .collect()
}

fn near(found: f64, wanted: f64, what: &str) {
    let close = (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0);
    assert!(close, "{what}: {found}, not {wanted}");
}

/// x[t] = Σ_k c_k x[t−k] + sin(t)/100, from `back` values on.
#[test]
fn sequences_of_numbers() {
    for back in [1, 2, 4] {
        for length in [12usize, 100] {
            for read in [Read::Final, Read::LastThree, Read::Whole, Read::Chosen] {
                let weights: Vec<f64> = (1..=back).map(|k| 0.9 / (k * back) as f64).collect();
                let mut x: Vec<f64> = (0..back).map(|n| 0.7 + 0.1 * n as f64).collect();
                while x.len() < length {
                    let t = x.len();
                    let before: f64 = (1..=back).map(|k| weights[k - 1] * x[t - k]).sum();
                    x.push(before + 0.01 * (t as f64).sin());
                }
                let base: String = (0..back)
                    .map(|n| format!("x[{n}] = base + {};", 0.1 * n as f64))
                    .collect();
                let terms: Vec<String> = (1..=back)
                    .map(|k| format!("{}*x[t-{k}]", weights[k - 1]))
                    .collect();
                let last = length - 1;
                let (expression, wanted) = match read {
                    Read::Final => (format!("x[{last}]"), x[last]),
                    Read::LastThree => (
                        format!("x[{last}] + x[{}]*x[{}]", last - 1, last - 2),
                        x[last] + x[last - 1] * x[last - 2],
                    ),
                    Read::Whole => (
                        "sum[n](x[n]*x[n])".to_owned(),
                        x.iter().map(|x| x * x).sum(),
                    ),
                    Read::Chosen => ("x[pick]".to_owned(), x[5]),
                };
                let statements = format!(
                    "real[{length}] x {{ {base} x[t in {back}..{last}] = {} + 0.01*sin(real(t)); }} y = {expression};",
                    terms.join(" + ")
                );
                let name = format!("back {back}, length {length}, {read:?}");
                let (found, windows) = run(&name, &statements);
                near(found[0], wanted, &name);
                let expected = match read {
                    _ if length == 12 => vec![],
                    Read::Final => vec![back],
                    Read::LastThree => vec![back.max(3)],
                    // The sum is carried with the other values.
                    Read::Whole => vec![back + 1],
                    Read::Chosen => vec![],
                };
                assert_eq!(windows, expected, "{name}");
            }
        }
    }
}

/// The distances of a grid, whose rows are carried whole: two rows including the one that is computed, and never a part of a row.
#[test]
fn grids() {
    let offsets: [&[(usize, usize)]; 5] = [
        &[(1, 0), (0, 1), (1, 1)],
        &[(1, 0)],
        &[(1, 1), (2, 0)],
        &[(0, 1), (2, 1)],
        &[(1, 2), (0, 1)],
    ];
    for reads in offsets {
        for (rows, columns) in [(20usize, 9usize), (4, 40)] {
            let deep = reads.iter().map(|(i, _)| *i).max().unwrap_or(0);
            let wide = reads.iter().map(|(_, j)| *j).max().unwrap_or(0);
            let start = |i: usize, j: usize| i as f64 - 0.3 * j as f64;
            let cost = |i: usize, j: usize| ((i * 7 + j * 3) % 5) as f64 * 0.1;
            let mut d = vec![vec![0.0; columns]; rows];
            for i in 0..rows {
                for j in 0..columns {
                    d[i][j] = match i < deep || j < wide {
                        true => start(i, j),
                        false => {
                            let read = reads.iter().map(|(a, b)| d[i - a][j - b]);
                            0.5 * read.fold(f64::INFINITY, f64::min) + cost(i, j)
                        }
                    };
                }
            }
            let (last_row, last) = (rows - 1, columns - 1);
            let reads_text: Vec<String> = reads
                .iter()
                .map(|(a, b)| format!("D[i-{a},j-{b}]"))
                .collect();
            let least = reads_text[1..]
                .iter()
                .fold(reads_text[0].clone(), |least, next| {
                    format!("min({least}, {next})")
                });
            let head = match (deep, wide) {
                (0, _) => format!("D[i, j in 0..{}] = real(i) - 0.3*real(j);", wide - 1),
                (_, 0) => format!("D[i in 0..{}, j] = real(i) - 0.3*real(j);", deep - 1),
                _ => format!(
                    "D[i in 0..{}, j] = real(i) - 0.3*real(j); D[i in {deep}..{last_row}, j in 0..{}] = real(i) - 0.3*real(j);",
                    deep - 1,
                    wide - 1
                ),
            };
            let statements = format!(
                "real[{rows},{columns}] D {{ {head} D[i in {deep}..{last_row}, j in {wide}..{last}] = \
                 0.5*{least} + 0.1*real((7*i + 3*j)%5); }} y = D[{last_row},{last}];"
            );
            let name = format!("{reads:?} on {rows}×{columns}");
            let (found, windows) = run(&name, &statements);
            near(found[0], d[last_row][last], &name);
            // Each column is carried as far as a step reads it back; the last row is carried whole, because it is read in the end.
            let depth = |column: usize| {
                let readers = reads.iter().filter(|(_, b)| {
                    let reader = column + b;
                    (wide..columns).contains(&reader)
                });
                readers.map(|(a, _)| *a).max().unwrap_or(0).max(1)
            };
            let needed: usize = (0..columns).map(depth).sum();
            let most = windows.iter().copied().max().unwrap_or(0);
            assert_eq!(most, needed, "{name}: {windows:?}");
        }
    }
}

/// A grid whose rows read those of later columns is computed by columns.
#[test]
fn the_order_of_axes_is_found() {
    let (rows, columns) = (9usize, 20usize);
    let mut d = vec![vec![0.0; columns]; rows];
    for j in 0..columns {
        for i in 0..rows {
            d[i][j] = match (j, i == rows - 1) {
                (0, _) => i as f64,
                (_, true) => 0.5,
                _ => 0.5 * d[i + 1][j - 1] + 0.25 * d[i][j - 1],
            };
        }
    }
    let statements = "real[9,20] D { D[i,0] = real(i); D[8, j in 1..19] = 0.5; \
        D[i in 0..7, j in 1..19] = 0.5*D[i+1,j-1] + 0.25*D[i,j-1]; } y = D[0,19];";
    let (found, windows) = run("columns", statements);
    near(found[0], d[0][19], "columns");
    assert_eq!(windows, [9]);
}

/// A derivative through many steps needs the steps that the sequence needs, each with its derivative.
#[test]
fn a_derivative_has_the_window_of_its_sequence() {
    let steps = |x0: [f64; 2]| {
        let mut x = [x0, [x0[0] + 0.1, x0[1]]];
        for _ in 2..120 {
            let v = [-x[1][1], x[1][0] * x[1][0] - 0.5];
            let next = [
                x[1][0] + 0.01 * v[0],
                x[1][1] + 0.01 * v[1] + 0.001 * x[0][0],
            ];
            x = [x[1], next];
        }
        x[1]
    };
    let statements = "vec2 x0 = base*[1.0, 0.5]; vec2[120] x { x[0] = x0; x[1] = x0 + [0.1, 0.0]; \
        x[t in 2..119] { vec2 last = x[t-1]; vec2 v = V(last); return last + 0.01*v + [0.0, 0.001*x[t-2][0]]; } } \
        mat2 J = ∂x[119]/∂x0; y = J[0,0] + 10.0*J[0,1] + 100.0*J[1,0] + 1000.0*J[1,1];";
    let (found, windows) = run("flow map", statements);
    let h = 1e-6;
    let mut wanted = 0.0;
    for (n, weight) in [1.0, 10.0, 100.0, 1000.0].into_iter().enumerate() {
        let mut moved = [[0.7, 0.35], [0.7, 0.35]];
        moved[0][n % 2] += h;
        moved[1][n % 2] -= h;
        let ends = moved.map(steps);
        wanted += weight * (ends[0][n / 2] - ends[1][n / 2]) / (2.0 * h);
    }
    assert!(
        (found[0] - wanted).abs() < 1e-4,
        "{} and {wanted}",
        found[0]
    );
    // Two steps back for the points, and two for their derivatives.
    assert_eq!(windows, [4]);
}

/// Grids and sequences that could not be written out.
#[test]
fn many_steps() {
    let size = 200;
    let mut d = vec![vec![0.0f64; size]; size];
    for i in 0..size {
        for j in 0..size {
            d[i][j] = match (i, j) {
                (0, _) => j as f64,
                (_, 0) => i as f64,
                _ => {
                    let differs = if (i * i) % 7 == (3 * j) % 7 { 0.0 } else { 1.0 };
                    (d[i - 1][j] + 1.0)
                        .min(d[i][j - 1] + 1.0)
                        .min(d[i - 1][j - 1] + differs)
                }
            };
        }
    }
    let statements = "real[200,200] D { D[0,j] = real(j); D[i in 1..199, 0] = real(i); \
        D[i in 1..199, j in 1..199] = min(min(D[i-1,j] + 1.0, D[i,j-1] + 1.0), \
            D[i-1,j-1] + (0.0 if (i*i)%7 == (3*j)%7 else 1.0)); } \
        real[5000] z { z[0] = base; z[t in 1..4999] = 0.999*z[t-1] + 0.001*sin(real(t)); } \
        y = D[199,199] + z[4999];";
    let (found, windows) = run("many", statements);
    let z = (1..5000).fold(0.7, |z, t| 0.999 * z + 0.001 * f64::from(t).sin());
    near(found[0], d[size - 1][size - 1] + z, "many");
    assert_eq!(windows, [size, 1]);
}

/// A few dozen elements are a loop if each is much work, and are written out if they are little, or cannot be steps.
#[test]
fn few_steps_of_much_work() {
    let v = |z: [f64; 2]| [-z[1], z[0] * z[0] - 0.5];
    let heun = |z: [f64; 2], h: f64| {
        let a = v(z);
        let b = v([z[0] + h * a[0], z[1] + h * a[1]]);
        [0, 1].map(|k| z[k] + 0.5 * h * (a[k] + b[k]))
    };
    let x = (1..49).fold([0.7, 0.1], |x, _| heun(x, 0.02));
    let steps = "vec2[49] x { x[0] = [base, 0.1]; x[t in 1..48] { vec2 here = x[t-1]; \
        vec2 there = here + 0.02*V(here); return here + 0.01*(V(here) + V(there)); } }";
    let (found, windows) = run("Heun", &format!("{steps} y = x[48][0] + 2.0*x[48][1];"));
    near(found[0], x[0] + 2.0 * x[1], "Heun");
    assert_eq!(windows, [1]);

    let (found, windows) = run(
        "little",
        "real[49] z { z[0] = base; z[t in 1..48] = 0.9*z[t-1] + 0.1; } y = z[48];",
    );
    near(found[0], (1..49).fold(0.7, |z, _| 0.9 * z + 0.1), "little");
    assert_eq!(windows, [0; 0]);

    // Each element reads the one at half its place, which no step can say by how far back it is.
    let mut halves = vec![[0.7, 0.1]];
    for t in 1..40 {
        halves.push(heun(halves[t / 2], 0.02));
    }
    let (found, windows) = run(
        "halves",
        "vec2[40] x { x[0] = [base, 0.1]; x[t in 1..39] { vec2 here = x[t/2]; \
         vec2 there = here + 0.02*V(here); return here + 0.01*(V(here) + V(there)); } } y = x[39][0];",
    );
    near(found[0], halves[39][0], "halves");
    assert_eq!(windows, [0; 0]);
}

/// A sequence has the same values wherever it is defined and read: among globals, in the state of strands, in functions.
#[test]
fn places_of_definition() {
    let clauses = "{ x[0] = base; x[t in 1..99] = 0.9*x[t-1] + 0.1*real(t%3); }";
    let last = (1..100).fold(0.7, |x, t| 0.9 * x + 0.1 * f64::from(t % 3));
    let globals = [
        (format!("real[100] x {clauses}"), "", "x[99]"),
        (format!("real[100] x {clauses} real z = x[99];"), "", "z"),
        (String::new(), &*format!("real[100] x {clauses}"), "x[99]"),
        (
            format!("function real f (real more) {{ real[100] x {clauses} return x[99] + more; }}"),
            "",
            "f(0.0)",
        ),
    ]
    .map(|(global, state, read)| (global, state.to_owned(), read));
    // Fields that contain reductions, and fields that a reduction reads and that are defined after the sequence.
    let all: f64 = (1..100)
        .fold((0.7, 0.7), |(x, all), t| {
            let x = 0.9 * x + 0.1 * f64::from(t % 3);
            (x, all + x)
        })
        .1;
    let more = [
        format!("real[100] x {clauses} field#2(2)[] G(z) = z[0]*{last}; field#2(2)[] H = G*sum[n](x[n]);"),
        format!(
            "real[100] x {clauses} function real at (int n) = x[n]; field#2(2)[] G(z) = z[0]*{last}; \
             real s = sum[n](x[n]*G([1, 2])); field#2(2)[] H(z) = s*z[0] + 0.0*at(0);"
        ),
    ]
    .map(|global| (global, String::new(), format!("H([1, 2])/{all}")));
    let globals = globals.map(|(global, state, read)| (global, state, read.to_owned()));
    for (global, state, read) in globals.into_iter().chain(more) {
        for in_update in [false, true] {
            let (value, update) = match in_update {
                true => ("0.0", format!("y = {read};")),
                false => (read.as_str(), String::new()),
            };
            let text = format!(
                "#version 2.0\ninput real base = 0.7;\n{global}\nstrand S (int n) {{ {state} output real y = {value}; \
                 update {{ {update} stabilize; }} }}\ncreate_array {{ S(n) | n in 0..3 }}\n"
            );
            let case = Case::new(Source::new("place.diderot", text.clone()));
            let (_, outcome) = case.stages_agree();
            assert!(
                outcome.outputs[0]
                    .1
                    .iter()
                    .all(|y| (y - last).abs() < 1e-12),
                "{text}"
            );
        }
    }
}

/// Steps read elements of other sequences at their own places: of short ones in a loop, of long ones written out.
#[test]
fn steps_that_read_other_sequences() {
    for (length, expected) in [(8usize, vec![1]), (100, vec![])] {
        let data = |n: usize| 0.3 * (n % 5) as f64;
        let x = (1..100).fold(0.7, |x, t| 0.9 * x + data(t % length));
        let statements = format!(
            "real[{length}] a[n] = base*real(n%5)*3.0/7.0; \
             real[100] x {{ x[0] = base; x[t in 1..99] = 0.9*x[t-1] + a[t%{length}]; }} y = x[99];"
        );
        let (found, windows) = run("other sequences", &statements);
        near(found[0], x, &statements);
        assert_eq!(windows, expected, "{statements}");
    }
}
