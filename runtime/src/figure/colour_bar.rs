//! The colour bar beside a frame: colours from the least number at the bottom to the greatest at the top.

use super::frame::{BESIDE_NUMBERS, BESIDE_TICK, TICK, named, number, thin, ticks_beside};
use super::measure::{CAPITALS, LABEL, NUMBER};
use super::model::Colours;
use super::page::{Anchor, Ink, Item, Text, rectangle};
use super::ticks::Ticks;

/// The width of the bar.
const WIDTH: f64 = 9.0;
/// The space between the frame and the bar.
const BESIDE_FRAME: f64 = 12.0;
/// The least height of the bar, also beside a frame that is not so high.
const LEAST: f64 = 64.0;
/// The height of the tips that stand for numbers beyond the range.
const TIP: f64 = 5.0;
/// The number of colours.
const COLOURS: usize = 256;

/// The bar beside a frame of this size, whose axes reach so far to the right; nothing if there is no range.
pub(super) fn colour_bar(
    colours: &Colours,
    [width, height]: [f64; 2],
    reach: f64,
) -> Vec<Item<'static>> {
    let (first, last) = colours.range;
    let interval = (first.min(last), first.max(last));
    let extent = interval.1 - interval.0;
    if !extent.is_finite() {
        return Vec::new();
    }
    let x = match height < LEAST {
        true => (width + BESIDE_FRAME).max(reach + BESIDE_FRAME / 2.0),
        false => width + BESIDE_FRAME,
    };
    let total = height.max(LEAST);
    let (below, above) = colours.exceeded;
    let top = if above { TIP } else { 0.0 };
    let bottom = if below { total - TIP } else { total };
    let (right, middle) = (x + WIDTH, x + WIDTH / 2.0);
    let inks = inks(colours);
    let mut items = Vec::new();
    let mut edge = vec![[x, top]];
    if above {
        let tip = vec![[x, top], [middle, 0.0], [right, top]];
        edge.push([middle, 0.0]);
        items.push(area(tip, inks[0]));
    }
    edge.extend([[right, top], [right, bottom]]);
    if below {
        let tip = vec![[x, bottom], [middle, total], [right, bottom]];
        edge.push([middle, total]);
        items.push(area(tip, inks[inks.len() - 1]));
    }
    edge.extend([[x, bottom], [x, top]]);
    for (n, ink) in inks.iter().enumerate() {
        let y = top + n as f64 / inks.len() as f64 * (bottom - top);
        // Each covers the rest of the bar, so that there are no seams.
        items.push(area(rectangle([x, y], [WIDTH, bottom - y]), *ink));
    }
    items.push(thin(vec![edge]));
    let mut ticks = ticks_beside(interval, colours.is_whole, bottom - top);
    if ticks.ticks.is_empty() {
        ticks = Ticks::single(f64::midpoint(interval.0, interval.1));
    }
    let mut marks = Vec::new();
    let mut widest: f64 = 0.0;
    for tick in &ticks.ticks {
        let part = match extent > 0.0 {
            true => (tick.value - interval.0) / extent,
            false => 0.5,
        };
        let y = bottom - part * (bottom - top);
        marks.push(vec![[right, y], [right + TICK, y]]);
        let text = Text {
            at: [right + TICK + BESIDE_TICK, y + CAPITALS * NUMBER / 2.0],
            ..number(&tick.label)
        };
        widest = widest.max(text.width());
        items.push(Item::Text(text));
    }
    items.push(thin(marks));
    let across = right + TICK + BESIDE_TICK + widest + BESIDE_NUMBERS + CAPITALS * LABEL;
    let label = named(&colours.label, ticks.exponent, None);
    items.push(Item::Text(Text {
        is_upright: true,
        ..Text::new([across, total / 2.0], Anchor::Middle, LABEL, label)
    }));
    items
}

fn area(corners: Vec<[f64; 2]>, ink: Ink) -> Item<'static> {
    Item::Areas {
        corners: vec![corners],
        ink,
    }
}

/// The colours, that of the greatest number first.
fn inks(colours: &Colours) -> Vec<Ink> {
    let (first, last) = colours.range;
    let ink = |part: f64| {
        let tones = colours.map.map_or([part; 3], |map| map.colour(part));
        Ink(tones.map(|tone| (tone * 255.0).round() as u8))
    };
    let parts = (0..COLOURS).map(|n| n as f64 / (COLOURS - 1) as f64);
    match first == last {
        true => vec![ink(0.0)],
        false if first < last => parts.rev().map(ink).collect(),
        false => parts.map(ink).collect(),
    }
}
