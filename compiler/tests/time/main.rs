//! Fields over time: against exact values, in every IR, at every width, on the CPU and as a GPU computes.

mod cases;
mod meshes;
mod series;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod stages;

use cases::{at_and_beside_frames, axes, case, cases, image};
use compiler::{front::source::Source, interpret::Outcome, pipeline::Options, run::ImageSource};
use ndarray::ArrayD;
use runtime::{
    grid::TimeAxis,
    image::{ImageArray, Orientation},
};
use stages::Case;

#[test]
fn stages_and_machine_code_agree() {
    let mut count = 0;
    for case in cases() {
        println!("{}", case.name);
        let agreed = case.stages_agree();
        case.machine_code_agrees(&agreed, 0);
        count += 1;
    }
    assert!(count > 30, "only {count} programs");
}

#[test]
fn device_code_gives_the_bits_of_the_cpu() {
    for case in cases().chain([at_and_beside_frames()]) {
        println!("{}", case.name);
        case.device_agrees();
    }
}

fn numbers(outcome: &Outcome, name: &str) -> Vec<f64> {
    let found = outcome.outputs.iter().find(|(known, _)| known == name);
    found.expect(name).1.clone()
}

/// (1 + 2x − y + 3z)(1 + t/2) with `ctmr` in space and time: value, gradient, and both by time.
#[test]
fn linear_functions_and_their_derivatives_are_exact() {
    let text = "#version 2.0
input image(3,time)[] img;
field#1(3,time#1)[] F = KRNS(ctmr, ctmr) ⊛ img;
strand S (int i) {
    vec3 x = [3.3 + 0.2*i, 3.1, 2.9 + 0.05*i];
    real t = 1.1 + 0.1*i;
    output real value = 0;
    output vec3 slope = [0, 0, 0];
    output real rate = 0;
    output vec3 both = [0, 0, 0];
    output real byTime = 0;
    output vec3 byPlace = [0, 0, 0];
    update {
        value = F(x, t) - (1 + 2*x[0] - x[1] + 3*x[2])*(1 + t/2);
        slope = ∇F(x, t) - [2, -1, 3]*(1 + t/2);
        rate = (∂[time] F)(x, t) - (1 + 2*x[0] - x[1] + 3*x[2])/2;
        both = (∂[time] ∇F)(x, t) - [1, -0.5, 1.5];
        real v = F(x, t);
        byTime = ∂v/∂t - (∂[time] F)(x, t);
        byPlace = ∂v/∂x - ∇F(x, t);
        stabilize;
    }
}
create_array { S(i) | i in 0..9 }
";
    let mut case = Case::new(Source::new("linear.diderot", text));
    let axis = TimeAxis::regular(0.5, 0.5).expect("times");
    let linear = |x: &[f64], t: f64, _| (1.0 + 2.0 * x[0] - x[1] + 3.0 * x[2]) * (1.0 + t / 2.0);
    case.images = vec![image(&[9, 8, 7], &[], &axis, linear)];
    for (double, tolerance) in [(false, 1e-5), (true, 1e-12)] {
        let options = Options {
            double,
            ..Options::default()
        };
        let outcome = case.run(&options, 1);
        // Values are up to 50.
        for (name, errors) in &outcome.outputs {
            let worst = errors.iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
            assert!(
                worst <= 50.0 * tolerance,
                "{name}: {worst:e}, double {double}"
            );
        }
    }
}

/// Rotation at the speed 1 + t, followed by the steps of the library: at the time 1 the angle is 1.5.
#[test]
fn pathlines_end_where_they_should() {
    let text = "#version 2.0
import \"std/integrate\";
input image(DIM,time)[DIM] flow;
field#0(DIM,time)[DIM] V = tent ⊛ flow;
strand S (int i) {
    tensor[DIM] x = START;
    output tensor[DIM] end = x;
    int n = 0;
    update {
        x = rk4PathStepDIM(V, x, 0.01*n, 0.01);
        n += 1;
        if (n == 100) { end = x; stabilize; }
    }
}
create_array { S(i) | i in 0..0 }
";
    let tenths: Vec<f64> = (0..11).map(|n| f64::from(n) / 10.0).collect();
    let irregular = vec![0.0, 0.1, 0.25, 0.3, 0.7, 1.0];
    for (dim, start) in [(2, "[0.5, 0]"), (3, "[0.5, 0, 0.25]")] {
        for times in [&tenths, &irregular] {
            let text = text
                .replace("START", start)
                .replace("DIM", &dim.to_string());
            let mut case = Case::new(Source::new("path.diderot", text));
            let axis = TimeAxis::of_times(times).expect("times");
            let sizes = [33, 33, 5];
            let step = 1.0 / 16.0;
            let mut all: Vec<usize> = vec![times.len()];
            all.extend(sizes[..dim].iter().rev());
            all.push(dim);
            let samples = ArrayD::from_shape_fn(all, |at| {
                let place = |axis: usize| at[dim - axis] as f64 * step - 1.0;
                let speed = 1.0 + times[at[0]];
                [-speed * place(1), speed * place(0), 0.0][at[dim + 1]]
            });
            let mut directions = vec![vec![0.0; dim]; dim];
            for (axis, direction) in directions.iter_mut().enumerate() {
                direction[axis] = step;
            }
            let orientation = Orientation::new(&directions, &[-1.0; 3][..dim]).expect("a grid");
            let array = ImageArray::new(samples, orientation).over_time(axis);
            case.images = vec![ImageSource::Array(array)];
            for (double, tolerance) in [(false, 3e-7), (true, 6e-10)] {
                let options = Options {
                    double,
                    ..Options::default()
                };
                let end = numbers(&case.run(&options, 1), "end");
                let error = (end[0] - 0.5 * 1.5f64.cos()).hypot(end[1] - 0.5 * 1.5f64.sin());
                println!(
                    "{dim} dimensions, {} frames, double {double}: {error:e}",
                    times.len()
                );
                assert!(error <= tolerance, "{error:e}");
            }
        }
    }
}

/// Every strand has a time of its own, and gives the bits that it gives alone.
#[test]
fn companions_in_other_frames_do_not_matter() {
    let [axis, _] = axes();
    for name in ["own times", "smooth in time"] {
        let case = case(name, 3, &axis);
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

/// A definition that names another one twice takes the work of one: a row of such definitions compiles, and has its value.
#[test]
fn long_rows_of_definitions_are_translated_once() {
    let mut text = "#version 2.0
input image(2,time)[] img;
field#1(2,time#1)[] F0 = KRNS(ctmr, ctmr) ⊛ img;
"
    .to_owned();
    for n in 1..=40 {
        let before = n - 1;
        text += &format!("field#1(2,time#1)[] F{n} = 0.5*(F{before} + sin(F{before}));\n");
    }
    text += "strand S (int i) {
    vec2 x = [2.5 + 0.1*i, 3];
    output real last = 0;
    output real first = 0;
    update {
        if (i % 2 == 0) { last = F40(x, 1.6); } else { last = F40(x, 1.7); }
        first = F0(x, 1.6 + 0.1*(i % 2));
        stabilize;
    }
}
create_array { S(i) | i in 0..9 }
";
    let mut case = Case::new(Source::new("row.diderot", text));
    let axis = TimeAxis::regular(0.5, 0.5).expect("times");
    case.images = vec![image(&[9, 8], &[], &axis, |x, t, _| {
        0.2 * (x[0] + t) - 0.1 * x[1]
    })];
    let options = Options {
        double: true,
        ..Options::default()
    };
    let outcome = case.run(&options, 1);
    let (first, last) = (numbers(&outcome, "first"), numbers(&outcome, "last"));
    for (first, last) in first.iter().zip(last) {
        let expected = (0..40).fold(*first, |y, _| 0.5 * (y + y.sin()));
        assert!((last - expected).abs() < 1e-12, "{last} and {expected}");
    }
}
