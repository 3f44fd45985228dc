//! Films.

use super::{Directory, column, output};
use runtime::output::film::Film;
use runtime::output::format::Destination;
use runtime::output::write::{Contents, Style};
use runtime::output::{Domain, Length, Scalar, Values};
use runtime::png;
use std::path::Path;

/// The pictures of an animated PNG, as still ones, and the duration of each.
fn read_apng(bytes: &[u8]) -> Vec<(png::Png, f64)> {
    let mut rest = &bytes[8..];
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let (chunk, after) = rest.split_at(12 + length);
        let mut sum = flate2::Crc::new();
        sum.update(&chunk[4..8 + length]);
        assert_eq!(chunk[8 + length..], sum.sum().to_be_bytes());
        chunks.push((chunk[4..8].to_vec(), chunk[8..8 + length].to_vec()));
        rest = after;
    }
    let put = |out: &mut Vec<u8>, name: &[u8], data: &[u8]| {
        out.extend((data.len() as u32).to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(data);
        out.extend([name, data, &sum.sum().to_be_bytes()].concat());
    };
    assert_eq!(
        (&chunks[0].0[..], &chunks[1].0[..]),
        (&b"IHDR"[..], &b"acTL"[..])
    );
    let count = u32::from_be_bytes(chunks[1].1[..4].try_into().unwrap());
    let (mut found, mut delay, mut expected) = (Vec::new(), 0.0, 0_u32);
    let mut number = |data: &[u8]| {
        assert_eq!(data[..4], expected.to_be_bytes(), "chunks are numbered");
        expected += 1;
    };
    for (name, data) in &chunks[2..] {
        match &name[..] {
            b"fcTL" => {
                number(data);
                let half = |at: usize| f64::from(u16::from_be_bytes([data[at], data[at + 1]]));
                delay = half(20) / half(22);
            }
            b"IDAT" | b"fdAT" => {
                let pixels = if name == b"fdAT" {
                    number(data);
                    &data[4..]
                } else {
                    data
                };
                let mut still = bytes[..8].to_vec();
                put(&mut still, b"IHDR", &chunks[0].1);
                put(&mut still, b"IDAT", pixels);
                put(&mut still, b"IEND", &[]);
                found.push((png::decode(&still).unwrap(), delay));
            }
            other => assert_eq!(other, b"IEND"),
        }
    }
    assert_eq!(found.len(), count as usize);
    found
}

#[test]
fn a_film_has_the_pictures_that_were_put_into_it() {
    let dir = Directory::new("film");
    let out = output("v", &[3], Length::One, Scalar::Real);
    let domain = Domain::Grid(vec![2, 5]);
    for name in ["f.apng", "f.y4m"] {
        let file = dir.0.join(name).display().to_string();
        let mut film = Film::new(&Destination::parse(&file).unwrap(), 20.0);
        for frame in 0..3 {
            let values: Vec<f32> = (0..30).map(|i| (i + frame) as f32 / 255.0).collect();
            let columns = [column(&out, Values::F32(&values))];
            let contents = Contents {
                columns: &columns,
                domain: &domain,
                place: None,
            };
            film.add(contents, &Style::default()).unwrap();
            assert!(!Path::new(&file).exists(), "it appears when it is complete");
        }
        let other = [0.0_f32; 3];
        let columns = [column(&out, Values::F32(&other))];
        let contents = Contents {
            columns: &columns,
            domain: &Domain::Grid(vec![1, 1]),
            place: None,
        };
        assert!(
            film.add(contents, &Style::default()).is_err(),
            "pictures are alike"
        );
        film.finish().unwrap();
    }
    let frames = read_apng(&std::fs::read(dir.0.join("f.apng")).unwrap());
    for (n, (png, delay)) in frames.iter().enumerate() {
        let expected: Vec<u16> = (0..30).map(|i| i + n as u16).collect();
        assert_eq!(
            (png.width(), png.height(), png.samples(), *delay),
            (5, 2, &expected[..], 0.05)
        );
    }
    assert_eq!(frames.len(), 3);
    let stream = std::fs::read(dir.0.join("f.y4m")).unwrap();
    let end = stream.iter().position(|&b| b == b'\n').unwrap();
    assert_eq!(&stream[..end], b"YUV4MPEG2 W5 H2 F20000:1000 Ip A1:1 C444");
    assert_eq!(stream.len() - end - 1, 3 * (6 + 3 * 10));
    assert_eq!(
        std::fs::read_dir(&dir.0).unwrap().count(),
        2,
        "nothing else is left"
    );
}
