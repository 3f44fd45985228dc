//! Strands as points and lines: which output gives the positions, and what the others are to them.

use std::io;

use super::contents::{Contents, Style, Told};
use super::shapes::Request;
use super::{Column, Length, Output, OutputError, Scalar, Values};

/// What the outputs of a file of points or lines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Roles {
    /// The output that has the positions.
    pub(super) positions: usize,
    /// Whether each strand is a line of many points rather than one point.
    pub(super) are_lines: bool,
    /// Outputs with a value for each point.
    pub(super) of_points: Vec<usize>,
    /// Outputs with a value for each line.
    pub(super) of_lines: Vec<usize>,
}

fn is_position(output: &Output) -> bool {
    output.scalar == Scalar::Real
        && matches!(output.shape[..], [2 | 3])
        && output.length != Length::Fixed(0)
        && !matches!(output.length, Length::Fixed(_))
}

/// Whether the strands of an output are lines.
pub(super) fn is_line(output: &Output) -> bool {
    is_position(output) && output.length == Length::Dynamic
}

/// The roles of outputs in a file. The user may name the output with the positions.
///
/// # Errors
/// There is none, or more than one.
pub(super) fn roles(outputs: &[&Output], points: Option<&str>) -> Result<Roles, String> {
    let dynamic = |o: &Output| o.length == Length::Dynamic;
    let candidates: Vec<usize> = (0..outputs.len())
        .filter(|&n| is_position(outputs[n]))
        .collect();
    let of = |is_dynamic: bool| {
        let fits = |&&n: &&usize| dynamic(outputs[n]) == is_dynamic;
        candidates
            .iter()
            .filter(fits)
            .copied()
            .collect::<Vec<usize>>()
    };
    let named = |name: &str| {
        candidates
            .iter()
            .copied()
            .find(|&n| outputs[n].name == name)
    };
    let own_position = candidates.iter().copied().find(|&n| outputs[n].is_position);
    let positions = match points {
        Some(name) => named(name).ok_or_else(|| {
            format!("`--points {name}` names no output of 2 or 3 reals, sequence of such, or sequence of triangles")
        })?,
        None => match (&of(true)[..], own_position, &of(false)[..]) {
            (&[line], ..) => line,
            ([], Some(pos), _) => pos,
            ([], None, &[only]) => only,
            ([], None, []) => {
                return Err(
                    "no output has positions: 2 or 3 reals, a sequence of such, or a sequence of triangles, tensor[3,3][]"
                        .to_string(),
                );
            }
            _ => {
                let names: Vec<_> = candidates.iter().map(|&n| &outputs[n].name[..]).collect();
                return Err(format!(
                    "several outputs may be positions: {}; `--points NAME` chooses one",
                    names.join(", ")
                ));
            }
        },
    };
    let are_lines = dynamic(outputs[positions]);
    let others = (0..outputs.len()).filter(|&n| n != positions);
    let (sequences, values): (Vec<usize>, Vec<usize>) = others.partition(|&n| dynamic(outputs[n]));
    if let (false, Some(&n)) = (are_lines, sequences.first()) {
        let (name, of) = (&outputs[n].name, &outputs[positions].name);
        return Err(format!(
            "sequences of varying length (`{name}`) have no place beside the points of `{of}`"
        ));
    }
    let (of_points, of_lines) = if are_lines {
        (sequences, values)
    } else {
        (values, Vec::new())
    };
    Ok(Roles {
        positions,
        are_lines,
        of_points,
        of_lines,
    })
}

/// Outputs among which one has positions.
pub(super) fn positions(request: Request<'_>) -> Result<(), String> {
    roles(request.outputs, request.points).map(drop)
}

/// Writes outputs as points and lines.
pub(super) fn write_geometry(
    contents: Contents<'_>,
    style: &Style,
    write: impl FnOnce(&Geometry<'_, '_>) -> io::Result<()>,
) -> Result<Told, OutputError> {
    let geometry = Geometry::new(contents.columns, style.points.as_deref());
    let geometry = geometry.map_err(OutputError::new)?;
    write(&geometry).map_err(OutputError::new)?;
    Ok((geometry.description(), None))
}

/// Points and lines, as files have them.
pub(super) struct Geometry<'a, 'c> {
    /// Three coordinates for each point; those of points in the plane end with 0.
    pub(super) points: Vec<f64>,
    /// Whether the coordinates were given in double precision.
    pub(super) is_double: bool,
    /// For lines, how many points each strand has; some may have none.
    pub(super) lengths: Option<&'a [usize]>,
    pub(super) of_points: Vec<&'a Column<'c>>,
    pub(super) of_lines: Vec<&'a Column<'c>>,
}

impl<'a, 'c> Geometry<'a, 'c> {
    /// Puts the columns into their roles.
    ///
    /// # Errors
    /// There are no positions, or sequences of one strand differ in length.
    pub(super) fn new(columns: &'a [Column<'c>], points: Option<&str>) -> Result<Self, String> {
        let outputs: Vec<&Output> = columns.iter().map(|c| c.output).collect();
        let roles = roles(&outputs, points)?;
        let positions = &columns[roles.positions];
        let dim = positions.output.shape[0];
        let mut points = Vec::new();
        for point in positions.values.numbers().chunks(dim) {
            points.extend([point[0], point[1], point.get(2).copied().unwrap_or(0.0)]);
        }
        let pick = |list: &[usize]| list.iter().map(|&n| &columns[n]).collect::<Vec<_>>();
        let of_points = pick(&roles.of_points);
        if let Some(other) = of_points.iter().find(|c| c.lengths != positions.lengths) {
            return Err(format!(
                "the sequences `{}` and `{}` differ in length",
                positions.output.name, other.output.name
            ));
        }
        Ok(Geometry {
            points,
            is_double: matches!(positions.values, Values::F64(_)),
            lengths: positions.lengths.filter(|_| roles.are_lines),
            of_points,
            of_lines: pick(&roles.of_lines),
        })
    }

    pub(super) fn point_count(&self) -> usize {
        self.points.len() / 3
    }

    /// Ranges of points, one for each strand whose line has any.
    pub(super) fn lines(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let mut lines = Vec::new();
        for &length in self.lengths.unwrap_or_default() {
            if length > 0 {
                lines.push(start..start + length);
            }
            start += length;
        }
        lines
    }

    /// The strands whose lines have points.
    pub(super) fn strands_with_points(&self) -> Vec<usize> {
        let lengths = self.lengths.unwrap_or_default();
        (0..lengths.len()).filter(|&n| lengths[n] > 0).collect()
    }

    /// A description in a few words.
    pub(super) fn description(&self) -> String {
        let points = self.point_count();
        match self.lengths {
            Some(_) => format!("{} lines, {points} points", self.lines().len()),
            None => format!("{points} points"),
        }
    }
}
