/* Prints the NIF API as the first erl_nif.h in the include path declares it: the layout of each
 * type, the value of each constant. Compiled with this project's header and with OTP's; the outputs
 * must be equal. */
#include <erl_nif.h>
#include <stddef.h>

#include "plugin_api/nif_layout.h"

/* Constants, by type. */
/* clang-format off */
#define MORE_CONSTANTS(X) \
    X(ERL_NIF_MAJOR_VERSION) X(ERL_NIF_MINOR_VERSION) \
    X(ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD) \
    X(ERL_DIRTY_JOB_CPU_BOUND) X(ERL_DIRTY_JOB_IO_BOUND) \
    X(ERL_NIF_MAP_ITERATOR_HEAD) X(ERL_NIF_MAP_ITERATOR_TAIL) \
    X(ERL_NIF_TERM_TYPE__MISSING_DEFAULT_CASE__READ_THE_MANUAL) \
    X(SIZEOF_CHAR) X(SIZEOF_SHORT) X(SIZEOF_INT) X(SIZEOF_LONG) X(SIZEOF_LONG_LONG) \
    X(SIZEOF_VOID_P) X(ERL_NAPI_SINT64_MAX__) X(ERL_NAPI_SINT64_MIN__)
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
#define MEASURED(name, value) printf("%s %ld\n", #name, (long)name);
    TH_NIF_CONSTANTS(MEASURED)
#define CONSTANT(name) printf("%s %ld\n", #name, (long)name);
    MORE_CONSTANTS(CONSTANT)
#if ERL_NIF_MINOR_VERSION >= 17
    TH_NIF_LATER_CONSTANTS(MEASURED)
#endif
    print_entry(nif_init());
    return 0;
}
