//! The language server in conversation with an editor: in every sample program, with errors, over imports that are not saved, and
//! while a program is being typed.

mod answers;
mod editor;
mod whole;
