//! Inputs that together are a camera or a window of the plane, by their names.

/// A camera: the names of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Camera {
    /// The position.
    pub eye: &'static str,
    /// The point in the middle of the picture.
    pub look: &'static str,
    /// The direction that is up in the picture.
    pub up: &'static str,
    /// The vertical angle of view, if there is such an input.
    pub fov: Option<&'static str>,
    /// Whether rays are parallel, if there is such an input.
    pub ortho: Option<&'static str>,
}

/// A window of the plane: the names of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The point in the middle of the picture.
    pub center: &'static str,
    /// The length that grows with the window.
    pub size: &'static str,
    /// Whether y grows upwards, if there is such an input.
    pub up: Option<&'static str>,
}

/// The names of position, point looked at and direction up.
pub const CAMERAS: &[[&str; 3]] = &[
    ["eye", "look", "up"],
    ["eye", "at", "up"],
    ["eye", "center", "up"],
    ["camEye", "camAt", "camUp"],
];
const ANGLES: &[&str] = &["fov", "camFOV"];
const PARALLEL: &[&str] = &["ortho", "camOrtho"];
const CENTERS: &[&str] = &["center", "centre"];
const SIZES: &[&str] = &["height", "width", "radius", "size"];
const UPWARDS: &[&str] = &["yUp"];

/// The shape of an input that a camera or a window needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A vector of this many reals.
    Vector(usize),
    /// A real.
    Real,
    /// A truth value.
    Truth,
}

/// The camera of a program, whose inputs `has` knows.
pub fn camera(has: &dyn Fn(&str, Part) -> bool) -> Option<Camera> {
    let is_camera = |row: &&[&str; 3]| row.iter().all(|name| has(name, Part::Vector(3)));
    let [eye, look, up] = *CAMERAS.iter().find(is_camera)?;
    Some(Camera {
        eye,
        look,
        up,
        fov: first(ANGLES, Part::Real, has),
        ortho: first(PARALLEL, Part::Truth, has),
    })
}

/// The window of the plane that a program shows.
pub fn window(has: &dyn Fn(&str, Part) -> bool) -> Option<Window> {
    Some(Window {
        center: first(CENTERS, Part::Vector(2), has)?,
        size: first(SIZES, Part::Real, has)?,
        up: first(UPWARDS, Part::Truth, has),
    })
}

fn first(
    names: &'static [&'static str],
    part: Part,
    has: &dyn Fn(&str, Part) -> bool,
) -> Option<&'static str> {
    names.iter().copied().find(|name| has(name, part))
}
