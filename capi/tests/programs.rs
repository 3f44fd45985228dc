//! `diderotc build --library`: its files compile without a warning for every program of the gallery, and a client of the
//! original runs with them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Where the libraries were built for this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a test has a file");
    test.parent().expect("a file has a folder").to_path_buf()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The command that was built with this test.
fn command() -> PathBuf {
    let command = libraries().join("../diderotc");
    assert!(
        command.exists(),
        "`cargo test --workspace` builds the command"
    );
    command
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn build(program: &Path, namespace: &str, folder: &Path, options: &[&str]) {
    run(Command::new(command())
        .args(["build", "--library"])
        .args(options)
        .arg(program)
        .args(["--namespace", namespace, "-o"])
        .arg(folder));
}

const STRICT: [&str; 4] = ["-std=c11", "-Wall", "-Wextra", "-Werror"];

#[test]
fn every_program_of_the_gallery_has_functions_in_c() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gallery");
    let programs = fs::read_dir(root().join("programs/gallery")).expect("the gallery");
    let mut count = 0;
    for entry in programs {
        let path = entry.expect("a program").path();
        if path.extension().is_none_or(|suffix| suffix != "diderot") {
            continue;
        }
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .replace('-', "_");
        build(&path, &name, &folder, &[]);
        for (compiler, options) in [
            ("cc", &STRICT[..]),
            ("c++", &["-Wall", "-Werror", "-x", "c++"][..]),
        ] {
            let file = if compiler == "cc" { "c" } else { "h" };
            run(Command::new(compiler)
                .args(options)
                .args(["-fsyntax-only", "-I"])
                .arg(root().join("capi/include"))
                .arg(folder.join(format!("{name}.{file}"))));
        }
        count += 1;
    }
    assert!(count > 10);
}

const PROGRAM: &str = "#version 2.0
const int parts = 2;
input real[3] weights (\"three of them\") = {1, 2, 3};
input tensor[2,2] turn = [[0,-1],[1,0]];
input int most = 4;
input bool loud = false;
input string word = \"quiet\";
input image(1)[] img;
field#1(1)[] F = ctmr ⊛ img;
strand s (int i) {
    output vec2 at = [real(i), 0];
    output real v = 0;
    output int[] seen = {};
    int n = 0;
    update {
        at = turn • at * weights[n % parts];
        v = F(3.0 + 0.5*i);
        seen = seen @ n;
        n += 1;
        if (n == most) { if (loud) { print(word, \" \"); } stabilize; }
    }
}
create_array { s(i) | i in 0..4 }
";

const CLIENT: &str = "#include \"turns.h\"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(c) do { if (!(c)) { fprintf(stderr, \"line %d: %s\\n\", __LINE__, #c); exit(1); } } while (0)
static bool take(void *data, char *text) { strcat((char *)data, text); return false; }
int main(void) {
    turns_world_t *w = turns_new_world();
    char printed[100] = \"\";
    CHECK(w && turns_input_set_loud(w, true) && turns_create_strands(w) && turns_any_errors(w));
    char *errors = turns_get_errors(w);
    CHECK(strcmp(errors, \"the world was not initialized\") == 0);
    free(errors);
    CHECK(!turns_init_world(w) && !turns_input_set_loud(w, false));
    CHECK(turns_run(w, 1) == 0 && turns_num_strands(w) == 0 && turns_any_errors(w));
    errors = turns_get_errors(w);
    CHECK(strcmp(errors, \"the strands were not created\") == 0);
    free(errors);
    CHECK(!turns_set_printer_cb(w, take, printed) && !turns_set_num_workers(w, 2) && turns_get_num_workers(w) == 2);
    double weights[3], turn[4] = {1, 0, 0, 1};
    turns_input_get_weights(w, weights);
    CHECK(weights[1] == 2 && strcmp(turns_input_desc_weights, \"three of them\") == 0);
    CHECK(turns_create_strands(w) && turns_any_errors(w));
    errors = turns_get_errors(w);
    CHECK(strstr(errors, \"`img`\") && !turns_any_errors(w));
    free(errors);
    float samples[10];
    for (int n = 0; n < 10; n++) samples[n] = 10.0f*n;
    diderot_array array = {.data = samples, .type = DIDEROT_FLOAT, .axes = 1, .sizes = {10}};
    CHECK(!turns_input_set_turn(w, turn) && !turns_input_set_most(w, 3) && !turns_input_set_loud(w, true));
    CHECK(!turns_input_set_word(w, \"loud\") && !turns_input_set_array_img(w, &array));
    CHECK(!turns_create_strands(w) && turns_num_strands(w) == 5 && turns_num_active_strands(w) == 5);
    CHECK(turns_run(w, 1) == 1 && turns_run(w, 0) == 2 && turns_num_stable_strands(w) == 5 && !turns_any_errors(w));
    CHECK(strcmp(printed, \"loud loud loud loud loud \") == 0);
    CHECK(!turns_output_array_at(w, &array) && array.type == DIDEROT_DOUBLE && array.sizes[0] == 5);
    CHECK(((const double *)array.data)[2*4] == 24);
    CHECK(!turns_output_array_v(w, &array) && fabs(((const double *)array.data)[3] - 45) < 1e-9);
    CHECK(!turns_output_array_seen(w, &array) && array.lengths[2] == 3);
    turns_shutdown(w);
    return 0;
}
";

#[test]
fn a_client_of_the_original_runs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("turns");
    fs::create_dir_all(&folder).expect("a folder for tests");
    fs::write(folder.join("turns.diderot"), PROGRAM).expect("a file");
    fs::write(folder.join("client.c"), CLIENT).expect("a file");
    build(
        &folder.join("turns.diderot"),
        "turns",
        &folder,
        &["--double", "--Cparts=3"],
    );
    let described = fs::read_to_string(folder.join("turns.json")).expect("a description");
    assert!(described.contains("\"three of them\"") && described.contains("\"seen\""));
    run_client(&folder, "turns", &[]);
}

/// Compiles a client beside the functions of a program, with the sanitizers of the C compiler, and runs it.
fn run_client(folder: &Path, program: &str, options: &[&str]) {
    let library = libraries();
    run(Command::new("cc")
        .args(STRICT)
        .args(["-fsanitize=address,undefined", "-I"])
        .arg(root().join("capi/include"))
        .args([folder.join("client.c"), folder.join(format!("{program}.c"))])
        .arg("-L")
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .args(["-ldiderot_c", "-lm", "-o"])
        .arg(folder.join("client"))
        .args(options));
    run(&mut Command::new(folder.join("client")));
}

const ON_ARRAYS: &str = "#version 2.0
input image(2)[2] img;
input real[] xs;
field#1(2)[2] F = ctmr ⊛ img;
strand s (int i, real x) {
    output vec2 v = [0, 0];
    output real[] path = {};
    int n = 0;
    update {
        v = F([x, 3]);
        path = path @ (x + n);
        n += 1;
        if (n == i + 1) stabilize;
    }
}
create_collection { s(i, xs[i]) | i in 0..length(xs)-1 }
";

const TEEM_CLIENT: &str = "#include \"arrays.h\"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(c) do { if (!(c)) { fprintf(stderr, \"line %d: %s\\n\", __LINE__, #c); exit(1); } } while (0)
int main(void) {
    Nrrd *img = nrrdNew(), *xs = nrrdNew(), *v = nrrdNew(), *path = nrrdNew(), *lengths = nrrdNew(), *none = nrrdNew();
    CHECK(!nrrdAlloc_va(img, nrrdTypeDouble, 3, (size_t)2, (size_t)9, (size_t)8));
    for (int n = 0; n < 72; n++) {
        /* On a grid with steps of 2 and 1 that begins at 1: the position, and twice it. */
        ((double *)img->data)[2*n] = 1 + 2*(n % 9);
        ((double *)img->data)[2*n + 1] = 2*(n / 9);
    }
    double origin[NRRD_SPACE_DIM_MAX] = {1, 0}, none_[NRRD_SPACE_DIM_MAX] = {AIR_NAN, AIR_NAN}, x[NRRD_SPACE_DIM_MAX] = {2, 0},
           y[NRRD_SPACE_DIM_MAX] = {0, 1};
    nrrdSpaceDimensionSet(img, 2);
    nrrdSpaceOriginSet(img, origin);
    nrrdAxisInfoSet_va(img, nrrdAxisInfoSpaceDirection, none_, x, y);
    nrrdAxisInfoSet_va(img, nrrdAxisInfoKind, nrrdKind2Vector, nrrdKindSpace, nrrdKindSpace);
    CHECK(!nrrdAlloc_va(xs, nrrdTypeFloat, 1, (size_t)3));
    for (int n = 0; n < 3; n++) ((float *)xs->data)[n] = 4.0f + 1.5f*n;
    arrays_world_t *w = arrays_new_world();
    CHECK(w && !arrays_init_world(w));
    /* What Teem refuses is told in its words. */
    CHECK(arrays_input_set_img(w, none));
    char *errors = arrays_get_errors(w);
    CHECK(errors && strstr(errors, \"nrrd\"));
    free(errors);
    CHECK(!arrays_input_set_img(w, img) && !arrays_input_set_xs(w, xs) && !arrays_create_strands(w));
    CHECK(arrays_run(w, 1) == 1 && !arrays_snapshot_v(w, v) && v->dim == 2 && v->axis[0].size == 2 && v->axis[1].size == 3);
    CHECK(arrays_run(w, 0) == 2 && !arrays_output_get_v(w, v) && !arrays_output_get_path(w, lengths, path));
    for (int n = 0; n < 3; n++) {
        CHECK(fabs(((double *)v->data)[2*n] - (4 + 1.5*n)) < 1e-12 && fabs(((double *)v->data)[2*n + 1] - 6) < 1e-12);
        CHECK(((int *)lengths->data)[2*n] == n*(n + 1)/2 && ((int *)lengths->data)[2*n + 1] == n + 1);
    }
    CHECK(path->dim == 1 && path->axis[0].size == 6 && ((double *)path->data)[5] == 9);
    arrays_shutdown(w);
    nrrdNuke(img); nrrdNuke(xs); nrrdNuke(v); nrrdNuke(path); nrrdNuke(lengths); nrrdNuke(none);
    return 0;
}
";

#[test]
#[ignore = "needs the headers of Teem (Debian: libteem-dev); `cargo test --workspace --test programs -- --ignored`"]
fn a_client_of_the_original_runs_with_arrays_of_teem() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arrays");
    fs::create_dir_all(&folder).expect("a folder for tests");
    fs::write(folder.join("arrays.diderot"), ON_ARRAYS).expect("a file");
    fs::write(folder.join("client.c"), TEEM_CLIENT).expect("a file");
    build(
        &folder.join("arrays.diderot"),
        "arrays",
        &folder,
        &["--double"],
    );
    run_client(&folder, "arrays", &["-DDIDEROT_TEEM", "-lteem"]);
}
