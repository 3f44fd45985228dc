//! Choices about compilations.

use crate::{
    error::{diderot_error, fenced},
    pointers::{free, place, utf8},
};
use diderot::{Config, Target, set_cache, set_memory_limit};
use std::ffi::c_char;

/// How programs are compiled: at first as the command does without options.
#[derive(Default)]
pub struct diderot_config {
    pub(crate) config: Config,
}

/// A new configuration. One may be used for any number of programs.
#[unsafe(no_mangle)]
pub extern "C" fn diderot_new_config() -> *mut diderot_config {
    Box::into_raw(Box::default())
}

/// Whether reals have 64 bits rather than 32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_double_precision(config: *mut diderot_config, is_on: bool) {
    // SAFETY: the caller's promise.
    if let Some(config) = unsafe { config.as_mut() } {
        config.config.double(is_on);
    }
}

/// Whether integers have 64 bits rather than 32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_long_int(config: *mut diderot_config, is_on: bool) {
    // SAFETY: the caller's promise.
    if let Some(config) = unsafe { config.as_mut() } {
        config.config.long_int(is_on);
    }
}

/// Where strands run: `cpu`, `cuda` (an NVIDIA GPU where possible, else the CPU) or `cuda-only`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_target(
    config: *mut diderot_config,
    name: *const c_char,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (config, name) = unsafe { (place(config, "config")?, utf8(name, "name")?) };
        let unknown = || {
            let names = Target::own_names();
            diderot_error::misuse(format!("there is no target `{name}`; there are {names}"))
        };
        config
            .config
            .target(Target::named(name).ok_or_else(unknown)?);
        Ok(())
    })
}

/// The number of strands in a call of the generated code: 1, 4, 8 or 16. Results do not depend on it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_width(
    config: *mut diderot_config,
    width: usize,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let config = unsafe { place(config, "config")? };
        config.config.width(width)?;
        Ok(())
    })
}

/// Requests a warning that is off by default, by its code, such as `broadcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_warn(
    config: *mut diderot_config,
    code: *const c_char,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (config, code) = unsafe { (place(config, "config")?, utf8(code, "code")?) };
        config.config.warn(code)?;
        Ok(())
    })
}

/// Gives a constant of the program another value, spelled as in `--Cname=value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_config_constant(
    config: *mut diderot_config,
    name: *const c_char,
    value: *const c_char,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let (config, name, value) = unsafe {
            let config = place(config, "config")?;
            (config, utf8(name, "name")?, utf8(value, "value")?)
        };
        config.config.constant(name, value);
        Ok(())
    })
}

/// Frees a configuration; programs that were compiled with it stay as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_config(config: *mut diderot_config) {
    // SAFETY: promised by the caller.
    unsafe { free(config) }
}

/// Lets data take at most this many bytes of memory, in all runs of the process together.
#[unsafe(no_mangle)]
pub extern "C" fn diderot_set_memory_limit(bytes: u64) {
    set_memory_limit(bytes);
}

/// Limits the samples that are loaded on demand and kept, in all runs together, to this number of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn diderot_set_cache(bytes: u64) {
    set_cache(bytes);
}
