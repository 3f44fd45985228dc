//! The CUDA driver; nothing else names it. It is found when a program wants it, so nothing of it is needed to build
//! or to run on the CPU.

mod library;

pub use library::DeviceInfo;

use super::{
    kernel::Kernel,
    launch::{MANY, Machine},
};
use library::Driver;
use std::{
    collections::HashMap,
    ffi::{CString, c_int, c_uint, c_void},
    fmt, io, ptr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Why a GPU cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The operation that failed.
    pub what: String,
    /// What the driver says.
    pub why: String,
}

impl DriverError {
    /// An error of a machine.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> DriverError {
        DriverError {
            what: what.into(),
            why: why.into(),
        }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl std::error::Error for DriverError {}

/// Options of the driver's compiler, by their numbers.
const JIT_ERROR_LOG: c_int = 5;
const JIT_ERROR_LOG_BYTES: c_int = 6;
/// An attribute of functions, by its number.
const LOCAL_BYTES: c_int = 3;

/// Registers of a thread at most where probes would take more: then few threads fit on a multiprocessor. That is not for texts of
/// this many lines, nor for double precision: there it would send values to memory and back; nor for others, because the
/// driver's compiler takes it for an invitation.
const REGISTERS: u32 = 128;
const LONG_TEXT: usize = 5000;
/// Bytes of a thread in memory that do no harm.
const FEW_BYTES: c_int = 32;
/// Bytes of memory of a large GPU.
const LARGE: usize = 32 << 30;
/// Bytes that are copied from the device at a time.
const LANDING: usize = 1 << 20;
/// The least compute capability that the text is for.
const LEAST: c_int = 6;

/// Whether the driver is in use, or about to be.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// The number of this process among those on its machine, if each of them has a GPU.
static PROCESS: OnceLock<usize> = OnceLock::new();

/// The GPU of a process, by its number among those on its machine. Processes share GPUs if there are more of them.
pub fn device_of(process: usize, devices: usize) -> usize {
    // Without any, the attempt to use the first is the error.
    process % devices.max(1)
}

/// A GPU that is in use.
pub struct Cuda {
    driver: Driver,
    /// Its number among the GPUs.
    number: usize,
    info: DeviceInfo,
    /// One thread at a time talks to the driver.
    state: Mutex<State>,
}

/// What the driver gave us; handles are addresses that only the driver looks behind.
struct State {
    context: usize,
    events: [usize; 2],
    /// Kernels by their texts.
    kernels: HashMap<String, Module>,
    /// Memory here that the device writes to directly and that no thread uses now: addresses of some bytes each. The driver keeps
    /// it for as long as the process lives.
    landings: Vec<usize>,
}

/// A compiled text: the module, and its entry points.
struct Module {
    handle: usize,
    functions: Vec<usize>,
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cuda").field(&self.info).finish()
    }
}

impl Cuda {
    /// The GPUs of this machine.
    ///
    /// # Errors
    /// There is no driver, or it does not work.
    pub fn devices() -> Result<Vec<DeviceInfo>, DriverError> {
        let driver = Driver::open()?;
        let devices = driver.devices()?;
        devices.into_iter().map(|d| driver.describe(d)).collect()
    }

    /// Lets this process, one of several on its machine, use one GPU alone: that of its number among them. Before any is used.
    pub fn choose(process: usize) {
        // A second choice would be too late.
        let _ = PROCESS.set(process);
    }

    /// The GPU of this process: the first, or the one that was chosen. The driver keeps it for as long as the process lives.
    ///
    /// # Errors
    /// There is none, or it cannot be used.
    pub fn shared() -> Result<Arc<Cuda>, DriverError> {
        static SHARED: OnceLock<Result<Arc<Cuda>, DriverError>> = OnceLock::new();
        let open = || {
            let number = match PROCESS.get() {
                Some(process) => device_of(*process, Driver::open()?.devices()?.len()),
                None => 0,
            };
            Cuda::open(number).map(Arc::new)
        };
        SHARED.get_or_init(open).clone()
    }

    /// The other GPUs of this machine that can be used; none if they are those of other processes.
    pub fn others() -> Vec<Arc<Cuda>> {
        static OTHERS: OnceLock<Vec<Arc<Cuda>>> = OnceLock::new();
        let open = || {
            if PROCESS.get().is_some() {
                return Vec::new();
            }
            let count = Cuda::devices().map_or(0, |devices| devices.len());
            let others = (1..count).filter_map(|number| Cuda::open(number).ok());
            others.map(Arc::new).collect()
        };
        OTHERS.get_or_init(open).clone()
    }

    /// Asks the driver for one queue of work rather than many, unless the environment asks for others: so it begins and ends
    /// in half the time. For processes that are ours, before they have other threads.
    pub fn prefer_one_queue() {
        const QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
        if std::env::var_os(QUEUES).is_none() {
            // SAFETY: no other thread looks at the environment.
            unsafe { std::env::set_var(QUEUES, "1") };
        }
    }

    /// Begins to take the GPU in use, which takes the driver about as long as compiling and reading files takes us.
    pub fn wake() {
        AWAKE.store(true, Relaxed);
        // Without a thread it begins when it is needed. The thread is never detached, see `runtime::world::Starting`.
        static WAKING: OnceLock<io::Result<JoinHandle<()>>> = OnceLock::new();
        WAKING.get_or_init(|| std::thread::Builder::new().spawn(|| drop(Cuda::shared())));
    }

    /// Whether that has begun in this process.
    pub fn is_awake() -> bool {
        AWAKE.load(Relaxed)
    }

    fn open(number: usize) -> Result<Cuda, DriverError> {
        let driver = Driver::open()?;
        let Some(&device) = driver.devices()?.get(number) else {
            return Err(DriverError::new("looking for NVIDIA GPUs", "there is none"));
        };
        let info = driver.describe(device)?;
        if info.capability.0 < LEAST {
            let why = format!("it is too old ({info}); compute capability {LEAST}.0 is needed");
            return Err(DriverError::new("using the GPU", why));
        }
        let mut context = ptr::null_mut();
        let mut events = [ptr::null_mut(); 2];
        // SAFETY: there is room for what the driver gives.
        unsafe {
            driver.cuDevicePrimaryCtxRetain(&raw mut context, device)?;
            driver.cuCtxSetCurrent(context)?;
            for event in &mut events {
                driver.cuEventCreate(event, 0)?;
            }
        }
        Ok(Cuda {
            driver,
            number,
            info,
            state: Mutex::new(State {
                context: context as usize,
                events: events.map(|event| event as usize),
                kernels: HashMap::new(),
                landings: Vec::new(),
            }),
        })
    }

    /// Takes the driver for this thread.
    fn enter(&self) -> Result<MutexGuard<'_, State>, DriverError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the context is the driver's own.
        unsafe { self.driver.cuCtxSetCurrent(state.context as *mut c_void)? };
        Ok(state)
    }

    /// Compiles a text that has these entry points.
    fn compile(&self, text: &str, entries: &[&str]) -> Result<Module, DriverError> {
        let source =
            CString::new(text).map_err(|e| DriverError::new("compiling", e.to_string()))?;
        let mut log = vec![0u8; 1 << 16];
        let mut options = [JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut module = ptr::null_mut();
        // SAFETY: the text is terminated, and options, values and log are as the driver wants them.
        let loaded = unsafe {
            self.driver.cuModuleLoadDataEx(
                &raw mut module,
                source.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.map_err(|mut error| {
            let said = String::from_utf8_lossy(&log);
            let said = said.trim_end_matches('\0').trim();
            if !said.is_empty() {
                error.why = format!("{}: {said}", error.why);
            }
            error
        })?;
        let function = |name: &&str| {
            let name = CString::new(*name).expect("a name");
            let mut function = ptr::null_mut();
            // SAFETY: module and name exist.
            let found = unsafe {
                self.driver
                    .cuModuleGetFunction(&raw mut function, module, name.as_ptr())
            };
            found.map(|()| function as usize)
        };
        let functions: Result<Vec<usize>, DriverError> = entries.iter().map(function).collect();
        Ok(Module {
            handle: module as usize,
            functions: functions?,
        })
    }

    /// Memory here that the device writes to directly, for this thread alone.
    fn landing(&self) -> Result<usize, DriverError> {
        let mut state = self.enter()?;
        if let Some(landing) = state.landings.pop() {
            return Ok(landing);
        }
        let mut landing = ptr::null_mut();
        // SAFETY: there is room for the address.
        unsafe { self.driver.cuMemHostAlloc(&raw mut landing, LANDING, 0)? };
        Ok(landing as usize)
    }

    fn attribute(&self, function: usize, attribute: c_int) -> Result<c_int, DriverError> {
        let mut value = 0;
        // SAFETY: there is room for the value, and the function is one of the driver's.
        unsafe {
            self.driver
                .cuFuncGetAttribute(&raw mut value, attribute, function as *mut c_void)?;
        }
        Ok(value)
    }
}

impl Machine for Cuda {
    fn number(&self) -> usize {
        self.number
    }

    fn strands_at_a_time(&self) -> usize {
        // The last threads of a launch leave most of a large GPU idle.
        match self.info.memory >= LARGE {
            true => 4 * MANY,
            false => MANY,
        }
    }

    fn load(&self, kernel: &Kernel) -> Result<Vec<u64>, DriverError> {
        let mut state = self.enter()?;
        let handles =
            |module: &Module| -> Vec<u64> { module.functions.iter().map(|&f| f as u64).collect() };
        if let Some(module) = state.kernels.get(&kernel.text) {
            return Ok(handles(module));
        }
        let entries = kernel.entries();
        let strands = entries.iter().position(|name| *name == Kernel::STRANDS);
        let strands = strands.expect("an entry point that runs strands");
        let is_short = kernel.text.lines().count() < LONG_TEXT;
        let has_few = is_short && kernel.has_wide_probes && !kernel.lanes.double;
        let mut compiled = match has_few {
            true => self.compile(&kernel.with_registers(REGISTERS), &entries)?,
            false => self.compile(&kernel.text, &entries)?,
        };
        let strands = compiled.functions[strands];
        // Lists of neighbours are in memory anyhow.
        let looks = has_few && kernel.near.is_none();
        if looks && self.attribute(strands, LOCAL_BYTES)? > FEW_BYTES {
            let other = self.compile(&kernel.text, &entries)?;
            // SAFETY: nothing runs in the module.
            unsafe {
                self.driver.cuModuleUnload(compiled.handle as *mut c_void)?;
            }
            compiled = other;
        }
        let found = handles(&compiled);
        state.kernels.insert(kernel.text.clone(), compiled);
        Ok(found)
    }

    fn allocate(&self, bytes: usize) -> Result<u64, DriverError> {
        let _state = self.enter()?;
        let mut address = 0;
        // SAFETY: there is room for the address.
        unsafe { self.driver.cuMemAlloc_v2(&raw mut address, bytes) }.map_err(|mut error| {
            error.what = format!("taking {} MiB of the GPU's memory", bytes >> 20);
            error
        })?;
        Ok(address)
    }

    fn free_bytes(&self) -> usize {
        let Ok(_state) = self.enter() else { return 0 };
        let (mut free, mut total) = (0, 0);
        // SAFETY: there is room for both numbers.
        let asked = unsafe { self.driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        asked.map_or(0, |()| free)
    }

    fn free(&self, address: u64) {
        if let Ok(_state) = self.enter() {
            // A device that is lost has no memory to give back.
            // SAFETY: nothing on the device uses it any more: every launch is waited for.
            let _ = unsafe { self.driver.cuMemFree_v2(address) };
        }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DriverError> {
        let _state = self.enter()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let from = bytes.as_ptr().cast();
        // SAFETY: the memory was taken for this many bytes.
        unsafe { self.driver.cuMemcpyHtoD_v2(address, from, bytes.len()) }
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
        if bytes.len() < LANDING / 4 {
            let _state = self.enter()?;
            let to = bytes.as_mut_ptr().cast();
            // SAFETY: the memory was taken for this many bytes.
            return unsafe { self.driver.cuMemcpyDtoH_v2(to, address, bytes.len()) };
        }
        // The driver itself would take three times as long.
        let landing = self.landing()?;
        let mut parts = (address..).step_by(LANDING).zip(bytes.chunks_mut(LANDING));
        let read = parts.try_for_each(|(from, part)| {
            let state = self.enter()?;
            // SAFETY: the memory was taken for this many bytes, and the buffer here is as long and only this thread uses it.
            unsafe {
                let landing = landing as *mut c_void;
                self.driver.cuMemcpyDtoH_v2(landing, from, part.len())?;
                // Other threads talk to the driver meanwhile.
                drop(state);
                ptr::copy_nonoverlapping(landing.cast(), part.as_mut_ptr(), part.len());
            }
            Ok(())
        });
        self.enter()?.landings.push(landing);
        read
    }

    fn launch(&self, entries: &[(u64, u32)], parameters: &[u8]) -> Result<Duration, DriverError> {
        let state = self.enter()?;
        let [start, end] = state.events.map(|event| event as *mut c_void);
        // The driver wants the parameters aligned as the kernel declares them.
        let mut aligned: Vec<u64> = parameters
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect();
        let mut pointers = [aligned.as_mut_ptr().cast::<c_void>()];
        let mut milliseconds = 0.0;
        // SAFETY: every entry point takes one structure of this size; what its addresses lead to was taken from this device.
        unsafe {
            self.driver.cuEventRecord(start, ptr::null_mut())?;
            for &(function, threads) in entries {
                self.driver.cuLaunchKernel(
                    function as usize as *mut c_void,
                    threads.div_ceil(Kernel::THREADS),
                    1,
                    1,
                    Kernel::THREADS,
                    1,
                    1,
                    0,
                    ptr::null_mut(),
                    pointers.as_mut_ptr(),
                    ptr::null_mut(),
                )?;
            }
            self.driver.cuEventRecord(end, ptr::null_mut())?;
            self.driver.cuEventSynchronize(end)?;
            self.driver
                .cuEventElapsedTime(&raw mut milliseconds, start, end)?;
        }
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds.max(0.0)) / 1e3,
        ))
    }
}
