//! A host that has no strands and no sequences: it records its calls, and answers with numbers that only depend on the arguments.

use compiler::{
    codegen::abi::{CallPlanes, Host, HostCall},
    low::{Dynamic, Op, Ty, signature},
};
use runtime::abi::FailureKind;

/// The number of strands that the host pretends to have.
pub(crate) const STRANDS: usize = 64;

/// The host with the log of its calls.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TestHost {
    pub(crate) log: Vec<String>,
    /// The strands that queries find.
    found: Vec<u32>,
}

impl TestHost {
    pub(crate) fn new() -> TestHost {
        TestHost {
            log: Vec::new(),
            found: (0..8).map(|n| n * 7 % STRANDS as u32).collect(),
        }
    }
}

/// The lanes whose bits are set.
fn each(lanes: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| lanes >> lane & 1 == 1)
}

/// Code generators promise no sign and no payload of a NaN, so answers must not depend on them.
fn is_nan(ty: Ty, bits: u64, double: bool) -> bool {
    match ty {
        Ty::Real if double => f64::from_bits(bits).is_nan(),
        Ty::Real => f32::from_bits(bits as u32).is_nan(),
        _ => false,
    }
}

impl Host for TestHost {
    fn print(&mut self, lane: usize, text: &str) {
        self.log.push(format!("lane {lane} prints {text}"));
    }

    fn fail(
        &mut self,
        lanes: u32,
        kind: FailureKind,
        place: u32,
        details: &dyn Fn(usize) -> [i64; 2],
    ) {
        for lane in each(lanes) {
            let details = details(lane);
            self.log.push(format!(
                "lane {lane} fails: {kind:?} at {place}, {details:?}"
            ));
        }
    }

    unsafe fn operate(&mut self, call: &HostCall, lanes: u32, planes: CallPlanes) {
        let (args, results) = signature(&Op::Dynamic(call.op.clone()));
        let bytes = call.lanes.lane_bytes(Ty::Int);
        assert_eq!(bytes, call.lanes.bytes(), "all lanes are as wide as reals");
        for lane in each(lanes) {
            let at = |plane: usize| (plane * planes.width + lane) * bytes;
            let mut seed: u64 = 0x2545_f491_4f6c_dd1d;
            let mut words = Vec::new();
            for (plane, ty) in args.iter().enumerate() {
                let mut word = [0; 8];
                // SAFETY: there is a plane for every argument.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        planes.args.add(at(plane)),
                        word.as_mut_ptr(),
                        bytes,
                    );
                }
                let word = match u64::from_le_bytes(word) {
                    bits if is_nan(*ty, bits, call.lanes.double) => u64::MAX,
                    bits => bits,
                };
                seed = (seed ^ word)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(23);
                words.push(word);
            }
            if let Dynamic::New(_) = call.op {
                self.log.push(format!("lane {lane} makes {words:?}"));
            }
            for (plane, ty) in results.iter().enumerate() {
                seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
                let small = seed % 5;
                let value = match (&call.op, plane, ty) {
                    (Dynamic::Sphere { .. }, 0, _) => self.found.as_ptr() as u64 & 0xffff_ffff,
                    (Dynamic::Sphere { .. }, 1, _) => self.found.as_ptr() as u64 >> 32,
                    (_, _, Ty::Real) if call.lanes.double => (small as f64 / 4.0).to_bits(),
                    (_, _, Ty::Real) => u64::from((small as f32 / 4.0).to_bits()),
                    (_, _, Ty::Bool) => u64::MAX * (small & 1),
                    _ => small,
                };
                // SAFETY: there is room for a plane for every result.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        value.to_le_bytes().as_ptr(),
                        planes.results.add(at(plane)),
                        bytes,
                    );
                }
            }
        }
    }
}
