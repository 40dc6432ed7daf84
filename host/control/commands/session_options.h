/* The sessions that options ask for, from their texts to traced tracees. */
#ifndef TH_TRACE_SESSION_H
#define TH_TRACE_SESSION_H

#include "pattern_options.h"

/* One of --processes or --ports: a group, an identifier or a name. */
struct th_control_chosen {
    bool all, existing, new, port;
    th_term one; /* if none of these: an identifier or a name */
};

/* The options between one --session and the next. The first of these has no title: its options
 * stand before any --session. */
struct th_control_session_option {
    const char *title;
    const char **tracers; /* texts of -t; at most one if there is a title */
    size_t tracer_count, tracer_capacity;
    const char *flag_list; /* of --flags; NULL: not given */
    uint32_t flags;
    const char *chosen; /* the option that says whom to trace; NULL: all, as they were recorded */
    struct th_control_chosen *tracees;
    size_t tracee_count, tracee_capacity;
    struct th_control_pattern_options
        patterns; /* with any of calls, these alone are traced by default */
    th_session_id
        began; /* filled in: the session that th_control_session_options_attach() began last */
};

struct th_control_session_options {
    struct th_control_session_option *items;
    size_t count, capacity;
    bool live;    /* of this host, not of a recording */
    bool running; /* and that runs already: its processes may be named */
    /* The first session is none unless it has a tracer: what it says is for another (--top). */
    bool optional;
};

/* Begins with the one that has no title. */
void th_control_session_options_init(struct th_control_session_options *options, bool live);
void th_control_session_options_free(struct th_control_session_options *options);

/* Take one option. TH_USAGE, in one sentence, if it is wrong. */
enum th_status th_control_session_options_begin(struct th_control_session_options *options,
                                                const char *title);
enum th_status th_control_session_options_tracer(struct th_control_session_options *options,
                                                 const char *text);
enum th_status th_control_session_options_flags(struct th_control_session_options *options,
                                                const char *list);
enum th_status th_control_session_options_tracees(struct th_control_session_options *options,
                                                  bool ports, const char *list);

/* The patterns of the session that was begun last. */
struct th_control_pattern_options *
th_control_session_options_patterns(struct th_control_session_options *options);

/* After the last option. TH_USAGE likewise. */
enum th_status th_control_session_options_check(struct th_control_session_options *options);

/* Nothing was said of what to trace. */
bool th_control_session_options_are_empty(const struct th_control_session_options *options);

/* Whether they name processes or ports, which only some threads may: see tracees.h. */
bool th_control_session_options_name_tracees(const struct th_control_session_options *options);

/* False if the first LENGTH bytes of TEXT are none. */
bool th_control_chosen_parse(const char *text, size_t length, bool port,
                             struct th_control_chosen *chosen);

/* Has SESSION trace them with FLAGS, or no more. RUNNING as above: who is named has to be there. */
enum th_status th_control_chosen_trace(const struct th_control_chosen *chosen,
                                       struct th_session *session, bool on, uint32_t flags,
                                       bool running);

/* Loads the tracers, meta tracers too, for th_control_session_options_attach() that follows. */
enum th_status th_control_session_options_preload(const struct th_control_session_options *options,
                                                  const struct th_search *search,
                                                  struct th_control_preloaded *loaded);

/* Loads the tracers, creates the sessions and has them trace. */
enum th_status th_control_session_options_attach(const struct th_control_session_options *options,
                                                 const struct th_search *search,
                                                 struct th_tracing *tracing);

/* Warns of patterns of functions that no call in what was played was for. */
void th_control_session_options_tell_uncalled(const struct th_control_session_options *options,
                                              const struct th_tracing *tracing);

/* Warns of sessions that no event was for, if no other warning says why: what was asked for, and
 * what there is. Those that OPTIONS began last, when all has happened. */
void th_control_session_options_tell_unmatched(const struct th_control_session_options *options,
                                               const struct th_tracing *tracing);

/* Warns of processes, ports and names that sessions were to trace, and that nothing was seen of. */
void th_control_sessions_tell_unmet(struct th_tracing *tracing);

/* No session traces anybody any more: what it has counted stays. Any thread, where the tracing is
 * shared. */
void th_control_sessions_rest(struct th_tracing *tracing);

#endif
