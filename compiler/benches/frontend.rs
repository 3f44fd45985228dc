//! How fast the front end is: a generated program of about a megabyte, through the parser, and through the checker and elaboration too;
//! and a hundred definitions by index, which should take less than 10 ms.

use compiler::front::{CheckOptions, check, source::Source, syntax};
use divan::{Bencher, black_box, counter::BytesCount};

fn main() {
    divan::main();
}

/// A 2.0 program of at least this many bytes: functions of the kind that programs have, and one strand.
fn program(bytes: usize) -> Source {
    let mut text =
        String::from("#version 2.0\nfield#2(3)[] F = bspln3 ⊛ load_image(\"f.nrrd\");\n");
    let mut count = 0;
    while text.len() < bytes {
        text.push_str(&format!(
            "function real f{count} (vec3 p, real t) {{\n\
             \x20   // The curvature of a level set, and a blend.\n\
             \x20   vec3 g = ∇F(p);\n\
             \x20   tensor[3,3] h = ∇⊗∇F(p);\n\
             \x20   vec3 n = -g/|g|;\n\
             \x20   tensor[3,3] s = (identity[3] - n⊗n)•h•(identity[3] - n⊗n)/|g|;\n\
             \x20   real k = sqrt(2.0*(s : s) - trace(s)^2) if t > 0.5 && |n| != 0 else 1.0e-3;\n\
             \x20   foreach (int i in 0..{count} % 7) {{\n\
             \x20       k += max {{ |v|*t | v in {{g, n, [1, i, 0]}} }};\n\
             \x20   }}\n\
             \x20   if (k < 0) return lerp(0, 1, -1, k, 1); else return k*t;\n\
             }}\n"
        ));
        count += 1;
    }
    text.push_str(
        "strand S (int i) { output real r = 0; update { r = f0([0, 0, i], 1); stabilize; } }\n",
    );
    text.push_str("create_array { S(i) | i in 0..9 }\n");
    Source::new("generated.diderot", text)
}

#[divan::bench]
fn lex_and_parse_a_megabyte(bencher: Bencher<'_, '_>) {
    let source = program(1 << 20);
    let (_, diagnostics) = syntax::parse(&source);
    assert!(diagnostics.is_empty());
    bencher
        .counter(BytesCount::of_str(&source.text))
        .bench_local(|| syntax::parse(black_box(&source)));
}

#[divan::bench]
fn parse_and_check_a_megabyte(bencher: Bencher<'_, '_>) {
    let source = program(1 << 20);
    let check = || check(black_box(&source), &CheckOptions::default());
    assert!(check().program.is_some());
    bencher
        .counter(BytesCount::of_str(&source.text))
        .bench_local(check);
}

/// A hundred definitions by index: of tensors, and of fields.
fn definitions() -> Source {
    let mut text = String::from(
        "#version 2.0\ninput mat3 A = identity[3];\ninput mat3 B = identity[3];\n\
         field#2(3)[3] V(x) = [x[0]*x[1], x[1]*x[2] + x[0], x[2]^2 - x[0]];\n",
    );
    for n in 0..50 {
        text += &format!(
            "mat3 M{n}[i,j] = sum[k](A[i,k]*B[k,j]) + δ[i,j]*{n}.0;\n\
             field#1(3)[3] F{n}[i] = sum[j,k](ε[i,j,k]*∂[j] V[k]);\n"
        );
    }
    text += "strand S (int n) { output real y = n; update { stabilize; } }\n\
             create_array { S(n) | n in 0..9 }\n";
    Source::new("definitions.diderot", text)
}

#[divan::bench]
fn check_a_hundred_definitions_by_index(bencher: Bencher<'_, '_>) {
    let source = definitions();
    let check = || check(black_box(&source), &CheckOptions::default());
    assert!(check().program.is_some());
    bencher.bench_local(check);
}
