/*
 * Threads call functions of compiled libraries as fast as they can, while breakpoints of these
 * functions are set and removed.
 * // As in test_stress.c, `phases` states which breakpoint of each function is active: a call that
 * finds the same phase before and after it, without CHANGING, must hit just that breakpoint. Each
 * odd version requests the return; then the handler runs the body and must observe its end once.
 * Meanwhile a signal handler calls, too; forked child processes call and exit; another library is
 * opened, traced and closed all the time.
 */
#include "storm.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static struct meeting meetings[TH_NATIVE_FORMS];

static void meet_forms(struct meeting *of, struct th_library *library)
{
    memset(of, 0, TH_NATIVE_FORMS * sizeof *of);
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++)
        meet_function(&of[i], library, form_names[i], i);
}

/* As in test_stress.c: CHANGING during a change, ON, and the number of the version. Stored with
 * release before and after a change; loaded with acquire. */
enum { CHANGING = 1, ON = 2, NUMBER = 4 };
static _Atomic uint64_t phases[TH_NATIVE_FORMS];

/* --- Threads that call ------------------------------------------------------------------------ */

struct caller {
    pthread_t thread;
    uint32_t random;
    uint64_t calls, checked, signals;
    uint64_t wrong_result, lost, twice, wrong_version, not_ended; /* must all be 0 */
};

enum { CALLERS = 2 };
static struct caller callers[CALLERS];
static _Thread_local struct caller *self;

static void check_call(const struct storm_call *call, uint64_t before, uint64_t after)
{
    self->twice += call->met > 1;
    if (before != after || before & CHANGING)
        return;
    self->checked++;
    self->lost += before & ON && call->met == 0;
    self->wrong_version += call->met && (!(before & ON) || call->version != before / NUMBER);
}

static void call_one(enum th_native_form form)
{
    struct storm_call call = {0}, *outer = current;
    uint64_t before = atomic_load_explicit(&phases[form], memory_order_acquire);

    current = &call;
    atomic_signal_fence(memory_order_seq_cst); /* visible to the signal handler */
    self->wrong_result += call_form(form, meetings[form].code) != answer_of(form);
    atomic_signal_fence(memory_order_seq_cst);
    current = outer;
    self->calls++;
    check_call(&call, before, atomic_load_explicit(&phases[form], memory_order_acquire));
}

/* Uses its own counters: an interrupted increment would lose those of the handler. */
static void call_in_signal(int signal)
{
    struct caller *interrupted = self, own = {0};
    uint64_t had_begun = begun, had_ended = ended;

    (void)signal;
    self = &own;
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++)
        call_one(i);
    self = interrupted;
    own.not_ended = begun - had_begun != ended - had_ended;
    begun = had_begun;
    ended = had_ended;
    interrupted->signals++;
    interrupted->wrong_result += own.wrong_result;
    interrupted->twice += own.twice;
    interrupted->lost += own.lost;
    interrupted->wrong_version += own.wrong_version;
    interrupted->not_ended += own.not_ended;
}

static void take_alarms(int how)
{
    sigset_t alarms;

    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(how, &alarms, NULL);
}

static void *call_all_along(void *caller)
{
    self = caller;
    th_progress_enter(); /* registers the thread, which a signal handler must not do */
    th_progress_leave();
    take_alarms(SIG_UNBLOCK);
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        for (int i = 0; i < 100; i++)
            call_one(next_random(&self->random) % TH_NATIVE_FORMS);
    take_alarms(SIG_BLOCK);
    self->not_ended += begun != ended;
    return NULL;
}

/* --- Concurrent work -------------------------------------------------------------------------- */

/* Calls in a child process that exits then. False if a result was wrong. */
static bool fork_and_call(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct caller caller = {0};
        self = &caller;
        forked = true;
        for (int i = 0; i < 100; i++)
            for (enum th_native_form form = 0; form < TH_NATIVE_FORMS; form++)
                self->wrong_result += call_form(form, meetings[form].code) != answer_of(form);
        _exit(self->wrong_result ? 1 : 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static uint64_t times_opened;

static void open_once(const char *path, struct th_bp_session *session)
{
    static struct meeting others[TH_NATIVE_FORMS];
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        th_bug("a library cannot be opened");
    meet_forms(others, library);
    set_functions(session, others, TH_NATIVE_FORMS, ~0u, true, 2 + ++times_opened);
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++) {
        struct storm_call call = {0};
        current = &call;
        if (call_form(i, others[i].code) != answer_of(i) || call.met != 1)
            th_bug("a library that has just been opened is not traced");
        current = NULL;
    }
    set_functions(session, others, TH_NATIVE_FORMS, ~0u, false, 1);
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        drop_meeting(&others[i]);
    th_progress_settle();
    th_library_release(library);
}

static void *open_all_along(void *path)
{
    struct th_bp_session *session = create_session();

    while (!atomic_load_explicit(&over, memory_order_relaxed))
        open_once(path, session);
    end_session(session);
    return NULL;
}

/* --- Calls with return requests --------------------------------------------------------------- */

static void set_phases(unsigned chosen, uint64_t changing, uint64_t phase)
{
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        if (chosen & 1u << i) {
            uint64_t now = atomic_load_explicit(&phases[i], memory_order_relaxed);
            atomic_store_explicit(&phases[i], changing ? now | changing : phase,
                                  memory_order_release);
        }
}

static uint64_t change_all_along(struct th_bp_session *session)
{
    struct span span = begin_span();
    uint32_t random = 1;
    uint64_t number = 0;

    while (!is_over(&span, number)) {
        unsigned chosen = 1 + next_random(&random) % 127;
        bool on = next_random(&random) % 2;
        number++;
        set_phases(chosen, CHANGING, 0);
        set_functions(session, meetings, TH_NATIVE_FORMS, chosen, on, number);
        set_phases(chosen, 0, number * NUMBER + (on ? ON : 0));
        if (number % 500 == 2)
            assert_true(fork_and_call());
    }
    return number;
}

static void send_alarms(int microseconds)
{
    const struct timeval every = {0, microseconds};

    setitimer(ITIMER_REAL, &(struct itimerval){every, every}, NULL);
}

static void calls_hit_just_the_active_breakpoint_during_changes(void **state)
{
    struct th_library *library = compiled_open(NULL, FLAGS, "tests/breakpoint/forms.c");
    char *path = compiled_file(NULL, FLAGS, "tests/breakpoint/forms.c");
    struct sigaction action = {.sa_handler = call_in_signal, .sa_flags = SA_RESTART};
    struct th_bp_session *session = create_session();
    struct caller all = {0};
    pthread_t opener;
    uint64_t changes;

    (void)state;
    atomic_store(&over, false);
    meet_forms(meetings, library);
    take_alarms(SIG_BLOCK); /* in all threads but the callers */
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&opener, NULL, open_all_along, path);
    for (int i = 0; i < CALLERS; i++) {
        callers[i].random = (uint32_t)i * 7919;
        pthread_create(&callers[i].thread, NULL, call_all_along, &callers[i]);
    }
    send_alarms(1000);
    changes = change_all_along(session);
    send_alarms(0);
    atomic_store(&over, true);
    pthread_join(opener, NULL);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        all.calls += callers[i].calls;
        all.checked += callers[i].checked;
        all.signals += callers[i].signals;
        all.wrong_result += callers[i].wrong_result;
        all.lost += callers[i].lost;
        all.twice += callers[i].twice;
        all.wrong_version += callers[i].wrong_version;
        all.not_ended += callers[i].not_ended;
    }
    print_message("%lu calls, %lu checked, %lu changes, %lu signals, %lu times opened\n", all.calls,
                  all.checked, changes, all.signals, times_opened);
    assert_true(all.checked > 0 && times_opened > 0);
    assert_int_equal(all.wrong_result, 0);
    assert_int_equal(all.lost, 0);
    assert_int_equal(all.twice, 0);
    assert_int_equal(all.wrong_version, 0);
    assert_int_equal(all.not_ended, 0);
    end_session(session);
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        drop_meeting(&meetings[i]);
    th_progress_settle();
    th_library_release(library);
    unlink(path);
    th_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_hit_just_the_active_breakpoint_during_changes)};

    return storm_begin() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
