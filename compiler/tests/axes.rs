//! Images along the axes of the world and others: the code that is generated for them has the results of the code for all images.

use compiler::{
    codegen,
    front::source::Source,
    low::{self, Zeros},
    pipeline::{self, Compiled, Options, Session},
    run::{Inputs, Run},
};
use ndarray::{ArrayD, IxDyn};
use runtime::image::{ImageArray, Orientation};

const PROGRAM: &str = "#version 2.0
input image(3)[] vol;
field#3(3)[] F = bspln5 ⊛ vol;
strand s (int i) {
    vec3 x = [0.3 + 0.11*i, 0.9 - 0.07*i, 0.5 + 0.05*i];
    output real v = 0;
    output vec3 g = [0, 0, 0];
    output tensor[3,3] h = zeros[3,3];
    output tensor[3,3,3] t = zeros[3,3,3];
    update {
        v = F(x);
        g = ∇F(x);
        h = ∇⊗∇F(x);
        t = ∇⊗∇⊗∇F(x);
        stabilize;
    }
}
create_array { s(i) | i in 0..19 }
";

fn options(double: bool) -> Options {
    Options {
        double,
        ..Options::default()
    }
}

fn usual(double: bool) -> Compiled {
    let source = Source::new("p.diderot", PROGRAM);
    let program = pipeline::compile(&mut Session::default(), &source, &options(double));
    program.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// The program with code that takes nothing for granted.
fn general(double: bool) -> Compiled {
    let source = Source::new("p.diderot", PROGRAM);
    let options = options(double);
    let lowered = pipeline::lower(&mut Session::default(), &source, &options);
    let program = lowered.expect("a correct program").hoisted;
    let (lanes, isa) = (options.lanes(), options.isa());
    let fitted = low::fit(&program, Zeros::default());
    codegen::generate(program, fitted, lanes, isa, Vec::new())
}

/// What a program gives of a volume with these axes.
fn outputs(program: &Compiled, directions: [[f64; 3]; 3]) -> Vec<Vec<f64>> {
    let samples = (0..1000).map(|n| f64::from(n * n % 97) - 40.0).collect();
    let samples = ArrayD::from_shape_vec(IxDyn(&[10, 10, 10]), samples).expect("as many");
    let directions = directions.map(|direction| direction.to_vec());
    let orientation = Orientation::new(&directions, &[-0.2, 0.1, -0.3]).expect("a grid");
    let mut inputs = Inputs::of(program);
    inputs
        .set_image("vol", ImageArray::new(samples, orientation))
        .expect("an image");
    let mut running = Run::new(program, &inputs, 1).expect("strands");
    running
        .run(None, &mut std::io::sink(), &mut [])
        .expect("no error");
    let outputs = running.outputs().expect("strands");
    outputs.iter().map(|output| output.numbers()).collect()
}

#[test]
fn all_images_get_the_code_that_is_right_for_them() {
    let along = [[0.2, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, -0.25]];
    let exchanged = [[0.0, 0.2, 0.0], [0.3, 0.0, 0.0], [0.0, 0.0, 0.25]];
    let sheared = [[0.2, 0.0, 0.0], [0.05, 0.3, 0.0], [0.0, 0.0, 0.25]];
    let turned = [[0.2, 0.1, 0.05], [-0.1, 0.2, 0.1], [0.02, -0.1, 0.25]];
    for double in [false, true] {
        let (usual, general) = (usual(double), general(double));
        // One after the other, and the first ones again: no program keeps the code of another image.
        for directions in [along, turned, exchanged, along, sheared, turned] {
            let found = outputs(&usual, directions);
            assert!(found[3].iter().any(|t| t.abs() > 1.0), "nothing to compare");
            assert_eq!(found, outputs(&general, directions), "{directions:?}");
        }
    }
}
