//! How birds behave: pure functions of what a bird is and sees, shared by the simulation and the
//! strand program.

/// A position in the plane.
pub(crate) type Vec2 = [f64; 2];

/// A bird's own state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bird {
    pub(crate) pos: Vec2,
    pub(crate) energy: f64,
    pub(crate) kind: i32,
    pub(crate) age: i32,
    pub(crate) tired: bool,
    pub(crate) path: Vec<Vec2>,
}

/// What a bird sees of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) pos: Vec2,
    pub(crate) energy: f64,
    pub(crate) kind: i32,
    pub(crate) path_length: usize,
    pub(crate) path_last: Vec2,
}

/// What the globals say during a super-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Climate {
    pub(crate) heat: f64,
    pub(crate) round: i32,
}

pub(crate) enum PathChange {
    Append,
    Restart,
    Prepend,
    Double,
    /// Take over the path of the nth bird seen, then append.
    Adopt(usize),
}

pub(crate) enum Fate {
    Fly,
    Land,
    Die,
}

pub(crate) struct Decision {
    pub(crate) energy: f64,
    pub(crate) path: PathChange,
    pub(crate) fate: Fate,
    pub(crate) children: Vec<(Vec2, f64)>,
    pub(crate) speaks: bool,
}

pub(crate) fn radius(age: i32) -> f64 {
    0.6 + 0.05 * f64::from(age % 5)
}

/// A pseudo-random number in [0, 1) from what two birds at the same place differ in.
pub(crate) fn chance(bird: &Bird, salt: u64) -> f64 {
    let mut bits = bird.pos[0].to_bits()
        ^ bird.pos[1].to_bits().rotate_left(17)
        ^ (bird.age as u64) << 40
        ^ salt;
    for _ in 0..3 {
        bits = (bits ^ bits >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn moved(bird: &Bird, near: &[Seen], climate: Climate) -> Vec2 {
    let mut force = [0.0, 0.0];
    for other in near {
        let weight = other.energy / (1.0 + f64::from(other.kind)) + 0.01 * other.path_length as f64;
        for (axis, force) in force.iter_mut().enumerate() {
            *force += weight * (bird.pos[axis] - other.pos[axis]) + 1e-3 * other.path_last[axis];
        }
    }
    std::array::from_fn(|axis| {
        bird.pos[axis]
            + 0.02 * climate.heat * force[axis]
            + 0.05 * (chance(bird, axis as u64) - 0.5)
    })
}

pub(crate) fn decide(bird: &Bird, near: &[Seen], nearer: &[Seen], alive: i64) -> Decision {
    let luck = chance(bird, 7);
    let crowd = nearer.len();
    let children = match (crowd, bird.age % 3) {
        (0..=2, 0) if alive < 700 => vec![
            ([bird.pos[0] + 0.4, bird.pos[1]], 0.9 * bird.energy),
            ([bird.pos[0], bird.pos[1] - 0.4], 1.0),
        ],
        (3, 1) if alive < 700 => vec![([bird.pos[0] - 0.3, bird.pos[1] + luck], luck)],
        _ => vec![],
    };
    let fate = match bird.age {
        _ if crowd > 9 || luck < 0.02 => Fate::Die,
        age if age > 12 || luck > 0.97 => Fate::Land,
        _ => Fate::Fly,
    };
    let path = match bird.age % 7 {
        3 if !near.is_empty() => PathChange::Adopt(near.len() / 2),
        4 if bird.kind == 0 => PathChange::Prepend,
        5 if bird.path.len() < 40 => PathChange::Double,
        6 if bird.path.len() > 20 => PathChange::Restart,
        _ => PathChange::Append,
    };
    let energy = nearer
        .iter()
        .fold(bird.energy * 0.95, |sum, other| sum + 0.01 * other.energy);
    Decision {
        energy,
        path,
        fate,
        children,
        speaks: luck > 0.9,
    }
}

pub(crate) fn first_bird(index: usize) -> Bird {
    let (x, y) = (
        (index * 7919 % 1009) as f64 / 1009.0,
        (index * 104_729 % 1013) as f64 / 1013.0,
    );
    let pos = [6.0 * x, 6.0 * y];
    Bird {
        pos,
        energy: 0.5 + x * y,
        kind: index as i32 % 3,
        age: 0,
        tired: false,
        path: vec![pos],
    }
}

pub(crate) fn child(parent: &Bird, (pos, energy): (Vec2, f64)) -> Bird {
    Bird {
        pos,
        energy,
        kind: (parent.kind + 1) % 3,
        age: 0,
        tired: false,
        path: parent.path.iter().copied().chain([pos]).collect(),
    }
}

pub(crate) fn next_climate(climate: Climate, mean_energy: f64, oldest: i32) -> Climate {
    Climate {
        heat: 0.9 * climate.heat + 0.1 * mean_energy + 1e-3 * f64::from(oldest),
        round: climate.round + 1,
    }
}

pub(crate) const LAST_ROUND: i32 = 22;
