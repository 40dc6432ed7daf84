//! Declarations of tracehost.h and erl_nif.h, as far as lib.rs uses them.

use std::os::raw::{c_char, c_int, c_void};

pub type Term = usize; // ERL_NIF_TERM

pub const OK: c_int = 0;
pub const FAILED: c_int = 1;
pub const USAGE: c_int = 2;

#[repr(C)]
pub struct Host {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Stream {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Replay {
    opaque: [u8; 0],
}

/// struct tracehost_event
#[repr(C)]
pub struct Event {
    pub size: usize,
    pub session: u64,
    pub tag: *const c_char,
    pub tag_term: Term,
    pub tracee: Term,
    pub state: Term,
    pub env: *mut c_void,
    pub number: u64,
    pub term: Term,
    pub extra: Term,
    pub match_spec_result: Term,
    pub scheduler_id: Term,
    pub time_kind: c_int,
    pub time: i64,
}

/// struct tracehost_callbacks
#[repr(C)]
pub struct Callbacks {
    pub size: usize,
    pub context: *mut c_void,
    pub enabled: Option<unsafe extern "C" fn(*mut c_void, *const Event) -> c_int>,
    pub trace: Option<unsafe extern "C" fn(*mut c_void, *const Event)>,
    pub end: Option<unsafe extern "C" fn(*mut c_void)>,
    pub functions_only: bool,
}

/// struct tracehost_session_setup
#[repr(C)]
pub struct SessionSetup {
    pub size: usize,
    pub tracer: *const c_char,
    pub name: *const c_char,
    pub state: Term,
    pub state_text: *const c_char,
    pub state_options: *const c_char,
    pub recorded_flags: u32,
    pub callbacks: *const Callbacks,
}

impl SessionSetup {
    pub fn new(recorded_flags: u32) -> SessionSetup {
        SessionSetup {
            size: std::mem::size_of::<SessionSetup>(),
            tracer: std::ptr::null(),
            name: std::ptr::null(),
            state: 0,
            state_text: std::ptr::null(),
            state_options: std::ptr::null(),
            recorded_flags,
            callbacks: std::ptr::null(),
        }
    }
}

/// struct tracehost_replay_counts
#[repr(C)]
#[derive(Default)]
pub struct ReplayCounts {
    pub size: usize,
    pub records: u64,
    pub played: u64,
    pub skipped: u64,
    pub drops: u64,
    pub lost: u64,
    pub malformed: u64,
    pub damages: u64,
}

#[link(name = "tracehost")]
extern "C" {
    pub fn enif_get_int64(env: *mut c_void, term: Term, value: *mut i64) -> c_int;
    pub fn enif_get_tuple(
        env: *mut c_void,
        term: Term,
        size: *mut c_int,
        elements: *mut *const Term,
    ) -> c_int;
    pub fn tracehost_error_link(i: usize) -> *const c_char;
    pub fn tracehost_free(memory: *mut c_void);
    pub fn tracehost_host_start(setup: *const c_void, host: *mut *mut Host) -> c_int;
    pub fn tracehost_host_stop(host: *mut Host) -> c_int;
    pub fn tracehost_replay_begin(
        host: *mut Host,
        stream: *mut Stream,
        options: *const c_void,
        replay: *mut *mut Replay,
    ) -> c_int;
    pub fn tracehost_replay_end(replay: *mut Replay) -> c_int;
    pub fn tracehost_replay_get_counts(replay: *const Replay, counts: *mut ReplayCounts) -> c_int;
    pub fn tracehost_replay_play(replay: *mut Replay) -> c_int;
    pub fn tracehost_session_create(
        host: *mut Host,
        setup: *const SessionSetup,
        session: *mut u64,
    ) -> c_int;
    pub fn tracehost_session_destroy(host: *mut Host, session: u64) -> c_int;
    pub fn tracehost_stream_close(stream: *mut Stream) -> c_int;
    pub fn tracehost_stream_open(
        name: *const c_char,
        options: *const c_void,
        stream: *mut *mut Stream,
    ) -> c_int;
    pub fn tracehost_stream_stop(stream: *mut Stream);
    pub fn tracehost_term_to_text(term: Term) -> *mut c_char;
}
