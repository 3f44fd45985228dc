//! Nanoseconds per probe of the primitives against code written by hand for one kernel.
//!
//! For each kernel and real type, at positions in random order and sorted by bricks of 4³ cells (about ten
//! positions in each): the
//! primitive of every width of the best instruction set, scalar Rust, and AVX-512 intrinsics with the
//! coefficients as constants. The last column is the primitive of the widest width over the intrinsics.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

#[cfg(target_arch = "x86_64")]
#[path = "probe/by_hand.rs"]
mod by_hand;
#[cfg(target_arch = "x86_64")]
#[path = "../tests/kernels/mod.rs"]
mod kernels;
#[cfg(target_arch = "x86_64")]
#[path = "probe/measure.rs"]
mod measure;

#[cfg(target_arch = "x86_64")]
fn main() {
    measure::print_table();
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the intrinsics to compare with are those of x86-64");
}
