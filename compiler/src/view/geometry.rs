//! Points, polylines and triangles as messages for pages, with other outputs to colour them by.

use super::{
    frame::Shown,
    protocol::{binary, number},
    sampled,
};
use crate::run::{OutputData, Run};
use runtime::output::{Length, Output};
use serde_json::{Value, json};

/// Points that a page gets at most; of more, some are left out.
const MOST: usize = 2_000_000;

/// The message that shows the output with the number `n` as geometry.
pub(super) fn message(
    run: &Run,
    outputs: &[Output],
    n: usize,
    data: &OutputData,
    shown: Shown,
    mut header: Value,
) -> Option<Vec<u8>> {
    let coordinates = *data.output.shape.last()?;
    // The corners of a triangle are rows.
    let corners = if shown == Shown::Triangles { 3 } else { 1 };
    let elements = data.values.len() / (coordinates * corners);
    let lengths = match &data.lengths {
        Some(lengths) => lengths.clone(),
        None => vec![1; elements],
    };
    // Whole polylines are left out, but single points and triangles of all strands.
    let step = (elements * corners).div_ceil(MOST).max(1);
    let is_kept: Box<dyn Fn(usize, usize) -> bool> = match shown {
        Shown::Lines => Box::new(move |strand, _| strand % step == 0),
        _ => Box::new(move |_, element| element % step == 0),
    };
    let kept = kept_elements(&lengths, &*is_kept);
    let numbers = sampled::singles(&data.values);
    let width = coordinates * corners;
    let points = kept.iter().flat_map(|&(_, element)| {
        let own = &numbers[element * width..(element + 1) * width];
        own.chunks(coordinates)
            .flat_map(|point| [point[0], point[1], point.get(2).copied().unwrap_or(0.0)])
    });
    let points: Vec<f32> = points.collect();
    let mut sections = Sections::default();
    sections.add("positions", "f32", 3, sampled::bytes(&points));
    if shown == Shown::Lines {
        let strands = lengths.iter().enumerate();
        let strands = strands.filter(|(strand, _)| is_kept(*strand, 0));
        let bytes = strands.flat_map(|(_, &length)| (length as u32).to_le_bytes());
        sections.add("lengths", "u32", 1, bytes.collect());
    }
    let colours = outputs.iter().enumerate();
    let colours = colours.filter(|(m, other)| *m != n && is_colour(other));
    for other in colours.filter_map(|(m, _)| run.output(m)) {
        let components = other.output.shape.iter().product::<usize>().max(1);
        // Values of strands, or of the elements of sequences that are as long.
        let of_elements = match &other.lengths {
            None => false,
            Some(own) if *own == lengths => true,
            Some(_) => continue,
        };
        let values = sampled::singles(&other.values);
        let value = |&(strand, element): &(usize, usize)| {
            let place = if of_elements { element } else { strand };
            values[place * components..(place + 1) * components].repeat(corners)
        };
        let values: Vec<f32> = kept.iter().flat_map(value).collect();
        let section = sections.add(
            &other.output.name,
            "f32",
            components,
            sampled::bytes(&values),
        );
        let range = sampled::range(&values).unwrap_or((0.0, 0.0));
        section["min"] = number(range.0.into());
        section["max"] = number(range.1.into());
        section["per"] = json!("point");
    }
    let kind = shown.name();
    header["type"] = json!("geometry");
    header["kind"] = json!(kind);
    header["dimension"] = json!(coordinates);
    header["count"] = json!(kept.len());
    header["total"] = json!(elements);
    header["bounds"] = bounds(&points);
    header["sections"] = json!(sections.described);
    Some(binary(&header, &sections.data))
}

/// Whether the values of an output can be shown as colours: numbers or vectors of three, one for each strand or element.
fn is_colour(output: &Output) -> bool {
    matches!(output.shape[..], [] | [1 | 3]) && !matches!(output.length, Length::Fixed(_))
}

/// The elements that are shown: the number of the strand, and that among all elements.
fn kept_elements(lengths: &[usize], is_kept: &dyn Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let mut before = 0;
    let mut kept = Vec::new();
    for (strand, &length) in lengths.iter().enumerate() {
        let elements = (before..before + length).map(|element| (strand, element));
        kept.extend(elements.filter(|&(strand, element)| is_kept(strand, element)));
        before += length;
    }
    kept
}

/// Parts of the data of a message.
#[derive(Default)]
struct Sections {
    described: Vec<Value>,
    data: Vec<u8>,
}

impl Sections {
    fn add(&mut self, name: &str, ty: &str, components: usize, bytes: Vec<u8>) -> &mut Value {
        self.described.push(json!({
            "name": name,
            "type": ty,
            "components": components,
            "offset": self.data.len(),
            "length": bytes.len(),
        }));
        self.data.extend(bytes);
        self.described.last_mut().expect("it was just added")
    }
}

/// The least and the greatest coordinates.
fn bounds(points: &[f32]) -> Value {
    let side = |axis: usize| {
        let own: Vec<f32> = points.iter().skip(axis).step_by(3).copied().collect();
        sampled::range(&own).unwrap_or((0.0, 0.0))
    };
    let sides = [0, 1, 2].map(side);
    json!([sides.map(|(low, _)| low), sides.map(|(_, high)| high)])
}
