#include "functions.h"

#include "host/base/base.h"

enum { ATOM_BITS = 24, ARITY_BITS = 8 };

_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "atoms do not fit");
_Static_assert(TH_FUNCTION_ARITY_MAX < 1 << ARITY_BITS, "arities do not fit");

/* The highest bit is of no atom. */
uint64_t th_trace_function_key(const struct th_mfa *name)
{
    uint64_t atoms =
        (uint64_t)th_atom_index(name->module) << ATOM_BITS | th_atom_index(name->function);

    return (uint64_t)1 << 63 | atoms << ARITY_BITS | name->arity;
}

struct th_function_sites *th_trace_functions_find(const struct th_functions *functions,
                                                  const struct th_mfa *name)
{
    return th_hash_table_get(&functions->table, th_trace_function_key(name));
}

struct th_function_sites *th_trace_functions_add(struct th_functions *functions,
                                                 const struct th_mfa *name)
{
    struct th_function_sites *function = th_alloc_zero(sizeof *function);

    function->name = *name;
    function->site = th_breakpoint_site_create(&th_breakpoint_site_virtual, function, NULL);
    th_hash_table_set(&functions->table, th_trace_function_key(name), function);
    TH_ARRAY_GROW(functions->items, functions->count, functions->capacity);
    functions->items[functions->count++] = function;
    return function;
}

void th_trace_functions_free(struct th_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        th_breakpoint_site_drop(functions->items[i]->site);
        th_free(functions->items[i]);
    }
    th_free(functions->items);
    th_hash_table_free(&functions->table);
    *functions = (struct th_functions){0};
}
