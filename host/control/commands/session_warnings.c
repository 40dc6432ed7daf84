/* Warnings about patterns without functions, about functions that cannot have a pattern's
 * breakpoints, and about sessions and tracees without events. */

#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/library/name_list.h"
#include "host/process/process.h"
#include "host/term/text.h"
#include "host/trace/note.h"
#include "host/trace/pattern.h"

#include <string.h>

/* --- Patterns --------------------------------------------------------------------------------- */

/* Patterns similar to PATTERN that match existing functions. */
struct candidates {
    const struct th_pattern *pattern;
    struct th_names names;
};

/* Returns true if NAME is TH_NONE, or is similar to WORD. */
static bool is_like(th_term name, th_term word)
{
    const char *text = name == TH_NONE ? NULL : th_atom_name(name)->text;

    return !text || th_library_suggest_nearest(text, &(const char *){th_atom_name(word)->text}, 1);
}

static void add_candidate(void *context, const struct th_function_info *function)
{
    struct candidates *candidates = context;
    struct th_pattern like = *candidates->pattern;
    struct th_buffer text = {0}, own = {0};

    if (!is_like(like.module, function->name.module) ||
        !is_like(like.function, function->name.function))
        return;
    like.module = function->name.module;
    like.function = like.function == TH_NONE ? TH_NONE : function->name.function;
    like.arity = like.arity == TH_ANY_ARITY ? TH_ANY_ARITY : (int)function->name.arity;
    th_trace_pattern_show(&own, candidates->pattern);
    th_trace_pattern_show(&text, &like);
    if (strcmp(th_buffer_text(&text), th_buffer_text(&own)) != 0) /* not the pattern itself */
        th_library_names_add(&candidates->names, th_buffer_text(&text));
    th_buffer_free(&text);
    th_buffer_free(&own);
}

char *th_control_pattern_question(const struct th_pattern *pattern,
                                  const struct th_tracing *tracing)
{
    struct candidates candidates = {.pattern = pattern};
    struct th_buffer text = {0};
    char *question;

    th_trace_functions(tracing, add_candidate, &candidates);
    th_trace_pattern_show(&text, pattern);
    question = th_library_suggest_question(
        th_buffer_text(&text), (const char *const *)candidates.names.items, candidates.names.count);
    th_buffer_free(&text);
    th_library_names_free(&candidates.names);
    return question;
}

void th_control_pattern_warn_of_spelling(const struct th_pattern *pattern, const char *text,
                                         const struct th_tracing *tracing)
{
    char *question = th_control_pattern_question(pattern, tracing);

    if (*question)
        th_warn("there is no function %.60s%s", text, question);
    th_free(question);
}

/* Warns that no function matches OPTION; WHAT is the text. */
static void warn_of_none(const struct th_control_pattern_option *option,
                         const struct th_tracing *tracing, const char *what)
{
    char *question = th_control_pattern_question(&option->pattern, tracing);

    th_warn("-p %s: %s%s", option->text, what, question);
    th_free(question);
}

void th_control_pattern_option_report_left_out(const struct th_control_pattern_option *option,
                                               const struct th_session *session, bool sets)
{
    struct th_pattern_refusals refusals;
    size_t told = 0;

    if (option->pattern.on_load)
        return;
    th_trace_session_pattern_refusals(session, &option->pattern, option->kinds, &refusals);
    if (refusals.concerned == 0)
        warn_of_none(option, th_trace_session_tracing(session), "there is no such function yet");
    for (size_t i = 0; i < refusals.count && sets; i++) {
        struct th_buffer text = {0};
        th_trace_pattern_refusal_print(&text, &refusals.items[i]);
        th_warn("-p %s skips %s", option->text, th_buffer_text(&text));
        th_buffer_free(&text);
        told += refusals.items[i].functions;
    }
    if (told < refusals.functions && sets)
        th_warn("-p %s skips %zu more function%s", option->text, refusals.functions - told,
                th_log_plural(refusals.functions - told));
}

/* Returns true if events matched the session of OPTION. */
static bool has_events(const struct th_control_session_option *option,
                       const struct th_tracing *tracing)
{
    const struct th_session *session = th_trace_session_find(tracing, option->began);
    struct th_session_counts counts = {0};

    if (session)
        counts = th_trace_session_counts(session);
    return counts.traced || counts.discarded || counts.silenced || counts.kept;
}

void th_control_session_options_report_uncalled(const struct th_control_session_options *options,
                                                const struct th_tracing *tracing)
{
    for (size_t i = 0; i < options->count; i++)
        for (size_t k = 0; k < options->items[i].patterns.count && !options->items[i].follows;
             k++) {
            const struct th_control_pattern_option *option = &options->items[i].patterns.items[k];
            if (option->object == TH_PATTERN_FUNCTIONS &&
                !th_control_pattern_option_clears(option) &&
                !(options->items[i].decided && has_events(&options->items[i], tracing)) &&
                !th_trace_called(tracing, &option->pattern) &&
                !th_trace_note_unmatched(tracing, &option->pattern)) /* told at the beginning */
                warn_of_none(option, tracing, "no such function was called");
        }
}

/* --- Tracees ---------------------------------------------------------------------------------- */

/* Tracees without events, each once: sessions of one option expect the same tracees. */
struct unmet {
    struct th_names names;
    bool registered; /* one of them is a registered name */
};

static void add_unmet(void *found, th_term who)
{
    struct unmet *unmet = found;
    struct th_buffer text = {0};

    th_text_show(&text, who);
    if (!th_library_names_contain(&unmet->names, th_buffer_text(&text)))
        th_library_names_add(&unmet->names, th_buffer_text(&text));
    unmet->registered |= th_is_atom(who);
    th_buffer_free(&text);
}

void th_control_sessions_report_unmet(struct th_tracing *tracing)
{
    struct unmet unmet = {0};
    char *joined;

    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        th_trace_session_each_unmet(th_trace_session(tracing, i), add_unmet, &unmet);
    if (unmet.names.count > 0) {
        joined = th_library_names_join(&unmet.names, 8);
        th_warn("there is no event of %s, which --processes or --ports names%s", joined,
                unmet.registered && !th_process_world_has_named()
                    ? "; no record tells a registered name: give pids"
                    : "");
        th_free(joined);
    }
    th_library_names_free(&unmet.names);
}

/* --- Sessions: requested and existing events -------------------------------------------------- */

static void add_tracees(struct th_buffer *asked, const struct th_control_session_option *option,
                        bool ports)
{
    const char *before = ports ? " --ports=" : " --processes=";

    for (size_t i = 0; i < option->tracee_count; i++) {
        const struct th_control_chosen *chosen = &option->tracees[i];
        if ((chosen->group >= TH_PORTS_ALL) != ports)
            continue;
        th_buffer_add_text(asked, before);
        if (chosen->one != TH_NONE)
            th_text_show(asked, chosen->one);
        else
            th_buffer_add_text(asked, th_control_group_words[chosen->group % TH_PORTS_ALL]);
        before = ",";
    }
}

/* --- The lines -------------------------------------------------------------------------------- */

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

static void session_warnings_warn(const struct th_control_session_option *option,
                                  const struct th_session *session)
{
    uint32_t seen = th_trace_seen(th_trace_session_tracing(session));
    const char *before = "; there are ";
    struct th_buffer text = {0};
    bool specified = false;

    if (option->title)
        th_buffer_printf(&text, "session '%s', ", option->title);
    th_buffer_printf(&text, "tracer '%s': no event matches", th_trace_session_name(session));
    if (option->flag_list)
        th_buffer_printf(&text, " --flags=%s", option->flag_list);
    add_tracees(&text, option, false);
    add_tracees(&text, option, true);
    for (size_t i = 0; i < option->patterns.count; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        th_buffer_printf(&text, " -p %s", pattern->text);
        if (pattern->spec)
            th_buffer_printf(&text, " --match-spec=%s", pattern->spec);
        specified |= pattern->spec != NULL;
    }
    if (seen & TH_FLAGS_EVENTS) {    /* "; there are send, call events" */
        if (seen & TH_FLAGS_RUNNING) /* two flags for the same events */
            seen &= ~(uint32_t)TH_FLAG_RUNNING_PROCS;
#define X(name, bit, help)                              \
    if (seen & TH_FLAG_##bit) {                         \
        th_buffer_printf(&text, "%s%s", before, #name); \
        before = ", ";                                  \
    }
        TH_FLAGS(X)
#undef X
        th_buffer_add_text(&text, " events");
    }
    if (specified)
        th_buffer_add_text(&text, TH_CONTROL_MATCH_ADVICE);
    th_warn("%s", th_buffer_text(&text));
    th_buffer_free(&text);
}

/* Returns true if another line explains why SESSION got no events: its patterns only count, have
 * another tracer or clear, or another warning was given. */
static bool session_warnings_is_told(const struct th_control_session_option *option,
                                     const struct th_session *session)
{
    struct th_pattern_counts counts = th_trace_session_pattern_counts(session);
    bool told = counts.undecided || counts.external_unknown ||
                th_trace_session_message_counts(session).undecided;

    th_trace_session_each_unmet(session, note_unmet, &told);
    th_trace_session_waiting(session, note_waiting, &told);
    for (size_t i = 0; i < option->patterns.count && !told; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        told = th_control_pattern_option_clears(pattern);
        if (pattern->object == TH_PATTERN_FUNCTIONS)
            told |= pattern->kinds & (TH_BP_COUNTING | TH_BP_META) ||
                    (!option->patterns.live &&
                     !th_trace_called(th_trace_session_tracing(session), &pattern->pattern));
    }
    return told;
}

void th_control_session_options_report_unmatched(const struct th_control_session_options *options,
                                                 const struct th_tracing *tracing)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct th_control_session_option *option = &options->items[i];
        const struct th_session *session = th_trace_session_find(tracing, option->began);
        if (option->is_followed || !session || !th_trace_session_has_tracer(session) ||
            !th_trace_session_attached(session))
            continue;
        if (!has_events(option, tracing) &&
            (option->flag_list || option->chosen || option->patterns.count) &&
            !session_warnings_is_told(option, session))
            session_warnings_warn(option, session);
    }
}
