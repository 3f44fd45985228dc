//! The pages of codes as files, which messages link to: a wrong and a right program for each.

use crate::front::codes::Code;
use ls_types::Uri;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The address of the page of a code; none if there is no folder for it.
pub(super) fn page(code: Code) -> Option<Uri> {
    page_in(&folder()?, code)
}

fn page_in(folder: &Path, code: Code) -> Option<Uri> {
    let file = folder.join(format!("{}.md", code.name));
    if fs::read_to_string(&file).ok().as_deref() != Some(code.page) {
        fs::create_dir_all(folder).ok()?;
        fs::write(&file, code.page).ok()?;
    }
    Uri::from_file_path(&file)
}

/// The folder of pages among the user's files that can be made again.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA"));
    let cache = cache.or_else(|| Some(set("HOME")?.join(".cache")))?;
    let folder = concat!("pages-", env!("CARGO_PKG_VERSION"));
    Some(cache.join("diderot").join(folder)).filter(|folder| folder.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::codes;

    #[test]
    fn a_page_is_written_once_and_again_if_it_is_another() {
        let name = format!("diderot-pages-{}", std::process::id());
        let folder = env::temp_dir().join(name);
        let uri = page_in(&folder, codes::SYNTAX).expect("a page");
        let file = folder.join("syntax.md");
        assert_eq!(uri.to_file_path().as_deref(), Some(file.as_path()));
        fs::write(&file, "another version").expect("a file");
        page_in(&folder, codes::SYNTAX).expect("a page");
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            codes::SYNTAX.page
        );
        fs::remove_dir_all(folder).expect("the folder made here");
        assert!(page_in(Path::new("/dev/null"), codes::SYNTAX).is_none());
    }
}
