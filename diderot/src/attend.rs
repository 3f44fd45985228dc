//! Runs work on another thread while the caller serves callbacks and signals.

use std::{
    io::{self, Write},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant},
};

/// Messages to the waiting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Something was printed.
    Text(&'a [u8]),
    /// The work goes on, and a period has passed.
    Tick,
}

/// Printed texts that may wait to be read.
const WAITING: usize = 64;

/// Does some work on another thread. The calling thread gets the printed texts, in order, and a tick after each period; when the
/// work has ended, it returns at once.
pub fn attended<R: Send>(
    period: Duration,
    work: impl FnOnce(&mut dyn Write) -> R + Send,
    mut attend: impl FnMut(Event<'_>),
) -> R {
    let (sender, texts) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || work(&mut Printer(sender)));
        let mut next = Instant::now() + period;
        loop {
            let left = next.saturating_duration_since(Instant::now());
            match texts.recv_timeout(left) {
                Ok(text) => attend(Event::Text(&text)),
                Err(RecvTimeoutError::Timeout) => {
                    attend(Event::Tick);
                    next = Instant::now() + period;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Sends printed text to the thread that waits.
struct Printer(SyncSender<Vec<u8>>);

impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The receiver is gone only after a panic.
        let sent = self.0.send(bytes.to_vec());
        sent.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_in_order_on_the_calling_thread_and_time_is_noticed() {
        let here = std::thread::current().id();
        let mut printed = Vec::new();
        let (tick, ticked) = sync_channel(1);
        let result = attended(
            Duration::from_millis(5),
            move |printer| {
                assert_ne!(std::thread::current().id(), here);
                for n in 0..200 {
                    write!(printer, "{n} ").expect("a reader");
                }
                // The work ends only after a tick, however late that is.
                ticked.recv().expect("a tick");
                42
            },
            |event| match event {
                Event::Text(text) => printed.extend_from_slice(text),
                Event::Tick => {
                    assert_eq!(std::thread::current().id(), here);
                    // Later ticks are not waited for.
                    let _ = tick.try_send(());
                }
            },
        );
        let expected: String = (0..200).map(|n| format!("{n} ")).collect();
        assert_eq!(
            (result, String::from_utf8(printed)),
            (42, Ok(expected.clone()))
        );
    }
}
