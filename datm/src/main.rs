//! The command `datm`: exhaustive and random campaigns, single cases, shrinking, reports.
//!
//! Exit status: 0 if no case failed, 1 if one did, 2 for wrong usage.

mod arguments;
mod command;

use clap::Parser;
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// A campaign is thousands of compilations.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match command::execute(arguments::Arguments::parse()) {
        Ok(command::Outcome::AllPassed) => ExitCode::SUCCESS,
        Ok(command::Outcome::SomeFailed) => ExitCode::from(1),
        Err(message) => {
            eprintln!("datm: {message}");
            ExitCode::from(2)
        }
    }
}
