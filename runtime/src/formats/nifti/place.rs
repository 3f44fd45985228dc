//! The orientation of the grid of a NIfTI file: from a matrix, a quaternion, or voxel sizes alone.

use super::fields::Fields;
use crate::formats::Note;
use crate::nrrd::{Header, Kind, NamedSpace, Space};

/// The codes of the units of space.
pub(crate) const UNITS: [(u8, &str); 3] = [(1, "m"), (2, "mm"), (3, "um")];

/// The codes of the units of the fourth axis. Some are not units of time.
const FOURTH_UNITS: [(i64, &str); 6] = [
    (8, "s"),
    (16, "ms"),
    (24, "us"),
    (32, "Hz"),
    (40, "ppm"),
    (48, "rad/s"),
];

/// The unit of the fourth axis, if the file says one.
pub(super) fn unit_of_fourth(fields: &Fields<'_>) -> &'static str {
    let code = fields.units() & 0x38;
    let row = FOURTH_UNITS.iter().find(|(known, _)| *known == code);
    row.map_or("", |(_, unit)| unit)
}

/// Directions and origin, by the best of what the file has.
pub(super) fn place(fields: &Fields<'_>, header: &mut Header, notes: &mut Vec<Note>) {
    let layout = fields.layout;
    // Rows of the matrix from index to world, the last column being the origin.
    let rows: [[f64; 4]; 3] = if fields.code(layout.sform) > 0 {
        std::array::from_fn(|r| std::array::from_fn(|c| fields.real(layout.rows, 4 * r + c)))
    } else if fields.code(layout.qform) > 0 {
        quaternion(fields)
    } else {
        let text = "there is neither an sform nor a qform: the grid is at the origin and has the sizes of the voxels";
        notes.push(Note::new(text));
        return;
    };
    if !rows.iter().flatten().all(|x| x.is_finite()) {
        notes.push(Note::warning(
            "the place of the grid is not made of numbers, and is ignored",
        ));
        return;
    }
    header.space = Space::Named(NamedSpace::Ras);
    header.space_origin = Some(rows.iter().map(|row| row[3]).collect());
    let in_space = header
        .axes
        .iter_mut()
        .filter(|a| a.kind == Some(Kind::Space));
    for (a, axis) in in_space.enumerate() {
        axis.direction = Some(rows.iter().map(|row| row[a]).collect());
        axis.spacing = None;
    }
    let code = fields.units();
    if let Some((_, unit)) = UNITS
        .iter()
        .find(|(known, _)| i64::from(*known) == code & 7)
    {
        header.space_units = vec![unit.to_string(); 3];
    }
}

/// The rotation of a quaternion, whose first part follows from the others, with voxel sizes and origin.
fn quaternion(fields: &Fields<'_>) -> [[f64; 4]; 3] {
    let at = fields.layout.quaternion;
    let [b, c, d] = std::array::from_fn(|i| fields.real(at, i));
    let rest = 1.0 - (b * b + c * c + d * d);
    // Three parts that are longer than 1 by rounding stand for half a turn.
    let (a, b, c, d) = if rest < 1e-7 {
        let length = (b * b + c * c + d * d).sqrt();
        (0.0, b / length, c / length, d / length)
    } else {
        (rest.sqrt(), b, c, d)
    };
    let rotation = [
        [
            a * a + b * b - c * c - d * d,
            2.0 * (b * c - a * d),
            2.0 * (b * d + a * c),
        ],
        [
            2.0 * (b * c + a * d),
            a * a + c * c - b * b - d * d,
            2.0 * (c * d - a * b),
        ],
        [
            2.0 * (b * d - a * c),
            2.0 * (c * d + a * b),
            a * a + d * d - b * b - c * c,
        ],
    ];
    let pixdim = |i| fields.real(fields.layout.pixdim, i);
    let handed = if pixdim(0) < 0.0 { -1.0 } else { 1.0 };
    let step = |i: usize| {
        let size = if pixdim(i + 1) > 0.0 {
            pixdim(i + 1)
        } else {
            1.0
        };
        if i == 2 { handed * size } else { size }
    };
    std::array::from_fn(|r| {
        std::array::from_fn(|c| match c {
            3 => fields.real(at, 3 + r),
            _ => rotation[r][c] * step(c),
        })
    })
}
