//! Compiling and running a program: the command's main business.

use super::{
    FAILURE, SUCCESS, USAGE,
    args::{self, RunArguments},
    build::Attached,
    complain,
    execute::execute,
    mpi::ranks,
    program_line::{self, CommandLine, InputSpec, OutputName, Program},
    read_source, report, say,
    tell::time_line,
};
use crate::{
    codegen::Target,
    front::{
        source::Source,
        tree::{Constant, InputDefault},
    },
    pipeline::{self, Compiled, Options, Session, Stopped},
    run,
};
use runtime::{file_name::escaped, input::IntWidth, output::Length};
use std::ffi::OsString;

/// Compiles and runs a program.
pub(super) fn run(arguments: RunArguments) -> u8 {
    let Some(source) = read_source(&arguments.file) else {
        return FAILURE;
    };
    let RunArguments {
        dump_after,
        stop_after,
        options,
        ..
    } = arguments;
    let mut session = Session {
        dump_after,
        stop_after,
        ..Session::default()
    };
    compile_and_run(
        &mut session,
        &source,
        &options,
        &escaped(arguments.file.as_os_str()),
        &arguments.words,
        Telling {
            warnings: true,
            times: arguments.time,
        },
    )
}

/// Runs the program attached to this executable. Its warnings were reported when it was built.
pub(super) fn run_attached(attached: Attached, words: &[OsString]) -> u8 {
    let Attached { source, options } = attached;
    let (name, words) = words
        .split_first()
        .map_or(("program".to_string(), &[][..]), |(name, rest)| {
            (escaped(name), rest)
        });
    compile_and_run(
        &mut Session::default(),
        &source,
        &options,
        &name,
        words,
        Telling::default(),
    )
}

/// The report of a compilation.
#[derive(Clone, Copy, Default)]
struct Telling {
    warnings: bool,
    times: bool,
}

fn compile_and_run(
    session: &mut Session,
    source: &Source,
    options: &Options,
    name: &str,
    words: &[OsString],
    telling: Telling,
) -> u8 {
    if let Err(problem) = alone_or_agreed(source, options, words) {
        complain(&format!("error: {problem}\n"));
        return FAILURE;
    }
    let compiled = pipeline::compile(session, source, options);
    let stopped = session.stop_after.is_some();
    for (stage, text) in &session.dumps {
        if stopped {
            say(text);
        } else {
            complain(&format!("-- after {stage}\n{text}"));
        }
    }
    if telling.times {
        for &time in &session.times {
            complain(&time_line(time));
        }
    }
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(Stopped::Asked) => return SUCCESS,
        Err(Stopped::Errors(diagnostics)) => {
            report(source, diagnostics);
            return FAILURE;
        }
    };
    if telling.warnings {
        report(source, compiled.warnings.to_vec());
    }
    let described = describe(source, &compiled, name, options);
    match program_line::parse(&described, words) {
        Ok(CommandLine::Help(text)) => {
            say(&text);
            SUCCESS
        }
        Ok(CommandLine::Run(options)) => {
            for note in options.notes.iter().filter(|_| !options.quiet) {
                complain(&format!("note: {note}\n"));
            }
            execute(source, &compiled, &described, &options, &session.times)
        }
        Err(error) => {
            complain(&format!("error: {error}\n"));
            USAGE
        }
    }
}

/// Whether processes that run together can run this.
fn alone_or_agreed(source: &Source, options: &Options, words: &[OsString]) -> Result<(), String> {
    ranks::agree(source, options, words)?;
    match options.target {
        Target::Cpu => Ok(()),
        Target::Cuda | Target::CudaOnly => ranks::choose_gpu(),
    }
}

/// The program as its command line sees it.
pub(super) fn describe(
    source: &Source,
    compiled: &Compiled,
    name: &str,
    options: &Options,
) -> Program {
    let imported = source.imported_inputs();
    let module = |name: &str| {
        let found = imported.iter().find(|(input, _)| input == name);
        found.map(|(_, file)| file.display().to_string())
    };
    let inputs = compiled.interface.inputs.iter().map(|input| InputSpec {
        name: input.name.clone(),
        ty: run::input_type(&input.ty),
        description: input.description.clone(),
        default: input.default.as_ref().map(|default| match default {
            InputDefault::Value(constant) => words_of(constant),
            InputDefault::File(file) => file.clone(),
            InputDefault::Computed(_) => default.computed_text(),
        }),
        module: module(&input.name),
    });
    Program {
        name: name.to_string(),
        inputs: inputs.collect(),
        outputs: run::outputs(&compiled.interface)
            .into_iter()
            .map(|output| OutputName {
                name: output.name,
                dynamic: output.length == Length::Dynamic,
            })
            .collect(),
        beside: args::spellings().into_iter().map(|(s, _)| s).collect(),
        double: options.double,
        ints: if options.long_int {
            IntWidth::Bits64
        } else {
            IntWidth::Bits32
        },
    }
}

/// A constant as it would be given on the command line.
fn words_of(constant: &Constant) -> String {
    let list = |items: Vec<String>| items.join(" ");
    match constant {
        Constant::Bool(b) => b.to_string(),
        Constant::Int(n) => n.to_string(),
        Constant::String(s) => s.clone(),
        Constant::Tensor(_, values) => list(values.iter().map(f64::to_string).collect()),
        Constant::Seq(elements) => list(elements.iter().map(words_of).collect()),
    }
}
