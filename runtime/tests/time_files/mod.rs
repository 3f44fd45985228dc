//! Small files with frames, written byte by byte: NRRD, NetCDF 3, TIFF, OME-Zarr, DICOM and NumPy.
#![allow(dead_code, reason = "not every test uses every part")]

use std::path::Path;

/// The grid of a frame, fastest axis first, and the number of frames.
pub(crate) const SIZES: [usize; 3] = [3, 2, 2];
pub(crate) const FRAMES: usize = 4;

/// The sample of a frame at a place of the grid.
pub(crate) fn sample(frame: usize, [i, j, k]: [usize; 3]) -> u8 {
    (50 * frame + i + SIZES[0] * (j + SIZES[1] * k)) as u8
}

/// All samples of a frame.
fn samples(frame: usize) -> Vec<u8> {
    let count: usize = SIZES.iter().product();
    let [x, y, _] = SIZES;
    let at = |n: usize| sample(frame, [n % x, n / x % y, n / (x * y)]);
    (0..count).map(at).collect()
}

/// NetCDF 3: a variable `u` over time, z, y and x, and the coordinate of time in a unit.
pub(crate) fn netcdf(unit: &str, times: &[f64]) -> Vec<u8> {
    let name = |text: &str| {
        let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
        bytes.extend(text.bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let number = |n: usize| (n as u32).to_be_bytes();
    let dimensions = [
        ("time", times.len()),
        ("z", SIZES[2]),
        ("y", SIZES[1]),
        ("x", SIZES[0]),
    ];
    let data: Vec<u8> = (0..times.len())
        .flat_map(samples)
        .flat_map(|x| f32::from(x).to_be_bytes())
        .collect();
    let header = |first: usize, second: usize| {
        let mut bytes = b"CDF\x01\0\0\0\0".to_vec();
        bytes.extend(number(10));
        bytes.extend(number(dimensions.len()));
        for (dimension, size) in dimensions {
            bytes.extend(name(dimension));
            bytes.extend(number(size));
        }
        bytes.extend([0; 8]);
        bytes.extend(number(11));
        bytes.extend(number(2));
        // The coordinate, with its unit.
        bytes.extend(name("time"));
        bytes.extend(number(1));
        bytes.extend(number(0));
        bytes.extend(number(12));
        bytes.extend(number(1));
        bytes.extend(name("units"));
        bytes.extend(number(2));
        bytes.extend(name(unit));
        bytes.extend(number(6));
        bytes.extend(number(8 * times.len()));
        bytes.extend(number(first));
        // The samples.
        bytes.extend(name("u"));
        bytes.extend(number(4));
        (0..4).for_each(|n| bytes.extend(number(n)));
        bytes.extend([0; 8]);
        bytes.extend(number(5));
        bytes.extend(number(data.len()));
        bytes.extend(number(second));
        bytes
    };
    let first = header(0, 0).len();
    let mut bytes = header(first, first + 8 * times.len());
    bytes.extend(times.iter().flat_map(|time| time.to_be_bytes()));
    bytes.extend(data);
    bytes
}

/// TIFF: a page for each slice of each frame, and a description.
pub(crate) fn tiff(description: &str) -> Vec<u8> {
    let [width, height, depth] = SIZES;
    let page = width * height;
    let mut text = description.as_bytes().to_vec();
    text.push(0);
    let mut bytes = b"II*\0".to_vec();
    let text_at = 8;
    let data_at = text_at + text.len();
    let pages = FRAMES * depth;
    let first = (data_at + pages * page).next_multiple_of(2);
    bytes.extend((first as u32).to_le_bytes());
    bytes.extend(&text);
    (0..FRAMES).for_each(|frame| bytes.extend(samples(frame)));
    bytes.resize(first, 0);
    // Tag, type (2 text, 3 short, 4 long), count, value.
    let entries = |n: usize| -> Vec<(u16, u16, usize, usize)> {
        let mut entries = vec![
            (256, 4, 1, width),
            (257, 4, 1, height),
            (258, 3, 1, 8),
            (259, 3, 1, 1),
            (262, 3, 1, 1),
        ];
        if n == 0 {
            entries.push((270, 2, text.len(), text_at));
        }
        entries.extend([
            (273, 4, 1, data_at + n * page),
            (277, 3, 1, 1),
            (278, 4, 1, height),
            (279, 4, 1, page),
        ]);
        entries
    };
    for n in 0..pages {
        let entries = entries(n);
        let end = bytes.len() + 2 + 12 * entries.len() + 4;
        bytes.extend((entries.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            bytes.extend((count as u32).to_le_bytes());
            bytes.extend((value as u32).to_le_bytes());
        }
        let next = if n + 1 < pages { end as u32 } else { 0 };
        bytes.extend(next.to_le_bytes());
    }
    bytes
}

/// OME-Zarr of version 2: one chunk for each frame.
pub(crate) fn zarr(directory: &Path, unit: &str, step: f64, start: f64) {
    let [x, y, z] = SIZES;
    let array = directory.join("0");
    std::fs::create_dir_all(&array).unwrap();
    std::fs::write(directory.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let unit = match unit {
        "" => String::new(),
        unit => format!(", \"unit\": \"{unit}\""),
    };
    let attributes = format!(
        r#"{{"multiscales": [{{"version": "0.4", "axes": [{{"name": "t", "type": "time"{unit}}},
        {{"name": "z", "type": "space"}}, {{"name": "y", "type": "space"}}, {{"name": "x", "type": "space"}}],
        "datasets": [{{"path": "0", "coordinateTransformations": [{{"type": "scale", "scale": [{step}, 1, 1, 1]}},
        {{"type": "translation", "translation": [{start}, 0, 0, 0]}}]}}]}}]}}"#
    );
    std::fs::write(directory.join(".zattrs"), attributes).unwrap();
    let about = format!(
        r#"{{"zarr_format": 2, "shape": [{FRAMES}, {z}, {y}, {x}], "chunks": [1, {z}, {y}, {x}], "dtype": "|u1",
        "compressor": null, "fill_value": 0, "order": "C", "filters": null}}"#
    );
    std::fs::write(array.join(".zarray"), about).unwrap();
    for frame in 0..FRAMES {
        std::fs::write(array.join(format!("{frame}.0.0.0")), samples(frame)).unwrap();
    }
}

/// What tells the frames of DICOM apart: seconds of trigger times, times of acquisition, or numbers.
pub(crate) enum Moment<'a> {
    Trigger(&'a [f64]),
    Acquired(&'a [&'a str]),
    Numbered,
}

/// A series of DICOM: a file for each slice of each frame, whose names are in another order.
pub(crate) fn dicom(directory: &Path, moments: &Moment<'_>) {
    let [columns, rows, depth] = SIZES;
    std::fs::create_dir_all(directory).unwrap();
    for frame in 0..FRAMES {
        for slice in 0..depth {
            let mut file = vec![0; 128];
            file.extend(b"DICM");
            let mut put = |group: u16, element: u16, kind: &[u8; 2], value: &[u8]| {
                file.extend(group.to_le_bytes());
                file.extend(element.to_le_bytes());
                file.extend(kind);
                let mut value = value.to_vec();
                if value.len() % 2 == 1 {
                    value.push(if kind == b"UI" || kind == b"OB" {
                        0
                    } else {
                        b' '
                    });
                }
                if kind == b"OB" {
                    file.extend([0, 0]);
                    file.extend((value.len() as u32).to_le_bytes());
                } else {
                    file.extend((value.len() as u16).to_le_bytes());
                }
                file.extend(value);
            };
            put(2, 0, b"UL", &28_u32.to_le_bytes());
            put(2, 0x10, b"UI", b"1.2.840.10008.1.2.1");
            if let Moment::Acquired(times) = moments {
                put(8, 0x22, b"DA", b"20200131");
                put(8, 0x32, b"TM", times[frame].as_bytes());
            }
            put(8, 0x60, b"CS", b"MR");
            if let Moment::Trigger(times) = moments {
                let milliseconds = format!("{}", 1000.0 * times[frame]);
                put(0x18, 0x1060, b"DS", milliseconds.as_bytes());
            }
            put(0x20, 0x0e, b"UI", b"1.2.3");
            put(0x20, 0x32, b"DS", format!("0\\0\\{}", 5 * slice).as_bytes());
            put(0x20, 0x37, b"DS", b"1\\0\\0\\0\\1\\0");
            if let Moment::Numbered = moments {
                put(0x20, 0x100, b"IS", format!("{}", frame + 1).as_bytes());
            }
            put(0x28, 2, b"US", &1_u16.to_le_bytes());
            put(0x28, 4, b"CS", b"MONOCHROME2");
            put(0x28, 0x10, b"US", &(rows as u16).to_le_bytes());
            put(0x28, 0x11, b"US", &(columns as u16).to_le_bytes());
            put(0x28, 0x30, b"DS", b"1\\1");
            put(0x28, 0x100, b"US", &8_u16.to_le_bytes());
            put(0x28, 0x101, b"US", &8_u16.to_le_bytes());
            put(0x28, 0x102, b"US", &7_u16.to_le_bytes());
            put(0x28, 0x103, b"US", &0_u16.to_le_bytes());
            let page = columns * rows;
            put(
                0x7fe0,
                0x10,
                b"OB",
                &samples(frame)[slice * page..(slice + 1) * page],
            );
            let name = format!("{}.dcm", 10 * ((frame * 3 + 1) % FRAMES) + depth - slice);
            std::fs::write(directory.join(name), file).unwrap();
        }
    }
}

/// A file of NumPy with the frames as the first axis.
pub(crate) fn npy() -> Vec<u8> {
    let [x, y, z] = SIZES;
    let mut header =
        format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({FRAMES}, {z}, {y}, {x}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    (0..FRAMES).for_each(|frame| bytes.extend(samples(frame)));
    bytes
}

/// One frame as NRRD.
pub(crate) fn nrrd_of_frame(frame: usize) -> Vec<u8> {
    let [x, y, z] = SIZES;
    let mut bytes = format!(
        "NRRD0005\ntype: uchar\ndimension: 3\nsizes: {x} {y} {z}\nspace: left-posterior-superior\n\
         space directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (1,2,3)\nencoding: raw\n\n"
    )
    .into_bytes();
    bytes.extend(samples(frame));
    bytes
}

/// A text file of NRRD with these lines, whose samples are their own numbers.
pub(crate) fn nrrd(sizes: &[usize], lines: &str) -> Vec<u8> {
    let count: usize = sizes.iter().product();
    let shown = |sizes: &[usize]| {
        let words: Vec<String> = sizes.iter().map(usize::to_string).collect();
        words.join(" ")
    };
    let all: Vec<usize> = (0..count).collect();
    format!(
        "NRRD0005\ntype: float\ndimension: {}\nsizes: {}\nencoding: text\n{lines}\n{}\n",
        sizes.len(),
        shown(sizes),
        if lines.is_empty() {
            shown(&all)
        } else {
            format!("\n{}", shown(&all))
        }
    )
    .into_bytes()
}
