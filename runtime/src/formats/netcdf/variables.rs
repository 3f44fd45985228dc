//! The variables of a file, and their attributes.

use netcdf_reader::{NcGroup, NcVariable};

use crate::formats::ImageError;

/// An error of the reader of the format.
pub(super) fn fail(error: netcdf_reader::Error) -> ImageError {
    ImageError::new(error.to_string())
}

/// A variable, and the groups around it, the innermost last.
pub(super) struct Found<'f> {
    pub(super) path: String,
    pub(super) variable: &'f NcVariable,
    pub(super) groups: Vec<(String, &'f NcGroup)>,
}

/// Groups within groups: more are a sign of damage.
const DEEPEST: usize = 64;

/// Finds all variables of a group and the groups in it.
pub(super) fn walk<'f>(
    group: &'f NcGroup,
    path: &str,
    around: &[(String, &'f NcGroup)],
    all: &mut Vec<Found<'f>>,
) {
    let mut groups = around.to_vec();
    groups.push((path.to_string(), group));
    for variable in &group.variables {
        all.push(Found {
            path: format!("{path}{}", variable.name()),
            variable,
            groups: groups.clone(),
        });
    }
    if groups.len() < DEEPEST {
        for inner in &group.groups {
            walk(inner, &format!("{path}{}/", inner.name), &groups, all);
        }
    }
}

/// An attribute that is a text.
pub(super) fn text(variable: &NcVariable, name: &str) -> Option<String> {
    let value = variable.attribute(name)?.value.as_string()?;
    Some(value.trim_end_matches('\0').trim().to_string())
}
