//! The allocator of the command, which is that of this test too.

#[path = "../src/allocator.rs"]
mod allocator;

/// Blocks of this size are from another allocator than smaller ones.
const LARGE: usize = 1 << 20;

#[test]
fn what_grows_large_or_shrinks_again_is_kept() {
    let step = LARGE / 3 + 5;
    let mut bytes: Vec<u8> = Vec::new();
    for n in 1..=6 {
        bytes.reserve_exact(step);
        bytes.resize(n * step, n as u8);
    }
    let is_kept = |bytes: &[u8]| {
        let mut parts = bytes.chunks(step).zip(1..);
        parts.all(|(part, n)| part.iter().all(|&b| b == n))
    };
    assert!(is_kept(&bytes));
    bytes.truncate(2 * step);
    bytes.shrink_to_fit();
    assert!(bytes.capacity() < LARGE && is_kept(&bytes));
}

#[test]
fn fresh_memory_is_zero_where_that_is_asked_for() {
    for size in [1, LARGE - 1, LARGE, 3 * LARGE] {
        assert!(vec![0u8; size].iter().all(|&b| b == 0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn addresses_are_left_to_data() {
    let status = std::fs::read_to_string("/proc/self/status").expect("what the system knows of us");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let kibibytes: u64 = kibibytes.expect("a number");
    assert!(kibibytes < 700 << 10, "{kibibytes} KiB of addresses");
}
