/*
 * Declarations that the NIF API shares with Erlang's driver API: integers, file events, job kinds,
 * and structures that both APIs rename.
 *
 * A NIF library includes erl_nif.h, which includes this header. The names, sizes and values are
 * those of OTP's header of the same name, and so is the include guard: if a source includes OTP's
 * erl_driver.h beside our erl_nif.h, the first of the two erl_drv_nif.h serves both.
 *
 * Other machines are not supported: the host runs where `long` and pointers have 64 bits.
 */
#ifndef __ERL_DRV_NIF_H__
#define __ERL_DRV_NIF_H__

#include <stddef.h>
#include <sys/types.h>

#ifndef __LP64__
#error "tracehost's NIF API is for machines where long and pointers have 64 bits"
#endif

/* Sizes of C's types, for sources that test them in #if. */
#ifndef SIZEOF_CHAR
#define SIZEOF_CHAR 1
#endif
#ifndef SIZEOF_SHORT
#define SIZEOF_SHORT 2
#endif
#ifndef SIZEOF_INT
#define SIZEOF_INT 4
#endif
#ifndef SIZEOF_LONG
#define SIZEOF_LONG 8
#endif
#ifndef SIZEOF_LONG_LONG
#define SIZEOF_LONG_LONG 8
#endif
#ifndef SIZEOF_VOID_P
#define SIZEOF_VOID_P 8
#endif

/* `long`, not `long long`, so that enif_get_long() and enif_get_int64() have one type and are one
 * function. */
typedef unsigned long ErlNapiUInt64;
typedef signed long ErlNapiSInt64;
typedef ErlNapiUInt64 ErlNapiUInt;
typedef ErlNapiSInt64 ErlNapiSInt;

#define ERL_NAPI_SINT64_MAX__ 0x7fffffffffffffffL
#define ERL_NAPI_SINT64_MIN__ (-ERL_NAPI_SINT64_MAX__ - 1)

/* Time units, and the time that means an error. */
#define ERTS_NAPI_SEC__ 0
#define ERTS_NAPI_MSEC__ 1
#define ERTS_NAPI_USEC__ 2
#define ERTS_NAPI_NSEC__ 3
#define ERTS_NAPI_TIME_ERROR__ ERL_NAPI_SINT64_MIN__

/*
 * Result of enif_system_info(). New members are added at its end only: the caller's sizeof limits
 * how much of it is written. The strings are constant and the host's.
 */
typedef struct {
    int driver_major_version;
    int driver_minor_version;
    char *erts_version;
    char *otp_release;
    int thread_support;
    int smp_support;
    int async_threads;
    int scheduler_threads; /* normal schedulers; their numbers start at 1 */
    int nif_major_version;
    int nif_minor_version;
    int dirty_scheduler_support;
} ErlDrvSysInfo;

/* Thread options; only enif_thread_opts_create() makes them. Stack size in kilowords; -1: default.
 */
typedef struct {
    int suggested_stack_size;
} ErlDrvThreadOpts;

/* Kind of dirty scheduler that runs a function; as flags, 0 means a normal scheduler. */
typedef enum { ERL_DIRTY_JOB_CPU_BOUND = 1, ERL_DIRTY_JOB_IO_BOUND = 2 } ErlDirtyJobFlags;

/* Events of a file descriptor, and options: a set of any bits; STOP stands alone. */
enum ErlNifSelectFlags {
    ERL_NIF_SELECT_READ = 1 << 0,
    ERL_NIF_SELECT_WRITE = 1 << 1,
    ERL_NIF_SELECT_STOP = 1 << 2,       /* ends all events; the type's `stop` may close the
                                           descriptor */
    ERL_NIF_SELECT_CANCEL = 1 << 3,     /* with READ, WRITE or ERROR: cancels the request */
    ERL_NIF_SELECT_CUSTOM_MSG = 1 << 4, /* sends the caller's message (enif_select_x) */
    ERL_NIF_SELECT_ERROR = 1 << 5
};

/* A monitor's identity: 32 opaque bytes, copied as a whole, compared by enif_compare_monitors(). */
typedef struct {
    unsigned char data[4 * sizeof(void *)];
} ErlDrvMonitor;

/* A range of bytes to read or write. A SysIOVec has the layout of struct iovec; it has that name if
 * the source's configuration declares the system's header, as with OTP's header. */
#ifdef HAVE_SYS_UIO_H
#include <sys/uio.h>
typedef struct iovec SysIOVec;
#else
typedef struct {
    char *iov_base;
    size_t iov_len;
} SysIOVec;
#endif

/* Visible to other shared objects, whatever -fvisibility is. */
#define ERL_NAPI_EXPORT __attribute__((visibility("default")))

/*
 * Attributes of functions that return memory, so that compilers find lost results, overruns, and
 * memory passed to the wrong function. The letters: U contents undefined; S the argument number
 * `size` is the size in bytes; D `destroy` frees the memory, as its argument number `n`.
 */
#define ERL_NAPI_ATTR_WUR __attribute__((warn_unused_result))
#define ERL_NAPI_ATTR_ALLOC_SIZE(size) __attribute__((alloc_size(size))) ERL_NAPI_ATTR_WUR
#define ERL_NAPI_ATTR_MALLOC_U __attribute__((malloc)) ERL_NAPI_ATTR_WUR
#define ERL_NAPI_ATTR_MALLOC_US(size) __attribute__((malloc)) ERL_NAPI_ATTR_ALLOC_SIZE(size)
#if !defined(__clang__) && __GNUC__ >= 11
#define ERL_NAPI_ATTR_MALLOC_D(destroy, n) __attribute__((malloc(destroy, n))) ERL_NAPI_ATTR_WUR
#else
#define ERL_NAPI_ATTR_MALLOC_D(destroy, n) ERL_NAPI_ATTR_WUR
#endif
#define ERL_NAPI_ATTR_MALLOC_UD(destroy, n) \
    ERL_NAPI_ATTR_MALLOC_U ERL_NAPI_ATTR_MALLOC_D(destroy, n)
#define ERL_NAPI_ATTR_MALLOC_USD(size, destroy, n) \
    ERL_NAPI_ATTR_MALLOC_US(size) ERL_NAPI_ATTR_MALLOC_D(destroy, n)

#endif
