//! Objects behind pointers: the last message of each, and a fence that no panic passes.

use crate::diderot_status::{self, *};
use compiler::library::FileName;
use runtime::memory::Shortage;
use std::{
    ffi::{CStr, CString, OsStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::{Mutex, PoisonError},
};

/// What every object begins with, so that a message can be asked for without its type.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Message(Mutex<Option<CString>>);

/// Why a call failed.
pub(crate) struct Problem(pub(crate) diderot_status, pub(crate) String);

impl Problem {
    pub(crate) fn misuse(text: impl Into<String>) -> Problem {
        Problem(DIDEROT_MISUSE, text.into())
    }
}

pub(crate) type Answer = Result<(), Problem>;

impl Message {
    /// Does something, and keeps the message if it fails.
    pub(crate) fn keep(&self, work: impl FnOnce() -> Answer) -> diderot_status {
        let (status, text) = fenced(work);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
        status
    }

    /// The last message; it stays until the next call.
    pub(crate) fn text(&self) -> *const c_char {
        let text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
    }
}

/// Does something that may fail or panic.
pub(crate) fn fenced(work: impl FnOnce() -> Answer) -> (diderot_status, Option<CString>) {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => (DIDEROT_OK, None),
        Ok(Err(Problem(status, text))) => (status, Some(c_text(&text))),
        Err(panic) => {
            if let Some(shortage) = panic.downcast_ref::<Shortage>() {
                return (DIDEROT_RUN_ERROR, Some(c_text(&shortage.to_string())));
            }
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = format!(
                "a fault of the library: {}; please report it, with the program that shows it",
                text.unwrap_or("unknown")
            );
            (DIDEROT_INTERNAL, Some(c_text(&text)))
        }
    }
}

/// Text as C has it, up to the first zero.
pub(crate) fn c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// The text of a pointer.
///
/// # Safety
/// It is null, or leads to text that ends with a zero.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Problem> {
    if pointer.is_null() {
        return Err(Problem::misuse(format!("the {what} is a null pointer")));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| Problem::misuse(format!("the {what} is not UTF-8 text")))
}

/// The name of a file behind a pointer; where the system has it so, any bytes.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn file_name(pointer: *const c_char) -> Result<FileName, Problem> {
    let what = "name of a file";
    if cfg!(not(unix)) || pointer.is_null() {
        // SAFETY: the caller's promise.
        return unsafe { text(pointer, what) }.map(FileName::from);
    }
    // SAFETY: the caller's promise; on Unix a word is any bytes.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    // SAFETY: as above.
    Ok(unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }.into())
}

/// The last message of a program, of inputs or of a run; null if its last call succeeded. It is valid until the next call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_message(object: *const std::ffi::c_void) -> *const c_char {
    // SAFETY: all objects begin with their message.
    unsafe { object.cast::<Message>().as_ref() }.map_or(ptr::null(), Message::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status() {
        let message = Message::default();
        assert_eq!(
            message.keep(|| panic!("on {}", "purpose")),
            DIDEROT_INTERNAL
        );
        // SAFETY: the text stays until the next call.
        let text = unsafe { CStr::from_ptr(message.text()) };
        assert!(text.to_str().is_ok_and(|text| text.contains("on purpose")));
        assert_eq!(message.keep(|| Ok(())), DIDEROT_OK);
        assert!(message.text().is_null());
    }
}
