//! Volumes whose samples stay in the type of the file: the outputs are those of the same numbers as `float`, in programs that probe in
//! place and by calls.

use crate::commands::{diderotc, directory, stderr, write};
use std::{fs, path::Path};

/// The types, with the bytes of a sample and the least number.
const TYPES: [(&str, usize, i64); 3] = [("uchar", 1, 0), ("ushort", 2, 0), ("short", 2, -32768)];

/// Samples along each axis; fewer along the last than a box has that lanes share.
const SIZES: [[usize; 3]; 2] = [[23, 19, 17], [9, 5, 2]];

/// Probes whose lanes are near each other, on both sides of the border, far apart, and only some of them active.
const PROBES: &str = "#version 2.0
input image(3)[] img;
field#0(3)[] T = img ⊛ tent;
field#0(3)[] M = mirror(img) ⊛ tent;
field#1(3)[] C = img ⊛ ctmr;
field#2(3)[] B = img ⊛ bspln3;
strand s (int i, int j) {
    output tensor[8] v = zeros[8];
    update {
        vec3 near = [0.13*i + 0.2, 0.37*j + 0.1, 0.05*(i + j)];
        vec3 apart = [fmod(7.7*i + 3.1*j, 22.0), fmod(5.3*i, 18.0), fmod(4.9*j + 1.3*i, 16.0)];
        real some = 0;
        if (fmod(1.0*i, 3.0) < 1.5) { some = T(near) + T(apart); }
        vec3 g = ∇B(apart);
        v = [T(near), T(apart), M(near), C(near), B(apart), g[0], g[2], some];
        stabilize;
    }
}
create_array { s(i, j) | i in 0..95, j in 0..47 }
";

/// Numbers of a type, the least and the greatest among them.
fn numbers(bytes: usize, low: i64, count: usize) -> Vec<i64> {
    let spread = 1_i64 << (8 * bytes);
    let number = |n: usize| match n % 5 {
        0 => low,
        1 => low + spread - 1,
        _ => low + (n as i64 * 40_503) % spread,
    };
    (0..count).map(number).collect()
}

fn small(numbers: &[i64], bytes: usize) -> Vec<u8> {
    let low = |n: &i64| n.to_le_bytes()[..bytes].to_vec();
    numbers.iter().flat_map(low).collect()
}

fn singles(numbers: &[i64], added: i64) -> Vec<u8> {
    let single = |n: &i64| ((n + added) as f32).to_le_bytes();
    numbers.iter().flat_map(single).collect()
}

/// Writes a raw NRRD file; its samples of two bytes are not aligned.
fn nrrd(dir: &Path, name: &str, ty: &str, [i, j, k]: [usize; 3], data: &[u8]) {
    let header = format!(
        "NRRD0004\ntype: {ty}\ndimension: 3\nsizes: {i} {j} {k}\nencoding: raw\nendian: little\n"
    );
    let comment = if header.len() % 2 == 1 { "#x\n" } else { "#\n" };
    let header = [header.as_bytes(), comment.as_bytes(), b"\n"].concat();
    fs::write(dir.join(name), [&header, data].concat()).expect("a file");
}

/// Writes a volume of shorts as NIfTI, with an intercept.
fn nifti(dir: &Path, name: &str, sizes: [usize; 3], intercept: f32, data: &[u8]) {
    let mut header = vec![0; 352];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &348_i32.to_le_bytes());
    let sizes = sizes.map(|size| size as i16);
    for (n, size) in [3].into_iter().chain(sizes).chain([1; 4]).enumerate() {
        put(40 + 2 * n, &size.to_le_bytes());
        put(76 + 4 * n, &1_f32.to_le_bytes());
    }
    put(70, &4_i16.to_le_bytes());
    put(72, &16_i16.to_le_bytes());
    put(108, &352_f32.to_le_bytes());
    put(112, &1_f32.to_le_bytes());
    put(116, &intercept.to_le_bytes());
    put(344, b"n+1\0");
    fs::write(dir.join(name), [&header[..], data].concat()).expect("a file");
}

/// The output of the program for a file.
fn probed(dir: &Path, file: &str, more: &[&str]) -> Vec<u8> {
    let words = [&["p.diderot", "-img", file, "-o", "out.nrrd"], more].concat();
    let output = diderotc(dir, &words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    fs::read(dir.join("out.nrrd")).expect("an output")
}

/// Compares a file with the same numbers as `float`, on all machines.
fn same(dir: &Path, file: &str, what: &str) {
    let wanted = probed(dir, "real.nrrd", &[]);
    for isa in ["none", "avx2", "avx512"] {
        for map in ["always", "never"] {
            let found = probed(dir, file, &["--isa", isa, "--map", map]);
            let real = probed(dir, "real.nrrd", &["--isa", isa]);
            assert!(found == real, "{what}: {isa}, {map}");
        }
    }
    assert!(probed(dir, file, &["--nworkers", "3"]) == wanted, "{what}");
}

#[test]
fn programs_with_small_samples_have_the_same_outputs() {
    let dir = directory("stored-same");
    write(&dir, "p.diderot", PROBES);
    for (ty, bytes, low) in TYPES {
        for sizes in SIZES {
            let numbers = numbers(bytes, low, sizes.iter().product());
            nrrd(&dir, "small.nrrd", ty, sizes, &small(&numbers, bytes));
            nrrd(&dir, "real.nrrd", "float", sizes, &singles(&numbers, 0));
            same(&dir, "small.nrrd", &format!("{ty}, {sizes:?}"));
        }
    }
}

#[test]
fn an_intercept_is_added_when_samples_are_loaded() {
    let dir = directory("stored-added");
    write(&dir, "p.diderot", PROBES);
    let sizes = SIZES[0];
    let numbers = numbers(2, -32768, sizes.iter().product());
    nifti(&dir, "scan.nii", sizes, -1024.0, &small(&numbers, 2));
    nrrd(&dir, "real.nrrd", "float", sizes, &singles(&numbers, -1024));
    same(&dir, "scan.nii", "short − 1024");
}
