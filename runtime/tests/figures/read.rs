//! Reading back what files of figures say.

use quick_xml::events::Event;
use quick_xml::reader::Reader;
use runtime::png::{self, Png};

/// A text of an SVG: its letters, its place, and what of it is there.
pub(crate) struct SvgText {
    pub(crate) letters: String,
    pub(crate) at: [f64; 2],
    pub(crate) anchor: String,
}

/// The contents of an SVG.
#[derive(Default)]
pub(crate) struct Svg {
    pub(crate) title: String,
    pub(crate) desc: String,
    pub(crate) texts: Vec<SvgText>,
    /// Place, size and bytes of each picture.
    pub(crate) images: Vec<([f64; 4], Vec<u8>)>,
    /// The commands of paths.
    pub(crate) paths: Vec<String>,
    /// The centres of circles.
    pub(crate) circles: Vec<[f64; 2]>,
}

/// Reads a file, which must be well-formed.
pub(crate) fn svg(text: &str) -> Svg {
    let mut reader = Reader::from_str(text);
    let mut svg = Svg::default();
    let mut open: Vec<String> = Vec::new();
    loop {
        let event = reader.read_event().expect("well-formed");
        let (start, is_empty) = match &event {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(_) => {
                open.pop();
                continue;
            }
            Event::Eof => break,
            Event::Text(letters) => {
                put(&mut svg, &open, letters);
                continue;
            }
            Event::GeneralRef(name) => {
                let c = match &**name {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    other => panic!("entity {other}"),
                };
                put(&mut svg, &open, c);
                continue;
            }
            _ => continue,
        };
        let get = |key: &str| {
            let found = start.attributes().map(|a| a.expect("an attribute"));
            let mut found = found.filter(|a| a.key.0 == key);
            found.next().map(|a| a.value.into_owned())
        };
        let number = |key: &str| get(key).expect(key).parse::<f64>().expect("a number");
        match start.name().0 {
            "text" => svg.texts.push(SvgText {
                letters: String::new(),
                at: ["x", "y"].map(number),
                anchor: get("text-anchor").expect("an anchor"),
            }),
            "image" => {
                let link = get("xlink:href").expect("a picture");
                let bytes = link.strip_prefix("data:image/png;base64,").expect("a PNG");
                let place = ["x", "y", "width", "height"].map(number);
                svg.images.push((place, base64(bytes)));
            }
            "path" => svg.paths.push(get("d").expect("a path")),
            "circle" => svg.circles.push(["cx", "cy"].map(number)),
            _ => {}
        }
        if !is_empty {
            open.push(start.name().0.to_string());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    svg
}

fn put(svg: &mut Svg, open: &[String], letters: &str) {
    let target = match open.iter().map(|name| &name[..]).collect::<Vec<_>>()[..] {
        [_, "title"] => &mut svg.title,
        [_, "desc"] => &mut svg.desc,
        [_, "text"] | [_, "text", "tspan"] => &mut svg.texts.last_mut().expect("a text").letters,
        _ => return,
    };
    target.push_str(letters);
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} is not a digit"),
    };
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(digit).collect();
    let byte = |n: usize| {
        let (at, shift) = (8 * n / 6, 8 * n % 6);
        let pair = u32::from(digits[at]) << 6 | u32::from(digits[at + 1]);
        (pair >> (4 - shift)) as u8
    };
    (0..digits.len() * 6 / 8).map(byte).collect()
}

/// The pictures of a PDF, colours and opacity apart, by way of the PNG that has the same compressed bytes.
pub(crate) fn pdf_images(bytes: &[u8]) -> Vec<Png> {
    check_pdf(bytes);
    let mut images = Vec::new();
    let mut rest = bytes;
    while let Some(at) = find(rest, b"/Subtype /Image") {
        rest = &rest[at..];
        let start = find(rest, b"stream\n").expect("a stream");
        let dictionary = String::from_utf8_lossy(&rest[..start]).into_owned();
        // The length comes before the kind of an object.
        let before = &bytes[..bytes.len() - rest.len()];
        let length = last_number(&String::from_utf8_lossy(before), "/Length ");
        let number = |key: &str| first_number(&dictionary, key);
        let data = &rest[start + 7..start + 7 + length];
        let channels = if dictionary.contains("/DeviceGray") {
            1
        } else {
            3
        };
        let sizes = [number("/Width "), number("/Height ")];
        let depth = number("/BitsPerComponent ");
        images.push(png_of(data, sizes, channels, depth));
        rest = &rest[start + 7 + length..];
    }
    images
}

/// Every object is where the table says.
fn check_pdf(bytes: &[u8]) {
    assert!(bytes.starts_with(b"%PDF-1.7"));
    assert!(bytes.trim_ascii_end().ends_with(b"%%EOF"));
    let text = String::from_utf8_lossy(&bytes[bytes.len() - 64..]).into_owned();
    let (_, end) = text
        .split_once("startxref")
        .expect("the place of the table");
    let at: usize = end.split_whitespace().next().unwrap().parse().unwrap();
    let table = std::str::from_utf8(&bytes[at..]).expect("the table is text");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let rows = lines
        .skip(2)
        .take_while(|line| !line.starts_with("trailer"));
    for (n, row) in rows.enumerate() {
        let offset: usize = row.split(' ').next().unwrap().parse().unwrap();
        let expected = format!("{} 0 obj", n + 1);
        assert!(bytes[offset..].starts_with(expected.as_bytes()), "{row}");
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn first_number(text: &str, key: &str) -> usize {
    let (_, after) = text
        .split_once(key)
        .unwrap_or_else(|| panic!("{key} in {text}"));
    let digits = after.split(|c: char| !c.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

fn last_number(text: &str, key: &str) -> usize {
    let (_, after) = text.rsplit_once(key).expect("a length");
    let digits = after.split(|c: char| !c.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

fn png_of(data: &[u8], [width, height]: [usize; 2], channels: usize, bits: usize) -> Png {
    use ::png::{BitDepth, ColorType, Encoder, chunk};
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width as u32, height as u32);
    let colours = [ColorType::Grayscale, ColorType::Rgb][channels / 3];
    encoder.set_color(colours);
    encoder.set_depth([BitDepth::Eight, BitDepth::Sixteen][bits / 16]);
    let mut writer = encoder.write_header().unwrap();
    writer.write_chunk(chunk::IDAT, data).unwrap();
    writer.finish().unwrap();
    png::decode(&file).expect("a picture")
}

/// The colours and the opacity of a picture, as a PDF has them.
pub(crate) fn apart(png: &Png) -> Vec<Png> {
    let channels = png.channels();
    let pick = |range: std::ops::Range<usize>| {
        let count = range.len();
        let pixels = png.samples().chunks(channels);
        let samples = pixels.flat_map(|pixel| pixel[range.clone()].to_vec());
        Png::new(
            png.width(),
            png.height(),
            count,
            png.depth(),
            samples.collect(),
        )
        .unwrap()
    };
    match channels % 2 {
        1 => vec![png.clone()],
        _ => vec![pick(0..channels - 1), pick(channels - 1..channels)],
    }
}
