//! Derivatives of derivatives, against Taylor series.

use crate::stages::Case;
use compiler::{front::source::Source, pipeline::Options};

/// The order of the derivative.
const ORDER: usize = 12;

/// The coefficients of a series in `x` around a point.
type Series = [f64; ORDER + 1];

fn product(a: &Series, b: &Series) -> Series {
    std::array::from_fn(|n| (0..=n).map(|k| a[k] * b[n - k]).sum())
}

fn quotient(a: &Series, b: &Series) -> Series {
    let mut q = [0.0; ORDER + 1];
    for n in 0..=ORDER {
        let known: f64 = (0..n).map(|k| q[k] * b[n - k]).sum();
        q[n] = (a[n] - known) / b[0];
    }
    q
}

fn exponential(a: &Series) -> Series {
    let mut e = [0.0; ORDER + 1];
    e[0] = a[0].exp();
    for n in 1..=ORDER {
        let sum: f64 = (1..=n).map(|k| k as f64 * a[k] * e[n - k]).sum();
        e[n] = sum / n as f64;
    }
    e
}

fn sine(a: &Series) -> Series {
    let (mut s, mut c) = ([0.0; ORDER + 1], [0.0; ORDER + 1]);
    (s[0], c[0]) = a[0].sin_cos();
    for n in 1..=ORDER {
        let sum = |of: &Series| (1..=n).map(|k| k as f64 * a[k] * of[n - k]).sum::<f64>();
        (s[n], c[n]) = (sum(&c) / n as f64, -sum(&s) / n as f64);
    }
    s
}

/// The derivatives of sin(x²)/(1 + eˣ), up to the twelfth.
fn truth(at: f64) -> Vec<f64> {
    let mut x = [0.0; ORDER + 1];
    (x[0], x[1]) = (at, 1.0);
    let mut below = exponential(&x);
    below[0] += 1.0;
    let series = quotient(&sine(&product(&x, &x)), &below);
    let factorials = (0..=ORDER).scan(1.0, |product, n| {
        *product *= n.max(1) as f64;
        Some(*product)
    });
    series.iter().zip(factorials).map(|(a, n)| a * n).collect()
}

#[test]
fn twelve_derivatives_of_one_another() {
    let mut text = "#version 2.0\nstrand S (int i) {\n    real x = 0.3 + 0.2*i;\n    output real d0 = sin(x*x)/(1 + exp(x));\n".to_owned();
    for n in 1..=ORDER {
        text += &format!("    output real d{n} = ∂d{}/∂x;\n", n - 1);
    }
    text += "    update { stabilize; }\n}\ncreate_array { S(i) | i in 0..2 }\n";
    let case = Case::new(Source::new("repeated.diderot", text));
    let options = Options {
        double: true,
        ..Options::default()
    };
    let outcome = case.run(&options, 1);
    for n in 0..=ORDER {
        let name = format!("d{n}");
        let found = outcome.outputs.iter().find(|(output, _)| *output == name);
        let found = &found.expect("an output").1;
        for (i, found) in found.iter().enumerate() {
            let truth = truth(0.3 + 0.2 * i as f64)[n];
            let scale = truth.abs().max(1.0);
            assert!(
                (found - truth).abs() < 1e-9 * scale,
                "d{n} of strand {i}: {found}, not {truth}"
            );
        }
    }
}
