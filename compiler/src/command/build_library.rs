//! `diderotc build --library`: a header and a source in C with functions of the original's names for one program, over libdiderot.
//!
//! Booleans that functions return are true on errors, as the original's. What takes and gives arrays of Teem stands under
//! `#ifdef DIDEROT_TEEM`; without it there are functions on files and on the arrays of libdiderot.

use super::{FAILURE, SUCCESS, complain, info::interface_json, read_source, report};
use crate::{
    front::tree::{Constant, InputDefault},
    ir::interface::{Input, InputTarget, Interface},
    pipeline::{self, Options, Session, Stopped},
    run::{self, input_type},
};
use runtime::{
    file_name::escaped,
    input::InputType,
    output::{Length, Output, replace_file},
};
use std::path::{Path, PathBuf};

/// Parts of the two files that are the same for all programs but for the namespace, which stands there as `@P@`.
const HEADER: &str = include_str!("build_library/program.h");
const SOURCE: &str = include_str!("build_library/program.c");

/// Writes `P.h`, `P.c` and `P.json` to a directory.
pub(super) fn build_library(
    path: &Path,
    namespace: Option<String>,
    output: Option<PathBuf>,
    options: &Options,
) -> u8 {
    let Some(source) = read_source(path) else {
        return FAILURE;
    };
    let compiled = match pipeline::compile(&mut Session::default(), &source, options) {
        Ok(compiled) => compiled,
        Err(Stopped::Errors(diagnostics)) => {
            report(&source, diagnostics);
            return FAILURE;
        }
        Err(Stopped::Asked) => unreachable!("this session asks for every stage"),
    };
    report(&source, compiled.warnings.to_vec());
    let stem = path.file_stem().unwrap_or_default();
    let namespace = namespace.unwrap_or_else(|| identifier(&stem.to_string_lossy()));
    if identifier(&namespace) != namespace {
        complain(&format!(
            "error: `{namespace}` cannot begin the names of C functions\n"
        ));
        return FAILURE;
    }
    let program = Library {
        interface: &compiled.interface,
        options,
    };
    let folder = output.unwrap_or_else(|| PathBuf::from("."));
    // The files may be distributed, so they do not contain the path of the program.
    let file = escaped(path.file_name().unwrap_or_default());
    let json = format!("{:#}\n", interface_json(&file, &compiled.interface));
    let files = [
        ("h", program.header()),
        ("c", program.source(&file, &source.text)),
        ("json", json),
    ];
    for (suffix, text) in files {
        let path = folder.join(format!("{namespace}.{suffix}"));
        let text = text.replace("@P@", &namespace);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            replace_file(&path, None, |out: &mut dyn std::io::Write| {
                out.write_all(text.as_bytes())
            })
        });
        if let Err(error) = written {
            complain(&format!("error: {}: {error}\n", escaped(path.as_os_str())));
            return FAILURE;
        }
    }
    SUCCESS
}

/// A name of C like a text.
fn identifier(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = text.chars().map(letter).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}

/// A text as C writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'\n' => quoted += "\\n\"\n    \"",
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(byte.into());
            }
            b' '..=b'~' => quoted.push(byte.into()),
            // Three digits end an escape, whatever follows.
            _ => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted + "\""
}

struct Library<'a> {
    interface: &'a Interface,
    options: &'a Options,
}

/// An input of numbers or truth values of fixed number.
struct Plain {
    /// The type of a component in C, and in the call that sets it.
    c: &'static str,
    setter: &'static str,
    wide: &'static str,
    /// How many there are; none for a single one.
    count: Option<usize>,
}

impl Library<'_> {
    fn real(&self) -> &'static str {
        if self.options.double {
            "double"
        } else {
            "float"
        }
    }

    /// How an input is set by value, if it can be.
    fn plain(&self, ty: &InputType) -> Option<Plain> {
        let int = if self.options.long_int {
            "int64_t"
        } else {
            "int32_t"
        };
        let plain = |c, setter, wide, count| {
            Some(Plain {
                c,
                setter,
                wide,
                count,
            })
        };
        match ty {
            InputType::Bool => plain("bool", "bool", "bool", None),
            InputType::Int => plain(int, "ints", "int64_t", None),
            InputType::Real => plain(self.real(), "reals", "double", None),
            InputType::Tensor(shape) => {
                plain(self.real(), "reals", "double", Some(shape.iter().product()))
            }
            InputType::Seq {
                elem,
                len: Some(len),
            } => {
                let inner = self.plain(elem).filter(|inner| inner.setter != "bool")?;
                let count = Some(len * inner.count.unwrap_or(1));
                Some(Plain { count, ..inner })
            }
            _ => None,
        }
    }

    fn outputs(&self) -> Vec<Output> {
        run::outputs(self.interface)
    }

    fn header(&self) -> String {
        let mut text = String::new();
        for input in &self.interface.inputs {
            let (name, ty) = (&input.name, input_type(&input.ty));
            text += &format!("\n/* input {} {name} */\n", input.ty);
            text += &format!("extern const char *const @P@_input_desc_{name};\n");
            if let Some(plain) = self.plain(&ty) {
                let (set, get) = plain.parameters();
                text += &format!("bool @P@_input_set_{name}(@P@_world_t *wrld, {set});\n");
                text += &format!("void @P@_input_get_{name}(const @P@_world_t *wrld, {get});\n");
            } else if ty == InputType::String {
                text += &format!("bool @P@_input_set_{name}(@P@_world_t *wrld, const char *v);\n");
            } else {
                text += &format!(
                    "bool @P@_input_set_by_name_{name}(@P@_world_t *wrld, const char *file);\n\
                     #ifdef DIDEROT_TEEM\nbool @P@_input_set_{name}(@P@_world_t *wrld, Nrrd *nin);\n#endif\n"
                );
                if matches!(input.target, InputTarget::Image(_)) {
                    text += &format!(
                        "bool @P@_input_set_array_{name}(@P@_world_t *wrld, const diderot_array *array);\n"
                    );
                }
            }
        }
        for output in self.outputs() {
            let name = &output.name;
            text += &format!(
                "\n/* output {name} */\nbool @P@_output_array_{name}(@P@_world_t *wrld, diderot_array *array);\n\
                 #ifdef DIDEROT_TEEM\nbool @P@_output_get_{name}(@P@_world_t *wrld, {0});\n\
                 bool @P@_snapshot_{name}(@P@_world_t *wrld, {0});\n#endif\n",
                nrrds(&output)
            );
        }
        HEADER.replace("@DECLARATIONS@", &text)
    }

    fn source(&self, file: &str, program: &str) -> String {
        let mut fields = String::new();
        let mut defaults = String::new();
        let mut text = String::new();
        for input in &self.interface.inputs {
            self.define_input(input, &mut fields, &mut defaults, &mut text);
        }
        for output in self.outputs() {
            let name = &output.name;
            text += &format!(
                "\nbool @P@_output_array_{name}(@P@_world_t *wrld, diderot_array *array) {{\n\
                 \x20   return get_output(wrld, \"{name}\", array);\n}}\n\
                 #ifdef DIDEROT_TEEM\nbool @P@_output_get_{name}(@P@_world_t *wrld, {0}) {{\n\
                 \x20   return get_nrrd(wrld, \"{name}\", {1});\n}}\n\
                 bool @P@_snapshot_{name}(@P@_world_t *wrld, {0}) {{\n\
                 \x20   return get_nrrd(wrld, \"{name}\", {1});\n}}\n#endif\n",
                nrrds(&output),
                match output.length {
                    Length::Dynamic => "nLengths, nData",
                    _ => "NULL, nData",
                }
            );
        }
        let replacements = [
            ("@FIELDS@", fields),
            ("@DEFAULTS@", defaults),
            ("@DEFINITIONS@", text),
            ("@NAME@", quoted(file)),
            ("@CONFIG@", self.config()),
            ("@TEXT@", quoted(program)),
        ];
        let fill = |text: String, (mark, value): &(&str, String)| text.replace(mark, value);
        replacements.iter().fold(SOURCE.to_string(), fill)
    }

    /// The calls that repeat the options of the compilation.
    fn config(&self) -> String {
        let Options {
            double,
            long_int,
            target,
            constants,
            ..
        } = self.options;
        let mut calls = String::new();
        if *double {
            calls += "    diderot_config_double_precision(config, true);\n";
        }
        if *long_int {
            calls += "    diderot_config_long_int(config, true);\n";
        }
        let mut may_fail =
            |call: String| calls += &format!("    if (error == NULL) error = {call};\n");
        if *target != Default::default() {
            let name = target.name();
            may_fail(format!("diderot_config_target(config, \"{name}\")"));
        }
        for (name, value) in constants {
            let (name, value) = (quoted(name), quoted(value));
            may_fail(format!("diderot_config_constant(config, {name}, {value})"));
        }
        calls
    }

    fn define_input(
        &self,
        input: &Input,
        fields: &mut String,
        defaults: &mut String,
        text: &mut String,
    ) {
        let (name, ty) = (&input.name, input_type(&input.ty));
        let about = quoted(input.description.as_deref().unwrap_or_default());
        *text += &format!("\nconst char *const @P@_input_desc_{name} = {about};\n");
        if let Some(plain) = self.plain(&ty) {
            let (set, get) = plain.parameters();
            let Plain {
                c,
                setter,
                wide,
                count,
            } = plain;
            let size = count.unwrap_or(1);
            *fields += &format!("    {c} in_{name}[{size}];\n");
            if let Some(InputDefault::Value(constant)) = &input.default {
                for (n, number) in numbers(constant).iter().enumerate() {
                    *defaults += &format!("    wrld->in_{name}[{n}] = ({c}){number};\n");
                }
            }
            let element = if count.is_some() { "v[n]" } else { "v" };
            let give = match setter {
                "bool" => format!("diderot_set_bool(wrld->inputs, \"{name}\", wide[0])"),
                _ => format!("diderot_set_{setter}(wrld->inputs, \"{name}\", wide, {size})"),
            };
            let returned = if count.is_some() { "v[n]" } else { "*v" };
            *text += &format!(
                "bool @P@_input_set_{name}(@P@_world_t *wrld, {set}) {{\n    {wide} wide[{size}];\n\
                 \x20   for (size_t n = 0; n < {size}; n++) {{\n        wide[n] = wrld->in_{name}[n] = {element};\n    }}\n\
                 \x20   return failed_inputs(wrld, {give});\n}}\n\
                 void @P@_input_get_{name}(const @P@_world_t *wrld, {get}) {{\n\
                 \x20   for (size_t n = 0; n < {size}; n++) {returned} = wrld->in_{name}[n];\n}}\n"
            );
        } else if ty == InputType::String {
            *text += &format!(
                "bool @P@_input_set_{name}(@P@_world_t *wrld, const char *v) {{\n\
                 \x20   return failed_inputs(wrld, diderot_set_string(wrld->inputs, \"{name}\", v));\n}}\n"
            );
        } else {
            *text += &format!(
                "bool @P@_input_set_by_name_{name}(@P@_world_t *wrld, const char *file) {{\n\
                 \x20   return failed_inputs(wrld, diderot_set_file(wrld->inputs, \"{name}\", file));\n}}\n"
            );
            if matches!(input.target, InputTarget::Image(_)) {
                *text += &format!(
                    "bool @P@_input_set_array_{name}(@P@_world_t *wrld, const diderot_array *array) {{\n\
                     \x20   return failed_inputs(wrld, diderot_set_image(wrld->inputs, \"{name}\", array));\n}}\n"
                );
            }
            *text += &format!(
                "#ifdef DIDEROT_TEEM\nbool @P@_input_set_{name}(@P@_world_t *wrld, Nrrd *nin) {{\n\
                 \x20   return set_nrrd(wrld, \"{name}\", nin);\n}}\n#endif\n"
            );
        }
    }
}

impl Plain {
    /// The parameters by which it is set and asked for.
    fn parameters(&self) -> (String, String) {
        let c = self.c;
        match self.count {
            None => (format!("{c} v"), format!("{c} *v")),
            Some(n) => (format!("const {c} v[{n}]"), format!("{c} v[{n}]")),
        }
    }
}

/// The parameters that an output is written to.
fn nrrds(output: &Output) -> &'static str {
    match output.length {
        Length::Dynamic => "Nrrd *nLengths, Nrrd *nData",
        _ => "Nrrd *nData",
    }
}

/// The components of a constant as C writes them.
fn numbers(constant: &Constant) -> Vec<String> {
    match constant {
        Constant::Bool(b) => vec![b.to_string()],
        Constant::Int(n) => vec![n.to_string()],
        Constant::String(_) => vec![],
        Constant::Tensor(_, values) => values.iter().map(|x| real(*x)).collect(),
        Constant::Seq(elements) => elements.iter().flat_map(numbers).collect(),
    }
}

fn real(x: f64) -> String {
    match x {
        x if x.is_nan() => "NAN".to_string(),
        x if x.is_infinite() && x > 0.0 => "INFINITY".to_string(),
        x if x.is_infinite() => "-INFINITY".to_string(),
        x => format!("{x:?}"),
    }
}
