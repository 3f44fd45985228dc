//! From the description of a NRRD to that of an image: which axis holds components, and where the grid lies.
//!
//! The rules are those of the original's loader: domain axes are of kind domain, space, time or unknown; at most one
//! other axis, the fastest, holds the components of a voxel; orientation comes from space directions if a space is
//! given, else from axis mins and maxs, else from spacings, else the grid is at the origin with unit steps.

use super::{ImageError, Orientation, Summary};
use crate::nrrd::{Axis, Centering, Header, Kind, SampleType};

/// Everything of an image but its samples.
pub(super) struct Normalized {
    pub(super) summary: Summary,
    pub(super) orientation: Orientation,
    pub(super) warnings: Vec<String>,
}

/// The image that a header describes.
pub(super) fn normalize(header: &Header) -> Result<Normalized, ImageError> {
    if header.sample_type == SampleType::Block {
        return Err(ImageError::new(
            "nrrd has samples of type `block`, expected numbers",
        ));
    }
    let components = component_count(header)?;
    let domain: Vec<&Axis> = header.axes.iter().filter(|a| is_domain(a)).collect();
    let dim = domain.len();
    if !(1..=3).contains(&dim) {
        return Err(ImageError::new(format!(
            "nrrd has {dim} spatial axes, expected 1 to 3"
        )));
    }
    let space = header.space.dimension();
    if space != 0 && space != dim {
        return Err(ImageError::new(format!(
            "nrrd has {dim} spatial axes in a space of dimension {space}, expected as many"
        )));
    }
    let (directions, origin) = if space != 0 {
        from_space(header, &domain)
    } else if domain.iter().all(|a| a.min.is_some() && a.max.is_some()) {
        from_extents(&domain)?
    } else {
        from_spacings(&domain)
    };
    let orientation = Orientation::new(&directions, &origin)
        .map_err(|e| ImageError::new(format!("nrrd cannot be placed in world space: {e}")))?;
    let mut warnings = Vec::new();
    if header.measurement_frame.is_some() {
        let warning = "the measurement frame is ignored: values are taken as they are";
        warnings.push(warning.to_string());
    }
    Ok(Normalized {
        summary: Summary {
            sizes: domain.iter().map(|a| a.size).collect(),
            components,
        },
        orientation,
        warnings,
    })
}

/// Whether the image is of the type that a program asked for.
pub(super) fn expect(
    header: &Header,
    found: &Normalized,
    dim: usize,
    voxel_shape: &[usize],
) -> Result<(), ImageError> {
    let Summary { sizes, components } = &found.summary;
    let expected: usize = voxel_shape.iter().product();
    if sizes.len() != dim {
        let first = &header.axes[0];
        let unmarked = sizes.len() == dim + 1 && expected > 1 && first.size == expected;
        let hint = if unmarked && first.kind.is_none() {
            "; if axis 0 holds components, `kinds` must say so"
        } else {
            ""
        };
        let found = sizes.len();
        return Err(ImageError::new(format!(
            "nrrd has unexpected dimension {found}, expected {dim}{hint}"
        )));
    }
    if *components != expected {
        return Err(ImageError::new(format!(
            "nrrd has {components} elements per voxel (expected {expected})"
        )));
    }
    Ok(())
}

fn is_domain(axis: &Axis) -> bool {
    axis.kind.is_none_or(Kind::is_domain)
}

/// Values per voxel: the size of the component axis, or 1 if there is none.
fn component_count(header: &Header) -> Result<usize, ImageError> {
    let mut components = 1;
    for (i, axis) in header.axes.iter().enumerate() {
        let Some(kind) = axis.kind.filter(|k| !k.is_domain()) else {
            continue;
        };
        if i > 0 {
            return Err(ImageError::new(format!(
                "nrrd axis[{i}] has kind {kind} (expected space)"
            )));
        }
        match kind {
            Kind::Vector2 | Kind::Vector3 | Kind::Vector4 | Kind::Matrix2 | Kind::Matrix3 => {}
            // Colours are vectors as far as an image is concerned.
            Kind::Color3 | Kind::RgbColor | Kind::Color4 | Kind::RgbaColor => {}
            Kind::SymmetricMatrix2 | Kind::SymmetricMatrix3 => {
                return Err(ImageError::new(format!(
                    "axis kind \"{kind}\" not supported: store all components of the matrix"
                )));
            }
            Kind::Domain | Kind::Space | Kind::Time => {}
            Kind::List | Kind::Point | Kind::Vector | Kind::CovariantVector | Kind::Normal => {
                return Err(nonconforming(kind));
            }
            Kind::Stub | Kind::Scalar | Kind::Complex | Kind::Quaternion => {
                return Err(nonconforming(kind));
            }
            Kind::HsvColor | Kind::XyzColor | Kind::Gradient3 | Kind::Normal3 => {
                return Err(nonconforming(kind));
            }
            Kind::MaskedSymmetricMatrix2 | Kind::MaskedMatrix2 => return Err(nonconforming(kind)),
            Kind::MaskedSymmetricMatrix3 | Kind::MaskedMatrix3 => return Err(nonconforming(kind)),
        }
        components = axis.size;
    }
    Ok(components)
}

fn nonconforming(kind: Kind) -> ImageError {
    ImageError::new(format!(
        "nrrd axis[0] has non-conforming kind {kind} (expected space, 2-vector, 3-vector, 4-vector, 2D-matrix, \
         3D-matrix, or a color of 3 or 4 components)"
    ))
}

type Placement = (Vec<Vec<f64>>, Vec<f64>);

fn unit(dim: usize, axis: usize, length: f64) -> Vec<f64> {
    let mut vector = vec![0.0; dim];
    vector[axis] = length;
    vector
}

/// Directions as given, unit steps where they are not; spacings do not count here.
fn from_space(header: &Header, domain: &[&Axis]) -> Placement {
    let dim = domain.len();
    let direction = |(a, axis): (usize, &&Axis)| {
        let given = axis.direction.clone();
        given.unwrap_or_else(|| unit(dim, a, 1.0))
    };
    let origin = header.space_origin.clone();
    (
        domain.iter().enumerate().map(direction).collect(),
        origin.unwrap_or_else(|| vec![0.0; dim]),
    )
}

/// Steps that spread the samples from min to max; unknown centering counts as cells.
fn from_extents(domain: &[&Axis]) -> Result<Placement, ImageError> {
    let dim = domain.len();
    let mut directions = Vec::new();
    let mut origin = Vec::new();
    for (a, axis) in domain.iter().enumerate() {
        let (min, max) = (axis.min.unwrap_or(0.0), axis.max.unwrap_or(0.0));
        let (step, first) = match axis.centering {
            Some(Centering::Node) if axis.size == 1 => {
                return Err(ImageError::new(format!(
                    "nrrd axis {a} of the grid has one node-centered sample: min and max give no spacing"
                )));
            }
            Some(Centering::Node) => ((max - min) / (axis.size - 1) as f64, min),
            Some(Centering::Cell) | None => {
                let step = (max - min) / axis.size as f64;
                (step, min + step / 2.0)
            }
        };
        directions.push(unit(dim, a, step));
        origin.push(first);
    }
    Ok((directions, origin))
}

fn from_spacings(domain: &[&Axis]) -> Placement {
    let dim = domain.len();
    let direction = |(a, axis): (usize, &&Axis)| unit(dim, a, axis.spacing.unwrap_or(1.0));
    (
        domain.iter().enumerate().map(direction).collect(),
        vec![0.0; dim],
    )
}
