//! Contact sheets as pages: pictures in rows, with captions under them.

use super::{Anchor, Ink, Item, Page, Span, Spot, Text};
use crate::png::Png;

/// The longer side of the largest picture.
const SIDE: f64 = 150.0;
/// The distance of pictures, and the margin around all.
const GAP: f64 = 8.0;
/// The size of letters, and the distance of lines.
const LETTERS: f64 = 7.0;
const LINE: f64 = 9.0;
/// How thick frames are.
const THIN: f64 = 0.5;
/// Stands for letters that have no room.
const CUT: char = '…';
/// The frames of pictures, and the crosses in place of those that are missing.
const FRAME: Ink = Ink([176; 3]);
const MISSING: Ink = Ink([192, 48, 48]);

/// A page with pictures, in rows of some columns. Those that are missing are crossed out.
pub fn contact<'f>(
    pictures: &'f [Option<Png>],
    captions: &[Vec<String>],
    columns: usize,
) -> Page<'f> {
    let sizes = pictures.iter().flatten();
    let sizes = sizes.map(|png| [png.width() as f64, png.height() as f64]);
    let largest = sizes.fold([0.0_f64; 2], |most, size| {
        [most[0].max(size[0]), most[1].max(size[1])]
    });
    let longer = largest[0].max(largest[1]);
    let (scale, room) = match longer > 0.0 {
        true => (SIDE / longer, largest.map(|n| n * SIDE / longer)),
        false => (1.0, [SIDE; 2]),
    };
    // Under narrow pictures there is room for captions, too.
    let width = room[0].max(SIDE / 2.0);
    let lines = captions.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let cell = [width + GAP, room[1] + lines * LINE + GAP];
    let mut items = Vec::new();
    for (n, (picture, caption)) in pictures.iter().zip(captions).enumerate() {
        let place = [(n % columns) as f64, (n / columns) as f64];
        let corner: Spot = [0, 1].map(|axis| GAP + place[axis] * cell[axis]);
        match picture {
            Some(png) => {
                let size = [png.width() as f64 * scale, png.height() as f64 * scale];
                items.push(Item::Image { png, corner, size });
                items.push(strokes(vec![around(corner, size)], FRAME));
            }
            None => {
                let [left, top] = corner;
                let [right, bottom] = [left + room[0], top + room[1]];
                let cross = [
                    vec![[left, top], [right, bottom]],
                    vec![[right, top], [left, bottom]],
                ];
                let paths = [vec![around(corner, room)], cross.to_vec()].concat();
                items.push(strokes(paths, MISSING));
            }
        }
        for (line, text) in caption.iter().enumerate() {
            let at = [corner[0], corner[1] + room[1] + (line + 1) as f64 * LINE];
            items.push(Item::Text(fitted(text, at, width)));
        }
    }
    let rows = pictures.len().div_ceil(columns);
    Page {
        width: columns.min(pictures.len()) as f64 * cell[0] + GAP,
        height: rows as f64 * cell[1] + GAP,
        title: "contact sheet",
        facts: None,
        items,
    }
}

fn strokes<'f>(paths: Vec<Vec<Spot>>, ink: Ink) -> Item<'f> {
    Item::Strokes {
        paths,
        thickness: THIN,
        ink,
    }
}

/// A line around a rectangle.
fn around([left, top]: Spot, [width, height]: [f64; 2]) -> Vec<Spot> {
    let (right, bottom) = (left + width, top + height);
    vec![
        [left, top],
        [right, top],
        [right, bottom],
        [left, bottom],
        [left, top],
    ]
}

/// A line of text that is cut off where its room ends.
fn fitted(line: &str, at: Spot, width: f64) -> Text {
    let text = |letters: String| Text::new(at, Anchor::Start, LETTERS, vec![Span::plain(letters)]);
    let whole = text(line.to_string());
    if whole.width() <= width {
        return whole;
    }
    let mut kept: Vec<char> = line.chars().collect();
    loop {
        kept.pop();
        let cut = text(kept.iter().chain([&CUT]).collect());
        if kept.is_empty() || cut.width() <= width {
            return cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::png::Depth;

    #[test]
    fn items_have_their_places_and_stay_on_the_page() {
        let picture = |width: usize, height: usize| {
            let samples = vec![0; width * height * 3];
            Some(Png::new(width, height, 3, Depth::Eight, samples).expect("a picture"))
        };
        let pictures = [picture(300, 100), None, picture(30, 100)];
        let long = "a name that is much longer than a picture is wide".repeat(3);
        let captions = ["x=1", "x=2", &long].map(|text| vec![text.to_string()]);
        let page = contact(&pictures, &captions, 2);
        let (mut images, mut texts) = (Vec::new(), Vec::new());
        for item in &page.items {
            match item {
                Item::Image { corner, size, .. } => images.push((*corner, *size)),
                Item::Text(text) => {
                    assert!(text.at[0] + text.width() <= page.width);
                    texts.push(text);
                }
                _ => {}
            }
        }
        assert_eq!(images.len(), 2, "the second picture is missing");
        assert_eq!(images[0], ([GAP, GAP], [SIDE, SIDE / 3.0]));
        assert_eq!(images[1].0, [GAP, GAP + SIDE / 3.0 + LINE + GAP]);
        assert!((images[1].1[0] - SIDE / 10.0).abs() < 1e-9);
        assert_eq!(page.width, 2.0 * (SIDE + GAP) + GAP);
        assert_eq!(texts[1].spans[0].text, "x=2");
        assert_eq!(texts[1].at[0], GAP + SIDE + GAP);
        assert!(texts[2].spans[0].text.ends_with(CUT));
    }
}
