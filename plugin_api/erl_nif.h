/*
 * Declares the NIF API for shared objects, tracers and plugins: types, constants, functions in
 * groups, each with its contract, and ERL_NIF_INIT. A table of the functions is made from the
 * declarations: nif_functions.h, which is installed beside this header.
 *
 * The header is compatible with OTP's header of the same name, in source and in binary: a library
 * compiled with either loads into either host, within the limits of its version. The header
 * declares NIF 2.18, which a BEAM older than OTP 29 refuses as too new. Compile with
 * -DERL_NIF_MINOR_VERSION=16 (OTP 24 and up) or 17 (OTP 26 and up) for those; the structures are
 * the same. A library for an older version must not call functions whose comment has a later
 * "Since:".
 *
 * A library exports nif_init(), which returns an ErlNifEntry. ERL_NIF_INIT writes it:
 *
 *     static ErlNifFunc functions[] = {{"double_it", 1, double_it, 0}};
 *     ERL_NIF_INIT(my_module, functions, load, NULL, upgrade, unload)
 *
 * C and C++, gcc and clang, LP64.
 *
 * Long because: the whole NIF API is to be found in one place.
 */
#ifndef __ERL_NIF_H__
#define __ERL_NIF_H__

/* Sources with a configuration expect this header to include it, and SysIOVec depends on it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erl_drv_nif.h"
#include "nif_layout.h"

/* If OTP's erl_drv_nif.h was included first, it defines this macro only in later releases. */
#ifndef ERL_NAPI_EXPORT
#define ERL_NAPI_EXPORT __attribute__((visibility("default")))
#endif

/* --- Versions and types ----------------------------------------------------------------------- */

/* Version that the library declares; a host refuses a version newer than its own. */
#define ERL_NIF_MAJOR_VERSION 2
#ifndef ERL_NIF_MINOR_VERSION
#define ERL_NIF_MINOR_VERSION 18
#elif ERL_NIF_MINOR_VERSION < 16 || ERL_NIF_MINOR_VERSION > 18
#error "ERL_NIF_MINOR_VERSION: this header can make libraries for NIF 2.16, 2.17 and 2.18"
#endif

/* Oldest runtime system that supports the version. A host may show it in a refusal. */
#if ERL_NIF_MINOR_VERSION == 16
#define ERL_NIF_MIN_ERTS_VERSION "erts-12.0"
#else
#define ERL_NIF_MIN_ERTS_VERSION "erts-14.0"
#endif

/* The host refuses libraries of a lower major version. */
#define ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD 2

/* The only variant. Part of the entry, compared as a string. */
#define ERL_NIF_VM_VARIANT "beam.vanilla"

#ifdef __cplusplus
extern "C" {
#endif

typedef ErlNapiUInt64 ErlNifUInt64;
typedef ErlNapiSInt64 ErlNifSInt64;
typedef ErlNapiUInt ErlNifUInt;
typedef ErlNapiSInt ErlNifSInt;

/* A term: one opaque word. 0 is no term. */
typedef ErlNifUInt ERL_NIF_TERM;
typedef ERL_NIF_TERM ERL_NIF_UINT;

/* An environment: holds terms, and identifies the caller. */
typedef struct enif_environment_t ErlNifEnv;

/* A time: a count of units. */
typedef ErlNifSInt64 ErlNifTime;
#define ERL_NIF_TIME_ERROR ERTS_NAPI_TIME_ERROR__

typedef enum {
    ERL_NIF_SEC = ERTS_NAPI_SEC__,
    ERL_NIF_MSEC = ERTS_NAPI_MSEC__,
    ERL_NIF_USEC = ERTS_NAPI_USEC__,
    ERL_NIF_NSEC = ERTS_NAPI_NSEC__
} ErlNifTimeUnit;

/*
 * A function of a library. `argc` is `arity`; argv[] is read only and valid during the call. The
 * result is a term, or the result of enif_raise_exception() and the like. flags: 0, or the kind of
 * dirty scheduler that runs the function. Libraries older than 2.7 have no flags and a shorter
 * structure.
 */
typedef struct enif_func_t {
    const char *name;
    unsigned arity;
    ERL_NIF_TERM (*fptr)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
    unsigned flags;
} ErlNifFunc;

/*
 * The entry of a library. Everything in it stays at its address until the library is closed.
 *
 * load, upgrade and unload may be NULL. The host calls load if no instance of the library has
 * private data yet, and upgrade if the new instance replaces an older one; both store the new
 * instance's data in *priv_data and return 0; any other result refuses the library. The host calls
 * unload after the last call into this instance has returned. It never calls reload.
 */
typedef struct enif_entry_t {
    int major;
    int minor;
    const char *name; /* name of the module, or of the tracer */
    int num_of_funcs;
    ErlNifFunc *funcs;
    int (*load)(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info);
    int (*reload)(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info);
    int (*upgrade)(ErlNifEnv *env, void **priv_data, void **old_priv_data, ERL_NIF_TERM load_info);
    void (*unload)(ErlNifEnv *env, void *priv_data);
    const char *vm_variant;               /* from 2.1 on */
    unsigned options;                     /* from 2.7 on; 1, without effect */
    size_t sizeof_ErlNifResourceTypeInit; /* from 2.12 on */
    const char *min_erts;                 /* from 2.14 on */
} ErlNifEntry;

/* A binary. A library may read size and data, and write data's bytes if it allocated them; the rest
 * is the host's. A copy of the structure is no copy of the binary. */
typedef struct {
    size_t size;
    unsigned char *data;
    void *ref_bin;
    void *__spare__[2];
} ErlNifBinary;

/* A file descriptor. */
typedef int ErlNifEvent;

/* Bits of the result of enif_select(). */
#define ERL_NIF_SELECT_STOP_CALLED (1 << 0)
#define ERL_NIF_SELECT_STOP_SCHEDULED (1 << 1)
#define ERL_NIF_SELECT_INVALID_EVENT (1 << 2)
#define ERL_NIF_SELECT_FAILED (1 << 3)
#define ERL_NIF_SELECT_READ_CANCELLED (1 << 4)
#define ERL_NIF_SELECT_WRITE_CANCELLED (1 << 5)
#define ERL_NIF_SELECT_ERROR_CANCELLED (1 << 6)
#define ERL_NIF_SELECT_NOTSUP (1 << 7)

/* Ways to open a resource type: a set of bits as an argument, one of them in *tried as a result. */
typedef enum { ERL_NIF_RT_CREATE = 1, ERL_NIF_RT_TAKEOVER = 2 } ErlNifResourceFlags;

/* UTF-8 from 2.17 on. */
typedef enum { ERL_NIF_LATIN1 = 1, ERL_NIF_UTF8 = 2 } ErlNifCharEncoding;

/* Identifiers as values, valid without an environment. Compare pids with enif_compare_pids(). */
typedef struct {
    ERL_NIF_TERM pid;
} ErlNifPid;
typedef struct {
    ERL_NIF_TERM port_id;
} ErlNifPort;

typedef ErlDrvMonitor ErlNifMonitor;

/*
 * Callbacks of a resource type: dtor when its last reference is gone; stop when a file event is
 * stopped and the descriptor may be closed; down when a monitored process has ended; dyncall when
 * another library calls it. Any may be NULL. enif_init_resource_type() reads only the first
 * `members` of the four.
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

/* Memory of a map iterator, owned by the caller; its contents are the host's. */
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

/* Start of a map iterator. HEAD and TAIL are the older names. */
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

/* A vector of byte ranges, for readv() and writev(). A library may read iovcnt, size and iov; up to
 * ERL_NIF_IOVEC_SIZE ranges need no memory outside of the structure. */
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

/* Results of enif_term_type(). The last is never returned: it makes compilers warn about a switch
 * that has all the others and no `default`. */
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

/* Results of enif_thread_type(). */
#define ERL_NIF_THR_UNDEFINED 0
#define ERL_NIF_THR_NORMAL_SCHEDULER 1
#define ERL_NIF_THR_DIRTY_CPU_SCHEDULER 2
#define ERL_NIF_THR_DIRTY_IO_SCHEDULER 3

/* Options of enif_set_option(): ON_HALT and ON_UNLOAD_THREAD take one of the callbacks below. From
 * 2.17; ON_UNLOAD_THREAD came a release later, so a 2.17 host may refuse it as unknown. */
typedef enum {
    ERL_NIF_OPT_DELAY_HALT = 1,
    ERL_NIF_OPT_ON_HALT = 2,
    ERL_NIF_OPT_ON_UNLOAD_THREAD = 3
} ErlNifOption;

typedef void ErlNifOnHaltCallback(void *priv_data);
typedef void ErlNifOnUnloadThreadCallback(void *priv_data);

/* --- Functions -------------------------------------------------------------------------------- */

/*
 * Rules for all functions, unless a group or a function has another one:
 *
 * Environments. An ErlNifEnv holds terms. The environment of a NIF or callback is valid until that
 * call returns, on that thread; an environment of enif_alloc_env() is valid until it is cleared or
 * freed, and one thread at a time uses it. A term is used with its own environment;
 * enif_make_copy() copies it into another one. Atoms, pids, ports and small integers are the same
 * word in every environment.
 *
 * Success. An `int` result is non-zero for yes and for success, 0 for no and for "not such a term";
 * with the result 0, nothing was written to the outputs. Getters do not raise. An ERL_NIF_TERM
 * result is always a term, except after an exception: then the caller must return that result at
 * once.
 *
 * Thread: functions without an environment may be called from any thread. On a thread of the
 * library's own, the library passes NULL for an environment that only identifies the caller: to
 * send, to look up names, to check whether a process or port is alive, to monitor.
 *
 * Since: the first NIF version that has the function; 2.0 if the line is missing.
 *
 * Source: OTP's documentation of erl_nif, in words of this project, and measurements on OTP 25.
 */

/**
 * @defgroup nif_env Environments and private data
 * Environments of the library's own hold terms that outlive a call, and messages.
 *
 * On failure: nothing fails; NULL for private data where no code of a library runs.
 * @{
 */

/** Returns the pointer that `load` or `upgrade` stored in *priv_data.
 * Owner: the library, which also decides who may write to the memory behind the pointer. */
ERL_NAPI_EXPORT void *enif_priv_data(ErlNifEnv *env);

/** Makes an empty environment that is bound to no call.
 * Owner: the caller, until enif_free_env(). */
ERL_NAPI_EXPORT ErlNifEnv *enif_alloc_env(void) ERL_NAPI_ATTR_WUR;

/** Frees an environment of enif_alloc_env() and all its terms.
 * Order: never the environment of a call. */
ERL_NAPI_EXPORT void enif_free_env(ErlNifEnv *env);

/** Frees all terms of an environment of enif_alloc_env(), which stays usable.
 * Order: never the environment of a call. */
ERL_NAPI_EXPORT void enif_clear_env(ErlNifEnv *env);

/** Copies SRC_TERM completely into DST_ENV, binaries by reference. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_copy(ErlNifEnv *dst_env, ERL_NIF_TERM src_term);

/** @} */

/**
 * @defgroup nif_compare What a term is
 * Terms of different environments may be compared while neither environment changes.
 *
 * On failure: nothing fails; 0 is no.
 * @{
 */

/** Returns whether TERM is a reference. */
ERL_NAPI_EXPORT int enif_is_ref(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns whether the terms are equal as by Erlang's `=:=`: 1 and 1.0 differ. */
ERL_NAPI_EXPORT int enif_is_identical(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs);

/** Compares by Erlang's order of all terms, in which 1 and 1.0 are equal: negative, 0 or positive.
 */
ERL_NAPI_EXPORT int enif_compare(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs);

/** Returns whether TERM is a fun. */
ERL_NAPI_EXPORT int enif_is_fun(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns whether TERM is an integer or a float.
 * Since: 2.3. */
ERL_NAPI_EXPORT int enif_is_number(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns the type of TERM. Later versions may add types: a switch needs a `default`.
 * Since: 2.15. */
ERL_NAPI_EXPORT ErlNifTermType enif_term_type(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns the bytes of a copy of TERM, without the word of the term itself and without the data
 * that binaries refer to.
 * Since: 2.18. */
ERL_NAPI_EXPORT size_t enif_term_size(ERL_NIF_TERM term);

/** @} */

/**
 * @defgroup nif_atoms Atoms
 * An atom is one word, the same in every environment, for ever: make it once in `load` and compare
 * with ==. The table of atoms never shrinks: for names from outside use the functions that only
 * find existing atoms. An atom has at most 255 characters. Lengths are in bytes of the given
 * encoding.
 *
 * On failure: 0; enif_make_atom() and enif_make_atom_len() raise badarg.
 * @{
 */

/** Returns whether TERM is an atom. */
ERL_NAPI_EXPORT int enif_is_atom(ErlNifEnv *env, ERL_NIF_TERM term);

/** Makes the atom of the Latin-1 text NAME, which ends with a 0.
 * Errors: over 255 characters raise badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_atom(ErlNifEnv *env, const char *name);

/** Finds the atom NAME, which ends with a 0, without making one.
 * Errors: 0 if there is no such atom. */
ERL_NAPI_EXPORT int enif_make_existing_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom,
                                            ErlNifCharEncoding encoding);

/** Writes the name of ATOM and a 0 to BUF of LEN bytes; returns the bytes written, the 0 included.
 * Errors: 0 if BUF is too short, or the name has a character that ENCODING lacks. */
ERL_NAPI_EXPORT int enif_get_atom(ErlNifEnv *env, ERL_NIF_TERM atom, char *buf, unsigned len,
                                  ErlNifCharEncoding encoding);

/** Gets the length of the name of ATOM, without a terminating 0.
 * Errors: 0 if the name has a character that ENCODING lacks. */
ERL_NAPI_EXPORT int enif_get_atom_length(ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *len,
                                         ErlNifCharEncoding encoding);

/** Makes the atom of LEN bytes of Latin-1.
 * Errors: over 255 characters raise badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_atom_len(ErlNifEnv *env, const char *name, size_t len);

/** Finds the atom of LEN bytes at NAME, without making one.
 * Errors: 0 if there is no such atom. */
ERL_NAPI_EXPORT int enif_make_existing_atom_len(ErlNifEnv *env, const char *name, size_t len,
                                                ERL_NIF_TERM *atom, ErlNifCharEncoding encoding);

/** Makes the atom NAME, which ends with a 0.
 * Errors: 0, without an exception, for over 255 characters and for bytes that are invalid in
 * ENCODING.
 * Since: 2.17. */
ERL_NAPI_EXPORT int enif_make_new_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom,
                                       ErlNifCharEncoding encoding);

/** Makes the atom of LEN bytes at NAME.
 * Errors: as enif_make_new_atom().
 * Since: 2.17. */
ERL_NAPI_EXPORT int enif_make_new_atom_len(ErlNifEnv *env, const char *name, size_t len,
                                           ERL_NIF_TERM *atom, ErlNifCharEncoding encoding);

/** Gets a small number for tables of the library's own, from 0 to enif_max_atom_cache_index();
 * different atoms may share it.
 * Since: 2.18. */
ERL_NAPI_EXPORT int enif_get_atom_cache_index(ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *index);

/** Returns the largest index that enif_get_atom_cache_index() gives.
 * Since: 2.18. */
ERL_NAPI_EXPORT unsigned enif_max_atom_cache_index(void);

/** @} */

/**
 * @defgroup nif_numbers Numbers
 * A getter fails for a term of another kind (an integer, for enif_get_double()) and for an integer
 * that the C type cannot hold. On LP64 the names of the four 64-bit functions stand for the `long`
 * functions, which are the ones that libraries import.
 *
 * On failure: 0; enif_make_double() raises badarg.
 * @{
 */

/** Gets an integer as an int. */
ERL_NAPI_EXPORT int enif_get_int(ErlNifEnv *env, ERL_NIF_TERM term, int *ip);

/** Gets an integer as an unsigned long. */
ERL_NAPI_EXPORT int enif_get_ulong(ErlNifEnv *env, ERL_NIF_TERM term, unsigned long *ip);

/** Gets a float; fails for an integer. */
ERL_NAPI_EXPORT int enif_get_double(ErlNifEnv *env, ERL_NIF_TERM term, double *dp);

/** Makes an integer of an int. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_int(ErlNifEnv *env, int i);

/** Makes an integer of an unsigned long. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_ulong(ErlNifEnv *env, unsigned long i);

/** Makes a float.
 * Errors: infinities and not-a-numbers raise badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_double(ErlNifEnv *env, double d);

/** Gets an integer as an unsigned. */
ERL_NAPI_EXPORT int enif_get_uint(ErlNifEnv *env, ERL_NIF_TERM term, unsigned *ip);

/** Gets an integer as a long. */
ERL_NAPI_EXPORT int enif_get_long(ErlNifEnv *env, ERL_NIF_TERM term, long *ip);

/** Makes an integer of an unsigned. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_uint(ErlNifEnv *env, unsigned i);

/** Makes an integer of a long. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_long(ErlNifEnv *env, long i);

/** Gets an integer of 64 bits; on LP64 the name stands for enif_get_long(). */
ERL_NAPI_EXPORT int enif_get_int64(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifSInt64 *ip);

/** Gets an integer of 64 bits, not negative; on LP64 the name stands for enif_get_ulong(). */
ERL_NAPI_EXPORT int enif_get_uint64(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifUInt64 *ip);

/** Makes an integer of 64 bits; on LP64 the name stands for enif_make_long(). */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_int64(ErlNifEnv *env, ErlNifSInt64 i);

/** Makes an integer of 64 bits, not negative; on LP64 the name stands for enif_make_ulong(). */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_uint64(ErlNifEnv *env, ErlNifUInt64 i);

/** @} */

/**
 * @defgroup nif_binaries Binaries and vectors of them
 * There are two kinds of ErlNifBinary. An *inspected* one refers to a term's bytes: read only,
 * valid as long as the term, never released. An *allocated* one (enif_alloc_binary(),
 * enif_term_to_binary(), enif_realloc_binary() of such) may be written, and is given to either
 * enif_release_binary() or enif_make_binary() in the end. Sizes and positions are in bytes.
 *
 * On failure: 0, or NULL; enif_make_sub_binary() raises badarg.
 * @{
 */

/** Returns whether TERM is a binary: a bitstring of whole bytes. */
ERL_NAPI_EXPORT int enif_is_binary(ErlNifEnv *env, ERL_NIF_TERM term);

/** Sets *BIN to the bytes of a binary.
 * Owner: the term; the bytes are read only, and valid as long as the term. */
ERL_NAPI_EXPORT int enif_inspect_binary(ErlNifEnv *env, ERL_NIF_TERM bin_term, ErlNifBinary *bin);

/** Allocates SIZE bytes, whose content is undefined.
 * Owner: the caller, until enif_release_binary() or enif_make_binary(). */
ERL_NAPI_EXPORT int enif_alloc_binary(size_t size, ErlNifBinary *bin);

/** Changes the size of an allocated binary; an inspected one is copied first.
 * Errors: 0; the binary is unchanged. */
ERL_NAPI_EXPORT int enif_realloc_binary(ErlNifBinary *bin, size_t size);

/** Frees an allocated binary that was not made a term. */
ERL_NAPI_EXPORT void enif_release_binary(ErlNifBinary *bin);

/** Makes a term of an allocated binary.
 * Owner: the term; the bytes stay valid, but read only, until the call returns. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_binary(ErlNifEnv *env, ErlNifBinary *bin);

/** Sets *BIN to the bytes of iodata, as one binary.
 * Owner: if TERM is a binary, the environment of TERM; if TERM is a list, ENV. The bytes are read
 * only and never released.
 * Errors: 0 if TERM is no iodata. */
ERL_NAPI_EXPORT int enif_inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM term,
                                                  ErlNifBinary *bin);

/** Makes a binary of SIZE bytes of BIN_TERM from POS on, which shares these bytes.
 * Errors: a range that is not inside BIN_TERM raises badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv *env, ERL_NIF_TERM bin_term, size_t pos,
                                                  size_t size);

/** Makes a binary term of SIZE bytes, and returns the bytes for writing.
 * Owner: the term.
 * Order: the caller writes the bytes before it passes on the term. */
ERL_NAPI_EXPORT unsigned char *enif_make_new_binary(ErlNifEnv *env, size_t size,
                                                    ERL_NIF_TERM *termp);

/** Sets *IOVEC to the bytes of a list of binaries, for writev(): of at least one binary of the
 * list, at most MAX_LENGTH; empty binaries count and add no range. *TAIL gets the rest of the
 * list.
 * Owner: if *IOVEC is not NULL and has room for the ranges, that structure is filled; else *IOVEC
 * gets a new vector. If ENV is not NULL, the vector is valid as long as ENV. If ENV is NULL, the
 * vector has references to the binaries, and the caller must end either vector with
 * enif_free_iovec().
 * Since: 2.13. */
ERL_NAPI_EXPORT int enif_inspect_iovec(ErlNifEnv *env, size_t max_length, ERL_NIF_TERM iovec_term,
                                       ERL_NIF_TERM *tail, ErlNifIOVec **iovec);

/** Frees a vector that enif_inspect_iovec() made without an environment.
 * Since: 2.13. */
ERL_NAPI_EXPORT void enif_free_iovec(ErlNifIOVec *iov);

/** @} */

/**
 * @defgroup nif_lists Lists, and strings, which are lists of characters
 * enif_make_list1() to enif_make_list9(), below, check the types of their arguments.
 *
 * On failure: 0, minus the bytes written for a string that was cut; enif_make_string() and
 * enif_make_string_len() raise badarg.
 * @{
 */

/** Gets the head and tail of a cell; [] has none. */
ERL_NAPI_EXPORT int enif_get_list_cell(ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *head,
                                       ERL_NIF_TERM *tail);

/** Makes a list of CNT terms, each of which must be a whole ERL_NIF_TERM. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_list(ErlNifEnv *env, unsigned cnt, ...);

/** Makes the cell [CAR | CDR]. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_list_cell(ErlNifEnv *env, ERL_NIF_TERM car,
                                                 ERL_NIF_TERM cdr);

/** Makes the list of the characters of STRING, which ends with a 0.
 * Errors: bytes that are invalid in ENCODING raise badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_string(ErlNifEnv *env, const char *string,
                                              ErlNifCharEncoding encoding);

/** Writes a list of characters and a 0 to BUF of LEN bytes; returns the bytes written, the 0
 * included.
 * Errors: if the text was cut, minus the bytes written: whole characters, and the 0. 0 if LIST is
 * no string in ENCODING; BUF is then undefined. */
ERL_NAPI_EXPORT int enif_get_string(ErlNifEnv *env, ERL_NIF_TERM list, char *buf, unsigned len,
                                    ErlNifCharEncoding encoding);

/** Makes a list of the CNT terms of ARR. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[],
                                                       unsigned cnt);

/** Returns whether TERM is []. */
ERL_NAPI_EXPORT int enif_is_empty_list(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns whether TERM is [] or a cell, of a proper list or not. */
ERL_NAPI_EXPORT int enif_is_list(ErlNifEnv *env, ERL_NIF_TERM term);

/** Gets the number of elements.
 * Errors: 0 for an improper list. */
ERL_NAPI_EXPORT int enif_get_list_length(ErlNifEnv *env, ERL_NIF_TERM term, unsigned *len);

/** Makes the list of the characters of LEN bytes at STRING.
 * Errors: bytes that are invalid in ENCODING raise badarg. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_string_len(ErlNifEnv *env, const char *string, size_t len,
                                                  ErlNifCharEncoding encoding);

/** Makes the list in reverse order.
 * Errors: 0 for an improper list.
 * Since: 2.3. */
ERL_NAPI_EXPORT int enif_make_reverse_list(ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *list);

/** Gets the bytes that a list of characters takes in ENCODING, without a terminating 0.
 * Since: 2.17. */
ERL_NAPI_EXPORT int enif_get_string_length(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *len,
                                           ErlNifCharEncoding encoding);

/** @} */

/**
 * @defgroup nif_tuples Tuples
 * enif_make_tuple1() to enif_make_tuple9(), below, check the types of their arguments.
 *
 * On failure: 0.
 * @{
 */

/** Gets the number of elements, and a pointer to them; the array of an empty tuple must not be
 * read.
 * Owner: the term; the array is read only, and valid as long as the term. */
ERL_NAPI_EXPORT int enif_get_tuple(ErlNifEnv *env, ERL_NIF_TERM tpl, int *arity,
                                   const ERL_NIF_TERM **array);

/** Makes a tuple of CNT terms, each of which must be a whole ERL_NIF_TERM. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned cnt, ...);

/** Makes a tuple of the CNT terms of ARR. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[],
                                                        unsigned cnt);

/** Returns whether TERM is a tuple. */
ERL_NAPI_EXPORT int enif_is_tuple(ErlNifEnv *env, ERL_NIF_TERM term);

/** @} */

/**
 * @defgroup nif_maps Maps
 * Maps are values: put, update and remove make a new map and leave the old one unchanged. An
 * iterator is at a pair, before the first one (head) or behind the last one (tail). The order of
 * pairs is unspecified.
 *
 * On failure: 0.
 * @{
 */

/** Returns whether TERM is a map.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_is_map(ErlNifEnv *env, ERL_NIF_TERM term);

/** Gets the number of pairs.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_get_map_size(ErlNifEnv *env, ERL_NIF_TERM term, size_t *size);

/** Makes an empty map.
 * Since: 2.6. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_new_map(ErlNifEnv *env);

/** Makes a map in which KEY has VALUE, whether MAP_IN has KEY or not.
 * Errors: 0 only if MAP_IN is no map.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_make_map_put(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key,
                                      ERL_NIF_TERM value, ERL_NIF_TERM *map_out);

/** Gets the value of KEY.
 * Errors: 0 if KEY is absent.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_get_map_value(ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM key,
                                       ERL_NIF_TERM *value);

/** Makes a map in which KEY, which MAP_IN must have, has VALUE.
 * Errors: 0 also if KEY is absent.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_make_map_update(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key,
                                         ERL_NIF_TERM value, ERL_NIF_TERM *map_out);

/** Makes a map without KEY.
 * Errors: 0 only if MAP_IN is no map.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_make_map_remove(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key,
                                         ERL_NIF_TERM *map_out);

/** Begins an iteration at ENTRY, the first or the last pair.
 * Owner: the caller, until enif_map_iterator_destroy() in the same call, while the map is valid.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_create(ErlNifEnv *env, ERL_NIF_TERM map,
                                             ErlNifMapIterator *iter, ErlNifMapIteratorEntry entry);

/** Ends an iteration.
 * Since: 2.6. */
ERL_NAPI_EXPORT void enif_map_iterator_destroy(ErlNifEnv *env, ErlNifMapIterator *iter);

/** Returns whether the iterator is before the first pair; also true for an empty map.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_is_head(ErlNifEnv *env, ErlNifMapIterator *iter);

/** Returns whether the iterator is behind the last pair; also true for an empty map.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_is_tail(ErlNifEnv *env, ErlNifMapIterator *iter);

/** Moves to the next pair; returns non-zero if the iterator is then at a pair.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_next(ErlNifEnv *env, ErlNifMapIterator *iter);

/** Moves to the previous pair; returns non-zero if the iterator is then at a pair.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_prev(ErlNifEnv *env, ErlNifMapIterator *iter);

/** Gets the pair at the iterator.
 * Since: 2.6. */
ERL_NAPI_EXPORT int enif_map_iterator_get_pair(ErlNifEnv *env, ErlNifMapIterator *iter,
                                               ERL_NIF_TERM *key, ERL_NIF_TERM *value);

/** Makes a map of CNT pairs.
 * Errors: 0 if two keys are equal.
 * Since: 2.14. */
ERL_NAPI_EXPORT int enif_make_map_from_arrays(ErlNifEnv *env, ERL_NIF_TERM keys[],
                                              ERL_NIF_TERM values[], size_t cnt,
                                              ERL_NIF_TERM *map_out);

/** @} */

/**
 * @defgroup nif_external The external term format
 * Bytes as of erlang:term_to_binary/1.
 *
 * On failure: 0.
 * @{
 */

/** Encodes TERM into a newly allocated binary.
 * Owner: the caller, who releases the binary or makes it a term.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_term_to_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin);

/** Decodes a term of at most SZ bytes, and returns the bytes read. OPTS is 0 or
 * ERL_NIF_BIN2TERM_SAFE.
 * Errors: 0 for bytes that are no term; with ERL_NIF_BIN2TERM_SAFE also for new atoms.
 * Since: 2.11. */
ERL_NAPI_EXPORT size_t enif_binary_to_term(ErlNifEnv *env, const unsigned char *data, size_t sz,
                                           ERL_NIF_TERM *term, unsigned int opts);

/** @} */

/**
 * @defgroup nif_pids Processes, ports and sending
 * ErlNifPid and ErlNifPort are values: copy and keep them freely; the process or port may be dead.
 * A tracer must not send to its tracee, nor send it port commands.
 *
 * On failure: 0, or NULL.
 * @{
 */

/** Returns whether TERM is a pid. */
ERL_NAPI_EXPORT int enif_is_pid(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns whether TERM is a port. */
ERL_NAPI_EXPORT int enif_is_port(ErlNifEnv *env, ERL_NIF_TERM term);

/** Sends MSG to a process. MSG is a term of MSG_ENV, which enif_alloc_env() made, or, with MSG_ENV
 * NULL, of ENV, and is then copied. Success ends all terms of MSG_ENV: call enif_free_env(), or
 * call enif_clear_env() before making terms in it again, as a BEAM would write them into the
 * message.
 * Thread: any; on a thread of the library's own ENV is NULL and MSG_ENV is not.
 * Errors: 0 if the receiver is not alive, or is the tracee of the calling tracer. */
ERL_NAPI_EXPORT int enif_send(ErlNifEnv *env, const ErlNifPid *to_pid, ErlNifEnv *msg_env,
                              ERL_NIF_TERM msg);

/** Gets the pid of the process that runs, and returns PID.
 * Errors: NULL if no process runs: in destructors, and in tracer callbacks other than those that
 * erl_tracer.h names. */
ERL_NAPI_EXPORT ErlNifPid *enif_self(ErlNifEnv *caller_env, ErlNifPid *pid);

/** Gets the pid of a process of this node. In a replay, "this node" is the node that was recorded; if
 * several nodes are replayed together, it is each of them: tracers keep tables by such pids. Only the
 * pids of the first node print as <0...>. */
ERL_NAPI_EXPORT int enif_get_local_pid(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPid *pid);

/** Returns whether the process that runs is alive; a dirty NIF may outlive its process.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_is_current_process_alive(ErlNifEnv *env);

/** Returns whether a process is alive.
 * Thread: any; on a thread of the library's own ENV is NULL.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_is_process_alive(ErlNifEnv *env, ErlNifPid *pid);

/** Returns whether a port is alive.
 * Thread: as enif_is_process_alive().
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_is_port_alive(ErlNifEnv *env, ErlNifPort *port_id);

/** Gets a port of this node, as enif_get_local_pid() gets a pid.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_get_local_port(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPort *port_id);

/** Sends MSG, iodata, to a port, with environments as for enif_send().
 * Errors: 0 if the port is not alive, or is the tracee of the calling tracer.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_port_command(ErlNifEnv *env, const ErlNifPort *to_port, ErlNifEnv *msg_env,
                                      ERL_NIF_TERM msg);

/** Looks up the process that is registered as NAME.
 * Thread: any; on a thread of the library's own ENV is NULL.
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_whereis_pid(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPid *pid);

/** Looks up the port that is registered as NAME.
 * Thread: as enif_whereis_pid().
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_whereis_port(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPort *port);

/** Sets *PID to the undefined pid, which names no process.
 * Since: 2.15. */
ERL_NAPI_EXPORT void enif_set_pid_undefined(ErlNifPid *pid);

/** Returns whether *PID is the undefined pid.
 * Since: 2.15. */
ERL_NAPI_EXPORT int enif_is_pid_undefined(const ErlNifPid *pid);

/** @} */

/**
 * @defgroup nif_exceptions Exceptions
 * An exception marks the environment. The function that raises it returns a result that is no term:
 * the caller may only return it. Until then only enif_is_exception(), enif_has_pending_exception()
 * and the release of memory make sense.
 *
 * On failure: nothing fails; 0 is no.
 * @{
 */

/** Raises the error `badarg`. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env);

/** Returns whether TERM is the result of a function that raised an exception.
 * Since: 2.2. */
ERL_NAPI_EXPORT int enif_is_exception(ErlNifEnv *env, ERL_NIF_TERM term);

/** Returns whether an exception was raised in ENV; *REASON gets its reason, unless REASON is NULL.
 * Since: 2.8. */
ERL_NAPI_EXPORT int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *reason);

/** Raises an exception of the class `error`.
 * Since: 2.8. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_raise_exception(ErlNifEnv *env, ERL_NIF_TERM reason);

/** @} */

/**
 * @defgroup nif_memory Memory
 * Blocks are aligned for any C type, and any thread may free them. They cannot be mixed with blocks
 * of malloc(); compilers warn about that.
 *
 * On failure: NULL.
 * @{
 */

/** Frees a block of enif_alloc() or enif_realloc(); NULL is ignored. */
ERL_NAPI_EXPORT void enif_free(void *ptr);

/** Allocates SIZE bytes, whose content is undefined.
 * Owner: the caller, until enif_free(). */
ERL_NAPI_EXPORT void *enif_alloc(size_t size) ERL_NAPI_ATTR_MALLOC_USD(1, enif_free, 1);

/** Changes the size of a block to SIZE bytes; the block may move.
 * Errors: NULL; the block is unchanged. */
ERL_NAPI_EXPORT void *enif_realloc(void *ptr, size_t size) ERL_NAPI_ATTR_ALLOC_SIZE(2);

/** @} */

/**
 * @defgroup nif_resources Resources, monitors and file events
 * A resource is memory of a named type with a destructor and a reference count: its creator holds
 * one reference, enif_keep_resource() adds one, and each term of the resource holds one as long as
 * the term is valid. The destructor runs after the last reference is gone, on any thread. Types are
 * opened in `load` and `upgrade` only; a takeover gives a new library the existing resources of the
 * old one.
 *
 * On failure: NULL, or 0; non-zero for monitors and calls of other libraries; negative for file
 * events.
 * @{
 */

/** Opens the type NAME_STR with a destructor, or none. MODULE_STR is NULL. FLAGS allow creating
 * the type, to take it over, or both; *TRIED, unless TRIED is NULL, gets the flag that was used.
 * Order: in `load` and `upgrade` only. */
ERL_NAPI_EXPORT ErlNifResourceType *enif_open_resource_type(ErlNifEnv *env, const char *module_str,
                                                            const char *name_str,
                                                            void (*dtor)(ErlNifEnv *, void *),
                                                            ErlNifResourceFlags flags,
                                                            ErlNifResourceFlags *tried);

/** Allocates a resource of SIZE bytes.
 * Owner: the caller, of one reference. */
ERL_NAPI_EXPORT void *enif_alloc_resource(ErlNifResourceType *type, size_t size)
    ERL_NAPI_ATTR_MALLOC_US(2);

/** Releases one reference. */
ERL_NAPI_EXPORT void enif_release_resource(void *obj);

/** Makes a term of a resource; the term holds a reference of its own. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_resource(ErlNifEnv *env, void *obj);

/** Gets the resource of a term, if it is of TYPE.
 * Owner: the term; enif_keep_resource() keeps the resource longer. */
ERL_NAPI_EXPORT int enif_get_resource(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifResourceType *type,
                                      void **objp);

/** Returns the bytes of a resource. */
ERL_NAPI_EXPORT size_t enif_sizeof_resource(void *obj);

/** Adds one reference. */
ERL_NAPI_EXPORT void enif_keep_resource(void *obj);

/** Makes a binary of SIZE bytes at DATA, not copied, which holds a reference to OBJ.
 * Owner: OBJ; the bytes must not change until its destructor runs. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_resource_binary(ErlNifEnv *env, void *obj, const void *data,
                                                       size_t size);

/** Requests one message {select, Obj, Ref, Event} to PID (NULL: the caller) for each event of
 * FLAGS, or cancels requests (CANCEL, STOP). Returns a set of ERL_NIF_SELECT_ bits.
 * Owner: once E was selected, only the type's `stop` closes E, after ERL_NIF_SELECT_STOP.
 * Errors: negative.
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_select(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags,
                                void *obj, const ErlNifPid *pid, ERL_NIF_TERM ref);

/** Opens a type as enif_open_resource_type() does, with the callbacks dtor, stop and down of INIT.
 * Since: 2.12. */
ERL_NAPI_EXPORT ErlNifResourceType *enif_open_resource_type_x(ErlNifEnv *env, const char *name_str,
                                                              const ErlNifResourceTypeInit *init,
                                                              ErlNifResourceFlags flags,
                                                              ErlNifResourceFlags *tried);

/** Monitors a process: the host calls the type's `down` once, when the process ends, unless
 * enif_demonitor_process() comes first. *MONITOR, unless MONITOR is NULL, names the monitor.
 * Errors: positive if the process is not alive, negative if the type has no `down`.
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_monitor_process(ErlNifEnv *env, void *obj, const ErlNifPid *pid,
                                         ErlNifMonitor *monitor);

/** Ends a monitor: if the result is 0, the host does not call `down` for it.
 * Errors: non-zero if the monitor was ended before, or has fired.
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_demonitor_process(ErlNifEnv *env, void *obj, const ErlNifMonitor *monitor);

/** Compares two monitors: negative, 0 or positive.
 * Since: 2.12. */
ERL_NAPI_EXPORT int enif_compare_monitors(const ErlNifMonitor *monitor1,
                                          const ErlNifMonitor *monitor2);

/** Selects as enif_select() does, with the message MSG of MSG_ENV, as for enif_send().
 * enif_select_read() and the like, below, are easier to call.
 * Since: 2.15. */
ERL_NAPI_EXPORT int enif_select_x(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags,
                                  void *obj, const ErlNifPid *pid, ERL_NIF_TERM msg,
                                  ErlNifEnv *msg_env);

/** Makes a term that names a monitor, for output and comparison.
 * Since: 2.15. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_monitor_term(ErlNifEnv *env, const ErlNifMonitor *monitor);

/** Opens a type as enif_open_resource_type_x() does, with the first `members` callbacks of INIT.
 * Since: 2.16. */
ERL_NAPI_EXPORT ErlNifResourceType *enif_init_resource_type(ErlNifEnv *env, const char *name_str,
                                                            const ErlNifResourceTypeInit *init,
                                                            ErlNifResourceFlags flags,
                                                            ErlNifResourceFlags *tried);

/** Calls `dyncall` of the type that the module MOD opened as NAME, for a resource of that type.
 * Errors: non-zero if RSRC is not such a resource, or the type has no `dyncall`.
 * Since: 2.16. */
ERL_NAPI_EXPORT int enif_dynamic_resource_call(ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM name,
                                               ERL_NIF_TERM rsrc, void *call_data);

/** @} */

/**
 * @defgroup nif_ioq I/O queues: bytes waiting for a file descriptor that is not ready
 * A queue has no lock of its own: one thread uses it at a time. Sizes are in bytes.
 *
 * On failure: 0, or NULL.
 * @{
 */

/** Frees a queue and the bytes in it.
 * Since: 2.13. */
ERL_NAPI_EXPORT void enif_ioq_destroy(ErlNifIOQueue *q);

/** Makes an empty queue; OPTS is ERL_NIF_IOQ_NORMAL.
 * Owner: the caller, until enif_ioq_destroy().
 * Since: 2.13. */
ERL_NAPI_EXPORT ErlNifIOQueue *enif_ioq_create(ErlNifIOQueueOpts opts)
    ERL_NAPI_ATTR_MALLOC_D(enif_ioq_destroy, 1);

/** Appends a binary without its first SKIP bytes.
 * Owner: the queue owns the binary, also on failure.
 * Since: 2.13. */
ERL_NAPI_EXPORT int enif_ioq_enq_binary(ErlNifIOQueue *q, ErlNifBinary *bin, size_t skip);

/** Appends a vector without its first SKIP bytes.
 * Owner: the caller still frees the vector; the queue shares its bytes.
 * Since: 2.13. */
ERL_NAPI_EXPORT int enif_ioq_enqv(ErlNifIOQueue *q, ErlNifIOVec *iov, size_t skip);

/** Returns the bytes in the queue.
 * Since: 2.13. */
ERL_NAPI_EXPORT size_t enif_ioq_size(ErlNifIOQueue *q);

/** Removes the first COUNT bytes; *SIZE, unless SIZE is NULL, gets the number of bytes left.
 * Errors: 0 if there are fewer.
 * Since: 2.13. */
ERL_NAPI_EXPORT int enif_ioq_deq(ErlNifIOQueue *q, size_t count, size_t *size);

/** Returns the queue's bytes as *IOVLEN pieces, for writev().
 * Owner: the queue; the pieces are valid until the queue changes.
 * Since: 2.13. */
ERL_NAPI_EXPORT SysIOVec *enif_ioq_peek(ErlNifIOQueue *q, int *iovlen);

/** Makes a binary of the queue's first piece; *SIZE, unless SIZE is NULL, gets its bytes.
 * Errors: 0 if the queue is empty.
 * Since: 2.14. */
ERL_NAPI_EXPORT int enif_ioq_peek_head(ErlNifEnv *env, ErlNifIOQueue *q, size_t *size,
                                       ERL_NIF_TERM *head);

/** @} */

/**
 * @defgroup nif_scheduling Scheduling
 * A long function yields by returning the result of enif_schedule_nif().
 *
 * On failure: enif_schedule_nif() raises badarg.
 * @{
 */

/** Reports PERCENT (1 to 100) of a time slice as used since the last report; returns 1 if the
 * function should yield.
 * Since: 2.4. */
ERL_NAPI_EXPORT int enif_consume_timeslice(ErlNifEnv *env, int percent);

/** Schedules a call of FP with ARGV in the function's place, named FUN_NAME; on a dirty scheduler
 * if FLAGS are a dirty job kind.
 * Order: the function returns the result at once.
 * Since: 2.7. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_schedule_nif(ErlNifEnv *env, const char *fun_name, int flags,
                                               ERL_NIF_TERM (*fp)(ErlNifEnv *, int,
                                                                  const ERL_NIF_TERM[]),
                                               int argc, const ERL_NIF_TERM argv[]);

/** Returns the kind of the calling thread, ERL_NIF_THR_...: ERL_NIF_THR_UNDEFINED if the thread is
 * no scheduler. A thread of the host that runs load(), a destructor or a callback of a tracer counts
 * as a normal scheduler.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_thread_type(void);

/** @} */

/**
 * @defgroup nif_threads Threads, locks and thread-specific data
 * POSIX threads and locks under portable names. Locks are not recursive. Names are copied, and used
 * for diagnosis only. Functions that return int return 0 for success or an errno value (EBUSY, of
 * the try functions), except enif_equal_tids(). A tracer's callback must not wait.
 *
 * On failure: NULL, or an errno value.
 * @{
 */

/** Frees a mutex that no thread holds. */
ERL_NAPI_EXPORT void enif_mutex_destroy(ErlNifMutex *mtx);

/** Makes a mutex.
 * Owner: the caller, until enif_mutex_destroy(). */
ERL_NAPI_EXPORT ErlNifMutex *enif_mutex_create(char *name)
    ERL_NAPI_ATTR_MALLOC_D(enif_mutex_destroy, 1);

/** Locks a mutex if no thread holds it. */
ERL_NAPI_EXPORT int enif_mutex_trylock(ErlNifMutex *mtx);

/** Locks a mutex, and waits if necessary. */
ERL_NAPI_EXPORT void enif_mutex_lock(ErlNifMutex *mtx);

/** Unlocks a mutex, on the thread that locked it. */
ERL_NAPI_EXPORT void enif_mutex_unlock(ErlNifMutex *mtx);

/** Frees a condition variable for which no thread waits. */
ERL_NAPI_EXPORT void enif_cond_destroy(ErlNifCond *cnd);

/** Makes a condition variable.
 * Owner: the caller, until enif_cond_destroy(). */
ERL_NAPI_EXPORT ErlNifCond *enif_cond_create(char *name)
    ERL_NAPI_ATTR_MALLOC_D(enif_cond_destroy, 1);

/** Wakes one thread that waits. */
ERL_NAPI_EXPORT void enif_cond_signal(ErlNifCond *cnd);

/** Wakes all threads that wait. */
ERL_NAPI_EXPORT void enif_cond_broadcast(ErlNifCond *cnd);

/** Unlocks MTX, waits, and locks MTX again; may also return without a signal. */
ERL_NAPI_EXPORT void enif_cond_wait(ErlNifCond *cnd, ErlNifMutex *mtx);

/** Frees a reader-writer lock that no thread holds. */
ERL_NAPI_EXPORT void enif_rwlock_destroy(ErlNifRWLock *rwlck);

/** Makes a reader-writer lock.
 * Owner: the caller, until enif_rwlock_destroy(). */
ERL_NAPI_EXPORT ErlNifRWLock *enif_rwlock_create(char *name)
    ERL_NAPI_ATTR_MALLOC_D(enif_rwlock_destroy, 1);

/** Locks for reading, unless it would have to wait. */
ERL_NAPI_EXPORT int enif_rwlock_tryrlock(ErlNifRWLock *rwlck);

/** Locks for reading, and waits if necessary. */
ERL_NAPI_EXPORT void enif_rwlock_rlock(ErlNifRWLock *rwlck);

/** Unlocks a lock held for reading. */
ERL_NAPI_EXPORT void enif_rwlock_runlock(ErlNifRWLock *rwlck);

/** Locks for writing, unless it would have to wait. */
ERL_NAPI_EXPORT int enif_rwlock_tryrwlock(ErlNifRWLock *rwlck);

/** Locks for writing, and waits if necessary. */
ERL_NAPI_EXPORT void enif_rwlock_rwlock(ErlNifRWLock *rwlck);

/** Unlocks a lock held for writing. */
ERL_NAPI_EXPORT void enif_rwlock_rwunlock(ErlNifRWLock *rwlck);

/** Makes a key, for which each thread has a pointer of its own, initially NULL. */
ERL_NAPI_EXPORT int enif_tsd_key_create(char *name, ErlNifTSDKey *key);

/** Frees a key.
 * Order: after each thread has set its pointer to NULL. */
ERL_NAPI_EXPORT void enif_tsd_key_destroy(ErlNifTSDKey key);

/** Sets the calling thread's pointer for a key. */
ERL_NAPI_EXPORT void enif_tsd_set(ErlNifTSDKey key, void *data);

/** Returns the calling thread's pointer for a key. */
ERL_NAPI_EXPORT void *enif_tsd_get(ErlNifTSDKey key);

/** Frees options of enif_thread_opts_create(). */
ERL_NAPI_EXPORT void enif_thread_opts_destroy(ErlNifThreadOpts *opts);

/** Makes options for enif_thread_create(), with default values.
 * Owner: the caller, until enif_thread_opts_destroy(). */
ERL_NAPI_EXPORT ErlNifThreadOpts *enif_thread_opts_create(char *name)
    ERL_NAPI_ATTR_MALLOC_D(enif_thread_opts_destroy, 1);

/** Starts a thread that calls FUNC(ARGS); OPTS may be NULL.
 * Order: each thread is joined before its library is unloaded. */
ERL_NAPI_EXPORT int enif_thread_create(char *name, ErlNifTid *tid, void *(*func)(void *),
                                       void *args, ErlNifThreadOpts *opts);

/** Returns the calling thread. */
ERL_NAPI_EXPORT ErlNifTid enif_thread_self(void);

/** Returns whether both are the same thread. */
ERL_NAPI_EXPORT int enif_equal_tids(ErlNifTid tid1, ErlNifTid tid2);

/** Ends the calling thread, which enif_thread_create() started; enif_thread_join() returns RESP. */
ERL_NAPI_EXPORT void enif_thread_exit(void *resp);

/** Waits for a thread's end; *RESPP, unless RESPP is NULL, gets its result. */
ERL_NAPI_EXPORT int enif_thread_join(ErlNifTid tid, void **respp);

/** Returns a mutex's name.
 * Owner: the mutex.
 * Since: 2.14. */
ERL_NAPI_EXPORT char *enif_mutex_name(ErlNifMutex *mtx);

/** Returns a condition variable's name.
 * Owner: the condition variable.
 * Since: 2.14. */
ERL_NAPI_EXPORT char *enif_cond_name(ErlNifCond *cnd);

/** Returns a reader-writer lock's name.
 * Owner: the lock.
 * Since: 2.14. */
ERL_NAPI_EXPORT char *enif_rwlock_name(ErlNifRWLock *rwlck);

/** Returns a thread's name.
 * Owner: the thread, until it is joined.
 * Since: 2.14. */
ERL_NAPI_EXPORT char *enif_thread_name(ErlNifTid tid);

/** @} */

/**
 * @defgroup nif_time Time
 * Monotonic time plus time offset is system time. Inside a callback for a replayed event the clocks
 * are the recorded ones.
 *
 * On failure: ERL_NIF_TIME_ERROR.
 * @{
 */

/** Returns monotonic time in UNIT.
 * Errors: ERL_NIF_TIME_ERROR for an unknown unit; in a BEAM also on threads that are no schedulers.
 * Since: 2.10. */
ERL_NAPI_EXPORT ErlNifTime enif_monotonic_time(ErlNifTimeUnit unit);

/** Returns the difference of system time and monotonic time in UNIT.
 * Errors: as enif_monotonic_time().
 * Since: 2.10. */
ERL_NAPI_EXPORT ErlNifTime enif_time_offset(ErlNifTimeUnit unit);

/** Converts VAL between units, rounding down.
 * Since: 2.10. */
ERL_NAPI_EXPORT ErlNifTime enif_convert_time_unit(ErlNifTime val, ErlNifTimeUnit from,
                                                  ErlNifTimeUnit to);

/** Makes {MegaSecs, Secs, MicroSecs} of system time. As with erlang:now(), each result is later
 * than all earlier ones, except in callbacks for recorded events, where the time is the event's.
 * Since: 2.11. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_now_time(ErlNifEnv *env);

/** Makes {MegaSecs, Secs, MicroSecs} of the CPU time that the calling thread has used, as a BEAM does.
 * Since: 2.11. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_cpu_time(ErlNifEnv *env);

/** @} */

/**
 * @defgroup nif_unique References, unique integers, hashes
 * All are valid within this run of the host, except ERL_NIF_PHASH2.
 *
 * On failure: 0 for an unknown hash.
 * @{
 */

/** Makes a unique reference, as erlang:make_ref(). */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_ref(ErlNifEnv *env);

/** Makes a unique integer; PROPERTIES is a set of ERL_NIF_UNIQUE_ bits.
 * Since: 2.11. */
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_unique_integer(ErlNifEnv *env,
                                                      ErlNifUniqueInteger properties);

/** Hashes TERM. ERL_NIF_PHASH2 is erlang:phash2/1, the same on every node and release, and ignores
 * SALT; ERL_NIF_INTERNAL_HASH is salted, faster, and valid only within this run.
 * Since: 2.12. */
ERL_NAPI_EXPORT ErlNifUInt64 enif_hash(ErlNifHash type, ERL_NIF_TERM term, ErlNifUInt64 salt);

/** @} */

/**
 * @defgroup nif_system The system around
 * The host, shared objects and the environment's variables.
 *
 * On failure: NULL, or non-zero.
 * @{
 */

/** Fills at most the first SI_SIZE bytes of *SIP: an older library gets the shorter structure of
 * its version. */
ERL_NAPI_EXPORT void enif_system_info(ErlNifSysInfo *sip, size_t si_size);

/** Opens the shared object LIB with ".so" appended, whatever LIB ends in.
 * Errors: NULL; ERR_HANDLER, unless it is NULL, is called with ERR_ARG and a text.
 * Since: 2.4. */
ERL_NAPI_EXPORT void *enif_dlopen(const char *lib, void (*err_handler)(void *, const char *),
                                  void *err_arg);

/** Finds SYMBOL in a shared object of enif_dlopen().
 * Errors: as enif_dlopen().
 * Since: 2.4. */
ERL_NAPI_EXPORT void *enif_dlsym(void *handle, const char *symbol,
                                 void (*err_handler)(void *, const char *), void *err_arg);

/** Copies the variable KEY and a 0 to VALUE, which has *VALUE_SIZE bytes; *VALUE_SIZE gets its
 * length without the 0. Returns 0.
 * Errors: positive if VALUE is too short, with the necessary bytes in *VALUE_SIZE; negative if
 * the variable is not set.
 * Since: 2.9. */
ERL_NAPI_EXPORT int enif_getenv(const char *key, char *value, size_t *value_size);

/** Sets an option. ERL_NIF_OPT_ON_HALT: the host calls a callback at the program's end.
 * ERL_NIF_OPT_DELAY_HALT: the end waits for functions that run. ERL_NIF_OPT_ON_UNLOAD_THREAD:
 * each scheduler calls a callback before `unload`. Returns 0.
 * Order: in `load` and `upgrade` only, each option once.
 * Errors: EINVAL, without effect, at another time, for an option that is set already, for an
 * unknown option, or if a callback is NULL.
 * Since: 2.17. */
ERL_NAPI_EXPORT int enif_set_option(ErlNifEnv *env, ErlNifOption opt, ...);

/** @} */

/**
 * @defgroup nif_printf Printing
 * The C functions without enif_, plus %T, which takes an ERL_NIF_TERM and prints it as a BEAM's %T
 * does. %#T prints it as io:format("~0p") does; a BEAM treats %#T as %T. Because of %T no
 * declaration has the printf attribute: compilers would warn about correct formats.
 *
 * On failure: negative.
 * @{
 */

/** Prints to a file; returns the bytes written. */
ERL_NAPI_EXPORT int enif_fprintf(FILE *filep, const char *format, ...);

/** Prints at most SIZE bytes to BUFFER, the last of which is a 0; returns the bytes of the whole
 * text.
 * Since: 2.11. */
ERL_NAPI_EXPORT int enif_snprintf(char *buffer, size_t size, const char *format, ...);

/** Prints as enif_fprintf() does, with the arguments in AP.
 * Since: 2.14. */
ERL_NAPI_EXPORT int enif_vfprintf(FILE *filep, const char *format, va_list ap);

/** Prints as enif_snprintf() does, with the arguments in AP.
 * Since: 2.14. */
ERL_NAPI_EXPORT int enif_vsnprintf(char *buffer, size_t size, const char *format, va_list ap);

/** @} */

/**
 * @defgroup nif_companions Companions
 * Functions that NIF libraries import although OTP's erl_nif.h never declared them.
 *
 * On failure: "unknown", or 0.
 * @{
 */

/** Returns the name of an errno value in lower case, as "enoent"; a function of the driver API.
 * Owner: the host; the text is constant.
 * Since: no version. */
ERL_NAPI_EXPORT char *erl_errno_id(int error);

/** Returns the number of the calling scheduler, from 1; 0 on other threads. Tracers that were
 * written for an unreleased OTP import it.
 * Since: no version. */
ERL_NAPI_EXPORT int enif_scheduler_id(void);

/** @} */

/* --- Macros and the entry of a library -------------------------------------------------------- */

/* `long` has 64 bits, so these are the same functions, and libraries import only the `long` ones: a
 * BEAM exports no others. A host that defines the others too must undefine these macros first. */
#define enif_get_int64 enif_get_long
#define enif_get_uint64 enif_get_ulong
#define enif_make_int64 enif_make_long
#define enif_make_uint64 enif_make_ulong

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

/* Make a tuple or list of one to nine terms, as enif_make_tuple() and enif_make_list(). These are
 * functions because compilers cannot check the arguments of a variadic function: an int such as 0
 * is no whole term there. */
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

/* The term of an ErlNifPid: valid in every environment. */
#define enif_make_pid(ENV, PID) ((void)(ENV), (PID)->pid)

/* Compares two pids, as enif_compare() does. */
#define enif_compare_pids(A, B) (enif_compare((A)->pid, (B)->pid))

/* enif_select_x() for one kind of event: sends MSG, a term of MSG_ENV, to PID. */
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
 * Declaration of the function that returns the entry: nif_init() of a shared object;
 * MODULE_nif_init() with STATIC_ERLANG_NIF, LIBNAME_nif_init() with
 * STATIC_ERLANG_NIF_LIBNAME=LIBNAME, for libraries that are linked into a host. The macros have the
 * names of OTP's header, for sources that write a nif_init() of their own.
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

/* Checks the structures above against the measured layout, the constants against the measured
 * values. */
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
