//! The machine of a rank.

/// The name of this machine in its network, for messages, and to find the ranks that share it.
pub fn host_name() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let told = told.or_else(|| std::env::var("HOSTNAME").ok());
    let name = told.map(|name| name.trim().to_string());
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "a machine without a name".into())
}
