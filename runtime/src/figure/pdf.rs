//! Pages as PDF, with the standard fonts Helvetica and Symbol, which every reader has.

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle, Predictor};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::measure::{RAISED_BY, width_of};
use super::page::{Ink, Item, Page, Spot, Text};
use crate::png::{Depth, Png, compress};

const HELVETICA: Name<'_> = Name(b"F1");
const SYMBOL: Name<'_> = Name(b"F2");

/// Writes a page.
///
/// # Errors
/// A picture cannot be encoded or is too large for the format, or writing fails.
pub fn print(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut numbers = (1..).map(Ref::new);
    let mut next = || {
        numbers
            .next()
            .expect("there are fewer objects than numbers")
    };
    let [catalog, pages, leaf, contents, info] = std::array::from_fn(|_| next());
    let [helvetica, symbol] = std::array::from_fn(|_| next());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([leaf]).count(1);
    let mut images = Vec::new();
    let mut content = Content::new();
    for item in &page.items {
        match item {
            Item::Image { png, corner, size } => {
                let name = format!("I{}", images.len());
                let number = next();
                add_image(&mut pdf, png, number, &mut next)?;
                let [x, y] = corner.map(|x| x as f32);
                let [width, height] = size.map(|x| x as f32);
                content.save_state();
                let bottom = page.height as f32 - y - height;
                content.transform([width, 0.0, 0.0, height, x, bottom]);
                content.x_object(Name(name.as_bytes()));
                content.restore_state();
                images.push((name, number));
            }
            other => draw(other, page.height, &mut content),
        }
    }
    add_stream(&mut pdf, contents, &content.finish())?;
    let mut written = pdf.page(leaf);
    written.parent(pages).contents(contents);
    written.media_box(Rect::new(0.0, 0.0, page.width as f32, page.height as f32));
    let mut resources = written.resources();
    let mut fonts = resources.fonts();
    fonts.pair(HELVETICA, helvetica).pair(SYMBOL, symbol);
    fonts.finish();
    let mut objects = resources.x_objects();
    for (name, number) in &images {
        objects.pair(Name(name.as_bytes()), *number);
    }
    objects.finish();
    resources.finish();
    written.finish();
    pdf.type1_font(helvetica)
        .base_font(Name(b"Helvetica"))
        .encoding_predefined(Name(b"WinAnsiEncoding"));
    pdf.type1_font(symbol).base_font(Name(b"Symbol"));
    let mut about = pdf.document_info(info);
    about.title(TextStr(page.title));
    if let Some(facts) = page.facts {
        about.subject(TextStr(facts));
    }
    about.finish();
    out.write_all(&pdf.finish())
}

/// Everything but images. The format counts from the lower left corner.
fn draw(item: &Item<'_>, height: f64, content: &mut Content) {
    let turned = |[x, y]: Spot| (rounded(x), rounded(height - y));
    match item {
        Item::Strokes {
            paths,
            thickness,
            ink,
        } => {
            let [red, green, blue] = tones(*ink);
            content.set_stroke_rgb(red, green, blue);
            content.set_line_width(*thickness as f32);
            content.set_line_join(LineJoinStyle::RoundJoin);
            for path in paths {
                let is_loop = path.len() > 2 && path.first() == path.last();
                let spots = if is_loop { &path[1..] } else { &path[..] };
                trace(spots.iter().map(|&spot| turned(spot)), content);
                if is_loop {
                    content.close_path();
                }
            }
            content.stroke();
        }
        Item::Areas { corners, ink } => {
            let [red, green, blue] = tones(*ink);
            content.set_fill_rgb(red, green, blue);
            for corners in corners {
                trace(corners.iter().map(|&spot| turned(spot)), content);
                content.close_path();
            }
            content.fill_nonzero();
        }
        Item::Dots {
            centres,
            radius,
            ink,
        } => {
            // Strokes of nearly no length with round ends are the shortest way to write circles.
            let [red, green, blue] = tones(*ink);
            content.save_state();
            content.set_stroke_rgb(red, green, blue);
            content.set_line_width(2.0 * *radius as f32);
            content.set_line_cap(LineCapStyle::RoundCap);
            for &centre in centres {
                let (x, y) = turned(centre);
                content
                    .move_to(x, y)
                    .line_to(rounded(f64::from(x) + 0.01), y);
            }
            content.stroke();
            content.restore_state();
        }
        Item::Text(text) => write_text(text, turned(text.at), content),
        Item::Image { .. } => {}
    }
}

fn trace(spots: impl Iterator<Item = (f32, f32)>, content: &mut Content) {
    for (n, (x, y)) in spots.enumerate() {
        match n {
            0 => content.move_to(x, y),
            _ => content.line_to(x, y),
        };
    }
}

/// A number to a thousandth of a point.
fn rounded(x: f64) -> f32 {
    ((x * 1000.0).round() / 1000.0) as f32
}

fn tones(Ink(levels): Ink) -> [f32; 3] {
    levels.map(|level| f32::from(level) / 255.0)
}

fn write_text(text: &Text, (x, y): (f32, f32), content: &mut Content) {
    let [red, green, blue] = tones(text.ink);
    content.set_fill_rgb(red, green, blue);
    content.begin_text();
    let mut along = -text.before_anchor();
    for span in &text.spans {
        let size = text.size_of(span);
        let rise = if span.is_raised {
            RAISED_BY * text.size
        } else {
            0.0
        };
        for (font, letters, bytes) in runs(&span.text) {
            let (a, r) = (along as f32, rise as f32);
            // Each run has its own place, so that the widths of other fonts do not move what follows.
            content.set_text_matrix(match text.is_upright {
                false => [1.0, 0.0, 0.0, 1.0, x + a, y + r],
                true => [0.0, 1.0, -1.0, 0.0, x - r, y + a],
            });
            content.set_font(font, size as f32);
            content.show(Str(&bytes));
            along += width_of(&letters) * size;
        }
    }
    content.end_text();
}

/// The parts of a text, each in one font: its letters, and their bytes in the font's encoding.
fn runs(text: &str) -> Vec<(Name<'static>, String, Vec<u8>)> {
    let mut runs: Vec<(Name<'static>, String, Vec<u8>)> = Vec::new();
    for c in text.chars() {
        let (font, byte) = match (latin(c), symbol(c)) {
            (Some(byte), _) => (HELVETICA, byte),
            (None, Some(byte)) => (SYMBOL, byte),
            (None, None) => (HELVETICA, b'?'),
        };
        match runs.last_mut() {
            Some(last) if last.0 == font => {
                last.1.push(c);
                last.2.push(byte);
            }
            _ => runs.push((font, c.to_string(), vec![byte])),
        }
    }
    runs
}

/// The code of a character in the encoding WinAnsi.
fn latin(c: char) -> Option<u8> {
    /// The characters from 0x80 on; blanks are codes without a character.
    const FROM_80: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";
    match c {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(c)).ok(),
        _ => {
            let place = FROM_80.chars().position(|known| known == c)?;
            u8::try_from(0x80 + place).ok()
        }
    }
}

/// The code of a character in the font Symbol.
fn symbol(c: char) -> Option<u8> {
    /// Greek letters from alpha on, as the font has them.
    const SMALL: &[u8; 25] = b"abgdezhqiklmnxoprVstufcyw";
    const CAPITAL: &[u8; 25] = b"ABGDEZHQIKLMNXOPR STUFCYW";
    let letter = |letters: &[u8; 25], first: char| letters[c as usize - first as usize];
    Some(match c {
        'α'..='ω' => letter(SMALL, 'α'),
        'Α'..='Ρ' | 'Σ'..='Ω' => letter(CAPITAL, 'Α'),
        '\u{2212}' => b'-',
        '≤' => 0xa3,
        '∞' => 0xa5,
        '≥' => 0xb3,
        '∝' => 0xb5,
        '∂' => 0xb6,
        '≠' => 0xb9,
        '≈' => 0xbb,
        '⊗' => 0xc4,
        '∇' => 0xd1,
        '√' => 0xd6,
        _ => return None,
    })
}

/// Adds a picture; its opacity is a picture of its own.
fn add_image(
    pdf: &mut Pdf,
    png: &Png,
    number: Ref,
    next: &mut impl FnMut() -> Ref,
) -> io::Result<()> {
    let (colours, opacity) = split(png)?;
    let Some(opacity) = opacity else {
        return add_pixels(pdf, &colours, number, None);
    };
    let mask = next();
    add_pixels(pdf, &colours, number, Some(mask))?;
    add_pixels(pdf, &opacity, mask, None)
}

/// Adds a picture without opacity. Its compressed pixels are those of a PNG, which the format knows as well.
fn add_pixels(pdf: &mut Pdf, png: &Png, number: Ref, mask: Option<Ref>) -> io::Result<()> {
    let pixels = compress(png)?.concat();
    let fitting = |n: usize| i32::try_from(n).map_err(|_| too_large());
    fitting(pixels.len())?;
    let (width, height) = (fitting(png.width())?, fitting(png.height())?);
    let bits = match png.depth() {
        Depth::Eight => 8,
        Depth::Sixteen => 16,
    };
    let mut image = pdf.image_xobject(number, &pixels);
    image.filter(Filter::FlateDecode);
    image.width(width).height(height).bits_per_component(bits);
    match png.channels() {
        1 => image.color_space().device_gray(),
        _ => image.color_space().device_rgb(),
    }
    image
        .decode_parms()
        .predictor(Predictor::PngOptimum)
        .colors(png.channels() as i32)
        .bits_per_component(bits)
        .columns(width);
    if let Some(mask) = mask {
        image.s_mask(mask);
    }
    Ok(())
}

fn too_large() -> io::Error {
    io::Error::other("the figure is too large for a .pdf")
}

/// The colours of a picture, and its opacity if it has one.
fn split(png: &Png) -> io::Result<(Cow<'_, Png>, Option<Png>)> {
    let channels = png.channels();
    if channels % 2 == 1 {
        return Ok((Cow::Borrowed(png), None));
    }
    let pick = |range: std::ops::Range<usize>| {
        let count = range.len();
        let pixels = png.samples().chunks(channels);
        let picked = pixels.flat_map(|pixel| &pixel[range.clone()]).copied();
        let (width, height) = (png.width(), png.height());
        Png::new(width, height, count, png.depth(), picked.collect()).map_err(io::Error::other)
    };
    let colours = pick(0..channels - 1)?;
    Ok((Cow::Owned(colours), Some(pick(channels - 1..channels)?)))
}

/// Adds compressed bytes.
fn add_stream(pdf: &mut Pdf, number: Ref, bytes: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    let compressed = encoder.finish()?;
    i32::try_from(compressed.len()).map_err(|_| too_large())?;
    pdf.stream(number, &compressed).filter(Filter::FlateDecode);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_codes_in_a_standard_font() {
        let text: Vec<(Name<'_>, Vec<u8>)> = runs("µ = \u{2212}3σ€漢")
            .into_iter()
            .map(|(font, _, bytes)| (font, bytes))
            .collect();
        let expected = [
            (HELVETICA, b"\xb5 = ".to_vec()),
            (SYMBOL, b"-".to_vec()),
            (HELVETICA, b"3".to_vec()),
            (SYMBOL, b"s".to_vec()),
            (HELVETICA, b"\x80?".to_vec()),
        ];
        assert_eq!(text, expected);
        assert_eq!(latin('Ÿ'), Some(0x9f));
        assert_eq!((latin('\n'), symbol('\u{3a2}')), (None, None));
        assert_eq!((symbol('ω'), symbol('Ω')), (Some(b'w'), Some(b'W')));
    }
}
