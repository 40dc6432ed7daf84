/*
 * Shared code of the stress tests of native sites: handlers that obey breakpoints and observe the
 * end of bodies; changes that set and remove breakpoints.
 * // Each test runs for STRESS_SECONDS (1 by default) and at least three changes. If STRESS_CHANGES
 * is set, it runs for that many changes instead.
 */
#ifndef STORM_H
#define STORM_H

#include "meeting.h"

#include "host/base/base.h"
#include "host/breakpoint/native/native_machine.h"
#include "tests/support/assertions.h"
#include "tests/support/compiled.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLAGS "-O2 " TH_ENTRY_FLAGS

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static atomic_bool over;

/* --- Calls ------------------------------------------------------------------------------------ */

/* A call of a library's function by this thread. */
struct storm_call {
    unsigned met;
    uint64_t version; /* of the breakpoint that was hit */
};

/* The thread's innermost call, or NULL. A signal handler replaces it while it runs. */
static _Thread_local struct storm_call *current;

/* Numbers of bodies that this thread's handlers have run, and of ends observed; never reset. */
static _Thread_local uint64_t begun, ended;

struct version {
    struct th_shared shared; /* the first member */
    uint64_t number;         /* 0 once the version was freed */
};

static void end_version(struct th_shared *shared)
{
    ((struct version *)shared)->number = 0;
    free(shared);
}

static struct th_shared *create_version(uint64_t number)
{
    struct version *version = malloc(sizeof *version);

    th_breakpoint_shared_init(&version->shared, end_version);
    version->number = number;
    return &version->shared;
}

static uint32_t note_hit(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                         uint32_t kind)
{
    uint64_t number = ((struct version *)spec)->number;

    (void)hit;
    (void)session;
    (void)kind;
    if (current) {
        current->met++;
        current->version = number;
    }
    return number % 2 ? TH_HIT_RETURN : 0;
}

static const struct th_bp_hooks hooks = {.call = note_hit};

/* True in a child process: hooks are not called there, as the first reader section could wait for
 * ever (progress.h). */
static bool forked;

static bool is_return_wanted(struct th_native *native)
{
    struct th_hit hit = {.kinds = TH_BP_LOCAL};

    if (forked)
        return false;
    return th_breakpoint_hit(((struct meeting *)native->owner)->site, &hit) & TH_HIT_RETURN;
}

static void end_body(const int *unused)
{
    (void)unused;
    ended++;
}

/* Defines a handler for a function with PARAMETERS. LAST is the parameter that passes the record.
 * The cleanup also runs for exceptions, as this file is compiled with -fexceptions. */
#define PARAMETERS(...) __VA_ARGS__
#define STORM_HANDLER(form, type, parameters, arguments, last, record)                   \
    static __attribute__((noinline)) word run_##form(parameters, type *body)             \
    {                                                                                    \
        int frame __attribute__((cleanup(end_body))) = 0;                                \
                                                                                         \
        begun++;                                                                         \
        return body(arguments);                                                          \
    }                                                                                    \
                                                                                         \
    static word storm_##form(parameters, last)                                           \
    {                                                                                    \
        struct th_native *native = record;                                               \
        type *body = (type *)native->body;                                               \
                                                                                         \
        return is_return_wanted(native) ? run_##form(arguments, body) : body(arguments); \
    }

#define RECORD struct th_native *record
STORM_HANDLER(0, call_0, PARAMETERS(word env), PARAMETERS(env), RECORD, record)
STORM_HANDLER(1, call_1, PARAMETERS(word env, word a), PARAMETERS(env, a), RECORD, record)
STORM_HANDLER(2, call_2, PARAMETERS(word env, word a, word b), PARAMETERS(env, a, b), RECORD,
              record)
STORM_HANDLER(3, call_3, PARAMETERS(word env, word a, word b, word c), PARAMETERS(env, a, b, c),
              RECORD, record)
STORM_HANDLER(4, call_4, PARAMETERS(word env, word a, word b, word c, word d),
              PARAMETERS(env, a, b, c, d), RECORD, record)
STORM_HANDLER(5, call_5, PARAMETERS(word env, word a, word b, word c, word d, word e),
              PARAMETERS(env, a, b, c, d, e), double last, th_native_of(last))
STORM_HANDLER(nif, call_nif, PARAMETERS(word env, int argc, const word argv[]),
              PARAMETERS(env, argc, argv), RECORD, record)

static void *const storm_handlers[TH_NATIVE_FORMS] = {storm_0, storm_1, storm_2,  storm_3,
                                                      storm_4, storm_5, storm_nif};

/* --- Functions -------------------------------------------------------------------------------- */

static void meet_function(struct meeting *meeting, struct th_library *library, const char *name,
                          enum th_native_form form)
{
    meeting->code = compiled_function(library, name);
    if (th_native_refusal(library, meeting->code))
        fail_msg("%s: %s", name, th_native_refusal(library, meeting->code));
    meeting->native =
        th_native_create(library, (void *)meeting->code, form, storm_handlers[form], meeting);
    assert_non_null(meeting->native);
    meet_at_site(meeting);
}

static void drop_meeting(struct meeting *meeting)
{
    assert_int_equal(atomic_load(&meeting->native->active[0]), 0);
    assert_int_equal(atomic_load(&meeting->native->active[1]), 0);
    th_native_drop(meeting->native);
    th_breakpoint_site_drop(meeting->site);
}

/* --- Changes ---------------------------------------------------------------------------------- */

static struct th_bp_session *create_session(void)
{
    struct th_bp_session *session = malloc(sizeof *session);

    th_breakpoint_session_init(session, &hooks, (void (*)(struct th_shared *))free);
    return session;
}

static void end_session(struct th_bp_session *session)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_end_session(change, session);
    th_breakpoint_change_run(change, NULL, NULL);
    th_breakpoint_shared_drop(&session->shared);
}

/* Sets a breakpoint of version NUMBER on those of the COUNT functions OF whose bit is in CHOSEN; if
 * ON is false, removes it. */
static void set_functions(struct th_bp_session *session, struct meeting *of, int count,
                          unsigned chosen, bool on, uint64_t number)
{
    struct th_change *change = th_breakpoint_change_create();
    struct th_shared *version = create_version(number);

    for (int i = 0; i < count; i++)
        if (chosen & 1u << i)
            th_breakpoint_change_add(change, &(struct th_bp_setting){.site = of[i].site,
                                                                     .session = session,
                                                                     .set = on ? TH_BP_LOCAL : 0,
                                                                     .clear = on ? 0 : TH_BP_ALL,
                                                                     .spec = version});
    th_breakpoint_change_run(change, NULL, NULL);
    th_breakpoint_shared_drop(version);
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

static unsigned number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* How long a test runs. */
struct span {
    unsigned changes; /* number of changes; 0: until `end` */
    time_t end;
};

static struct span begin_span(void)
{
    unsigned seconds = number_of("STRESS_SECONDS");

    return (struct span){number_of("STRESS_CHANGES"), time(NULL) + (seconds ? seconds : 1)};
}

static bool is_over(const struct span *span, uint64_t changes)
{
    return span->changes ? changes >= span->changes : time(NULL) > span->end && changes > 2;
}

/* Begins the use of native sites. False: this machine has none. */
static bool storm_begin(void)
{
    if (th_native_begin() == TH_OK)
        return true;
    printf("no native sites here: %s\n", th_error_link(0));
    return false;
}

#pragma GCC diagnostic pop

#endif
