//! The words of `--vary` and `--each`: an input, and the values that it takes.

use super::{glob, options::Program};
use runtime::{
    file_name::FileName,
    input::{InputType, InputValue, parse_value, split_values},
    nrrd::parse_real,
};

/// An input that takes several values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Vary {
    /// The input's name.
    pub(super) input: String,
    values: Values,
}

/// The values of an input, before its type is known.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// Evenly from one value to another, each with its components.
    Range {
        from: Vec<f64>,
        to: Vec<f64>,
        count: usize,
    },
    /// One after the other, as they are spelled.
    List(Vec<String>),
}

impl Vary {
    /// What `NAME=FROM:TO:COUNT` or `NAME=VALUE;VALUE;…` says.
    ///
    /// # Errors
    /// A message with the expected form.
    pub(in crate::command) fn parse(word: &str) -> Result<Vary, String> {
        let (input, values) = word.split_once('=').unwrap_or((word, ""));
        let values = match values.contains(':') {
            true => range(values),
            false if values.contains(';') => {
                let list = values.split(';').map(|value| value.trim().to_string());
                let list: Vec<String> = list.filter(|value| !value.is_empty()).collect();
                (!list.is_empty()).then_some(Values::List(list))
            }
            false => None,
        };
        let values = values.ok_or_else(|| {
            format!("found `{word}`, expected NAME=FROM:TO:COUNT or NAME=VALUE;VALUE;…, with commas between the components of a vector")
        })?;
        Ok(Vary {
            input: input.trim_start_matches('-').to_string(),
            values,
        })
    }

    /// How many values there are.
    pub(super) fn count(&self) -> usize {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::List(list) => list.len(),
        }
    }

    /// The number of the input, and its values.
    ///
    /// # Errors
    /// The program has no such input, or it has other values.
    pub(super) fn values(&self, program: &Program) -> Result<(usize, Vec<InputValue>), String> {
        let name = &self.input;
        let failed = |message: String| format!("`--vary {name}=…`: {message}");
        let n = find(program, name).map_err(failed)?;
        let ty = &program.inputs[n].ty;
        let value = |k: usize| -> Result<InputValue, String> {
            let value = match &self.values {
                Values::Range { from, to, count } => between(ty, name, from, to, k, *count)?,
                Values::List(list) => spelled(program, ty, &list[k])?,
            };
            value.check_range(program.double)?;
            Ok(value)
        };
        let values = (0..self.count()).map(value);
        let values: Result<Vec<_>, String> = values.collect();
        Ok((n, values.map_err(failed)?))
    }
}

fn range(values: &str) -> Option<Values> {
    let mut parts = values.split(':');
    let mut numbers = || -> Option<Vec<f64>> {
        let numbers = split_values(parts.next()?).map(|value| parse_real(&value));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
        numbers.iter().all(|x| x.is_finite()).then_some(numbers)
    };
    let (from, to) = (numbers()?, numbers()?);
    let count: usize = parts.next()?.parse().ok()?;
    let fits = from.len() == to.len() && !from.is_empty() && count > 0 && parts.next().is_none();
    fits.then_some(Values::Range { from, to, count })
}

/// One of the values from one to another.
fn between(
    ty: &InputType,
    name: &str,
    from: &[f64],
    to: &[f64],
    k: usize,
    count: usize,
) -> Result<InputValue, String> {
    let part = k as f64 / (count.max(2) - 1) as f64;
    let mixed = from
        .iter()
        .zip(to)
        .map(|(a, b)| match k + 1 == count && k > 0 {
            // The last value is the one that was asked for, without rounding.
            true => *b,
            false => a + (b - a) * part,
        });
    let values: Vec<f64> = mixed.collect();
    match (ty, &values[..]) {
        (InputType::Real, &[x]) => Ok(InputValue::Real(x)),
        (InputType::Int, &[x]) => Ok(InputValue::Int(x.round() as i64)),
        (InputType::Tensor(shape), _) if shape.iter().product::<usize>() == values.len() => {
            Ok(InputValue::Tensor(values))
        }
        _ => {
            let found = values.len();
            Err(format!(
                "found {found} numbers for the input `{name}` of type {ty}"
            ))
        }
    }
}

/// The value that a text of a list spells.
fn spelled(program: &Program, ty: &InputType, text: &str) -> Result<InputValue, String> {
    if is_file(ty) {
        return Err("it takes files; `--each` runs once per file".to_string());
    }
    match ty.is_numbers() {
        true => {
            let words: Vec<String> = split_values(text).collect();
            parse_value(ty, &words, program.ints)
        }
        false => parse_value(ty, &[text], program.ints),
    }
}

/// An input that takes one file after the other.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Each {
    /// The input's name.
    pub(super) input: String,
    pub(super) files: Vec<FileName>,
}

impl Each {
    /// What `NAME=FILE` says, where the name of the file may have wildcards.
    ///
    /// # Errors
    /// It is not of this form, or no file matches.
    pub(in crate::command) fn parse(word: &str) -> Result<Each, String> {
        let (input, files) = word
            .split_once('=')
            .filter(|(_, files)| !files.is_empty())
            .ok_or_else(|| format!("found `{word}`, expected NAME=FILE or NAME='PATTERN'"))?;
        Ok(Each {
            input: input.trim_start_matches('-').to_string(),
            files: glob::expand(files)?,
        })
    }

    /// The number of the input, and its values.
    ///
    /// # Errors
    /// The program has no such input, or it does not take files.
    pub(super) fn values(&self, program: &Program) -> Result<(usize, Vec<InputValue>), String> {
        let name = &self.input;
        let failed = |message: String| format!("`--each {name}=…`: {message}");
        let n = find(program, name).map_err(failed)?;
        let ty = &program.inputs[n].ty;
        if !is_file(ty) {
            return Err(failed(format!(
                "the input `{name}` is of type {ty} and does not take files; `--vary` varies it"
            )));
        }
        let files = self.files.iter().cloned().map(InputValue::File);
        Ok((n, files.collect()))
    }
}

/// Whether values of a type are read from files.
pub(super) fn is_file(ty: &InputType) -> bool {
    matches!(
        ty,
        InputType::Image { .. } | InputType::Mesh(_) | InputType::Seq { len: None, .. }
    )
}

fn find(program: &Program, name: &str) -> Result<usize, String> {
    let found = program.inputs.iter().position(|input| input.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = program.inputs.iter().map(|i| i.name.as_str()).collect();
        match names.is_empty() {
            true => format!("there is no input `{name}`: the program has none"),
            false => format!(
                "there is no input `{name}`; there are: {}",
                names.join(", ")
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{super::options::InputSpec, *};

    fn program(name: &str, ty: InputType) -> Program {
        let spec = InputSpec {
            name: name.into(),
            ty,
            description: None,
            default: None,
            module: None,
        };
        Program {
            inputs: vec![spec],
            ..Program::default()
        }
    }

    #[test]
    fn a_sweep_begins_and_ends_where_it_was_told() {
        let vary = Vary::parse("-eye=1,2,3:4,5,6.1:3").expect("a sweep");
        assert_eq!((vary.input.as_str(), vary.count()), ("eye", 3));
        let program = program("eye", InputType::Tensor(vec![3]));
        let (_, values) = vary.values(&program).expect("values");
        assert_eq!(values[0], InputValue::Tensor(vec![1.0, 2.0, 3.0]));
        assert_eq!(values[1], InputValue::Tensor(vec![2.5, 3.5, 4.55]));
        assert_eq!(values[2], InputValue::Tensor(vec![4.0, 5.0, 6.1]));
        for wrong in [
            "eye",
            "eye=",
            "eye=1",
            "eye=;",
            "eye=1:2",
            "eye=1:2:0",
            "eye=1,2:3:4",
            "eye=a:b:3",
            "eye=1:2:3:4",
        ] {
            assert!(Vary::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_have_values_of_the_type_of_their_input() {
        let values = |word: &str, ty: InputType| {
            let vary = Vary::parse(word).expect("a list");
            vary.values(&program("x", ty)).map(|(_, values)| values)
        };
        assert_eq!(
            values("x=10;20;40.5", InputType::Real),
            Ok([10.0, 20.0, 40.5].map(InputValue::Real).to_vec())
        );
        assert_eq!(
            values("x=1,2;3,4", InputType::Tensor(vec![2])),
            Ok([[1.0, 2.0], [3.0, 4.0]]
                .map(|pair| InputValue::Tensor(pair.to_vec()))
                .to_vec())
        );
        assert_eq!(
            values("x=true;false", InputType::Bool),
            Ok([true, false].map(InputValue::Bool).to_vec())
        );
        assert_eq!(
            values("x=red;light blue", InputType::String),
            Ok(["red", "light blue"]
                .map(|text| InputValue::String(text.into()))
                .to_vec())
        );
        assert!(values("x=1;2.5", InputType::Int).is_err());
        let image = InputType::Image {
            dim: 3,
            timed: false,
            shape: vec![],
        };
        let message = values("x=a.nrrd;b.nrrd", image).unwrap_err();
        assert!(message.contains("`--each` runs once per file"), "{message}");
    }
}
