//! A program's interface to the world, which no pass changes: inputs, globals, images, meshes, state.

use super::{
    leaf::{BorderControl, border_as_text},
    tensor::Ty,
};
use crate::front::{as_text, source::Span, tree::InputDefault};
use ein_ir::{Shape, Type};
use serde::{Deserialize, Serialize};

/// What the runtime and the user see of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interface {
    /// The strand's name.
    pub strand: String,
    /// The inputs in order.
    pub inputs: Vec<Input>,
    /// The global variables; inputs of value type are among them. Those that the source does not name come last.
    pub globals: Vec<Variable>,
    /// The sequences that must be loaded.
    pub loads: Vec<Load>,
    /// The facts that are known before the program's own code runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<KnownFact>,
    /// The global variables whose elements the creation of strands iterates over.
    pub sources: Vec<u32>,
    /// The images that must be loaded.
    pub images: Vec<Image>,
    /// The meshes that must be loaded.
    pub meshes: Vec<Mesh>,
    /// The values on them.
    pub fems: Vec<Fem>,
    /// The state of a strand: state variables, and the parameters that methods read.
    pub state: Vec<State>,
    /// Whether the strands form a grid rather than a collection.
    pub grid: bool,
    /// The names of the creation iterators, the slowest first; each runs over integers.
    pub axes: Vec<String>,
}

impl Interface {
    /// The images that are smoothed, by their numbers.
    pub fn scales(&self) -> impl Iterator<Item = (usize, &Blur)> {
        let images = self.images.iter().enumerate();
        images.filter_map(|(n, image)| Some((n, image.blur.as_ref()?)))
    }

    /// The image that a file or input gives, by its number, and from which an image is made; the image itself, if it is not smoothed.
    pub fn loaded_image(&self, image: usize) -> usize {
        let source = |&n: &usize| Some(self.images[n].blur.as_ref()?.of as usize);
        std::iter::successors(Some(image), source)
            .last()
            .unwrap_or(image)
    }

    /// Whether values over time are on a mesh, by its number.
    pub fn is_over_time(&self, mesh: usize) -> bool {
        let mut fems = self.fems.iter();
        fems.any(|fem| fem.timed && fem.mesh as usize == mesh)
    }

    /// The global variable with the value of an input, if it has one. If the default of the input is computed, there are two of its
    /// name: the value that the user may give, and then this one.
    pub fn variable_of(&self, input: &Input) -> Option<u32> {
        let InputTarget::Global(given) = input.target else {
            return None;
        };
        let has_name = |n: &u32| self.globals[*n as usize].name == input.name;
        match input.default {
            Some(InputDefault::Computed(_)) => {
                (given + 1..self.globals.len() as u32).find(has_name)
            }
            _ => Some(given),
        }
    }
}

/// A named value at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    #[serde(with = "as_text")]
    pub ty: Ty,
}

/// A variable of a strand's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Its name and type.
    #[serde(flatten)]
    pub variable: Variable,
    /// Whether it is written out.
    #[serde(default)]
    pub output: bool,
    /// Whether it is the position of the strand: queries of neighbours, the place of a grid and files of points use it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_position: bool,
}

/// An input of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type in the source.
    #[serde(with = "as_text")]
    pub ty: Type,
    /// The help text.
    #[serde(default)]
    pub description: Option<String>,
    /// The value used when the user gives none.
    #[serde(default)]
    pub default: Option<InputDefault>,
    /// Where its value goes.
    pub target: InputTarget,
}

/// Where an input's value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputTarget {
    /// To a global variable.
    Global(u32),
    /// To an image.
    Image(u32),
    /// To a mesh.
    Mesh(u32),
    /// To values on a mesh, and the mesh is that of their file.
    Fem(u32),
}

/// An image that must be loaded before the program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// The file named in the program, or none if it comes from an input.
    #[serde(default)]
    pub file: Option<String>,
    /// Number of spatial axes.
    pub dim: usize,
    /// Whether it has frames at several times.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// Shape of a voxel.
    #[serde(with = "as_text")]
    pub shape: Shape,
    /// How it is made from another image, if it is not loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blur: Option<Blur>,
    /// Where it is named.
    #[serde(default)]
    pub span: Span,
}

/// An image smoothed by a Gaussian.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blur {
    /// The image that is smoothed, by its number, which is less than that of the result.
    pub of: u32,
    /// Its values beyond the samples.
    #[serde(with = "border_as_text")]
    pub border: BorderControl,
    /// The global variable with the standard deviation in world units: one, or one per axis. The function of scales sets it.
    pub scale: u32,
}

/// A mesh that must be loaded before the program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// The file named in the program, or none if it comes from an input.
    #[serde(default)]
    pub file: Option<String>,
    /// Its dimension.
    pub dim: usize,
    /// Where it is named.
    #[serde(default)]
    pub span: Span,
}

/// Values on a mesh: an array of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fem {
    /// The mesh.
    pub mesh: u32,
    /// The array named in the program.
    #[serde(default)]
    pub array: Option<String>,
    /// The variable; an array of this name is taken if none is named.
    pub variable: String,
    /// Whether they have frames at several times.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// Shape of a value.
    #[serde(with = "as_text")]
    pub shape: Shape,
    /// Where they are named.
    #[serde(default)]
    pub span: Span,
}

/// A global variable that is a fact about inputs or data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownFact {
    /// The fact.
    pub fact: Fact,
    /// The global variable that it becomes.
    pub global: u32,
}

/// A fact that is known before the program's own code runs. Those about data are of type int or real, or sequences of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fact {
    /// Whether the user gave the input that is this global variable.
    Given(u32),
    /// The corners of the box of data.
    Bounds(Data),
    /// The distance of neighbouring samples.
    Spacing(Data),
    /// The least and the greatest value.
    Range(Data),
    /// The number of frames of values on a mesh over time.
    Frames(u32),
    /// The time of their first frame.
    StartTime(u32),
    /// The time of their last frame.
    EndTime(u32),
}

/// The data that a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// An image.
    Image(u32),
    /// A mesh.
    Mesh(u32),
    /// Values on a mesh.
    Fem(u32),
    /// All images and meshes of a dimension.
    All(u8),
}

/// A sequence that must be loaded before the program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The file.
    pub file: String,
    /// The sequence's type in the source.
    #[serde(with = "as_text")]
    pub ty: Type,
    /// The global variable that it becomes.
    pub global: u32,
    /// Where it is named.
    #[serde(default)]
    pub span: Span,
}
