//! Pictures: stored integers come back, numbers become levels, damaged files are errors.

use runtime::png::{self, Depth, Png};

#[test]
fn pictures_come_back_as_they_were_written() {
    for depth in [Depth::Eight, Depth::Sixteen] {
        for channels in 1..=4 {
            let samples: Vec<u16> = (0..5 * 3 * channels as u32)
                .map(|i| (i * 7919 % (u32::from(depth.max()) + 1)) as u16)
                .collect();
            let png = Png::new(5, 3, channels, depth, samples).unwrap();
            let mut bytes = Vec::new();
            png::encode(&png, &mut bytes).unwrap();
            assert_eq!(png::decode(&bytes), Ok(png));
            for length in 0..bytes.len() - 12 {
                assert!(png::decode(&bytes[..length]).is_err(), "cut at {length}");
            }
        }
    }
    assert!(Png::new(2, 2, 5, Depth::Eight, vec![0; 20]).is_err());
    assert!(Png::new(2, 2, 1, Depth::Eight, vec![0; 3]).is_err());
    assert!(Png::new(0, 2, 1, Depth::Eight, vec![]).is_err());
    assert!(Png::new(1, 1, 1, Depth::Eight, vec![256]).is_err());
}

#[test]
fn grey_values_of_few_bits_are_not_stretched() {
    // A 4x1 picture of 2-bit grey values 0 1 2 3, deflated without compression.
    let bytes = two_bit_picture();
    let png = png::decode(&bytes).unwrap();
    assert_eq!((png.width(), png.samples()), (4, &[0, 1, 2, 3][..]));
}

fn two_bit_picture() -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(!0_u32, |crc, &b| {
            (0..8).fold(crc ^ u32::from(b), |c, _| {
                if c & 1 == 1 {
                    c >> 1 ^ 0xedb8_8320
                } else {
                    c >> 1
                }
            })
        })
    };
    let chunk = |name: &[u8], data: &[u8]| {
        let body = [name, data].concat();
        [
            &(data.len() as u32).to_be_bytes()[..],
            &body,
            &crc(&body).to_be_bytes(),
        ]
        .concat()
    };
    let row = [0_u8, 0b00_01_10_11];
    let adler = {
        let (a, b) = row.iter().fold((1_u32, 0_u32), |(a, b), &x| {
            (a + u32::from(x), b + a + u32::from(x))
        });
        b << 16 | a
    };
    let deflated = [
        &[0x78, 0x01, 1, 2, 0, 0xfd, 0xff][..],
        &row,
        &adler.to_be_bytes(),
    ]
    .concat();
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[0, 0, 0, 4, 0, 0, 0, 1, 2, 0, 0, 0, 0]),
        chunk(b"IDAT", &deflated),
        chunk(b"IEND", &[]),
    ]
    .concat()
}

#[test]
fn numbers_become_levels_by_the_range_asked_for() {
    let values = [
        -1.0,
        0.0,
        0.5,
        1.0,
        2.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let levels = |range, depth| png::quantize(&values, range, (0.0, 1.0), depth);
    assert_eq!(
        levels(png::Range::Usual, Depth::Eight),
        [0, 0, 128, 255, 255, 0, 255, 0]
    );
    assert_eq!(
        levels(png::Range::Usual, Depth::Sixteen),
        [0, 0, 32768, 65535, 65535, 0, 65535, 0]
    );
    assert_eq!(
        levels(png::Range::Between(0.0, 2.0), Depth::Eight),
        [0, 0, 64, 128, 255, 0, 255, 0]
    );
    assert_eq!(
        levels(png::Range::Between(1.0, 0.0), Depth::Eight),
        [255, 255, 128, 0, 0, 0, 0, 255]
    );
    assert_eq!(
        levels(png::Range::Auto, Depth::Eight),
        [0, 85, 128, 170, 255, 0, 255, 0]
    );
    assert_eq!(
        png::quantize(&[3.0, 3.0], png::Range::Auto, (0.0, 1.0), Depth::Eight),
        [0, 0]
    );
    assert_eq!(
        png::quantize(
            &[7.0, 300.0, -1.0],
            png::Range::Usual,
            (0.0, 255.0),
            Depth::Eight
        ),
        [7, 255, 0]
    );
}

#[test]
fn pictures_with_changed_bytes_are_read_or_refused() {
    let mut sound = two_bit_picture();
    let png = Png::new(3, 2, 3, Depth::Sixteen, (0..18).map(|i| i * 1000).collect()).unwrap();
    let mut bytes = Vec::new();
    png::encode(&png, &mut bytes).unwrap();
    for file in [&mut sound, &mut bytes] {
        for at in 0..file.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                file[at] ^= flip;
                if let Ok(png) = png::decode(file) {
                    assert_eq!(
                        png.samples().len(),
                        png.width() * png.height() * png.channels()
                    );
                }
                file[at] ^= flip;
            }
        }
    }
}
