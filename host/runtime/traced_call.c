/* Functions of modules as trace/ knows them; calls of them that meet breakpoints, and their ends.
 */
#include "traced_call.h"

/* --- Functions ------------------------------------------------------------------------------- */

/* What an export entry's `known` is. It stays for ever, as the entry does: open calls of a function
 * that is gone refer to it. */
struct traced_export {
    struct th_live_function live; /* the first member */
    bool begun;
};

/* Where functions are known; NULL: nowhere. By the thread that adds and removes modules. */
static struct th_tracing *known_to;

static struct traced_export *traced_of(struct th_export *entry)
{
    struct traced_export *traced = entry->known;

    if (traced)
        return traced;
    entry->known = traced = th_alloc_zero(sizeof *traced);
    traced->live.function = (struct th_traced_function){
        .name = {entry->module, entry->function, entry->arity},
        .site = th_site_create(&th_site_export, &traced->live, entry),
    };
    return traced;
}

/* Has those of CALLEES that are not yet as BEGUN says begin, or end. */
static void switch_all(const struct th_callee callees[], size_t count, bool begun)
{
    struct th_live_function **functions = th_alloc((count + 1) * sizeof(struct th_live_function *));
    size_t switched = 0;

    for (size_t i = 0; i < count; i++) {
        struct traced_export *traced = callees[i].entry ? traced_of(callees[i].entry) : NULL;
        if (!traced || traced->begun == begun)
            continue;
        traced->begun = begun;
        functions[switched++] = &traced->live;
    }
    (begun ? th_live_functions_begin : th_live_functions_end)(known_to, functions, switched);
    th_free(functions);
}

static void begin(const struct th_callee callees[], size_t count)
{
    switch_all(callees, count, true);
}

static void end(const struct th_callee callees[], size_t count)
{
    switch_all(callees, count, false);
}

/* --- Open calls ------------------------------------------------------------------------------ */

enum {
    FEWEST = 8,           /* room for open calls, which each process may have, */
    KEPT = 1024,          /* that is kept when none is open */
    MOST = 1000000,       /* of a process, unless told otherwise, */
    MOST_OF_ALL = 1 << 24 /* and of all: for more there is no room */
};

struct th_open_call {
    const struct th_live_function *function;
    const struct th_call *outer; /* which frame it is on: see traced_call.h */
    size_t frames;
    struct th_live_wants wants;
};

static size_t most = MOST;        /* written while there are no processes */
static _Atomic size_t room;       /* relaxed, as the next: for how many there is memory */
static _Atomic uint64_t not_kept; /* that were forgotten since the runtime was started */

uint64_t th_runtime_calls_not_kept(void)
{
    return atomic_load_explicit(&not_kept, memory_order_relaxed);
}

void th_traced_calls_begin(const struct th_runtime_setup *setup)
{
    static const struct th_module_watcher watcher = {begin, end};

    most = setup->open_calls ? setup->open_calls : MOST;
    atomic_store_explicit(&not_kept, 0, memory_order_relaxed);
    known_to = setup->tracing;
    if (known_to)
        th_module_watch(&watcher);
}

void th_traced_calls_end(void)
{
    if (known_to)
        th_module_watch(NULL);
    known_to = NULL;
}

static struct th_open_call *at(const struct th_open_calls *open, size_t i)
{
    return &open->ring[(open->bottom + i) & (open->capacity - 1)];
}

static void free_room(struct th_open_calls *open)
{
    atomic_fetch_sub_explicit(&room, open->capacity, memory_order_relaxed);
    th_free(open->ring);
    *open = (struct th_open_calls){0};
}

/* False: there is to be no more room. */
static bool make_room(struct th_open_calls *open)
{
    size_t capacity = open->capacity ? 2 * open->capacity : FEWEST;
    struct th_open_calls larger = {.count = open->count, .capacity = capacity};

    if (open->count >= most)
        return false;
    if (open->capacity &&
        atomic_load_explicit(&room, memory_order_relaxed) + capacity > MOST_OF_ALL)
        return false;
    atomic_fetch_add_explicit(&room, capacity, memory_order_relaxed);
    larger.ring = th_alloc(capacity * sizeof *larger.ring);
    for (size_t i = 0; i < open->count; i++)
        larger.ring[i] = *at(open, i);
    if (open->capacity)
        free_room(open);
    *open = larger;
    return true;
}

static void forget_oldest(struct th_process_run *process)
{
    struct th_open_calls *open = &process->open;

    th_live_drop(&process->live, &at(open, 0)->wants);
    open->bottom++;
    open->count--;
    atomic_fetch_add_explicit(&not_kept, 1, memory_order_relaxed);
}

static void keep_open(struct th_process_run *process, const struct th_open_call *call)
{
    struct th_open_calls *open = &process->open;

    if ((open->count == open->capacity || open->count >= most) && !make_room(open))
        forget_oldest(process);
    *at(open, open->count++) = *call;
}

/* --- Calls and their ends -------------------------------------------------------------------- */

void th_traced_call(struct th_process_run *process, const struct th_export *entry,
                    const th_term *argv, const struct th_call *outer)
{
    const struct traced_export *traced = entry->known;
    struct th_live_call call = {.process = &process->live,
                                .function = &traced->live,
                                .site = traced->live.function.site,
                                .arguments = argv,
                                .external = true};
    struct th_open_call made = {&traced->live, outer, process->frame_count, {0}};

    th_live_call(&call, &made.wants);
    if (made.wants.count > 0)
        keep_open(process, &made);
}

static th_term class_of(enum th_raised class)
{
    return class == TH_RAISED_ERROR   ? TH_AM(error)
           : class == TH_RAISED_THROW ? TH_AM(throw)
                                      : TH_AM(exit);
}

static void end_one(struct th_process_run *process, struct th_open_call *call)
{
    if (process->outcome != TH_NONE)
        th_live_return(&process->live, call->function, &call->wants, process->outcome);
    else
        th_live_raise(&process->live, call->function, &call->wants, class_of(process->raised.class),
                      process->raised.reason);
}

void th_traced_calls_over(struct th_process_run *process, const struct th_call *outer)
{
    struct th_open_calls *open = &process->open;

    while (open->count > 0) {
        struct th_open_call call = *at(open, open->count - 1);
        if (call.outer != outer || call.frames != process->frame_count)
            return;
        open->count--;
        end_one(process, &call);
    }
    if (open->capacity > KEPT)
        free_room(open);
}

void th_traced_calls_drop(struct th_process_run *process)
{
    struct th_open_calls *open = &process->open;

    while (open->count > 0)
        th_live_drop(&process->live, &at(open, --open->count)->wants);
    if (open->capacity)
        free_room(open);
}

/* --- Who calls ------------------------------------------------------------------------------- */

/* The functions that wait for the call that is made, the nearest first: those on kept frames, then
 * the one that made the nested call in which they are, and so on. */
static size_t find_callers(const struct th_process_run *process, const struct th_callee *found[],
                           size_t limit)
{
    const struct th_call *call = th_call_current;
    size_t from = process->base, i = process->frame_count, count = 0;

    for (;;) {
        for (; i > from && count < limit; i--)
            found[count++] = process->frames[i - 1].then.callee;
        if (!call || count == limit)
            return count;
        found[count++] = call->callee;
        from = call->frames;
        call = call->outer;
    }
}

th_term th_traced_caller(void *context, th_env *env)
{
    const struct th_callee *caller;

    if (find_callers(th_process_of_live(context), &caller, 1) == 0)
        return TH_AM(undefined);
    return th_make_tuple_of(env, th_library_name(caller->library),
                            th_name_atom(caller->function->name),
                            th_small((int)caller->function->arity));
}

th_term th_traced_stack(void *context, th_env *env, size_t depth)
{
    const struct th_callee *callers[TH_EXECUTION_CALLERS];
    th_term entries[TH_EXECUTION_CALLERS];
    size_t count = find_callers(th_process_of_live(context), callers,
                                depth < TH_EXECUTION_CALLERS ? depth : TH_EXECUTION_CALLERS);

    for (size_t i = 0; i < count; i++)
        entries[i] = th_make_tuple_of(env, th_library_name(callers[i]->library),
                                      th_name_atom(callers[i]->function->name),
                                      th_small((int)callers[i]->function->arity), TH_NIL);
    return th_make_list(env, entries, count);
}
