//! Reports of a campaign: counts, groups of failures with one representative, coverage of operators and pairs.

use crate::campaign::Record;
use crate::compare::Verdict;
use crate::label::Case;
use crate::operator::OPERATORS;
use crate::shrink::{ClusterKey, cluster_key};
use crate::tree::Use;
use compiler::pipeline::counted_rules;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Cases and failures of one operator or pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Cases that were judged.
    pub cases: usize,
    /// Those that failed.
    pub failures: usize,
    /// Cases that were vacuous.
    pub vacuous: usize,
}

/// Failures with one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// How many cases failed so.
    pub count: usize,
    /// The label with the fewest operators, the shortest among them.
    pub representative: String,
    /// The message of that case.
    pub message: String,
    /// The smallest case that fails so, and its program, once it has been shrunk.
    pub smallest: Option<(String, String)>,
}

/// The summary of records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// All cases together.
    pub total: Tally,
    /// By operator and the way it was used.
    pub operators: BTreeMap<Use, Tally>,
    /// By outer and inner operator.
    pub pairs: BTreeMap<(&'static str, &'static str), Tally>,
    /// For each rewrite rule, in how many cases that passed it fired.
    pub rules: BTreeMap<String, usize>,
    /// Failures by stage and cause.
    pub clusters: BTreeMap<ClusterKey, Cluster>,
    /// Vacuous cases by reason.
    pub vacuous: BTreeMap<String, usize>,
    /// The largest error as a fraction of its tolerance among cases that passed, and its label.
    pub worst: Option<(f64, String)>,
    /// Cases that passed with a tolerance above a sixteenth of the value: they prove little.
    pub loose: usize,
    /// The loosest tolerance among cases that passed, and its label.
    pub loosest: Option<(f64, String)>,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        self.cases += 1;
        match verdict {
            Verdict::Pass { .. } => {}
            Verdict::Vacuous { .. } => self.vacuous += 1,
            Verdict::Fail { .. } => self.failures += 1,
        }
    }
}

fn raise(best: &mut Option<(f64, String)>, value: f64, label: &str) {
    if best.as_ref().is_none_or(|(known, _)| value > *known) {
        *best = Some((value, label.to_string()));
    }
}

/// Summarizes records; a label that cannot be read is an error.
pub fn summarize(records: &[Record]) -> Result<Summary, String> {
    let mut summary = Summary::default();
    for record in records {
        let case: Case = record.label.parse()?;
        summary.total.add(&record.verdict);
        let uses = case.tree.uses().into_iter();
        let uses: BTreeSet<Use> = uses.map(|(_, operator_use)| operator_use).collect();
        for operator_use in uses {
            let tally = summary.operators.entry(operator_use).or_default();
            tally.add(&record.verdict);
        }
        let mut pairs = case.tree.operator_pairs();
        pairs.sort_unstable();
        pairs.dedup();
        for pair in pairs {
            summary.pairs.entry(pair).or_default().add(&record.verdict);
        }
        match &record.verdict {
            Verdict::Pass {
                ratio,
                looseness,
                rules,
            } => {
                for rule in rules {
                    *summary.rules.entry(rule.clone()).or_default() += 1;
                }
                raise(&mut summary.worst, *ratio, &record.label);
                raise(&mut summary.loosest, *looseness, &record.label);
                summary.loose += usize::from(*looseness > 1.0 / 16.0);
            }
            Verdict::Vacuous { reason } => *summary.vacuous.entry(reason.clone()).or_default() += 1,
            Verdict::Fail { message, .. } => {
                if let Some(key) = cluster_key(&record.verdict) {
                    summary.add_failure(key, &case, record, message);
                }
            }
        }
    }
    Ok(summary)
}

impl Summary {
    fn add_failure(&mut self, key: ClusterKey, case: &Case, record: &Record, message: &str) {
        let size = |label: &str| {
            label
                .parse::<Case>()
                .map_or(0, |case| case.tree.operators())
        };
        let cluster = self.clusters.entry(key).or_insert_with(|| Cluster {
            count: 0,
            representative: record.label.clone(),
            message: message.to_string(),
            smallest: None,
        });
        cluster.count += 1;
        let smaller = (case.tree.operators(), record.label.len())
            < (size(&cluster.representative), cluster.representative.len());
        if smaller {
            cluster.representative = record.label.clone();
            cluster.message = message.to_string();
        }
    }

    /// The last line of a campaign.
    pub fn line(&self) -> String {
        let Tally {
            cases,
            failures,
            vacuous,
        } = self.total;
        let mut line = format!("{cases} cases, {failures} failures, {vacuous} vacuous");
        if !self.clusters.is_empty() {
            line += &format!(", {} causes", self.clusters.len());
        }
        if self.loose > 0 {
            line += &format!(", {} loose", self.loose);
        }
        if let Some((ratio, _)) = &self.worst {
            line += &format!(", largest error {ratio:.3} of its tolerance");
        }
        line
    }

    /// Operators that no case used.
    pub fn unused(&self) -> Vec<&'static str> {
        OPERATORS
            .iter()
            .map(|row| row.name)
            .filter(|name| self.operators.keys().all(|used| used.operator != *name))
            .collect()
    }

    /// Rewrite rules that fired in no case.
    pub fn never_fired(&self) -> Vec<&'static str> {
        counted_rules()
            .filter(|name| !self.rules.contains_key(*name))
            .collect()
    }

    /// The report for tools.
    pub fn to_json(&self) -> Value {
        let operators: serde_json::Map<String, Value> = self
            .operators
            .iter()
            .map(|(operator_use, t)| (operator_use.to_string(), json!(t)))
            .collect();
        let pairs: serde_json::Map<String, Value> = self
            .pairs
            .iter()
            .map(|((outer, inner), t)| (format!("{outer}({inner})"), json!(t)))
            .collect();
        let clusters: Vec<Value> = self
            .clusters
            .iter()
            .map(|((at, cause), cluster)| {
                let (smallest, program) = cluster.smallest.clone().unzip();
                json!({ "at": at.to_string(), "cause": cause, "count": cluster.count,
                        "representative": cluster.representative, "message": cluster.message,
                        "smallest": smallest, "program": program })
            })
            .collect();
        let extreme = |best: &Option<(f64, String)>| match best {
            Some((value, label)) => json!({ "value": value, "label": label }),
            None => Value::Null,
        };
        json!({
            "total": self.total, "operators": operators, "pairs": pairs, "clusters": clusters,
            "rules": self.rules, "never_fired": self.never_fired(), "vacuous": self.vacuous, "loose": self.loose, "unused": self.unused(),
            "worst": extreme(&self.worst), "loosest": extreme(&self.loosest),
        })
    }

    /// The report for people.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# DATm report\n\n{}\n", self.line());
        text += "\n## Failures\n\n";
        if self.clusters.is_empty() {
            text += "None.\n";
        } else {
            text += "| stage | cause | cases | smallest case | message |\n|---|---|---:|---|---|\n";
            for ((at, cause), cluster) in &self.clusters {
                let Cluster {
                    count,
                    representative,
                    message,
                    ..
                } = cluster;
                text += &format!(
                    "| {at} | {} | {count} | `{}` | {} |\n",
                    cell(cause),
                    cell(representative),
                    cell(message)
                );
            }
        }
        for (label, program) in self.clusters.values().filter_map(|c| c.smallest.as_ref()) {
            text += &format!("\n`{label}`\n\n```\n{program}```\n");
        }
        text += "\n## Rewrite rules\n\n| rule | cases in which it fired |\n|---|---:|\n";
        for rule in counted_rules() {
            let count = self.rules.get(rule).copied().unwrap_or(0);
            text += &format!("| {rule} | {count} |\n");
        }
        let never = self.never_fired();
        if !never.is_empty() {
            text += &format!("\nNever fired: {}.\n", never.join(", "));
        }
        text += "\n## Vacuous cases\n\n";
        if self.vacuous.is_empty() {
            text += "None.\n";
        } else {
            text += "| reason | cases |\n|---|---:|\n";
            for (reason, count) in &self.vacuous {
                text += &format!("| {} | {count} |\n", cell(reason));
            }
        }
        text += &format!(
            "\n## Tolerances\n\n* Passed with a tolerance above a sixteenth of the value: {} cases\n",
            self.loose
        );
        for (what, best) in [
            ("Largest error, as a fraction of its tolerance", &self.worst),
            ("Loosest tolerance", &self.loosest),
        ] {
            if let Some((value, label)) = best {
                text += &format!("* {what}: {value:.3e} in `{label}`\n");
            }
        }
        text +=
            "\n## Operators\n\n| operator | cases | failures | vacuous |\n|---|---:|---:|---:|\n";
        for (operator_use, t) in &self.operators {
            text += &format!(
                "| {operator_use} | {} | {} | {} |\n",
                t.cases, t.failures, t.vacuous
            );
        }
        let unused = self.unused();
        if !unused.is_empty() {
            text += &format!("\nNot used: {}.\n", unused.join(", "));
        }
        let failing: Vec<_> = self.pairs.iter().filter(|(_, t)| t.failures > 0).collect();
        text += &format!(
            "\n## Pairs\n\n{} pairs of outer and inner operator, {} with failures.\n",
            self.pairs.len(),
            failing.len()
        );
        if !failing.is_empty() {
            text += "\n| outer | inner | cases | failures |\n|---|---|---:|---:|\n";
            for ((outer, inner), t) in failing {
                text += &format!("| `{outer}` | `{inner}` | {} | {} |\n", t.cases, t.failures);
            }
        }
        text
    }
}

/// Text that may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::FailedAt;

    fn record(label: &str, verdict: Verdict) -> Record {
        Record {
            label: label.to_string(),
            setup: "s".to_string(),
            verdict,
        }
    }

    fn fail(cause: &str) -> Verdict {
        Verdict::Fail {
            at: FailedAt::Value,
            cause: cause.to_string(),
            message: format!("about {cause}"),
        }
    }

    #[test]
    fn failures_are_grouped_with_the_smallest_case() {
        let records = [
            record("neg(sin(T[]))", fail("wrong value")),
            record("sin(T[])", fail("wrong value")),
            record("cos(T[])", fail("not finite")),
            record(
                "inv(outer(T[2],T[2]))",
                Verdict::Vacuous {
                    reason: "singular".to_string(),
                },
            ),
            record(
                "neg(T[])",
                Verdict::Pass {
                    ratio: 0.25,
                    looseness: 1e-15,
                    rules: Vec::new(),
                },
            ),
        ];
        let summary = summarize(&records).expect("labels");
        assert_eq!(
            summary.total,
            Tally {
                cases: 5,
                failures: 3,
                vacuous: 1
            }
        );
        assert_eq!(summary.clusters.len(), 2);
        let cluster = &summary.clusters[&(FailedAt::Value, "wrong value".to_string())];
        assert_eq!(
            (cluster.count, cluster.representative.as_str()),
            (2, "sin(T[])")
        );
        assert_eq!(summary.pairs[&("neg", "sin")].failures, 1);
        assert!(
            summary
                .line()
                .starts_with("5 cases, 3 failures, 1 vacuous, 2 causes")
        );
        assert!(
            summary
                .to_markdown()
                .contains("| value | wrong value | 2 | `sin(T[])` | about wrong value |")
        );
        assert_eq!(
            summary.to_json()["operators"]["sin of tensors"]["failures"],
            2
        );
    }
}
