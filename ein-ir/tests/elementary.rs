//! Every elementary function: its Taylor series against its values, its derivative text against its Taylor series.

use ein_ir::ops::Lift;
use ein_ir::{ELEMENTARY, Ein, Elementary, Input, Jet, Param, Shape, Tensor, random_numbers};
use std::{f64::consts::PI, time::UNIX_EPOCH};

const ORDER: usize = 6;

/// Points inside the domain of a function and away from its jumps, other ones in every run.
fn points(function: Elementary) -> Vec<Vec<f64>> {
    let def = function.def();
    let mut points = Vec::new();
    let first = std::env::var("DIDEROT_SEED").map_or_else(
        |_| UNIX_EPOCH.elapsed().expect("a time after 1970").as_nanos() as u64,
        |seed| seed.parse().expect("DIDEROT_SEED is a number"),
    );
    println!("{}: DIDEROT_SEED={first}", def.name);
    for seed in first..first + 100 {
        let at: Vec<f64> = random_numbers(seed)
            .take(function.arity())
            .map(|x| 1.4 * x)
            .collect();
        let inside = |&(k, domain): &(usize, ein_ir::ops::Domain)| {
            domain.margin(&Tensor::scalar(at[k])) > 0.2
        };
        // Jumps have at least the margin of the domain as their height, so small steps show them.
        let along = |step: i32| (def.value)(&nearby(&at, 0.002 * f64::from(step)));
        let jumps = (-10..10).any(|step| (along(step + 1) - along(step)).abs() > 0.1);
        if def.domain.iter().all(inside) && !jumps {
            points.push(at);
        }
    }
    assert!(points.len() > 5, "too few points for {}", def.name);
    points
}

/// A point at some distance, not by the same step in all arguments.
fn nearby(at: &[f64], step: f64) -> Vec<f64> {
    let shifted = |(k, x): (usize, &f64)| x + step * (1.0 - 0.3 * k as f64);
    at.iter().enumerate().map(shifted).collect()
}

fn scalars(at: &[f64]) -> Vec<Input<'static>> {
    at.iter()
        .map(|&x| Input::Tensor(Tensor::scalar(x)))
        .collect()
}

#[test]
fn the_table_is_in_the_order_of_the_functions() {
    for (k, def) in ELEMENTARY.iter().enumerate() {
        assert_eq!(def.function as usize, k, "{}", def.name);
        assert_eq!(Elementary::named(def.name), Some(def.function));
    }
}

#[test]
fn taylor_series_start_with_the_value_and_sum_to_it_nearby() {
    for def in ELEMENTARY {
        for at in points(def.function) {
            let series = (def.series)(&at, 12);
            let value = (def.value)(&at);
            assert!(
                (series.value() - value).abs() <= 1e-14 * (1.0 + value.abs()),
                "{} at {at:?}",
                def.name
            );
            let near = nearby(&at, 0.01);
            let sum: f64 = series
                .terms()
                .map(|(exponents, c)| {
                    let powers = exponents.iter().enumerate();
                    c * powers
                        .map(|(k, &e)| (near[k] - at[k]).powi(e as i32))
                        .product::<f64>()
                })
                .sum();
            let wanted = (def.value)(&near);
            assert!(
                (sum - wanted).abs() <= 1e-12 * (1.0 + wanted.abs()),
                "{} near {at:?}",
                def.name
            );
        }
    }
}

#[test]
fn derivative_texts_are_the_derivatives_of_the_taylor_series() {
    for def in ELEMENTARY {
        let params = vec![Param::Tensor(Shape::SCALAR); def.function.arity()];
        for argument in 0..params.len() {
            let body = def.function.derivative(argument);
            let derivative = Ein {
                params: params.clone(),
                axes: Vec::new(),
                body,
            };
            assert_eq!(derivative.verify(), [], "{}", def.name);
            for at in points(def.function) {
                let found = derivative.eval(&scalars(&at))[[]];
                let wanted = (def.series)(&at, 1).partial(&[argument]);
                assert!(
                    (found - wanted).abs() <= 1e-12 * (1.0 + wanted.abs()),
                    "{} at {at:?}",
                    def.name
                );
            }
        }
    }
}

/// A coordinate of the space that a function's arguments span, as a field.
struct Coordinate {
    dim: usize,
    axis: usize,
}

impl ein_ir::LeafField for Coordinate {
    fn dim(&self) -> usize {
        self.dim
    }

    fn shape(&self) -> Shape {
        Shape::SCALAR
    }

    fn expand(&self, at: &[f64], order: usize) -> Vec<Jet> {
        vec![Jet::variable(self.dim, order, self.axis, at[self.axis])]
    }
}

#[test]
fn derivative_texts_have_the_higher_derivatives_of_the_taylor_series() {
    for def in ELEMENTARY {
        let dim = def.function.arity();
        let params = vec![
            Param::Field {
                dim,
                shape: Shape::SCALAR
            };
            dim
        ];
        let coordinates: Vec<Coordinate> = (0..dim).map(|axis| Coordinate { dim, axis }).collect();
        let inputs: Vec<Input> = coordinates.iter().map(|c| Input::Field(c)).collect();
        for argument in 0..dim {
            let body = def.function.derivative(argument);
            let derivative = Ein {
                params: params.clone(),
                axes: Vec::new(),
                body,
            };
            for at in points(def.function) {
                let found = derivative.expand(&inputs, &at, ORDER);
                let wanted = (def.series)(&at, ORDER + 1).derivative(argument);
                for (f, w) in found[[]].coefficients().iter().zip(wanted.coefficients()) {
                    assert!(
                        (f - w).abs() <= 1e-8 * (1.0 + w.abs()),
                        "{} at {at:?}: {f} {w}",
                        def.name
                    );
                }
            }
        }
    }
}

/// Arguments all over the place: in and out of the domain, on its edge, and on both sides of zero.
fn everywhere(function: Elementary) -> Vec<Vec<f64>> {
    let mut line: Vec<f64> = (-12..=12).map(|k| f64::from(k) / 4.0).collect();
    line.extend([PI / 2.0, -1e-9, 1e-9]);
    match function.arity() {
        1 => line.iter().map(|&x| vec![x]).collect(),
        _ => (line.iter())
            .flat_map(|&x| line.iter().map(move |&y| vec![x, y]))
            .collect(),
    }
}

#[test]
fn rows_say_which_functions_are_singular() {
    for def in ELEMENTARY {
        let value = |at: &[f64]| (def.value)(at);
        let points = everywhere(def.function);
        let undefined = points
            .iter()
            .map(|at| value(at).abs())
            .any(|size| size.is_nan() || size >= 1e12);
        // A function of fields that jumps has no value where it does, and the angle around the origin is such a one.
        let jumps = def.lift == Lift::Pointwise
            && points.iter().any(|at| {
                let near: Vec<f64> = at
                    .iter()
                    .map(|x| if x.abs() < 1e-8 { -x } else { *x })
                    .collect();
                (value(&near) - value(at)).abs() > 1.0
            });
        assert_eq!(def.singular, undefined || jumps, "{}", def.name);
    }
}

#[test]
fn rows_say_which_functions_are_never_negative() {
    for def in ELEMENTARY {
        let negative = everywhere(def.function)
            .iter()
            .any(|at| (def.value)(at) < 0.0);
        assert_eq!(def.nonnegative, !negative, "{}", def.name);
    }
}

#[test]
fn values_are_those_of_the_c_library() {
    let value = |function: Elementary, at: &[f64]| (function.def().value)(at);
    assert_eq!(
        [-2.5, -0.5, 0.5, 2.5].map(|x| value(Elementary::Round, &[x])),
        [-3.0, -1.0, 1.0, 3.0]
    );
    assert_eq!(
        [-1.5, 1.5].map(|x| value(Elementary::Trunc, &[x])),
        [-1.0, 1.0]
    );
    assert_eq!(
        [-1.5, 1.5].map(|x| value(Elementary::Floor, &[x])),
        [-2.0, 1.0]
    );
    assert_eq!(
        [-1.5, 1.5].map(|x| value(Elementary::Ceil, &[x])),
        [-1.0, 2.0]
    );
    assert_eq!(
        [-7.0, 7.0].map(|x| value(Elementary::Fmod, &[x, 3.0])),
        [-1.0, 1.0]
    );
    assert_eq!(
        [-2.0, 0.0, 2.0].map(|x| value(Elementary::Sign, &[x])),
        [-1.0, 0.0, 1.0]
    );
    assert_eq!(value(Elementary::Atan2, &[1.0, -1.0]), 0.75 * PI);
    assert_eq!(value(Elementary::Pow, &[-2.0, 3.0]), -8.0);
    assert!(value(Elementary::Pow, &[-2.0, 0.5]).is_nan());
    assert_eq!(value(Elementary::Log2, &[8.0]), 3.0);
}
