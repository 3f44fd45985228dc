//! Leaf fields, where normalization ends, and the images behind them, as the IRs carry them.

use crate::ir::{Bits, fem::FemField};
use ein_ir::{Kernel, Shape, ops::Border};
use std::{fmt, str::FromStr, sync::Arc};

/// What a probe reads beyond the samples of an image; a constant is given for each component.
pub type BorderControl = Border<Vec<Bits>>;

/// A field that is not made of others. A derivative or probe in normal form is one of a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// An image convolved with kernels.
    Convolution(Arc<Convolution>),
    /// Values on a mesh.
    Fem(Arc<FemField>),
}

impl Leaf {
    /// Dimension of the domain.
    pub fn dim(&self) -> usize {
        match self {
            Leaf::Convolution(field) => field.dim(),
            Leaf::Fem(field) => field.dim,
        }
    }

    /// The shape of a value.
    pub fn shape(&self) -> &Shape {
        match self {
            Leaf::Convolution(field) => &field.shape,
            Leaf::Fem(field) => &field.shape,
        }
    }

    /// Whether the field is that at a time, which is given beside it.
    pub fn is_timed(&self) -> bool {
        match self {
            Leaf::Convolution(field) => field.time.is_some(),
            Leaf::Fem(field) => field.timed,
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Convolution(field) => write!(f, "convolution {field}"),
            Leaf::Fem(field) => write!(f, "fem {field}"),
        }
    }
}

impl FromStr for Leaf {
    type Err = String;

    fn from_str(text: &str) -> Result<Leaf, String> {
        match text.split_once(' ') {
            Some(("convolution", field)) => Ok(Leaf::Convolution(Arc::new(field.parse()?))),
            Some(("fem", field)) => Ok(Leaf::Fem(Arc::new(field.parse()?))),
            _ => Err(format!("unknown leaf field `{text}`")),
        }
    }
}

/// An image convolved with kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// The image, by its number in the program.
    pub image: u32,
    /// Its border.
    pub border: BorderControl,
    /// The kernel of each axis.
    pub kernels: Vec<KernelRef>,
    /// How values are interpolated in time, if the image is over time. Then the field is that at a time.
    pub time: Option<TimeKernel>,
    /// The shape of a voxel.
    pub shape: Shape,
}

/// Interpolation between frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeKernel {
    /// The kernel.
    pub kernel: KernelRef,
    /// How often the field is differentiated by time.
    pub order: u8,
}

impl TimeKernel {
    /// The frames that a value is made of.
    pub fn taps(self) -> usize {
        2 * self.kernel.0.support
    }
}

/// A row of the kernel table; rows are compared by name.
#[derive(Clone, Copy, Debug)]
pub struct KernelRef(pub &'static Kernel);

impl PartialEq for KernelRef {
    fn eq(&self, other: &KernelRef) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for KernelRef {}

impl std::hash::Hash for KernelRef {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl Convolution {
    /// Dimension of the domain.
    pub fn dim(&self) -> usize {
        self.kernels.len()
    }

    /// The support of the kernel of each axis.
    pub fn supports(&self) -> impl Iterator<Item = u8> {
        self.kernels.iter().map(|kernel| kernel.0.support as u8)
    }

    /// How many numbers the derivatives of this order are: components times distinct derivatives.
    pub fn outputs(&self, order: usize) -> usize {
        self.shape.size() * distinct_derivatives(self.dim(), order).len()
    }

    /// The field itself, not differentiated by time.
    pub fn undifferentiated(&self) -> Convolution {
        let time = self.time.map(|time| TimeKernel { order: 0, ..time });
        Convolution {
            time,
            ..self.clone()
        }
    }
}

/// The distinct derivatives of an order as derivative axes in ascending order, in the order of the probe's results:
/// most derivatives along the first axis first.
pub fn distinct_derivatives(dim: usize, order: usize) -> Vec<Vec<usize>> {
    if order == 0 {
        return vec![vec![]];
    }
    distinct_derivatives(dim, order - 1)
        .into_iter()
        .flat_map(|axes| {
            let first = axes.last().copied().unwrap_or(0);
            (first..dim).map(move |axis| axes.iter().copied().chain([axis]).collect())
        })
        .collect()
}

/// What a program can ask of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageInfo {
    /// Samples on an axis.
    Size(u8),
    /// An entry of the matrix that takes world coordinates to index coordinates, row and column.
    ToIndex(u8, u8),
    /// An entry of the vector added after it.
    Offset(u8),
    /// The number of frames.
    Frames,
    /// The time of the first frame.
    Start,
    /// The time of the last frame.
    End,
    /// Frames in a unit of time, where they follow each other evenly.
    Rate,
}

impl ImageInfo {
    /// Whether it is an integer; else it is a real number.
    pub fn is_int(self) -> bool {
        matches!(self, ImageInfo::Size(_) | ImageInfo::Frames)
    }
}

impl fmt::Display for ImageInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageInfo::Size(axis) => write!(f, "size {axis}"),
            ImageInfo::ToIndex(row, column) => write!(f, "to-index {row} {column}"),
            ImageInfo::Offset(row) => write!(f, "offset {row}"),
            ImageInfo::Frames => f.write_str("frames"),
            ImageInfo::Start => f.write_str("start"),
            ImageInfo::End => f.write_str("end"),
            ImageInfo::Rate => f.write_str("rate"),
        }
    }
}

impl FromStr for ImageInfo {
    type Err = String;

    fn from_str(text: &str) -> Result<ImageInfo, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |w: &str| {
            w.parse::<u8>()
                .map_err(|_| format!("cannot read image property `{text}`"))
        };
        match words[..] {
            ["size", axis] => Ok(ImageInfo::Size(number(axis)?)),
            ["to-index", row, column] => Ok(ImageInfo::ToIndex(number(row)?, number(column)?)),
            ["offset", row] => Ok(ImageInfo::Offset(number(row)?)),
            ["frames"] => Ok(ImageInfo::Frames),
            ["start"] => Ok(ImageInfo::Start),
            ["end"] => Ok(ImageInfo::End),
            ["rate"] => Ok(ImageInfo::Rate),
            _ => Err(format!("cannot read image property `{text}`")),
        }
    }
}

fn border_text(border: &BorderControl) -> String {
    match border {
        Border::Clamp => "clamp".to_owned(),
        Border::Mirror => "mirror".to_owned(),
        Border::Wrap => "wrap".to_owned(),
        Border::Constant(values) => {
            let values: Vec<String> = values.iter().map(|x| format!("{:?}", x.get())).collect();
            format!("constant:{}", values.join(","))
        }
    }
}

/// Borders in JSON, as their texts.
pub(crate) mod border_as_text {
    use super::{BorderControl, border_text, read_border};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(
        border: &BorderControl,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&border_text(border))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BorderControl, D::Error> {
        read_border(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn read_border(text: &str) -> Result<BorderControl, String> {
    let plain = [Border::Clamp, Border::Mirror, Border::Wrap];
    if let Some(border) = plain.into_iter().find(|b| border_text(b) == text) {
        return Ok(border);
    }
    let values = text
        .strip_prefix("constant:")
        .ok_or_else(|| format!("unknown border `{text}`"))?;
    let number = |v: &str| v.parse::<f64>().map(Bits::from).map_err(|e| e.to_string());
    let values = values.split(',').map(number).collect::<Result<_, _>>()?;
    Ok(Border::Constant(values))
}

/// Prints as `image border shape kernels`, e.g. `0 clamp [3] bspln3,bspln3`, and ` time kernel order` if the image is over time.
impl fmt::Display for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<&str> = self.kernels.iter().map(|k| k.0.name).collect();
        write!(
            f,
            "{} {} {} {}",
            self.image,
            border_text(&self.border),
            self.shape,
            kernels.join(",")
        )?;
        match self.time {
            Some(TimeKernel { kernel, order }) => write!(f, " time {} {order}", kernel.0.name),
            None => Ok(()),
        }
    }
}

impl FromStr for Convolution {
    type Err = String;

    fn from_str(text: &str) -> Result<Convolution, String> {
        let bad = || format!("cannot read field `{text}`");
        let words: Vec<&str> = text.split(' ').collect();
        let kernel = |name: &str| Kernel::named(name).map(KernelRef).ok_or_else(bad);
        let ([image, border, shape, kernels], time) = match words[..] {
            [a, b, c, d] => ([a, b, c, d], None),
            [a, b, c, d, "time", name, order] => {
                let order = order.parse().map_err(|_| bad())?;
                let kernel = kernel(name)?;
                ([a, b, c, d], Some(TimeKernel { kernel, order }))
            }
            _ => return Err(bad()),
        };
        let kernels = kernels.split(',').map(kernel).collect::<Result<_, _>>()?;
        Ok(Convolution {
            image: image.parse().map_err(|_| bad())?,
            border: read_border(border)?,
            kernels,
            time,
            shape: shape.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_derivatives_come_with_the_first_axis_first() {
        assert_eq!(
            distinct_derivatives(3, 2),
            [
                vec![0, 0],
                vec![0, 1],
                vec![0, 2],
                vec![1, 1],
                vec![1, 2],
                vec![2, 2]
            ]
        );
        assert_eq!(distinct_derivatives(3, 4).len(), 15);
    }

    #[test]
    fn leaf_fields_survive_printing() {
        let kernel = KernelRef(Kernel::named("bspln3").unwrap());
        let values = vec![Bits::from(1.5), Bits::from(f64::INFINITY)];
        for border in [Border::Clamp, Border::Wrap, Border::Constant(values)] {
            for time in [None, Some(TimeKernel { kernel, order: 1 })] {
                let field = Convolution {
                    image: 3,
                    border: border.clone(),
                    kernels: vec![kernel; 2],
                    time,
                    shape: Shape::new([2]),
                };
                let field = Leaf::Convolution(Arc::new(field));
                assert_eq!(field.to_string().parse(), Ok(field));
            }
        }
    }
}
