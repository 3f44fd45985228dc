//! Sweeps: inputs that take several values, one for each of several runs.

use super::options::{InputSpec, Program, RunOptions};
use runtime::{
    input::{InputType, InputValue, split_values},
    nrrd::parse_real,
};

/// An input that goes from one value to another.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Vary {
    /// The input's name.
    pub(in crate::command) input: String,
    /// The components of the first value.
    pub(in crate::command) from: Vec<f64>,
    /// The components of the last value.
    pub(in crate::command) to: Vec<f64>,
    /// How many values there are.
    pub(in crate::command) count: usize,
}

impl Vary {
    /// What `NAME=FROM:TO:COUNT` says.
    ///
    /// # Errors
    /// A message with the expected form.
    pub(in crate::command) fn parse(word: &str) -> Result<Vary, String> {
        let parts = word.split_once('=').and_then(|(input, values)| {
            let mut parts = values.split(':');
            let mut numbers = || -> Option<Vec<f64>> {
                let numbers = split_values(parts.next()?).map(|value| parse_real(&value));
                let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
                numbers.iter().all(|x| x.is_finite()).then_some(numbers)
            };
            let (from, to) = (numbers()?, numbers()?);
            let count: usize = parts.next()?.parse().ok()?;
            let fits =
                from.len() == to.len() && !from.is_empty() && count > 0 && parts.next().is_none();
            let input = input.trim_start_matches('-').to_string();
            fits.then_some(Vary {
                input,
                from,
                to,
                count,
            })
        });
        parts.ok_or_else(|| {
            format!("found `{word}`, expected NAME=FROM:TO:COUNT, with commas between the components of a vector")
        })
    }

    /// The number of the input and its value in one of the runs.
    ///
    /// # Errors
    /// The program has no such input, or it has other values.
    pub(in crate::command) fn value(
        &self,
        program: &Program,
        run: usize,
    ) -> Result<(usize, InputValue), String> {
        let name = &self.input;
        let found = program.inputs.iter().position(|input| input.name == *name);
        let n = found.ok_or_else(|| format!("`--vary {name}=…`: there is no input `{name}`"))?;
        let part = run as f64 / (self.count.max(2) - 1) as f64;
        let mixed =
            self.from
                .iter()
                .zip(&self.to)
                .map(|(a, b)| match run + 1 == self.count && run > 0 {
                    // The last value is the one that was asked for, without rounding.
                    true => *b,
                    false => a + (b - a) * part,
                });
        let values: Vec<f64> = mixed.collect();
        let ty = &program.inputs[n].ty;
        let value = match (ty, &values[..]) {
            (InputType::Real, &[x]) => InputValue::Real(x),
            (InputType::Int, &[x]) => InputValue::Int(x.round() as i64),
            (InputType::Tensor(shape), _) if shape.iter().product::<usize>() == values.len() => {
                InputValue::Tensor(values)
            }
            _ => {
                let found = values.len();
                return Err(format!(
                    "`--vary {name}=…`: found {found} numbers for the input `{name}` of type {ty}"
                ));
            }
        };
        let range = value.check_range(program.double);
        range.map_err(|message| format!("`--vary {name}=…`: {message}"))?;
        Ok((n, value))
    }
}

/// The number of runs, if there are several.
///
/// # Errors
/// Two sweeps have different numbers of them.
pub(super) fn runs(options: &RunOptions) -> Result<Option<usize>, String> {
    let counts = options.vary.iter().map(|vary| vary.count);
    let counts: Vec<usize> = counts.chain(options.orbit).collect();
    if counts.windows(2).any(|pair| pair[0] != pair[1]) {
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        return Err(format!(
            "all sweeps must have the same number of runs, but have {}",
            counts.join(" and ")
        ));
    }
    Ok(counts.first().copied())
}

/// The names of inputs that together are a camera: where it is, where it looks, which way is up.
const CAMERAS: &[[&str; 3]] = &[
    ["eye", "look", "up"],
    ["eye", "at", "up"],
    ["eye", "center", "up"],
    ["camEye", "camAt", "camUp"],
];

/// The three inputs of a program that are its camera.
///
/// # Errors
/// It has none.
pub(in crate::command) fn camera(program: &Program) -> Result<[usize; 3], String> {
    let find = |name: &&str| {
        let is_it =
            |input: &InputSpec| input.name == **name && input.ty == InputType::Tensor(vec![3]);
        program.inputs.iter().position(is_it)
    };
    let rows = CAMERAS.iter().map(|row| {
        let [a, b, c] = row.each_ref().map(find);
        Some([a?, b?, c?])
    });
    rows.flatten().next().ok_or_else(|| {
        let rows: Vec<String> = CAMERAS.iter().map(|row| row.join(", ")).collect();
        format!(
            "`--orbit` needs a camera: three inputs of type vec3 named {}",
            rows.join("; or ")
        )
    })
}

/// The eye after it has gone a part of the circle about the axis through `at` along `up`.
pub(in crate::command) fn orbit(eye: [f64; 3], at: [f64; 3], up: [f64; 3], part: f64) -> [f64; 3] {
    let (sin, cos) = (part * std::f64::consts::TAU).sin_cos();
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let length = dot(up, up).sqrt();
    let axis = up.map(|x| x / length);
    let arm = [0, 1, 2].map(|k| eye[k] - at[k]);
    let cross = [
        axis[1] * arm[2] - axis[2] * arm[1],
        axis[2] * arm[0] - axis[0] * arm[2],
        axis[0] * arm[1] - axis[1] * arm[0],
    ];
    let along = dot(axis, arm) * (1.0 - cos);
    [0, 1, 2].map(|k| at[k] + arm[k] * cos + cross[k] * sin + axis[k] * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_an_orbit_turns_by_a_right_angle_and_keeps_the_height() {
        let eye = orbit([3.0, 0.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 5.0], 0.25);
        let expected = [1.0, 2.0, 2.0];
        for k in 0..3 {
            assert!((eye[k] - expected[k]).abs() < 1e-12, "{eye:?}");
        }
    }

    #[test]
    fn a_sweep_begins_and_ends_where_it_was_told() {
        let vary = Vary::parse("-eye=1,2,3:4,5,6.1:3").expect("a sweep");
        assert_eq!((vary.input.as_str(), vary.count), ("eye", 3));
        let spec = InputSpec {
            name: "eye".into(),
            ty: InputType::Tensor(vec![3]),
            description: None,
            default: None,
            module: None,
        };
        let program = Program {
            inputs: vec![spec],
            ..Program::default()
        };
        let at = |run| vary.value(&program, run).expect("a value").1;
        assert_eq!(at(0), InputValue::Tensor(vec![1.0, 2.0, 3.0]));
        assert_eq!(at(1), InputValue::Tensor(vec![2.5, 3.5, 4.55]));
        assert_eq!(at(2), InputValue::Tensor(vec![4.0, 5.0, 6.1]));
        for wrong in [
            "eye",
            "eye=1:2",
            "eye=1:2:0",
            "eye=1,2:3:4",
            "eye=a:b:3",
            "eye=1:2:3:4",
        ] {
            assert!(Vary::parse(wrong).is_err(), "{wrong}");
        }
    }
}
