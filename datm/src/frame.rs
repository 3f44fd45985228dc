//! Settings of a case: kernel, degree, grids, data, positions, seed; all of them are part of its label.

use crate::border::Border;
use crate::kernel::{AxisKernels, Kernel, kernel};
use crate::mesh::MeshKind;
use crate::program::FormChoice;
use std::fmt;
use std::str::FromStr;

/// The orientation of sampling grids in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Axis-aligned, with a different spacing on each axis.
    Axis,
    /// Rotated by a rational rotation.
    Rotated,
    /// Rotated and sheared.
    Sheared,
    /// Any of these, drawn for each field.
    Any,
}

/// The functions that are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Polynomials that the kernel reproduces exactly.
    Polynomial,
    /// Random integers; the truth is the exact reconstruction.
    Image,
    /// Polynomials that programs have as field functions.
    Formula,
    /// Polynomials that programs have on meshes, where fields have two or three dimensions. Kernels then say no more than how often they may
    /// be differentiated, and how far inside positions are.
    Mesh(MeshKind),
}

/// The range of coefficients and samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coefficients {
    /// Integers from −5 to 5, halves and quarters of them.
    Full,
    /// −1, 0 and 1.
    Unit,
}

/// Everything besides the expression that determines a case.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Kernels of the fields, in turn by variable number, and of each field's axes, in turn; never empty.
    pub kernels: Vec<Vec<&'static Kernel>>,
    /// Degree of polynomials; the kernel's own limit applies too.
    pub degree: u8,
    /// Orientation of grids.
    pub grid: Orientation,
    /// Kind of data.
    pub data: DataKind,
    /// How images are continued; all but [`Border::Plain`] need [`DataKind::Image`].
    pub border: Border,
    /// Samples on each axis.
    pub samples: usize,
    /// Positions at which a field is probed.
    pub positions: usize,
    /// Range of coefficients.
    pub coefficients: Coefficients,
    /// Form of the program.
    pub program: FormChoice,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Least and most samples per axis: room for the widest kernel, and samples of every degree that stay exact.
const SAMPLES: std::ops::RangeInclusive<usize> = 8..=64;

/// Most positions of one case.
const POSITIONS: std::ops::RangeInclusive<usize> = 1..=64;

const ORIENTATIONS: &[(&str, Orientation)] = &[
    ("axis", Orientation::Axis),
    ("rot", Orientation::Rotated),
    ("shear", Orientation::Sheared),
    ("any", Orientation::Any),
];
const DATA: &[(&str, DataKind)] = &[
    ("poly", DataKind::Polynomial),
    ("image", DataKind::Image),
    ("formula", DataKind::Formula),
];
/// What the name of data on a mesh begins with.
const MESH: &str = "fem-";
const BORDERS: &[(&str, Border)] = &[
    ("plain", Border::Plain),
    ("unsaid", Border::Unsaid),
    ("clamp", Border::Clamp),
    ("wrap", Border::Wrap),
    ("mirror", Border::Mirror),
    ("constant", Border::Constant),
    ("any", Border::Any),
];
const COEFFICIENTS: &[(&str, Coefficients)] =
    &[("full", Coefficients::Full), ("unit", Coefficients::Unit)];

fn named<T: Copy>(table: &[(&str, T)], text: &str) -> Result<T, String> {
    table
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
            format!("found `{text}`, wanted one of {}", names.join(", "))
        })
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table
        .iter()
        .find(|(_, known)| *known == value)
        .map_or("", |(name, _)| name)
}

impl FromStr for Orientation {
    type Err = String;

    fn from_str(text: &str) -> Result<Orientation, String> {
        named(ORIENTATIONS, text)
    }
}

impl FromStr for DataKind {
    type Err = String;

    fn from_str(text: &str) -> Result<DataKind, String> {
        match text.strip_prefix(MESH) {
            Some(kind) => Ok(DataKind::Mesh(kind.parse()?)),
            None => named(DATA, text),
        }
    }
}

impl fmt::Display for DataKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataKind::Mesh(kind) => write!(f, "{MESH}{kind}"),
            other => f.write_str(name_of(DATA, *other)),
        }
    }
}

impl FromStr for Border {
    type Err = String;

    fn from_str(text: &str) -> Result<Border, String> {
        named(BORDERS, text)
    }
}

impl FromStr for Coefficients {
    type Err = String;

    fn from_str(text: &str) -> Result<Coefficients, String> {
        named(COEFFICIENTS, text)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            kernels: vec![kernel("c4hexic").into_iter().collect()],
            degree: 2,
            grid: Orientation::Any,
            data: DataKind::Polynomial,
            border: Border::Plain,
            samples: 10,
            positions: 7,
            coefficients: Coefficients::Full,
            program: FormChoice::PLAIN,
            seed: 1,
        }
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Settings) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Settings {
    /// The kernels of a variable with this many axes.
    pub fn kernels_of(&self, variable: usize, dim: usize) -> AxisKernels {
        AxisKernels::new(&self.kernels[variable % self.kernels.len()], dim)
    }

    /// The continuity that every field of a frame with these kernels has.
    pub fn continuity(&self) -> u8 {
        let kernels = self.kernels.iter().flatten();
        kernels.map(|kernel| kernel.continuity).min().unwrap_or(0)
    }

    /// Reads kernel names, those of axes joined by `,` and those of variables by `+`.
    pub fn parse_kernels(text: &str) -> Result<Vec<Vec<&'static Kernel>>, String> {
        let of_variable = |text: &str| text.split(',').map(kernel).collect();
        text.split('+').map(of_variable).collect()
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = || {
            value
                .parse::<usize>()
                .map_err(|_| format!("found `{key}={value}`, wanted a number"))
        };
        match key {
            "krn" => self.kernels = Settings::parse_kernels(value)?,
            "deg" => self.degree = number()?.min(9) as u8,
            "grid" => self.grid = value.parse()?,
            "data" => self.data = value.parse()?,
            "border" => self.border = value.parse()?,
            "n" => self.samples = number()?,
            "pos" => self.positions = number()?,
            "coef" => self.coefficients = value.parse()?,
            "prog" => self.program = value.parse()?,
            "seed" => {
                self.seed = u64::from_str_radix(value, 16)
                    .map_err(|_| format!("found seed `{value}`, wanted a hexadecimal number"))?;
            }
            _ => {
                return Err(format!(
                    "found setting `{key}`, wanted krn, deg, grid, data, border, n, pos, coef, prog or seed"
                ));
            }
        }
        Ok(())
    }

    /// Checks the limits on numbers, and that the truth of the data is known.
    pub fn validated(self) -> Result<Settings, String> {
        let in_range = |what: &str, found: usize, wanted: &std::ops::RangeInclusive<usize>| {
            if wanted.contains(&found) {
                Ok(())
            } else {
                Err(format!(
                    "found {found} {what}, wanted {} to {}",
                    wanted.start(),
                    wanted.end()
                ))
            }
        };
        in_range("samples per axis", self.samples, &SAMPLES)?;
        in_range("positions", self.positions, &POSITIONS)?;
        if self.border != Border::Plain && self.data != DataKind::Image {
            return Err(
                "found a border around polynomials, which end there; wanted data=image".to_string(),
            );
        }
        Ok(self)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            kernels,
            degree,
            grid,
            data,
            border,
            samples,
            positions,
            coefficients,
            program,
            seed,
        } = self;
        let of_variable = |list: &Vec<&Kernel>| -> String {
            let names: Vec<&str> = list.iter().map(|kernel| kernel.name).collect();
            names.join(",")
        };
        let kernels: Vec<String> = kernels.iter().map(of_variable).collect();
        write!(f, "krn={}|deg={degree}|", kernels.join("+"))?;
        write!(f, "grid={}|data={data}|", name_of(ORIENTATIONS, *grid))?;
        if *border != Border::Plain {
            write!(f, "border={}|", name_of(BORDERS, *border))?;
        }
        let coefficients = name_of(COEFFICIENTS, *coefficients);
        write!(f, "n={samples}|pos={positions}|coef={coefficients}|")?;
        if *program != FormChoice::PLAIN {
            write!(f, "prog={program}|")?;
        }
        write!(f, "seed={seed:x}")
    }
}

impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for part in text.split('|').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            settings.set(key, value)?;
        }
        settings.validated()
    }
}
