/*
 * Functions of modules, and the code that they have: none, that of one instance of their module, or
 * of two, while old code runs on beside the new.
 *
 * Breakpoints are the function's. Those at its export entry are met whatever code calls reach. At
 * its native site, the entries of both instances are armed and counted alike: those of the new one
 * before any call can reach it. So what makes its calls be traced is that they come to the code,
 * and nothing is left out, or told twice.
 */

#include "host/runtime/call_steps.h"
#include "native_call.h"

#include <pthread.h>
#include <string.h>

typedef struct th_module_function traced_function;
typedef struct th_instance_function traced_code;

/* Where functions are known; NULL: nowhere. By the thread that adds and removes modules. */
static struct th_tracing *known_to;

/* Of functions that have no export entry: a number for the name -> traced_function. With the code
 * modification permission. */
static struct th_table locals;

/* The functions of an instance of a module. Of two callees with one name the later is what calls
 * reach; the other has no part in it. */
struct instance {
    size_t count;
    bool begun;
    traced_code *codes[];
};

/* Guards what follows, and is held for a few instructions: instances by their callees, and memory
 * for their functions. The innermost. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table instances;
static traced_code *free_codes;

/* --- Functions ------------------------------------------------------------------------------- */

static traced_function *create_function(th_term module, th_term function, unsigned arity)
{
    traced_function *traced = th_alloc_zero(sizeof *traced);

    traced->live.function.name = (struct th_mfa){module, function, arity};
    return traced;
}

static traced_function *function_of_entry(struct th_export *entry)
{
    traced_function *traced = entry->known;

    if (traced)
        return traced;
    entry->known = traced = create_function(entry->module, entry->function, entry->arity);
    traced->live.function.site =
        th_breakpoint_site_create(&th_breakpoint_site_export, &traced->live, entry);
    return traced;
}

static th_term function_atom(const struct th_callee *callee)
{
    return th_runtime_name_atom(callee->function->name);
}

/* Two atoms' indices, of which there are fewer than 2^28, and an arity below 8. */
static uint64_t number_of(const struct th_callee *callee)
{
    th_term module = th_library_name(callee->library);

    return module >> 6 << 31 | function_atom(callee) >> 6 << 3 | callee->function->arity;
}

static traced_function *function_of_local(const struct th_callee *callee)
{
    uint64_t number = number_of(callee);
    traced_function *traced = th_hash_table_get(&locals, number);

    if (!traced) {
        traced = create_function(th_library_name(callee->library), function_atom(callee),
                                 callee->function->arity);
        th_hash_table_set(&locals, number, traced);
    }
    return traced;
}

static traced_function *function_of(const struct th_callee *callee)
{
    return callee->entry ? function_of_entry(callee->entry) : function_of_local(callee);
}

/* The native site, whether or not it has been of use. */
static struct th_site *native_site(traced_function *traced)
{
    if (!traced->kept)
        traced->kept =
            th_breakpoint_site_create(&th_native_site_native, &traced->live, &traced->place);
    return traced->kept;
}

/* --- Code ------------------------------------------------------------------------------------ */

static traced_code *take_code(void)
{
    traced_code *code;

    pthread_mutex_lock(&lock);
    code = free_codes;
    if (code)
        free_codes = code->older;
    pthread_mutex_unlock(&lock);
    return code ? code : th_alloc(sizeof *code);
}

static struct th_native *create_record(traced_code *code)
{
    const struct th_callee *callee = code->callee;
    enum th_native_form form = th_code_callee_is_local(callee)
                                   ? TH_NATIVE_TERMS_0 + callee->function->arity
                                   : TH_NATIVE_NIF;

    return th_native_create(callee->library, callee->code, form, th_traced_native_handlers[form],
                            code);
}

static void add_same(struct th_native *native, traced_code *code)
{
    traced_code *last = native->owner;

    while (last->same)
        last = last->same;
    last->same = code;
}

static void find_record(traced_code *code)
{
    const struct th_callee *callee = code->callee;

    code->no_local = th_native_refusal(callee->library, callee->code);
    if (code->no_local)
        return;
    code->native = th_native_find(callee->code);
    if (code->native)
        add_same(code->native, code);
    else
        code->native = create_record(code);
    if (!code->native)
        code->no_local = "its code cannot be made writable, or there is no memory near it";
}

static traced_code *create_code(struct th_callee *callee)
{
    traced_code *code = callee->known = take_code();

    *code =
        (traced_code){.callee = callee, .start = callee->code, .arity = callee->function->arity};
    find_record(code);
    return code;
}

/* A record goes with the first that has it. */
static void drop_records(const struct instance *instance)
{
    struct th_native **natives = th_alloc((instance->count + 1) * sizeof(struct th_native *));
    size_t count = 0;

    for (size_t i = 0; i < instance->count; i++) {
        traced_code *code = instance->codes[i];
        if (code->native && code->native->owner == code)
            natives[count++] = code->native;
    }
    th_native_drop_all(natives, count);
    th_free(natives);
}

/* In their order, so that the next ones to be taken lie side by side in memory, too. */
static void free_codes_of(const struct instance *instance)
{
    traced_code *first = NULL;

    if (instance->count == 0)
        return;
    for (size_t i = instance->count; i-- > 0;) {
        instance->codes[i]->older = first;
        first = instance->codes[i];
    }
    pthread_mutex_lock(&lock);
    instance->codes[instance->count - 1]->older = free_codes;
    free_codes = first;
    pthread_mutex_unlock(&lock);
}

/* --- Instances ------------------------------------------------------------------------------- */

/* The last of each name: for entries, and for functions without one. */
struct latest {
    struct th_table of_entries, of_locals;
};

static struct latest find_latest(const struct th_callee callees[], size_t count)
{
    struct latest latest = {{0}, {0}};

    for (size_t i = 0; i < count; i++)
        if (callees[i].entry)
            th_hash_table_set(&latest.of_entries, (uintptr_t)callees[i].entry, (void *)&callees[i]);
        else
            th_hash_table_set(&latest.of_locals, number_of(&callees[i]), (void *)&callees[i]);
    return latest;
}

static bool is_latest(const struct latest *latest, const struct th_callee *callee)
{
    const void *last = callee->entry
                           ? th_hash_table_get(&latest->of_entries, (uintptr_t)callee->entry)
                           : th_hash_table_get(&latest->of_locals, number_of(callee));

    return last == callee;
}

static struct instance *make_instance(struct th_callee callees[], size_t count)
{
    struct latest latest = find_latest(callees, count);
    struct instance *instance = th_alloc(sizeof *instance + count * sizeof instance->codes[0]);

    instance->begun = false;
    instance->count = 0;
    for (size_t i = 0; i < count; i++)
        if (is_latest(&latest, &callees[i]))
            instance->codes[instance->count++] = create_code(&callees[i]);
    th_hash_table_free(&latest.of_entries);
    th_hash_table_free(&latest.of_locals);
    return instance;
}

static struct instance *instance_of(const struct th_callee callees[])
{
    struct instance *instance;

    pthread_mutex_lock(&lock);
    instance = th_hash_table_get(&instances, (uintptr_t)callees);
    pthread_mutex_unlock(&lock);
    return instance;
}

static void prepare_instance(struct th_callee callees[], size_t count)
{
    struct instance *instance = make_instance(callees, count);

    pthread_mutex_lock(&lock);
    th_hash_table_set(&instances, (uintptr_t)callees, instance);
    pthread_mutex_unlock(&lock);
}

static void free_instance(const struct th_callee callees[], struct instance *instance)
{
    pthread_mutex_lock(&lock);
    th_hash_table_remove(&instances, (uintptr_t)callees);
    pthread_mutex_unlock(&lock);
    drop_records(instance);
    free_codes_of(instance);
    th_free(instance);
}

/* What of an instance's functions is to be done for all at once. */
struct work {
    struct th_traceable_function **functions; /* that begin, or end */
    struct th_live_renewal *renewals;
    struct th_site **sites; /* with the records that they get, or lose */
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

/* The newest code of TRACED, which has begun, has become another: its native site is of use, or is
 * not, as that says. */
static void renew(struct work *work, traced_function *traced)
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

/* --- Beginnings and ends --------------------------------------------------------------------- */

static void begin_code(struct work *work, traced_code *code)
{
    traced_function *traced = function_of(code->callee);

    code->function = traced;
    code->site = code->native ? native_site(traced) : NULL;
    code->older = traced->code;
    traced->code = code;
    if (code->older) {
        renew(work, traced);
        return;
    }
    traced->live.function.local = code->site;
    traced->live.function.no_local = code->no_local;
    work->functions[work->function_count++] = &traced->live;
}

/* Records come first, so that what is armed finds them. */
static void begin_instance(struct th_callee callees[], size_t count)
{
    struct instance *instance = instance_of(callees);
    struct work work;

    if (!instance) {
        prepare_instance(callees, count);
        instance = instance_of(callees);
    }
    instance->begun = true;
    work = begin_work(instance);
    for (size_t i = 0; i < instance->count; i++)
        begin_code(&work, instance->codes[i]);
    add_records(&work, instance);
    th_native_attach(work.sites, work.natives, work.native_count);
    th_live_functions_begin(known_to, work.functions, work.function_count);
    th_live_functions_renew(known_to, work.renewals, work.renewal_count);
    free_work(&work);
}

static void end_code(struct work *work, traced_code *code)
{
    traced_function *traced = code->function;
    traced_code **link = &traced->code;

    while (*link != code)
        link = &(*link)->older;
    *link = code->older;
    if (!traced->code)
        work->functions[work->function_count++] = &traced->live;
    else if (link == &traced->code)
        renew(work, traced);
}

static void end_instance(const struct instance *instance)
{
    struct work work = begin_work(instance);

    for (size_t i = 0; i < instance->count; i++)
        end_code(&work, instance->codes[i]);
    if (work.function_count > 0)
        th_live_functions_end(known_to, work.functions, work.function_count);
    th_live_functions_renew(known_to, work.renewals, work.renewal_count);
    add_records(&work, instance);
    th_native_detach(work.sites, work.natives, work.native_count);
    for (size_t i = 0; i < work.function_count; i++) /* their breakpoints are gone */
        work.functions[i]->function.local = NULL;
    free_work(&work);
}

static void end_and_free_instance(struct th_callee callees[], size_t count)
{
    struct instance *instance = instance_of(callees);

    (void)count;
    if (!instance)
        return;
    if (instance->begun)
        end_instance(instance);
    free_instance(callees, instance);
}

const struct th_module_watcher th_traced_functions_watcher = {prepare_instance, begin_instance,
                                                              end_and_free_instance};

void th_traced_functions_begin(struct th_tracing *tracing)
{
    known_to = tracing;
    if (th_native_begin() != TH_OK)
        th_error_clear(); /* each function tells that it is refused, and why */
    th_code_module_watch(&th_traced_functions_watcher);
}

void th_traced_functions_end(void)
{
    if (known_to)
        th_code_module_watch(NULL);
    known_to = NULL;
}
