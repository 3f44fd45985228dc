//! What one would write by hand for a single kernel: scalar loops, and AVX-512 intrinsics.
//!
//! Coefficients are constants of the program and positions are known to be inside. Scalar code writes results to
//! planes of all points, intrinsics in blocks of `[output][lane]`; derivatives are ordered as by the primitives.

use std::arch::x86_64::*;

/// Tap polynomials: `[tap][power]`.
type Table<const TAPS: usize, const POWERS: usize> = [[f64; POWERS]; TAPS];

const S6: f64 = 1.0 / 6.0;

const TENT: Table<2, 2> = [[1.0, -1.0], [0.0, 1.0]];
const CTMR: Table<4, 4> = [
    [0.0, -0.5, 1.0, -0.5],
    [1.0, 0.0, -2.5, 1.5],
    [0.0, 0.5, 2.0, -1.5],
    [0.0, 0.0, -0.5, 0.5],
];
const BSPLN3: Table<4, 4> = [
    [S6, -0.5, 0.5, -S6],
    [2.0 / 3.0, 0.0, -1.0, 0.5],
    [S6, 0.5, 0.5, -0.5],
    [0.0, 0.0, 0.0, S6],
];
const C4HEXIC: Table<6, 7> = hexic();

/// The pieces of the reference at `t = f + a` (right of the sample) and `t = a − f` (left of it).
const fn hexic() -> Table<6, 7> {
    const P: [[f64; 7]; 3] = [
        [
            69.0 / 80.0,
            0.0,
            -23.0 / 16.0,
            0.0,
            19.0 / 16.0,
            -7.0 / 12.0,
            1.0 / 16.0,
        ],
        [
            3.0 / 160.0,
            35.0 / 8.0,
            -341.0 / 32.0,
            10.0,
            -147.0 / 32.0,
            25.0 / 24.0,
            -3.0 / 32.0,
        ],
        [
            1539.0 / 160.0,
            -189.0 / 8.0,
            747.0 / 32.0,
            -12.0,
            109.0 / 32.0,
            -61.0 / 120.0,
            1.0 / 32.0,
        ],
    ];
    let mut table = [[0.0; 7]; 6];
    let mut tap = 0;
    while tap < 6 {
        let (piece, shift, slope) = if tap < 3 {
            (2 - tap, 2.0 - tap as f64, 1.0)
        } else {
            (tap - 3, tap as f64 - 2.0, -1.0)
        };
        let mut power = 7;
        while power > 0 {
            power -= 1;
            let mut next = [0.0; 7];
            let mut i = 0;
            while i < 7 {
                next[i] += table[tap][i] * shift;
                if i < 6 {
                    next[i + 1] += table[tap][i] * slope;
                }
                i += 1;
            }
            next[0] += P[piece][power];
            table[tap] = next;
        }
        tap += 1;
    }
    table
}

/// Scalar code by kernel name.
pub(crate) trait Scalar: Sized {
    fn scalar(
        name: &str,
        order: usize,
        samples: &[Self],
        n: usize,
        axes: &[Vec<Self>],
        out: &mut [Self],
    );
}

/// Intrinsics by kernel name.
pub(crate) trait Hand: Sized {
    /// Points per block of results.
    const LANES: usize;
    fn by_hand(
        name: &str,
        order: usize,
        samples: &[Self],
        n: usize,
        axes: &[Vec<Self>],
        out: &mut [Self],
    );
}

/// Where the derivative `(dx, dy, dz)` is stored.
const fn slot(dx: usize, dy: usize, dz: usize) -> usize {
    let order = dx + dy + dz;
    let rest = dy + dz;
    order * (order + 1) * (order + 2) / 6 + rest * (rest + 1) / 2 + dz
}

macro_rules! scalar {
    ($real:ident) => {
        impl Scalar for $real {
            fn scalar(
                name: &str,
                order: usize,
                samples: &[$real],
                n: usize,
                axes: &[Vec<$real>],
                out: &mut [$real],
            ) {
                #[inline(always)]
                fn go<const TAPS: usize, const POWERS: usize, const ORDERS: usize>(
                    table: &Table<TAPS, POWERS>,
                    samples: &[$real],
                    n: usize,
                    axes: &[Vec<$real>],
                    out: &mut [$real],
                ) {
                    let points = axes[0].len();
                    for p in 0..points {
                        let mut weights = [[[0.0 as $real; TAPS]; ORDERS]; 3];
                        let mut first = 0;
                        for axis in 0..3 {
                            let x = axes[axis][p];
                            let cell = x as i32;
                            let f = x - cell as $real;
                            first += (cell as usize + 1 - TAPS / 2) * n.pow(axis as u32);
                            for order in 0..ORDERS {
                                for tap in 0..TAPS {
                                    let mut w = 0.0;
                                    for power in (order..POWERS).rev() {
                                        let mut c = table[tap][power];
                                        for d in 0..order {
                                            c *= (power - d) as f64;
                                        }
                                        w = w * f + c as $real;
                                    }
                                    weights[axis][order][tap] = w;
                                }
                            }
                        }
                        let mut sums = [[[0.0; ORDERS]; ORDERS]; ORDERS];
                        for k in 0..TAPS {
                            let mut slice = [[0.0; ORDERS]; ORDERS];
                            for j in 0..TAPS {
                                let start = first + n * (j + n * k);
                                let row = &samples[start..start + TAPS];
                                for dx in 0..ORDERS {
                                    let mut sum = 0.0;
                                    for i in 0..TAPS {
                                        sum += weights[0][dx][i] * row[i];
                                    }
                                    for dy in 0..ORDERS - dx {
                                        slice[dx][dy] += weights[1][dy][j] * sum;
                                    }
                                }
                            }
                            for dx in 0..ORDERS {
                                for dy in 0..ORDERS - dx {
                                    for dz in 0..ORDERS - dx - dy {
                                        sums[dx][dy][dz] += weights[2][dz][k] * slice[dx][dy];
                                    }
                                }
                            }
                        }
                        for dx in 0..ORDERS {
                            for dy in 0..ORDERS - dx {
                                for dz in 0..ORDERS - dx - dy {
                                    out[slot(dx, dy, dz) * points + p] = sums[dx][dy][dz];
                                }
                            }
                        }
                    }
                }
                match (name, order) {
                    ("tent", 0) => go::<2, 2, 1>(&TENT, samples, n, axes, out),
                    ("ctmr", 1) => go::<4, 4, 2>(&CTMR, samples, n, axes, out),
                    ("bspln3", 2) => go::<4, 4, 3>(&BSPLN3, samples, n, axes, out),
                    ("c4hexic", 1) => go::<6, 7, 2>(&C4HEXIC, samples, n, axes, out),
                    _ => unreachable!("no scalar code for {name} of order {order}"),
                }
            }
        }
    };
}

scalar!(f32);
scalar!(f64);

/// `x`, which the optimizer shall not turn into a loop variable per lane.
#[inline(always)]
fn opaque(mut x: usize) -> usize {
    // SAFETY: no instruction is emitted.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags))
    };
    x
}

/// Intrinsics for one real type: `$lanes` points per vector, rows of four taps transposed in registers, pairs
/// of taps gathered.
macro_rules! by_hand {
    ($real:ident, $module:ident, $lanes:literal, $v:ident, $set1:ident, $load:ident, $store:ident, $fma:ident,
     $mul:ident, $sub:ident, $floor:ident) => {
        mod $module {
            use super::*;

            #[inline]
            #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
            unsafe fn weigh<const TAPS: usize, const POWERS: usize, const ORDERS: usize>(
                table: &Table<TAPS, POWERS>,
                f: $v,
            ) -> [[$v; TAPS]; ORDERS] {
                let mut weights = [[f; TAPS]; ORDERS];
                for order in 0..ORDERS {
                    for tap in 0..TAPS {
                        let mut w = $set1(0.0);
                        for power in (order..POWERS).rev() {
                            let mut c = table[tap][power];
                            for d in 0..order {
                                c *= (power - d) as f64;
                            }
                            let c = $set1(c as $real);
                            w = if power + 1 == POWERS {
                                c
                            } else {
                                $fma(w, f, c)
                            };
                        }
                        weights[order][tap] = w;
                    }
                }
                weights
            }

            #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
            pub(super) unsafe fn go<const TAPS: usize, const POWERS: usize, const ORDERS: usize>(
                table: &'static Table<TAPS, POWERS>,
                samples: &[$real],
                n: usize,
                axes: &[Vec<$real>],
                out: &mut [$real],
            ) {
                let points = axes[0].len();
                let zero = $set1(0.0);
                for p in (0..points).step_by($lanes) {
                    // SAFETY: positions are inside by the choice of points, whose number is a multiple of the lanes.
                    unsafe {
                        let x = $load(axes[0].as_ptr().add(p));
                        let y = $load(axes[1].as_ptr().add(p));
                        let z = $load(axes[2].as_ptr().add(p));
                        let (cx, cy, cz) = ($floor::<1>(x), $floor::<1>(y), $floor::<1>(z));
                        let weights = [
                            weigh::<TAPS, POWERS, ORDERS>(table, $sub(x, cx)),
                            weigh::<TAPS, POWERS, ORDERS>(table, $sub(y, cy)),
                            weigh::<TAPS, POWERS, ORDERS>(table, $sub(z, cz)),
                        ];
                        let first = samples.as_ptr().sub((TAPS / 2 - 1) * (1 + n + n * n));
                        let cells = cells::$module(cx, cy, cz, n);
                        let mut pointers = [first; $lanes];
                        for l in 0..$lanes {
                            pointers[l] = first.add(cells[l] as usize);
                        }
                        let mut sums = [[[zero; ORDERS]; ORDERS]; ORDERS];
                        for k in 0..TAPS {
                            let mut slice = [[zero; ORDERS]; ORDERS];
                            for j in 0..TAPS {
                                let row = rows::$module::<TAPS>(&pointers, opaque(n * (j + n * k)));
                                for dx in 0..ORDERS {
                                    let mut sum = $mul(weights[0][dx][0], row[0]);
                                    for i in 1..TAPS {
                                        sum = $fma(weights[0][dx][i], row[i], sum);
                                    }
                                    for dy in 0..ORDERS - dx {
                                        slice[dx][dy] = $fma(weights[1][dy][j], sum, slice[dx][dy]);
                                    }
                                }
                            }
                            for dx in 0..ORDERS {
                                for dy in 0..ORDERS - dx {
                                    for dz in 0..ORDERS - dx - dy {
                                        sums[dx][dy][dz] = $fma(
                                            weights[2][dz][k],
                                            slice[dx][dy],
                                            sums[dx][dy][dz],
                                        );
                                    }
                                }
                            }
                        }
                        let count = ORDERS * (ORDERS + 1) * (ORDERS + 2) / 6;
                        let block = out.as_mut_ptr().add(count * p);
                        for dx in 0..ORDERS {
                            for dy in 0..ORDERS - dx {
                                for dz in 0..ORDERS - dx - dy {
                                    $store(block.add(slot(dx, dy, dz) * $lanes), sums[dx][dy][dz]);
                                }
                            }
                        }
                    }
                }
            }
        }

        impl Hand for $real {
            const LANES: usize = $lanes;

            fn by_hand(
                name: &str,
                order: usize,
                samples: &[$real],
                n: usize,
                axes: &[Vec<$real>],
                out: &mut [$real],
            ) {
                // SAFETY: called on processors with AVX-512 only.
                unsafe {
                    match (name, order) {
                        ("tent", 0) => $module::go::<2, 2, 1>(&TENT, samples, n, axes, out),
                        ("ctmr", 1) => $module::go::<4, 4, 2>(&CTMR, samples, n, axes, out),
                        ("bspln3", 2) => $module::go::<4, 4, 3>(&BSPLN3, samples, n, axes, out),
                        ("c4hexic", 1) => $module::go::<6, 7, 2>(&C4HEXIC, samples, n, axes, out),
                        _ => unreachable!("no intrinsics for {name} of order {order}"),
                    }
                }
            }
        }
    };
}

by_hand!(
    f32,
    singles,
    16,
    __m512,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_mul_ps,
    _mm512_sub_ps,
    _mm512_roundscale_ps
);
by_hand!(
    f64,
    doubles,
    8,
    __m512d,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_fmadd_pd,
    _mm512_mul_pd,
    _mm512_sub_pd,
    _mm512_roundscale_pd
);

/// Indices of the samples at cells of a volume with `n` samples along each axis.
mod cells {
    use super::*;

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn singles(x: __m512, y: __m512, z: __m512, n: usize) -> [i32; 16] {
        let (x, y, z) = (
            _mm512_cvttps_epi32(x),
            _mm512_cvttps_epi32(y),
            _mm512_cvttps_epi32(z),
        );
        let n = _mm512_set1_epi32(n as i32);
        let yz = _mm512_add_epi32(y, _mm512_mullo_epi32(n, z));
        let index = _mm512_add_epi32(x, _mm512_mullo_epi32(n, yz));
        let mut cells = [0; 16];
        // SAFETY: there is room for 16.
        unsafe { _mm512_storeu_si512(cells.as_mut_ptr().cast(), index) };
        cells
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn doubles(x: __m512d, y: __m512d, z: __m512d, n: usize) -> [i32; 8] {
        let (x, y, z) = (
            _mm512_cvttpd_epi32(x),
            _mm512_cvttpd_epi32(y),
            _mm512_cvttpd_epi32(z),
        );
        let n = _mm256_set1_epi32(n as i32);
        let yz = _mm256_add_epi32(y, _mm256_mullo_epi32(n, z));
        let index = _mm256_add_epi32(x, _mm256_mullo_epi32(n, yz));
        let mut cells = [0; 8];
        // SAFETY: there is room for 8.
        unsafe { _mm256_storeu_si256(cells.as_mut_ptr().cast(), index) };
        cells
    }
}

/// Rows of taps for all lanes.
mod rows {
    use super::*;

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    unsafe fn pair_of_singles(p: &[*const f32; 16], at: usize) -> [__m512; 2] {
        // SAFETY: the pairs are inside the volume. A pair of singles is gathered as one double.
        unsafe {
            let base = p.as_ptr().cast::<__m512i>();
            let bytes = _mm512_set1_epi64(4 * at as i64);
            let low = _mm512_i64gather_pd::<1>(
                _mm512_add_epi64(base.read_unaligned(), bytes),
                std::ptr::null(),
            );
            let high = _mm512_i64gather_pd::<1>(
                _mm512_add_epi64(base.add(1).read_unaligned(), bytes),
                std::ptr::null(),
            );
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
            let (low, high) = (_mm512_castpd_ps(low), _mm512_castpd_ps(high));
            [
                _mm512_permutex2var_ps(low, even, high),
                _mm512_permutex2var_ps(low, odd, high),
            ]
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    unsafe fn four_singles(p: &[*const f32; 16], at: usize) -> [__m512; 4] {
        // SAFETY: the rows are inside the volume.
        unsafe {
            let mut x = [_mm512_set1_ps(0.0); 4];
            for l in 0..4 {
                x[l] = _mm512_castps128_ps512(_mm_loadu_ps(p[l].add(at)));
                x[l] = _mm512_insertf32x4::<1>(x[l], _mm_loadu_ps(p[l + 4].add(at)));
                x[l] = _mm512_insertf32x4::<2>(x[l], _mm_loadu_ps(p[l + 8].add(at)));
                x[l] = _mm512_insertf32x4::<3>(x[l], _mm_loadu_ps(p[l + 12].add(at)));
            }
            let (a, b) = (
                _mm512_unpacklo_ps(x[0], x[1]),
                _mm512_unpackhi_ps(x[0], x[1]),
            );
            let (c, d) = (
                _mm512_unpacklo_ps(x[2], x[3]),
                _mm512_unpackhi_ps(x[2], x[3]),
            );
            [
                _mm512_shuffle_ps::<0x44>(a, c),
                _mm512_shuffle_ps::<0xee>(a, c),
                _mm512_shuffle_ps::<0x44>(b, d),
                _mm512_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn singles<const TAPS: usize>(
        p: &[*const f32; 16],
        at: usize,
    ) -> [__m512; TAPS] {
        let mut row = [_mm512_set1_ps(0.0); TAPS];
        // SAFETY: passed on.
        unsafe {
            if TAPS >= 4 {
                row[..4].copy_from_slice(&four_singles(p, at));
            }
            if TAPS % 4 == 2 {
                row[TAPS - 2..].copy_from_slice(&pair_of_singles(p, at + TAPS - 2));
            }
        }
        row
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    pub(super) unsafe fn doubles<const TAPS: usize>(
        p: &[*const f64; 8],
        at: usize,
    ) -> [__m512d; TAPS] {
        let mut row = [_mm512_set1_pd(0.0); TAPS];
        // SAFETY: the rows are inside the volume.
        unsafe {
            for t in (0..TAPS).step_by(2) {
                let mut x = [_mm512_set1_pd(0.0); 2];
                for l in 0..2 {
                    x[l] = _mm512_castpd128_pd512(_mm_loadu_pd(p[l].add(at + t)));
                    x[l] = _mm512_insertf64x2::<1>(x[l], _mm_loadu_pd(p[l + 2].add(at + t)));
                    x[l] = _mm512_insertf64x2::<2>(x[l], _mm_loadu_pd(p[l + 4].add(at + t)));
                    x[l] = _mm512_insertf64x2::<3>(x[l], _mm_loadu_pd(p[l + 6].add(at + t)));
                }
                row[t] = _mm512_unpacklo_pd(x[0], x[1]);
                row[t + 1] = _mm512_unpackhi_pd(x[0], x[1]);
            }
        }
        row
    }
}
