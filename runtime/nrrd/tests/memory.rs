//! Reading takes no more memory than the data that are really there justify, whatever a header claims.

mod counting;

use counting::{alone, peak_of};
use nrrd_rs::{
    self as nrrd, Encoding, ErrorKind, Format, Header, Nrrd, Reader, SampleType, Samples,
};

/// What decoders and buffers take whatever they read; bzip2 alone needs four megabytes.
const CONSTANT: usize = 6 << 20;

/// Damages every byte of a file's header in three ways; whatever is made of it, memory stays within that of the data.
fn damaged_headers_take_no_more(file: &[u8], decoded: usize, encoding: Encoding) {
    let end = file.windows(2).position(|w| w == b"\n\n").unwrap();
    for at in 0..end {
        for damage in [b'9', b' ', file[at] ^ 1] {
            let mut damaged = file.to_vec();
            damaged[at] = damage;
            // Some damage is harmless, most is an error.
            let peak = peak_of(|| drop(nrrd::read_bytes(&damaged, None)));
            assert!(
                peak < CONSTANT + 4 * decoded,
                "{encoding}, byte {at} is {damage}: {peak} bytes"
            );
        }
    }
}

#[test]
fn memory_follows_the_data_and_not_the_header() {
    let _alone = alone();
    for encoding in Encoding::all() {
        // A file with a hundred thousand samples, whose header is then changed to claim a thousand million.
        let count = 100_000;
        let header = Header::new(SampleType::U16, &[count]);
        let nrrd = Nrrd::new(header, Samples::U16(vec![7; count])).unwrap();
        let mut file = Vec::new();
        nrrd::write_attached(
            &nrrd,
            Format {
                encoding,
                ..Format::default()
            },
            &mut file,
        )
        .unwrap();
        let sizes = file.windows(6).position(|w| w == b"100000").unwrap();
        file.splice(sizes..sizes + 6, *b"1000000000");
        let decoded = 2 * count;
        let peak = peak_of(|| assert!(nrrd::read_bytes(&file, None).is_err()));
        assert!(peak < CONSTANT + 4 * decoded, "{encoding}: {peak} bytes");
        damaged_headers_take_no_more(&file, decoded, encoding);
    }
}

#[test]
fn a_whole_array_takes_its_own_size_once() {
    let _alone = alone();
    // Sizes that are powers of two are those where growth by doubling would show.
    let count = 8 << 20;
    let header = Header::new(SampleType::U8, &[count]);
    let nrrd = Nrrd::new(header, Samples::U8(vec![7; count])).unwrap();
    for encoding in Encoding::all() {
        let format = Format {
            encoding,
            ..Format::default()
        };
        let mut file = Vec::new();
        nrrd::write_attached(&nrrd, format, &mut file).unwrap();
        let peak = peak_of(|| assert!(nrrd::read_bytes(&file, None).is_ok()));
        assert!(peak < count + CONSTANT, "{encoding}: {peak} bytes");
    }
}

#[test]
fn an_array_above_the_limit_is_refused_before_it_is_read() {
    let _alone = alone();
    // Twenty million zeros in twenty kilobytes, which are really there.
    let count = 20_000_000;
    let header = Header::new(SampleType::U8, &[count]);
    let mut file = Vec::new();
    let format = Format {
        encoding: Encoding::Gzip,
        ..Format::default()
    };
    let nrrd = Nrrd::new(header, Samples::U8(vec![0; count])).unwrap();
    nrrd::write_attached(&nrrd, format, &mut file).unwrap();
    drop(nrrd);
    let limit = 1 << 20;
    let limited = |file: &[u8]| {
        let reader = Reader::from_bytes(file, "bomb", None).unwrap();
        let error = reader.with_limit(limit).read().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    };
    let peak = peak_of(|| limited(&file));
    assert!(peak < CONSTANT, "{peak} bytes");
    // The end of a stream is found by keeping its tail, however much of it the header asks for.
    let text = "NRRD0001\ntype: uchar\ndimension: 1\nsizes: 4\nbyte skip: -99999999999\nencoding: gzip\n\n";
    let data = file.windows(2).position(|w| w == b"\n\n").unwrap() + 2;
    let tail = [text.as_bytes(), &file[data..]].concat();
    let peak = peak_of(|| limited(&tail));
    assert!(peak < CONSTANT + 4 * limit, "{peak} bytes");
}

#[test]
fn names_of_files_are_made_one_at_a_time() {
    let _alone = alone();
    let header = "NRRD0001\ntype: uchar\ndimension: 2\nsizes: 1 100000000\nencoding: raw\n\
                  data file: no-such-slice-%d.raw 1 100000000 1\n";
    let directory = std::env::temp_dir();
    let peak = peak_of(|| {
        let error = nrrd::read_bytes(header.as_bytes(), Some(&directory)).unwrap_err();
        assert!(error.to_string().contains("no-such-slice-1.raw"), "{error}");
    });
    assert!(peak < 1 << 16, "{peak} bytes");
}
