//! `diderotc man` and `diderotc completions`: pages and scripts from the same table as `--help`.

use super::{FAILURE, SUCCESS, USAGE, args, complain, say};
use clap_complete::Shell;
use clap_mangen::Man;

/// Prints the manual page of the whole, or of one command.
pub(super) fn man(command: Option<&str>) -> u8 {
    let whole = args::definition();
    let page = match command {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                complain(&format!("error: `{name}` is not a command of diderotc\n"));
                return USAGE;
            }
        },
    };
    let mut text = Vec::new();
    print(Man::new(page).render(&mut text), text)
}

/// Prints what a shell reads to complete the words of the command.
pub(super) fn completions(shell: Shell) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::definition(), "diderotc", &mut text);
    print(Ok(()), text)
}

fn print(rendered: std::io::Result<()>, text: Vec<u8>) -> u8 {
    let problem = match (rendered, String::from_utf8(text)) {
        (Ok(()), Ok(text)) => {
            say(&text);
            return SUCCESS;
        }
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => error.to_string(),
    };
    complain(&format!("error: {problem}\n"));
    FAILURE
}
