//! Pages as SVG.

use std::io::{self, Write};

use super::measure::RAISED_BY;
use super::page::{Anchor, Ink, Item, Page, Spot, Text};
use crate::png::{self, Png};

/// Bytes that become base64 at a time; a multiple of three.
const PIECE: usize = 3 << 14;
/// Pictures with fewer pixels per point than this show their pixels as squares; finer ones are left to the viewer's smoothing.
const COARSE: f64 = 4.0;
/// The width from which on a text is held to it.
const LONG: f64 = 150.0;

/// Writes a page.
///
/// # Errors
/// A picture cannot be encoded, or writing fails.
pub fn print(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [width, height] = [page.width, page.height].map(short);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}pt" height="{height}pt" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">"#
    )?;
    writeln!(out, "<title>{}</title>", escaped(page.title))?;
    if let Some(facts) = page.facts {
        writeln!(out, "<desc>{}</desc>", escaped(facts))?;
    }
    // Browsers have given the word below another meaning than other programs, and know a new one.
    writeln!(
        out,
        "<style>@supports (image-rendering:pixelated) {{ [image-rendering] {{ image-rendering:pixelated }} }}</style>"
    )?;
    for item in &page.items {
        match item {
            Item::Strokes {
                paths,
                thickness,
                ink,
            } => {
                let (data, colour, width) =
                    (paths_data(paths, false), hex(*ink), short(*thickness));
                writeln!(
                    out,
                    r#"<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>"#
                )?;
            }
            Item::Areas { corners, ink } => {
                let (data, colour) = (paths_data(corners, true), hex(*ink));
                writeln!(out, r#"<path d="{data}" fill="{colour}"/>"#)?;
            }
            Item::Dots {
                centres,
                radius,
                ink,
            } => {
                writeln!(out, r#"<g fill="{}">"#, hex(*ink))?;
                let radius = short(*radius);
                for [x, y] in centres.iter().map(|centre| centre.map(short)) {
                    writeln!(out, r#"<circle cx="{x}" cy="{y}" r="{radius}"/>"#)?;
                }
                writeln!(out, "</g>")?;
            }
            Item::Text(text) => print_text(text, out)?,
            Item::Image { png, corner, size } => print_image(png, *corner, *size, out)?,
        }
    }
    writeln!(out, "</svg>")
}

fn print_text(text: &Text, out: &mut dyn Write) -> io::Result<()> {
    let [x, y] = text.at.map(short);
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turned = match text.is_upright {
        true => format!(r#" transform="rotate(-90 {x} {y})""#),
        false => String::new(),
    };
    // A font that is wider than Helvetica must not carry a long text beyond the page.
    let held = match text.width() > LONG {
        true => format!(
            r#" textLength="{}" lengthAdjust="spacingAndGlyphs""#,
            short(text.width())
        ),
        false => String::new(),
    };
    write!(
        out,
        r#"<text x="{x}" y="{y}" font-size="{}" text-anchor="{anchor}" fill="{}"{turned}{held}>"#,
        short(text.size),
        hex(text.ink)
    )?;
    let mut was_raised = false;
    for span in &text.spans {
        let letters = escaped(&span.text);
        if span.is_raised == was_raised {
            write!(out, "{letters}")?;
            continue;
        }
        // A shift holds for all that follows.
        let sign = if span.is_raised { -1.0 } else { 1.0 };
        let (by, size) = (
            short(sign * RAISED_BY * text.size),
            short(text.size_of(span)),
        );
        write!(
            out,
            r#"<tspan dy="{by}" font-size="{size}">{letters}</tspan>"#
        )?;
        was_raised = span.is_raised;
    }
    writeln!(out, "</text>")
}

fn print_image(picture: &Png, corner: Spot, size: [f64; 2], out: &mut dyn Write) -> io::Result<()> {
    let ([x, y], [width, height]) = (corner.map(short), size.map(short));
    let is_coarse = (picture.width() as f64) < COARSE * size[0];
    let look = match is_coarse {
        true => r#" image-rendering="optimizeSpeed""#,
        false => "",
    };
    write!(
        out,
        r#"<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none"{look} xlink:href="data:image/png;base64,"#
    )?;
    let mut bytes = Vec::new();
    png::encode(picture, &mut bytes).map_err(io::Error::other)?;
    for piece in bytes.chunks(PIECE) {
        out.write_all(&base64(piece))?;
    }
    writeln!(out, r#""/>"#)
}

/// The commands of a path through spots; a path that ends where it begins is closed.
fn paths_data(paths: &[Vec<Spot>], are_closed: bool) -> String {
    let mut data = String::new();
    for path in paths {
        let is_loop = path.len() > 2 && path.first() == path.last();
        let spots = if is_loop { &path[1..] } else { &path[..] };
        for (n, [x, y]) in spots.iter().map(|spot| spot.map(short)).enumerate() {
            let command = if n == 0 { 'M' } else { 'L' };
            data.push(command);
            data += &x;
            data.push(' ');
            data += &y;
        }
        if is_loop || are_closed {
            data.push('Z');
        }
    }
    data
}

/// A number to a thousandth of a point.
fn short(x: f64) -> String {
    let text = format!("{x:.3}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_string(),
        short => short.to_string(),
    }
}

fn hex(Ink([red, green, blue]): Ink) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text with characters that mean something in XML as entities, and a mark for those that it cannot have.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let byte = |n: usize| u32::from(group.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        std::array::from_fn::<u8, 4, _>(|n| match n <= group.len() {
            true => DIGITS[(bits >> (18 - 6 * n)) as usize % 64],
            false => b'=',
        })
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled_in_base64() {
        let rows = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in rows {
            assert_eq!(base64(bytes.as_bytes()), text.as_bytes());
        }
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), b"/+++");
    }

    #[test]
    fn texts_are_xml() {
        assert_eq!(
            escaped("a<b & \"c\" > λ\u{1}"),
            "a&lt;b &amp; \"c\" &gt; λ\u{fffd}"
        );
        assert_eq!(short(-0.0001), "0");
        assert_eq!(short(288.0), "288");
        assert_eq!(short(1.2345), "1.234");
    }
}
