//! Several processes that run one program together: the *ranks* of a cluster, numbered from 0.
//!
//! A [`Cluster`] carries bytes from rank to rank, and knows nothing else. A [`Team`] is the conversation over it: parts that all
//! ranks give and get, and the farewell at the end. No arithmetic happens here, so no result can depend on the number of ranks.
//!
//! A rank that cannot go on says farewell. The others find its farewell where they expect a part, and end as well.

mod carry;
mod host;
mod mailbox;
mod team;
mod threads;
pub mod wire;

pub use carry::Cluster;
pub use host::host_name;
pub use mailbox::Mailbox;
pub use team::{Farewell, Lost, Part, Team, Topic};
pub use threads::Threads;
