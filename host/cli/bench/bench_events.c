/* Makes the events that `bench` delivers. */
#include "bench_events.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/term/atom.h"
#include "host/term/map.h"
#include "host/term/text.h"
#include "host/trace/tags.h"

#include <string.h>

/* Terms as Erlang text. @ stands for the number of the tracee; $ for a list of ITEMs with `bytes`
 * bytes in the external term format. */
struct form {
    enum th_tracer_tag tag;
    const char *content, *tracee, *term, *extra; /* extra NULL: none */
    unsigned bytes;
};

#define ITEM "{order,17,<<\"sixteen letters.\">>}"
enum { ITEM_BYTES = 32, FIRST = 1000, KILO = 1024 };

#define PROCESS "<0.@.0>"
#define PORT "#Port<0.@>"
#define OTHER "<0.1@.0>"
#define MFA "{m,f,1}"
#define COLLECTION                                                                  \
    "[{old_heap_block_size,0},{heap_block_size,233},{mbuf_size,0},{recent_size,0}," \
    "{stack_size,4},{old_heap_size,0},{heap_size,150},{bin_vheap_size,0},"          \
    "{bin_vheap_block_size,46422},{bin_old_vheap_size,0},{bin_old_vheap_block_size,46422}]"

/* In the order in which they are delivered. */
static const struct form forms[] = {
    {TH_TAG_spawned, "", PROCESS, OTHER, "{m,f,[]}", 0},
    {TH_TAG_spawn, "", PROCESS, "<0.2@.0>", "{m,f,[]}", 0},
    {TH_TAG_register, "", PROCESS, "name", NULL, 0},
    {TH_TAG_link, "", PROCESS, OTHER, NULL, 0},
    {TH_TAG_getting_linked, "", PROCESS, OTHER, NULL, 0},
    {TH_TAG_in, "", PROCESS, MFA, NULL, 0},
    {TH_TAG_call, "f/0", PROCESS, "{m,f,[]}", NULL, 0},
    {TH_TAG_exception_from, "", PROCESS, "{m,f,0}", "{error,badarg}", 0},
    {TH_TAG_call, "f/3", PROCESS, "{m,f,[1,ok,[]]}", NULL, 0},
    {TH_TAG_return_from, "ok", PROCESS, "{m,f,3}", "ok", 0},
    {TH_TAG_call, "100 B", PROCESS, "{m,f,[$]}", NULL, 100},
    {TH_TAG_return_from, "100 B", PROCESS, MFA, "$", 100},
    {TH_TAG_call, "1 kB", PROCESS, "{m,f,[$]}", NULL, KILO},
    {TH_TAG_return_from, "1 kB", PROCESS, MFA, "$", KILO},
    {TH_TAG_call, "10 kB", PROCESS, "{m,f,[$]}", NULL, 10 * KILO},
    {TH_TAG_return_from, "10 kB", PROCESS, MFA, "$", 10 * KILO},
    {TH_TAG_return_to, "", PROCESS, "{m,g,0}", NULL, 0},
    {TH_TAG_send, "ok", PROCESS, "ok", PROCESS, 0},
    {TH_TAG_receive, "ok", PROCESS, "ok", NULL, 0},
    {TH_TAG_send, "100 B", PROCESS, "$", PROCESS, 100},
    {TH_TAG_receive, "100 B", PROCESS, "$", NULL, 100},
    {TH_TAG_send, "1 kB", PROCESS, "$", PROCESS, KILO},
    {TH_TAG_receive, "1 kB", PROCESS, "$", NULL, KILO},
    {TH_TAG_send, "10 kB", PROCESS, "$", PROCESS, 10 * KILO},
    {TH_TAG_receive, "10 kB", PROCESS, "$", NULL, 10 * KILO},
    {TH_TAG_send_to_non_existing_process, "", PROCESS, "ok", OTHER, 0},
    {TH_TAG_gc_minor_start, "", PROCESS, COLLECTION, NULL, 0},
    {TH_TAG_gc_minor_end, "", PROCESS, COLLECTION, NULL, 0},
    {TH_TAG_gc_major_start, "", PROCESS, COLLECTION, NULL, 0},
    {TH_TAG_gc_major_end, "", PROCESS, COLLECTION, NULL, 0},
    {TH_TAG_gc_max_heap_size, "", PROCESS, COLLECTION, NULL, 0},
    {TH_TAG_out, "", PROCESS, MFA, NULL, 0},
    {TH_TAG_unlink, "", PROCESS, OTHER, NULL, 0},
    {TH_TAG_getting_unlinked, "", PROCESS, OTHER, NULL, 0},
    {TH_TAG_unregister, "", PROCESS, "name", NULL, 0},
    {TH_TAG_in_exiting, "", PROCESS, "0", NULL, 0},
    {TH_TAG_out_exiting, "", PROCESS, "0", NULL, 0},
    {TH_TAG_exit, "", PROCESS, "normal", NULL, 0},
    {TH_TAG_out_exited, "", PROCESS, "0", NULL, 0},
    {TH_TAG_open, "", PORT, OTHER, "tcp_inet", 0},
    {TH_TAG_link, "port", PORT, OTHER, NULL, 0},
    {TH_TAG_in, "port", PORT, "command", NULL, 0},
    {TH_TAG_out, "port", PORT, "command", NULL, 0},
    {TH_TAG_unlink, "port", PORT, OTHER, NULL, 0},
    {TH_TAG_closed, "", PORT, "normal", NULL, 0},
    {TH_TAG_seq_trace, "", PROCESS, "{send,{0,1}," PROCESS "," OTHER ",ok}", NULL, 0},
    {TH_TAG_trace_status, "", PROCESS, NULL, NULL, 0},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

/* --- Terms ------------------------------------------------------------------------------------ */

static void add_items(struct th_buffer *text, unsigned bytes)
{
    for (unsigned i = 0; i < bytes / ITEM_BYTES; i++)
        th_buffer_add_text(text, i ? "," ITEM : "[" ITEM);
    th_buffer_add_byte(text, ']');
}

/* Returns the term of TEXT for the tracee NUMBER. */
static th_term make_term(th_env *env, const char *text, unsigned number, unsigned bytes)
{
    struct th_buffer made = {0};
    th_term term;

    for (; *text; text++)
        if (*text == '$')
            add_items(&made, bytes);
        else if (*text == '@')
            th_buffer_printf(&made, "%u", number);
        else
            th_buffer_add_byte(&made, (unsigned char)*text);
    if (th_text_parse(env, th_buffer_text(&made), made.size, &term) != TH_OK)
        term = TH_NONE;
    th_buffer_free(&made);
    return term;
}

static bool depends_on_tracee(const char *text)
{
    return strchr(text, '@') != NULL;
}

/* Returns the options of an event with EXTRA (TH_NONE: none), as a node makes them for tracees with the
 * flag monotonic_timestamp. */
static th_term make_opts(th_env *env, th_term extra)
{
    const th_term keys[] = {TH_AM(timestamp), TH_AM(extra)};
    const th_term values[] = {TH_AM(monotonic), extra};

    return th_make_map(env, keys, values, extra == TH_NONE ? 1 : 2, true);
}

static void fill_terms(th_env *env, const struct form *form, unsigned first,
                       struct th_callback_call calls[])
{
    th_term term = TH_NONE, opts = TH_NONE;

    for (unsigned i = 0; i < TH_BENCH_TRACEES; i++) {
        if (i == 0 || depends_on_tracee(form->term))
            term = make_term(env, form->term, first + i, form->bytes);
        if (i == 0 || (form->extra && depends_on_tracee(form->extra)))
            opts = make_opts(env, form->extra ? make_term(env, form->extra, first + i, form->bytes)
                                              : TH_NONE);
        calls[i].argv[3] = term;
        calls[i].argv[4] = opts;
    }
}

/* --- Series ----------------------------------------------------------------------------------- */

/* Large terms take long: fewer calls measure them as well. */
static size_t tracees_of(const struct form *form)
{
    return form->bytes < KILO ? TH_BENCH_TRACEES : TH_BENCH_TRACEES / (form->bytes > KILO ? 8 : 4);
}

static const int8_t tag_calls[] = {
#define X(tag, process, port, calls, term, extra) [TH_TAG_##tag] = TH_CALLS_##calls,
    TH_TRACER_TAGS(X)
#undef X
};

static bool is_of_port(const struct form *form)
{
    return form->tracee[0] == '#';
}

static unsigned group_of(const struct form *form, enum th_tracer_tag tag)
{
    return (unsigned)th_trace_tag_groups[is_of_port(form)][tag];
}

/* Returns the index of the series of `enabled` for FORM; SIZE_MAX: there is none yet. */
static size_t find_enabled(const struct th_bench_events *events, const struct form *form)
{
    enum th_tracer_tag tag = tag_calls[form->tag] == TH_CALLS_trace ? TH_TAG_call : form->tag;
    unsigned slot = 2 * group_of(form, tag);

    for (size_t i = 0; i < events->count; i++)
        if (events->series[i].tag == tag && events->series[i].slot == slot)
            return i;
    return SIZE_MAX;
}

static void add_series(struct th_bench_events *events, const struct form *form, bool traces,
                       unsigned first)
{
    struct th_bench_series *series = &events->series[events->count];

    *series = (struct th_bench_series){
        .slot = 2 * group_of(form, form->tag) + traces,
        .tag = form->tag,
        .content = traces || is_of_port(form) ? form->content : "",
        .asked = traces ? find_enabled(events, form) : SIZE_MAX,
        .count = tracees_of(form),
        .calls = th_alloc_zero(TH_BENCH_TRACEES * sizeof *series->calls),
    };
    for (unsigned i = 0; i < TH_BENCH_TRACEES; i++) {
        struct th_callback_call *call = &series->calls[i];
        call->tracee = make_term(&events->env, form->tracee, first + i, 0);
        call->argv[0] = th_trace_tag_atom(form->tag);
        call->argv[2] = call->tracee;
        if (traces && form->tag == TH_TAG_seq_trace)
            call->argv[2] = th_small(17); /* the label */
    }
    if (traces)
        fill_terms(&events->env, form, first, series->calls);
    events->count++;
}

void th_bench_events_make(struct th_bench_events *events, unsigned number)
{
    unsigned first = FIRST + number * TH_BENCH_TRACEES;

    *events = (struct th_bench_events){0};
    th_env_init(&events->env, TH_ENV_PLAIN);
    events->series = th_alloc_zero(2 * FORMS * sizeof *events->series);
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        if (find_enabled(events, form) == SIZE_MAX)
            add_series(events, form, false, first);
        if (form->term)
            add_series(events, form, true, first);
        if (form->bytes == 0 && form->tag == TH_TAG_call) /* f/0, then f/3 */
            events->trace_call = events->count - 1;
        if (form->bytes == 0 && form->tag == TH_TAG_return_from)
            events->trace_return = events->count - 1;
    }
    events->enabled_call = events->series[events->trace_call].asked;
}

void th_bench_events_free(struct th_bench_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        th_free(events->series[i].calls);
    th_free(events->series);
    th_env_release(&events->env);
}
