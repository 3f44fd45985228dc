//! Reductions of sequences by clauses: the loops that compute them, their values, and their derivatives.

use super::{near, run};

/// A sequence that is only reduced is not kept: one loop carries the accumulated values together with those that the steps need.
#[test]
fn reductions_are_computed_in_the_same_steps() {
    let x: Vec<f64> = (1..100).fold(vec![0.7], |mut x, t| {
        x.push(0.9 * x[t - 1] + 0.1 * (t as f64).sin());
        x
    });
    let sum = |each: &dyn Fn(usize) -> f64, low: usize, high: usize| (low..=high).map(each).sum();
    let greatest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let all: f64 = x.iter().sum();
    let squares: f64 = sum(&|n| x[n] * x[n], 0, 99);
    let cases: &[(&str, f64, &[usize])] = &[
        ("sum[n](x[n])", all, &[2]),
        ("mean[n](x[n])", all / 100.0, &[2]),
        ("max[n](x[n])", greatest, &[2]),
        ("min[n](2.0*x[n])", 2.0 * least, &[2]),
        (
            "product[n](1.0 + 0.01*x[n])",
            x.iter().map(|x| 1.0 + 0.01 * x).product(),
            &[2],
        ),
        (
            "sum[n](x[n]*real(n)*w)",
            0.3 * sum(&|n| x[n] * n as f64, 0, 99),
            &[2],
        ),
        (
            "sum[n in 1..99](x[n]*x[n-1])",
            sum(&|n| x[n] * x[n - 1], 1, 99),
            &[2],
        ),
        (
            "sum[n:98](x[n+2]*x[n])",
            sum(&|n| x[n + 2] * x[n], 0, 97),
            &[3],
        ),
        ("sum[n:60](x[n])", sum(&|n| x[n], 0, 59), &[2, 1]),
        ("sum[n in 40..60](x[n])", sum(&|n| x[n], 40, 60), &[1, 2, 1]),
        (
            "real(argmax[n](x[n])) + 0.5*real(argmin[n in 3..90](x[n]*x[n]))",
            place_of(&x),
            &[3, 5, 3],
        ),
        (
            "(1.0 if all[n](x[n] > -2.0) else 0.0) + (2.0 if exists[n](x[n] > 5.0) else 0.0)",
            1.0,
            &[3],
        ),
        ("1.0 if all[n](x[n] > 0.5) else 0.0", 0.0, &[2]),
        // The last element is read besides, and two things are accumulated.
        ("sum[n](x[n]) + x[99]", all + x[99], &[2]),
        ("sum[n](x[n]*x[n])/max[n](x[n])", squares / greatest, &[3]),
        (
            "sqrt(sum[n](x[n]*x[n])) if w > 0.0 else 0.0",
            squares.sqrt(),
            &[],
        ),
        // All of it is read besides.
        ("sum[n](x[n]) + x[pick]", all + x[5], &[]),
    ];
    for (expression, wanted, expected) in cases {
        let statements = format!(
            "real w = 0.3; real[100] x {{ x[0] = base; x[t in 1..99] = 0.9*x[t-1] + 0.1*sin(real(t)); }} y = {expression};"
        );
        let (found, windows) = run(expression, &statements);
        near(found[0], *wanted, expression);
        assert_eq!(windows, *expected, "{expression}");
    }
}

fn place_of(x: &[f64]) -> f64 {
    let greatest = x
        .iter()
        .enumerate()
        .fold(0, |at, (n, v)| if *v > x[at] { n } else { at });
    let least = (3..=90).fold(3, |at, n| if x[n] * x[n] < x[at] * x[at] { n } else { at });
    greatest as f64 + 0.5 * least as f64
}

/// What a reduction reads besides must be known where the sequence is defined, and it must be computed in any case.
#[test]
fn reductions_that_stay_where_they_are() {
    let x = |t: u32| (1..=t).fold(0.7, |x, _| 0.9 * x);
    let all: f64 = (0..100).map(x).sum();
    let clauses = "real[100] x { x[0] = base; x[t in 1..99] = 0.9*x[t-1]; }";
    let cases = [
        (
            format!("real w = 2.0; {clauses} w = 3.0; y = sum[n](w*x[n]);"),
            3.0 * all,
        ),
        (
            format!("{clauses} if (base > 0.0) {{ y = sum[n](x[n]); }}"),
            all,
        ),
        (
            format!("{clauses} foreach (int k in 0..1) {{ y += sum[n](x[n]); }}"),
            2.0 * all,
        ),
        (format!("{clauses} x = x; y = sum[n](x[n]);"), all),
    ];
    for (statements, wanted) in cases {
        let (found, _) = run(&statements, &statements);
        near(found[0], wanted, &statements);
    }
    // A sequence of numbers that are computed between does not keep it from being computed later.
    let later = format!("{clauses} real w = 2.0*base; y = sum[n](w*x[n]);");
    let (found, windows) = run("later", &later);
    near(found[0], 1.4 * all, "later");
    assert_eq!(windows, [2]);
}

/// Reductions of grids, of vectors, and of what could not be kept.
#[test]
fn reductions_of_grids_and_vectors() {
    let (rows, columns) = (20usize, 9usize);
    let mut d = vec![vec![0.0f64; columns]; rows];
    for i in 0..rows {
        for j in 0..columns {
            d[i][j] = match (i, j) {
                (0, _) => j as f64,
                (_, 0) => 0.5 * i as f64,
                _ => 0.5 * d[i - 1][j] + 0.3 * d[i][j - 1] + 0.1 * ((7 * i + 3 * j) % 5) as f64,
            };
        }
    }
    let grid = "real[20,9] D { D[0,j] = real(j); D[i in 1..19, 0] = 0.5*real(i); \
        D[i in 1..19, j in 1..8] = 0.5*D[i-1,j] + 0.3*D[i,j-1] + 0.1*real((7*i + 3*j)%5); }";
    let greatest = d
        .iter()
        .flatten()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    let cases: [(&str, f64, &[usize]); 3] = [
        ("max[i,j](D[i,j])", greatest, &[9]),
        (
            "sum[i,j](D[i,j]*D[i,j])",
            d.iter().flatten().map(|d| d * d).sum(),
            &[9],
        ),
        ("sum[i](D[i,8])", d.iter().map(|row| row[8]).sum(), &[9]),
    ];
    for (expression, wanted, expected) in cases {
        let (found, windows) = run(expression, &format!("{grid} y = {expression};"));
        near(found[0], wanted, expression);
        assert_eq!(windows, expected, "{expression}");
    }
    let mut p = [0.7, 0.35];
    let mut total = p;
    for _ in 1..100 {
        p = [p[0] - 0.01 * p[1], p[1] + 0.01 * (p[0] * p[0] - 0.5)];
        total = [total[0] + p[0], total[1] + p[1]];
    }
    let points = "vec2[100] p { p[0] = base*[1.0, 0.5]; p[t in 1..99] = p[t-1] + 0.01*V(p[t-1]); }";
    let sums = [
        (
            format!("{points} vec2 m[i] = sum[n](p[n][i]); y = m[0] + 10.0*m[1];"),
            &[3],
        ),
        (
            format!("{points} vec2 m = sum[n](p[n]); y = m[0] + 10.0*m[1];"),
            &[2],
        ),
    ];
    for (statements, expected) in sums {
        let (found, windows) = run("points", &statements);
        near(found[0], total[0] + 10.0 * total[1], &statements);
        assert_eq!(windows, expected, "{statements}");
    }
    let long = "real[9000] z { z[0] = base; z[t in 1..8999] = 0.999*z[t-1] + 0.001*sin(real(t)); } \
        real[200,200] G { G[0,j] = real(j); G[i in 1..199, 0] = real(i); \
            G[i in 1..199, j in 1..199] = 0.5*(G[i-1,j] + G[i,j-1]) + 0.001*G[i-1,j-1]; } \
        y = sum[n](z[n]) + max[i,j](G[i,j]);";
    let z = (1..9000).fold(vec![0.7], |mut z: Vec<f64>, t| {
        z.push(0.999 * z[t - 1] + 0.001 * (t as f64).sin());
        z
    });
    let mut g = vec![vec![0.0f64; 200]; 200];
    for i in 0..200 {
        for j in 0..200 {
            g[i][j] = match (i, j) {
                (0, _) => j as f64,
                (_, 0) => i as f64,
                _ => 0.5 * (g[i - 1][j] + g[i][j - 1]) + 0.001 * g[i - 1][j - 1],
            };
        }
    }
    let greatest = g.iter().flatten().copied().fold(0.0, f64::max);
    let (found, windows) = run("long", long);
    near(found[0], z.iter().sum::<f64>() + greatest, "long");
    assert_eq!(windows, [2, 201]);
}

/// A derivative through a reduction of a sequence in steps.
#[test]
fn derivatives_of_reductions() {
    let total = |base: f64| {
        let mut x = base;
        (1..100).fold(x, |sum, t| {
            x = 0.9 * x + 0.1 * (x + f64::from(t)).sin();
            sum + x * x
        })
    };
    let statements = "real b = base; real[100] x { x[0] = b; x[t in 1..99] = 0.9*x[t-1] + 0.1*sin(x[t-1] + real(t)); } \
        real s = sum[n](x[n]*x[n] if n > 0 else x[n]); y = ∂s/∂b;";
    let (found, windows) = run("of a sum", statements);
    // One loop carries the sequence and the sum, each with its derivative.
    assert_eq!(windows.last(), Some(&4));
    let h = 1e-6;
    let wanted = (total(0.7 + h) - total(0.7 - h)) / (2.0 * h);
    assert!(
        (found[0] - wanted).abs() < 1e-5,
        "{} and {wanted}",
        found[0]
    );
}

/// A reduction of a sequence in another one of it.
#[test]
fn a_reduction_in_another_one() {
    let mut x = vec![0.7];
    (1..100).for_each(|t| x.push(0.9 * x[t - 1]));
    let mean = x.iter().sum::<f64>() / 100.0;
    let wanted = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    let statements = "real[100] x { x[0] = base; x[t in 1..99] = 0.9*x[t-1]; } \
        y = sum[n]((x[n] - sum[m](x[m])/100.0)^2);";
    let (found, _) = run("deviations", statements);
    near(found[0], wanted, "deviations");
}
