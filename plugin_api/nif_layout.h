/*
 * The binary layout of the NIF API's structures on LP64 machines, and its constants, as numbers.
 *
 *     TH_NIF_TYPES(X)     calls X(type, size, alignment) for each type,
 *     TH_NIF_FIELDS(X)    calls X(type, field, offset, size) for each field,
 *     TH_NIF_CONSTANTS(X) calls X(name, value) for each constant that libraries are compiled with,
 *     TH_NIF_LATER_CONSTANTS(X) the same for those that came with NIF 2.17.
 *
 * The numbers are measured, the same in every NIF version from 2.16 to 2.18, and not derived from
 * erl_nif.h: erl_nif.h checks itself against them when a library is compiled, and the tests check
 * OTP's own header. A change of a structure or constant makes a change of this list necessary: it
 * means that compiled libraries no longer load.
 */
#ifndef TH_NIF_LAYOUT_H
#define TH_NIF_LAYOUT_H

/* Tables: one row for each type, field or constant. */
/* clang-format off */

#define TH_NIF_TYPES(X) \
    X(ERL_NIF_TERM, 8, 8) \
    X(ErlNifUInt, 8, 8) \
    X(ErlNifTime, 8, 8) \
    X(ErlNifEvent, 4, 4) \
    X(ErlNifTSDKey, 4, 4) \
    X(ErlNifTid, 8, 8) \
    X(ErlNifEntry, 96, 8) \
    X(ErlNifFunc, 32, 8) \
    X(ErlNifBinary, 40, 8) \
    X(ErlNifPid, 8, 8) \
    X(ErlNifPort, 8, 8) \
    X(ErlNifMonitor, 32, 1) \
    X(ErlNifResourceTypeInit, 40, 8) \
    X(ErlNifSysInfo, 56, 8) \
    X(ErlNifMapIterator, 56, 8) \
    X(SysIOVec, 16, 8) \
    X(ErlNifIOVec, 424, 8) \
    X(ErlNifThreadOpts, 4, 4)

#define TH_NIF_FIELDS(X) \
    X(ErlNifEntry, major, 0, 4) \
    X(ErlNifEntry, minor, 4, 4) \
    X(ErlNifEntry, name, 8, 8) \
    X(ErlNifEntry, num_of_funcs, 16, 4) \
    X(ErlNifEntry, funcs, 24, 8) \
    X(ErlNifEntry, load, 32, 8) \
    X(ErlNifEntry, reload, 40, 8) \
    X(ErlNifEntry, upgrade, 48, 8) \
    X(ErlNifEntry, unload, 56, 8) \
    X(ErlNifEntry, vm_variant, 64, 8) \
    X(ErlNifEntry, options, 72, 4) \
    X(ErlNifEntry, sizeof_ErlNifResourceTypeInit, 80, 8) \
    X(ErlNifEntry, min_erts, 88, 8) \
    X(ErlNifFunc, name, 0, 8) \
    X(ErlNifFunc, arity, 8, 4) \
    X(ErlNifFunc, fptr, 16, 8) \
    X(ErlNifFunc, flags, 24, 4) \
    X(ErlNifBinary, size, 0, 8) \
    X(ErlNifBinary, data, 8, 8) \
    X(ErlNifBinary, ref_bin, 16, 8) \
    X(ErlNifBinary, __spare__, 24, 16) \
    X(ErlNifPid, pid, 0, 8) \
    X(ErlNifPort, port_id, 0, 8) \
    X(ErlNifMonitor, data, 0, 32) \
    X(ErlNifResourceTypeInit, dtor, 0, 8) \
    X(ErlNifResourceTypeInit, stop, 8, 8) \
    X(ErlNifResourceTypeInit, down, 16, 8) \
    X(ErlNifResourceTypeInit, members, 24, 4) \
    X(ErlNifResourceTypeInit, dyncall, 32, 8) \
    X(ErlNifSysInfo, driver_major_version, 0, 4) \
    X(ErlNifSysInfo, driver_minor_version, 4, 4) \
    X(ErlNifSysInfo, erts_version, 8, 8) \
    X(ErlNifSysInfo, otp_release, 16, 8) \
    X(ErlNifSysInfo, thread_support, 24, 4) \
    X(ErlNifSysInfo, smp_support, 28, 4) \
    X(ErlNifSysInfo, async_threads, 32, 4) \
    X(ErlNifSysInfo, scheduler_threads, 36, 4) \
    X(ErlNifSysInfo, nif_major_version, 40, 4) \
    X(ErlNifSysInfo, nif_minor_version, 44, 4) \
    X(ErlNifSysInfo, dirty_scheduler_support, 48, 4) \
    X(ErlNifMapIterator, map, 0, 8) \
    X(ErlNifMapIterator, size, 8, 8) \
    X(ErlNifMapIterator, idx, 16, 8) \
    X(ErlNifMapIterator, u, 24, 16) \
    X(ErlNifMapIterator, __spare__, 40, 16) \
    X(SysIOVec, iov_base, 0, 8) \
    X(SysIOVec, iov_len, 8, 8) \
    X(ErlNifIOVec, iovcnt, 0, 4) \
    X(ErlNifIOVec, size, 8, 8) \
    X(ErlNifIOVec, iov, 16, 8) \
    X(ErlNifIOVec, ref_bins, 24, 8) \
    X(ErlNifIOVec, flags, 32, 4) \
    X(ErlNifIOVec, small_iov, 40, 256) \
    X(ErlNifIOVec, small_ref_bin, 296, 128) \
    X(ErlNifThreadOpts, suggested_stack_size, 0, 4)

#define TH_NIF_CONSTANTS(X) \
    X(ERL_NIF_SEC, 0) \
    X(ERL_NIF_MSEC, 1) \
    X(ERL_NIF_USEC, 2) \
    X(ERL_NIF_NSEC, 3) \
    X(ERL_NIF_RT_CREATE, 1) \
    X(ERL_NIF_RT_TAKEOVER, 2) \
    X(ERL_NIF_LATIN1, 1) \
    X(ERL_NIF_DIRTY_JOB_CPU_BOUND, 1) \
    X(ERL_NIF_DIRTY_JOB_IO_BOUND, 2) \
    X(ERL_NIF_MAP_ITERATOR_FIRST, 1) \
    X(ERL_NIF_MAP_ITERATOR_LAST, 2) \
    X(ERL_NIF_UNIQUE_POSITIVE, 1) \
    X(ERL_NIF_UNIQUE_MONOTONIC, 2) \
    X(ERL_NIF_BIN2TERM_SAFE, 536870912) \
    X(ERL_NIF_INTERNAL_HASH, 1) \
    X(ERL_NIF_PHASH2, 2) \
    X(ERL_NIF_IOQ_NORMAL, 1) \
    X(ERL_NIF_IOVEC_SIZE, 16) \
    X(ERL_NIF_SELECT_READ, 1) \
    X(ERL_NIF_SELECT_WRITE, 2) \
    X(ERL_NIF_SELECT_STOP, 4) \
    X(ERL_NIF_SELECT_CANCEL, 8) \
    X(ERL_NIF_SELECT_CUSTOM_MSG, 16) \
    X(ERL_NIF_SELECT_ERROR, 32) \
    X(ERL_NIF_SELECT_STOP_CALLED, 1) \
    X(ERL_NIF_SELECT_STOP_SCHEDULED, 2) \
    X(ERL_NIF_SELECT_INVALID_EVENT, 4) \
    X(ERL_NIF_SELECT_FAILED, 8) \
    X(ERL_NIF_SELECT_READ_CANCELLED, 16) \
    X(ERL_NIF_SELECT_WRITE_CANCELLED, 32) \
    X(ERL_NIF_SELECT_ERROR_CANCELLED, 64) \
    X(ERL_NIF_SELECT_NOTSUP, 128) \
    X(ERL_NIF_TERM_TYPE_ATOM, 1) \
    X(ERL_NIF_TERM_TYPE_BITSTRING, 2) \
    X(ERL_NIF_TERM_TYPE_FLOAT, 3) \
    X(ERL_NIF_TERM_TYPE_FUN, 4) \
    X(ERL_NIF_TERM_TYPE_INTEGER, 5) \
    X(ERL_NIF_TERM_TYPE_LIST, 6) \
    X(ERL_NIF_TERM_TYPE_MAP, 7) \
    X(ERL_NIF_TERM_TYPE_PID, 8) \
    X(ERL_NIF_TERM_TYPE_PORT, 9) \
    X(ERL_NIF_TERM_TYPE_REFERENCE, 10) \
    X(ERL_NIF_TERM_TYPE_TUPLE, 11) \
    X(ERL_NIF_THR_UNDEFINED, 0) \
    X(ERL_NIF_THR_NORMAL_SCHEDULER, 1) \
    X(ERL_NIF_THR_DIRTY_CPU_SCHEDULER, 2) \
    X(ERL_NIF_THR_DIRTY_IO_SCHEDULER, 3) \
    X(ERL_NIF_TIME_ERROR, (-9223372036854775807 - 1))

/* From 2.17 on. */
#define TH_NIF_LATER_CONSTANTS(X) \
    X(ERL_NIF_UTF8, 2) \
    X(ERL_NIF_OPT_DELAY_HALT, 1) \
    X(ERL_NIF_OPT_ON_HALT, 2) \
    X(ERL_NIF_OPT_ON_UNLOAD_THREAD, 3)

/* clang-format on */

#endif
