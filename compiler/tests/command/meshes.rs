//! Meshes on the command line: the file, its array, and errors in them.

use crate::commands::{diderotc, directory, stderr, stdout, write};
use std::{fs, path::Path};

const PROGRAM: &str = "#version 2.0
input fem#1(2)[] g;
field#1(2)[] F = toField(g);
strand s (int i) { output real v = F([0.5, 0.25]); update { stabilize; } }
create_array { s(i) | i in 0..0 }
";

/// A file of the repository's data.
fn data(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    root.join(name).display().to_string()
}

/// The output is the polynomial 2x − 3y + 1 at (0.5, 0.25).
fn found_the_polynomial(dir: &Path) {
    let text = fs::read_to_string(dir.join("v.txt")).unwrap();
    let found: f64 = text.trim().parse().unwrap();
    assert!((found - 1.25).abs() < 1e-6, "{found}");
}

#[test]
fn a_file_and_its_array_are_one_word() {
    let dir = directory("meshes-right");
    write(&dir, "p.diderot", PROGRAM);
    let given = format!("{}#poly", data("check-mesh.vtu"));
    let output = diderotc(&dir, &["p.diderot", "-g", &given, "-o", "v.txt"]);
    assert!(output.status.success(), "{}", stderr(&output));
    found_the_polynomial(&dir);
}

#[test]
fn values_that_single_precision_has_not_are_warned_of() {
    let dir = directory("meshes-beyond");
    write(&dir, "p.diderot", PROGRAM);
    let mesh = "# vtk DataFile Version 3.0\nlarge\nASCII\nDATASET UNSTRUCTURED_GRID
POINTS 3 double\n0 0 0 1 0 0 0 1 0
CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5
POINT_DATA 3\nSCALARS g double\nLOOKUP_TABLE default\n1e39 2e39 1\n";
    write(&dir, "large.vtk", mesh);
    let words = ["p.diderot", "-g", "large.vtk", "-o", "v.txt"];
    let output = diderotc(&dir, &words);
    let told = stderr(&output);
    assert!(
        told.contains("array `g`: 2 samples are beyond the greatest number of single precision"),
        "{told}"
    );
    let output = diderotc(&dir, &[&["--double"][..], &words].concat());
    let told = stderr(&output);
    assert!(!told.contains("beyond"), "{told}");
}

#[test]
fn info_tells_what_a_mesh_is_and_how_to_declare_it() {
    let dir = directory("meshes-info");
    let mesh = data("check-mesh.vtu");
    fs::copy(&mesh, dir.join("part.vtu")).unwrap();
    let output = diderotc(&dir, &["info", "part.vtu"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("part.vtu: a mesh of 50 cells"), "{text}");
    assert!(text.contains("  world      [0, 1] × [0, 1]\n"), "{text}");
    // The description is right if the declarations make a program.
    let declared: String = text
        .lines()
        .filter(|line| line.contains("input mesh") || line.contains("load_fem"))
        .map(|line| line.trim_start().trim_start_matches("declare").to_string() + "\n")
        .collect();
    let rest = "field#1(2)[] F = toField(poly);
strand s (int i) { output real v = F([0.5, 0.25]); update { stabilize; } }
create_array { s(i) | i in 0..0 }\n";
    write(
        &dir,
        "p.diderot",
        &format!("#version 2.0\n{declared}{rest}"),
    );
    let output = diderotc(
        &dir,
        &["p.diderot", "-part", "part.vtu", "-o", "v.txt", "-v"],
    );
    assert!(output.status.success(), "{declared}{}", stderr(&output));
    assert!(stderr(&output).contains("a mesh of 50 cells"));
    found_the_polynomial(&dir);
    let json = stdout(&diderotc(&dir, &["info", "--json", "part.vtu"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["mesh"]["cells"], 50);
    assert_eq!(
        json["mesh"]["world"],
        serde_json::json!([[0.0, 1.0], [0.0, 1.0]])
    );
    write(
        &dir,
        "broken.vtu",
        &fs::read_to_string(&mesh).unwrap()[..300],
    );
    let output = diderotc(&dir, &["info", "broken.vtu"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("error: broken.vtu: "),
        "{}",
        stderr(&output)
    );
}

#[test]
fn info_tells_meshes_from_images_in_old_files() {
    let dir = directory("meshes-old");
    let head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET";
    let triangle = "UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nCELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n";
    write(&dir, "mesh.vtk", &format!("{head} {triangle}"));
    write(
        &dir,
        "broken.vtk",
        &format!("{head} STRUCTURED_POINTS\nDIMENSIONS 2 2\n"),
    );
    let told = stdout(&diderotc(&dir, &["info", "mesh.vtk"]));
    assert!(
        told.contains("a mesh of 1 cell,") && told.contains("1 tri-p1"),
        "{told}"
    );
    let error = stderr(&diderotc(&dir, &["info", "broken.vtk"]));
    assert!(
        error.starts_with("error: broken.vtk") && !error.contains("UNSTRUCTURED"),
        "{error}"
    );
}

#[test]
fn info_describes_arrays_and_times_of_meshes() {
    let dir = directory("meshes-parts");
    fs::copy(data("check-mesh.vtu"), dir.join("part.vtu")).unwrap();
    let sets = [0.0, 0.5].map(|t| format!("<DataSet timestep=\"{t}\" file=\"part.vtu\"/>"));
    let collection = format!(
        "<VTKFile type=\"Collection\"><Collection>{}</Collection></VTKFile>",
        sets.concat()
    );
    write(&dir, "times.pvd", &collection);
    for name in ["part.vtu#poly", "times.pvd@0.5", "times.pvd#1#poly"] {
        let output = diderotc(&dir, &["info", name]);
        let told = stdout(&output);
        assert!(
            told.starts_with(&format!("{name}: a mesh of 50 cells")),
            "{told}{}",
            stderr(&output)
        );
        assert!(told.contains("load_fem("), "{told}");
    }
    let told = stdout(&diderotc(&dir, &["info", "times.pvd"]));
    assert!(told.contains("frames     2, every 0.5 s"), "{told}");
    let error = stderr(&diderotc(&dir, &["info", "part.vtu#nothing"]));
    assert!(error.contains("no array `nothing`; there are"), "{error}");
}

#[test]
fn what_is_wrong_with_a_mesh_names_the_option_and_the_file() {
    let dir = directory("meshes-wrong");
    write(&dir, "p.diderot", PROGRAM);
    let mesh = data("check-mesh.vtu");
    for (given, wanted) in [
        ("none.vtu".to_string(), "No such file"),
        (format!("{mesh}#none"), "`none`"),
        (data("phantom.nrrd"), "not a mesh file"),
        (data("fem-ball.vtu"), "of dimension 2"),
    ] {
        let output = diderotc(&dir, &["p.diderot", "-g", &given, "-o", "v.txt"]);
        let error = stderr(&output);
        let file = given.split('#').next().unwrap();
        assert!(!output.status.success(), "{given}");
        assert!(
            error.contains(&format!("error: -g {file}: ")),
            "{given}: {error}"
        );
        assert!(error.contains(wanted), "{given}: {error}");
        assert!(!dir.join("v.txt").exists(), "{given}");
    }
}

#[test]
fn a_mesh_given_as_an_image_is_told_how_it_is_read() {
    let dir = directory("meshes-images");
    let program = PROGRAM
        .replace("fem#1(2)[] g", "image(2)[] g")
        .replace("toField(g)", "ctmr ⊛ g");
    write(&dir, "p.diderot", &program);
    let mesh = data("check-mesh.vtu");
    let output = diderotc(&dir, &["p.diderot", "-g", &mesh, "-o", "v.txt"]);
    let error = stderr(&output);
    assert!(!output.status.success());
    assert!(
        error.contains("declare the input as `fem#k(d)[σ]`"),
        "{error}"
    );
}
