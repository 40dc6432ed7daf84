//! Is a tracer itself: prints each exception of a recording with its reason, and counts the calls.
//!
//!     exceptions STREAM

use tracehost::{Answer, Event, Host, Tracer};

#[derive(Default)]
struct Exceptions {
    calls: u64,
    exceptions: u64,
}

impl Tracer for Exceptions {
    // Ends of calls follow the answer for their call.
    fn enabled(&mut self, event: &Event) -> Answer {
        if event.tag() == "call" {
            Answer::Trace
        } else {
            Answer::Discard
        }
    }

    fn trace(&mut self, event: &Event) {
        match (event.tag(), event.term(), event.extra()) {
            ("exception_from", Some(function), Some(reason)) => {
                println!("{} {}: {}", event.tracee(), function, reason);
                self.exceptions += 1;
            }
            ("call", _, _) => self.calls += 1,
            _ => {}
        }
    }
}

fn replay(name: &str) -> Result<Exceptions, tracehost::Error> {
    let host = Host::start()?;
    let session = host.trace(
        Exceptions::default(),
        tracehost::CALL | tracehost::AS_RECORDED,
    )?;
    host.replay(name)?;
    session.end()
}

fn main() {
    let name = match std::env::args().nth(1) {
        Some(name) => name,
        None => {
            eprintln!("usage: exceptions STREAM");
            std::process::exit(2);
        }
    };
    match replay(&name) {
        Ok(seen) => println!("{} calls, {} exceptions", seen.calls, seen.exceptions),
        Err(error) => {
            eprintln!("exceptions: {error}");
            std::process::exit(error.status);
        }
    }
}
