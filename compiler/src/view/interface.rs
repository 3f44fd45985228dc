//! The description of a program for pages: inputs with their controls, outputs, and what the mouse moves.

use super::{
    chosen_frames::FrameInputs,
    controls::{Control, Subject, control},
    frame::{self, Shown},
    values,
};
use crate::{
    codegen::Compiled,
    front::{source::Source, tree::InputDefault},
    ir::interface::{Input, InputTarget},
    run::{
        Images, Inputs, Run,
        camera::{self, Part},
        input_type, outputs,
    },
};
use ein_ir::Type;
use runtime::{
    input::InputType,
    output::{Output, format::FileFormat},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, path::Path};

/// The message about a program.
pub(super) fn message(
    source: &Source,
    program: &Compiled,
    images: &Images,
    (inputs, frames): (&Inputs, &FrameInputs),
    run: &Run,
    evolves: bool,
) -> Value {
    let interface = &program.interface;
    let modules: BTreeMap<_, _> = source.imported_inputs().into_iter().collect();
    let image_range = only_image(program).and_then(|image| images.usual_range(image));
    let described = interface.inputs.iter().map(|input| {
        let value = value(program, input, inputs, run);
        let default = match &input.default {
            Some(InputDefault::Value(constant)) => {
                values::of_constant(constant, program.lanes.double)
            }
            _ => Value::Null,
        };
        let is_computed = matches!(input.default, Some(InputDefault::Computed(_)));
        let (control, description) = control(&Subject {
            name: &input.name,
            ty: &input_type(&input.ty),
            description: input.description.as_deref().unwrap_or_default(),
            default: &numbers(if is_computed { &value } else { &default }),
            image_range,
        });
        let (control, value) = match frames.count(&input.name) {
            Some(count) => {
                let frame = frames.frame(&input.name, &Map::new());
                (Control::frames(count), json!(frame))
            }
            None => (control, value),
        };
        let module = modules.get(&input.name).map(|path| module_name(path));
        json!({
            "name": input.name,
            "type": input_type(&input.ty).to_string(),
            "description": description,
            "module": module,
            "value": value,
            "default": default,
            "computed": is_computed,
            "control": control.to_page(),
        })
    });
    let described: Vec<Value> = described.collect();
    let has = |name: &str, part: Part| {
        let mut inputs = interface.inputs.iter();
        inputs.any(|input| input.name == name && is_part(&input_type(&input.ty), part))
    };
    let camera = camera::camera(&has).map(|camera| {
        json!({
            "eye": camera.eye,
            "look": camera.look,
            "up": camera.up,
            "fov": camera.fov,
            "ortho": camera.ortho,
        })
    });
    let window = camera::window(&has).filter(|_| camera.is_none());
    let plane = window
        .map(|window| json!({ "center": window.center, "height": window.size, "up": window.up }));
    let all = outputs(interface);
    let shown = shown(program);
    let listed = all.iter().zip(&shown);
    let listed: Vec<Value> = listed.map(|(o, &s)| frame::of_output(o, s)).collect();
    json!({
        "program": source.path.file_name().map(|name| name.to_string_lossy()),
        "evolves": evolves,
        "inputs": described,
        "outputs": listed,
        "camera": camera,
        "plane": plane,
        "formats": formats(run, program),
    })
}

/// How the outputs of a program are shown.
pub(super) fn shown(program: &Compiled) -> Vec<Shown> {
    let interface = &program.interface;
    let axes = interface.grid.then_some(interface.axes.len());
    frame::shown(&outputs(interface), axes)
}

/// The values of all inputs in a run, by name.
pub(super) fn all_values(program: &Compiled, inputs: &Inputs, run: &Run) -> Map<String, Value> {
    let all = program.interface.inputs.iter();
    let named = |input: &Input| (input.name.clone(), value(program, input, inputs, run));
    all.map(named).collect()
}

/// The value of an input in a run: as it was set, as the program computes it, or the name of its file.
fn value(program: &Compiled, input: &Input, inputs: &Inputs, run: &Run) -> Value {
    if let Some(value) = inputs.value(&input.name) {
        return values::to_page(value);
    }
    match input.target {
        InputTarget::Global(_) => match (run.input(&input.name), &input.default) {
            (Some(constant), _) => values::of_constant(&constant, program.lanes.double),
            (None, Some(InputDefault::File(file))) => json!(file),
            (None, _) => Value::Null,
        },
        InputTarget::Image(_) | InputTarget::Mesh(_) | InputTarget::Fem(_) => {
            let file = inputs.file(&input.name);
            file.map_or(json!("(memory)"), |file| json!(file.to_string()))
        }
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_f64).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// The number of the one scalar image that a program takes from outside.
fn only_image(program: &Compiled) -> Option<usize> {
    let inputs = program.interface.inputs.iter();
    let mut images = inputs.filter_map(|input| match (&input.ty, input.target) {
        (Type::Image { shape, .. }, InputTarget::Image(n)) if shape.is_scalar() => Some(n as usize),
        _ => None,
    });
    images.next().filter(|_| images.next().is_none())
}

fn is_part(ty: &InputType, part: Part) -> bool {
    match (ty, part) {
        (InputType::Real, Part::Real) | (InputType::Bool, Part::Truth) => true,
        (InputType::Tensor(shape), Part::Vector(n)) => shape[..] == [n],
        _ => false,
    }
}

/// A module as imports name it.
fn module_name(path: &Path) -> String {
    let name = path.with_extension("");
    name.display().to_string()
}

/// The formats of files that suit each output.
fn formats(run: &Run, program: &Compiled) -> Value {
    let all = outputs(&program.interface);
    let of_output = |output: &Output| {
        let formats = FileFormat::all().filter(|format| in_memory(*format, output, run));
        formats.map(FileFormat::suffix).collect::<Vec<_>>()
    };
    let named = all
        .iter()
        .map(|output| (output.name.clone(), json!(of_output(output))));
    Value::Object(named.collect())
}

/// Whether a file of a format can be made of an output in memory.
fn in_memory(format: FileFormat, output: &Output, run: &Run) -> bool {
    !format.is_film() && !format.is_pair(output) && format.suits(&[output], &run.domain())
}
