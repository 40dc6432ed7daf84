//! The tracer `placeholder`: prints each call and each message, and sums up at the end.

use std::os::raw::{c_char, c_int, c_uint, c_ulong, c_void};
use std::sync::Mutex;

type Term = c_ulong;
type Env = c_void;

// The functions of the NIF API that are used here, and the C library's stream. The host has them.
extern "C" {
    static stdout: *mut c_void;
    fn fflush(stream: *mut c_void) -> c_int;
    fn enif_alloc_env() -> *mut Env;
    fn enif_free_env(env: *mut Env);
    fn enif_fprintf(stream: *mut c_void, format: *const c_char, ...) -> c_int;
    fn enif_get_map_value(env: *mut Env, map: Term, key: Term, value: *mut Term) -> c_int;
    fn enif_get_tuple(
        env: *mut Env,
        term: Term,
        arity: *mut c_int,
        elements: *mut *const Term,
    ) -> c_int;
    fn enif_make_atom(env: *mut Env, name: *const c_char) -> Term;
    fn enif_make_copy(env: *mut Env, term: Term) -> Term;
    fn enif_priv_data(env: *mut Env) -> *mut c_void;
}

/// Callbacks run in several threads at once, so data that change are protected. All data are in one
/// struct, the private data: a new version of the tracer can take them over.
struct Data {
    trace: Term, // atoms are valid for ever, in all environments
    discard: Term,
    trace_status: Term,
    call: Term,
    extra: Term,
    totals: Mutex<Totals>,
}

struct Totals {
    calls: c_ulong,
    messages: c_ulong,
    kept: *mut Env, // environment of the next two terms
    who: Term,      // tracee and contents of the first event; 0: none yet
    first: Term,
}

impl Totals {
    /// A term of a callback is valid until the callback returns. A term that is kept longer is
    /// copied into an environment of the tracer's own.
    unsafe fn keep_first(&mut self, tracee: Term, term: Term) {
        if self.first == 0 {
            self.who = enif_make_copy(self.kept, tracee);
            self.first = enif_make_copy(self.kept, term);
        }
    }
}

unsafe fn data<'a>(env: *mut Env) -> &'a Data {
    &*enif_priv_data(env).cast::<Data>()
}

/// TEXT ends with \0.
unsafe fn atom(env: *mut Env, text: &str) -> Term {
    enif_make_atom(env, text.as_ptr().cast())
}

/// Runs before the first event. INFO is the second argument of erlang:load_nif() in an Erlang node,
/// and 0 in tracehost: settings of a tracer come as its state, argv[1] of each callback.
/// No panic may leave a callback: it ends the host.
unsafe extern "C" fn load(env: *mut Env, private: *mut *mut c_void, _info: Term) -> c_int {
    let totals = Totals {
        calls: 0,
        messages: 0,
        kept: enif_alloc_env(),
        who: 0,
        first: 0,
    };
    let data = Data {
        trace: atom(env, "trace\0"),
        discard: atom(env, "discard\0"),
        trace_status: atom(env, "trace_status\0"),
        call: atom(env, "call\0"),
        extra: atom(env, "extra\0"),
        totals: Mutex::new(totals),
    };
    *private = Box::into_raw(Box::new(data)).cast();
    0 // any other value: the tracer is refused
}

/// Runs instead of load when this version replaces an older one. If Data changes, the old struct
/// must be converted here.
unsafe extern "C" fn upgrade(
    _env: *mut Env,
    private: *mut *mut c_void,
    old_private: *mut *mut c_void,
    _info: Term,
) -> c_int {
    *private = *old_private;
    *old_private = std::ptr::null_mut(); // unload of the old version gets NULL
    0
}

/// The host asks `enabled` first, for each event, and builds only the events that are wanted. So
/// `enabled` must be quick, and must have no side effects: no output, no lock, no counting. This
/// generic callback decides for each group of events without an `enabled` of its own. The arguments
/// are tag, state, tracee.
unsafe extern "C" fn enabled(env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    if *argv == data(env).trace_status {
        return data(env).trace; // a question: shall tracing go on? `remove` would end it
    }
    data(env).discard
}

unsafe extern "C" fn enabled_call(env: *mut Env, _argc: c_int, _argv: *const Term) -> Term {
    data(env).trace
}

unsafe extern "C" fn enabled_send(env: *mut Env, _argc: c_int, _argv: *const Term) -> Term {
    data(env).trace
}

/// The arguments are tag, state, tracee, term, opts; the result is ignored. A callback must not
/// send a message or a signal to the tracee: that would be an event, too.
unsafe extern "C" fn trace_call(env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    let (tag, tracee, term) = (*argv, *argv.add(2), *argv.add(3));
    let mut mfa = std::ptr::null();
    let mut size = 0;

    // The ends of traced calls come here, too: return_from, exception_from and return_to. The term
    // of a call is {M, F, Args}, or {M, F, Arity} with the flag `arity`.
    if tag != data(env).call || enif_get_tuple(env, term, &mut size, &mut mfa) == 0 || size != 3 {
        return tag;
    }
    let (module, function, arguments) = (*mfa, *mfa.add(1), *mfa.add(2));
    let format = "%T calls %T:%T with %T\n\0";
    enif_fprintf(
        stdout,
        format.as_ptr().cast(),
        tracee,
        module,
        function,
        arguments,
    );
    if let Ok(mut totals) = data(env).totals.lock() {
        totals.calls += 1;
        totals.keep_first(tracee, term);
    }
    tag
}

unsafe extern "C" fn trace_send(env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    let (tag, tracee, term, opts) = (*argv, *argv.add(2), *argv.add(3), *argv.add(4));
    let mut receiver = 0;

    // `opts` is a map with more about the event; erl_tracer.h lists its keys for each tag.
    if enif_get_map_value(env, opts, data(env).extra, &mut receiver) == 0 {
        return tag;
    }
    let format = "%T sends %T to %T\n\0";
    enif_fprintf(stdout, format.as_ptr().cast(), tracee, term, receiver);
    if let Ok(mut totals) = data(env).totals.lock() {
        totals.messages += 1;
        totals.keep_first(tracee, term);
    }
    tag
}

/// Each tracer must have this callback, for the groups without a `trace` of their own.
unsafe extern "C" fn trace(_env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    *argv
}

/// Runs after the last event. Whatever was allocated is freed.
unsafe extern "C" fn unload(_env: *mut Env, private: *mut c_void) {
    if private.is_null() {
        return;
    }
    let data = *Box::from_raw(private.cast::<Data>());
    if let Ok(totals) = data.totals.into_inner() {
        let format = "%lu calls, %lu messages\n\0";
        enif_fprintf(
            stdout,
            format.as_ptr().cast(),
            totals.calls,
            totals.messages,
        );
        if totals.first != 0 {
            let format = "the first event: %T, %T\n\0";
            enif_fprintf(stdout, format.as_ptr().cast(), totals.who, totals.first);
        }
        fflush(stdout);
        enif_free_env(totals.kept);
    }
}

/// ErlNifFunc of erl_nif.h.
#[repr(C)]
struct Function {
    name: *const c_char,
    arity: c_uint,
    code: unsafe extern "C" fn(*mut Env, c_int, *const Term) -> Term,
    flags: c_uint,
}

/// ErlNifEntry of erl_nif.h.
#[repr(C)]
pub struct Entry {
    major: c_int,
    minor: c_int,
    name: *const c_char,
    function_count: c_int,
    functions: *const Function,
    load: unsafe extern "C" fn(*mut Env, *mut *mut c_void, Term) -> c_int,
    reload: *const c_void,
    upgrade: unsafe extern "C" fn(*mut Env, *mut *mut c_void, *mut *mut c_void, Term) -> c_int,
    unload: unsafe extern "C" fn(*mut Env, *mut c_void),
    variant: *const c_char,
    options: c_uint,
    resource_type_size: usize,
    oldest_runtime: *const c_char,
}

// The pointers in both lead to constants.
unsafe impl Sync for Function {}
unsafe impl Sync for Entry {}

const fn function(
    name: &'static str,
    arity: c_uint,
    code: unsafe extern "C" fn(*mut Env, c_int, *const Term) -> Term,
) -> Function {
    Function {
        name: name.as_ptr().cast(),
        arity,
        code,
        flags: 0,
    }
}

/// The host finds the callbacks in this array. A callback that is missing here is never called.
static CALLBACKS: [Function; 6] = [
    function("enabled\0", 3, enabled),
    function("trace\0", 5, trace),
    function("enabled_call\0", 3, enabled_call),
    function("trace_call\0", 5, trace_call),
    function("enabled_send\0", 3, enabled_send),
    function("trace_send\0", 5, trace_send),
];

static ENTRY: Entry = Entry {
    major: 2, // NIF 2.16: OTP 24 and later
    minor: 16,
    name: "placeholder\0".as_ptr().cast(),
    function_count: CALLBACKS.len() as c_int,
    functions: &CALLBACKS as *const Function,
    load,
    reload: std::ptr::null(),
    upgrade,
    unload,
    variant: "beam.vanilla\0".as_ptr().cast(),
    options: 1,
    resource_type_size: 5 * std::mem::size_of::<usize>(),
    oldest_runtime: "erts-12.0\0".as_ptr().cast(),
};

#[no_mangle]
pub extern "C" fn nif_init() -> *const Entry {
    &ENTRY
}
