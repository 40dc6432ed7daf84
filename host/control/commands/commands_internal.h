/* The inner header of commands/. */
#ifndef TH_COMMANDS_INTERNAL_H
#define TH_COMMANDS_INTERNAL_H

#include "session_options.h"

#include "host/code/loading.h"

#include <jansson.h>

struct th_control_watch;
struct th_control_main_thread;
struct stat;

/* --- From commands.h -------------------------------------------------------------------------- */

/* Submits TASK(ARGUMENT) to the main thread, waits, and returns TASK's status with its chain.
 * Errors: TH_FAILED, and TASK was not called, if the main thread does not check for tasks for
 * TH_CONTROL_MAIN_THREAD_PATIENCE seconds, or has ended.
 * Thread: one at a time. */
enum { TH_CONTROL_MAIN_THREAD_PATIENCE = 5 };
enum th_status th_control_main_thread_ask(struct th_control_main_thread *thread,
                                          enum th_status (*task)(void *argument), void *argument);

/*
 * Loads libraries into a running host: finds and prepares them in parallel, and makes all of them
 * visible at once.
 *
 *   list = {.names = names, .count = count, .search = &search};
 *   th_control_module_list_load(&list, info);
 *   ... list.finished, list.rounds ...
 *   th_control_module_list_free(&list);
 *
 * Thread: any number of threads, each after th_crash_thread_begin(). The thread must be allowed to
 * wait and hold no lock: constructors, load() and upgrade() of the libraries run meanwhile, and a
 * hard purge waits for the processes in old code.
 */
struct th_control_module_list {
    const char *const *names; /* names of libraries, as th_library_search_find() takes them */
    size_t count;
    const struct th_search *search;
    enum th_purge purge;

    /* Results, in the order of the names. */
    struct th_control_module_made {
        char *path;                     /* the file that was found */
        struct th_instance *prepared;   /* NULL: refused, or finished */
        struct th_error_chain *refusal; /* reason; NULL: not refused */
    } * made;
    struct th_finished *finished;
    unsigned rounds;     /* grace periods that were waited for */
    _Atomic size_t next; /* internal; relaxed: each thread takes a different number */
};

/* Prepares all libraries and makes all of them visible at once, or none: th_code_finish(). INFO is
 * Erlang text, the argument of load() and upgrade(); NULL: 0.
 * Order: th_control_module_list_free() must follow, whatever the status.
 * Errors: the status and chain of the first library that was refused. */
enum th_status th_control_module_list_load(struct th_control_module_list *list, const char *info);

/* Drops the instances that were prepared and not finished, and frees the results. */
void th_control_module_list_free(struct th_control_module_list *list);

/* Runs TASK(ARGUMENT) in a thread that may name processes, and waits for its end. */
enum th_status th_control_at_tracees(const struct th_control_host *host,
                                     enum th_status (*task)(void *argument), void *argument);

/* Return the names of all set bits, as an array. "as_recorded" stands for time stamps, arity and
 * scheduler as the recording has them. */
json_t *th_control_flags(uint32_t flags);
json_t *th_control_kinds(uint32_t kinds);

/* Finds the session named WHICH: by its title, its number, or its tracer if that tracer has only
 * one session. WHICH NULL: the only session. A session without a tracer is never found.
 * Errors: TH_USAGE. */
enum th_status th_control_session(const struct th_control_host *host, const char *which,
                                  struct th_session **session);

/* Returns SESSION's number: sessions are numbered from 1 in the order of their begin; no number is
 * used twice. */
json_int_t th_control_session_number(const struct th_session *session);

/* Returns {"number": .., "tracer": .., "title": ..}, which names a session in other objects. */
json_t *th_control_session_name(const struct th_session *session);

/* Returns the object for SESSION in the answer of `sessions`. */
json_t *th_control_session_json(const struct th_session *session);

/* Returns the functions that SESSION has counted, as an array, most calls first. */
json_t *th_control_counted(const struct th_session *session);

/* --- From session_options.h ------------------------------------------------------------------- */

/* Adds the processes or ports in LIST, separated by commas, to the latest session option.
 * Errors: TH_USAGE, with one link, if a part of LIST is no word for a group, no identifier and no
 * name, or names one tracee of a live host that does not run yet. The parts before are added. */
enum th_status th_control_session_options_tracees(struct th_control_session_options *options,
                                                  bool ports, const char *list);

/* Returns true if OPTIONS name a process or port; only some threads may name processes
 * (tracees.h). */
bool th_control_session_options_name_tracees(const struct th_control_session_options *options);

/* Sets (ON) or clears FLAGS of the chosen tracees in SESSION. With RUNNING, a named tracee must be
 * alive; otherwise the session expects a tracee of that name.
 * Errors: TH_USAGE if nothing has the name. */
enum th_status th_control_chosen_trace(const struct th_control_chosen *chosen,
                                       struct th_session *session, bool on, uint32_t flags,
                                       bool running);

/* Libraries that are loaded in advance, so that they are loaded without the lock. */
struct th_control_preloaded {
    struct th_library **items;
    size_t count, capacity;
};

/* Load the tracers of OPTIONS, meta tracers too, for a later th_control_session_options_attach();
 * and release them.
 * Owner: LOADED is {0} before. The caller releases LOADED also after an error.
 * Thread: the caller holds HOST's lock. Both functions release the lock while libraries are loaded
 * or released, as code of the libraries runs.
 * Errors: as th_trace_tracer_load(). */
enum th_status th_control_session_options_preload(const struct th_control_session_options *options,
                                                  struct th_control_host *host,
                                                  struct th_control_preloaded *loaded);
void th_control_preloaded_release(struct th_control_preloaded *loaded,
                                  struct th_control_host *host);

/* Returns true if OPTION requests more than calls without a --match-spec. */
static inline bool th_control_pattern_option_asks(const struct th_control_pattern_option *option)
{
    return option->returns || option->exceptions || option->callers || option->lines;
}

/* Returns true if OPTION clears breakpoints; its pattern need not match any function. */
bool th_control_pattern_option_clears(const struct th_control_pattern_option *option);

/* Makes the match specification of OPTION in ENV; `true` without one.
 * Errors: TH_MALFORMED. */
enum th_status th_control_pattern_option_spec(const struct th_control_pattern_option *option,
                                              th_env *env, th_term *spec);

/* Sets the pattern OPTION in SESSION; meta tracers are searched with SEARCH. TELLS: warns about
 * functions that do not exist or cannot have such breakpoints. *MATCHED gets the number of matching
 * functions, as in th_trace_session_function().
 * Errors: TH_USAGE. */
enum th_status th_control_pattern_option_set(const struct th_control_pattern_option *option,
                                             const struct th_search *search,
                                             struct th_session *session, bool tells,
                                             size_t *matched);

/* Returns "; did you mean 'lists:map/2'?" if TRACING has functions with names similar to PATTERN's,
 * else "".
 * Owner: the caller frees the text with th_free(). */
char *th_control_pattern_question(const struct th_pattern *pattern,
                                  const struct th_tracing *tracing);

/* Warns about similar function names, if there are any. TEXT is the user's text of PATTERN, which
 * matches no function. */
void th_control_pattern_warn_of_spelling(const struct th_pattern *pattern, const char *text,
                                         const struct th_tracing *tracing);

/* Warns if no function matches OPTION, which is already set in SESSION. If OPTION sets breakpoints
 * (SETS) instead of clearing them, also warns about each matching function of this host that cannot
 * have them. No warning about a pattern for code that is loaded later (on_load). */
void th_control_pattern_option_report_left_out(const struct th_control_pattern_option *option,
                                               const struct th_session *session, bool sets);

/* The options of a -p, as rows of a table of arguments. */
#define TH_SESSION_PATTERN_OPTIONS                             \
    &th_control_session_arguments[TH_SESSION_SPEC],            \
        &th_control_session_arguments[TH_SESSION_RETURN],      \
        &th_control_session_arguments[TH_SESSION_EXCEPTION],   \
        &th_control_session_arguments[TH_SESSION_CALLER],      \
        &th_control_session_arguments[TH_SESSION_CALLER_LINE], \
        &th_control_session_arguments[TH_SESSION_KIND],        \
        &th_control_session_arguments[TH_SESSION_META_TRACER]

/* Groups of tracees: all, existing, new, in the order of enum th_tracees; NULL-terminated. */
extern const char *const th_control_group_words[];

/* The names of trace flags, and "all"; NULL-terminated. */
extern const char *const th_control_flag_words[];

/* --- From watch.h ----------------------------------------------------------------------------- */

/* Returns true if the file PATH is finished, and must be examined. Thread: the watch's. */
bool th_control_watch_is_finished(struct th_control_watch *watch, const char *path);

/* Report to the host: a text, or the thread's chain. Thread: the watch's. */
void th_control_watch_report(const struct th_control_watch *watch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void th_control_watch_report_failure(const struct th_control_watch *watch);

/* Updates the list of watched modules from the current code; other modules are forgotten. Waits for
 * the permission. */
void th_control_watch_modules_update(struct th_control_watch *watch);
void th_control_watch_modules_free(struct th_control_watch *watch);

/* Loads the new code of WATCH's modules whose files are finished and changed, with a soft purge,
 * and reports the outcome. Returns true if a module's old code is in use: then the caller must call
 * this again after a while. A file that was refused is tried again when the file changes.
 * Thread: the watch's, without locks. */
bool th_control_watch_modules_renew(struct th_control_watch *watch);

/* Returns true if A and B describe the same file without a write in between. */
bool th_control_watch_is_same(const struct stat *a, const struct stat *b);

/* Returns true if the file PATH is still FILE. If not, the outcome of an attempt is dropped: the
 * file is being written, and will be finished again. */
bool th_control_watch_is_still(const char *path, const struct stat *file);

/* Starts to watch.
 * Thread: with the lock or without.
 * Errors: TH_FAILED if inotify or a thread is not available. */
enum th_status th_control_watch_begin(struct th_control_watch *watch);

/* Makes the watch update its list of files, after a change of the sessions or their tracers. Does
 * nothing if the watch has not begun.
 * Thread: any, but not during th_control_watch_begin() and th_control_watch_end(). */
void th_control_watch_look(const struct th_control_watch *watch);

/* Ends the watch, and waits for its work in progress. Does nothing if the watch has not begun.
 * Thread: without the lock. */
void th_control_watch_end(struct th_control_watch *watch);

#endif
