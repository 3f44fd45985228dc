//! Fields on meshes of finite elements, as the IRs carry them.

use super::{Bits, Orders, leaf::distinct_derivatives};
use ein_ir::Shape;
use std::{fmt, str::FromStr, sync::Arc};

/// The field of values on a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FemField {
    /// The values, by their number in the program.
    pub fem: u32,
    /// The mesh, by its number in the program.
    pub mesh: u32,
    /// Dimension of the mesh.
    pub dim: usize,
    /// Whether the values are over time. Then the field is that at a time, linear from frame to frame.
    pub timed: bool,
    /// The shape of a value.
    pub shape: Shape,
    /// Its value outside the mesh, by component; NaN if none is given.
    pub outside: Option<Vec<Bits>>,
}

impl FemField {
    /// How many numbers the derivatives of this order are: components times distinct derivatives.
    pub fn outputs(&self, order: usize) -> usize {
        self.shape.size() * distinct_derivatives(self.dim, order).len()
    }
}

/// A probe of the fields of one mesh at one position. Fields over time have the times as further arguments, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FemProbe {
    /// The mesh.
    pub mesh: u32,
    /// Its dimension.
    pub dim: usize,
    /// The fields, and the orders of derivatives that are wanted of each.
    pub wanted: Vec<(Arc<FemField>, Orders)>,
}

impl FemProbe {
    /// Every field with every order that is wanted of it, in the order of the results.
    pub fn results(&self) -> impl Iterator<Item = (&FemField, usize)> {
        let fields = self.wanted.iter();
        fields.flat_map(|(field, orders)| orders.iter().map(move |order| (&**field, order)))
    }

    /// The same, each with the time of its field: the times are those of the fields over time, in their order.
    pub fn results_at(&self, times: &[f64]) -> Vec<(&FemField, usize, Option<f64>)> {
        let mut times = times.iter().copied();
        let fields = self.wanted.iter().flat_map(|(field, orders)| {
            let time = if field.timed { times.next() } else { None };
            let of_orders = orders.iter().map(move |order| (&**field, order, time));
            of_orders.collect::<Vec<_>>()
        });
        fields.collect()
    }

    /// The number of fields over time.
    pub fn times(&self) -> usize {
        self.wanted.iter().filter(|(field, _)| field.timed).count()
    }
}

/// Prints as `fem mesh dim shape outside`, e.g. `0 0 3 [3] nan`, and ` time` if the values are over time.
impl fmt::Display for FemField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FemField {
            fem,
            mesh,
            dim,
            timed,
            shape,
            outside,
        } = self;
        write!(f, "{fem} {mesh} {dim} {shape} ")?;
        match outside {
            None => f.write_str("nan")?,
            Some(values) => {
                let values: Vec<String> = values.iter().map(|x| format!("{:?}", x.get())).collect();
                write!(f, "constant:{}", values.join(","))?;
            }
        }
        f.write_str(if *timed { " time" } else { "" })
    }
}

impl FromStr for FemField {
    type Err = String;

    fn from_str(text: &str) -> Result<FemField, String> {
        let bad = || format!("cannot read field on a mesh `{text}`");
        let words: Vec<&str> = text.split(' ').collect();
        let ([fem, mesh, dim, shape, outside], timed) = match words[..] {
            [a, b, c, d, e] => ([a, b, c, d, e], false),
            [a, b, c, d, e, "time"] => ([a, b, c, d, e], true),
            _ => return Err(bad()),
        };
        let outside = match outside.strip_prefix("constant:") {
            None if outside == "nan" => None,
            None => return Err(bad()),
            Some(values) => {
                let number = |v: &str| v.parse::<f64>().map(Bits::from).map_err(|_| bad());
                Some(values.split(',').map(number).collect::<Result<_, _>>()?)
            }
        };
        Ok(FemField {
            fem: fem.parse().map_err(|_| bad())?,
            mesh: mesh.parse().map_err(|_| bad())?,
            dim: dim.parse().map_err(|_| bad())?,
            timed,
            shape: shape.parse()?,
            outside,
        })
    }
}

/// Prints as `mesh dim; field orders n; …`.
impl fmt::Display for FemProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.mesh, self.dim)?;
        self.wanted
            .iter()
            .try_for_each(|(field, orders)| write!(f, "; {field} orders {}", orders.0))
    }
}

impl FromStr for FemProbe {
    type Err = String;

    fn from_str(text: &str) -> Result<FemProbe, String> {
        let bad = || format!("cannot read probe of a mesh `{text}`");
        let mut parts = text.split("; ");
        let (mesh, dim) = parts
            .next()
            .and_then(|head| head.split_once(' '))
            .ok_or_else(bad)?;
        let wanted = parts.map(|part| {
            let (field, orders) = part.split_once(" orders ").ok_or_else(bad)?;
            let orders = Orders(orders.parse().map_err(|_| bad())?);
            Ok((Arc::new(field.parse()?), orders))
        });
        Ok(FemProbe {
            mesh: mesh.parse().map_err(|_| bad())?,
            dim: dim.parse().map_err(|_| bad())?,
            wanted: wanted.collect::<Result<_, String>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_on_meshes_survive_printing() {
        for text in [
            "0 0 3 [3] nan",
            "2 1 2 [] constant:1.5",
            "0 0 2 [2] constant:0.0,inf",
            "1 0 3 [] nan time",
        ] {
            assert_eq!(
                text.parse::<FemField>().map(|f| f.to_string()),
                Ok(text.into())
            );
            let probe = format!("0 3; {text} orders 3; {text} orders 4");
            assert_eq!(probe.parse::<FemProbe>().map(|p| p.to_string()), Ok(probe));
        }
        assert!("0 0 3 [3] zero".parse::<FemField>().is_err());
        assert!("0 0 3 [3] nan times".parse::<FemField>().is_err());
    }
}
