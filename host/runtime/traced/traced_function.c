/*
 * Functions of modules, and the code that belongs to them: none, the code of one instance, or of
 * two while old code runs beside the new.
 *
 * Breakpoints belong to the function. Breakpoints at its export entry are reached with any code. At
 * its native site, the entries of both instances are armed and counted alike; those of the new
 * instance before any call can reach it. So calls are traced because they reach the code: no call
 * is missed or reported twice.
 */

#include "native_call.h"

#include "host/base/memory.h"
#include "host/code/export.h"
#include "host/code/instance.h"
#include "host/library/load.h"
#include "host/runtime/call_steps.h"

#include <pthread.h>
#include <string.h>

typedef struct th_module_function traced_function;
typedef struct th_instance_function traced_code;

/* The tracing that knows the functions; NULL: none. By the thread that adds and removes modules. */
static struct th_tracing *known_to;

/* Functions without an export entry: number of the name -> traced_function. With the code
 * modification permission. */
static struct th_table locals;

/* `known` of an instance of a module: its functions. If two callees have one name, calls reach the
 * later; the earlier is left out. */
struct instance {
    size_t count;
    bool begun;
    traced_code *codes[];
};

/* Guards the memory of functions of instances; held for a few instructions. Innermost. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static traced_code *free_codes;

/* --- Functions ------------------------------------------------------------------------------- */

static th_term function_atom(const struct th_callee *callee)
{
    return th_code_name_atom(callee->function->name);
}

/* Returns a number made of two atom indices, each below 2^28, and an arity below 8. */
static uint64_t traced_function_number_of(const struct th_callee *callee)
{
    th_term module = th_library_name(callee->library);

    return module >> 6 << 31 | function_atom(callee) >> 6 << 3 | callee->function->arity;
}

static traced_function *traced_function_function_of(const struct th_callee *callee)
{
    struct th_export *entry = callee->entry;
    traced_function *traced =
        entry ? entry->known : th_hash_table_get(&locals, traced_function_number_of(callee));

    if (traced)
        return traced;
    traced = th_alloc_zero(sizeof *traced);
    traced->live.function.name = th_runtime_callee_name(callee);
    if (entry) {
        entry->known = traced;
        traced->live.function.site =
            th_breakpoint_site_create(&th_breakpoint_site_export, &traced->live, entry);
    } else {
        th_hash_table_set(&locals, traced_function_number_of(callee), traced);
    }
    return traced;
}

/* --- Code ------------------------------------------------------------------------------------ */

static traced_code *create_code(struct th_callee *callee)
{
    enum th_native_form form = th_code_callee_is_local(callee)
                                   ? TH_NATIVE_TERMS_0 + callee->function->arity
                                   : TH_NATIVE_NIF;
    traced_code *code, *last;

    pthread_mutex_lock(&lock);
    code = free_codes;
    if (code)
        free_codes = code->older;
    pthread_mutex_unlock(&lock);
    if (!code)
        code = th_alloc(sizeof *code);
    *code =
        (traced_code){.callee = callee, .start = callee->code, .arity = callee->function->arity};
    callee->known = code;

    /* Functions with the same code share the record of the code. */
    code->no_local = th_native_refusal(callee->library, callee->code);
    if (code->no_local)
        return code;
    code->native = th_native_find(callee->code);
    if (code->native) {
        for (last = code->native->owner; last->same; last = last->same)
            ;
        last->same = code;
        code->native->arity = -1;
        return code;
    }
    code->native = th_native_create(callee->library, callee->code, form,
                                    th_traced_native_handlers[form], code);
    if (code->native)
        code->native->arity = (int)code->arity;
    else
        code->no_local = "its code cannot be made writable, or there is no memory near it";
    return code;
}

/* --- Instances ------------------------------------------------------------------------------- */

/* Returns the key of a callee: the address of its entry, or an odd number. */
static uint64_t traced_function_key_of(const struct th_callee *callee)
{
    return callee->entry ? (uintptr_t)callee->entry : traced_function_number_of(callee) << 1 | 1;
}

static void prepare_instance(struct th_instance *loaded)
{
    struct instance *instance =
        th_alloc(sizeof *instance + loaded->count * sizeof instance->codes[0]);
    struct th_table latest = {0}; /* the last callee of each name */

    for (size_t i = 0; i < loaded->count; i++)
        th_hash_table_set(&latest, traced_function_key_of(&loaded->callees[i]),
                          &loaded->callees[i]);
    instance->begun = false;
    instance->count = 0;
    for (size_t i = 0; i < loaded->count; i++)
        if (th_hash_table_get(&latest, traced_function_key_of(&loaded->callees[i])) ==
            &loaded->callees[i])
            instance->codes[instance->count++] = create_code(&loaded->callees[i]);
    th_hash_table_free(&latest);
    loaded->known = instance;
}

static void traced_function_free_instance(struct instance *instance)
{
    struct th_native **natives = th_alloc((instance->count + 1) * sizeof(struct th_native *));
    traced_code *first = NULL;
    size_t count = 0;

    /* The first function of a record frees the record. */
    for (size_t i = 0; i < instance->count; i++)
        if (instance->codes[i]->native && instance->codes[i]->native->owner == instance->codes[i])
            natives[count++] = instance->codes[i]->native;
    th_native_drop_all(natives, count);
    th_free(natives);

    /* In order, so that later instances get adjacent memory. */
    for (size_t i = instance->count; i-- > 0;) {
        instance->codes[i]->older = first;
        first = instance->codes[i];
    }
    if (first) {
        pthread_mutex_lock(&lock);
        instance->codes[instance->count - 1]->older = free_codes;
        free_codes = first;
        pthread_mutex_unlock(&lock);
    }
    th_free(instance);
}

/* Changes for all functions of an instance at once. */
struct work {
    struct th_traceable_function **functions; /* that begin or end */
    struct th_live_renewal *renewals;
    struct th_site **sites; /* with the records that they get or lose */
    struct th_native **natives;
    size_t function_count, renewal_count, native_count;
};

static struct work begin_work(const struct instance *instance)
{
    const size_t most = instance->count + 1;

    return (struct work){
        .functions = th_alloc(most * sizeof(struct th_traceable_function *)),
        .renewals = th_alloc(most * sizeof(struct th_live_renewal)),
        .sites = th_alloc(most * sizeof(struct th_site *)),
        .natives = th_alloc(most * sizeof(struct th_native *)),
    };
}

static void free_work(struct work *work)
{
    th_free(work->functions);
    th_free(work->renewals);
    th_free(work->sites);
    th_free(work->natives);
}

/* Updates whether the native site of TRACED is usable, after its newest code has changed. */
static void traced_function_renew(struct work *work, traced_function *traced)
{
    const struct th_function_sites *now = &traced->live.function;
    const traced_code *code = traced->code;

    if (now->no_local == code->no_local)
        return;
    work->renewals[work->renewal_count++] = (struct th_live_renewal){
        &traced->live, code->native ? traced->kept : now->local, code->no_local};
}

static void add_records(struct work *work, const struct instance *instance)
{
    for (size_t i = 0; i < instance->count; i++) {
        const traced_code *code = instance->codes[i];
        if (!code->native)
            continue;
        work->sites[work->native_count] = code->site;
        work->natives[work->native_count++] = code->native;
    }
}

/* --- Begin and end of instances --------------------------------------------------------------- */

/* Attaches records before functions begin, so that arming finds the records. */
static void begin_instance(struct th_instance *loaded)
{
    struct instance *instance;
    struct work work;

    if (!loaded->known)
        prepare_instance(loaded);
    instance = loaded->known;
    instance->begun = true;
    work = begin_work(instance);
    for (size_t i = 0; i < instance->count; i++) {
        traced_code *code = instance->codes[i];
        traced_function *traced = traced_function_function_of(code->callee);

        if (code->native && !traced->kept)
            traced->kept =
                th_breakpoint_site_create(&th_native_site_native, &traced->live, &traced->place);
        code->function = traced;
        code->site = code->native ? traced->kept : NULL;
        code->older = traced->code;
        traced->code = code;
        if (code->older) {
            traced_function_renew(&work, traced);
            continue;
        }
        traced->live.function.local = code->site;
        traced->live.function.no_local = code->no_local;
        work.functions[work.function_count++] = &traced->live;
    }
    add_records(&work, instance);
    th_native_attach(work.sites, work.natives, work.native_count);
    th_live_functions_begin(known_to, work.functions, work.function_count);
    th_live_functions_renew(known_to, work.renewals, work.renewal_count);
    free_work(&work);
}

static void end_instance(struct th_instance *loaded)
{
    struct instance *instance = loaded->known;
    struct work work;

    if (!instance)
        return;
    loaded->known = NULL;
    if (!instance->begun) {
        traced_function_free_instance(instance);
        return;
    }
    work = begin_work(instance);
    for (size_t i = 0; i < instance->count; i++) {
        traced_code *code = instance->codes[i];
        traced_function *traced = code->function;
        traced_code **link = &traced->code;

        while (*link != code)
            link = &(*link)->older;
        *link = code->older;
        if (!traced->code)
            work.functions[work.function_count++] = &traced->live;
        else if (link == &traced->code)
            traced_function_renew(&work, traced);
    }
    if (work.function_count > 0)
        th_live_functions_end(known_to, work.functions, work.function_count);
    th_live_functions_renew(known_to, work.renewals, work.renewal_count);
    add_records(&work, instance);
    th_native_detach(work.sites, work.natives, work.native_count);
    for (size_t i = 0; i < work.function_count; i++) /* their breakpoints are gone */
        work.functions[i]->function.local = NULL;
    free_work(&work);
    traced_function_free_instance(instance);
}

const struct th_module_watcher th_traced_functions_watcher = {prepare_instance, begin_instance,
                                                              end_instance};

void th_traced_functions_begin(struct th_tracing *tracing)
{
    known_to = tracing;
    if (th_native_begin() != TH_OK)
        th_error_clear(); /* each function reports its refusal with a reason */
    th_code_module_watch(&th_traced_functions_watcher);
}

void th_traced_functions_end(void)
{
    if (known_to)
        th_code_module_watch(NULL);
    known_to = NULL;
}
