//! `diderotc info`: what files are, as a program sees them: images and meshes with their place and values, and programs with their
//! interface.

mod mesh;

use super::{
    FAILURE, SUCCESS, args::InfoWords, complain, read_source, report, say, words::is_program,
};
use crate::{
    codegen::gpu::Cuda,
    front::tree::{Constant, InputDefault},
    ir::interface::Interface,
    pipeline::{self, Options, Session, Stopped},
    run,
};
use mesh::MeshInfo;
use runtime::{
    fem::holds_mesh,
    file_name::escaped,
    image::{Description, Statistics, describe, statistics},
    memory,
    output::Length,
    print::short,
    text::visible,
};
use serde_json::{Value, json};
use std::path::Path;

/// Describes files, each on some lines, or as one JSON object on a line.
pub(super) fn info(words: &InfoWords, options: &Options) -> u8 {
    let mut status = SUCCESS;
    if let Some(bytes) = words.memory {
        memory::set_limit(bytes);
    }
    if words.devices {
        status = devices();
    }
    for file in &words.files {
        let told = if is_program(file.as_os_str()) {
            program(file, words.json, options)
        } else if holds_mesh(file) {
            mesh_file(file, words.json)
        } else {
            image_file(file, words)
        };
        match told {
            // JSON has escapes of its own.
            Some(text) if words.json => say(&text),
            Some(text) => say(&visible(&text)),
            None => status = FAILURE,
        }
    }
    status
}

/// Lists the GPUs.
fn devices() -> u8 {
    match Cuda::devices() {
        Ok(devices) => {
            for (n, device) in devices.iter().enumerate() {
                say(&format!("{n}: {device}\n"));
            }
            if devices.is_empty() {
                say("the NVIDIA driver knows of no GPU\n");
            }
            SUCCESS
        }
        Err(error) => {
            complain(&format!("error: {error}\n"));
            FAILURE
        }
    }
}

/// The interface of a program.
fn program(path: &Path, json: bool, options: &Options) -> Option<String> {
    let source = read_source(path)?;
    let file = &escaped(path.as_os_str());
    let compiled = match pipeline::compile(&mut Session::default(), &source, options) {
        Ok(compiled) => compiled,
        Err(Stopped::Errors(diagnostics)) => {
            report(&source, diagnostics);
            return None;
        }
        Err(Stopped::Asked) => unreachable!("this session asks for every stage"),
    };
    let interface = &compiled.interface;
    if json {
        let file = path.to_string_lossy();
        return Some(format!("{}\n", interface_json(&file, interface)));
    }
    let mut text = format!("{file}: a program of strands `{}`\n", interface.strand);
    for input in &interface.inputs {
        let default = match default_text(input.default.as_ref()) {
            Some(default) => format!(" = {default}"),
            None => ", required".to_string(),
        };
        let about = input
            .description
            .as_ref()
            .map_or(String::new(), |about| format!("  ({about})"));
        text += &format!("  input      {} {}{default}{about}\n", input.ty, input.name);
    }
    for output in run::outputs(interface) {
        text += &format!(
            "  output     {} {}\n",
            run::output_type(&output),
            output.name
        );
    }
    for file in images(interface).chain(meshes(interface)) {
        text += &format!("  loads      {file}\n");
    }
    let strands = match interface.grid {
        true => format!("a grid: {}", interface.axes.join(", ")),
        false => "a collection".to_string(),
    };
    Some(text + &format!("  strands    {strands}\n"))
}

/// The files of images that a program names itself.
fn images(interface: &Interface) -> impl Iterator<Item = &String> {
    interface.images.iter().flat_map(|image| &image.file)
}

/// The same of meshes.
fn meshes(interface: &Interface) -> impl Iterator<Item = &String> {
    interface.meshes.iter().flat_map(|mesh| &mesh.file)
}

pub(super) fn interface_json(file: &str, interface: &Interface) -> Value {
    let inputs = interface.inputs.iter().map(|input| {
        json!({
            "name": input.name,
            "type": input.ty.to_string(),
            "description": input.description,
            "default": default_text(input.default.as_ref()),
            "required": input.default.is_none(),
        })
    });
    let outputs = run::outputs(interface).into_iter().map(|output| {
        json!({
            "name": output.name,
            "type": run::output_type(&output),
            "varying": output.length == Length::Dynamic,
        })
    });
    json!({
        "program": file,
        "strand": interface.strand,
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "images": images(interface).collect::<Vec<_>>(),
        "meshes": meshes(interface).collect::<Vec<_>>(),
        "grid": interface.grid,
        "axes": interface.axes,
    })
}

fn default_text(default: Option<&InputDefault>) -> Option<String> {
    fn text(constant: &Constant) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match constant {
            Constant::Bool(b) => b.to_string(),
            Constant::Int(n) => n.to_string(),
            Constant::String(s) => format!("{s:?}"),
            Constant::Tensor(shape, values) if shape.is_scalar() => {
                list(values.iter().map(f64::to_string).collect())
            }
            Constant::Tensor(_, values) => {
                format!("[{}]", list(values.iter().map(f64::to_string).collect()))
            }
            Constant::Seq(elements) => format!("{{{}}}", list(elements.iter().map(text).collect())),
        }
    }
    default.map(|default| match default {
        InputDefault::Value(constant) => text(constant),
        InputDefault::File(file) => format!("{file:?}"),
        InputDefault::Computed(_) => default.computed_text(),
    })
}

/// What a file of samples is, or a message about why nothing can be said.
fn image_file(path: &Path, words: &InfoWords) -> Option<String> {
    let read = describe(path).and_then(|description| {
        let values = (!words.header).then(|| statistics(path)).transpose()?;
        Ok((description, values))
    });
    match read {
        Ok((description, values)) if words.json => Some(format!(
            "{}\n",
            image_json(path, &description, values.as_ref())
        )),
        Ok((description, values)) => Some(image_lines(path, &description, values.as_ref())),
        // Each part of a file with several; all of thousands would bury the first.
        Err(error) if !error.choices().is_empty() => {
            // The file is searched once for each of them, so fewer are shown of very many.
            const MOST: usize = 40;
            const MANY: usize = 500;
            const MOST_OF_MANY: usize = 8;
            let choices = error.choices();
            let shown = match choices.len() {
                all if words.json => all,
                MANY.. => MOST_OF_MANY,
                _ => MOST,
            };
            let parts = choices.iter().take(shown).map(|choice| {
                let mut part = path.as_os_str().to_os_string();
                part.push(format!("#{choice}"));
                image_file(Path::new(&part), words)
            });
            let mut parts: Vec<String> = parts.flatten().collect();
            if choices.len() > shown {
                let (file, more) = (escaped(path.as_os_str()), choices.len() - shown);
                parts.push(format!("{file}: {more} more parts; `FILE#PART` is one of them, and `--json` describes all\n"));
            }
            (!parts.is_empty()).then(|| parts.concat())
        }
        Err(error) => {
            complain(&format!("error: {error}\n"));
            None
        }
    }
}

/// The same of a file with values on a mesh.
fn mesh_file(path: &Path, json: bool) -> Option<String> {
    match MeshInfo::read(path) {
        Ok(mesh) if json => Some(format!("{}\n", mesh.json(path))),
        Ok(mesh) => Some(mesh.lines(path)),
        Err(error) => {
            complain(&format!("error: {error}\n"));
            None
        }
    }
}

/// What a run with `-v` says of the file of an image or a mesh; nothing if it cannot be read again.
pub(super) fn of_file(path: &Path) -> String {
    if holds_mesh(path) {
        return MeshInfo::read(path).map_or(String::new(), |mesh| mesh.lines(path));
    }
    match (describe(path), statistics(path)) {
        (Ok(description), Ok(values)) => image_lines(path, &description, Some(&values)),
        _ => String::new(),
    }
}

fn image_lines(path: &Path, description: &Description, values: Option<&Statistics>) -> String {
    let Description {
        format,
        compression,
        header,
        image,
        notes,
    } = description;
    let compression = compression.map_or(String::new(), |name| format!(", {name}"));
    let file = escaped(path.as_os_str());
    let mut text = format!("{file}: {format}{compression}, {}\n", header.sample_type);
    if let Some(declare) = description.declare(&identifier(path)) {
        text += &format!("  declare    {declare}\n");
    }
    match image {
        Some(image) => {
            let sizes = joined(image.sizes.iter(), " × ");
            let steps = joined(image.steps.iter().copied().map(short), " × ");
            let unit = image
                .unit
                .as_ref()
                .map_or(String::new(), |unit| format!(" {unit}"));
            text += &format!("  samples    {sizes}, steps {steps}{unit}\n");
            if let Some(time) = &image.time {
                text += &format!("  frames     {}, {time}\n", image.frames);
            }
            let extents = image.world_box();
            let extents = extents
                .iter()
                .map(|(low, high)| format!("[{}, {}]", short(*low), short(*high)));
            let space = image
                .space
                .as_ref()
                .map_or(String::new(), |space| format!("  ({space})"));
            text += &format!("  world      {}{space}\n", joined(extents, " × "));
        }
        None => text += &format!("  samples    {}\n", joined(header.sizes().iter(), " × ")),
    }
    if let Some(values) = values {
        text += &format!(
            "  values     {}\n  histogram  {}\n",
            spread(values),
            bars(&values.histogram)
        );
    }
    for note in notes {
        text += &format!("  note       {}\n", note.text);
    }
    text
}

fn image_json(path: &Path, description: &Description, values: Option<&Statistics>) -> Value {
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let image = description.image.as_ref().map(|image| {
        json!({
            "declare": description.declare(&identifier(path)),
            "sizes": image.sizes,
            "shape": image.shape,
            "steps": image.steps,
            "frames": image.frames,
            "times": image.time.as_ref().map(|time| [time.start(), time.end(image.frames)]),
            "unit": image.unit,
            "space": image.space,
            "world": image.world_box(),
        })
    });
    let values = values.map(|values| {
        json!({
            "count": values.count,
            "nan": values.nan,
            "infinite": values.infinite,
            "min": finite(values.min),
            "max": finite(values.max),
            "mean": finite(values.mean),
            "percentiles": [finite(values.percentiles.0), finite(values.percentiles.1)],
            "histogram": values.histogram,
        })
    });
    json!({
        "file": path.to_string_lossy(),
        "format": description.format,
        "compression": description.compression,
        "type": description.header.sample_type.to_string(),
        "sizes": description.header.sizes(),
        "image": image,
        "values": values,
        "notes": description.notes.iter().map(|note| &note.text).collect::<Vec<_>>(),
    })
}

fn spread(values: &Statistics) -> String {
    let strange = match (values.nan, values.infinite) {
        (0, 0) => "no NaN".to_string(),
        (nan, 0) => format!("{nan} NaN"),
        (nan, infinite) => format!("{nan} NaN, {infinite} infinite"),
    };
    if values.min.is_nan() {
        return strange;
    }
    let [min, max, mean, low, high] = [
        values.min,
        values.max,
        values.mean,
        values.percentiles.0,
        values.percentiles.1,
    ]
    .map(short);
    format!("{min} … {max}, mean {mean}, 1 %–99 % {low} … {high}, {strange}")
}

/// Bars of eight heights, the highest for the fullest part.
fn bars(counts: &[u64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |&n: &u64| HEIGHTS[(n as f64 / most as f64 * 7.0).ceil() as usize];
    counts.iter().map(height).collect()
}

fn joined(items: impl Iterator<Item = impl ToString>, between: &str) -> String {
    items
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(between)
}

/// A name for an image, from that of its file.
fn identifier(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let letters: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    match letters.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => letters,
        _ => format!("image{letters}"),
    }
}
