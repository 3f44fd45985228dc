//! Normalization of EIN: from operators over fields to probes of leaf fields and planned tensor arithmetic.
//!
//! [`normalize`] takes a straight-line region of operator applications and gives one that computes the same in normal
//! form: derivatives and probes sit on leaf fields only, every definition is one operation deep, nothing is computed
//! twice, and the order of contractions is chosen by cost. [`explain`] does the same and gives the [`Derivation`] of the
//! result; [`prove`] shows that two regions compute the same. This is the only crate that names egg.
//!
//! How it works. Regions are inserted into an e-graph of *closed* nodes: an index never leaves the contraction it belongs
//! to, so equal up to the names of indices is simply equal (`node`, `insert`). Contractions have a canonical form that
//! knows the symmetries of their operands (`canon`, `facts`, `symmetry`). Simplification is a table of steps, rewriting a table of
//! rules (`simplify`, `rules`); both are written against one interface, so that a plain arena and the e-graph share
//! them (`build`, `arena`, `egraph`). `normalize` runs the phases, `extract` chooses the cheapest form by the model of
//! `cost`, `emit` writes it as a region, and `normal_form` checks the result, always.
//!
//! Definedness: where a source is defined, so is its normal form, with the same value up to rounding. The laws that make
//! a term defined at more places (0·e = 0, e·e⁻¹ = 1, √e·√e = e) are used in that direction only, and no place at which
//! a term can be undefined is extracted that the source does not have, unless [`Options::relaxed`] allows it.

mod arena;
mod both;
mod build;
mod canon;
mod catalogue;
mod class;
mod closure;
mod colours;
mod components;
mod cost;
mod derivation;
mod egraph;
mod eigen;
mod emit;
mod explain;
mod extract;
mod extractable;
mod factor;
mod form;
mod insert;
mod inverse;
mod journal;
mod laws;
mod log;
mod meaning;
mod mutants;
mod node;
mod node_facts;
mod normal_form;
mod normalize;
mod numbers;
mod options;
mod phases;
mod price;
mod product;
mod prove;
mod push;
mod recognize;
mod regroup;
mod rules;
mod saturate;
mod shared;
mod simplify;
mod sparsity;
mod steps;
mod symmetry;

pub use both::both;
pub use catalogue::laws;
pub use cost::{Operation, probe_weight, weight};
pub use derivation::{Derivation, Equation, sample};
pub use explain::{Explained, explain};
pub use laws::Law;
pub use normal_form::verify_normal_form;
pub use normalize::{Normalized, normalize};
pub use options::{Engine, Options, Stats};
pub use phases::counted_rules;
pub use prove::{Method, Proof, prove};

#[cfg(test)]
mod soundness;
