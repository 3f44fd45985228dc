//! From a figure to a page: sizes first, then everything around the frame, then the smallest page that holds it all.
//!
//! While things are placed, the origin is the upper left corner of the frame.

use super::colour_bar::colour_bar;
use super::frame::{axes, outline};
use super::measure::{CAPITALS, LABEL, NUMBER, shortened, width_of};
use super::model::{Axis, Drawing, Figure};
use super::page::{Anchor, Ink, Item, Page, Span, Spot, Text, rectangle, union};
use super::ticks::round_below;

/// The usual width of a frame: four inches.
const WIDTH: f64 = 288.0;
/// The greatest height of a frame.
const HEIGHT: f64 = 324.0;
/// The least width and height of a frame, also where equal steps of both axes would ask for less.
const LEAST: f64 = 9.0;
/// The free space around everything.
const MARGIN: f64 = 6.0;
/// The way from the base line of the heading to the frame.
const ABOVE_FRAME: f64 = 7.0;
/// The space between things that must not be taken for one.
const GAP: f64 = 10.0;
/// The size of the title.
const TITLE: f64 = 9.0;

/// The page of a figure.
pub fn layout(figure: &Figure) -> Page<'_> {
    let size = frame_size(&figure.across, &figure.down);
    let mut items = drawing(figure, size);
    items.push(outline([0.0, 0.0], size));
    items.extend(axes(&figure.across, &figure.down, size));
    if let Some(colours) = &figure.colours {
        let right = bounds(&items)[1][0];
        items.extend(colour_bar(colours, size, right));
    }
    let right = bounds(&items)[1][0];
    items.extend(heading(figure, size, right));
    // An axis may have no ticks, and a drawing no points.
    items.retain(|item| item.bounds().is_some());
    let [low, high] = bounds(&items);
    let by = low.map(|x| MARGIN - x);
    items.iter_mut().for_each(|item| item.shift(by));
    let [width, height] = [0, 1].map(|c| high[c] - low[c] + 2.0 * MARGIN);
    let paper = Item::Areas {
        corners: vec![rectangle([0.0, 0.0], [width, height])],
        ink: Ink::PAPER,
    };
    items.insert(0, paper);
    Page {
        width,
        height,
        title: &figure.title,
        facts: figure.facts.as_deref(),
        items,
    }
}

fn bounds(items: &[Item<'_>]) -> [Spot; 2] {
    let all = items.iter().filter_map(Item::bounds);
    all.reduce(union).unwrap_or_default()
}

/// The size of a frame in which steps of both axes are equal.
fn frame_size(across: &Axis, down: &Axis) -> [f64; 2] {
    let aspect = down.length() / across.length();
    let height = WIDTH * aspect;
    match height <= HEIGHT {
        true => [WIDTH, height.max(LEAST)],
        false => [(HEIGHT / aspect).max(LEAST), HEIGHT],
    }
}

/// The contents of the frame.
fn drawing(figure: &Figure, size: [f64; 2]) -> Vec<Item<'_>> {
    let spot = |point: &[f64; 2]| {
        let parts = [figure.across.part(point[0]), figure.down.part(point[1])];
        [parts[0] * size[0], parts[1] * size[1]]
    };
    // Many things are drawn finer, so that they can be told apart.
    let fine = |count: usize, enough: f64| (enough / count.max(1) as f64).powf(0.25).min(1.0);
    let item = match &figure.drawing {
        Drawing::Triangles(triangles) => {
            let corners = |triangle: &[[f64; 2]; 3]| triangle.iter().map(spot).collect();
            let closed = |corners: &Vec<Spot>| [&corners[..], &corners[..1]].concat();
            let corners: Vec<Vec<Spot>> = triangles.iter().map(corners).collect();
            let sides = Item::Strokes {
                paths: corners.iter().map(closed).collect(),
                thickness: (0.5 * fine(triangles.len(), 200.0)).max(0.1),
                ink: Ink::DARK,
            };
            let ink = Ink::LIGHT;
            return vec![Item::Areas { corners, ink }, sides];
        }
        Drawing::Picture(png) => Item::Image {
            png,
            corner: [0.0, 0.0],
            size,
        },
        Drawing::Points(points) => Item::Dots {
            centres: points.iter().map(spot).collect(),
            radius: (1.5 * fine(points.len(), 300.0)).max(0.4),
            ink: Ink::DARK,
        },
        Drawing::Lines(lines) => Item::Strokes {
            paths: lines
                .iter()
                .map(|line| line.iter().map(spot).collect())
                .collect(),
            thickness: (0.75 * fine(lines.len(), 200.0)).max(0.25),
            ink: Ink::DARK,
        },
    };
    vec![item]
}

/// The title and the scale bar above the frame, in one line if there is room; `right` is how far the figure reaches.
fn heading(figure: &Figure, size: [f64; 2], right: f64) -> Vec<Item<'static>> {
    let mut items = match figure.has_scale_bar {
        true => scale_bar(&figure.across, size[0]),
        false => Vec::new(),
    };
    let room = match bounds(&items) {
        [[start, _], _] if !items.is_empty() => start - GAP,
        _ => right,
    };
    let note = figure.note.as_deref().unwrap_or_default();
    let of_note = match note {
        "" => 0.0,
        _ => GAP + LABEL * width_of(note),
    };
    let is_beside = TITLE * width_of(&figure.title) + of_note <= room;
    let (room, y) = match is_beside {
        true => (room, -ABOVE_FRAME),
        false => (right, -ABOVE_FRAME - 1.5 * TITLE),
    };
    let title = shortened(&figure.title, (room - of_note).max(0.0) / TITLE);
    let after = TITLE * width_of(&title) + GAP;
    let title = Text::new([0.0, y], Anchor::Start, TITLE, vec![Span::plain(title)]);
    items.push(Item::Text(title));
    if !note.is_empty() {
        items.push(Item::Text(Text {
            ink: Ink::GREY,
            ..Text::new([after, y], Anchor::Start, LABEL, vec![Span::plain(note)])
        }));
    }
    items
}

/// A bar of a round length, at the right end of a frame of this width, and its length.
fn scale_bar(axis: &Axis, width: f64) -> Vec<Item<'static>> {
    let Some((length, ticks)) = round_below(0.25 * axis.length()) else {
        return Vec::new();
    };
    let start = width - length / axis.length() * width;
    let y = -ABOVE_FRAME - CAPITALS * NUMBER / 2.0;
    let bar = Item::Strokes {
        paths: vec![vec![[start, y], [width, y]]],
        thickness: 1.5,
        ink: Ink::DARK,
    };
    let mut spans = Vec::new();
    match (ticks.exponent, &ticks.ticks[0].label[..]) {
        (0, label) => spans.push(Span::plain(label)),
        (exponent, label) => {
            spans.extend((label != "1").then(|| Span::plain(format!("{label} × "))));
            spans.extend(Span::power(exponent));
        }
    }
    let unit = axis.unit.iter().map(|unit| Span::plain(format!(" {unit}")));
    spans.extend(unit);
    let at = [start - 4.0, -ABOVE_FRAME];
    vec![bar, Item::Text(Text::new(at, Anchor::End, NUMBER, spans))]
}
