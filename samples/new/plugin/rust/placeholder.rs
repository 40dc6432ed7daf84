//! The NIF library `placeholder`: a function of a list, and counters that live outside of Erlang's
//! heaps. No panic may leave a function that the host calls: it ends the host.

use std::os::raw::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

type Term = c_ulong;
type Env = c_void;

// The functions of the NIF API that are used here. The host has them.
extern "C" {
    fn enif_alloc_resource(kind: *mut c_void, size: usize) -> *mut c_void;
    fn enif_get_list_cell(env: *mut Env, list: Term, head: *mut Term, tail: *mut Term) -> c_int;
    fn enif_get_long(env: *mut Env, term: Term, number: *mut c_long) -> c_int;
    fn enif_get_resource(
        env: *mut Env,
        term: Term,
        kind: *mut c_void,
        object: *mut *mut c_void,
    ) -> c_int;
    fn enif_is_empty_list(env: *mut Env, term: Term) -> c_int;
    fn enif_make_atom(env: *mut Env, name: *const c_char) -> Term;
    fn enif_make_badarg(env: *mut Env) -> Term;
    fn enif_make_long(env: *mut Env, number: c_long) -> Term;
    fn enif_make_resource(env: *mut Env, object: *mut c_void) -> Term;
    fn enif_open_resource_type(
        env: *mut Env,
        module: *const c_char,
        name: *const c_char,
        destructor: Option<unsafe extern "C" fn(*mut Env, *mut c_void)>,
        flags: c_uint,
        tried: *mut c_uint,
    ) -> *mut c_void;
    fn enif_raise_exception(env: *mut Env, reason: Term) -> Term;
    fn enif_release_resource(object: *mut c_void);
}

const RT_CREATE: c_uint = 1; // ErlNifResourceFlags of erl_nif.h
const RT_TAKEOVER: c_uint = 2;
const DIRTY_CPU_BOUND: c_uint = 1; // ERL_NIF_DIRTY_JOB_CPU_BOUND

/// Functions run in several threads at once, so data that change are atomic or have a lock.
struct Counter {
    value: AtomicI64,
}

static COUNTER_TYPE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// sum(Integers) -> Integer. A term is valid until the function returns; to keep one, copy it into
/// an environment of enif_alloc_env().
unsafe extern "C" fn sum(env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    let (mut head, mut tail, mut number, mut total) = (0, *argv, 0, 0 as c_long);

    while enif_get_list_cell(env, tail, &mut head, &mut tail) != 0 {
        if enif_get_long(env, head, &mut number) == 0 {
            return enif_make_badarg(env); // an exception: return its result at once
        }
        match total.checked_add(number) {
            Some(more) => total = more,
            None => return enif_make_badarg(env),
        }
    }
    if enif_is_empty_list(env, tail) == 0 {
        return enif_make_badarg(env);
    }
    enif_make_long(env, total)
}

/// new() -> Counter
unsafe extern "C" fn new_counter(env: *mut Env, _argc: c_int, _argv: *const Term) -> Term {
    let kind = COUNTER_TYPE.load(Ordering::Acquire);
    let object = enif_alloc_resource(kind, std::mem::size_of::<Counter>());

    if object.is_null() {
        return enif_raise_exception(env, enif_make_atom(env, "enomem\0".as_ptr().cast()));
    }
    let value = AtomicI64::new(0);
    object.cast::<Counter>().write(Counter { value });
    let term = enif_make_resource(env, object);
    enif_release_resource(object); // the term holds the only reference from now on
    term
}

/// add(Counter, Integer) -> the new value
unsafe extern "C" fn add(env: *mut Env, _argc: c_int, argv: *const Term) -> Term {
    let kind = COUNTER_TYPE.load(Ordering::Acquire);
    let mut object = null_mut();
    let mut number = 0;

    if enif_get_resource(env, *argv, kind, &mut object) == 0
        || enif_get_long(env, *argv.add(1), &mut number) == 0
    {
        return enif_make_badarg(env);
    }
    let counter = &*object.cast::<Counter>();
    let before = counter.value.fetch_add(number, Ordering::SeqCst);
    enif_make_long(env, before.wrapping_add(number))
}

/// Runs when the last reference to a counter is gone. The host frees the memory itself.
unsafe extern "C" fn counter_ends(_env: *mut Env, object: *mut c_void) {
    object.cast::<Counter>().drop_in_place();
}

/// Runs before the first call. The last argument is the second one of erlang:load_nif(),
/// --load-info in tracehost.
unsafe extern "C" fn load(env: *mut Env, _private: *mut *mut c_void, _info: Term) -> c_int {
    let name = "counter\0".as_ptr().cast();
    let flags = RT_CREATE | RT_TAKEOVER;
    let kind = enif_open_resource_type(env, null(), name, Some(counter_ends), flags, null_mut());

    COUNTER_TYPE.store(kind, Ordering::Release);
    kind.is_null() as c_int // any value but 0: the library is refused
}

/// Runs instead of load when this version replaces an older one, whose counters it takes over. If
/// Counter changes, add() must know both.
unsafe extern "C" fn upgrade(
    env: *mut Env,
    private: *mut *mut c_void,
    _old_private: *mut *mut c_void,
    info: Term,
) -> c_int {
    load(env, private, info)
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
    unload: Option<unsafe extern "C" fn(*mut Env, *mut c_void)>,
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
    flags: c_uint,
) -> Function {
    Function {
        name: name.as_ptr().cast(),
        arity,
        code,
        flags,
    }
}

/// A function that may take longer than a millisecond, as one of a long list, runs in a thread for
/// such functions: on a scheduler it would stop all processes of that scheduler.
static FUNCTIONS: [Function; 3] = [
    function("sum\0", 1, sum, DIRTY_CPU_BOUND),
    function("new\0", 0, new_counter, 0),
    function("add\0", 2, add, 0),
];

static ENTRY: Entry = Entry {
    major: 2, // NIF 2.16: OTP 24 and later
    minor: 16,
    name: "placeholder\0".as_ptr().cast(),
    function_count: FUNCTIONS.len() as c_int,
    functions: &FUNCTIONS as *const Function,
    load,
    reload: null(),
    upgrade,
    unload: None,
    variant: "beam.vanilla\0".as_ptr().cast(),
    options: 1,
    resource_type_size: 5 * std::mem::size_of::<usize>(),
    oldest_runtime: "erts-12.0\0".as_ptr().cast(),
};

#[no_mangle]
pub extern "C" fn nif_init() -> *const Entry {
    &ENTRY
}
