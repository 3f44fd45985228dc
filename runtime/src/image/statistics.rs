//! The values in a file: how many, how large, and how they spread.

use std::path::Path;

use crate::formats::{ImageError, Missing, Source};
use crate::nrrd::{STANDARD_INPUT, Samples};

/// Bars of the histogram.
pub const BARS: usize = 16;

/// Bins among which percentiles are found.
const BINS: usize = 1 << 16;

/// What the values of a file are.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// All values.
    pub count: u64,
    /// Those that are NaN.
    pub nan: u64,
    /// Those that are infinite.
    pub infinite: u64,
    /// The least finite value; NaN if there is none.
    pub min: f64,
    /// The greatest finite value.
    pub max: f64,
    /// The mean of the finite values.
    pub mean: f64,
    /// The values below which, or at which, 1 % and 99 % of the finite ones are. Exact for integers that span no more than
    /// 16 bits, else within a part in 65,536 of the span.
    pub percentiles: (f64, f64),
    /// The number of finite values in each of the equal parts of the span from the least to the greatest.
    pub histogram: [u64; BARS],
}

/// The values of an array of a file, which is read twice: memory does not depend on its size.
///
/// # Errors
/// The file cannot be read.
pub(super) fn of_file(path: &Path, array: Option<&str>) -> Result<Statistics, ImageError> {
    if path.as_os_str() == STANDARD_INPUT {
        let error = ImageError::new("standard input can be read only once").in_file(path);
        return Err(error.hint("save it in a file first"));
    }
    of_each(&|take| each(path, array, take))
}

/// The values in memory.
pub(super) fn of_values(values: &[f64]) -> Result<Statistics, ImageError> {
    of_each(&|take| {
        values.iter().for_each(|&x| take(x));
        Ok(())
    })
}

/// Gives every value to a function, as often as it is called.
type Each<'a> = dyn Fn(&mut dyn FnMut(f64)) -> Result<(), ImageError> + 'a;

fn of_each(each: &Each<'_>) -> Result<Statistics, ImageError> {
    let mut extent = Extent::default();
    each(&mut |x| extent.take(x))?;
    let mut spread = Spread::new(&extent);
    if extent.finite > 0 {
        each(&mut |x| spread.take(x))?;
    }
    Ok(Statistics {
        count: extent.finite + extent.nan + extent.infinite,
        nan: extent.nan,
        infinite: extent.infinite,
        min: extent.min,
        max: extent.max,
        mean: extent.mean,
        percentiles: (spread.percentile(1), spread.percentile(99)),
        histogram: spread.histogram(),
    })
}

/// Gives every value of a file to `take`, as the file means it.
fn each(path: &Path, array: Option<&str>, take: &mut dyn FnMut(f64)) -> Result<(), ImageError> {
    let source = Source::open_array(path, array, Missing::Refuse)?;
    let scale = source.scale();
    let read = source.read_pieces(&mut |piece: Samples| {
        let values: Vec<f64> = piece.convert().unwrap_or_default();
        match scale {
            None => values.into_iter().for_each(&mut *take),
            Some((slope, intercept)) => values.iter().for_each(|x| take(x * slope + intercept)),
        }
    });
    read.map(drop).map_err(|e| e.in_file(path))
}

/// What the first reading finds.
struct Extent {
    finite: u64,
    nan: u64,
    infinite: u64,
    min: f64,
    max: f64,
    mean: f64,
    integral: bool,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent {
            finite: 0,
            nan: 0,
            infinite: 0,
            min: f64::NAN,
            max: f64::NAN,
            mean: f64::NAN,
            integral: true,
        }
    }
}

impl Extent {
    fn take(&mut self, x: f64) {
        if x.is_nan() {
            self.nan += 1;
        } else if x.is_infinite() {
            self.infinite += 1;
        } else {
            self.finite += 1;
            // NaN gives way to any number.
            self.min = self.min.min(x);
            self.max = self.max.max(x);
            self.integral &= x.fract() == 0.0;
            // A running mean, unlike a sum, does not overflow.
            let count = self.finite as f64;
            self.mean = match self.finite {
                1 => x,
                _ => self.mean + (x / count - self.mean / count),
            };
        }
    }
}

/// What the second reading finds: how many values are in each bin.
struct Spread {
    min: f64,
    /// Half of the span, which is finite even if the span is not.
    half: f64,
    bins: Vec<u64>,
    /// Whether each bin is one integer.
    exact: bool,
}

impl Spread {
    fn new(extent: &Extent) -> Spread {
        let span = extent.max - extent.min;
        let exact = extent.integral && span < BINS as f64;
        Spread {
            min: extent.min,
            half: extent.max / 2.0 - extent.min / 2.0,
            bins: vec![0; if exact { span as usize + 1 } else { BINS }],
            exact,
        }
    }

    fn take(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        let at = match self.exact {
            true => x - self.min,
            false => (x / 2.0 - self.min / 2.0) / self.half * self.bins.len() as f64,
        };
        let last = self.bins.len() - 1;
        self.bins[(at as usize).min(last)] += 1;
    }

    /// The value of a bin.
    fn value(&self, bin: usize) -> f64 {
        match self.exact {
            true => self.min + bin as f64,
            false => {
                let part = (bin as f64 + 0.5) / self.bins.len() as f64;
                self.min + self.half * part + self.half * part
            }
        }
    }

    fn percentile(&self, percent: u64) -> f64 {
        let all: u64 = self.bins.iter().sum();
        let wanted = (all * percent).div_ceil(100).max(1);
        let mut below = 0;
        let bin = self.bins.iter().position(|count| {
            below += count;
            below >= wanted
        });
        bin.map_or(f64::NAN, |bin| self.value(bin))
    }

    fn histogram(&self) -> [u64; BARS] {
        let mut bars = [0; BARS];
        for (bin, count) in self.bins.iter().enumerate() {
            bars[bin * BARS / self.bins.len()] += count;
        }
        bars
    }
}
