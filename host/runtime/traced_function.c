#include "traced_function.h"

#include "native_call.h"

#include <string.h>

typedef struct th_traced_module_function traced_function;

/* Where functions are known; NULL: nowhere. By the thread that adds and removes modules, as what
 * follows. */
static struct th_tracing *known_to;

/* Of functions that have no export entry: a number for the name -> traced_function. */
static struct th_table locals;

static traced_function *create(th_term module, th_term function, unsigned arity)
{
    traced_function *traced = th_alloc_zero(sizeof *traced);

    traced->live.function.name = (struct th_function){module, function, arity};
    return traced;
}

static traced_function *of_entry(struct th_export *entry)
{
    traced_function *traced = entry->known;

    if (traced)
        return traced;
    entry->known = traced = create(entry->module, entry->function, entry->arity);
    traced->live.function.site = th_site_create(&th_site_export, &traced->live, entry);
    return traced;
}

/* Two atoms' indices, of which there are fewer than 2^28, and an arity below 8. */
static uint64_t number_of(th_term module, th_term function, unsigned arity)
{
    return module >> 6 << 31 | function >> 6 << 3 | arity;
}

static traced_function *of_local(const struct th_callee *callee)
{
    th_term module = th_library_name(callee->library);
    th_term function = th_name_atom(callee->function->name);
    uint64_t number = number_of(module, function, callee->function->arity);
    traced_function *traced = th_table_get(&locals, number);

    if (!traced) {
        traced = create(module, function, callee->function->arity);
        th_table_set(&locals, number, traced);
    }
    return traced;
}

static traced_function *of(const struct th_callee *callee)
{
    return callee->entry ? of_entry(callee->entry) : of_local(callee);
}

/* --- Native sites ---------------------------------------------------------------------------- */

static struct th_native *create_record(traced_function *traced)
{
    const struct th_callee *callee = traced->callee;
    enum th_native_form form =
        th_callee_is_local(callee) ? TH_NATIVE_TERMS_0 + callee->function->arity : TH_NATIVE_NIF;

    return th_native_create(callee->library, callee->code, form, th_native_handlers[form], traced);
}

static void add_same(struct th_native *native, traced_function *traced)
{
    traced_function *last = native->owner;

    while (last->same)
        last = last->same;
    last->same = traced;
}

/* Why there can be none now, NULL: there is one. */
static const char *begin_native(traced_function *traced)
{
    const struct th_callee *callee = traced->callee;
    const char *why = th_native_refusal(callee->library, callee->code);
    struct th_native *native;

    if (why)
        return why;
    native = th_native_find(callee->code);
    if (native)
        add_same(native, traced);
    else
        native = create_record(traced);
    if (!native)
        return "its code cannot be made writable, or there is no memory near it";
    if (!traced->kept)
        traced->kept = th_site_create(&th_site_native, &traced->live, native);
    traced->kept->place = native; /* the site has no breakpoint yet, so nobody looks */
    traced->live.function.local = traced->kept;
    return NULL;
}

/* Its site has no breakpoint any more. The record goes with the first that has it. */
static void end_native(traced_function *traced)
{
    struct th_native *native = traced->live.function.local ? traced->kept->place : NULL;

    if (native && native->owner == traced)
        th_native_drop(native);
    traced->live.function.local = NULL;
    traced->same = NULL;
}

/* --- Beginnings and ends --------------------------------------------------------------------- */

/* Of two callees with one name the later is what calls reach. */
static void begin(const struct th_callee callees[], size_t count)
{
    struct th_live_function **functions = th_alloc((count + 1) * sizeof(struct th_live_function *));
    size_t begun = 0;

    for (size_t i = 0; i < count; i++)
        of(&callees[i])->callee = &callees[i];
    for (size_t i = 0; i < count; i++) {
        traced_function *traced = of(&callees[i]);
        if (traced->begun || traced->callee != &callees[i])
            continue;
        traced->begun = true;
        traced->live.function.no_local = begin_native(traced);
        functions[begun++] = &traced->live;
    }
    th_live_functions_begin(known_to, functions, begun);
    th_free(functions);
}

static void end(const struct th_callee callees[], size_t count)
{
    struct th_live_function **functions = th_alloc((count + 1) * sizeof(struct th_live_function *));
    size_t ended = 0;

    for (size_t i = 0; i < count; i++) {
        traced_function *traced = of(&callees[i]);
        if (!traced->begun)
            continue;
        traced->begun = false;
        functions[ended++] = &traced->live;
    }
    th_live_functions_end(known_to, functions, ended);
    for (size_t i = 0; i < ended; i++) {
        end_native((traced_function *)functions[i]);
        ((traced_function *)functions[i])->callee = NULL;
    }
    th_free(functions);
}

void th_traced_functions_begin(struct th_tracing *tracing)
{
    static const struct th_module_watcher watcher = {begin, end};

    known_to = tracing;
    if (th_native_begin() != TH_OK)
        th_error_clear(); /* each function tells that it is refused, and why */
    th_module_watch(&watcher);
}

void th_traced_functions_end(void)
{
    if (known_to)
        th_module_watch(NULL);
    known_to = NULL;
}
