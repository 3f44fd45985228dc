//! Elementary functions against correctly rounded values, in every version.

use runtime::math::{MATH, lookup_for};
use runtime::simd::{Float, Isa, WIDTHS};

/// Applies a function to all rows of arguments through one version.
fn apply<T: Float>(isa: Isa, width: usize, name: &str, arguments: &[Vec<T>]) -> Vec<T> {
    let primitive = lookup_for(isa, name, T::REAL, width).expect("a primitive");
    let arity = MATH
        .iter()
        .find(|row| row.name == name)
        .expect("a row")
        .arity;
    let mut results = Vec::new();
    for block in arguments.chunks(width) {
        let mut args = vec![T::from_f64(0.5); arity * width];
        for (lane, row) in block.iter().enumerate() {
            for (i, &x) in row.iter().enumerate() {
                args[i * width + lane] = x;
            }
        }
        let mut out = vec![T::from_f64(0.0); width];
        // SAFETY: the buffers have the sizes of the contract and the instruction set is available.
        unsafe { primitive(args.as_ptr().cast(), out.as_mut_ptr().cast()) };
        results.extend_from_slice(&out[..block.len()]);
    }
    results
}

fn for_every_version(mut check: impl FnMut(Isa, usize)) {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for width in WIDTHS {
            check(isa, width);
        }
    }
}

/// Numbers between `a` and `b`, zero if they are the same; NaN equals NaN.
fn distance(a: f64, b: f64) -> u64 {
    let ordered = |x: f64| {
        if x.is_sign_negative() {
            -((x.to_bits() << 1 >> 1) as i64)
        } else {
            x.to_bits() as i64
        }
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => ordered(a).abs_diff(ordered(b)),
        _ => u64::MAX,
    }
}

/// As [`distance`] among singles.
fn single_distance(a: f32, b: f32) -> u64 {
    let ordered = |x: f32| {
        i64::from(if x.is_sign_negative() {
            -((x.to_bits() << 1 >> 1) as i32)
        } else {
            x.to_bits() as i32
        })
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => ordered(a).abs_diff(ordered(b)),
        _ => u64::MAX,
    }
}

/// Function, arguments and correctly rounded result; see `generate.py` beside the file.
fn vectors() -> Vec<(String, Vec<f64>, f64)> {
    include_str!("math_vectors/vectors.txt")
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().expect("a name").to_string();
            let mut numbers: Vec<f64> = words
                .map(|w| f64::from_bits(u64::from_str_radix(w, 16).expect("the bits of a double")))
                .collect();
            let result = numbers.pop().expect("a result");
            (name, numbers, result)
        })
        .collect()
}

/// The arguments and results of one function.
fn of<'a>(
    vectors: &'a [(String, Vec<f64>, f64)],
    name: &'a str,
) -> impl Iterator<Item = (&'a Vec<f64>, f64)> {
    vectors
        .iter()
        .filter(move |v| v.0 == name)
        .map(|v| (&v.1, v.2))
}

#[test]
fn doubles_are_within_one_unit_of_the_rounded_value() {
    let vectors = vectors();
    for row in MATH {
        let (arguments, wanted): (Vec<Vec<f64>>, Vec<f64>) =
            of(&vectors, row.name).map(|(a, w)| (a.clone(), w)).unzip();
        for_every_version(|isa, width| {
            let results = apply::<f64>(isa, width, row.name, &arguments);
            for ((args, &wanted), &result) in arguments.iter().zip(&wanted).zip(&results) {
                assert!(
                    distance(result, wanted) <= 1,
                    "{isa:?} {width}: {}({args:?}) is {result:e}, wanted {wanted:e}, {} units off",
                    row.name,
                    distance(result, wanted)
                );
            }
        });
    }
}

#[test]
fn every_function_without_an_exact_definition_has_vectors() {
    let vectors = vectors();
    let exact = ["sqrt", "fmod", "floor", "ceil", "round", "trunc"];
    for row in MATH.iter().filter(|row| !exact.contains(&row.name)) {
        assert!(of(&vectors, row.name).count() >= 30, "{}", row.name);
    }
}

/// The function of the standard library in double precision, where it has one.
fn standard(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "sin" => |x, _| x.sin(),
        "cos" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "asin" => |x, _| x.asin(),
        "acos" => |x, _| x.acos(),
        "atan" => |x, _| x.atan(),
        "atan2" => |y, x| y.atan2(x),
        "exp" => |x, _| x.exp(),
        "log" => |x, _| x.ln(),
        "log2" => |x, _| x.log2(),
        "log10" => |x, _| x.log10(),
        "pow" => |x, y| x.powf(y),
        "sqrt" => |x, _| x.sqrt(),
        "fmod" => |x, y| x % y,
        "floor" => |x, _| x.floor(),
        "ceil" => |x, _| x.ceil(),
        "round" => |x, _| x.round(),
        "trunc" => |x, _| x.trunc(),
        _ => return None,
    })
}

#[test]
fn singles_of_all_magnitudes_are_within_one_unit() {
    // A stride coprime to powers of two visits all exponents and signs, subnormals, infinities and NaNs.
    let singles: Vec<f32> = (0..u32::MAX)
        .step_by(1_000_003)
        .map(f32::from_bits)
        .collect();
    for row in MATH {
        let Some(standard) = standard(row.name) else {
            continue;
        };
        let arguments: Vec<Vec<f32>> = match row.arity {
            1 => singles.iter().map(|&x| vec![x]).collect(),
            _ => singles
                .iter()
                .zip(singles.iter().rev().skip(1000))
                .map(|(&x, &y)| vec![x, y])
                .collect(),
        };
        for_every_version(|isa, width| {
            let results = apply::<f32>(isa, width, row.name, &arguments);
            for (args, &result) in arguments.iter().zip(&results) {
                let wanted =
                    standard(f64::from(args[0]), f64::from(*args.last().unwrap_or(&0.0))) as f32;
                let off = single_distance(result, wanted);
                assert!(
                    off <= 1,
                    "{isa:?} {width}: {}({args:?}) is {result:e}, wanted {wanted:e}",
                    row.name
                );
            }
        });
    }
}

#[test]
fn singles_of_error_functions_are_within_one_unit_of_the_vectors() {
    let vectors = vectors();
    for name in ["erf", "erfc"] {
        // Vectors that are singles by chance are few; their neighbours among the singles are near enough to
        // compare with the double result there, which the vectors vouch for.
        let singles: Vec<Vec<f32>> = of(&vectors, name)
            .map(|(args, _)| vec![args[0] as f32])
            .collect();
        let doubles: Vec<Vec<f64>> = singles.iter().map(|x| vec![f64::from(x[0])]).collect();
        for_every_version(|isa, width| {
            let wanted = apply::<f64>(isa, width, name, &doubles);
            for (wanted, result) in wanted.iter().zip(apply::<f32>(isa, width, name, &singles)) {
                assert!(single_distance(*wanted as f32, result) <= 1);
            }
        });
    }
}

#[test]
fn exact_functions_are_exact_in_doubles() {
    let mut state = 7u64;
    let mut arguments: Vec<Vec<f64>> = Vec::new();
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        f64::from_bits(state ^ (state >> 31))
    };
    for _ in 0..2000 {
        arguments.push(vec![next(), next()]);
    }
    for i in -400..400 {
        let x = f64::from(i) / 8.0;
        for y in [0.1, 0.75, 1.0, -2.5, 3.0] {
            arguments.push(vec![x, y]);
        }
        arguments.push(vec![x.next_up(), x.next_down()]);
        arguments.push(vec![x * 2f64.powi(49), 0.3]);
    }
    for name in ["sqrt", "fmod", "floor", "ceil", "round", "trunc"] {
        let standard = standard(name).expect("a function");
        let arity = MATH
            .iter()
            .find(|row| row.name == name)
            .expect("a row")
            .arity;
        let arguments: Vec<Vec<f64>> = arguments.iter().map(|a| a[..arity].to_vec()).collect();
        for_every_version(|isa, width| {
            for (args, result) in arguments
                .iter()
                .zip(apply::<f64>(isa, width, name, &arguments))
            {
                let wanted = standard(args[0], *args.last().unwrap_or(&0.0));
                let same =
                    result.to_bits() == wanted.to_bits() || (result.is_nan() && wanted.is_nan());
                assert!(
                    same,
                    "{isa:?} {width}: {name}({args:?}) is {result:e}, wanted {wanted:e}"
                );
            }
        });
    }
}

/// Special cases as C has them: equal to the standard library bit for bit, zeros and signs included.
#[test]
fn special_arguments_follow_c() {
    let inf = f64::INFINITY;
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        inf,
        -inf,
        f64::NAN,
        f64::MAX,
        f64::MIN,
        5e-324,
        -5e-324,
        1e300,
        -1e300,
        9007199254740993.0,
        -9007199254740991.0,
        4503599627370497.0,
    ];
    for row in MATH {
        let mut arguments = Vec::new();
        for x in specials {
            match row.arity {
                1 => arguments.push(vec![x]),
                _ => arguments.extend(specials.map(|y| vec![x, y])),
            }
        }
        let reference = |args: &[f64]| match row.name {
            "erf" if args[0].is_infinite() => Some(1f64.copysign(args[0])),
            "erf" if args[0] == 0.0 || args[0].is_nan() => Some(args[0]),
            "erfc" if args[0] == inf => Some(0.0),
            "erfc" if args[0] == -inf => Some(2.0),
            "erfc" if args[0] == 0.0 => Some(1.0),
            "erfc" if args[0].is_nan() => Some(args[0]),
            name => standard(name).map(|f| f(args[0], *args.last().unwrap_or(&0.0))),
        };
        for_every_version(|isa, width| {
            for (args, result) in arguments
                .iter()
                .zip(apply::<f64>(isa, width, row.name, &arguments))
            {
                let Some(wanted) = reference(args) else {
                    continue;
                };
                let close = distance(result, wanted) <= 2
                    && result.is_sign_negative() == wanted.is_sign_negative();
                let special = wanted == 0.0 || !wanted.is_finite();
                let same = if wanted.is_nan() {
                    result.is_nan()
                } else if special {
                    result.to_bits() == wanted.to_bits()
                } else {
                    close
                };
                assert!(
                    same,
                    "{isa:?} {width}: {}({args:?}) is {result:e}, wanted {wanted:e}",
                    row.name
                );
            }
        });
    }
}

#[test]
fn a_lane_gives_the_same_bits_at_every_width() {
    let vectors = vectors();
    for row in MATH {
        let arguments: Vec<Vec<f64>> = of(&vectors, row.name)
            .map(|(args, _)| args.clone())
            .collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let alone: Vec<u64> = apply::<f64>(isa, 1, row.name, &arguments)
                .iter()
                .map(|x| x.to_bits())
                .collect();
            for width in [4, 8, 16] {
                let together = apply::<f64>(isa, width, row.name, &arguments);
                let together: Vec<u64> = together.iter().map(|x| x.to_bits()).collect();
                assert_eq!(alone, together, "{} {isa:?} {width}", row.name);
            }
        }
    }
}

#[test]
fn unknown_names_and_widths_are_refused() {
    assert!(lookup_for(Isa::Baseline, "sinh", f64::REAL, 4).is_err());
    assert!(lookup_for(Isa::Baseline, "sin", f64::REAL, 5).is_err());
}
