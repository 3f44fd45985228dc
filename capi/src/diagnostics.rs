//! Messages about places in a program, as C reads them.

use crate::{
    diderot_diagnostic, diderot_edit, diderot_fix, diderot_label, diderot_location, pointers::Texts,
};
use diderot::{Diagnostic, Location};
use std::ffi::c_char;

/// Messages, and everything that they point to.
#[derive(Default)]
pub(crate) struct Diagnostics {
    list: Vec<diderot_diagnostic>,
    labels: Vec<Vec<diderot_label>>,
    hints: Vec<Vec<*const c_char>>,
    fixes: Vec<Vec<diderot_fix>>,
    edits: Vec<Vec<diderot_edit>>,
    texts: Texts,
}

// SAFETY: the pointers lead to parts of the same object, which never change.
unsafe impl Send for Diagnostics {}
// SAFETY: as above.
unsafe impl Sync for Diagnostics {}

impl Diagnostics {
    pub(crate) fn new(diagnostics: &[Diagnostic]) -> Diagnostics {
        let mut made = Diagnostics::default();
        for message in diagnostics {
            let labels = message.labels.iter().map(|label| diderot_label {
                location: location(&mut made.texts, &label.location),
                text: made.texts.keep(&label.text),
            });
            let labels: Vec<diderot_label> = labels.collect();
            let hints = message.hints.iter().map(|hint| made.texts.keep(hint));
            let hints: Vec<*const c_char> = hints.collect();
            let mut fixes = Vec::new();
            for fix in &message.fixes {
                let edits = fix.edits.iter().map(|edit| diderot_edit {
                    location: location(&mut made.texts, &edit.location),
                    text: made.texts.keep(&edit.text),
                });
                let edits: Vec<diderot_edit> = edits.collect();
                fixes.push(diderot_fix {
                    title: made.texts.keep(&fix.title),
                    edits: edits.as_ptr(),
                    edit_count: edits.len(),
                });
                made.edits.push(edits);
            }
            made.list.push(diderot_diagnostic {
                location: location(&mut made.texts, &message.location),
                is_error: message.is_error(),
                code: made.texts.keep(message.code),
                message: made.texts.keep(&message.message),
                labels: labels.as_ptr(),
                label_count: labels.len(),
                hints: hints.as_ptr(),
                hint_count: hints.len(),
                fixes: fixes.as_ptr(),
                fix_count: fixes.len(),
            });
            made.labels.push(labels);
            made.hints.push(hints);
            made.fixes.push(fixes);
        }
        made
    }

    pub(crate) fn list(&self) -> &[diderot_diagnostic] {
        &self.list
    }
}

fn location(texts: &mut Texts, at: &Location) -> diderot_location {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    diderot_location {
        file: texts.keep(&at.file),
        line: number(at.line),
        column: number(at.column),
        end_line: number(at.end_line),
        end_column: number(at.end_column),
    }
}
