//! A camera that goes around: which inputs of a program are its camera, and where the eye is on its way.

use super::options::{InputSpec, Program};
use crate::run::camera::{self, CAMERAS, Part};
use runtime::input::InputType;

/// The three inputs of a program that are its camera.
///
/// # Errors
/// It has none.
pub(in crate::command) fn camera_of(program: &Program) -> Result<[usize; 3], String> {
    let has = |name: &str, part: Part| part == Part::Vector(3) && position(program, name).is_some();
    let names = camera::camera(&has).map(|camera| [camera.eye, camera.look, camera.up]);
    let found = names.and_then(|names| {
        let [eye, look, up] = names.map(|name| position(program, name));
        Some([eye?, look?, up?])
    });
    found.ok_or_else(|| {
        let rows: Vec<String> = CAMERAS.iter().map(|row| row.join(", ")).collect();
        format!(
            "`--orbit` needs a camera: three inputs of type vec3 named {}",
            rows.join("; or ")
        )
    })
}

/// The number of the vector of a name.
fn position(program: &Program, name: &str) -> Option<usize> {
    let is_it = |input: &InputSpec| input.name == name && input.ty == InputType::Tensor(vec![3]);
    program.inputs.iter().position(is_it)
}

/// The eye after it has gone a part of the circle about the axis through `at` along `up`.
pub(in crate::command) fn orbit(eye: [f64; 3], at: [f64; 3], up: [f64; 3], part: f64) -> [f64; 3] {
    let (sin, cos) = (part * std::f64::consts::TAU).sin_cos();
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let length = dot(up, up).sqrt();
    let axis = up.map(|x| x / length);
    let arm = [0, 1, 2].map(|k| eye[k] - at[k]);
    let cross = [
        axis[1] * arm[2] - axis[2] * arm[1],
        axis[2] * arm[0] - axis[0] * arm[2],
        axis[0] * arm[1] - axis[1] * arm[0],
    ];
    let along = dot(axis, arm) * (1.0 - cos);
    [0, 1, 2].map(|k| at[k] + arm[k] * cos + cross[k] * sin + axis[k] * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_an_orbit_turns_by_a_right_angle_and_keeps_the_height() {
        let eye = orbit([3.0, 0.0, 2.0], [1.0, 0.0, 0.0], [0.0, 0.0, 5.0], 0.25);
        let expected = [1.0, 2.0, 2.0];
        for k in 0..3 {
            assert!((eye[k] - expected[k]).abs() < 1e-12, "{eye:?}");
        }
    }
}
