//! Files that hold many arrays under names: which of them is meant, and the bytes of the file.

use std::sync::Arc;

use hdf5_reader::storage::{BytesStorage, DynStorage, FileStorage};

use super::{ImageError, Opened};

/// The bytes of a file, to be read anywhere, and how many they are.
pub(super) fn storage(opened: Opened<'_>) -> Result<(DynStorage, u64), ImageError> {
    let fail = |e: hdf5_reader::error::Error| ImageError::new(e.to_string());
    match (&opened.path, opened.length) {
        (Some(path), Some(length)) => {
            let file = FileStorage::open(path).map_err(fail)?;
            Ok((Arc::new(file), length))
        }
        _ => {
            let bytes = opened.bytes()?;
            let length = bytes.len() as u64;
            Ok((Arc::new(BytesStorage::from_owner(bytes)), length))
        }
    }
}

/// An array of numbers in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its path from the root, without a slash in front.
    pub(super) name: String,
    /// Its sizes, the slowest first.
    pub(super) sizes: Vec<u64>,
    /// The type of its samples, for messages.
    pub(super) type_name: String,
}

impl Member {
    fn shown(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        format!(
            "`{}` ({}, {})",
            self.name,
            sizes.join(" × "),
            self.type_name
        )
    }
}

/// Members that are listed in messages.
const LISTED: usize = 60;

/// Says which arrays a file has.
pub(super) fn listed(members: &[Member]) -> String {
    let mut shown: Vec<String> = members.iter().take(LISTED).map(Member::shown).collect();
    if members.len() > LISTED {
        shown.push(format!("and {} more", members.len() - LISTED));
    }
    shown.join(", ")
}

/// The numbers of the members that are asked for, by `NAME` or `NAME,NAME`; the only one that can be an image if nothing is asked for.
pub(super) fn chosen(members: &[Member], asked: Option<&str>) -> Result<Vec<usize>, ImageError> {
    let Some(asked) = asked else {
        return only(members).map(|member| vec![member]);
    };
    let of_name = |name: &str| {
        let name = name.trim().trim_matches('/');
        members.iter().position(|member| member.name == name)
    };
    if let Some(member) = of_name(asked) {
        return Ok(vec![member]);
    }
    let names: Vec<&str> = asked.split(',').collect();
    let found = names.iter().map(|name| {
        of_name(name).ok_or_else(|| {
            ImageError::new(match members.is_empty() {
                true => format!("the file has no array `{name}`, and no other array of numbers"),
                false => format!("the file has no array `{name}`; it has {}", listed(members)),
            })
        })
    });
    let found = found.collect::<Result<Vec<usize>, ImageError>>()?;
    let first = &members[found[0]];
    match found
        .iter()
        .find(|&&other| members[other].sizes != first.sizes)
    {
        None => Ok(found),
        Some(&other) => Err(ImageError::new(format!(
            "components have equal sizes, but {} and {} have not",
            first.shown(),
            members[other].shown()
        ))),
    }
}

/// The only member that has at least two axes, or the only one at all.
fn only(members: &[Member]) -> Result<usize, ImageError> {
    let several = |member: &Member| member.sizes.iter().filter(|&&n| n > 1).count() > 1;
    let grids: Vec<usize> = (0..members.len())
        .filter(|&m| several(&members[m]))
        .collect();
    match (&grids[..], members) {
        (&[grid], _) => Ok(grid),
        ([], [_]) => Ok(0),
        ([], []) => Err(ImageError::new("the file has no array of numbers")),
        _ => {
            let first = grids.first().copied().unwrap_or(0);
            let listed = listed(members);
            let error =
                ImageError::new(format!("the file has {} arrays: {listed}", members.len())).hint(
                    format!("choose one of them: `FILE#{}`", members[first].name),
                );
            let error = error.among(members.iter().map(|member| member.name.clone()));
            let alike: Vec<&str> = members
                .iter()
                .filter(|member| member.sizes == members[first].sizes)
                .map(|member| member.name.as_str())
                .take(3)
                .collect();
            Err(match alike.len() {
                0 | 1 => error,
                _ => error.hint(format!(
                    "or take several as components: `FILE#{}`",
                    alike.join(",")
                )),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, sizes: &[u64]) -> Member {
        Member {
            name: name.to_string(),
            sizes: sizes.to_vec(),
            type_name: "float".to_string(),
        }
    }

    #[test]
    fn the_only_grid_is_chosen_and_several_are_listed() {
        let one = [member("t", &[6]), member("g/vol", &[4, 3, 2])];
        assert_eq!(chosen(&one, None), Ok(vec![1]));
        assert_eq!(chosen(&one, Some("/g/vol")), Ok(vec![1]));
        assert_eq!(chosen(&one[..1], None), Ok(vec![0]));
        assert!(chosen(&[], None).is_err());
        let several = [
            member("u", &[4, 3]),
            member("v", &[4, 3]),
            member("w", &[9, 3]),
        ];
        let error = chosen(&several, None).unwrap_err().to_string();
        for part in ["3 arrays", "`u` (4 × 3, float)", "`w`", "FILE#u,v"] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(chosen(&several, Some("v,u")), Ok(vec![1, 0]));
        let error = chosen(&several, Some("u,w")).unwrap_err().to_string();
        assert!(error.contains("equal sizes"), "{error}");
        let error = chosen(&several, Some("u,q")).unwrap_err().to_string();
        assert!(error.contains("no array `q`"), "{error}");
    }
}
