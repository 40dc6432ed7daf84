/*
 * The NIF API as a shared object sees it, tracer or plugin: types, constants, ERL_NIF_INIT, and the
 * declarations of nif_functions.h, where each group's contract stands.
 *
 * It is compatible with OTP's header of the same name, in source and in binary: a library compiled
 * with either loads into either host, within what its version allows. It says NIF 2.18, which a
 * BEAM older than OTP 29 refuses as too new. Compile with -DERL_NIF_MINOR_VERSION=16 (OTP 24 and
 * up) or 17 (OTP 26 and up) for those; the structures are the same, functions with a later `since`
 * in nif_functions.h are then not to be called.
 *
 * A library exports nif_init(), which returns an ErlNifEntry. ERL_NIF_INIT writes it:
 *
 *     static ErlNifFunc functions[] = {{"double_it", 1, double_it, 0}};
 *     ERL_NIF_INIT(my_module, functions, load, NULL, upgrade, unload)
 *
 * C and C++, gcc and clang, LP64.
 */
#ifndef __ERL_NIF_H__
#define __ERL_NIF_H__

/* Sources with a configuration expect to get it from here, and SysIOVec depends on it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erl_drv_nif.h"
#include "nif_functions.h"
#include "nif_layout.h"

/* OTP's erl_drv_nif.h, if that one came first, has this only in later releases. */
#ifndef ERL_NAPI_EXPORT
#define ERL_NAPI_EXPORT __attribute__((visibility("default")))
#endif

/* The version that the library declares; a host refuses one that is newer than its own. */
#define ERL_NIF_MAJOR_VERSION 2
#ifndef ERL_NIF_MINOR_VERSION
#define ERL_NIF_MINOR_VERSION 18
#elif ERL_NIF_MINOR_VERSION < 16 || ERL_NIF_MINOR_VERSION > 18
#error "ERL_NIF_MINOR_VERSION: this header can make libraries for NIF 2.16, 2.17 and 2.18"
#endif

/* The oldest runtime system that knows the version. A host may show it in a refusal. */
#if ERL_NIF_MINOR_VERSION == 16
#define ERL_NIF_MIN_ERTS_VERSION "erts-12.0"
#else
#define ERL_NIF_MIN_ERTS_VERSION "erts-14.0"
#endif

/* Libraries of a lower major version are refused. */
#define ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD 2

/* The only variant there is. Part of the entry, compared as a string. */
#define ERL_NIF_VM_VARIANT "beam.vanilla"

#ifdef __cplusplus
extern "C" {
#endif

typedef ErlNapiUInt64 ErlNifUInt64;
typedef ErlNapiSInt64 ErlNifSInt64;
typedef ErlNapiUInt ErlNifUInt;
typedef ErlNapiSInt ErlNifSInt;

/* A term: one word, of which only the host knows the meaning. 0 is no term. */
typedef ErlNifUInt ERL_NIF_TERM;
typedef ERL_NIF_TERM ERL_NIF_UINT;

/* Where terms live, and who is calling. See the top of nif_functions.h. */
typedef struct enif_environment_t ErlNifEnv;

/* Time: a count of units. */
typedef ErlNifSInt64 ErlNifTime;
#define ERL_NIF_TIME_ERROR ERTS_NAPI_TIME_ERROR__

typedef enum {
    ERL_NIF_SEC = ERTS_NAPI_SEC__,
    ERL_NIF_MSEC = ERTS_NAPI_MSEC__,
    ERL_NIF_USEC = ERTS_NAPI_USEC__,
    ERL_NIF_NSEC = ERTS_NAPI_NSEC__
} ErlNifTimeUnit;

/*
 * One function of a library. `argc` is `arity`; argv[] is read only and good during the call. The
 * result is a term, or what enif_raise_exception() and its like returned. flags: 0, or the kind of
 * dirty scheduler to run on. Libraries older than 2.7 have no flags and a shorter structure.
 */
typedef struct enif_func_t {
    const char *name;
    unsigned arity;
    ERL_NIF_TERM (*fptr)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
    unsigned flags;
} ErlNifFunc;

/*
 * A library. Everything in it stays where it is until the library is closed.
 *
 * load, upgrade and unload may be NULL. load runs when no instance of the library has private data
 * yet, upgrade when an older one gives way; both leave the new instance's data in *priv_data and
 * return 0, anything else refuses the library. unload runs when the last call into this instance
 * has returned. reload is never called.
 */
typedef struct enif_entry_t {
    int major;
    int minor;
    const char *name; /* of the module; for a tracer, of the tracer */
    int num_of_funcs;
    ErlNifFunc *funcs;
    int (*load)(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info);
    int (*reload)(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info);
    int (*upgrade)(ErlNifEnv *env, void **priv_data, void **old_priv_data, ERL_NIF_TERM load_info);
    void (*unload)(ErlNifEnv *env, void *priv_data);
    const char *vm_variant;               /* from 2.1 on */
    unsigned options;                     /* from 2.7 on; 1, of no consequence */
    size_t sizeof_ErlNifResourceTypeInit; /* from 2.12 on */
    const char *min_erts;                 /* from 2.14 on */
} ErlNifEntry;

/* size and data are the caller's to read, and data's bytes to write if it allocated them; the rest
 * is the host's. Copying the structure does not copy the binary. */
typedef struct {
    size_t size;
    unsigned char *data;
    void *ref_bin;
    void *__spare__[2];
} ErlNifBinary;

/* A file descriptor. */
typedef int ErlNifEvent;

/* What enif_select() says that it did, a set of bits. */
#define ERL_NIF_SELECT_STOP_CALLED (1 << 0)
#define ERL_NIF_SELECT_STOP_SCHEDULED (1 << 1)
#define ERL_NIF_SELECT_INVALID_EVENT (1 << 2)
#define ERL_NIF_SELECT_FAILED (1 << 3)
#define ERL_NIF_SELECT_READ_CANCELLED (1 << 4)
#define ERL_NIF_SELECT_WRITE_CANCELLED (1 << 5)
#define ERL_NIF_SELECT_ERROR_CANCELLED (1 << 6)
#define ERL_NIF_SELECT_NOTSUP (1 << 7)

/* How a resource type may be opened: flags both asked for and, in *tried, reported. */
typedef enum { ERL_NIF_RT_CREATE = 1, ERL_NIF_RT_TAKEOVER = 2 } ErlNifResourceFlags;

/* UTF-8 from 2.17 on. */
typedef enum { ERL_NIF_LATIN1 = 1, ERL_NIF_UTF8 = 2 } ErlNifCharEncoding;

/* Identifiers as values, without environment. Compare pids with enif_compare_pids(). */
typedef struct {
    ERL_NIF_TERM pid;
} ErlNifPid;

typedef struct {
    ERL_NIF_TERM port_id;
} ErlNifPort;

typedef ErlDrvMonitor ErlNifMonitor;

/*
 * What a resource type does when: its last reference is gone (dtor), a file event is stopped and
 * may be closed (stop), a monitored process has ended (down), another library calls it (dyncall).
 * Any may be NULL. enif_init_resource_type() looks only at the first `members` of the four.
 */
typedef struct enif_resource_type_t ErlNifResourceType;
typedef void ErlNifResourceDtor(ErlNifEnv *caller_env, void *obj);
typedef void ErlNifResourceStop(ErlNifEnv *caller_env, void *obj, ErlNifEvent event,
                                int is_direct_call);
typedef void ErlNifResourceDown(ErlNifEnv *caller_env, void *obj, ErlNifPid *pid,
                                ErlNifMonitor *monitor);
typedef void ErlNifResourceDynCall(ErlNifEnv *caller_env, void *obj, void *call_data);

typedef struct {
    ErlNifResourceDtor *dtor;
    ErlNifResourceStop *stop;
    ErlNifResourceDown *down;
    int members;
    ErlNifResourceDynCall *dyncall;
} ErlNifResourceTypeInit;

typedef ErlDrvSysInfo ErlNifSysInfo;

/* Threads and their locks: opaque, made and destroyed by the functions of their group. */
typedef struct ErlDrvTid_ *ErlNifTid;
typedef struct ErlDrvMutex_ ErlNifMutex;
typedef struct ErlDrvCond_ ErlNifCond;
typedef struct ErlDrvRWLock_ ErlNifRWLock;
typedef int ErlNifTSDKey;
typedef ErlDrvThreadOpts ErlNifThreadOpts;

typedef enum {
    ERL_NIF_DIRTY_JOB_CPU_BOUND = ERL_DIRTY_JOB_CPU_BOUND,
    ERL_NIF_DIRTY_JOB_IO_BOUND = ERL_DIRTY_JOB_IO_BOUND
} ErlNifDirtyTaskFlags;

/* An iterator's memory, which is the caller's; its contents are the host's. */
typedef struct {
    ERL_NIF_TERM map;
    ERL_NIF_UINT size;
    ERL_NIF_UINT idx;
    union {
        struct {
            ERL_NIF_TERM *ks;
            ERL_NIF_TERM *vs;
        } flat;
        struct {
            struct ErtsDynamicWStack_ *wstack;
            ERL_NIF_TERM *kv;
        } hash;
    } u;
    void *__spare__[2];
} ErlNifMapIterator;

/* Where an iterator starts. HEAD and TAIL are the names that these had first. */
typedef enum {
    ERL_NIF_MAP_ITERATOR_FIRST = 1,
    ERL_NIF_MAP_ITERATOR_LAST = 2,
    ERL_NIF_MAP_ITERATOR_HEAD = ERL_NIF_MAP_ITERATOR_FIRST,
    ERL_NIF_MAP_ITERATOR_TAIL = ERL_NIF_MAP_ITERATOR_LAST
} ErlNifMapIteratorEntry;

/* A set of bits. */
typedef enum {
    ERL_NIF_UNIQUE_POSITIVE = 1 << 0,
    ERL_NIF_UNIQUE_MONOTONIC = 1 << 1
} ErlNifUniqueInteger;

typedef enum { ERL_NIF_BIN2TERM_SAFE = 0x20000000 } ErlNifBinaryToTerm;

typedef enum { ERL_NIF_INTERNAL_HASH = 1, ERL_NIF_PHASH2 = 2 } ErlNifHash;

/* Runs of bytes, for readv() and writev(). iovcnt, size and iov are the caller's to read; up to
 * ERL_NIF_IOVEC_SIZE runs need no memory beside the structure. */
#define ERL_NIF_IOVEC_SIZE 16

typedef struct erl_nif_io_vec {
    int iovcnt;
    size_t size;
    SysIOVec *iov;
    void **ref_bins;
    int flags;
    SysIOVec small_iov[ERL_NIF_IOVEC_SIZE];
    void *small_ref_bin[ERL_NIF_IOVEC_SIZE];
} ErlNifIOVec;

typedef struct erts_io_queue ErlNifIOQueue;
typedef enum { ERL_NIF_IOQ_NORMAL = 1 } ErlNifIOQueueOpts;

/* Answers of enif_term_type(). The last is never given: it makes compilers ask for a `default` in a
 * switch that has all the others. */
typedef enum {
    ERL_NIF_TERM_TYPE_ATOM = 1,
    ERL_NIF_TERM_TYPE_BITSTRING = 2,
    ERL_NIF_TERM_TYPE_FLOAT = 3,
    ERL_NIF_TERM_TYPE_FUN = 4,
    ERL_NIF_TERM_TYPE_INTEGER = 5,
    ERL_NIF_TERM_TYPE_LIST = 6,
    ERL_NIF_TERM_TYPE_MAP = 7,
    ERL_NIF_TERM_TYPE_PID = 8,
    ERL_NIF_TERM_TYPE_PORT = 9,
    ERL_NIF_TERM_TYPE_REFERENCE = 10,
    ERL_NIF_TERM_TYPE_TUPLE = 11,
    ERL_NIF_TERM_TYPE__MISSING_DEFAULT_CASE__READ_THE_MANUAL = -1
} ErlNifTermType;

/* Answers of enif_thread_type(). */
#define ERL_NIF_THR_UNDEFINED 0
#define ERL_NIF_THR_NORMAL_SCHEDULER 1
#define ERL_NIF_THR_DIRTY_CPU_SCHEDULER 2
#define ERL_NIF_THR_DIRTY_IO_SCHEDULER 3

/* What enif_set_option() sets: ON_HALT and ON_UNLOAD_THREAD take one of these callbacks. From 2.17;
 * ON_UNLOAD_THREAD came a release later, so a 2.17 host may answer that it is unknown. */
typedef enum {
    ERL_NIF_OPT_DELAY_HALT = 1,
    ERL_NIF_OPT_ON_HALT = 2,
    ERL_NIF_OPT_ON_UNLOAD_THREAD = 3
} ErlNifOption;

typedef void ErlNifOnHaltCallback(void *priv_data);
typedef void ErlNifOnUnloadThreadCallback(void *priv_data);

#define TH_NIF_DECLARE(group, type, name, parameters, since) \
    ERL_NAPI_EXPORT extern type name parameters;
TH_NIF_FUNCTIONS(TH_NIF_DECLARE)
TH_NIF_COMPANIONS(TH_NIF_DECLARE)
#undef TH_NIF_DECLARE

/* The list again for those who hand out memory, with what the list has no column for. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
extern void *enif_alloc(size_t size) ERL_NAPI_ATTR_MALLOC_USD(1, enif_free, 1);
extern void *enif_realloc(void *ptr, size_t size) ERL_NAPI_ATTR_ALLOC_SIZE(2);
extern void *enif_alloc_resource(ErlNifResourceType *type, size_t size) ERL_NAPI_ATTR_MALLOC_US(2);
extern ErlNifEnv *enif_alloc_env(void) ERL_NAPI_ATTR_WUR;
extern ErlNifMutex *enif_mutex_create(char *name) ERL_NAPI_ATTR_MALLOC_D(enif_mutex_destroy, 1);
extern ErlNifCond *enif_cond_create(char *name) ERL_NAPI_ATTR_MALLOC_D(enif_cond_destroy, 1);
extern ErlNifRWLock *enif_rwlock_create(char *name) ERL_NAPI_ATTR_MALLOC_D(enif_rwlock_destroy, 1);
extern ErlNifThreadOpts *enif_thread_opts_create(char *name)
    ERL_NAPI_ATTR_MALLOC_D(enif_thread_opts_destroy, 1);
extern ErlNifIOQueue *enif_ioq_create(ErlNifIOQueueOpts opts)
    ERL_NAPI_ATTR_MALLOC_D(enif_ioq_destroy, 1);
#pragma GCC diagnostic pop

/* `long` has 64 bits, so these are the same functions, and only the long ones are imported: a BEAM
 * exports no others. A host that defines the others too has to undefine these first. */
#define enif_get_int64 enif_get_long
#define enif_get_uint64 enif_get_ulong
#define enif_make_int64 enif_make_long
#define enif_make_uint64 enif_make_ulong

/*
 * enif_make_tuple1(env, e1) to enif_make_tuple9(env, e1, ... e9), and lists alike. Functions,
 * because an argument of enif_make_tuple() itself that is not a whole term, such as 0, goes
 * unnoticed.
 */
#define TH_NIF_P1 ERL_NIF_TERM e1
#define TH_NIF_P2 TH_NIF_P1, ERL_NIF_TERM e2
#define TH_NIF_P3 TH_NIF_P2, ERL_NIF_TERM e3
#define TH_NIF_P4 TH_NIF_P3, ERL_NIF_TERM e4
#define TH_NIF_P5 TH_NIF_P4, ERL_NIF_TERM e5
#define TH_NIF_P6 TH_NIF_P5, ERL_NIF_TERM e6
#define TH_NIF_P7 TH_NIF_P6, ERL_NIF_TERM e7
#define TH_NIF_P8 TH_NIF_P7, ERL_NIF_TERM e8
#define TH_NIF_P9 TH_NIF_P8, ERL_NIF_TERM e9

#define TH_NIF_MAKE(n, ...)                                                        \
    static __inline__ ERL_NIF_TERM enif_make_tuple##n(ErlNifEnv *env, TH_NIF_P##n) \
    {                                                                              \
        return enif_make_tuple(env, n, __VA_ARGS__);                               \
    }                                                                              \
    static __inline__ ERL_NIF_TERM enif_make_list##n(ErlNifEnv *env, TH_NIF_P##n)  \
    {                                                                              \
        return enif_make_list(env, n, __VA_ARGS__);                                \
    }

/* clang-format off */
TH_NIF_MAKE(1, e1)
TH_NIF_MAKE(2, e1, e2)
TH_NIF_MAKE(3, e1, e2, e3)
TH_NIF_MAKE(4, e1, e2, e3, e4)
TH_NIF_MAKE(5, e1, e2, e3, e4, e5)
TH_NIF_MAKE(6, e1, e2, e3, e4, e5, e6)
TH_NIF_MAKE(7, e1, e2, e3, e4, e5, e6, e7)
TH_NIF_MAKE(8, e1, e2, e3, e4, e5, e6, e7, e8)
TH_NIF_MAKE(9, e1, e2, e3, e4, e5, e6, e7, e8, e9)
/* clang-format on */

#undef TH_NIF_MAKE
#undef TH_NIF_P1
#undef TH_NIF_P2
#undef TH_NIF_P3
#undef TH_NIF_P4
#undef TH_NIF_P5
#undef TH_NIF_P6
#undef TH_NIF_P7
#undef TH_NIF_P8
#undef TH_NIF_P9

/* The term in an ErlNifPid: good in every environment. */
#define enif_make_pid(ENV, PID) ((void)(ENV), (PID)->pid)

/* The order of two pids, as enif_compare() has it. */
#define enif_compare_pids(A, B) (enif_compare((A)->pid, (B)->pid))

/* enif_select_x() for one kind of event: send MSG, of MSG_ENV, to PID. */
#define enif_select_read(ENV, E, OBJ, PID, MSG, MSG_ENV) \
    enif_select_x(ENV, E, TH_NIF_SELECT_CUSTOM(READ), OBJ, PID, MSG, MSG_ENV)
#define enif_select_write(ENV, E, OBJ, PID, MSG, MSG_ENV) \
    enif_select_x(ENV, E, TH_NIF_SELECT_CUSTOM(WRITE), OBJ, PID, MSG, MSG_ENV)
#define enif_select_error(ENV, E, OBJ, PID, MSG, MSG_ENV) \
    enif_select_x(ENV, E, TH_NIF_SELECT_CUSTOM(ERROR), OBJ, PID, MSG, MSG_ENV)
#ifdef __cplusplus
#define TH_NIF_SELECT_CUSTOM(KIND) \
    static_cast<enum ErlNifSelectFlags>(ERL_NIF_SELECT_##KIND | ERL_NIF_SELECT_CUSTOM_MSG)
#else
#define TH_NIF_SELECT_CUSTOM(KIND) (ERL_NIF_SELECT_##KIND | ERL_NIF_SELECT_CUSTOM_MSG)
#endif

#ifdef __cplusplus
}
#define ERL_NIF_INIT_PROLOGUE extern "C" {
#define ERL_NIF_INIT_EPILOGUE }
#else
#define ERL_NIF_INIT_PROLOGUE
#define ERL_NIF_INIT_EPILOGUE
#endif

/*
 * The function that returns the entry: nif_init() of a shared object; MODULE_nif_init() with
 * STATIC_ERLANG_NIF, LIBNAME_nif_init() with STATIC_ERLANG_NIF_LIBNAME=LIBNAME, for libraries that
 * are linked into a host. The pieces have the names that they have in OTP's header, for sources
 * which write a nif_init() of their own.
 */
#define ERL_NIF_INIT_GLOB
#define ERL_NIF_INIT_ARGS void
#define ERL_NIF_INIT_BODY
#define ERL_NIF_INIT_EXPORT ERL_NAPI_EXPORT

#if defined(STATIC_ERLANG_NIF_LIBNAME)
#ifndef STATIC_ERLANG_NIF
#define STATIC_ERLANG_NIF
#endif
#define ERL_NIF_INIT_NAME(MODULE) TH_NIF_INIT_PASTE(STATIC_ERLANG_NIF_LIBNAME)
#define TH_NIF_INIT_PASTE(LIBNAME) TH_NIF_INIT_PASTED(LIBNAME)
#define TH_NIF_INIT_PASTED(LIBNAME) LIBNAME##_nif_init
#elif defined(STATIC_ERLANG_NIF)
#define ERL_NIF_INIT_NAME(MODULE) MODULE##_nif_init
#endif

#ifdef STATIC_ERLANG_NIF
#define ERL_NIF_INIT_DECL(MODULE) ErlNifEntry *ERL_NIF_INIT_NAME(MODULE)(ERL_NIF_INIT_ARGS)
#else
#define ERL_NIF_INIT_DECL(MODULE) ERL_NIF_INIT_EXPORT ErlNifEntry *nif_init(ERL_NIF_INIT_ARGS)
#endif

/* FUNCS is an array, not a pointer. RELOAD is NULL. */
#define ERL_NIF_INIT(NAME, FUNCS, LOAD, RELOAD, UPGRADE, UNLOAD)      \
    ERL_NIF_INIT_PROLOGUE                                             \
    ERL_NIF_INIT_GLOB                                                 \
    ERL_NIF_INIT_DECL(NAME);                                          \
    ERL_NIF_INIT_DECL(NAME)                                           \
    {                                                                 \
        static ErlNifEntry entry = {ERL_NIF_MAJOR_VERSION,            \
                                    ERL_NIF_MINOR_VERSION,            \
                                    #NAME,                            \
                                    sizeof(FUNCS) / sizeof(*(FUNCS)), \
                                    FUNCS,                            \
                                    LOAD,                             \
                                    RELOAD,                           \
                                    UPGRADE,                          \
                                    UNLOAD,                           \
                                    ERL_NIF_VM_VARIANT,               \
                                    1,                                \
                                    sizeof(ErlNifResourceTypeInit),   \
                                    ERL_NIF_MIN_ERTS_VERSION};        \
        ERL_NIF_INIT_BODY;                                            \
        return &entry;                                                \
    }                                                                 \
    ERL_NIF_INIT_EPILOGUE

/* The structures above against the measured layout, the constants against the measured values. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define TH_NIF_ASSERT_TYPE(type, size, align) \
    static_assert(sizeof(type) == (size) && alignof(type) == (align), "layout of " #type);
#define TH_NIF_ASSERT_FIELD(type, field, offset, size)                                \
    static_assert(offsetof(type, field) == (offset) && sizeof(type::field) == (size), \
                  "layout of " #type "." #field);
#define TH_NIF_ASSERT_VALUE(name, value) \
    static_assert(static_cast<ErlNifSInt64>(name) == (value), "value of " #name);
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TH_NIF_ASSERT_TYPE(type, size, align) \
    _Static_assert(sizeof(type) == (size) && _Alignof(type) == (align), "layout of " #type);
#define TH_NIF_ASSERT_FIELD(type, field, offset, size)                                        \
    _Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (size), \
                   "layout of " #type "." #field);
#define TH_NIF_ASSERT_VALUE(name, value) \
    _Static_assert((ErlNifSInt64)(name) == (value), "value of " #name);
#endif
#ifdef TH_NIF_ASSERT_TYPE
TH_NIF_TYPES(TH_NIF_ASSERT_TYPE)
TH_NIF_FIELDS(TH_NIF_ASSERT_FIELD)
TH_NIF_CONSTANTS(TH_NIF_ASSERT_VALUE)
TH_NIF_LATER_CONSTANTS(TH_NIF_ASSERT_VALUE)
#undef TH_NIF_ASSERT_TYPE
#undef TH_NIF_ASSERT_FIELD
#undef TH_NIF_ASSERT_VALUE
#endif

#endif
