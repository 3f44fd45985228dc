//! Pointers of callers: objects, places for results, texts and arrays.

use crate::error::{Answer, diderot_error};
use diderot::FileName;
use std::{
    ffi::{CStr, CString, OsStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The error that a parameter is null.
fn null(parameter: &str) -> Box<diderot_error> {
    diderot_error::misuse(format!("`{parameter}` is a null pointer"))
}

/// The object of a pointer.
///
/// # Safety
/// It is null, or leads to an object.
pub(crate) unsafe fn object<'a, T>(pointer: *const T, parameter: &str) -> Answer<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(parameter))
}

/// The object or the place for a result that a pointer leads to.
///
/// # Safety
/// It is null, or leads to an object that no other code uses.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, parameter: &str) -> Answer<&'a mut T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(parameter))
}

/// The elements of an array.
///
/// # Safety
/// The pointer is null, or leads to `count` elements.
pub(crate) unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    parameter: &str,
) -> Answer<&'a [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(parameter)),
        // A negative length becomes a count that exceeds any memory.
        (false, _) if count > isize::MAX as usize / size_of::<T>() => Err(diderot_error::misuse(
            format!("`{parameter}`: {count} values are more than memory can hold"),
        )),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// The text of a pointer.
///
/// # Safety
/// It is null, or leads to text that ends with a zero.
pub(crate) unsafe fn utf8<'a>(pointer: *const c_char, parameter: &str) -> Answer<&'a str> {
    if pointer.is_null() {
        return Err(null(parameter));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| diderot_error::misuse(format!("`{parameter}` is not UTF-8 text")))
}

/// The name of a file behind a pointer; where the system has it so, any bytes.
///
/// # Safety
/// As for [`utf8`].
pub(crate) unsafe fn file_name(pointer: *const c_char, parameter: &str) -> Answer<FileName> {
    if cfg!(not(unix)) || pointer.is_null() {
        // SAFETY: the caller's promise.
        return unsafe { utf8(pointer, parameter) }.map(FileName::from);
    }
    // SAFETY: the caller's promise; on Unix a word is any bytes.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    // SAFETY: as above.
    Ok(unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }.into())
}

/// Gives the address of a list that an object keeps, and its length; of a null object an empty one.
///
/// # Safety
/// Both pointers are null or valid.
pub(crate) unsafe fn listed<O, T>(
    object: *const O,
    of: fn(&O) -> &[T],
    list: *mut *const T,
) -> usize {
    // SAFETY: the caller's promise.
    let items = unsafe { object.as_ref() }.map_or(&[][..], of);
    // SAFETY: the caller's promise.
    if let Some(list) = unsafe { list.as_mut() } {
        *list = items.as_ptr();
    }
    items.len()
}

/// Frees an object. No panic of its parts reaches the caller.
///
/// # Safety
/// The pointer is null, or was made by a box and is not used again.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller's promise.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(object) })));
    }
}

/// Text as C has it, up to the first zero.
pub(crate) fn c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// Texts that an object keeps for the pointers in its lists.
#[derive(Default)]
pub(crate) struct Texts(Vec<CString>);

impl Texts {
    /// Keeps a text; the pointer is valid as long as the texts.
    pub(crate) fn keep(&mut self, text: &str) -> *const c_char {
        self.0.push(c_text(text));
        self.0[self.0.len() - 1].as_ptr()
    }
}
