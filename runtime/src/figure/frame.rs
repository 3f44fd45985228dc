//! The frame of a drawing: its outline, ticks with numbers at the left and the lower edge, and the names of the axes.

use super::measure::{CAPITALS, DESCENT, LABEL, NUMBER, THIN};
use super::model::Axis;
use super::page::{Anchor, Ink, Item, Span, Spot, Text, rectangle};
use super::ticks::Ticks;

/// The length of ticks.
pub(super) const TICK: f64 = 3.0;
/// The space between a tick and its number.
pub(super) const BESIDE_TICK: f64 = 2.5;
/// The space between numbers and the name of their axis.
pub(super) const BESIDE_NUMBERS: f64 = 4.0;
/// The least space between numbers in one line.
const BETWEEN: f64 = 8.0;

/// The edges of a rectangle.
pub(super) fn outline(corner: Spot, size: [f64; 2]) -> Item<'static> {
    let mut path = rectangle(corner, size);
    path.push(corner);
    thin(vec![path])
}

/// Thin lines.
pub(super) fn thin(paths: Vec<Vec<Spot>>) -> Item<'static> {
    Item::Strokes {
        paths,
        thickness: THIN,
        ink: Ink::DARK,
    }
}

/// The ticks of an edge from top to bottom of this length.
pub(super) fn ticks_beside(interval: (f64, f64), are_whole: bool, length: f64) -> Ticks {
    let most = (length / 26.0) as usize;
    let extent = interval.1 - interval.0;
    let fit = |ticks: &Ticks| {
        let apart = |pair: f64| pair / extent * length >= 1.5 * NUMBER;
        steps(ticks).all(apart)
    };
    Ticks::within(interval, most.clamp(2, 9), are_whole, fit)
}

/// The distances between ticks that follow each other.
fn steps(ticks: &Ticks) -> impl Iterator<Item = f64> {
    let pairs = ticks.ticks.windows(2);
    pairs.map(|pair| pair[1].value - pair[0].value)
}

/// The name of an axis, with its power of ten and its unit in parentheses.
pub(super) fn named(name: &str, exponent: i32, unit: Option<&str>) -> Vec<Span> {
    let mut spans = vec![Span::plain(name)];
    if exponent == 0 && unit.is_none() {
        return spans;
    }
    spans[0].text += " (";
    if exponent != 0 {
        spans.extend(Span::power(exponent));
    }
    let end = match unit {
        Some(unit) if exponent != 0 => format!(" {unit})"),
        Some(unit) => format!("{unit})"),
        None => ")".to_string(),
    };
    spans.push(Span::plain(end));
    spans
}

/// The numbers and the names of both axes of a frame of this size.
pub(super) fn axes(across: &Axis, down: &Axis, size: [f64; 2]) -> Vec<Item<'static>> {
    let mut below = ticks_below(across, size[0]);
    let mut beside = ticks_beside(interval(down), down.is_whole, size[1]);
    let exponent = below.exponent.max(beside.exponent);
    if across.unit == down.unit && below.exponent != 0 && beside.exponent != 0 {
        below.label_with(exponent);
        beside.label_with(exponent);
    }
    let mut items = lower_edge(across, &below, size);
    items.extend(left_edge(down, &beside, size[1]));
    items
}

fn interval(axis: &Axis) -> (f64, f64) {
    (axis.from.min(axis.to), axis.from.max(axis.to))
}

/// The ticks of an edge from left to right of this length.
fn ticks_below(axis: &Axis, width: f64) -> Ticks {
    let fit = |ticks: &Ticks| {
        let texts: Vec<f64> = ticks
            .ticks
            .iter()
            .map(|t| number(&t.label).width())
            .collect();
        let pairs = texts.windows(2).zip(steps(ticks));
        let mut apart = pairs.map(|(pair, step)| {
            let room = step / axis.length() * width;
            (pair[0] + pair[1]) / 2.0 + BETWEEN <= room
        });
        apart.all(|is_apart| is_apart)
    };
    let most = (width / 32.0) as usize;
    Ticks::within(interval(axis), most.clamp(2, 9), axis.is_whole, fit)
}

fn lower_edge(axis: &Axis, ticks: &Ticks, [width, height]: [f64; 2]) -> Vec<Item<'static>> {
    let base = height + TICK + BESIDE_TICK + CAPITALS * NUMBER;
    let mut marks = Vec::new();
    let mut items = Vec::new();
    for tick in &ticks.ticks {
        let x = axis.part(tick.value) * width;
        marks.push(vec![[x, height], [x, height + TICK]]);
        items.push(Item::Text(Text {
            at: [x, base],
            anchor: Anchor::Middle,
            ..number(&tick.label)
        }));
    }
    items.insert(0, thin(marks));
    let at = [width / 2.0, base + BESIDE_NUMBERS + CAPITALS * LABEL];
    let name = named(&axis.name, ticks.exponent, axis.unit.as_deref());
    items.push(Item::Text(Text::new(at, Anchor::Middle, LABEL, name)));
    items
}

fn left_edge(axis: &Axis, ticks: &Ticks, height: f64) -> Vec<Item<'static>> {
    let mut marks = Vec::new();
    let mut items = Vec::new();
    let mut widest: f64 = 0.0;
    for tick in &ticks.ticks {
        let y = axis.part(tick.value) * height;
        marks.push(vec![[-TICK, y], [0.0, y]]);
        let text = Text {
            at: [-TICK - BESIDE_TICK, y + CAPITALS * NUMBER / 2.0],
            anchor: Anchor::End,
            ..number(&tick.label)
        };
        widest = widest.max(text.width());
        items.push(Item::Text(text));
    }
    items.insert(0, thin(marks));
    let x = -TICK - BESIDE_TICK - widest - BESIDE_NUMBERS - DESCENT * LABEL;
    let name = named(&axis.name, ticks.exponent, axis.unit.as_deref());
    items.push(Item::Text(Text {
        is_upright: true,
        ..Text::new([x, height / 2.0], Anchor::Middle, LABEL, name)
    }));
    items
}

/// The number at a tick, without its place.
pub(super) fn number(label: &str) -> Text {
    Text::new([0.0; 2], Anchor::Start, NUMBER, vec![Span::plain(label)])
}
