//! Reading takes no more memory than the data that are really there justify, whatever a header claims.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::image::Image;
use runtime::nrrd::{self, Encoding, Format, Header, Nrrd, SampleType, Samples};

/// Counts the bytes in use and remembers the most there were.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged; counting touches no memory it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` had in use beyond what was in use before.
fn peak_of(work: impl FnOnce()) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

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
    let path = std::env::temp_dir().join(format!("memory-{}.nrrd", std::process::id()));
    for encoding in Encoding::all() {
        // A file with a hundred thousand samples, of which the header is then made to claim a thousand million.
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
        std::fs::write(&path, &file).unwrap();
        let peak = peak_of(|| assert!(Image::<f64>::read(&path, 1, &[]).is_err()));
        assert!(peak < CONSTANT + 4 * 8 * count, "{encoding}: {peak} bytes");
        damaged_headers_take_no_more(&file, decoded, encoding);
    }
    std::fs::remove_file(&path).unwrap();

    // A whole array takes its own size and the buffers, not twice its size.
    let count = 8 << 20;
    let nrrd = Nrrd::new(
        Header::new(SampleType::U8, &[count]),
        Samples::U8(vec![7; count]),
    )
    .unwrap();
    let mut file = Vec::new();
    nrrd::write_attached(&nrrd, Format::default(), &mut file).unwrap();
    let peak = peak_of(|| assert!(nrrd::read_bytes(&file, None).is_ok()));
    assert!(peak < 2 * count, "{peak} bytes");
}
