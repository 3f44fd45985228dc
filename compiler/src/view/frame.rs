//! Outputs as messages for pages: pictures, tables, and the choice between them and geometry.

use super::{
    geometry,
    outbox::Making,
    protocol::{binary, number},
    sampled,
};
use crate::run::{OutputData, Run, output_type};
use runtime::{
    grid::Place,
    output::{Domain, Length, Output},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Rows of a table that pages get.
const ROWS: usize = 100;

/// The way in which an output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Picture,
    Points,
    Lines,
    Triangles,
    Table,
}

impl Shown {
    pub(super) fn name(self) -> &'static str {
        match self {
            Shown::Picture => "picture",
            Shown::Points => "points",
            Shown::Lines => "lines",
            Shown::Triangles => "triangles",
            Shown::Table => "table",
        }
    }
}

/// How each output of a program is shown. `axes` is the number of axes of the grid, if strands are a grid.
pub(super) fn shown(outputs: &[Output], axes: Option<usize>) -> Vec<Shown> {
    let has_position = outputs.iter().any(|output| output.is_position);
    let one = |output: &Output| {
        let is_point = matches!(output.shape[..], [2 | 3]);
        match (output.length, axes) {
            (Length::Dynamic, _) if matches!(output.shape[..], [3, 2 | 3]) => Shown::Triangles,
            (Length::Dynamic, _) if is_point => Shown::Lines,
            (Length::Dynamic, _) => Shown::Table,
            (_, Some(1..=3)) => Shown::Picture,
            (_, Some(_)) => Shown::Table,
            (Length::One, None) if output.is_position => Shown::Points,
            (Length::One, None) if is_point && !has_position => Shown::Points,
            (_, None) => Shown::Table,
        }
    };
    outputs.iter().map(one).collect()
}

/// An output as pages know it.
pub(super) fn of_output(output: &Output, shown: Shown) -> Value {
    json!({ "name": output.name, "type": output_type(output), "shown": shown.name() })
}

/// The surroundings of a frame.
pub(super) struct Setting {
    pub(super) frame: u64,
    /// The number of the change of inputs that it answers.
    pub(super) set: u64,
    pub(super) stride: u32,
    /// The sizes of the full grid, the slowest axis first.
    pub(super) full: Vec<usize>,
    pub(super) is_final: bool,
    /// Codes of 8 bits in this range, or in that of the values; nothing if values are to be sent as they are.
    pub(super) coded: Option<Option<[f64; 2]>>,
}

/// The message that shows the output with the number `n` among those of a run, to be made by the first page that takes it: meanwhile the
/// next run goes on.
pub(super) fn message(
    run: &Run,
    outputs: &[Output],
    n: usize,
    shown: Shown,
    setting: Setting,
) -> Option<Making> {
    let data = run.output(n)?;
    let header = json!({
        "frame": setting.frame,
        "set": setting.set,
        "output": data.output.name,
        "final": setting.is_final,
        "step": run.steps(),
    });
    let place = match run.place() {
        Some(found) => place(found, setting.stride),
        None => Value::Null,
    };
    Some(match shown {
        Shown::Picture => Box::new(move || Arc::new(picture(&data, place, header, &setting))),
        Shown::Table => Box::new(move || Arc::new(table(&data, header))),
        Shown::Points | Shown::Lines | Shown::Triangles => {
            let made = Arc::new(geometry::message(run, outputs, n, &data, shown, header)?);
            Box::new(move || made)
        }
    })
}

fn picture(data: &OutputData, place: Value, mut header: Value, setting: &Setting) -> Vec<u8> {
    let sizes = match &data.domain {
        Domain::Grid(sizes) => sizes.clone(),
        Domain::List(count) => vec![*count],
    };
    let fastest_first = |sizes: &[usize]| sizes.iter().rev().copied().collect::<Vec<_>>();
    let numbers = sampled::singles(&data.values);
    let channels = data.output.strand_size().max(1);
    header["type"] = json!("picture");
    header["size"] = json!(fastest_first(&sizes));
    header["full"] = json!(fastest_first(&setting.full));
    header["stride"] = json!(setting.stride);
    header["channels"] = json!(channels);
    header["alpha"] = json!(matches!(channels, 2 | 4));
    header["place"] = place;
    match setting.coded {
        Some(range) => {
            let whole = sampled::range(&numbers).unwrap_or((0.0, 1.0));
            let range = range.map(|[low, high]| (low as f32, high as f32));
            let (low, high) = range.filter(|(low, high)| low < high).unwrap_or(whole);
            header["encoding"] = json!("u8");
            header["scale"] = json!([number(low.into()), number(high.into())]);
            match setting.is_final {
                true => sampled::describe(&mut header, &numbers),
                false => {
                    header["min"] = number(whole.0.into());
                    header["max"] = number(whole.1.into());
                }
            }
            binary(&header, &sampled::codes(&numbers, low, high))
        }
        None => {
            header["encoding"] = json!("f32");
            sampled::describe(&mut header, &numbers);
            binary(&header, &sampled::bytes(&numbers))
        }
    }
}

/// The place of the full grid, from that of a coarser one.
fn place(place: &Place, stride: u32) -> Value {
    let list = |numbers: &[f64], by: f64| -> Value {
        let numbers = numbers.iter().map(|x| number(x / by));
        numbers.collect()
    };
    let directions = place.directions.iter();
    let directions: Vec<Value> = directions.map(|d| list(d, f64::from(stride))).collect();
    json!({ "origin": list(&place.origin, 1.0), "directions": directions })
}

fn table(data: &OutputData, mut header: Value) -> Vec<u8> {
    let numbers = sampled::singles(&data.values);
    let components = data.output.shape.iter().product::<usize>().max(1);
    header["type"] = json!("table");
    header["count"] = json!(data.domain.strand_count());
    header["components"] = json!(components);
    sampled::describe(&mut header, &numbers);
    let row = |row: &[f32]| -> Value { row.iter().map(|&x| number(x.into())).collect() };
    header["rows"] = match &data.lengths {
        None => numbers
            .chunks(data.output.strand_size().max(1))
            .take(ROWS)
            .map(row)
            .collect(),
        Some(lengths) => {
            let mut rest = &numbers[..];
            let rows = lengths.iter().take(ROWS).map(|&length| {
                let (own, after) = rest.split_at((length * components).min(rest.len()));
                rest = after;
                row(&own[..own.len().min(ROWS)])
            });
            rows.collect()
        }
    };
    binary(&header, &[])
}
