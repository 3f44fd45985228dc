//! The viewer in conversation with pages: pictures, changes of inputs and texts, programs that evolve, and strangers at its port.

mod page;
mod pictures;
mod reload;
mod strangers;
mod surface;

/// The arithmetic of the page, where Node.js is installed.
#[test]
fn the_scripts_of_the_page_compute_right() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view");
    let run = std::process::Command::new("node")
        .arg("--test")
        .arg(folder)
        .output();
    match run {
        Ok(run) => assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stdout)
        ),
        Err(_) => println!("not covered: the scripts of the page, without Node.js"),
    }
}
