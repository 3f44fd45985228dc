//! Elementary functions against correctly rounded values, in every version.
//!
//! Random arguments are others in every run. A failure prints the seed; `MATH_SEED=seed` repeats it, and `MATH_COUNT=n` takes
//! `n` arguments of each kind.

mod math_reference;

use math_reference::value;
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

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    /// The seed of this run.
    fn new() -> (u64, Random) {
        let now = || {
            let now = std::time::SystemTime::now();
            let since = now.duration_since(std::time::UNIX_EPOCH);
            since.map_or(1, |time| time.as_nanos() as u64)
        };
        let given = std::env::var("MATH_SEED").ok();
        let seed = given.map_or_else(now, |seed| seed.parse().expect("MATH_SEED is a number"));
        (seed, Random(seed))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Any finite double: all exponents, subnormal numbers included, alike.
    fn any(&mut self) -> f64 {
        loop {
            let x = f64::from_bits(self.bits());
            // Every eighth is subnormal or nearly so.
            let x = match self.bits() % 8 {
                0 => f64::from_bits(x.to_bits() & ((1 << 53) - 1)).copysign(x),
                _ => x,
            };
            if x.is_finite() {
                return x;
            }
        }
    }

    /// A number of any magnitude from 2^low to 2^high.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        let magnitude = self.between(low, high).exp2() * self.between(1.0, 2.0);
        magnitude.copysign(self.between(-1.0, 1.0))
    }

    /// Arguments at which a function is neither constant nor undefined nor overflows.
    fn telling(&mut self, name: &str) -> Vec<f64> {
        match name {
            "sin" | "cos" | "tan" => vec![self.scaled(-30.0, 40.0)],
            "asin" | "acos" => match self.bits() % 2 {
                0 => vec![self.between(-1.0, 1.0)],
                _ => {
                    let near = 1.0 - self.scaled(-50.0, -2.0).abs();
                    vec![near.copysign(self.between(-1.0, 1.0))]
                }
            },
            "atan" => vec![self.scaled(-10.0, 10.0)],
            "atan2" => {
                // The quotient is near 1, or any, down to subnormal numbers.
                let x = self.any();
                let spread = if self.bits().is_multiple_of(2) {
                    8.0
                } else {
                    1100.0
                };
                let y = x * self.between(-spread, spread).exp2();
                vec![y.copysign(self.between(-1.0, 1.0)), x]
            }
            "exp" => vec![self.between(-746.0, 710.0)],
            "log" | "log2" | "log10" => match self.bits() % 2 {
                0 => vec![self.any().abs()],
                _ => vec![1.0 + self.scaled(-52.0, -1.0)],
            },
            "pow" => {
                let x = match self.bits() % 2 {
                    0 => self.any().abs(),
                    _ => 1.0 + self.scaled(-45.0, -1.0),
                };
                let y = self.between(-745.0, 710.0) / x.ln();
                match self.bits() % 4 {
                    0 => vec![-x, y.round()],
                    1 => vec![x, y.round()],
                    _ => vec![x, y],
                }
            }
            "erf" => vec![self.between(-6.5, 6.5)],
            "erfc" => vec![self.between(-6.5, 27.5)],
            _ => vec![self.any().abs()],
        }
    }
}

/// Arguments of each kind for the tests with random numbers.
fn count() -> usize {
    let given = std::env::var("MATH_COUNT").ok();
    given.map_or(100, |count| count.parse().expect("MATH_COUNT is a number"))
}

/// Arguments over the whole range of doubles, and those that tell most.
fn random_arguments(name: &str, arity: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let anywhere: Vec<Vec<f64>> = (0..count())
        .map(|_| (0..arity).map(|_| random.any()).collect())
        .collect();
    let telling = (0..count()).map(|_| random.telling(name));
    anywhere.into_iter().chain(telling).collect()
}

#[test]
fn results_are_as_near_as_the_table_says() {
    let (seed, mut random) = Random::new();
    let mut wrong = Vec::new();
    for row in MATH.iter().filter(|row| row.units > 0.0) {
        let arguments = random_arguments(row.name, row.arity, &mut random);
        let singles: Vec<Vec<f32>> = arguments
            .iter()
            .map(|args| args.iter().map(|&x| x as f32).collect())
            .collect();
        let widened: Vec<Vec<f64>> = singles
            .iter()
            .map(|args| args.iter().map(|&x| x.into()).collect())
            .collect();
        let exact = |arguments: &[Vec<f64>]| -> Vec<_> {
            arguments.iter().map(|args| value(row.name, args)).collect()
        };
        let (wanted, wanted_of_singles) = (exact(&arguments), exact(&widened));
        assert!(
            wanted.iter().flatten().count() >= count() / 4,
            "{}",
            row.name
        );
        let (mut worst, mut worst_single) = (0f64, 0f64);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let width = WIDTHS[random.bits() as usize % WIDTHS.len()];
            let place = format!("seed {seed}: {isa:?} {width}: {}", row.name);
            let results = apply::<f64>(isa, width, row.name, &arguments);
            for ((args, wanted), result) in arguments.iter().zip(&wanted).zip(results) {
                let Some(wanted) = wanted else { continue };
                let off = wanted.units(result);
                worst = worst.max(off);
                if off > row.units {
                    wrong.push(format!("{place}({args:?}) is {result:e}, {off} units off"));
                }
            }
            let results = apply::<f32>(isa, width, row.name, &singles);
            for ((args, wanted), result) in singles.iter().zip(&wanted_of_singles).zip(results) {
                let Some(wanted) = wanted else { continue };
                let off = wanted.single_units(result);
                worst_single = worst_single.max(off);
                if off > row.single_units() {
                    wrong.push(format!(
                        "{place}({args:?}) of singles is {result:e}, {off} units off"
                    ));
                }
            }
        }
        println!(
            "{}: doubles {worst:.4}, singles {worst_single:.4}",
            row.name
        );
    }
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Errors of the past: quotients that are subnormal, or became so by scaling.
#[test]
fn angles_of_points_far_apart_in_magnitude_do_not_underflow() {
    let arguments = vec![
        vec![3.585047931883801e-142, 3.602179650115226e150],
        vec![3.1488742121104414e-149, 1.0788291306709897e155],
        vec![-3.1488742121104414e-149, 1.0788291306709897e155],
        vec![1e-150, 1e170],
        vec![2f64.powi(-60), f64::MAX],
        vec![5e-324, 1.0],
        vec![5e-324, 1e-300],
        vec![3e-162, 1e161],
    ];
    for_every_version(|isa, width| {
        let results = apply::<f64>(isa, width, "atan2", &arguments);
        for (args, result) in arguments.iter().zip(results) {
            let off = value("atan2", args).expect("an angle").units(result);
            assert!(
                off <= 1.0,
                "{isa:?} {width}: atan2({args:?}) is {result:e}, {off} off"
            );
        }
    });
}

#[test]
fn unknown_names_and_widths_are_refused() {
    assert!(lookup_for(Isa::Baseline, "sinh", f64::REAL, 4).is_err());
    assert!(lookup_for(Isa::Baseline, "sin", f64::REAL, 5).is_err());
}
