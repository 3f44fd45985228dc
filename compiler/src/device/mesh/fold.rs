//! Recordings without operations that do nothing, to the bit: factors of 1, terms of −0, and products of constants.

use runtime::simd::trace::{Operation, Step, Tape};

/// The same recording without them.
pub(super) fn folded(tape: &Tape) -> Tape {
    let mut steps: Vec<Step> = Vec::with_capacity(tape.steps.len());
    // The step that has the result of each.
    let mut same: Vec<usize> = Vec::with_capacity(tape.steps.len());
    for step in &tape.steps {
        let operands = step.operands.map(|n| same.get(n).copied().unwrap_or(0));
        let constant = |n: usize| match steps.get(operands[n]).map(|s| s.operation) {
            Some(Operation::Constant(x)) => Some(x),
            _ => None,
        };
        let is = |n: usize, x: f64| constant(n).is_some_and(|c| c.to_bits() == x.to_bits());
        let place = steps.len();
        let (operation, kept) = match step.operation {
            Operation::Mul if is(0, 1.0) => (step.operation, operands[1]),
            Operation::Mul if is(1, 1.0) => (step.operation, operands[0]),
            Operation::Add if is(0, -0.0) => (step.operation, operands[1]),
            Operation::Add if is(1, -0.0) => (step.operation, operands[0]),
            Operation::Mul => match (constant(0), constant(1)) {
                (Some(a), Some(b)) => (Operation::Constant(a * b), place),
                _ => (step.operation, place),
            },
            other => (other, place),
        };
        same.push(kept);
        // Steps keep their places.
        steps.push(Step {
            operation: if kept == place {
                operation
            } else {
                Operation::Constant(0.0)
            },
            operands,
        });
    }
    Tape {
        results: tape.results.iter().map(|&n| same[n]).collect(),
        steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_does_nothing_is_left_out() {
        let step = |operation, operands| Step {
            operation,
            operands,
        };
        let tape = Tape {
            steps: vec![
                step(Operation::Argument(0), [0; 3]),
                step(Operation::Constant(1.0), [0; 3]),
                step(Operation::Constant(-0.0), [0; 3]),
                step(Operation::Constant(0.0), [0; 3]),
                step(Operation::Mul, [0, 1, 0]),
                step(Operation::Add, [2, 4, 0]),
                step(Operation::Add, [5, 3, 0]),
                step(Operation::Mul, [3, 2, 0]),
            ],
            results: vec![5, 6, 7],
        };
        let folded = folded(&tape);
        assert_eq!(folded.results, [0, 6, 7]);
        assert_eq!(folded.steps[6], step(Operation::Add, [0, 3, 0]));
        let Operation::Constant(product) = folded.steps[7].operation else {
            panic!("a constant");
        };
        assert_eq!(product.to_bits(), (-0.0_f64).to_bits());
    }
}
