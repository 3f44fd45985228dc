//! `docs/book/src/operators.md` is what the tables say. Run with `UPDATE_DOCS=1` to write it.

use std::{env, fs, path::Path};

#[test]
fn the_page_of_operators_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/operators.md");
    let page = ein_ir::ops::manual();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/book/src/operators.md is out of date: run the test with UPDATE_DOCS=1"
    );
}
