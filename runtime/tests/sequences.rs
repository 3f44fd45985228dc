//! Sequences behave like values, however their buffers are shared, and freed buffers are used again.

use proptest::prelude::*;
use runtime::sequence::{HeldSequence, Owner, Sequence, SequenceCache, SequencePool, Settling};

const ELEMENT: usize = 4;

fn bytes(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}

fn read(pool: &SequencePool, sequence: Sequence) -> Vec<u32> {
    // SAFETY: the tests read only sequences they have not given up.
    let bytes = unsafe { pool.bytes(sequence, ELEMENT) };
    bytes
        .chunks_exact(ELEMENT)
        .map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()))
        .collect()
}

/// Settles a strand that held `before` and now holds `after`; returns the sequences that it holds afterwards.
fn settle(
    pool: &SequencePool,
    cache: &mut SequenceCache,
    strand: u64,
    before: &[Sequence],
    after: &[Sequence],
) -> Vec<Sequence> {
    let mut held: Vec<HeldSequence> = after
        .iter()
        .map(|&sequence| HeldSequence {
            sequence,
            element: ELEMENT,
        })
        .collect();
    let settling = Settling {
        owner: Owner::strand(strand),
        before,
        read_by_others: false,
    };
    // SAFETY: afterwards the tests use only the sequences that they hold.
    unsafe { cache.settle(pool, settling, &mut held).unwrap() };
    held.into_iter().map(|held| held.sequence).collect()
}

/// An operation on sequences, which are given by their positions in the list of those made so far.
#[derive(Clone, Debug)]
enum Step {
    Create(Vec<u32>),
    Append(usize, u32),
    Prepend(u32, usize),
    Concatenate(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let pick = 0..1000usize;
    prop_oneof![
        1 => prop::collection::vec(any::<u32>(), 0..40).prop_map(Step::Create),
        6 => (pick.clone(), any::<u32>()).prop_map(|(at, value)| Step::Append(at, value)),
        1 => (any::<u32>(), pick.clone()).prop_map(|(value, at)| Step::Prepend(value, at)),
        2 => (pick.clone(), pick).prop_map(|(left, right)| Step::Concatenate(left, right)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_value_stays_what_it_was(steps in prop::collection::vec((step(), 0..3u64), 1..120)) {
        let pool = SequencePool::new();
        let mut cache = SequenceCache::default();
        let mut made = vec![(Sequence::EMPTY, Vec::new())];
        for (step, strand) in steps {
            let owner = Owner::strand(strand);
            let pick = |at: usize| made[made.len() - 1 - at % made.len().min(6)].clone();
            // SAFETY: nothing is given up, so every sequence made is alive.
            let next = unsafe {
                match step {
                    Step::Create(values) => (cache.create(&pool, owner, &bytes(&values), ELEMENT).unwrap(), values),
                    Step::Append(at, value) => {
                        let (sequence, mut values) = pick(at);
                        values.push(value);
                        (cache.append(&pool, owner, sequence, &value.to_ne_bytes()).unwrap(), values)
                    }
                    Step::Prepend(value, at) => {
                        let (sequence, mut values) = pick(at);
                        values.insert(0, value);
                        (cache.prepend(&pool, owner, &value.to_ne_bytes(), sequence).unwrap(), values)
                    }
                    Step::Concatenate(left, right) => {
                        let ((left, mut values), (right, more)) = (pick(left), pick(right));
                        if values.len() + more.len() > 5000 {
                            continue;
                        }
                        values.extend(more);
                        (cache.concatenate(&pool, owner, left, right, ELEMENT).unwrap(), values)
                    }
                }
            };
            made.push(next);
        }
        for (sequence, values) in &made {
            prop_assert_eq!(sequence.len(), values.len());
            prop_assert_eq!(&read(&pool, *sequence), values);
        }
    }
}

#[test]
fn appending_to_the_newest_value_moves_nothing() {
    let pool = SequencePool::new();
    let mut cache = SequenceCache::default();
    let mut state = cache
        .create(&pool, Owner::strand(1), &bytes(&[0]), ELEMENT)
        .unwrap();
    let mut moves = 0;
    for value in 1..1000u32 {
        let before = pool.data(state);
        // SAFETY: the state is alive.
        let longer = unsafe {
            cache
                .append(&pool, Owner::strand(1), state, &value.to_ne_bytes())
                .unwrap()
        };
        moves += usize::from(pool.data(longer) != before);
        state = settle(&pool, &mut cache, 1, &[state], &[longer])[0];
    }
    assert!(read(&pool, state).into_iter().eq(0..1000));
    // One move per doubling from 8 elements to 1024.
    assert_eq!(moves, 7);
    assert_eq!(cache.live_bytes(), 4096);
}

#[test]
fn a_million_steps_leave_no_bytes_behind() {
    let pool = SequencePool::new();
    let mut cache = SequenceCache::default();
    let mut states = [Sequence::EMPTY; 8];
    let mut reserved = 0;
    for round in 0..1_000_000u32 {
        let strand = round as usize % 8;
        let owner = Owner::strand(strand as u64);
        let state = states[strand];
        // SAFETY: the sequences of states are alive, and so are those made since.
        let next = unsafe {
            match round / 8 % 50 {
                49 => cache.create(&pool, owner, &bytes(&[round]), ELEMENT),
                // A value that is made and dropped, besides the one that is kept.
                20 => cache
                    .prepend(&pool, owner, &round.to_ne_bytes(), state)
                    .and(cache.append(&pool, owner, state, &round.to_ne_bytes())),
                // A neighbour's value is taken over.
                30 => Ok(states[(strand + 1) % 8]),
                _ => cache.append(&pool, owner, state, &round.to_ne_bytes()),
            }
            .unwrap()
        };
        states[strand] = settle(&pool, &mut cache, strand as u64, &[state], &[next])[0];
        if round == 10_000 {
            reserved = pool.reserved_bytes();
        }
    }
    assert_eq!(pool.reserved_bytes(), reserved);
    for (strand, state) in states.into_iter().enumerate() {
        settle(&pool, &mut cache, strand as u64, &[state], &[]);
    }
    assert_eq!(cache.live_bytes(), 0);
}

#[test]
fn a_foreign_sequence_is_copied_when_it_is_stored() {
    let pool = SequencePool::new();
    let mut cache = SequenceCache::default();
    let theirs = cache
        .create(&pool, Owner::strand(1), &bytes(&[1, 2, 3]), ELEMENT)
        .unwrap();
    let theirs = settle(&pool, &mut cache, 1, &[], &[theirs])[0];
    let ours = settle(&pool, &mut cache, 2, &[], &[theirs, theirs]);
    assert_ne!(pool.data(ours[0]), pool.data(theirs));
    settle(&pool, &mut cache, 1, &[theirs], &[]);
    assert_eq!(read(&pool, ours[0]), [1, 2, 3]);
    assert_eq!(read(&pool, ours[1]), [1, 2, 3]);
    settle(&pool, &mut cache, 2, &ours, &[]);
    assert_eq!(cache.live_bytes(), 0);
}

#[test]
fn two_variables_may_share_a_buffer() {
    let pool = SequencePool::new();
    let mut cache = SequenceCache::default();
    let first = cache
        .create(&pool, Owner::strand(1), &bytes(&[1, 2]), ELEMENT)
        .unwrap();
    // SAFETY: both are alive.
    let second = unsafe {
        cache
            .append(&pool, Owner::strand(1), first, &3u32.to_ne_bytes())
            .unwrap()
    };
    assert_eq!(pool.data(first), pool.data(second));
    let held = settle(&pool, &mut cache, 1, &[], &[first, second]);
    // Both extend their own value; only one can do so in place. SAFETY: as above.
    let (third, fourth) = unsafe {
        (
            cache
                .append(&pool, Owner::strand(1), held[0], &4u32.to_ne_bytes())
                .unwrap(),
            cache
                .append(&pool, Owner::strand(1), held[1], &5u32.to_ne_bytes())
                .unwrap(),
        )
    };
    let held = settle(&pool, &mut cache, 1, &held, &[third, fourth]);
    assert_eq!(read(&pool, held[0]), [1, 2, 4]);
    assert_eq!(read(&pool, held[1]), [1, 2, 3, 5]);
    settle(&pool, &mut cache, 1, &held, &[]);
    assert_eq!(cache.live_bytes(), 0);
}

#[test]
fn buffers_freed_by_one_worker_serve_another() {
    let pool = SequencePool::new();
    let mut caches = [SequenceCache::default(), SequenceCache::default()];
    for _ in 0..100 {
        let made: Vec<Sequence> = (0..2000)
            .map(|value| {
                caches[0]
                    .create(&pool, Owner::strand(1), &bytes(&[value]), ELEMENT)
                    .unwrap()
            })
            .collect();
        let held = settle(&pool, &mut caches[0], 1, &[], &made);
        settle(&pool, &mut caches[1], 1, &held, &[]);
    }
    assert_eq!(caches[0].live_bytes() + caches[1].live_bytes(), 0);
    assert!(pool.reserved_bytes() < 200_000, "{}", pool.reserved_bytes());
}
