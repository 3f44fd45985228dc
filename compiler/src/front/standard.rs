//! The standard library: ordinary Diderot text that programs import as `std/NAME`.

/// Its files: name and text.
pub const LIBRARY: &[(&str, &str)] = &[
    ("camera", include_str!("../../std/camera.diderot")),
    ("color", include_str!("../../std/color.diderot")),
    ("contour", include_str!("../../std/contour.diderot")),
    ("curvature", include_str!("../../std/curvature.diderot")),
    ("integrate", include_str!("../../std/integrate.diderot")),
    ("isoline", include_str!("../../std/isoline.diderot")),
    ("plane", include_str!("../../std/plane.diderot")),
    ("random", include_str!("../../std/random.diderot")),
    ("shade", include_str!("../../std/shade.diderot")),
    ("tensor", include_str!("../../std/tensor.diderot")),
    ("transfer", include_str!("../../std/transfer.diderot")),
];
