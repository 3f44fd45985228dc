//! Rows of images and kernels.

use super::{Border, Builtin, Level, OpDef, Syntax, builtin_row};
use Syntax::{Call, Infix};

const CONVOLVE: &[Syntax] = &[Infix("⊛", Level::Product), Infix("\\conv", Level::Product)];
const IMAGE: &str = "image(d)[α] -> image(d)[α]";

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    builtin_row("convolve", CONVOLVE, "kernel image(d)[α] -> field(d)[α]", Builtin::Convolve, "the field that a kernel makes of an image"),
    builtin_row("convolve_image", CONVOLVE, "image(d)[α] kernel -> field(d)[α]", Builtin::Convolve, "the field that a kernel makes of an image"),
    builtin_row("axis_kernels", &[Call("KRNS")], "n×kernel -> kernel", Builtin::AxisKernels, "a kernel per axis"),
    builtin_row("inside", &[Call("inside")], "[d] field(d)[α] -> bool", Builtin::Inside, "inside(x, F): whether every image behind `F` has samples around `x`"),
    builtin_row("load_image", &[Call("load_image"), Call("image")], "string -> image(d)[α]", Builtin::LoadImage, "an image from a file; `image` in version 1.0"),
    builtin_row("clamp_image", &[Call("clamp")], IMAGE, Builtin::Border(Border::Clamp), "the nearest sample outside the image"),
    builtin_row("wrap_image", &[Call("wrap")], IMAGE, Builtin::Border(Border::Wrap), "the image repeated outside"),
    builtin_row("mirror_image", &[Call("mirror")], IMAGE, Builtin::Border(Border::Mirror), "the image reflected outside"),
    builtin_row("border_image", &[Call("border")], "image(d)[α] [α] -> image(d)[α]", Builtin::Border(Border::Constant(())), "a given value outside the image"),
    builtin_row("image_size", &[Call("size")], "image(d)[α] -> int{d}", Builtin::ImageSize, "number of samples per axis, fastest axis first"),
];
