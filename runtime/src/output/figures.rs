//! Outputs as figures (`.svg`, `.pdf`): pictures with the place of their grid along the axes, and points and lines in the plane.

use std::io::{self, Write};

use super::contents::{Contents, Style, Told};
use super::frames::{describe_picture, pictures, range_text};
use super::picture::Tally;
use super::points::{Geometry, roles};
use super::shapes::Request;
use super::{Column, Domain, Length, Output, OutputError, Scalar, Values, frames, world_axes};
use crate::figure::{Axis, Colours, Drawing, Figure, Page, layout, pdf, svg};

/// Outputs that are pictures, or positions in the plane.
pub(super) fn figures(request: Request<'_>) -> Result<(), String> {
    let suffix = request.suffix;
    let [output] = request.outputs else {
        return Err(format!("a .{suffix} draws one output"));
    };
    if are_triangles(output) {
        return match request.are_coloured {
            true => Err("triangles do not have the colours of a map (--cmap)".to_string()),
            false => Ok(()),
        };
    }
    if !are_positions(output, request.domain, request.points) {
        let drawn = |problem| {
            format!(
                "{problem}; a .{suffix} draws pictures, and points, lines and triangles in the plane"
            )
        };
        return pictures(request).map_err(drawn);
    }
    roles(request.outputs, request.points)?;
    match (output.shape[..] == [2], request.are_coloured) {
        (true, false) => Ok(()),
        (true, true) => {
            Err("points and lines do not have the colours of a map (--cmap)".to_string())
        }
        (false, _) => Err(format!(
            "the positions of `{}` are in space; a .{suffix} draws pictures, and points, lines and triangles in the plane; \
             a .vtp, .ply or .obj can hold these",
            output.name
        )),
    }
}

/// Whether an output is drawn as triangles.
fn are_triangles(output: &Output) -> bool {
    output.scalar == Scalar::Real && output.length == Length::Dynamic && output.shape == [3, 2]
}

/// Whether an output is drawn as points or lines. Vectors over a grid of two axes are a picture unless they are positions.
fn are_positions(output: &Output, domain: &Domain, points: Option<&str>) -> bool {
    let are_vectors = output.scalar == Scalar::Real && matches!(output.shape[..], [2 | 3]);
    let is_chosen = output.is_position || points == Some(&output.name);
    let is_raster = domain.grid_sizes().len() == 2;
    match output.length {
        Length::Dynamic => are_vectors,
        Length::One => are_vectors && (is_chosen || !is_raster),
        Length::Fixed(_) => false,
    }
}

/// Puts a page into a file.
type Print = fn(&Page<'_>, &mut dyn Write) -> io::Result<()>;

/// Writes a figure as SVG.
pub(super) fn write_svg(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    write(contents, style, svg::print, out)
}

/// Writes a figure as PDF.
pub(super) fn write_pdf(
    contents: Contents<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    write(contents, style, pdf::print, out)
}

fn write(
    contents: Contents<'_>,
    style: &Style,
    print: Print,
    out: &mut dyn Write,
) -> Result<Told, OutputError> {
    let column = contents.single()?;
    let are_positions = are_positions(column.output, contents.domain, style.points.as_deref());
    let (figure, told) = match are_positions {
        _ if are_triangles(column.output) => figure_of_triangles(contents, style)?,
        true => figure_of_positions(contents, style)?,
        false => figure_of_picture(contents, style)?,
    };
    print(&layout(&figure), out).map_err(OutputError::new)?;
    Ok(told)
}

fn title(column: &Column<'_>, style: &Style) -> String {
    let title = style.title.as_ref();
    title.unwrap_or(&column.output.name).clone()
}

fn figure_of_picture(contents: Contents<'_>, style: &Style) -> Result<(Figure, Told), OutputError> {
    let column = contents.single()?;
    let (png, tally) = frames::picture_of(contents, style)?;
    let description = describe_picture(&png);
    let sizes = [png.width(), png.height()];
    let world = contents
        .place
        .and_then(|place| world_axes::of(place, sizes));
    let has_scale_bar = world.is_some();
    let world = world.unwrap_or_else(|| world_axes::indices(sizes));
    let figure = Figure {
        title: title(column, style),
        note: world.beside,
        facts: range_text(&tally).filter(|_| is_scalar(column, &tally)),
        across: world.across,
        down: world.down,
        drawing: Drawing::Picture(png),
        colours: is_scalar(column, &tally).then(|| colours(column, &tally)),
        has_scale_bar,
    };
    Ok((figure, (description, Some(tally))))
}

/// Whether the colours of a picture stand for numbers.
fn is_scalar(column: &Column<'_>, tally: &Tally) -> bool {
    let (first, last) = tally.range;
    column.output.strand_size() == 1 && tally.nan < tally.values && (last - first).is_finite()
}

fn colours(column: &Column<'_>, tally: &Tally) -> Colours {
    Colours {
        label: column.output.name.clone(),
        range: tally.range,
        map: tally.colours,
        is_whole: column.output.scalar != Scalar::Real,
        exceeded: (tally.below > 0, tally.above > 0),
    }
}

fn figure_of_positions(
    contents: Contents<'_>,
    style: &Style,
) -> Result<(Figure, Told), OutputError> {
    let column = contents.single()?;
    let geometry = Geometry::new(contents.columns, style.points.as_deref());
    let geometry = geometry.map_err(OutputError::new)?;
    let points: Vec<[f64; 2]> = geometry.points.chunks(3).map(|p| [p[0], p[1]]).collect();
    let can_be_drawn = |point: &[f64; 2]| point.iter().all(|x| x.abs() <= FARTHEST);
    let shown: Vec<[f64; 2]> = points.iter().copied().filter(can_be_drawn).collect();
    let [across, down] = window(&shown);
    let drawing = match geometry.lengths {
        None => Drawing::Points(shown),
        Some(_) => {
            let pieces = geometry.lines().into_iter().flat_map(|line| {
                // A line has a gap where it has no point.
                let pieces = points[line].split(|point| !can_be_drawn(point));
                let visible = pieces.filter(|piece| piece.len() > 1);
                visible.map(<[_]>::to_vec).collect::<Vec<_>>()
            });
            Drawing::Lines(pieces.collect())
        }
    };
    let figure = Figure {
        title: title(column, style),
        note: None,
        facts: None,
        across,
        down,
        drawing,
        colours: None,
        has_scale_bar: false,
    };
    Ok((figure, (geometry.description(), None)))
}

fn figure_of_triangles(
    contents: Contents<'_>,
    style: &Style,
) -> Result<(Figure, Told), OutputError> {
    let column = contents.single()?;
    let numbers: Vec<f64> = match column.values {
        Values::F32(values) => values.iter().map(|&x| f64::from(x)).collect(),
        Values::F64(values) => values.to_vec(),
        Values::I32(_) | Values::I64(_) | Values::Bool(_) => Vec::new(),
    };
    let triangles = numbers
        .chunks_exact(6)
        .map(|n| [[n[0], n[1]], [n[2], n[3]], [n[4], n[5]]]);
    let can_be_drawn = |t: &[[f64; 2]; 3]| t.iter().flatten().all(|x| x.abs() <= FARTHEST);
    let shown: Vec<[[f64; 2]; 3]> = triangles.filter(can_be_drawn).collect();
    let [across, down] = window(shown.as_flattened());
    let told = format!("{} triangles", shown.len());
    let figure = Figure {
        title: title(column, style),
        note: None,
        facts: None,
        across,
        down,
        drawing: Drawing::Triangles(shown),
        colours: None,
        has_scale_bar: false,
    };
    Ok((figure, (told, None)))
}

/// Coordinates beyond this are not drawn; distances of others are numbers.
const FARTHEST: f64 = 1e150;

/// Axes around points, with some space at the edges and equal steps.
fn window(points: &[[f64; 2]]) -> [Axis; 2] {
    /// The space at each edge, and the least extent, as parts of the greater extent.
    const EDGE: f64 = 0.04;
    const LEAST: f64 = 0.25;
    let extent = |c: usize| {
        let coordinates = points.iter().map(|point| point[c]);
        coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        })
    };
    let extents = match points {
        [] => [(0.0, 1.0); 2],
        _ => [extent(0), extent(1)],
    };
    let length = |(low, high): (f64, f64)| high - low;
    let greater = length(extents[0]).max(length(extents[1]));
    let largest = extents
        .iter()
        .flat_map(|&(low, high)| [low.abs(), high.abs()]);
    let largest = largest.fold(0.0, f64::max);
    // Points in one place need an extent that numbers of their size can tell.
    let greater = match greater > 1e-9 * largest {
        true => greater,
        false => (1e-3 * largest).max(1.0),
    };
    let [x, y] = extents.map(|(low, high)| {
        let middle = f64::midpoint(low, high);
        let half = (high - low).max(LEAST * greater) / 2.0 + EDGE * greater;
        (middle - half, middle + half)
    });
    let axis = |name: &str, from: f64, to: f64| Axis {
        name: name.to_string(),
        unit: None,
        from,
        to,
        is_whole: false,
    };
    [axis("x", x.0, x.1), axis("y", y.1, y.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_all_points_with_equal_steps() {
        let rows: [&[[f64; 2]]; 6] = [
            &[],
            &[[3.0, 4.0]],
            &[[0.0, 0.0], [1.0, 0.0]],
            &[[1e12, 0.0], [1e12, 0.0]],
            &[[-1e150, 1e150], [1e150, -1e150]],
            &[[1e-12, 2e-12], [3e-12, 1e-12]],
        ];
        for points in rows {
            let [across, down] = window(points);
            assert!(across.from < across.to && down.to < down.from, "{points:?}");
            let lengths = [across.to - across.from, down.from - down.to];
            let aspect = lengths[0] / lengths[1];
            assert!((0.25..=4.0).contains(&aspect), "{points:?}: {aspect}");
            for [x, y] in points {
                assert!(across.from < *x && *x < across.to, "{points:?}");
                assert!(down.to < *y && *y < down.from, "{points:?}");
            }
        }
    }
}
