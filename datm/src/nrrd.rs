//! Images of a case as NRRD files: header text and little-endian double samples.

use crate::data::{SampledField, TIMES};

/// The kind of the component axis; scalars have none.
fn kind(extents: &[u8]) -> Option<String> {
    match extents {
        [] => None,
        [n] => Some(format!("{n}-vector")),
        [n, ..] => Some(format!("{n}D-matrix")),
    }
}

/// The bytes of a NRRD file with attached data.
pub fn nrrd(field: &SampledField) -> Vec<u8> {
    file(field, false)
}

/// The same for an image over time.
pub(crate) fn over_time(field: &SampledField) -> Vec<u8> {
    file(field, true)
}

fn file(field: &SampledField, is_over_time: bool) -> Vec<u8> {
    let components = field.shape.components();
    let vector = |v: &[f64]| {
        format!(
            "({})",
            v.iter()
                .map(|x| format!("{x:?}"))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let spatial = field.sizes.len();
    let mut sizes: Vec<String> = field.sizes.iter().map(usize::to_string).collect();
    let mut kinds = vec!["space".to_string(); spatial];
    let mut directions: Vec<String> = field.directions.iter().map(|d| vector(d)).collect();
    if let Some(kind) = kind(field.shape.extents()) {
        sizes.insert(0, components.to_string());
        kinds.insert(0, kind);
        directions.insert(0, "none".to_string());
    }
    let mut times = String::new();
    if is_over_time {
        sizes.push(TIMES.len().to_string());
        kinds.push("time".to_string());
        directions.push("none".to_string());
        let place = |value: f64| {
            let mut values = vec!["nan".to_string(); sizes.len() - 1];
            values.push(format!("{value:?}"));
            values.join(" ")
        };
        let (first, step) = (place(TIMES[0]), place(TIMES[1] - TIMES[0]));
        times = format!("axis mins: {first}\nspacings: {step}\n");
    }
    let header = format!(
        "NRRD0004\ntype: double\ndimension: {}\nspace dimension: {spatial}\nsizes: {}\nspace directions: {}\n\
         {times}kinds: {}\nendian: little\nencoding: raw\nspace origin: {}\n\n",
        sizes.len(),
        sizes.join(" "),
        directions.join(" "),
        kinds.join(" "),
        vector(&field.origin)
    );
    let mut bytes = header.into_bytes();
    let samples = match is_over_time {
        true => field.frames(),
        false => field.samples.clone(),
    };
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Datum, draw};
    use crate::label::Case;

    #[test]
    fn headers_describe_components_and_orientation() {
        let case: Case = "trace(F2#4[2,2])|grid=rot".parse().expect("a label");
        let Datum::Field(field) = &draw(&case, 0)[0] else {
            panic!("a field")
        };
        let bytes = nrrd(&field.image);
        let end = bytes
            .windows(2)
            .position(|pair| pair == b"\n\n")
            .expect("an empty line")
            + 2;
        let header = String::from_utf8(bytes[..end].to_vec()).expect("text");
        assert!(
            header.contains("dimension: 3\nspace dimension: 2\nsizes: 4 10 11\n"),
            "{header}"
        );
        assert!(
            header.contains("kinds: 2D-matrix space space\n"),
            "{header}"
        );
        assert_eq!(bytes.len() - end, 4 * 10 * 11 * 8);
    }
}
