//! Rows of images, kernels, and values on meshes.

use super::{Border, Builtin, DataFact, FramesFact, Level, OpDef, Syntax, builtin_row};
use Syntax::{Call, Infix};

const CONVOLVE: &[Syntax] = &[Infix("⊛", Level::Product), Infix("\\conv", Level::Product)];
const LOAD_FEM: &[Syntax] = &[Call("load_fem"), Call("fem")];
const IMAGE: &str = "image(d)[α] -> image(d)[α]";

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    builtin_row("convolve", CONVOLVE, "kernel image(d)[α] -> field(d)[α]", Builtin::Convolve, "the convolution of an image with a kernel, a field"),
    builtin_row("convolve_image", CONVOLVE, "image(d)[α] kernel -> field(d)[α]", Builtin::Convolve, "the convolution of an image with a kernel, a field"),
    builtin_row("axis_kernels", &[Call("KRNS")], "n×kernel -> kernel", Builtin::AxisKernels, "a kernel per axis"),
    builtin_row("inside", &[Call("inside"), Call("insideF")], "[d] field(d)[α] -> bool", Builtin::Inside, "inside(x, F): whether every image behind `F` has samples around `x`, and every mesh a cell"),
    builtin_row("inside_time", &[Call("inside")], "[d] [] field(d,time)[α] -> bool", Builtin::InsideTime, "inside(x, t, F): the same at a time: whether every image and mesh behind `F` also has frames around `t`"),
    builtin_row("load_image", &[Call("load_image"), Call("image")], "string -> image(d)[α]", Builtin::LoadImage, "an image from a file; `image` in version 1.0"),
    builtin_row("clamp_image", &[Call("clamp")], IMAGE, Builtin::Border(Border::Clamp), "the nearest sample outside the image"),
    builtin_row("wrap_image", &[Call("wrap")], IMAGE, Builtin::Border(Border::Wrap), "the image repeated outside"),
    builtin_row("mirror_image", &[Call("mirror")], IMAGE, Builtin::Border(Border::Mirror), "the image reflected outside"),
    builtin_row("border_image", &[Call("border")], "image(d)[α] [α] -> image(d)[α]", Builtin::Border(Border::Constant(())), "a given value outside the image"),
    builtin_row("blur", &[Call("blur")], "image(d)[α] [] -> image(d)[α]", Builtin::Blur, "the image smoothed by a Gaussian of this standard deviation, in world units; with the border of the image"),
    builtin_row("blur_axes", &[Call("blur")], "image(d)[α] [d] -> image(d)[α]", Builtin::Blur, "the same with a standard deviation for each axis of the image, fastest axis first"),
    builtin_row("load_fem", LOAD_FEM, "string -> fem(d)[α]", Builtin::LoadFem, "values on a mesh from a file: the array named like the variable, or the only one that fits; `fem` in version 1.0"),
    builtin_row("load_fem_array", LOAD_FEM, "string string -> fem(d)[α]", Builtin::LoadFem, "values on a mesh from a file, by the name of the array"),
    builtin_row("load_fem_on", LOAD_FEM, "mesh(d) string -> fem(d)[α]", Builtin::LoadFem, "values on a given mesh, by the name of the array in its file"),
    builtin_row("load_mesh", &[Call("load_mesh")], "string -> mesh(d)", Builtin::LoadMesh, "a mesh from a file"),
    builtin_row("to_field", &[Call("toField")], "fem(d)[α] -> field(d)[α]", Builtin::ToField, "the field of values on a mesh; derivatives are those inside cells; linear from frame to frame"),
    builtin_row("to_field_on", &[Call("toField")], "mesh(d) fem(d)[α] -> field(d)[α]", Builtin::ToField, "the same, with the mesh named again"),
    builtin_row("border_fem", &[Call("border")], "fem(d)[α] [α] -> fem(d)[α]", Builtin::Border(Border::Constant(())), "a given value outside the mesh"),
    builtin_row("get_cell", &[Call("GetCell")], "field(d)[α] [d] -> int", Builtin::GetCell, "GetCell(F, x): the number, in its file, of the cell that contains `x`, or -1; `F` is made by `toField`"),
    builtin_row("image_size", &[Call("size")], "image(d)[α] -> int{d}", Builtin::ImageSize, "number of samples per axis, fastest axis first"),
    builtin_row("frames", &[Call("frames")], "image(d,time)[α] -> int", Builtin::Frames(FramesFact::Count), "number of frames of an image over time"),
    builtin_row("start_time", &[Call("startTime")], "image(d,time)[α] -> []", Builtin::Frames(FramesFact::Start), "the time of the first frame, in seconds"),
    builtin_row("end_time", &[Call("endTime")], "image(d,time)[α] -> []", Builtin::Frames(FramesFact::End), "the time of the last frame, in seconds"),
    builtin_row("fem_frames", &[Call("frames")], "fem(d,time)[α] -> int", Builtin::Frames(FramesFact::Count), "number of frames of values on a mesh over time"),
    builtin_row("fem_start_time", &[Call("startTime")], "fem(d,time)[α] -> []", Builtin::Frames(FramesFact::Start), "the time of the first frame, in seconds"),
    builtin_row("fem_end_time", &[Call("endTime")], "fem(d,time)[α] -> []", Builtin::Frames(FramesFact::End), "the time of the last frame, in seconds"),
    builtin_row("image_bounds", &[Call("bounds")], "image(d)[α] -> [d]{2}", Builtin::Data(DataFact::Bounds), "the corners of the box that holds all samples: the least coordinates, then the greatest"),
    builtin_row("mesh_bounds", &[Call("bounds")], "mesh(d) -> [d]{2}", Builtin::Data(DataFact::Bounds), "the corners of the box that holds all nodes"),
    builtin_row("fem_bounds", &[Call("bounds")], "fem(d)[α] -> [d]{2}", Builtin::Data(DataFact::Bounds), "the corners of the box that holds all nodes of the mesh"),
    builtin_row("image_spacing", &[Call("spacing")], "image(d)[α] -> []", Builtin::Data(DataFact::Spacing), "the least distance of neighbouring samples"),
    builtin_row("mesh_spacing", &[Call("spacing")], "mesh(d) -> []", Builtin::Data(DataFact::Spacing), "the edge of a cube as large as a cell would be if the cells filled the box evenly"),
    builtin_row("fem_spacing", &[Call("spacing")], "fem(d)[α] -> []", Builtin::Data(DataFact::Spacing), "the spacing of the mesh"),
    builtin_row("image_range", &[Call("range")], "image(d)[α] -> []{2}", Builtin::Data(DataFact::Range), "the least and the greatest number in the image"),
    builtin_row("fem_range", &[Call("range")], "fem(d)[α] -> []{2}", Builtin::Data(DataFact::Range), "the least and the greatest number at the nodes"),
    builtin_row("field_range", &[Call("range")], "field(d)[α] [d] [d] -> []{2}", Builtin::RangeInBox, "range(F, a, b): an interval that contains all components of `F` in the box with corners `a` and `b`, or more; from -∞ to ∞ for formulas and meshes"),
    builtin_row("bounds_2", &[Call("bounds2")], "-> [2]{2}", Builtin::Data(DataFact::AllBounds(2)), "the box of all images and meshes of two dimensions that the program reads; ∞ and -∞ if there are none"),
    builtin_row("bounds_3", &[Call("bounds3")], "-> [3]{2}", Builtin::Data(DataFact::AllBounds(3)), "the box of all images and meshes of three dimensions that the program reads; ∞ and -∞ if there are none"),
    builtin_row("spacing_2", &[Call("spacing2")], "-> []", Builtin::Data(DataFact::AllSpacing(2)), "the least spacing of these images and meshes; ∞ if there are none"),
    builtin_row("spacing_3", &[Call("spacing3")], "-> []", Builtin::Data(DataFact::AllSpacing(3)), "the least spacing of these images and meshes; ∞ if there are none"),
];
