//! A campaign: many cases in parallel, recorded as JSON lines so that it can be resumed.
//!
//! Cases are pure functions of their labels. They are checked in blocks, and records are written in the order of
//! the cases, so the file is the same at any number of threads.

use crate::compare::Verdict;
use crate::label::Case;
use crate::number::Arithmetic;
use crate::runner::{RunOptions, Runner};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};

/// One case and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The label of the case.
    pub label: String,
    /// The runner, precision and width under which it was judged.
    pub setup: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How a campaign is run.
#[derive(Clone, Copy, Debug)]
pub struct CampaignOptions {
    /// How programs are executed.
    pub run: RunOptions,
    /// The arithmetic of the truth.
    pub arithmetic: Arithmetic,
}

/// The judge of the cases of a campaign.
pub struct Judge<'a> {
    /// Distinguishes records of different judges.
    pub setup: String,
    /// The verdict about a case.
    pub verdict_of: &'a (dyn Fn(&Case) -> Verdict + Sync),
}

/// Cases per block: enough to keep all cores busy, few enough to lose little when interrupted.
const BLOCK: usize = 256;

/// The text that distinguishes records of different runners and precisions.
pub fn setup(runner: &dyn Runner, options: &RunOptions) -> String {
    format!(
        "{} {} W={}",
        runner.name(),
        options.precision,
        options.width
    )
}

impl Record {
    /// The record as one line of JSON.
    pub fn to_line(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| format!("cannot write a record: {error}"))
    }

    /// Reads a line of JSON.
    pub fn from_line(line: &str) -> Result<Record, String> {
        serde_json::from_str(line).map_err(|error| format!("found a malformed record: {error}"))
    }
}

/// Reads records; a last line cut off by an interruption is dropped.
pub fn read_records(input: impl BufRead) -> Result<Vec<Record>, String> {
    let lines: Result<Vec<String>, _> = input.lines().collect();
    let lines = lines.map_err(|error| format!("cannot read records: {error}"))?;
    let mut records = Vec::new();
    for (number, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match Record::from_line(line) {
            Ok(record) => records.push(record),
            Err(_) if number + 1 == lines.len() => {}
            Err(message) => return Err(format!("line {}: {message}", number + 1)),
        }
    }
    Ok(records)
}

/// Checks `count` cases; `case_at` gives the n-th. Verdicts in `known` are taken over; new ones are written to `output`.
/// `progress` gets the number of cases done.
pub fn run(
    count: usize,
    case_at: &(dyn Fn(usize) -> Option<Case> + Sync),
    judge: &Judge<'_>,
    known: &[Record],
    output: &mut dyn Write,
    progress: &dyn Fn(usize),
) -> Result<Vec<Record>, String> {
    let Judge { setup, verdict_of } = judge;
    let known: BTreeMap<&str, &Record> = known
        .iter()
        .filter(|record| record.setup == *setup)
        .map(|record| (record.label.as_str(), record))
        .collect();
    let mut records = Vec::new();
    for start in (0..count).step_by(BLOCK) {
        let block: Vec<(Record, bool)> = (start..count.min(start + BLOCK))
            .into_par_iter()
            .filter_map(|number| {
                let case = case_at(number)?;
                let label = case.to_string();
                if let Some(record) = known.get(label.as_str()) {
                    return Some(((*record).clone(), false));
                }
                let verdict = verdict_of(&case);
                Some((
                    Record {
                        label,
                        setup: setup.clone(),
                        verdict,
                    },
                    true,
                ))
            })
            .collect();
        for (record, is_new) in block {
            if is_new {
                writeln!(output, "{}", record.to_line()?)
                    .map_err(|error| format!("cannot write records: {error}"))?;
            }
            records.push(record);
        }
        output
            .flush()
            .map_err(|error| format!("cannot write records: {error}"))?;
        progress(count.min(start + BLOCK));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{FailedAt, check};
    use crate::direct::DirectRunner;
    use crate::runner::Precision;
    use crate::space::{Form, SpaceOptions, TreeSpace};

    fn campaign(threads: usize, known: &[Record]) -> (Vec<Record>, String) {
        let space = TreeSpace::new(&SpaceOptions::full(2, Form::Any));
        let case_at = |n: usize| {
            let tree = space.unrank(n as u128 * 977)?;
            Some(Case {
                tree,
                settings: "pos=2|seed=5".parse().ok()?,
            })
        };
        let options = CampaignOptions {
            run: RunOptions {
                precision: Precision::Double,
                width: 0,
            },
            arithmetic: Arithmetic::Near,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let mut output = Vec::new();
        let records = pool
            .install(|| {
                let judge = Judge {
                    setup: setup(&DirectRunner, &options.run),
                    verdict_of: &|case| {
                        check(case, &DirectRunner, &options.run, options.arithmetic)
                    },
                };
                run(40, &case_at, &judge, known, &mut output, &|_| {})
            })
            .expect("a campaign");
        (records, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn one_thread_and_many_write_the_same_file() {
        assert_eq!(campaign(1, &[]), campaign(4, &[]));
    }

    #[test]
    fn a_resumed_campaign_repeats_nothing_and_ends_with_the_same_records() {
        let (records, text) = campaign(2, &[]);
        assert_eq!(read_records(text.as_bytes()), Ok(records.clone()));
        let (half, _) = text.split_at(text.len() / 2);
        let known = read_records(half.as_bytes()).expect("records");
        assert!(!known.is_empty() && known.len() < records.len());
        let (resumed, rest) = campaign(2, &known);
        assert_eq!(resumed, records);
        assert_eq!(rest.lines().count(), records.len() - known.len());
    }

    #[test]
    fn failures_survive_the_file() {
        let verdict = Verdict::Fail {
            at: FailedAt::Compile,
            cause: "c".into(),
            message: "m".into(),
        };
        let record = Record {
            label: "neg(T[])".into(),
            setup: "s".into(),
            verdict,
        };
        let line = record.to_line().expect("a line");
        assert_eq!(
            line,
            r#"{"label":"neg(T[])","setup":"s","verdict":"fail","at":"compile","cause":"c","message":"m"}"#
        );
        assert_eq!(Record::from_line(&line), Ok(record));
        assert!(Record::from_line(&line.replace("fail", "odd")).is_err());
    }
}
