//! From a case to an experiment: data, positions and expected values.
//!
//! Positions at which a guard does not hold are redrawn from the seed's stream, then the data are redrawn; well-conditioned
//! positions are preferred, whatever the precision of the program. A case that cannot be made valid is *vacuous*, with the most frequent reason. Nothing is ever skipped at comparison.

use crate::border::Border;
use crate::compare::tolerance;
use crate::data::{Datum, FieldData, Point, draw};
use crate::frame::DataKind;
use crate::grid::Position;
use crate::label::Case;
use crate::number::{Arithmetic, Number};
use crate::operator::{Truth, Undefined};
use crate::program::ProgramForm;
use crate::random::Stream;
use crate::runner::Precision;
use crate::tree::{Rules, Tree};
use crate::truth::Evaluator;
use crate::types::Type;
use std::collections::BTreeMap;

/// A case with its data and the truth about it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The case.
    pub case: Case,
    /// The type of its expression.
    pub result: Type,
    /// The form of its program.
    pub form: &'static ProgramForm,
    /// The values of the variables.
    pub data: Vec<Datum>,
    /// The positions at which fields are probed; none if the result is a plain tensor.
    pub positions: Vec<Position>,
    /// For each position (or once for a tensor) the expected components, row-major.
    pub expected: Vec<Vec<Number>>,
    /// For each of them, whether the position is inside all fields that are probed there.
    pub inside: Vec<bool>,
}

/// The expected values at one position.
struct Place {
    position: Option<Position>,
    values: Vec<Number>,
    inside: bool,
}

/// How often the data of a case are drawn before it is vacuous.
const ATTEMPTS: usize = 6;

/// How many positions are tried, for each one wanted.
const TRIES_PER_POSITION: usize = 12;

/// How many usable positions, for each one wanted, are looked at to find sharp ones.
const CHOICE_PER_POSITION: usize = 3;

/// A place is sharp if in single precision the tolerance is at most this fraction of the largest component. Others are
/// used only where there are not enough sharp ones: high derivatives have none.
const SHARP: f64 = 1.0 / 16.0;

/// The variables that are probed at the strand's own position, not at the value of another field.
pub(crate) fn probed_directly(tree: &Tree) -> Vec<usize> {
    fn collect(tree: &Tree, found: &mut Vec<usize>) {
        match tree {
            Tree::Variable { ty, number } => {
                if ty.is_field() && !found.contains(number) {
                    found.push(*number);
                }
            }
            Tree::Constant(_) => {}
            Tree::Apply(operator, arguments) => {
                let skipped = usize::from(matches!(operator.truth, Truth::Compose));
                arguments
                    .iter()
                    .skip(skipped)
                    .for_each(|argument| collect(argument, found));
            }
        }
    }
    let mut found = Vec::new();
    collect(tree, &mut found);
    found.sort_unstable();
    found
}

/// Draws data and positions for a case and computes the expected values, or gives the reason why the case is vacuous.
pub fn prepare(case: &Case, arithmetic: Arithmetic) -> Result<Experiment, String> {
    let result = case
        .tree
        .type_of(Rules::Language)
        .ok_or("the expression is not well typed")?;
    let form = case.settings.program.form(case, result)?;
    fits_kernels(case)?;
    let mut reasons: BTreeMap<Undefined, usize> = BTreeMap::new();
    for attempt in 0..ATTEMPTS {
        let data = draw(case, attempt);
        let places = valid_places(case, result, &data, attempt, arithmetic, &mut reasons);
        let wanted = if result.varies() {
            case.settings.positions
        } else {
            1
        };
        if places.len() == wanted {
            return Ok(Experiment {
                case: case.clone(),
                result,
                form,
                data,
                positions: places.iter().filter_map(|p| p.position.clone()).collect(),
                inside: places.iter().map(|place| place.inside).collect(),
                expected: places.into_iter().map(|place| place.values).collect(),
            });
        }
    }
    let frequent = reasons.iter().max_by_key(|(_, count)| **count);
    Err(
        frequent.map_or("no valid position".to_string(), |(reason, _)| {
            reason.to_string()
        }),
    )
}

/// A field may claim at most the continuity of its kernel, and a mesh has at least two dimensions.
fn fits_kernels(case: &Case) -> Result<(), String> {
    for (number, ty) in case.tree.variables().into_iter().enumerate() {
        if !ty.is_field() {
            continue;
        }
        if ty.dim == 1 && matches!(case.settings.data, DataKind::Mesh(_)) {
            return Err(format!(
                "found `{ty}`, but a mesh has two or three dimensions"
            ));
        }
        let kernels = case.settings.kernels_of(number, ty.dim.into());
        let continuity = kernels.least(|k| k.continuity);
        if ty.continuity > continuity {
            return Err(format!(
                "found `{ty}`, wanted at most the continuity {continuity} of {}",
                kernels.source()
            ));
        }
    }
    Ok(())
}

fn is_sharp(values: &[Number]) -> bool {
    let scale = values
        .iter()
        .map(|value| value.to_f64().abs())
        .fold(1.0, f64::max);
    values
        .iter()
        .all(|value| tolerance(value, Precision::Single) <= SHARP * scale)
}

fn valid_places(
    case: &Case,
    result: Type,
    data: &[Datum],
    attempt: usize,
    arithmetic: Arithmetic,
    reasons: &mut BTreeMap<Undefined, usize>,
) -> Vec<Place> {
    let evaluator = Evaluator::new(data, arithmetic);
    if !result.varies() {
        let reason = match evaluator.value(&case.tree, result, None) {
            // The last attempts accept values that are not sharp.
            Ok(values) if is_sharp(&values) || 2 * attempt >= ATTEMPTS => {
                return vec![Place {
                    position: None,
                    values,
                    inside: true,
                }];
            }
            Ok(_) => Undefined("badly conditioned"),
            Err(reason) => reason,
        };
        *reasons.entry(reason).or_default() += 1;
        return Vec::new();
    }
    let probed = probed_fields(case, data);
    // Positions are drawn in the cells of the first of them.
    let Some(first) = probed.first() else {
        return Vec::new();
    };
    let beyond = first.border != Border::Plain;
    let mut stream = Stream::new(&[&case.to_string(), "positions", &attempt.to_string()]);
    let boundary = boundaries_are_safe(case, data);
    let wanted = case.settings.positions;
    let (mut sharp, mut others) = (Vec::new(), Vec::new());
    for tried in 0..wanted * TRIES_PER_POSITION {
        let usable = sharp.len() + others.len();
        let hopeless = usable == 0 && tried >= 2 * TRIES_PER_POSITION;
        if hopeless || sharp.len() == wanted || usable == wanted * CHOICE_PER_POSITION {
            break;
        }
        let position = first
            .grid
            .draw_position(&first.kernels, beyond, boundary, &mut stream);
        let position = match first.kind {
            Some(kind) => kind.bend_position(position),
            None => position,
        };
        let point = Point::Drawn(position.clone());
        let place = evaluator
            .value(&case.tree, result, Some(&point))
            .and_then(|values| {
                let inside = are_inside(&probed, &point, arithmetic)?;
                Ok(Place {
                    position: Some(position),
                    values,
                    inside,
                })
            });
        match place {
            Ok(place) if is_sharp(&place.values) => sharp.push(place),
            Ok(place) => others.push(place),
            Err(reason) => *reasons.entry(reason).or_default() += 1,
        }
    }
    sharp.into_iter().chain(others).take(wanted).collect()
}

fn probed_fields<'a>(case: &Case, data: &'a [Datum]) -> Vec<&'a FieldData> {
    let numbers = probed_directly(&case.tree).into_iter();
    let field = |number: usize| match &data[number] {
        Datum::Field(field) => Some(&**field),
        Datum::Tensor(_) => None,
    };
    numbers.filter_map(field).collect()
}

/// Whether a point is inside all of these fields.
fn are_inside(
    fields: &[&FieldData],
    point: &Point,
    arithmetic: Arithmetic,
) -> Result<bool, Undefined> {
    let mut inside = true;
    for field in fields {
        inside &= field.locate(point, 0, arithmetic)?.inside;
    }
    Ok(inside)
}

/// On a cell boundary a program may take either neighbouring cell.
fn boundaries_are_safe(case: &Case, data: &[Datum]) -> bool {
    let order = case.tree.derivative_order();
    data.iter().all(|datum| match datum {
        Datum::Field(field) => !field.has_kinks(order),
        Datum::Tensor(_) => true,
    })
}
