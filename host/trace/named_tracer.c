/* Reads tracers from text; loads and replaces them without the lock around sessions. */
#include "named_tracer.h"

#include "session.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/library/examine.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text.h"

#include <string.h>
#include <unistd.h>

enum th_status (*th_tracer_state_evaluate)(th_env *env, const char *text, th_term *state);

/* --- The console ------------------------------------------------------------------------------ */

/* Words of a state, to be visited and possibly changed in the state's environment. */
struct walk {
    th_term **words;
    size_t count, capacity;
};

static void named_tracer_push(struct walk *walk, const th_term *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TH_ARRAY_GROW(walk->words, walk->count, walk->capacity);
        walk->words[walk->count++] = (th_term *)&words[i];
    }
}

/* Replaces the atom `console` by the pid of that host process. Without recursion, as states may be
 * deep. */
static void put_console(th_term *state)
{
    struct walk walk = {0};

    named_tracer_push(&walk, state, 1);
    while (walk.count > 0) {
        th_term *word = walk.words[--walk.count];
        if (*word == TH_AM(console))
            *word = th_process_console_pid();
        else if (th_is_list(*word))
            named_tracer_push(&walk, th_cell(*word), 2);
        else if (th_term_is(*word, TH_TUPLE))
            named_tracer_push(&walk, th_tuple_elements(*word), th_tuple_arity(*word));
        else if (th_term_is(*word, TH_MAP)) /* not in its keys */
            named_tracer_push(&walk, th_map_values(*word), th_map_size(*word));
    }
    th_free(walk.words);
}

/* --- States ----------------------------------------------------------------------------------- */

static th_term named_tracer_value_of(th_env *env, const char *text, size_t length)
{
    th_term term = TH_NONE;
    bool plain;

    if (th_text_parse(env, text, length, &term) != TH_OK)
        th_error_clear();
    plain = th_is_integer(term) || term == TH_AM(true) || term == TH_AM(false);
    if (plain || term == TH_AM(console)) {
        put_console(&term);
        return term;
    }
    return th_make_binary(env, text, length);
}

enum th_status th_trace_tracer_settings_parse(th_env *env, const char *text, th_term *state)
{
    th_term map = th_make_map(env, NULL, NULL, 0, true);

    for (;;) {
        size_t pair = strcspn(text, ",");
        const char *equals = memchr(text, '=', pair);
        th_term key;
        if (!equals || equals == text)
            return th_error_raise(TH_USAGE, "'%.*s' is not a KEY=VALUE pair", (int)pair, text);
        key = th_atom_utf8(text, (size_t)(equals - text));
        if (key == TH_NONE)
            return th_error_raise(TH_USAGE, "the key '%.*s' is too long, or not UTF-8",
                                  (int)(equals - text), text);
        if (th_map_get(map, key) != TH_NONE)
            return th_error_raise(TH_USAGE, "the setting '%.*s' is given twice",
                                  (int)(equals - text), text);
        map =
            th_map_put(env, map, key,
                       named_tracer_value_of(env, equals + 1, (size_t)(text + pair - equals) - 1));
        if (!text[pair])
            break;
        text += pair + 1;
    }
    *state = map;
    return TH_OK;
}

enum th_status th_trace_tracer_state_parse(th_env *env, const char *text, th_term *state)
{
    enum th_status status = th_text_parse(env, text, strlen(text), state);

    if (status != TH_OK && th_tracer_state_evaluate) {
        th_error_clear();
        status = th_tracer_state_evaluate(env, text, state);
        if (status != TH_OK)
            return status;
    } else if (status != TH_OK) {
        return th_error_raise(TH_USAGE, "the state is not an Erlang term: %s", th_error_link(0));
    }
    put_console(state);
    return TH_OK;
}

/* Owner: the caller frees the text with th_free(). */
static char *named_tracer_name_of(const char *text)
{
    return th_printf("%.*s", (int)strcspn(text, "=,"), text);
}

enum th_status th_trace_named_tracer_parse(const char *text, struct th_named_tracer *tracer)
{
    enum th_status status = TH_OK;

    th_env_init(&tracer->env, TH_ENV_PLAIN);
    tracer->name = named_tracer_name_of(text);
    tracer->state = th_make_map(&tracer->env, NULL, NULL, 0, true);
    text += strlen(tracer->name);
    if (!*tracer->name)
        status = th_error_raise(TH_USAGE, "the name of the tracer is missing");
    else if (*text == ',')
        status = th_trace_tracer_settings_parse(&tracer->env, text + 1, &tracer->state);
    else if (*text == '=')
        status = th_trace_tracer_state_parse(&tracer->env, text + 1, &tracer->state);
    if (status == TH_OK)
        return TH_OK;
    th_trace_named_tracer_free(tracer);
    return TH_USAGE;
}

void th_trace_named_tracer_free(struct th_named_tracer *tracer)
{
    th_env_release(&tracer->env);
    th_free(tracer->name);
    tracer->name = NULL;
}

static void warn_of_remarks(const char *name, const struct th_library *library)
{
    const struct th_names *remarks = th_library_remarks(library);

    for (size_t i = 0; i < remarks->count; i++)
        th_warn("tracer '%s': %s", name, remarks->items[i]);
}

/* --- Replacement ------------------------------------------------------------------------------ */

/* The one lock that the thread has; NULL: none. */
static _Thread_local struct th_tracer_lock *held;

void th_trace_tracer_lock_taken(struct th_tracer_lock *lock)
{
    held = lock;
}

void th_trace_tracer_lock_take(struct th_tracer_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    held = lock;
}

void th_trace_tracer_lock_drop(struct th_tracer_lock *lock)
{
    held = NULL;
    pthread_mutex_unlock(&lock->mutex);
}

struct th_tracer_lock *th_trace_tracer_lock_pause(void)
{
    struct th_tracer_lock *lock = held;

    th_trace_tracer_lock_leave(lock);
    return lock;
}

void th_trace_tracer_lock_leave(struct th_tracer_lock *lock)
{
    if (!lock)
        return;
    atomic_fetch_add_explicit(&lock->away, 1, memory_order_relaxed);
    th_trace_tracer_lock_drop(lock);
}

void th_trace_tracer_lock_return(struct th_tracer_lock *lock)
{
    if (!lock)
        return;
    th_trace_tracer_lock_take(lock);
    atomic_fetch_sub_explicit(&lock->away, 1, memory_order_relaxed);
}

/* Opens PATH for the tracer NAME, and loads it in place of OLD. The file of OLD itself gets a new
 * instance, which is an upgrade, too.
 * Owner: the caller is a user of the result. */
static enum th_status load_other(struct th_library *old, const char *path, const char *name,
                                 struct th_library **library)
{
    enum th_status status = th_library_open_replaceable(path, false, library);

    if (status == TH_OK && *library == old) {
        th_library_release(*library);
        status = th_library_open_replaceable(path, true, library);
    }
    if (status != TH_OK)
        return status;
    warn_of_remarks(name, *library);
    status = th_trace_session_load_successor(*library, old);
    if (status == TH_OK)
        return TH_OK;
    th_library_release(*library);
    return th_error_context("cannot attach tracer '%s'", name);
}

/* Replaces the tracer by that of PATH, whose library this sets. Both libraries have a user here
 * until the thread has left the lock again, as the last release calls unload(). */
static enum th_status named_tracer_replace(struct th_session *session, const char *path,
                                           struct th_session_setup *setup,
                                           struct th_tracer_lock *lock)
{
    struct th_tracing *tracing = session->tracing;
    th_session_id id = th_trace_session_id_of(session);
    struct th_library *old = th_trace_session_library(session);
    enum th_status status;

    if (!old) {
        th_error_raise(TH_USAGE, "the session's tracer is no library: it cannot be replaced");
        return th_error_context("cannot attach tracer '%s'", setup->name);
    }
    th_library_keep(old);
    th_trace_tracer_lock_leave(lock);
    status = load_other(old, path, setup->name, &setup->library);
    th_trace_tracer_lock_return(lock);
    if (status == TH_OK) {
        session = th_trace_session_find(tracing, id);
        if (session && th_trace_session_library(session) == old) {
            th_library_keep(setup->library); /* for the session */
            status = th_trace_session_replace(session, setup);
        } else {
            th_error_raise(TH_FAILED, "the session has ended, or has another tracer now");
            status = th_error_context("cannot attach tracer '%s'", setup->name);
        }
        th_trace_tracer_lock_leave(lock);
        th_library_release(setup->library);
    } else {
        th_trace_tracer_lock_leave(lock);
    }
    th_library_release(old);
    th_trace_tracer_lock_return(lock);
    return status;
}

enum th_status th_trace_tracer_replace(struct th_session *session, const struct th_search *search,
                                       const char *text, struct th_tracer_lock *lock)
{
    struct th_named_tracer tracer;
    struct th_session_setup setup = {.state = TH_NONE};
    enum th_status status = th_trace_named_tracer_parse(text, &tracer);
    char *path;

    if (status != TH_OK)
        return th_error_context("cannot use '%s'", text);
    setup.name = tracer.name;
    if (text[strlen(tracer.name)])
        setup.state = tracer.state;
    status = th_library_search_find(search, tracer.name, &path);
    if (status == TH_OK) {
        status = named_tracer_replace(session, path, &setup, lock);
        th_free(path);
    }
    th_trace_named_tracer_free(&tracer);
    return status;
}

bool th_trace_tracer_is_outdated(const struct th_session *session)
{
    const struct th_examination *facts;

    if (!th_trace_session_library(session))
        return false;
    facts = th_library_examination(th_trace_session_library(session));
    return access(facts->path, F_OK) == 0 && !th_library_examination_is_current(facts);
}

enum th_status th_trace_tracer_renew(struct th_session *session, struct th_tracer_lock *lock)
{
    char *path = th_strdup(th_library_path(th_trace_session_library(session)));
    char *name = th_strdup(th_trace_session_name(session));
    struct th_session_setup setup = {.name = name, .state = TH_NONE};
    enum th_status status = named_tracer_replace(session, path, &setup, lock);

    th_free(name);
    th_free(path);
    return status;
}

/* --- Loading ---------------------------------------------------------------------------------- */

static enum th_status named_tracer_load(const struct th_search *search, const char *name,
                                        struct th_library **library)
{
    enum th_status status = th_library_find(search, name, library);

    if (status != TH_OK)
        return status;
    status = th_library_check_tracer(*library);
    if (status == TH_OK)
        status = th_library_load(*library, NULL, th_small(0));
    if (status != TH_OK)
        th_library_release(*library);
    return status;
}

enum th_status th_trace_tracer_load(const struct th_search *search, const char *name,
                                    struct th_library **library)
{
    enum th_status status = named_tracer_load(search, name, library);

    if (status == TH_OK)
        warn_of_remarks(name, *library);
    return status;
}

enum th_status th_trace_tracer_preload(const struct th_search *search, const char *text,
                                       struct th_library **library)
{
    char *name = named_tracer_name_of(text);
    enum th_status status = *name ? named_tracer_load(search, name, library) : TH_OK;

    if (status != TH_OK || !*name)
        *library = NULL;
    th_free(name);
    return status;
}
