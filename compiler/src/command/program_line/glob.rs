//! Names of files with wildcards, as a shell expands them: `*` is any text, `?` one character, `[a-z]` one of a set, `[!a-z]` one
//! outside it. None of them stands for a `/`, or for the period at the beginning of a name.

use runtime::file_name::FileName;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The files that a word stands for, in the order of their names. A word without wildcards stands for itself, and so does one that
/// is the name of a file. A part of each file may follow: `*.vtu#u`.
///
/// # Errors
/// There is no such file.
pub(super) fn expand(word: &str) -> Result<Vec<FileName>, String> {
    if !has_wildcards(word) || Path::new(word).exists() {
        return Ok(vec![word.into()]);
    }
    let files = files(word);
    if !files.is_empty() {
        return Ok(files.into_iter().map(FileName::from).collect());
    }
    let with_part = |(pattern, part): (&str, &str)| -> Vec<FileName> {
        let named = |file: PathBuf| {
            let mut name = file.into_os_string();
            name.push(format!("#{part}"));
            FileName::from(Path::new(&name))
        };
        self::files(pattern).into_iter().map(named).collect()
    };
    let parts = word.split_once('#').map(with_part).unwrap_or_default();
    match parts.is_empty() {
        true => Err(format!("no file matches `{word}`")),
        false => Ok(parts),
    }
}

/// The files whose names match, sorted.
fn files(word: &str) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::new()];
    for component in Path::new(word).components() {
        let pattern = component.as_os_str().to_string_lossy();
        paths = match component {
            Component::Normal(_) if has_wildcards(&pattern) => {
                let pattern: Vec<char> = pattern.chars().collect();
                let inside = |path: &PathBuf| matching(path, &pattern);
                paths.iter().flat_map(inside).collect()
            }
            _ => paths.iter().map(|path| path.join(component)).collect(),
        };
    }
    paths.retain(|path| path.exists());
    paths.sort();
    paths
}

fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The entries of a directory whose names match; none if it is not a directory that can be read.
fn matching(directory: &Path, pattern: &[char]) -> Vec<PathBuf> {
    let here = Path::new(".");
    let listed = match directory.as_os_str().is_empty() {
        true => here,
        false => directory,
    };
    let entries = fs::read_dir(listed).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let is_wanted = |name: &std::ffi::OsString| {
        let name: Vec<char> = name.to_string_lossy().chars().collect();
        let is_hidden = name.first() == Some(&'.') && pattern.first() != Some(&'.');
        !is_hidden && matches(pattern, &name)
    };
    names
        .filter(is_wanted)
        .map(|name| directory.join(name))
        .collect()
}

/// Whether a name matches a pattern. After a mismatch only the last `*` has to be tried again, so the time is at most the product
/// of the lengths.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where the last `*` is, and where the text after it was looked for.
    let mut star = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(length) = one(&pattern[p..], name[n]) {
            p += length;
            n += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            (p, n) = (at + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// The length of the beginning of a pattern that stands for one character, if it stands for this one.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match *pattern.first()? {
        '?' => Some(1),
        '[' => match set_end(pattern) {
            Some(end) => is_in_set(&pattern[1..end], c).then_some(end + 1),
            // Without its end it is a bracket.
            None => (c == '[').then_some(1),
        },
        other => (other == c).then_some(1),
    }
}

/// The place of the bracket that ends the set at the beginning of a pattern. One that is the first of the set belongs to it.
fn set_end(pattern: &[char]) -> Option<usize> {
    let is_inverted = matches!(pattern.get(1), Some('!' | '^'));
    let second = 2 + usize::from(is_inverted);
    (second..pattern.len()).find(|&n| pattern[n] == ']')
}

/// Whether a character is in a set, such as `a-z_`, or outside one that begins with `!`.
fn is_in_set(set: &[char], c: char) -> bool {
    let (is_inverted, mut rest) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut is_listed = false;
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            ['-', last, after @ ..] => (last, after),
            _ => (first, after),
        };
        is_listed |= (*first..=*last).contains(&c);
        rest = after;
    }
    is_listed != is_inverted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*.nii.gz", "a.nii.gz", true),
            ("*.nii.gz", "a.nii", false),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("scan?.nrrd", "scan1.nrrd", true),
            ("scan?.nrrd", "scan.nrrd", false),
            ("scan[0-35].nrrd", "scan5.nrrd", true),
            ("scan[0-35].nrrd", "scan4.nrrd", false),
            ("scan[!0-3].nrrd", "scan4.nrrd", true),
            ("a[", "a[", true),
            ("[]a]", "]", true),
            ("[a!b]", "!", true),
            ("[!]a]", "b", true),
            ("größe-?", "größe-∇", true),
            ("*", "", true),
        ] {
            let [p, n] = [pattern, name].map(|text| text.chars().collect::<Vec<_>>());
            assert_eq!(matches(&p, &n), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_found_in_directories_and_sorted() {
        let name = format!("diderot-glob-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        for (directory, file) in [("b", "2.x"), ("a", "1.x"), ("a", ".0.x"), ("a", "3.y")] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
            fs::write(root.join(directory).join(file), "").expect("a file");
        }
        let word = |end: &str| format!("{}/{end}", root.display());
        let found = |end: &str| -> Vec<String> {
            let files = expand(&word(end)).unwrap_or_default();
            let named = files.iter().map(|file| file.strip_prefix(&root));
            named
                .map(|file| file.expect("below").display().to_string())
                .collect()
        };
        assert_eq!(found("*/*.x"), ["a/1.x", "b/2.x"]);
        assert_eq!(found("a/.*.x"), ["a/.0.x"]);
        assert_eq!(found("[ab]/?.?"), ["a/1.x", "a/3.y", "b/2.x"]);
        assert_eq!(found("a/none"), ["a/none"], "a name stands for itself");
        assert_eq!(found("*/*.x#/u/v"), ["a/1.x#/u/v", "b/2.x#/u/v"]);
        assert!(expand(&word("*.z")).is_err_and(|e| e.contains("no file matches")));
        let _ = fs::remove_dir_all(root);
    }
}
