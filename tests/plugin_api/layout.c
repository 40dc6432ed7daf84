/* Prints what the erl_nif.h that comes first in the include path makes of the NIF API: the layout
 * of each type, the value of each constant. Compiled with our header and with OTP's, run, compared.
 */
#include <erl_nif.h>
#include <stddef.h>

#include "plugin_api/nif_layout.h"

/* A list, by type. */
/* clang-format off */
#define CONSTANTS(X) \
    X(ERL_NIF_MAJOR_VERSION) X(ERL_NIF_MINOR_VERSION) \
    X(ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD) \
    X(ERL_NIF_SEC) X(ERL_NIF_MSEC) X(ERL_NIF_USEC) X(ERL_NIF_NSEC) X(ERL_NIF_TIME_ERROR) \
    X(ERL_NIF_RT_CREATE) X(ERL_NIF_RT_TAKEOVER) \
    X(ERL_NIF_LATIN1) \
    X(ERL_DIRTY_JOB_CPU_BOUND) X(ERL_DIRTY_JOB_IO_BOUND) \
    X(ERL_NIF_DIRTY_JOB_CPU_BOUND) X(ERL_NIF_DIRTY_JOB_IO_BOUND) \
    X(ERL_NIF_MAP_ITERATOR_FIRST) X(ERL_NIF_MAP_ITERATOR_LAST) \
    X(ERL_NIF_MAP_ITERATOR_HEAD) X(ERL_NIF_MAP_ITERATOR_TAIL) \
    X(ERL_NIF_UNIQUE_POSITIVE) X(ERL_NIF_UNIQUE_MONOTONIC) \
    X(ERL_NIF_BIN2TERM_SAFE) \
    X(ERL_NIF_INTERNAL_HASH) X(ERL_NIF_PHASH2) \
    X(ERL_NIF_IOQ_NORMAL) X(ERL_NIF_IOVEC_SIZE) \
    X(ERL_NIF_SELECT_READ) X(ERL_NIF_SELECT_WRITE) X(ERL_NIF_SELECT_STOP) \
    X(ERL_NIF_SELECT_CANCEL) X(ERL_NIF_SELECT_CUSTOM_MSG) X(ERL_NIF_SELECT_ERROR) \
    X(ERL_NIF_SELECT_STOP_CALLED) X(ERL_NIF_SELECT_STOP_SCHEDULED) \
    X(ERL_NIF_SELECT_INVALID_EVENT) X(ERL_NIF_SELECT_FAILED) X(ERL_NIF_SELECT_READ_CANCELLED) \
    X(ERL_NIF_SELECT_WRITE_CANCELLED) X(ERL_NIF_SELECT_ERROR_CANCELLED) X(ERL_NIF_SELECT_NOTSUP) \
    X(ERL_NIF_TERM_TYPE_ATOM) X(ERL_NIF_TERM_TYPE_BITSTRING) X(ERL_NIF_TERM_TYPE_FLOAT) \
    X(ERL_NIF_TERM_TYPE_FUN) X(ERL_NIF_TERM_TYPE_INTEGER) X(ERL_NIF_TERM_TYPE_LIST) \
    X(ERL_NIF_TERM_TYPE_MAP) X(ERL_NIF_TERM_TYPE_PID) X(ERL_NIF_TERM_TYPE_PORT) \
    X(ERL_NIF_TERM_TYPE_REFERENCE) X(ERL_NIF_TERM_TYPE_TUPLE) \
    X(ERL_NIF_TERM_TYPE__MISSING_DEFAULT_CASE__READ_THE_MANUAL) \
    X(ERL_NIF_THR_UNDEFINED) X(ERL_NIF_THR_NORMAL_SCHEDULER) \
    X(ERL_NIF_THR_DIRTY_CPU_SCHEDULER) X(ERL_NIF_THR_DIRTY_IO_SCHEDULER) \
    X(SIZEOF_CHAR) X(SIZEOF_SHORT) X(SIZEOF_INT) X(SIZEOF_LONG) X(SIZEOF_LONG_LONG) \
    X(SIZEOF_VOID_P) X(ERL_NAPI_SINT64_MAX__) X(ERL_NAPI_SINT64_MIN__)
#define CONSTANTS_217(X) \
    X(ERL_NIF_UTF8) X(ERL_NIF_OPT_DELAY_HALT) X(ERL_NIF_OPT_ON_HALT)
/* clang-format on */

static ErlNifFunc functions[] = {{"f", 0, NULL, 0}, {"g", 1, NULL, 2}};
ERL_NIF_INIT(layout, functions, NULL, NULL, NULL, NULL)

static void print_entry(const ErlNifEntry *entry)
{
    printf("entry %d.%d %s %d %d %s %u %zu %s\n", entry->major, entry->minor, entry->name,
           entry->num_of_funcs, entry->funcs == functions, entry->vm_variant, entry->options,
           entry->sizeof_ErlNifResourceTypeInit, entry->min_erts);
}

int main(void)
{
#define TYPE(type, size, align) printf("%s %zu %zu\n", #type, sizeof(type), _Alignof(type));
    TH_NIF_TYPES(TYPE)
#define FIELD(type, field, offset, size) \
    printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
    TH_NIF_FIELDS(FIELD)
#define CONSTANT(name) printf("%s %ld\n", #name, (long)name);
    CONSTANTS(CONSTANT)
#if ERL_NIF_MINOR_VERSION >= 17
    CONSTANTS_217(CONSTANT)
#endif
    print_entry(nif_init());
    return 0;
}
