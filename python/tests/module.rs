//! The native module exists and has the entry that Python looks for. Its behaviour is tested by pytest, in this folder.

use std::{env, fs, path::PathBuf};

/// The module that was built for this test.
fn module() -> PathBuf {
    let test = env::current_exe().expect("a test has a file");
    let name = format!(
        "{}_native{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    test.with_file_name(name)
}

#[test]
fn the_module_has_its_entry() {
    let module = module();
    let bytes = fs::read(&module).unwrap_or_else(|error| panic!("{}: {error}", module.display()));
    let entry = b"PyInit__native";
    assert!(bytes.windows(entry.len()).any(|part| part == entry));
}
