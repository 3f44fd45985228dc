//! Controls for inputs: sliders with their ranges, colours, choices.

use runtime::input::InputType;
use serde_json::{Value, json};

/// Names of inputs that are compared with the values of an image.
const THRESHOLDS: [&str; 3] = ["iso", "level", "thresh"];
/// Names of inputs that are colours, or parts of such names.
const COLOURS: [&str; 4] = ["color", "colour", "rgb", "backdrop"];

/// A control for an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Control {
    Slider {
        low: f64,
        high: f64,
        step: Option<f64>,
        log: bool,
    },
    Color,
    Direction,
    Choice(Vec<String>),
    Flag,
    /// Fields for numbers.
    Numbers(usize),
    Text,
    /// Only the command line can set it.
    Fixed,
}

impl Control {
    /// A slider for the frames of a file.
    pub(super) fn frames(count: usize) -> Control {
        slider(0.0, count.saturating_sub(1) as f64, Some(1.0))
    }

    /// As pages read it.
    pub(super) fn to_page(&self) -> Value {
        match self {
            Control::Slider {
                low,
                high,
                step,
                log,
            } => json!({ "kind": "slider", "low": low, "high": high, "step": step, "log": log }),
            Control::Color => json!({ "kind": "color" }),
            Control::Direction => json!({ "kind": "direction" }),
            Control::Choice(choices) => json!({ "kind": "choice", "choices": choices }),
            Control::Flag => json!({ "kind": "flag" }),
            Control::Numbers(count) => json!({ "kind": "numbers", "count": count }),
            Control::Text => json!({ "kind": "text" }),
            Control::Fixed => json!({ "kind": "fixed" }),
        }
    }
}

/// An input without its value.
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) ty: &'a InputType,
    pub(super) description: &'a str,
    /// Its default, or its value where that is computed.
    pub(super) default: &'a [f64],
    /// The usual range of the one image of the program.
    pub(super) image_range: Option<(f64, f64)>,
}

/// The control for an input, and its description without the range that ends it.
pub(super) fn control(subject: &Subject<'_>) -> (Control, String) {
    let name = subject.name.to_lowercase();
    let (stated, description) = stated_range(subject.description);
    let is_colour = COLOURS.iter().any(|part| name.contains(part));
    let control = match (subject.ty, stated) {
        (InputType::Real | InputType::Int, Some(Stated::Interval(slider))) => slider,
        (InputType::String, Some(Stated::Choices(choices))) => Control::Choice(choices),
        (InputType::Bool, _) => Control::Flag,
        (InputType::String, _) => Control::Text,
        (InputType::Real, _) => {
            let is_threshold = THRESHOLDS.iter().any(|part| name.contains(part));
            let of_image = subject.image_range.filter(|(low, high)| low < high);
            match of_image.filter(|_| is_threshold) {
                Some((low, high)) => slider(low, high, None),
                None => around(subject.default, None),
            }
        }
        (InputType::Int, _) => around(subject.default, Some(1.0)),
        (InputType::Tensor(shape), _) if is_colour && matches!(shape[..], [3 | 4]) => {
            Control::Color
        }
        (InputType::Tensor(shape), _) if shape[..] == [3] && is_unit(subject.default) => {
            Control::Direction
        }
        (InputType::Tensor(shape), _) => Control::Numbers(shape.iter().product()),
        (ty @ InputType::Seq { len: Some(_), .. }, _) if ty.is_numbers() => {
            Control::Numbers(ty.word_count())
        }
        (InputType::Seq { len: None, .. }, _) => Control::Text,
        (InputType::Seq { .. } | InputType::Image { .. } | InputType::Mesh(_), _) => Control::Fixed,
    };
    // Fields for very many numbers would fill the page.
    let control = match control {
        Control::Numbers(17..) => Control::Fixed,
        other => other,
    };
    (control, description.to_string())
}

fn slider(low: f64, high: f64, step: Option<f64>) -> Control {
    Control::Slider {
        low,
        high,
        step,
        log: false,
    }
}

/// A range around a default.
fn around(default: &[f64], step: Option<f64>) -> Control {
    let value = default.first().copied().filter(|x| x.is_finite());
    let (low, high) = match value.unwrap_or(0.0) {
        0.0 if step.is_some() => (0.0, 10.0),
        0.0 => (-1.0, 1.0),
        v if v > 0.0 => (0.0, 2.0 * v),
        v => (2.0 * v, 0.0),
    };
    slider(low, high, step)
}

fn is_unit(vector: &[f64]) -> bool {
    let square: f64 = vector.iter().map(|x| x * x).sum();
    (square - 1.0).abs() < 1e-6
}

/// What a description says about values.
enum Stated {
    Interval(Control),
    Choices(Vec<String>),
}

/// The range or choice that ends a description, such as `[0, 255]`, `[0.001, 10, log]`, `[0, 8, 1]` or `{sphere|torus}`, and the rest.
fn stated_range(description: &str) -> (Option<Stated>, &str) {
    let whole = description.trim_end();
    let part = |open: char, close: char| {
        let inner = whole.strip_suffix(close)?;
        let (rest, inner) = inner.rsplit_once(open)?;
        Some((rest.trim_end(), inner))
    };
    if let Some((rest, inner)) = part('[', ']')
        && let Some(interval) = interval(inner)
    {
        return (Some(Stated::Interval(interval)), rest);
    }
    if let Some((rest, inner)) = part('{', '}')
        && inner.contains('|')
    {
        let choices = inner.split('|').map(|choice| choice.trim().to_string());
        return (Some(Stated::Choices(choices.collect())), rest);
    }
    (None, whole)
}

fn interval(inner: &str) -> Option<Control> {
    let mut parts = inner.split(',').map(str::trim);
    let mut number = || parts.next()?.parse::<f64>().ok().filter(|x| x.is_finite());
    let (low, high) = (number()?, number()?);
    let (mut step, mut log) = (None, false);
    for part in parts {
        match part {
            "log" => log = true,
            other => step = Some(other.parse().ok().filter(|&x: &f64| x > 0.0)?),
        }
    }
    let is_right = low < high && !(log && low <= 0.0);
    is_right.then_some(Control::Slider {
        low,
        high,
        step,
        log,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, ty: InputType, description: &str, default: &[f64]) -> (Control, String) {
        control(&Subject {
            name,
            ty: &ty,
            description,
            default,
            image_range: Some((10.0, 200.0)),
        })
    }

    fn range(low: f64, high: f64, step: Option<f64>, log: bool) -> Control {
        Control::Slider {
            low,
            high,
            step,
            log,
        }
    }

    #[test]
    fn ranges_come_from_the_end_of_descriptions() {
        let (control, rest) = of("a", InputType::Real, "isovalue [0, 255]", &[3.0]);
        assert_eq!(control, range(0.0, 255.0, None, false));
        assert_eq!(rest, "isovalue");
        let (control, _) = of("a", InputType::Real, "[0.001, 10, log]", &[3.0]);
        assert_eq!(control, range(0.001, 10.0, None, true));
        let (control, _) = of("a", InputType::Int, "detail [0, 8, 2]", &[3.0]);
        assert_eq!(control, range(0.0, 8.0, Some(2.0), false));
        let (control, rest) = of("a", InputType::String, "shape {sphere| torus}", &[]);
        assert_eq!(
            control,
            Control::Choice(vec!["sphere".into(), "torus".into()])
        );
        assert_eq!(rest, "shape");
    }

    #[test]
    fn what_is_not_a_range_stays_in_the_description() {
        for text in [
            "from [a, b]",
            "in [3, 1]",
            "[1]",
            "[-1, 1, log]",
            "[0, 1, -2]",
            "{one}",
        ] {
            let (control, rest) = of("a", InputType::Real, text, &[3.0]);
            assert_eq!(control, range(0.0, 6.0, None, false), "{text}");
            assert_eq!(rest, text);
        }
    }

    #[test]
    fn ranges_without_a_statement_follow_images_and_defaults() {
        let slider = |name: &str, ty, default: f64| of(name, ty, "", &[default]).0;
        assert_eq!(
            slider("isoval", InputType::Real, 3.0),
            range(10.0, 200.0, None, false)
        );
        assert_eq!(
            slider("level", InputType::Real, 0.0),
            range(10.0, 200.0, None, false)
        );
        assert_eq!(
            slider("x", InputType::Real, 3.0),
            range(0.0, 6.0, None, false)
        );
        assert_eq!(
            slider("x", InputType::Real, -3.0),
            range(-6.0, 0.0, None, false)
        );
        assert_eq!(
            slider("x", InputType::Real, 0.0),
            range(-1.0, 1.0, None, false)
        );
        assert_eq!(
            slider("x", InputType::Real, f64::NAN),
            range(-1.0, 1.0, None, false)
        );
        assert_eq!(
            slider("n", InputType::Int, 4.0),
            range(0.0, 8.0, Some(1.0), false)
        );
    }

    #[test]
    fn vectors_are_colours_directions_or_numbers() {
        let vec3 = || InputType::Tensor(vec![3]);
        let control = |name: &str, default: &[f64]| of(name, vec3(), "", default).0;
        assert_eq!(control("backdrop", &[0.0, 0.0, 1.0]), Control::Color);
        assert_eq!(control("lightColor", &[0.2, 0.2, 0.2]), Control::Color);
        assert_eq!(control("light", &[0.0, 0.6, 0.8]), Control::Direction);
        assert_eq!(control("corner", &[1.0, 2.0, 3.0]), Control::Numbers(3));
        let image = InputType::Image {
            dim: 3,
            timed: false,
            shape: vec![],
        };
        assert_eq!(of("vol", image, "", &[]).0, Control::Fixed);
    }
}
