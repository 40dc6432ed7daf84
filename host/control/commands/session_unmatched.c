/* Sessions that were told of nothing, and asked about nothing: a line for each tells what was asked
 * for, and what there is. */
#include "session_options.h"

#include <string.h>

/* --- what was asked for --- */

static void add_tracees(struct th_buffer *asked, const struct th_control_session_option *option,
                        bool ports)
{
    const char *before = ports ? " --ports=" : " --processes=";

    for (size_t i = 0; i < option->tracee_count; i++) {
        const struct th_control_chosen *chosen = &option->tracees[i];
        if (chosen->port != ports)
            continue;
        th_buffer_add_text(asked, before);
        if (chosen->one != TH_NONE)
            th_text_show(asked, chosen->one);
        else
            th_buffer_add_text(asked, chosen->all ? "all" : chosen->existing ? "existing" : "new");
        before = ",";
    }
}

static void add_asked(struct th_buffer *asked, const struct th_control_session_option *option)
{
    if (option->flag_list)
        th_buffer_printf(asked, " --flags=%s", option->flag_list);
    add_tracees(asked, option, false);
    add_tracees(asked, option, true);
    for (size_t i = 0; i < option->patterns.count; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        th_buffer_printf(asked, " -p %s", pattern->text);
        if (pattern->spec)
            th_buffer_printf(asked, " --match-spec=%s", pattern->spec);
    }
}

/* --- what there is --- */

/* "; there are send, call events". */
static void add_seen(struct th_buffer *text, uint32_t flags)
{
    const char *before = "; there are ";

    if (flags & TH_FLAGS_RUNNING) /* two names of one thing */
        flags &= ~(uint32_t)TH_FLAG_RUNNING_PROCS;
#define X(name, bit, help)                             \
    if (flags & TH_FLAG_##bit) {                       \
        th_buffer_printf(text, "%s%s", before, #name); \
        before = ", ";                                 \
    }
    TH_FLAGS(X)
#undef X
    th_buffer_add_text(text, " events");
}

/* --- the lines --- */

static void note_unmet(void *told, th_term who)
{
    (void)who;
    *(bool *)told = true;
}

static void note_waiting(void *told, const struct th_pattern *pattern)
{
    (void)pattern;
    *(bool *)told = true;
}

/* Whether PATTERN is for figures, for another tracer, or for nothing; or it was told that no such
 * function was called. */
static bool is_pattern_told(const struct th_control_pattern_option *pattern,
                            const struct th_session *session, bool live)
{
    if (pattern->object != TH_PATTERN_FUNCTIONS)
        return th_control_pattern_option_clears(pattern);
    return pattern->kinds & (TH_BP_COUNTING | TH_BP_META) ||
           th_control_pattern_option_clears(pattern) ||
           (!live && !th_trace_called(th_trace_session_tracing(session), &pattern->pattern));
}

/* Whether another line tells why. */
static bool is_told(const struct th_control_session_option *option,
                    const struct th_session *session)
{
    struct th_pattern_counts patterns = th_trace_session_pattern_counts(session);
    bool told = patterns.undecided || patterns.external_unknown ||
                th_trace_session_message_counts(session).undecided;

    th_trace_session_each_unmet(session, note_unmet, &told);
    th_trace_session_waiting(session, note_waiting, &told);
    for (size_t i = 0; i < option->patterns.count; i++)
        told |= is_pattern_told(&option->patterns.items[i], session, option->patterns.live);
    return told;
}

/* Its tracer was told of no event, and itself turned none down. */
static bool got_nothing(const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counts(session);

    return th_trace_session_attached(session) && !counts.traced && !counts.discarded &&
           !counts.silenced && !counts.kept;
}

static void warn(const struct th_control_session_option *option, const struct th_session *session)
{
    uint32_t seen = th_trace_seen(th_trace_session_tracing(session));
    struct th_buffer text = {0};

    if (option->title)
        th_buffer_printf(&text, "session '%s', ", option->title);
    th_buffer_printf(&text, "tracer '%s': no event matches", th_trace_session_name(session));
    add_asked(&text, option);
    if (seen & TH_FLAGS_EVENTS)
        add_seen(&text, seen);
    th_warn("%s", th_buffer_text(&text));
    th_buffer_free(&text);
}

void th_control_session_options_tell_unmatched(const struct th_control_session_options *options,
                                               const struct th_tracing *tracing)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct th_control_session_option *option = &options->items[i];
        const struct th_session *session = th_trace_session_find(tracing, option->began);
        if (session && th_trace_session_has_tracer(session) && got_nothing(session) &&
            (option->flag_list || option->chosen || option->patterns.count) &&
            !is_told(option, session))
            warn(option, session);
    }
}
