//! Where things are on a page, against numbers that are computed here.

use runtime::colour_maps::ColourMap;
use runtime::figure::{Anchor, Axis, Colours, Drawing, Figure, Item, Page, Text, layout};
use runtime::png::{Depth, Png};

fn axis(name: &str, unit: Option<&str>, from: f64, to: f64) -> Axis {
    Axis {
        name: name.into(),
        unit: unit.map(Into::into),
        from,
        to,
        is_whole: false,
    }
}

/// A figure of a picture of this many pixels with these axes.
fn figure([width, height]: [usize; 2], across: Axis, down: Axis) -> Figure {
    let png = Png::new(width, height, 1, Depth::Eight, vec![0; width * height]);
    Figure {
        title: "title".into(),
        note: None,
        facts: None,
        across,
        down,
        drawing: Drawing::Picture(png.unwrap()),
        colours: Some(Colours {
            label: "value".into(),
            range: (0.0, 213.4),
            map: Some(ColourMap::named("viridis").unwrap()),
            is_whole: false,
            exceeded: (false, false),
        }),
        has_scale_bar: true,
    }
}

fn slice() -> Figure {
    let down = axis("superior", Some("mm"), 110.5, -109.5);
    figure([180, 220], axis("right", Some("mm"), -90.5, 89.5), down)
}

fn texts<'p>(page: &'p Page<'_>) -> Vec<(String, &'p Text)> {
    let text = |item: &'p Item<'_>| match item {
        Item::Text(text) => {
            let spans: Vec<&str> = text.spans.iter().map(|span| &span.text[..]).collect();
            Some((spans.concat(), text))
        }
        _ => None,
    };
    page.items.iter().filter_map(text).collect()
}

/// The upper left corner and the size of the picture.
fn image(page: &Page<'_>) -> ([f64; 2], [f64; 2]) {
    let image = page.items.iter().find_map(|item| match item {
        Item::Image { corner, size, .. } => Some((*corner, *size)),
        _ => None,
    });
    image.expect("a picture")
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + b.abs())
}

#[test]
fn frames_are_four_inches_wide_with_equal_steps() {
    let rows = [
        ([100, 50], 1.0, 1.0, [288.0, 144.0]),
        ([100, 100], 1.0, 0.25, [288.0, 72.0]),
        // Higher than wide: no more than four inches and a half.
        ([100, 200], 1.0, 1.0, [162.0, 324.0]),
        ([50, 50], 1e-9, 1e-9, [288.0, 288.0]),
        // What could not be seen is drawn larger.
        ([1000, 1], 1.0, 1.0, [288.0, 9.0]),
        ([1, 1000], 1.0, 1.0, [9.0, 324.0]),
        ([10, 10], 1e-200, 1e200, [9.0, 324.0]),
    ];
    for (sizes, x, y, expected) in rows {
        let across = axis("x", None, 0.0, x * sizes[0] as f64);
        let figure = figure(sizes, across, axis("y", None, 0.0, y * sizes[1] as f64));
        let (_, size) = image(&layout(&figure));
        let is_near = near(size[0], expected[0]) && near(size[1], expected[1]);
        assert!(is_near, "{sizes:?}: {size:?}");
    }
}

#[test]
fn numbers_are_where_their_coordinates_are() {
    let figure = slice();
    let page = layout(&figure);
    let (corner, size) = image(&page);
    let (mut below, mut beside) = (0, 0);
    for (label, text) in texts(&page) {
        let Ok(value) = label.replace('\u{2212}', "-").parse::<f64>() else {
            continue;
        };
        match text.anchor {
            Anchor::Middle => {
                let x = corner[0] + (value + 90.5) / 180.0 * size[0];
                assert!(near(text.at[0], x), "{label}: {:?}", text.at);
                below += 1;
            }
            Anchor::End => {
                // Digits are 0.72 times as high as the size says, and their middle is at the tick.
                let y = corner[1] + (110.5 - value) / 220.0 * size[1] + 0.36 * text.size;
                assert!(near(text.at[1], y), "{label}: {:?}", text.at);
                beside += 1;
            }
            Anchor::Start => {
                let y = corner[1] + (1.0 - value / 213.4) * size[1] + 0.36 * text.size;
                assert!(near(text.at[1], y), "{label}: {:?}", text.at);
            }
        }
    }
    assert_eq!((below, beside), (3, 5));
    let labels: Vec<String> = texts(&page).into_iter().map(|(label, _)| label).collect();
    for expected in ["right (mm)", "superior (mm)", "value", "title", "20 mm"] {
        assert!(
            labels.iter().any(|l| l == expected),
            "{expected}: {labels:?}"
        );
    }
}

#[test]
fn scale_bars_have_the_length_that_they_tell() {
    let figure = slice();
    let page = layout(&figure);
    let (corner, size) = image(&page);
    let thick = page.items.iter().find_map(|item| match item {
        Item::Strokes {
            paths, thickness, ..
        } if *thickness == 1.5 => Some(&paths[0]),
        _ => None,
    });
    let bar = thick.expect("a bar");
    assert!(
        near(bar[1][0] - bar[0][0], 20.0 / 180.0 * size[0]),
        "{bar:?}"
    );
    assert!(near(bar[1][0], corner[0] + size[0]), "{bar:?}");
    assert!(bar[0][1] < corner[1], "{bar:?}");
}

#[test]
fn small_and_large_numbers_share_a_power_of_ten() {
    let across = axis("x", Some("m"), 0.0, 4e-4);
    let figure = figure([400, 100], across, axis("y", Some("m"), 0.0, 1e-4));
    let page = layout(&figure);
    let labels: Vec<String> = texts(&page).into_iter().map(|(label, _)| label).collect();
    for expected in [
        "x (10\u{2212}4 m)",
        "y (10\u{2212}4 m)",
        "0.5",
        "10\u{2212}4 m",
    ] {
        assert!(
            labels.iter().any(|l| l == expected),
            "{expected}: {labels:?}"
        );
    }
}

#[test]
fn nothing_is_cut_off_and_no_text_covers_another() {
    let ends = [1.0, 0.3, 7.77, 213.4, 1e-12, 12_345.0, 99_999.0, 3.3e17];
    let long = "a title that is so long that it has no room beside the bar, and none in the line above it either";
    for sizes in [[1, 1], [40, 40], [400, 30], [30, 400], [300, 1], [1, 300]] {
        for end in ends {
            for title in ["short", long] {
                let mut figure = figure(
                    sizes,
                    axis(
                        "anterior",
                        Some("mm"),
                        -0.7 * end,
                        0.3 * end * sizes[0] as f64,
                    ),
                    axis(
                        "superior",
                        Some("mm"),
                        0.3 * end * sizes[1] as f64,
                        -0.7 * end,
                    ),
                );
                figure.title = title.into();
                figure.note = Some("right = \u{2212}12.5 mm".into());
                if let Some(colours) = &mut figure.colours {
                    colours.range = (-end, end / 3.0);
                    colours.exceeded = (end < 1.0, end > 100.0);
                }
                check(&layout(&figure), &format!("{sizes:?}, {end}, {title}"));
            }
        }
    }
}

#[track_caller]
fn check(page: &Page<'_>, what: &str) {
    for item in &page.items {
        let Some([low, high]) = item.bounds() else {
            continue;
        };
        let is_within =
            low.iter().all(|x| *x >= 0.0) && high[0] <= page.width && high[1] <= page.height;
        assert!(is_within, "{what}: {low:?} to {high:?} of {item:?}");
    }
    let texts: Vec<&Item<'_>> = page
        .items
        .iter()
        .filter(|item| matches!(item, Item::Text(_)))
        .collect();
    for (n, one) in texts.iter().enumerate() {
        for other in &texts[..n] {
            let (Some(a), Some(b)) = (one.bounds(), other.bounds()) else {
                continue;
            };
            let is_apart = (0..2).any(|c| a[1][c] <= b[0][c] || b[1][c] <= a[0][c]);
            assert!(is_apart, "{what}: {one:?} covers {other:?}");
        }
    }
}
