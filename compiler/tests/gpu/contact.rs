//! A run on the machine warns about images that all strands miss, as a run on the CPU does.

use crate::{compiled, machine::Interpreter, stages::Case};
use compiler::{
    codegen::Target,
    front::source::Source,
    pipeline::Options,
    run::{ImageSource, Images, Inputs, Run},
};
use runtime::image::{ImageArray, Orientation};
use std::sync::Arc;

/// The warnings of a run on a machine or on the CPU: strands along a row of an image, from a position on.
fn warnings(guard: &str, at: f64, target: Target) -> Vec<String> {
    let text = format!(
        "#version 2.0
input image(2)[] img;
input real at = 0;
field#1(2)[] F = bspln3 ⊛ img;
strand s (int i) {{
    output real x = 0;
    update {{ vec2 p = [at + 0.75*i, 3]; {guard} x = F(p); stabilize; }}
}}
create_array {{ s(i) | i in 0..9 }}"
    );
    let case = Case::new(Source::new("met.diderot", &text));
    let samples = ndarray::ArrayD::from_shape_fn(vec![12, 12], |at| (at[0] * at[1]) as f32);
    let image = ImageSource::Array(ImageArray::new(samples, Orientation::identity(2)));
    let options = Options {
        target,
        ..Options::default()
    };
    let mut program = compiled(&case, &options);
    if target != Target::Cpu {
        program.machines = vec![Arc::new(Interpreter::default())];
    }
    let mut inputs = Inputs::of(&program);
    inputs.set_source(0, image);
    inputs.set("at", at).expect("a number");
    let images = Images::load(&program, &inputs).expect("the image");
    let mut run = Run::with_images(&program, &inputs, &images, &1.into()).expect("a run");
    run.run(None, &mut std::io::sink(), &mut [])
        .expect("a run to its end");
    run.missed()
}

#[test]
fn an_image_that_is_missed_is_told_as_on_the_cpu() {
    for guard in ["", "if (inside(p, F))"] {
        // Between the last samples and the last positions with all taps, and beyond.
        for (at, is_met) in [
            (2.0, true),
            (10.5, true),
            (-1.5, true),
            (11.5, false),
            (-90.0, false),
        ] {
            let is_met = is_met && (guard.is_empty() || at != 10.5);
            let told = [Target::Cpu, Target::CudaOnly].map(|target| warnings(guard, at, target));
            assert_eq!(told[0].is_empty(), is_met, "{guard} {at}: {told:?}");
            assert_eq!(told[0], told[1], "{guard} {at}");
            let positions = format!("[{at}, {}] × [3, 3]", at + 0.75 * 9.0);
            let found = told[0].iter().all(|told| told.ends_with(&positions));
            assert!(found, "{guard} {at}: {told:?}");
        }
    }
}
