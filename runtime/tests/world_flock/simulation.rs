//! The birds as a plain simulation: one list, one loop, every bird looks at every other.

use crate::rules::*;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum State {
    New,
    Active,
    Stable,
    Dead,
}

pub(crate) struct Simulation {
    pub(crate) birds: Vec<(Bird, State)>,
    pub(crate) climate: Climate,
    pub(crate) text: String,
}

pub(crate) fn look(birds: &[(Bird, State)], me: usize, centre: Vec2, radius: f64) -> Vec<usize> {
    (0..birds.len())
        .filter(|&other| {
            let [x, y] = birds[other].0.pos;
            let (dx, dy) = (x - centre[0], y - centre[1]);
            other != me && 0.0 + dx * dx + dy * dy < radius * radius
        })
        .collect()
}

pub(crate) fn see(bird: &Bird) -> Seen {
    let path_last = *bird.path.last().unwrap();
    Seen {
        pos: bird.pos,
        energy: bird.energy,
        kind: bird.kind,
        path_length: bird.path.len(),
        path_last,
    }
}

impl Simulation {
    pub(crate) fn new(count: usize) -> Simulation {
        let birds = (0..count)
            .map(|index| (first_bird(index), State::New))
            .collect();
        Simulation {
            birds,
            climate: Climate {
                heat: 1.0,
                round: 0,
            },
            text: String::new(),
        }
    }

    pub(crate) fn step(&mut self) {
        let old = self.birds.clone();
        let alive = old.len() as i64;
        let mut children = Vec::new();
        for (me, (bird, state)) in self.birds.iter_mut().enumerate() {
            if *state == State::New {
                *state = State::Active;
                // The start method.
                bird.age += 1;
                bird.path.push(bird.pos);
            }
            if *state != State::Active {
                continue;
            }
            let near = look(&old, me, bird.pos, radius(bird.age));
            let seen: Vec<Seen> = near.iter().map(|&other| see(&old[other].0)).collect();
            let pos = moved(bird, &seen, self.climate);
            let nearer: Vec<Seen> = look(&old, me, pos, 0.3)
                .into_iter()
                .map(|other| see(&old[other].0))
                .collect();
            let decision = decide(bird, &seen, &nearer, alive);
            bird.pos = pos;
            bird.energy = decision.energy;
            bird.age += 1;
            match decision.path {
                PathChange::Append => bird.path.push(pos),
                PathChange::Restart => bird.path = vec![pos],
                PathChange::Prepend => bird.path.insert(0, pos),
                PathChange::Double => bird.path.extend(bird.path.clone()),
                PathChange::Adopt(nth) => {
                    bird.path = old[near[nth]].0.path.clone();
                    bird.path.push(pos);
                }
            }
            if decision.speaks {
                let path = &bird.path;
                writeln!(self.text, "bird {} {pos:?} {path:?}", bird.age).unwrap();
            }
            children.extend(decision.children.into_iter().map(|new| child(bird, new)));
            match decision.fate {
                Fate::Fly => {}
                Fate::Die => *state = State::Dead,
                Fate::Land => {
                    *state = State::Stable;
                    bird.tired = true;
                    bird.energy *= 0.5;
                }
            }
        }
        self.birds.retain(|(_, state)| *state != State::Dead);
        self.birds
            .extend(children.into_iter().map(|bird| (bird, State::New)));
        self.global_update();
    }

    fn global_update(&mut self) {
        // Sums over strands are exact, rounded once.
        let energies = self.birds.iter().map(|(bird, _)| bird.energy);
        let exact = energies.map(|energy| BigRational::from_float(energy).expect("a number"));
        let total: BigRational = exact.sum();
        let total = total.to_f64().expect("a number");
        let is_active = |state: &State| matches!(state, State::New | State::Active);
        let oldest = self
            .birds
            .iter()
            .filter(|(_, state)| is_active(state))
            .fold(i32::MIN, |oldest, (bird, _)| oldest.max(bird.age));
        self.climate = next_climate(self.climate, total / self.birds.len() as f64, oldest.max(0));
        let stable = self
            .birds
            .iter()
            .filter(|(_, state)| *state == State::Stable)
            .count();
        writeln!(
            self.text,
            "round {} alive {} stable {stable}",
            self.climate.round,
            self.birds.len()
        )
        .unwrap();
        if self.climate.round == LAST_ROUND {
            for (bird, state) in self.birds.iter_mut().filter(|(_, state)| is_active(state)) {
                *state = State::Stable;
                bird.tired = true;
                bird.energy *= 0.5;
            }
        }
    }

    pub(crate) fn any_active(&self) -> bool {
        self.birds
            .iter()
            .any(|(_, state)| matches!(state, State::New | State::Active))
    }
}
