/*
 * count: how often each tag came, and each function was called.
 *
 * The tables are printed when the tracer is unloaded: tags, then functions, the most frequent
 * first. Each thread counts in tables of its own, so that counting takes no lock.
 *
 * State: see ../output.h; `top` is how many functions are printed (20; 0: all).
 */
#define TRACER_KEYS "top",
#include "../line.h"
#include "../output.h"
#include "counts.h"

enum { TOP = 20 };

/* What one thread counted for one output. */
struct table {
    struct table *next;      /* in all_tables */
    struct table *next_here; /* in the list of its thread */
    struct output *output;
    struct counts counts;
};

static struct table *_Atomic all_tables; /* put in front by any thread; read by unload */
static atomic_ullong lost;               /* events for which not even a table could be made */

/* This thread's tables: the one for states without settings, and the others. */
static _Thread_local struct {
    struct table *plain;
    struct table *others;
} here;

/* Puts a new table into the list of this thread that LIST heads. NULL if there is no memory. */
static struct table *new_table(struct table **list, struct output *output)
{
    struct table *table = output ? calloc(1, sizeof *table) : NULL;

    if (!table) {
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
        return NULL;
    }
    table->output = output;
    table->next_here = *list;
    *list = table;
    table->next = atomic_load_explicit(&all_tables, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&all_tables, &table->next, table,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return table;
}

static struct table *other_table(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct table *table = here.others;

    while (table && table->output != output)
        table = table->next_here;
    return table ? table : new_table(&here.others, output);
}

/* This thread's table for that state. */
static inline struct table *table_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    if (output_has_settings(env, state))
        return other_table(env, state);
    return here.plain ? here.plain : new_table(&here.plain, output_of(env, state));
}

static void count_tag(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tag)
{
    const struct count wanted = {0, tag, 0, 0};
    struct table *table = table_of(env, state);

    if (table && !counts_add(&table->counts, &wanted, 1))
        counts_insert(&table->counts, &wanted, 1);
}

/* Counts a call of MFA, {Module, Function, Arity or arguments}; false if it is anything else. */
static bool count_call(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM mfa)
{
    const ERL_NIF_TERM *elements;
    struct table *table;
    struct count wanted;
    int size;

    if (!enif_get_tuple(env, mfa, &size, &elements) || size != 3)
        return false;
    if (!enif_get_uint(env, elements[2], &wanted.arity) &&
        !enif_get_list_length(env, elements[2], &wanted.arity))
        return false;
    wanted.module = elements[0];
    wanted.function = elements[1];
    table = table_of(env, state);
    if (!table || counts_add(&table->counts, &wanted, 1))
        return true;
    /* What was counted before are atoms, so only what is new needs looking at. */
    if (!enif_is_atom(env, wanted.module) || !enif_is_atom(env, wanted.function))
        return false;
    counts_insert(&table->counts, &wanted, 1);
    return true;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    count_tag(env, state, tag);
}

/* A call counts for its function; the report adds up the tag. */
TH_TRACER_TRACE(call)
{
    if (tag != TH_TRACER_ATOM(env, call) || !count_call(env, state, term))
        count_tag(env, state, tag);
}

/* --- the report --- */

/* Tags before functions, then the most frequent first, then by name. */
static int compare(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    int names;

    if (!a->module != !b->module)
        return a->module ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    names = a->module ? enif_compare(a->module, b->module) : 0;
    if (names == 0)
        names = enif_compare(a->function, b->function);
    return names ? names : (a->arity > b->arity) - (a->arity < b->arity);
}

static void put(struct counts *sum, const struct count *more)
{
    if (!counts_add(sum, more, more->count))
        counts_insert(sum, more, more->count);
}

static void add_up(struct counts *sum, const struct counts *counts, ERL_NIF_TERM call)
{
    for (size_t i = 0; i < counts->size; i++) {
        const struct count *count = &counts->slots[i];
        if (count->count)
            put(sum, count);
        if (count->count && count->module)
            put(sum, &(struct count){0, call, 0, count->count});
    }
    sum->lost += counts->lost;
}

/* All threads' counts for OUTPUT, sorted and without gaps: `used` slots. */
static struct counts sum_of(ErlNifEnv *env, const struct output *output)
{
    struct counts sum = {0};
    size_t used = 0;

    for (struct table *table = all_tables; table; table = table->next)
        if (table->output == output)
            add_up(&sum, &table->counts, TH_TRACER_ATOM(env, call));
    for (size_t i = 0; i < sum.size; i++)
        if (sum.slots[i].count)
            sum.slots[used++] = sum.slots[i];
    if (used)
        qsort(sum.slots, used, sizeof *sum.slots, compare);
    return sum;
}

static uint64_t total(const struct count *counts, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += counts[i].count;
    return sum;
}

static void add_figures(struct line *line, uint64_t count, uint64_t all)
{
    line_start(line);
    line_add(line, "%12llu %7.2f  ", (unsigned long long)count,
             all ? 100.0 * (double)count / (double)all : 0.0);
}

static void print_tags(ErlNifEnv *env, FILE *file, const struct count *tags, size_t count)
{
    uint64_t all = total(tags, count);
    char name[256] = ""; /* without the quotes that 'receive' would have */
    struct line line;

    fprintf(file, "      events       %%  tag\n");
    for (size_t i = 0; i < count; i++) {
        add_figures(&line, tags[i].count, all);
        enif_get_atom(env, tags[i].function, name, sizeof name, ERL_NIF_LATIN1);
        line_add(&line, "%s", name);
        line_end(&line, file);
    }
    add_figures(&line, all, all);
    line_add(&line, "all");
    line_end(&line, file);
}

static void print_functions(FILE *file, const struct count *functions, size_t count, size_t top)
{
    uint64_t all = total(functions, count);
    size_t shown = top && top < count ? top : count;
    struct line line;

    fprintf(file, "\n       calls       %%  function\n");
    for (size_t i = 0; i < shown; i++) {
        add_figures(&line, functions[i].count, all);
        line_add(&line, "%T:%T/%u", functions[i].module, functions[i].function, functions[i].arity);
        line_end(&line, file);
    }
    if (shown == count)
        return;
    add_figures(&line, total(functions + shown, count - shown), all);
    line_add(&line, "%lu more", (unsigned long)(count - shown));
    line_end(&line, file);
}

static void report(ErlNifEnv *env, struct output *output)
{
    struct counts sum = sum_of(env, output);
    ERL_NIF_TERM value;
    unsigned top = TOP;
    size_t tags = 0;

    if (output->state &&
        enif_get_map_value(env, output->state, enif_make_atom(env, "top"), &value) &&
        !enif_get_uint(env, value, &top))
        fprintf(stderr, "count: top is no number; %u functions are shown\n", top = TOP);
    while (tags < sum.used && !sum.slots[tags].module)
        tags++;
    print_tags(env, output->file, sum.slots, tags);
    if (tags < sum.used)
        print_functions(output->file, sum.slots + tags, sum.used - tags, top);
    if (sum.lost)
        fprintf(output->file, "%llu events were not counted: out of memory\n",
                (unsigned long long)sum.lost);
    free(sum.slots);
}

/* What other threads have in `here` goes with the library. */
TH_TRACER_UNLOAD()
{
    struct table *table = all_tables, *next;

    for (struct output *output = outputs.first; output; output = output->next)
        report(env, output);
    if (lost)
        fprintf(stderr, "count: %llu events were not counted: out of memory\n", lost);
    for (; table; table = next) {
        next = table->next;
        free(table->counts.slots);
        free(table);
    }
    all_tables = here.plain = here.others = NULL;
    output_close_all();
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}, {"trace_call", 5, trace_call, 0}};
ERL_NIF_INIT(count, callbacks, NULL, NULL, NULL, unload)
