/* The patterns of -p, from their texts to breakpoints. */
#ifndef TH_TRACE_PATTERN_H
#define TH_TRACE_PATTERN_H

#include "host/trace/trace.h"

/* The object of a -p: functions, or messages that are sent or received. */
enum th_pattern_object { TH_PATTERN_FUNCTIONS, TH_PATTERN_SEND, TH_PATTERN_RECEIVE };

/* One -p, with the options that follow it. */
struct th_control_pattern_option {
    const char *text;
    enum th_pattern_object object;
    struct th_pattern pattern; /* TH_PATTERN_FUNCTIONS */
    const char *spec;          /* of --match-spec; NULL: not given */
    bool returns, exceptions, callers, lines;
    const char *kind_list; /* of --kind; NULL: not given */
    uint32_t kinds;
    const char *meta_tracer; /* of --meta-tracer; NULL: not given */
};

struct th_control_pattern_options {
    struct th_control_pattern_option *items;
    size_t count, capacity;
    bool live; /* of this host's functions, not of recorded ones */
};

/* Begins a -p. TH_USAGE, in one sentence, if TEXT is no pattern. */
enum th_status th_control_pattern_options_begin(struct th_control_pattern_options *options,
                                                const char *text);

/* The kinds in LIST, "count,time". TH_USAGE likewise. Of recordings `memory` is taken, too: an
 * error explains why it cannot be had when it is set. */
enum th_status th_control_kinds_parse(const char *list, bool live, uint32_t *kinds);

/* After each option. TH_USAGE, likewise, if OPTION's do not go together. */
enum th_status
th_control_pattern_option_check_words(const struct th_control_pattern_option *option);

/* After the last option of one. TH_USAGE likewise. */
enum th_status th_control_pattern_option_check(const struct th_control_pattern_option *option);

/* The flag of what it is about: TH_FLAG_CALL, TH_FLAG_SEND or TH_FLAG_RECEIVE; and the flag's name.
 */
uint32_t th_control_pattern_option_flag(const struct th_control_pattern_option *option,
                                        const char **name);

/* True if OPTION clears breakpoints; such a pattern need not match any function. */
bool th_control_pattern_option_clears(const struct th_control_pattern_option *option);

/* Libraries that are loaded before they are needed, so that it can be done without a lock. */
struct th_control_preloaded {
    struct th_library **items;
    size_t count, capacity;
};
enum th_status th_control_preload(struct th_control_preloaded *loaded,
                                  const struct th_search *search, const char *tracer);

/* Their users here go: unload() may be called. */
void th_control_preloaded_release(struct th_control_preloaded *loaded);

/* The meta tracers of OPTIONS. */
enum th_status th_control_pattern_options_preload(const struct th_control_pattern_options *options,
                                                  const struct th_search *search,
                                                  struct th_control_preloaded *loaded);

/* Sets them, in their order; meta tracers are looked for by SEARCH. FIRST: no other session has
 * got them; warns of functions that are not there, and of those that cannot have such breakpoints.
 */
enum th_status th_control_pattern_options_set(const struct th_control_pattern_options *options,
                                              const struct th_search *search,
                                              struct th_session *session, bool first);

/* "; did you mean 'lists:map/2'?" if TRACING has functions whose names are like PATTERN's, else "".
 * Owner: the caller, who frees the text with th_free(). */
char *th_control_pattern_question(const struct th_pattern *pattern,
                                  const struct th_tracing *tracing);

/* Warns of functions that may be meant. TEXT is what the user gave for PATTERN, which no function
 * matches. */
void th_control_pattern_warn_of_spelling(const struct th_pattern *pattern, const char *text,
                                         const struct th_tracing *tracing);

/* Warns of functions of this host that OPTION, which was set for SESSION, leaves out. SETS: it does
 * not clear. */
void th_control_pattern_option_tell_left_out(const struct th_control_pattern_option *option,
                                             const struct th_session *session, bool sets);

/* Warns of those that no call in what was played was for. */
void th_control_pattern_options_tell_uncalled(const struct th_control_pattern_options *options,
                                              const struct th_tracing *tracing);

/* Sets one, and warns of nothing. *MATCHED: how many functions are concerned; see
 * th_trace_session_function(). */
enum th_status th_control_pattern_option_set(const struct th_control_pattern_option *option,
                                             const struct th_search *search,
                                             struct th_session *session, size_t *matched);

#endif
