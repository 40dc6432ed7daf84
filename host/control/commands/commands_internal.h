/*
 * What only commands/ sees.
 */
#ifndef TH_COMMANDS_INTERNAL_H
#define TH_COMMANDS_INTERNAL_H

#include "session_options.h"

#include "host/code/loading.h"

#include <jansson.h>

struct th_control_watch;
struct th_control_main_thread;
struct stat;

/* --- Of commands.h ---------------------------------------------------------------------------- */

/* Has the main thread call TASK(ARGUMENT), and waits for its end: what it returns, with its chain.
 * TH_FAILED if the main thread does not look for TH_CONTROL_MAIN_THREAD_PATIENCE seconds, or has
 * ended: then TASK is not called. One thread at a time. */
enum { TH_CONTROL_MAIN_THREAD_PATIENCE = 5 };
enum th_status th_control_main_thread_ask(struct th_control_main_thread *thread,
                                          enum th_status (*task)(void *argument), void *argument);

/*
 * Libraries that are loaded into a host that runs, several at once: found, prepared side by side,
 * and finished as one.
 *
 *   list = {.names = names, .count = count, .search = &search};
 *   th_control_module_list_load(&list, info);
 *   ... list.finished, list.rounds ...
 *   th_control_module_list_free(&list);
 *
 * By a thread that th_crash_thread_begin() was called in, that may wait, and holds no lock:
 * constructors, load() and upgrade() of the libraries run meanwhile, and a hard purge takes as long
 * as those who are in old code. Such lists may be loaded by several threads at once.
 */
struct th_control_module_list {
    const char *const *names; /* of libraries, as th_library_search_find() takes them */
    size_t count;
    const struct th_search *search;
    enum th_purge purge;

    /* Results, in the order of the names. */
    struct th_control_module_made {
        char *path;                     /* what was found */
        struct th_instance *prepared;   /* NULL: it was refused, or is finished */
        struct th_error_chain *refusal; /* why; NULL: it was not */
    } * made;
    struct th_finished *finished;
    unsigned rounds;     /* of thread progress that were waited for */
    _Atomic size_t next; /* its own. Relaxed: each thread takes another number */
};

/* Prepares all, and makes all visible at one instant, or none: th_code_finish(). INFO is Erlang
 * text, for load() and upgrade(); NULL: 0. Else the status and the chain of the first one that was
 * refused; th_control_module_list_free() in any case. */
enum th_status th_control_module_list_load(struct th_control_module_list *list, const char *info);

/* Drops what was prepared and not finished. */
void th_control_module_list_free(struct th_control_module_list *list);

/* Has TASK(ARGUMENT) called by a thread that may name processes, and waits for its end. */
enum th_status th_control_at_tracees(const struct th_control_host *host,
                                     enum th_status (*task)(void *argument), void *argument);

/* The names of what is set, an array. "as_recorded": time stamps, arity and scheduler are. */
json_t *th_control_flags(uint32_t flags);
json_t *th_control_kinds(uint32_t kinds);

/* The session that WHICH names: its number, its title, or its tracer, if that has one alone. NULL:
 * the only one that there is. TH_USAGE. */
enum th_status th_control_session(const struct th_control_host *host, const char *which,
                                  struct th_session **session);

/* Counts up from 1 by the order in which they began; none is ever given twice. */
json_int_t th_control_session_number(const struct th_session *session);

/* {"number": .., "tracer": .., "title": ..}, by which other objects refer to it. */
json_t *th_control_session_name(const struct th_session *session);

/* The object that `sessions` answers for SESSION. */
json_t *th_control_session_json(const struct th_session *session);

/* The functions that SESSION has counted, as an array, most calls first. */
json_t *th_control_counted(const struct th_session *session);

/* --- Of session_options.h --------------------------------------------------------------------- */

/* Processes or ports in LIST; likewise. */
enum th_status th_control_session_options_tracees(struct th_control_session_options *options,
                                                  bool ports, const char *list);

/* Whether they name processes or ports, which only some threads may: see tracees.h. */
bool th_control_session_options_name_tracees(const struct th_control_session_options *options);

/* Has SESSION trace them with FLAGS, or no more. RUNNING as above: who is named has to be there. */
enum th_status th_control_chosen_trace(const struct th_control_chosen *chosen,
                                       struct th_session *session, bool on, uint32_t flags,
                                       bool running);

/* Libraries that are loaded before they are needed, so that it can be done without a lock. */
struct th_control_preloaded {
    struct th_library **items;
    size_t count, capacity;
};

/* Loads the tracers, meta tracers too, for th_control_session_options_attach() that follows. Both
 * let go of HOST's lock, which the caller holds, meanwhile: as the users of libraries go, unload()
 * may be called. */
enum th_status th_control_session_options_preload(const struct th_control_session_options *options,
                                                  struct th_control_host *host,
                                                  struct th_control_preloaded *loaded);
void th_control_preloaded_release(struct th_control_preloaded *loaded,
                                  struct th_control_host *host);

/* True if OPTION asks for more than calls, without a --match-spec. */
static inline bool th_control_pattern_option_asks(const struct th_control_pattern_option *option)
{
    return option->returns || option->exceptions || option->callers || option->lines;
}

/* True if OPTION clears breakpoints; such a pattern need not match any function. */
bool th_control_pattern_option_clears(const struct th_control_pattern_option *option);

/* Sets OPTION; meta tracers are looked for by SEARCH. TELLS: warns of functions that are not there,
 * and of those that cannot have such breakpoints. *MATCHED: how many functions are concerned; see
 * th_trace_session_function(). */
enum th_status th_control_pattern_option_set(const struct th_control_pattern_option *option,
                                             const struct th_search *search,
                                             struct th_session *session, bool tells,
                                             size_t *matched);

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
void th_control_pattern_option_report_left_out(const struct th_control_pattern_option *option,
                                               const struct th_session *session, bool sets);

/* The options of a -p, in a table of arguments. */
#define TH_SESSION_PATTERN_OPTIONS                             \
    &th_control_session_arguments[TH_SESSION_SPEC],            \
        &th_control_session_arguments[TH_SESSION_RETURN],      \
        &th_control_session_arguments[TH_SESSION_EXCEPTION],   \
        &th_control_session_arguments[TH_SESSION_CALLER],      \
        &th_control_session_arguments[TH_SESSION_CALLER_LINE], \
        &th_control_session_arguments[TH_SESSION_KIND],        \
        &th_control_session_arguments[TH_SESSION_META_TRACER]

/* Groups of tracees: all, existing, new, as enum th_tracees has them; NULL behind them. */
extern const char *const th_control_group_words[];

/* The names of trace flags, and "all"; NULL behind them. */
extern const char *const th_control_flag_words[];

/* --- Of watch.h ------------------------------------------------------------------------------- */

/* The file PATH is to be looked at: it is finished, or what happened to it is not known. By the
 * watch's own thread. */
bool th_control_watch_is_finished(struct th_control_watch *watch, const char *path);

/* Report to the host what was done; the thread's chain. By the watch's own thread. */
void th_control_watch_report(const struct th_control_watch *watch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void th_control_watch_report_failure(const struct th_control_watch *watch);

/* Looks which modules there are: others are forgotten. Waits for the permission. */
void th_control_watch_modules_update(struct th_control_watch *watch);
void th_control_watch_modules_free(struct th_control_watch *watch);

/* Loads WATCH's modules whose files are finished and new, and reports what came of it.
 * True: it is to be called again in a while. */
bool th_control_watch_modules_renew(struct th_control_watch *watch);

/* Both are the same file, which was not written to in between. */
bool th_control_watch_is_same(const struct stat *a, const struct stat *b);

/* The file PATH is still FILE. If it is not, what was tried of it counts for nothing: somebody is
 * writing to it, and it will be finished again. */
bool th_control_watch_is_still(const char *path, const struct stat *file);

/* TH_FAILED if there is no inotify or no thread for it. With the lock or without. */
enum th_status th_control_watch_begin(struct th_control_watch *watch);

/* There are other sessions than there were, or other tracers: looks where their files are. Nothing,
 * if it has not begun. Any thread, neither while it begins nor while it ends. */
void th_control_watch_look(const struct th_control_watch *watch);

/* Waits for what is being done, without the lock. Nothing, if it has not begun. */
void th_control_watch_end(struct th_control_watch *watch);

#endif
