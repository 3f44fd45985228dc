//! The driver's library: its functions, loaded on demand, and its description of devices.

use super::DriverError;
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fmt,
};

/// The library of the driver, by its names on the systems that have one.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    &["libcuda.so.1", "libcuda.so"]
};

/// The result of a driver function: 0, or an error.
type Status = c_int;
const OUT_OF_MEMORY: Status = 2;

/// Defines the functions of the driver: their names, their descriptions for messages, and their arguments.
macro_rules! functions {
    ($($name:ident $what:literal ($($arg:ident: $ty:ty),*);)*) => {
        #[allow(non_snake_case, reason = "the names of the driver")]
        struct Functions {
            $($name: unsafe extern "system" fn($($ty),*) -> Status,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Functions, DriverError> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the driver's functions have these types, in all its versions.
                        let found = unsafe { library.get::<unsafe extern "system" fn($($ty),*) -> Status>(stringify!($name)) };
                        let why = |_| DriverError::new("the NVIDIA driver", concat!("is too old: it has no ", stringify!($name)));
                        *found.map_err(why)?
                    },)*
                })
            }
        }

        impl Driver {
            $(
                /// # Safety
                /// The pointers are what the driver's manual says.
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "they are the driver's")]
                pub(super) unsafe fn $name(&self, $($arg: $ty),*) -> Result<(), DriverError> {
                    // SAFETY: promised by the caller.
                    let status = unsafe { (self.functions.$name)($($arg),*) };
                    self.checked($what, status)
                }
            )*
        }
    };
}

functions! {
    cuInit "starting the NVIDIA driver" (flags: c_uint);
    cuDeviceGetCount "looking for NVIDIA GPUs" (count: *mut c_int);
    cuDeviceGet "looking for NVIDIA GPUs" (device: *mut c_int, ordinal: c_int);
    cuDeviceGetName "asking for the name of the GPU" (name: *mut c_char, length: c_int, device: c_int);
    cuDeviceTotalMem_v2 "asking for the memory of the GPU" (bytes: *mut usize, device: c_int);
    cuDeviceGetAttribute "asking about the GPU" (value: *mut c_int, attribute: c_int, device: c_int);
    cuDevicePrimaryCtxRetain "using the GPU" (context: *mut *mut c_void, device: c_int);
    cuCtxSetCurrent "using the GPU" (context: *mut c_void);
    cuModuleLoadDataEx "compiling for the GPU" (module: *mut *mut c_void, text: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void);
    cuModuleUnload "compiling for the GPU" (module: *mut c_void);
    cuModuleGetFunction "compiling for the GPU" (function: *mut *mut c_void, module: *mut c_void, name: *const c_char);
    cuFuncGetAttribute "compiling for the GPU" (value: *mut c_int, attribute: c_int, function: *mut c_void);
    cuMemAlloc_v2 "taking memory of the GPU" (address: *mut u64, bytes: usize);
    cuMemGetInfo_v2 "asking for the memory of the GPU" (free: *mut usize, total: *mut usize);
    cuMemFree_v2 "giving memory of the GPU back" (address: u64);
    cuMemcpyHtoD_v2 "copying to the GPU" (to: u64, from: *const c_void, bytes: usize);
    cuMemHostAlloc "copying from the GPU" (to: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemcpyDtoH_v2 "copying from the GPU" (to: *mut c_void, from: u64, bytes: usize);
    cuLaunchKernel "running on the GPU" (function: *mut c_void, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint, stream: *mut c_void, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    cuEventCreate "running on the GPU" (event: *mut *mut c_void, flags: c_uint);
    cuEventRecord "running on the GPU" (event: *mut c_void, stream: *mut c_void);
    cuEventSynchronize "running on the GPU" (event: *mut c_void);
    cuEventElapsedTime "running on the GPU" (milliseconds: *mut f32, start: *mut c_void, end: *mut c_void);
}

/// Attributes of devices, by their numbers.
const MULTIPROCESSORS: c_int = 16;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;

/// The loaded driver.
pub(super) struct Driver {
    functions: Functions,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Driver {
    pub(super) fn open() -> Result<Driver, DriverError> {
        let mut why = String::new();
        for name in LIBRARIES {
            // SAFETY: loading the driver runs its own initialization, which is made for this.
            match unsafe { Library::new(*name) } {
                Ok(library) => {
                    let driver = Driver {
                        functions: Functions::find(&library)?,
                        _library: library,
                    };
                    // SAFETY: the driver wants no more.
                    unsafe { driver.cuInit(0)? };
                    return Ok(driver);
                }
                Err(error) => why = error.to_string(),
            }
        }
        let what = format!("{} was not found", LIBRARIES[0]);
        let why = format!("is an NVIDIA driver installed? ({why})");
        Err(DriverError::new(what, why))
    }

    fn checked(&self, what: &str, status: Status) -> Result<(), DriverError> {
        let why = match status {
            0 => return Ok(()),
            OUT_OF_MEMORY => "it has too little memory".into(),
            100 => "there is none".into(),
            218 | 222 => "the driver cannot compile the program".into(),
            700 | 715 | 719 => format!("the program crashed there (CUDA error {status})"),
            46 | 214 | 709 | 802 => format!("it is lost or busy (CUDA error {status})"),
            _ => format!("CUDA error {status}"),
        };
        Err(DriverError::new(what, why))
    }

    pub(super) fn devices(&self) -> Result<Vec<c_int>, DriverError> {
        let mut count = 0;
        // SAFETY: there is room for the count, and for the devices.
        unsafe {
            self.cuDeviceGetCount(&raw mut count)?;
            let device = |ordinal| {
                let mut device = 0;
                self.cuDeviceGet(&raw mut device, ordinal).map(|()| device)
            };
            (0..count).map(device).collect()
        }
    }

    pub(super) fn describe(&self, device: c_int) -> Result<DeviceInfo, DriverError> {
        let mut name: [c_char; 256] = [0; 256];
        let mut memory = 0;
        let attribute = |number| {
            let mut value = 0;
            // SAFETY: there is room for the value.
            unsafe { self.cuDeviceGetAttribute(&raw mut value, number, device) }.map(|()| value)
        };
        // SAFETY: there is room for name, a terminated string, and bytes.
        let name = unsafe {
            self.cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, device)?;
            self.cuDeviceTotalMem_v2(&raw mut memory, device)?;
            CStr::from_ptr(name.as_ptr())
        };
        Ok(DeviceInfo {
            name: name.to_string_lossy().into_owned(),
            memory,
            capability: (attribute(MAJOR)?, attribute(MINOR)?),
            multiprocessors: attribute(MULTIPROCESSORS)?,
        })
    }
}

/// The properties of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// How many multiprocessors it has.
    pub multiprocessors: i32,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.capability;
        write!(
            f,
            "{}, {} MiB, {} multiprocessors, compute capability {major}.{minor}",
            self.name,
            self.memory >> 20,
            self.multiprocessors
        )
    }
}
