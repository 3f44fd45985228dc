//! Text of printed values: takes scalars, tensors and sequences, gives exactly what the language
//! says they look like.
//!
//! Reals are written like C's `%g` with 9 significant digits (17 for double precision), infinities
//! as `inf` and `-inf`, every NaN as `nan`; truth values as `true` and `false`; tensors as `[a,b]`,
//! nested for matrices; sequences as `{a,b}`. No blanks, no newline.

use crate::abi::{PieceForm, PrintPiece};
use crate::sequence::{Sequence, SequencePool};
use crate::strands::Scalar;
use std::fmt::Write;

/// Significant digits that tell any two single-precision numbers apart.
const SINGLE_DIGITS: usize = 9;
/// Significant digits that tell any two double-precision numbers apart.
const DOUBLE_DIGITS: usize = 17;

/// Appends a single-precision number.
pub fn write_f32(out: &mut String, value: f32) {
    write_general(out, f64::from(value), SINGLE_DIGITS);
}

/// Appends a double-precision number.
pub fn write_f64(out: &mut String, value: f64) {
    write_general(out, value, DOUBLE_DIGITS);
}

/// Appends `value` as C's `%.{digits}g` does.
fn write_general(out: &mut String, value: f64, digits: usize) {
    if value.is_nan() {
        out.push_str("nan");
        return;
    }
    if value.is_infinite() {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
        return;
    }
    // The exponent after rounding decides the style, so round first.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded
        .split_once('e')
        .expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |rest| ("-", rest));
    let figures: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let figures = figures.trim_end_matches('0');
    out.push_str(sign);
    if exponent < -4 || exponent >= digits as i32 {
        write_point(out, figures, 1);
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.abs()).expect("text grows");
    } else if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(figures);
    } else {
        write_point(out, figures, exponent as usize + 1);
    }
}

/// Appends `figures` with the decimal point after the first `whole` of them, filling up with zeros
/// and leaving out a point that ends the number.
fn write_point(out: &mut String, figures: &str, whole: usize) {
    let (before, after) = figures.split_at(whole.min(figures.len()));
    out.push_str(before);
    out.extend(std::iter::repeat_n('0', whole - before.len()));
    if !after.is_empty() {
        out.push('.');
        out.push_str(after);
    }
}

/// Appends the scalar at `address`.
///
/// # Safety
/// A value of type `scalar` must lie there.
pub unsafe fn write_scalar(out: &mut String, scalar: Scalar, address: *const u8) {
    // SAFETY: the caller's promise; sequences pack their elements, so nothing is said of alignment.
    unsafe {
        match scalar {
            Scalar::F32 => write_f32(out, address.cast::<f32>().read_unaligned()),
            Scalar::F64 => write_f64(out, address.cast::<f64>().read_unaligned()),
            Scalar::I32 => {
                write!(out, "{}", address.cast::<i32>().read_unaligned()).expect("text grows")
            }
            Scalar::I64 => {
                write!(out, "{}", address.cast::<i64>().read_unaligned()).expect("text grows")
            }
            Scalar::Bool => out.push_str(if *address != 0 { "true" } else { "false" }),
        }
    }
}

/// Appends a tensor whose components are written by `component`, which gets their row-major numbers
/// in order.
pub fn write_tensor(
    out: &mut String,
    shape: &[u32],
    component: &mut dyn FnMut(&mut String, usize),
) {
    write_axes(out, shape, &mut 0, component);
}

fn write_axes(
    out: &mut String,
    shape: &[u32],
    next: &mut usize,
    component: &mut dyn FnMut(&mut String, usize),
) {
    let Some((&size, rest)) = shape.split_first() else {
        component(out, *next);
        *next += 1;
        return;
    };
    write_list(out, ['[', ']'], size as usize, |out, _| {
        write_axes(out, rest, next, component)
    });
}

/// Appends `count` items between brackets, with commas.
fn write_list(
    out: &mut String,
    [open, close]: [char; 2],
    count: usize,
    mut item: impl FnMut(&mut String, usize),
) {
    out.push(open);
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        item(out, index);
    }
    out.push(close);
}

/// Appends one argument of a `print` statement as lane `lane` of `width` sees it.
///
/// # Safety
/// The piece must describe what it points to: planes of `width` lanes, or sequences alive in
/// `pool`.
pub unsafe fn write_piece(
    out: &mut String,
    piece: &PrintPiece,
    lane: usize,
    width: usize,
    pool: &SequencePool,
) {
    // A tensor of order 0 may come without a shape.
    let shape = if piece.order == 0 {
        &[]
    } else {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(piece.shape, piece.order as usize) }
    };
    let components: usize = shape.iter().map(|&size| size as usize).product();
    let scalar = Scalar::from_code(piece.scalar).unwrap_or(Scalar::Bool);
    // SAFETY: the piece's planes hold all components of all lanes.
    let plane =
        |component: usize| unsafe { piece.data.add((component * width + lane) * scalar.bytes()) };
    match piece.form {
        PieceForm::Text => {
            // SAFETY: a text piece points to its bytes.
            let bytes = unsafe { std::slice::from_raw_parts(piece.data, piece.length as usize) };
            out.push_str(&String::from_utf8_lossy(bytes));
        }
        // SAFETY: `plane` gives addresses of components.
        PieceForm::Tensor => write_tensor(out, shape, &mut |out, component| unsafe {
            write_scalar(out, scalar, plane(component))
        }),
        PieceForm::FixedSequence => {
            write_list(out, ['{', '}'], piece.length as usize, |out, index| {
                // SAFETY: as above.
                write_tensor(out, shape, &mut |out, component| unsafe {
                    write_scalar(out, scalar, plane(index * components + component))
                });
            })
        }
        PieceForm::Sequence => {
            // SAFETY: there is one handle per lane.
            let sequence =
                Sequence::from_bits(unsafe { piece.data.cast::<u64>().add(lane).read_unaligned() });
            let data = pool.data(sequence);
            write_list(out, ['{', '}'], sequence.len(), |out, index| {
                write_tensor(out, shape, &mut |out, component| {
                    // SAFETY: the sequence has that many elements of that many components.
                    unsafe {
                        write_scalar(
                            out,
                            scalar,
                            data.add((index * components + component) * scalar.bytes()),
                        )
                    }
                });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(value: f32) -> String {
        let mut out = String::new();
        write_f32(&mut out, value);
        out
    }

    fn double(value: f64) -> String {
        let mut out = String::new();
        write_f64(&mut out, value);
        out
    }

    #[test]
    fn single_precision_prints_like_percent_9g() {
        let rows = [
            (0.1, "0.100000001"),
            (3.0, "3"),
            (-0.0, "-0"),
            (0.0, "0"),
            (1e-4, "9.99999975e-05"),
            (1.0 / 8192.0, "0.000122070312"),
            (1234567.0 + 0.125, "1234567.12"),
            (1234567.0 + 0.375, "1234567.38"),
            (123456792.0, "123456792"),
            (1e9, "1e+09"),
            (999999999.0, "1e+09"),
            (1.5e30, "1.49999995e+30"),
            (-2.5e-30, "-2.50000001e-30"),
            (f32::MAX, "3.40282347e+38"),
            (f32::from_bits(1), "1.40129846e-45"),
            (100.0, "100"),
            (f32::INFINITY, "inf"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::NAN, "nan"),
            (-f32::NAN, "nan"),
        ];
        for (value, text) in rows {
            assert_eq!(single(value), text);
        }
    }

    #[test]
    fn double_precision_prints_like_percent_17g() {
        let rows = [
            (1.0 / 3.0, "0.33333333333333331"),
            (1e-13, "1e-13"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (-1.5, "-1.5"),
        ];
        for (value, text) in rows {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn every_printed_number_reads_back_as_itself() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let value = f64::from_bits(state);
            if value.is_finite() {
                assert_eq!(
                    double(value).parse::<f64>().unwrap().to_bits(),
                    value.to_bits()
                );
            }
            let value = f32::from_bits((state >> 32) as u32);
            if value.is_finite() {
                assert_eq!(
                    single(value).parse::<f32>().unwrap().to_bits(),
                    value.to_bits()
                );
            }
        }
    }

    #[test]
    fn tensors_and_sequences_are_bracketed() {
        let pool = SequencePool::new();
        let planes: [[i32; 4]; 4] = [[1, 10, 0, 0], [2, 20, 0, 0], [3, 30, 0, 0], [4, 40, 0, 0]];
        let piece = |form, shape: &'static [u32], length| PrintPiece {
            form,
            scalar: Scalar::I32.code(),
            shape: shape.as_ptr(),
            order: shape.len() as u32,
            length,
            data: planes.as_ptr().cast(),
        };
        let print = |piece, lane| {
            let mut out = String::new();
            // SAFETY: four planes of four lanes of `i32` suffice for every piece below.
            unsafe { write_piece(&mut out, &piece, lane, 4, &pool) };
            out
        };
        assert_eq!(print(piece(PieceForm::Tensor, &[], 0), 1), "10");
        assert_eq!(print(piece(PieceForm::Tensor, &[4], 0), 0), "[1,2,3,4]");
        assert_eq!(
            print(piece(PieceForm::Tensor, &[2, 2], 0), 1),
            "[[10,20],[30,40]]"
        );
        assert_eq!(
            print(piece(PieceForm::FixedSequence, &[2], 2), 0),
            "{[1,2],[3,4]}"
        );
        assert_eq!(
            print(piece(PieceForm::FixedSequence, &[], 3), 1),
            "{10,20,30}"
        );
        assert_eq!(print(piece(PieceForm::FixedSequence, &[], 0), 1), "{}");
    }
}
