//! Embeds tracehost in a Rust program: replays recordings into tracers, which are loaded by name or
//! are Rust code. The functions that are used here are those of `tracehost.h`, which describes them.
//!
//! ```no_run
//! struct Calls(u64);
//! impl tracehost::Tracer for Calls {
//!     fn trace(&mut self, _event: &tracehost::Event) {
//!         self.0 += 1;
//!     }
//! }
//! let host = tracehost::Host::start()?;
//! let session = host.trace(Calls(0), tracehost::EVENTS | tracehost::AS_RECORDED)?;
//! host.replay("calls.trace")?;
//! println!("{} events", session.end()?.0);
//! # Ok::<(), tracehost::Error>(())
//! ```

mod sys;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::rc::Rc;

/// Trace flags (enum tracehost_flag).
pub const SEND: u32 = 1 << 0;
pub const RECEIVE: u32 = 1 << 1;
pub const CALL: u32 = 1 << 2;
pub const PROCS: u32 = 1 << 4;
pub const EVENTS: u32 = 0x7ff; // all flags that select events
pub const AS_RECORDED: u32 = 1 << 30; // times and schedulers as recorded

/// Status of enum tracehost_status, and the chain of causes: the attempt that failed comes first.
#[derive(Debug)]
pub struct Error {
    pub status: i32,
    pub causes: Vec<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.causes.join(": "))
    }
}

impl std::error::Error for Error {}

fn check(status: c_int) -> Result<(), Error> {
    if status == sys::OK {
        return Ok(());
    }
    // The library's texts are valid until the thread's next call.
    let causes = (0..)
        .map(|i| unsafe { sys::tracehost_error_link(i) })
        .take_while(|link| !link.is_null())
        .map(|link| {
            unsafe { CStr::from_ptr(link) }
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    Err(Error { status, causes })
}

fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error {
        status: sys::USAGE,
        causes: vec![format!("{text:?} has a 0 byte")],
    })
}

/// An Erlang term of an event.
#[derive(Clone, Copy)]
pub struct Term<'event> {
    raw: sys::Term,
    env: *mut c_void,
    event: PhantomData<&'event ()>,
}

impl<'event> Term<'event> {
    fn new(raw: sys::Term, env: *mut c_void) -> Option<Self> {
        (raw != 0).then_some(Term {
            raw,
            env,
            event: PhantomData,
        })
    }

    /// The elements, if the term is a tuple.
    pub fn tuple(&self) -> Option<Vec<Term<'event>>> {
        let (mut size, mut elements) = (0, ptr::null());
        if unsafe { sys::enif_get_tuple(self.env, self.raw, &mut size, &mut elements) } == 0 {
            return None;
        }
        (0..size as usize)
            .map(|i| Term::new(unsafe { *elements.add(i) }, self.env))
            .collect()
    }

    /// The value, if the term is an integer of 64 bits.
    pub fn integer(&self) -> Option<i64> {
        let mut value = 0;
        (unsafe { sys::enif_get_int64(self.env, self.raw, &mut value) } != 0).then_some(value)
    }
}

impl fmt::Display for Term<'_> {
    /// The term as Erlang text.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = unsafe { sys::tracehost_term_to_text(self.raw) };
        if text.is_null() {
            return Err(fmt::Error); // no memory
        }
        let done = f.write_str(&unsafe { CStr::from_ptr(text) }.to_string_lossy());
        unsafe { sys::tracehost_free(text.cast()) };
        done
    }
}

/// An event, valid during the callback.
pub struct Event<'callback> {
    raw: &'callback sys::Event,
}

impl Event<'_> {
    /// "call", "send", ...
    pub fn tag(&self) -> &'static str {
        unsafe { CStr::from_ptr(self.raw.tag) }
            .to_str()
            .unwrap_or("")
    }

    /// The pid or port; for seq_trace the label.
    pub fn tracee(&self) -> Term<'_> {
        Term {
            raw: self.raw.tracee,
            env: self.raw.env,
            event: PhantomData,
        }
    }

    /// For a call {M, F, Args}; other tags: see erl_tracer.h. None in `enabled`, as the next two.
    pub fn term(&self) -> Option<Term<'_>> {
        Term::new(self.raw.term, self.raw.env)
    }

    /// For exception_from {Class, Reason}, for return_from the value, for send the receiver.
    pub fn extra(&self) -> Option<Term<'_>> {
        Term::new(self.raw.extra, self.raw.env)
    }

    /// Nanoseconds of the clock that the recording has.
    pub fn time(&self) -> Option<i64> {
        (self.raw.time_kind != 0).then_some(self.raw.time)
    }

    /// Number of the record, from 1.
    pub fn number(&self) -> u64 {
        self.raw.number
    }
}

pub enum Answer {
    Trace = 0,
    Discard = 1,
    Remove = 2, // no more events of this tracee
}

/// A tracer in Rust. A panic in a callback ends the replay and goes on from there.
pub trait Tracer: 'static {
    /// Decides whether `trace` gets the event, before its terms are made.
    fn enabled(&mut self, _event: &Event) -> Answer {
        Answer::Trace
    }

    fn trace(&mut self, event: &Event);
}

/// What the callbacks of a session get as their context.
struct Traced<T> {
    tracer: RefCell<Option<T>>,
    panics: Rc<Panics>,
}

/// The first panic of a callback, and the stream that it stops.
#[derive(Default)]
struct Panics {
    payload: Cell<Option<Box<dyn Any + Send>>>,
    stream: Cell<Option<*mut sys::Stream>>,
}

impl<T: Tracer> Traced<T> {
    /// Calls the tracer; without one, after a panic, returns DEFAULT.
    fn call<R>(&self, default: R, callback: impl FnOnce(&mut T) -> R) -> R {
        let mut tracer = self.tracer.borrow_mut();
        let called = match tracer.as_mut() {
            Some(tracer) => catch_unwind(AssertUnwindSafe(|| callback(tracer))),
            None => return default,
        };
        called.unwrap_or_else(|payload| {
            *tracer = None;
            self.panics.payload.set(Some(payload));
            if let Some(stream) = self.panics.stream.get() {
                unsafe { sys::tracehost_stream_stop(stream) };
            }
            default
        })
    }
}

unsafe extern "C" fn enabled<T: Tracer>(context: *mut c_void, event: *const sys::Event) -> c_int {
    let event = Event { raw: &*event };
    (*context.cast::<Traced<T>>()).call(Answer::Discard, |tracer| tracer.enabled(&event)) as c_int
}

unsafe extern "C" fn trace<T: Tracer>(context: *mut c_void, event: *const sys::Event) {
    let event = Event { raw: &*event };
    (*context.cast::<Traced<T>>()).call((), |tracer| tracer.trace(&event));
}

unsafe extern "C" fn end<T: Tracer>(context: *mut c_void) {
    drop(Rc::from_raw(context.cast::<Traced<T>>()));
}

/// The host; a program has one at a time, in one thread.
pub struct Host {
    raw: *mut sys::Host,
    panics: Rc<Panics>,
}

impl Host {
    pub fn start() -> Result<Host, Error> {
        let mut raw = ptr::null_mut();
        check(unsafe { sys::tracehost_host_start(ptr::null(), &mut raw) })?;
        Ok(Host {
            raw,
            panics: Rc::default(),
        })
    }

    fn create(&self, setup: &sys::SessionSetup) -> Result<u64, Error> {
        let mut session = 0;
        check(unsafe { sys::tracehost_session_create(self.raw, setup, &mut session) })?;
        Ok(session)
    }

    /// Loads the tracer NAME with SETTINGS, "key=value,...", and traces by FLAGS what recordings
    /// show. Its output is complete when the session has ended.
    pub fn load(&self, name: &str, settings: &str, flags: u32) -> Result<Session<'_, ()>, Error> {
        let (name, settings) = (c_text(name)?, c_text(settings)?);
        let mut setup = sys::SessionSetup::new(flags);
        setup.tracer = name.as_ptr();
        if !settings.as_bytes().is_empty() {
            setup.state_options = settings.as_ptr();
        }
        let id = self.create(&setup)?;
        Ok(Session {
            host: self,
            id,
            traced: Rc::new(Traced {
                tracer: RefCell::new(Some(())),
                panics: self.panics.clone(),
            }),
        })
    }

    /// Traces by TRACER, Rust code.
    pub fn trace<T: Tracer>(&self, tracer: T, flags: u32) -> Result<Session<'_, T>, Error> {
        let traced = Rc::new(Traced {
            tracer: RefCell::new(Some(tracer)),
            panics: self.panics.clone(),
        });
        let context = Rc::into_raw(traced.clone());
        let callbacks = sys::Callbacks {
            size: std::mem::size_of::<sys::Callbacks>(),
            context: context as *mut c_void,
            enabled: Some(enabled::<T>),
            trace: Some(trace::<T>),
            end: Some(end::<T>),
            functions_only: false,
        };
        let mut setup = sys::SessionSetup::new(flags);
        setup.callbacks = &callbacks;
        match self.create(&setup) {
            Ok(id) => Ok(Session {
                host: self,
                id,
                traced,
            }),
            Err(error) => {
                drop(unsafe { Rc::from_raw(context) }); // no end() follows
                Err(error)
            }
        }
    }

    /// Replays the recording NAME into all sessions. Returns the number of its records.
    pub fn replay(&self, name: &str) -> Result<u64, Error> {
        let name = c_text(name)?;
        let mut stream = ptr::null_mut();
        check(unsafe { sys::tracehost_stream_open(name.as_ptr(), ptr::null(), &mut stream) })?;
        self.panics.stream.set(Some(stream));
        let played = self.play(stream);
        self.panics.stream.set(None);
        unsafe { sys::tracehost_stream_close(stream) };
        if let Some(payload) = self.panics.payload.take() {
            resume_unwind(payload);
        }
        played
    }

    fn play(&self, stream: *mut sys::Stream) -> Result<u64, Error> {
        let mut replay = ptr::null_mut();
        let mut counts = sys::ReplayCounts {
            size: std::mem::size_of::<sys::ReplayCounts>(),
            ..Default::default()
        };
        check(unsafe { sys::tracehost_replay_begin(self.raw, stream, ptr::null(), &mut replay) })?;
        let played = check(unsafe { sys::tracehost_replay_play(replay) });
        unsafe {
            sys::tracehost_replay_get_counts(replay, &mut counts);
            sys::tracehost_replay_end(replay);
        }
        played.map(|()| counts.records)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        unsafe { sys::tracehost_host_stop(self.raw) };
    }
}

/// A session, which ends with this value.
pub struct Session<'host, T> {
    host: &'host Host,
    id: u64,
    traced: Rc<Traced<T>>,
}

impl<T> Session<'_, T> {
    /// Ends the session, and returns its tracer. Fails if the tracer could not write its output, or
    /// has panicked.
    pub fn end(self) -> Result<T, Error> {
        let traced = self.traced.clone();
        let ended = unsafe { sys::tracehost_session_destroy(self.host.raw, self.id) };
        check(ended)?;
        let tracer = traced.tracer.borrow_mut().take();
        tracer.ok_or_else(|| Error {
            status: sys::FAILED,
            causes: vec!["the tracer has panicked".to_string()],
        })
    }
}

impl<T> Drop for Session<'_, T> {
    fn drop(&mut self) {
        unsafe { sys::tracehost_session_destroy(self.host.raw, self.id) };
    }
}
