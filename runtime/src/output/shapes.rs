//! The outputs that formats can hold.

use super::{Domain, Length, Output};

/// Outputs that are to go into one file.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    /// The suffix of the file, for messages.
    pub(super) suffix: &'a str,
    pub(super) outputs: &'a [&'a Output],
    pub(super) domain: &'a Domain,
    /// The output that the user names for the positions of points and lines, or for the triangles.
    pub(super) points: Option<&'a str>,
    /// Whether their numbers are to have the colours of a map.
    pub(super) are_coloured: bool,
}

/// Whether a format can hold outputs.
///
/// # Errors
/// The reason why not.
pub(super) type Fits = fn(Request<'_>) -> Result<(), String>;

/// Any outputs.
pub(super) fn anything(_: Request<'_>) -> Result<(), String> {
    Ok(())
}

/// Outputs whose strands all have equally many values.
pub(super) fn arrays(request: Request<'_>) -> Result<(), String> {
    let mut outputs = request.outputs.iter();
    match outputs.find(|output| output.length == Length::Dynamic) {
        None => Ok(()),
        Some(output) => Err(format!(
            "the sequences of `{}` vary in length and do not fit a .{}; a .nrrd (two files) or .npz can hold them, \
             and lines or triangles a .vtp, .ply or .obj",
            output.name, request.suffix
        )),
    }
}

/// The same, of a collection or of a grid of one axis.
pub(super) fn rows(request: Request<'_>) -> Result<(), String> {
    arrays(request)?;
    match request.domain {
        Domain::Grid(sizes) if sizes.len() > 1 => Err(
            "a .csv has a line for each strand of a collection or of a grid of one axis; a .txt or .npy can hold this grid"
                .to_string(),
        ),
        _ => Ok(()),
    }
}

/// The same, of a grid in space.
pub(super) fn grids(request: Request<'_>) -> Result<(), String> {
    arrays(request)?;
    let suffix = request.suffix;
    match request.domain {
        Domain::List(_) => Err(format!(
            "a .{suffix} holds grids; a .vtp can hold a collection"
        )),
        Domain::Grid(sizes) if sizes.len() > 3 => Err(format!(
            "a .{suffix} holds grids of up to 3 axes; a .nrrd can hold this one"
        )),
        Domain::Grid(_) => Ok(()),
    }
}
