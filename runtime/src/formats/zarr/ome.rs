//! OME-Zarr: an image in several resolutions, with axes that have names, types and units.

use serde_json::Value;

use crate::formats::{ImageError, Note};
use crate::grid::seconds;
use crate::nrrd::{Axis, Header, Kind, Space};

/// The resolutions of an image, the finest first, by the metadata of a group.
pub(super) struct Image<'a> {
    about: &'a Value,
}

/// One resolution.
pub(super) struct Level<'a> {
    pub(super) path: &'a str,
    transforms: &'a Value,
}

impl<'a> Image<'a> {
    /// The image of a group, if it is one; of version 0.5, and of those before.
    pub(super) fn of(attributes: &'a Value) -> Option<Image<'a>> {
        let new = &attributes["ome"]["multiscales"][0];
        let about = if new.is_object() {
            new
        } else {
            &attributes["multiscales"][0]
        };
        let image = Image { about };
        (about.is_object() && !image.levels().is_empty()).then_some(image)
    }

    pub(super) fn levels(&self) -> Vec<Level<'a>> {
        let all = self.about["datasets"].as_array().into_iter().flatten();
        let level = |value: &'a Value| {
            Some(Level {
                path: value["path"].as_str()?,
                transforms: &value["coordinateTransformations"],
            })
        };
        all.filter_map(level).collect()
    }

    /// The resolution that is asked for: by its path, or as `s2`.
    pub(super) fn level(&self, asked: &str) -> Result<usize, ImageError> {
        let levels = self.levels();
        let asked = asked.trim_matches('/');
        let of_path = levels.iter().position(|level| level.path == asked);
        let number = || asked.strip_prefix('s')?.parse::<usize>().ok();
        let counted = || number().filter(|n| *n < levels.len());
        of_path.or_else(counted).ok_or_else(|| {
            let paths: Vec<&str> = levels.iter().map(|level| level.path).collect();
            ImageError::new(format!(
                "there is no resolution `{asked}`; the image has {} of them, `s0` to `s{}` ({})",
                paths.len(),
                paths.len() - 1,
                paths.join(", ")
            ))
        })
    }

    /// Names, types and units of the axes, the slowest first.
    fn axes(&self) -> Vec<(String, String, String)> {
        let all = self.about["axes"].as_array().into_iter().flatten();
        all.map(|axis| {
            let text = |key: &str| axis[key].as_str().unwrap_or_default().to_string();
            // Version 0.3 has only names.
            let name = axis.as_str().map_or_else(|| text("name"), str::to_string);
            let sort = match (text("type"), name.as_str()) {
                (sort, _) if !sort.is_empty() => sort,
                (_, "t") => "time".to_string(),
                (_, "c") => "channel".to_string(),
                (_, "x" | "y" | "z") => "space".to_string(),
                _ => String::new(),
            };
            (name, sort, text("unit"))
        })
        .collect()
    }

    /// Places the grid of a level, whose axes are those of an array.
    pub(super) fn place(&self, level: usize, header: &mut Header, notes: &mut Vec<Note>) {
        let axes = self.axes();
        let count = header.axes.len();
        if axes.len() != count {
            notes.push(Note::warning(
                "the axes of the image are not described: positions are indices",
            ));
            return;
        }
        let levels = self.levels();
        let mut steps = vec![1.0; count];
        let mut origin = vec![0.0; count];
        // Those of the level come first, then those of all.
        for list in [
            levels[level].transforms,
            &self.about["coordinateTransformations"],
        ] {
            for transform in list.as_array().into_iter().flatten() {
                let numbers = |key: &str| -> Option<Vec<f64>> {
                    let numbers: Option<Vec<f64>> = transform[key]
                        .as_array()?
                        .iter()
                        .map(Value::as_f64)
                        .collect();
                    numbers.filter(|numbers| numbers.len() == count)
                };
                for (a, scale) in numbers("scale").into_iter().flatten().enumerate() {
                    steps[a] *= scale;
                    origin[a] *= scale;
                }
                for (a, shift) in numbers("translation").into_iter().flatten().enumerate() {
                    origin[a] += shift;
                }
            }
        }
        let valid = |a: usize| steps[a] != 0.0 && steps[a].is_finite() && origin[a].is_finite();
        if !(0..count).all(valid) {
            notes.push(Note::warning(
                "the steps of the image are not numbers: positions are indices",
            ));
            return;
        }
        let mut spatial: Vec<usize> = (0..count).filter(|&a| axes[a].1 == "space").rev().collect();
        // Coordinates are x, y and z, whatever the order of the axes is.
        spatial.sort_by_key(|&a| match axes[a].0.as_str() {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => 3,
        });
        let dimension = spatial.len();
        for a in 0..count {
            let axis = &mut header.axes[count - 1 - a];
            describe(axis, &axes[a], origin[a], steps[a]);
            if let Some(coordinate) = spatial
                .iter()
                .position(|&s| s == a)
                .filter(|_| dimension <= 3)
            {
                let mut direction = vec![0.0; dimension];
                direction[coordinate] = steps[a];
                axis.direction = Some(direction);
            }
        }
        if (1..=3).contains(&dimension) {
            header.space = Space::Dimension(dimension);
            header.space_origin = Some(spatial.iter().map(|&a| origin[a]).collect());
            header.space_units = spatial.iter().map(|&a| short(&axes[a].2)).collect();
        }
        if levels.len() > 1 && level == 0 {
            notes.push(Note::new(format!(
                "the finest of {} resolutions is read; `FILE#s1` takes a coarser one",
                levels.len()
            )));
        }
    }
}

/// An axis by its type; frames of time are seconds apart.
fn describe(axis: &mut Axis, (name, sort, unit): &(String, String, String), start: f64, step: f64) {
    axis.label = name.clone();
    match sort.as_str() {
        "space" => axis.kind = Some(Kind::Space),
        "time" => {
            axis.kind = Some(Kind::Time);
            let second = seconds(unit);
            axis.min = Some(start * second.unwrap_or(1.0));
            axis.spacing = Some(step * second.unwrap_or(1.0));
            axis.units = second.map_or(unit.clone(), |_| "s".to_string());
        }
        "channel" => axis.kind = Some(Kind::List),
        _ => {}
    }
}

/// The sign of a unit.
fn short(unit: &str) -> String {
    match unit {
        "angstrom" => "Å",
        "nanometer" => "nm",
        "micrometer" => "um",
        "millimeter" => "mm",
        "centimeter" => "cm",
        "meter" => "m",
        "kilometer" => "km",
        other => other,
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nrrd::SampleType;

    #[test]
    fn scales_and_translations_place_the_grid() {
        let text = r#"{"multiscales": [{"axes": [{"name": "t", "type": "time", "unit": "millisecond"},
            {"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"}],
            "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [500, 1, 2, 0.5]},
                {"type": "translation", "translation": [0, 0, 10, 20]}]}, {"path": "1"}],
            "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 3, 3]}]}]}"#;
        let attributes: Value = serde_json::from_str(text).unwrap();
        let image = Image::of(&attributes).expect("an image");
        assert_eq!(image.level("s1").unwrap(), 1);
        assert_eq!(image.level("/1").unwrap(), 1);
        let error = image.level("s2").unwrap_err().to_string();
        assert!(error.contains("`s0` to `s1` (0, 1)"), "{error}");
        let mut header = Header::new(SampleType::U8, &[5, 4, 2, 3]);
        image.place(0, &mut header, &mut Vec::new());
        assert_eq!(header.axes[0].direction, Some(vec![1.5, 0.0]));
        assert_eq!(header.axes[1].direction, Some(vec![0.0, 6.0]));
        assert_eq!(header.space_origin, Some(vec![60.0, 30.0]));
        assert_eq!(header.space_units, ["um", "um"]);
        assert_eq!(header.axes[2].kind, Some(Kind::List));
        assert_eq!(
            (header.axes[3].kind, header.axes[3].spacing),
            (Some(Kind::Time), Some(0.5))
        );
        header.check().unwrap();
    }
}
