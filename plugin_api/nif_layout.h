/*
 * The binary layout of the NIF API's structures on LP64 machines, as numbers.
 *
 *     TH_NIF_TYPES(X)  calls X(type, size, alignment) for each type,
 *     TH_NIF_FIELDS(X) calls X(type, field, offset, size) for each field.
 *
 * They are measured, the same in every NIF version from 2.16 to 2.18, and not derived from
 * erl_nif.h: erl_nif.h asserts them of itself when a library is compiled, and the tests hold OTP's
 * own header against them. Whoever changes a structure has to change this list, and so learns that
 * no compiled library will load any more.
 */
#ifndef TH_NIF_LAYOUT_H
#define TH_NIF_LAYOUT_H

/* A table: one row a type or field. */
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

/* clang-format on */

#endif
