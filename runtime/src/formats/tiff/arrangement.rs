//! The arrangement of the pages of a TIFF and the sizes of its voxels: from the metadata of ImageJ or OME, or the defaults.

use std::borrow::Cow;
use std::io::{Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use crate::formats::{ImageError, Note};
use crate::grid::{TimeAxis, seconds};
use crate::nrrd::Kind;
use crate::xml::{self, Tags};

/// The axes that the pages form, the fastest first, and the sizes of voxels along x, y and z.
#[derive(Default)]
pub(super) struct Arrangement {
    pub(super) axes: Vec<(Kind, usize)>,
    pub(super) steps: [Option<f64>; 3],
    pub(super) unit: String,
    /// From one frame to the next, and the unit of that.
    pub(super) period: Option<(f64, String)>,
    /// The seconds of each frame, if the file has them.
    pub(super) times: Option<Vec<f64>>,
}

/// Pixels per millimetre along x and y, if the unit is known.
pub(super) fn resolution<R: Read + Seek>(
    decoder: &mut Decoder<R>,
) -> [Option<(f64, Option<f64>)>; 2] {
    let unit = decoder
        .find_tag_unsigned::<u16>(Tag::ResolutionUnit)
        .ok()
        .flatten();
    // Millimetres of the unit, which is the inch by default.
    let length = match unit {
        None | Some(2) => Some(25.4),
        Some(3) => Some(10.0),
        Some(_) => None,
    };
    [Tag::XResolution, Tag::YResolution].map(|tag| {
        let value = decoder.find_tag(tag).ok().flatten()?;
        let pixels = match value {
            tiff::decoder::ifd::Value::Rational(a, b) => f64::from(a) / f64::from(b),
            other => other.into_f64().ok()?,
        };
        (pixels.is_finite() && pixels > 0.0).then_some((pixels, length))
    })
}

pub(super) fn arrange(
    description: &str,
    pages: usize,
    resolution: [Option<(f64, Option<f64>)>; 2],
    notes: &mut Vec<Note>,
) -> Result<Arrangement, ImageError> {
    let plain = Arrangement {
        axes: vec![(Kind::Domain, pages)],
        ..Arrangement::default()
    };
    if description.starts_with("ImageJ=") {
        return imagej(description, pages, resolution);
    }
    let pixels = Tags::new(description.as_bytes()).find(|tag| tag.name() == "Pixels");
    if let Some(mut arrangement) = pixels.and_then(|tag| ome(&tag, pages)) {
        let mut frames = arrangement.axes.iter();
        let frames = frames.find(|(kind, _)| *kind == Kind::Time);
        let frames = frames.map_or(1, |(_, frames)| *frames);
        if frames > 1 {
            arrangement.times = times_of_planes(description, frames);
        }
        return Ok(arrangement);
    }
    let step =
        |r: Option<(f64, Option<f64>)>| r.and_then(|(pixels, length)| Some(length? / pixels));
    let steps = resolution.map(step);
    if let [Some(x), Some(y)] = steps {
        notes.push(Note::new(format!(
            "pixels are {x:.4} × {y:.4} mm large by the resolution of the file"
        )));
        return Ok(Arrangement {
            steps: [Some(x), Some(y), None],
            unit: "mm".to_string(),
            ..plain
        });
    }
    Ok(plain)
}

/// ImageJ's lines `key=value`: channels are the fastest, then slices, then frames.
fn imagej(
    description: &str,
    pages: usize,
    resolution: [Option<(f64, Option<f64>)>; 2],
) -> Result<Arrangement, ImageError> {
    let value = |key: &str| {
        let line = description
            .lines()
            .find_map(|l| l.strip_prefix(key)?.strip_prefix('='));
        line.map(str::trim)
    };
    let count = |key: &str| {
        value(key)
            .and_then(|v| v.parse::<usize>().ok())
            .unwrap_or(1)
    };
    if count("images") > pages {
        return Err(ImageError::new(format!(
            "ImageJ keeps {} images behind {pages} page here, which cannot be read",
            count("images")
        ))
        .hint("save it by ImageJ as NRRD, or with File > Save As > Image Sequence"));
    }
    let (channels, slices, frames) = (count("channels"), count("slices"), count("frames"));
    let known = channels
        .checked_mul(slices)
        .and_then(|n| n.checked_mul(frames))
        == Some(pages);
    let axes = match known {
        true => vec![
            (Kind::List, channels),
            (Kind::Domain, slices),
            (Kind::Time, frames),
        ],
        false => vec![(Kind::Domain, pages)],
    };
    let period = value("finterval").and_then(|v| v.parse::<f64>().ok());
    let period = period.filter(|period| period.is_finite() && *period > 0.0);
    let period = period.map(|period| (period, value("tunit").unwrap_or("s").to_string()));
    let unit = value("unit").unwrap_or("").replace("\\u00B5", "µ");
    if unit.is_empty() || unit.starts_with("pixel") {
        return Ok(Arrangement {
            axes,
            period,
            ..Arrangement::default()
        });
    }
    let [x, y] = resolution.map(|r| r.map(|(pixels, _)| 1.0 / pixels));
    let z = value("spacing").and_then(|v| v.parse::<f64>().ok());
    let z = z.map(f64::abs).filter(|z| z.is_finite() && *z > 0.0);
    Ok(Arrangement {
        axes,
        steps: [x, y, z],
        unit,
        period,
        times: None,
    })
}

/// The attributes of OME's tag `Pixels`, which name the order of the axes.
fn ome(tag: &xml::Tag<'_>, pages: usize) -> Option<Arrangement> {
    let order = tag.get("DimensionOrder")?;
    let order = order.strip_prefix("XY")?;
    let mut axes = Vec::new();
    for letter in order.chars() {
        let size = tag.get(&format!("Size{letter}"))?.parse::<usize>().ok()?;
        let kind = match letter {
            'Z' => Kind::Domain,
            'T' => Kind::Time,
            _ => Kind::List,
        };
        axes.push((kind, size));
    }
    let product = axes
        .iter()
        .try_fold(1_usize, |n, (_, size)| n.checked_mul(*size));
    let steps = ["X", "Y", "Z"].map(|letter| {
        let step = tag
            .get(&format!("PhysicalSize{letter}"))?
            .parse::<f64>()
            .ok()?;
        (step.is_finite() && step > 0.0).then_some(step)
    });
    let unit = tag.get("PhysicalSizeXUnit");
    let unit = unit.map_or("µm".to_string(), Cow::into_owned);
    let number = |name: &str| tag.get(name)?.parse::<f64>().ok();
    let period = number("TimeIncrement").filter(|period| period.is_finite() && *period > 0.0);
    let unit_of_time = tag.get("TimeIncrementUnit");
    let unit_of_time = unit_of_time.map_or("s".to_string(), Cow::into_owned);
    (product == Some(pages)).then_some(Arrangement {
        axes,
        steps,
        unit,
        period: period.map(|period| (period, unit_of_time)),
        times: None,
    })
}

/// The seconds of all frames by the tags `Plane` of OME: for each frame those of its first plane, if every frame has one and each is later
/// than the one before.
fn times_of_planes(description: &str, frames: usize) -> Option<Vec<f64>> {
    let mut times = vec![None; frames];
    let planes = Tags::new(description.as_bytes()).filter(|tag| tag.name() == "Plane");
    for plane in planes {
        let number = |name: &str| plane.get(name)?.parse::<usize>().ok();
        let is_first = [number("TheZ"), number("TheC")] == [Some(0); 2];
        let Some(frame) = number("TheT").filter(|frame| is_first && *frame < frames) else {
            continue;
        };
        let after = plane
            .get("DeltaT")
            .and_then(|text| text.parse::<f64>().ok());
        let second = plane
            .get("DeltaTUnit")
            .map_or(Some(1.0), |unit| seconds(&unit));
        if let (Some(after), Some(second)) = (after, second) {
            times[frame].get_or_insert(after * second);
        }
    }
    let times: Vec<f64> = times.into_iter().collect::<Option<_>>()?;
    TimeAxis::of_times(&times).is_ok().then_some(times)
}
