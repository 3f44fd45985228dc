//! Errors that callers own, and a fence that no panic passes.

use crate::{
    diagnostics::Diagnostics,
    diderot_diagnostic,
    diderot_status::{self, *},
    pointers::{c_text, free, listed},
};
use diderot::{Error, Shortage};
use std::{
    any::Any,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

/// Why a call failed.
pub struct diderot_error {
    status: diderot_status,
    message: CString,
    diagnostics: Diagnostics,
}

/// The result of work that may fail.
pub(crate) type Answer<T = ()> = Result<T, Box<diderot_error>>;

impl diderot_error {
    pub(crate) fn new(status: diderot_status, message: impl AsRef<str>) -> Box<diderot_error> {
        Box::new(diderot_error {
            status,
            message: c_text(message.as_ref()),
            diagnostics: Diagnostics::default(),
        })
    }

    pub(crate) fn misuse(message: impl AsRef<str>) -> Box<diderot_error> {
        diderot_error::new(DIDEROT_MISUSE, message)
    }

    /// The same error with another status.
    pub(crate) fn with_status(mut self: Box<Self>, status: diderot_status) -> Box<diderot_error> {
        self.status = status;
        self
    }

    /// A panic: an allocation that was refused, or a fault of the library.
    fn of_panic(panic: &(dyn Any + Send)) -> Box<diderot_error> {
        if let Some(shortage) = panic.downcast_ref::<Shortage>() {
            return diderot_error::new(DIDEROT_RUN_ERROR, shortage.to_string());
        }
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = format!(
            "a fault of the library: {}; please report it, with the program that shows it",
            text.unwrap_or("unknown")
        );
        diderot_error::new(DIDEROT_INTERNAL, message)
    }
}

impl From<Error> for Box<diderot_error> {
    fn from(error: Error) -> Box<diderot_error> {
        let status = match &error {
            Error::Compile(_) => DIDEROT_COMPILE_ERROR,
            Error::Input(_) => DIDEROT_INPUT_ERROR,
            Error::Files(_) => DIDEROT_FILE_ERROR,
            Error::Misuse(_) => DIDEROT_MISUSE,
            _ => DIDEROT_RUN_ERROR,
        };
        let mut made = diderot_error::new(status, error.to_string());
        if let Some(failure) = error.failure() {
            made.diagnostics = Diagnostics::new(failure.diagnostics());
        }
        made
    }
}

/// Does work that may fail or panic, and gives the error to the caller; null if there is none.
pub(crate) fn fenced(work: impl FnOnce() -> Answer) -> *mut diderot_error {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ptr::null_mut(),
        Ok(Err(error)) => Box::into_raw(error),
        Err(panic) => Box::into_raw(diderot_error::of_panic(&*panic)),
    }
}

/// The kind of an error; DIDEROT_OK for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_error_status(error: *const diderot_error) -> diderot_status {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(DIDEROT_OK, |error| error.status)
}

/// The text of an error, with the source lines that it is about; an empty text for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_error_message(error: *const diderot_error) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The places in the program that an error is about, with their messages; returns their number. The errors of a program may come with
/// its warnings; an error of a run has at most one place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_error_diagnostics(
    error: *const diderot_error,
    list: *mut *const diderot_diagnostic,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(error, |error| error.diagnostics.list(), list) }
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_error(error: *mut diderot_error) {
    // SAFETY: promised by the caller.
    unsafe { free(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_is_an_error() {
        let error = fenced(|| panic!("on {}", "purpose"));
        // SAFETY: the error is freed at the end, once.
        unsafe {
            assert_eq!(diderot_error_status(error), DIDEROT_INTERNAL);
            let text = CStr::from_ptr(diderot_error_message(error)).to_str();
            assert!(text.is_ok_and(|text| text.contains("on purpose")));
            diderot_free_error(error);
        }
        assert!(fenced(|| Ok(())).is_null());
    }
}
