/* Tests replacement of a session's tracer: between events, in callbacks, by upgrade() or not. */
#include "host/base/base.h"
#include "tests/support/succession.h"
#include "tests/trace/live.h"

#include "host/progress/progress.h"
#include "host/trace/tracing.h"

#include <stdlib.h>

static struct successor first, second, third;
static struct successor *acting; /* its callback calls act() */
static void (*act)(void);
static struct th_buffer notes;

static ERL_NIF_TERM note(struct successor *self, ErlNifEnv *env, int argc,
                         const ERL_NIF_TERM argv[])
{
    (void)env;
    th_buffer_printf(&notes, "%d:%s%s", self->number, argc == 3 ? "?" : "!",
                     th_atom_name(argv[0])->text);
    th_buffer_printf(&notes, "(%s) ", th_atom_name(argv[1])->text);
    if (self == acting && argc == 5)
        act();
    return argc == 3 ? TH_AM(trace) : TH_AM(ok);
}

static ERL_NIF_TERM removes(struct successor *self, ErlNifEnv *env, int argc,
                            const ERL_NIF_TERM argv[])
{
    note(self, env, argc, argv);
    return TH_AM(remove);
}

static void assert_noted(const char *expected)
{
    assert_string_equal(th_buffer_text(&notes), expected);
    notes.size = 0;
}

static enum th_status replace(struct successor *with, const char *state)
{
    struct th_session_setup setup = {.name = "successor",
                                     .library = succession_open(with),
                                     .state = state ? th_atom(state) : TH_NONE};

    return th_trace_session_replace(session, &setup);
}

static struct th_session *start(struct successor *with, const char *state, uint32_t flags)
{
    struct th_session_setup setup = {.name = "successor",
                                     .library = succession_open(with),
                                     .state = th_atom(state),
                                     .flags = flags};
    struct th_session *created;

    assert_int_equal(th_library_load(setup.library, NULL, th_small(0)), TH_OK);
    assert_int_equal(flags ? th_trace_session_attach(scene_tracing(), &setup, &created)
                           : th_trace_session_create(scene_tracing(), &setup, &created),
                     TH_OK);
    return created;
}

static void init(void)
{
    first = (struct successor){.number = 1, .called = note};
    second = (struct successor){.number = 2, .called = note};
    third = (struct successor){.number = 3, .called = note};
    acting = NULL;
    succession_begin();
}

/* Sets up a replay with one thread. */
static int begin_replayed(void **state)
{
    (void)state;
    init();
    scene_begin_empty(NULL);
    session = start(&first, "s", TH_FLAGS_EVENTS);
    assert_noted("1:?trace_status(s) ");
    return 0;
}

static int end_replayed(void **state)
{
    (void)state;
    scene_end();
    succession_end();
    th_buffer_free(&notes);
    return 0;
}

/* Sets up live calls in a shared tracing. */
static int begin_live(void **state)
{
    (void)state;
    init();
    alive_begin();
    session = start(&first, "s", 0);
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    me = alive_spawn(1, NULL, false);
    set(session, "f0", "true", TH_BP_LOCAL);
    assert_noted("1:?trace_status(s) ");
    return 0;
}

static int end_live(void **state)
{
    (void)state;
    alive_exit(me);
    alive_end();
    succession_end();
    th_buffer_free(&notes);
    return 0;
}

static void happen(void)
{
    assert_int_equal(scene_trace("{trace,<0.1.0>,send,hi,<0.2.0>}"), TH_OK);
}

static void make_call(void)
{
    struct th_live_requests requests = alive_call(me, 0, th_small(1));

    assert_int_equal(requests.count, 0);
}

static void assert_all_well(void)
{
    assert_int_equal(first.wrong + second.wrong + third.wrong, 0);
}

/* --- In order --------------------------------------------------------------------------------- */

static void the_next_event_goes_to_the_new_tracer(void **state)
{
    (void)state;
    happen();
    assert_noted("1:?send(s) 1:!send(s) ");
    assert_int_equal(replace(&second, "t"), TH_OK);
    assert_noted("2:?trace_status(t) ");
    assert_int_equal(first.unloads, 1);
    happen();
    assert_noted("2:?send(t) 2:!send(t) ");
    assert_term_equal(th_trace_session_state_term(session), th_atom("t"));
    assert_int_equal(th_trace_session_counts(session).traced, 2);
    assert_int_equal(th_trace_session_counts(session).status, 2);
    assert_all_well();
}

static void the_next_live_call_goes_to_the_new_tracer(void **state)
{
    (void)state;
    make_call();
    assert_noted("1:?call(s) 1:!call(s) ");
    assert_int_equal(replace(&second, NULL), TH_OK);
    assert_int_equal(first.unloads, 1); /* the replacement has waited */
    make_call();
    assert_noted("2:?trace_status(s) 2:?call(s) 2:!call(s) ");
    assert_int_equal(th_trace_session_counts(session).traced, 2);
    assert_all_well();
}

static void a_return_of_an_older_call_goes_to_the_new_tracer(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    requests = alive_call(me, 0, th_small(1));
    assert_int_equal(replace(&second, NULL), TH_OK);
    alive_return(me, 0, &requests, "a");
    assert_noted("1:?call(s) 1:!call(s) 2:?trace_status(s) 2:!return_from(s) ");
}

/* --- upgrade() and load() --------------------------------------------------------------------- */

static void an_upgrade_gets_the_private_data(void **state)
{
    (void)state;
    assert_int_equal(replace(&second, NULL), TH_OK);
    assert_int_equal(second.upgrades, 1);
    assert_int_equal(second.loads, 0);
    assert_ptr_equal(second.predecessor, &first);
    assert_int_equal(replace(&third, NULL), TH_OK);
    assert_ptr_equal(third.predecessor, &second);
    assert_int_equal(second.unloads, 1);
    assert_all_well();
}

static void a_tracer_of_another_module_is_loaded(void **state)
{
    struct th_session_setup setup = {.name = "hooked", .state = th_atom("h")};

    (void)state;
    setup.library = scene_library();
    assert_int_equal(th_trace_session_replace(session, &setup), TH_OK);
    assert_int_equal(first.unloads, 1);
    assert_string_equal(th_trace_session_name(session), "hooked");
    scene_log();
    happen();
    assert_string_equal(scene_log(), "enabled_send(send,h,<0.1.0>)\n"
                                     "trace_send(send,h,<0.1.0>,hi,#{extra => <0.2.0>}) self\n");
    assert_int_equal(replace(&second, NULL), TH_OK);
    assert_int_equal(second.loads, 1);
}

static void the_same_library_gets_another_state(void **state)
{
    struct th_session_setup setup = {.name = "renamed", .state = th_atom("t")};
    struct th_library *library;

    (void)state;
    assert_int_equal(replace(&second, NULL), TH_OK);
    library = succession_open(&third);
    setup.library = library;
    th_library_keep(library);
    assert_int_equal(th_trace_session_replace(session, &setup), TH_OK);
    setup.state = th_atom("u");
    assert_int_equal(th_trace_session_replace(session, &setup), TH_OK);
    assert_int_equal(third.upgrades, 1);
    assert_int_equal(third.loads + third.unloads, 0);
    assert_term_equal(th_trace_session_state_term(session), th_atom("u"));
    assert_string_equal(th_trace_session_name(session), "renamed");
}

static void a_tracer_is_named_as_on_a_command_line(void **state)
{
    char *path = th_printf("%s/tests/tracers/as_state.so", getenv("BUILD_DIR"));
    char *text = th_printf("%s=trace", path);
    struct th_search search = {0};

    (void)state;
    assert_int_equal(th_trace_tracer_replace(session, &search, text, NULL), TH_OK);
    assert_string_equal(th_trace_session_name(session), path);
    assert_term_equal(th_trace_session_state_term(session), TH_AM(trace));
    assert_string_equal(th_library_path(th_trace_session_library(session)), path);
    assert_int_equal(first.unloads, 1);
    assert_int_equal(th_trace_tracer_replace(session, &search, path, NULL), TH_OK);
    assert_term_equal(th_trace_session_state_term(session), TH_AM(trace)); /* no state was given */
    assert_false(th_trace_tracer_is_outdated(session));
    assert_int_equal(th_trace_tracer_replace(session, &search, "nobody", NULL), TH_REFUSED);
    assert_int_equal(th_trace_tracer_replace(session, &search, "=trace", NULL), TH_USAGE);
    th_free(text);
    th_free(path);
}

static void a_tracer_with_a_new_file_is_renewed(void **state)
{
    struct th_library *library;

    (void)state;
    assert_false(th_trace_tracer_is_outdated(session));
    library = succession_open(&second); /* the new file exists now */
    assert_true(th_trace_tracer_is_outdated(session));
    assert_int_equal(th_trace_tracer_renew(session, NULL), TH_OK);
    th_library_release(library);
    assert_int_equal(second.upgrades, 1);
    assert_ptr_equal(th_trace_session_library(session), library);
    assert_false(th_trace_tracer_is_outdated(session));
}

/* Another session has the library, too. */
static void another_session_keeps_the_old_tracer(void **state)
{
    (void)state;
    assert_int_equal(replace(&second, NULL), TH_OK);
    other = session;
    session = start(&third, "o", TH_FLAGS_EVENTS);
    notes.size = 0;
    happen();
    assert_noted("2:?send(s) 2:!send(s) 3:?send(o) 3:!send(o) ");
    assert_int_equal(second.unloads + third.unloads, 0);
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void assert_first_stays(void)
{
    notes.size = 0;
    happen();
    assert_noted("1:?send(s) 1:!send(s) ");
    assert_int_equal(first.unloads, 0);
    assert_all_well();
}

static void a_failed_upgrade_keeps_the_old_tracer(void **state)
{
    (void)state;
    second.answer = 7;
    assert_int_equal(replace(&second, "t"), TH_REFUSED);
    assert_string_equal(th_error_link(0), "cannot attach tracer 'successor'");
    assert_string_equal(th_error_link(2), "upgrade() returned 7");
    assert_int_equal(second.unloads, 0);
    assert_first_stays();
}

static void a_new_tracer_that_returns_remove_is_refused(void **state)
{
    (void)state;
    second.called = removes;
    assert_int_equal(replace(&second, "t"), TH_FAILED);
    assert_noted("2:?trace_status(t) ");
    assert_int_equal(second.unloads, 1);
    assert_first_stays();
    assert_int_equal(replace(&third, "t"), TH_OK);
}

static void a_library_that_is_no_tracer_is_refused(void **state)
{
    struct th_session_setup setup = {.name = "none", .state = TH_NONE};
    char *path = th_printf("%s/tests/plugins/depths.so", getenv("BUILD_DIR"));

    (void)state;
    assert_int_equal(th_library_open(path, &setup.library), TH_OK);
    assert_int_equal(th_trace_session_replace(session, &setup), TH_REFUSED);
    assert_false(th_library_is_open(path));
    th_free(path);
    assert_first_stays();
}

static void a_detached_session_cannot_be_replaced(void **state)
{
    (void)state;
    first.called = removes;
    assert_false(th_trace_session_status(session));
    assert_int_equal(replace(&second, NULL), TH_FAILED);
    assert_int_equal(second.loads + second.upgrades, 0);
}

/* --- In callbacks ----------------------------------------------------------------------------- */

static void replace_in_callback(void)
{
    acting = NULL;
    assert_int_equal(replace(&second, "t"), TH_OK);
    assert_int_equal(first.unloads, 0); /* still in a callback */
}

static void a_replacement_in_a_callback_applies_to_the_next_event(void **state)
{
    (void)state;
    acting = &first;
    act = replace_in_callback;
    happen();
    assert_noted("1:?send(s) 1:!send(s) 2:?trace_status(t) ");
    assert_int_equal(first.unloads, 1);
    happen();
    assert_noted("2:?send(t) 2:!send(t) ");
    assert_all_well();
}

static void a_replacement_in_a_live_callback_applies_to_the_next_call(void **state)
{
    (void)state;
    acting = &first;
    act = replace_in_callback;
    make_call();
    make_call();
    assert_noted("1:?call(s) 1:!call(s) 2:?trace_status(t) 2:?call(t) 2:!call(t) ");
    th_progress_settle();
    assert_int_equal(first.unloads, 1);
    assert_all_well();
}

static void destroy(void)
{
    if (session)
        th_trace_session_destroy(session);
    session = NULL;
}

static ERL_NIF_TERM destroys(struct successor *self, ErlNifEnv *env, int argc,
                             const ERL_NIF_TERM argv[])
{
    destroy();
    return note(self, env, argc, argv);
}

static void a_session_can_end_while_the_new_tracer_is_called(void **state)
{
    struct th_session *asked = session;
    struct th_session_setup setup = {.name = "successor", .state = th_atom("t")};

    (void)state;
    second.called = destroys;
    setup.library = succession_open(&second);
    assert_int_equal(th_trace_session_replace(asked, &setup), TH_FAILED);
    th_trace_sessions_settle(scene_tracing());
    assert_int_equal(first.unloads, 1);
    assert_int_equal(second.unloads, 1);
    assert_all_well();
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, begin_replayed, end_replayed)
#define LIVE(test) cmocka_unit_test_setup_teardown(test, begin_live, end_live)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REPLAYED(the_next_event_goes_to_the_new_tracer),
        LIVE(the_next_live_call_goes_to_the_new_tracer),
        LIVE(a_return_of_an_older_call_goes_to_the_new_tracer),
        REPLAYED(an_upgrade_gets_the_private_data),
        REPLAYED(a_tracer_of_another_module_is_loaded),
        REPLAYED(the_same_library_gets_another_state),
        REPLAYED(a_tracer_is_named_as_on_a_command_line),
        REPLAYED(a_tracer_with_a_new_file_is_renewed),
        REPLAYED(another_session_keeps_the_old_tracer),
        REPLAYED(a_failed_upgrade_keeps_the_old_tracer),
        REPLAYED(a_new_tracer_that_returns_remove_is_refused),
        REPLAYED(a_library_that_is_no_tracer_is_refused),
        REPLAYED(a_detached_session_cannot_be_replaced),
        REPLAYED(a_replacement_in_a_callback_applies_to_the_next_event),
        LIVE(a_replacement_in_a_live_callback_applies_to_the_next_call),
        REPLAYED(a_session_can_end_while_the_new_tracer_is_called),
        LIVE(a_session_can_end_while_the_new_tracer_is_called),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
