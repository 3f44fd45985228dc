//! The standard library: ordinary Diderot text that programs import as `std/NAME`.

/// Its files: name and text.
pub const LIBRARY: &[(&str, &str)] = &[
    ("camera", include_str!("../../std/camera.diderot")),
    ("color", include_str!("../../std/color.diderot")),
    ("curvature", include_str!("../../std/curvature.diderot")),
    ("integrate", include_str!("../../std/integrate.diderot")),
    ("random", include_str!("../../std/random.diderot")),
    ("shade", include_str!("../../std/shade.diderot")),
    ("tensor", include_str!("../../std/tensor.diderot")),
    ("transfer", include_str!("../../std/transfer.diderot")),
];
