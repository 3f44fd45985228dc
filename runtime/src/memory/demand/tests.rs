use super::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Bytes that depend on their place. Parts are runs of some bytes, taken in turns.
struct Pattern {
    bytes: usize,
    run: usize,
    parts: usize,
    made: AtomicUsize,
    broken: Option<usize>,
}

fn expected(byte: usize) -> u8 {
    (byte.wrapping_mul(2_654_435_761) >> 13) as u8
}

impl Parts for Pattern {
    fn count(&self) -> usize {
        self.parts
    }

    fn around(&self, byte: usize) -> (usize, Range<usize>) {
        let run = byte / self.run;
        let range = run * self.run..((run + 1) * self.run).min(self.bytes);
        (run % self.parts, range)
    }

    fn ranges(&self, part: usize) -> Vec<Range<usize>> {
        let starts = (part * self.run..self.bytes).step_by(self.run * self.parts);
        starts.map(|start| self.around(start).1).collect()
    }

    unsafe fn make(&self, part: usize, first: *mut u8) -> Result<(), String> {
        self.made.fetch_add(1, SeqCst);
        if self.broken == Some(part) {
            return Err("this part is broken".to_string());
        }
        for byte in self.ranges(part).into_iter().flatten() {
            // SAFETY: the byte is one of the part.
            unsafe { first.add(byte).write(expected(byte)) };
        }
        Ok(())
    }
}

fn pattern(bytes: usize, run: usize, parts: usize) -> Arc<Pattern> {
    Arc::new(Pattern {
        bytes,
        run,
        parts,
        made: AtomicUsize::new(0),
        broken: None,
    })
}

fn load(demand: &Demand, byte: usize) -> u8 {
    // SAFETY: the byte is one of the memory.
    unsafe { demand.first().add(byte).read_volatile() }
}

/// The pool and its limit are those of the process, so the tests of limits are one.
#[test]
fn bytes_are_those_of_the_parts_whatever_is_kept() {
    let page = page();
    for (bytes, run, parts) in [
        (1, 1, 1),
        (page, page, 1),
        (10 * page + 5, page / 2 + 3, 7),
        (40 * page, 3 * page, 5),
        (64 * page - 1, 1000, 3),
        (200 * page + 17, 4 * page + 8, 50),
    ] {
        for kept in [1, 6 * page, 1 << 30] {
            set_cache(kept as u64);
            let pattern = pattern(bytes, run, parts);
            let demand = Demand::new(pattern.clone(), bytes, 64).expect("memory");
            assert_eq!(pattern.made.load(SeqCst), 0);
            std::thread::scope(|scope| {
                for worker in 0..4 {
                    let demand = &demand;
                    scope.spawn(move || {
                        // Each worker goes in another direction.
                        let step = [1, 4097, bytes.saturating_sub(1).max(1), 12_289][worker];
                        let mut byte = worker * 31 % bytes;
                        for _ in 0..bytes.min(4_000) {
                            assert_eq!(load(demand, byte), expected(byte), "byte {byte}");
                            byte = (byte + step) % bytes;
                        }
                    });
                }
            });
            for after in bytes..bytes + 64 {
                assert_eq!(load(&demand, after), 0);
            }
            if kept == 1 << 30 {
                assert!(pattern.made.load(SeqCst) <= parts, "a part was made twice");
            }
            assert_eq!(demand.failure(), None);
        }
    }
    // A sweep through 100 parts makes each at most once in a pass if 20 are kept.
    set_cache(20 * 4 * page as u64);
    let pattern = pattern(400 * page, 4 * page, 100);
    let demand = Demand::new(pattern.clone(), 400 * page, 0).expect("memory");
    for pass in 1..4 {
        for byte in (0..400 * page).step_by(100) {
            assert_eq!(load(&demand, byte), expected(byte));
        }
        let made = pattern.made.load(SeqCst);
        assert!(
            (80 * pass..=100 * pass).contains(&made),
            "{made} parts in {pass} passes"
        );
    }
    assert!(resident(&demand) <= 20 * 4, "{} pages", resident(&demand));
    // Parts that are in use stay, even if others come and go.
    let before = pattern.made.load(SeqCst);
    for part in 0..100 {
        load(&demand, part * 4 * page);
        assert_eq!(
            load(&demand, 50 * 4 * page + 7),
            expected(50 * 4 * page + 7)
        );
    }
    let again = pattern.made.load(SeqCst) - before;
    assert!(again <= 110, "{again} parts were made");
    drop(demand);
    set_cache(1 << 30);
}

/// The pages of the file that have memory.
fn resident(demand: &Demand) -> usize {
    // SAFETY: the descriptor is open, and there is room for the answer.
    let blocks = unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        libc::fstat(demand.room.file.as_raw_fd(), &raw mut facts);
        facts.st_blocks
    };
    blocks as usize * 512 / page()
}

#[test]
fn a_part_that_cannot_be_made_is_told() {
    let page = page();
    let mut pattern = pattern(8 * page, page, 8);
    Arc::get_mut(&mut pattern).expect("one owner").broken = Some(3);
    let demand = Demand::new(pattern, 8 * page, 0).expect("memory");
    assert_eq!(load(&demand, 5), expected(5));
    assert_eq!(demand.failure(), None);
    assert_eq!(load(&demand, 3 * page), 0);
    assert_eq!(demand.failure(), Some("this part is broken"));
    assert_eq!(load(&demand, 4 * page + 1), expected(4 * page + 1));
}
