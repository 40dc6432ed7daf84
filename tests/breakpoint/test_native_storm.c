/*
 * Threads call functions of compiled libraries as fast as they can, while breakpoints in them come
 * and go.
 *
 * Of each function `phases` tells what is in force, as in test_stress.c: a call that finds the same
 * before and after it, and no change under way, must have met just that. Every second version asks
 * for the call's end; then the handler runs the body and must see it end, once. Meanwhile signals
 * come whose handler calls, too; child processes are forked that call, and end; another library is
 * opened, traced and closed, over and over. In a second test calls end otherwise: by exceptions,
 * longjmp(), cancelled threads.
 *
 * Runs for a second, or for STRESS_SECONDS; or for STRESS_CHANGES changes of each test, if that is
 * set.
 */
#include "meeting.h"

#include "host/base/base.h"
#include "tests/support/compiled.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FLAGS "-O2 -fpatchable-function-entry=16,8"

static atomic_bool over;

/* --- Calls ------------------------------------------------------------------------------------ */

/* A call of a library's function that this thread makes. */
struct storm_call {
    unsigned met;
    uint64_t version; /* of the breakpoint that was met */
};

/* What a thread is in, NULL: nothing. A handler of a signal puts its own there meanwhile. */
static _Thread_local struct storm_call *current;

/* Bodies that were run by a handler, and those that it saw end; of a thread, for good. */
static _Thread_local uint64_t begun, ended;

struct version {
    struct th_shared shared; /* the first member */
    uint64_t number;         /* 0 when it is gone */
};

static void end_version(struct th_shared *shared)
{
    ((struct version *)shared)->number = 0;
    free(shared);
}

static struct th_shared *create_version(uint64_t number)
{
    struct version *version = malloc(sizeof *version);

    th_shared_init(&version->shared, end_version);
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

static bool is_return_wanted(struct th_native *native)
{
    struct th_hit hit = {.kinds = TH_BP_LOCAL};

    return th_breakpoint_hit(((struct meeting *)native->owner)->site, &hit) & TH_HIT_RETURN;
}

static void end_body(const int *unused)
{
    (void)unused;
    ended++;
}

/* A handler for a function with those PARAMETERS; LAST is the one that a record comes in. The
 * cleanup is for exceptions, too: this file is compiled with -fexceptions. */
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
    meeting->site = th_site_create(&th_site_native, meeting, meeting->native);
}

static void drop_meeting(struct meeting *meeting)
{
    assert_int_equal(atomic_load(&meeting->native->active[0]), 0);
    assert_int_equal(atomic_load(&meeting->native->active[1]), 0);
    th_native_drop(meeting->native);
    th_site_drop(meeting->site);
}

static struct meeting meetings[TH_NATIVE_FORMS];

static void meet_forms(struct meeting *of, struct th_library *library)
{
    memset(of, 0, TH_NATIVE_FORMS * sizeof *of);
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++)
        meet_function(&of[i], library, form_names[i], i);
}

/* --- Changes ---------------------------------------------------------------------------------- */

static struct th_bp_session *create_session(void)
{
    struct th_bp_session *session = malloc(sizeof *session);

    th_bp_session_init(session, &hooks, (void (*)(struct th_shared *))free);
    return session;
}

static void end_session(struct th_bp_session *session)
{
    struct th_change *change = th_change_create();

    th_change_end_session(change, session);
    th_change_run(change, NULL, NULL);
    th_shared_drop(&session->shared);
}

/* Those of OF, COUNT, whose bit is in CHOSEN get a breakpoint of that version, or lose it. */
static void set_functions(struct th_bp_session *session, struct meeting *of, int count,
                          unsigned chosen, bool on, uint64_t number)
{
    struct th_change *change = th_change_create();
    struct th_shared *version = create_version(number);

    for (int i = 0; i < count; i++)
        if (chosen & 1u << i)
            th_change_add(change, &(struct th_bp_setting){.site = of[i].site,
                                                          .session = session,
                                                          .set = on ? TH_BP_LOCAL : 0,
                                                          .clear = on ? 0 : TH_BP_ALL,
                                                          .spec = version});
    th_change_run(change, NULL, NULL);
    th_shared_drop(version);
}

/* As in test_stress.c: CHANGING while a change is under way, ON, and the number of the version.
 * Release before a change and after it; acquire. */
enum { CHANGING = 1, ON = 2, NUMBER = 4 };
static _Atomic uint64_t phases[TH_NATIVE_FORMS];

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

static unsigned number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* How long a test goes on. */
struct span {
    unsigned changes; /* 0: until `end` */
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
    atomic_signal_fence(memory_order_seq_cst); /* a signal's handler sees it */
    self->wrong_result += call_form(form, meetings[form].code) != answer_of(form);
    atomic_signal_fence(memory_order_seq_cst);
    current = outer;
    self->calls++;
    check_call(&call, before, atomic_load_explicit(&phases[form], memory_order_acquire));
}

/* Counts that it interrupts, and those of the thread, may miss what it does: it has its own. */
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
    th_progress_enter(); /* registers, which is no work for a signal's handler */
    th_progress_leave();
    take_alarms(SIG_UNBLOCK);
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        for (int i = 0; i < 100; i++)
            call_one(next_random(&self->random) % TH_NATIVE_FORMS);
    take_alarms(SIG_BLOCK);
    self->not_ended += begun != ended;
    return NULL;
}

/* --- Beside it -------------------------------------------------------------------------------- */

/* A child process calls, and ends. False: it was wrong. */
static bool fork_and_call(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct caller caller = {0};
        self = &caller;
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

/* --- Calls that return ------------------------------------------------------------------------ */

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

static void calls_follow_changes(void **state)
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
    take_alarms(SIG_BLOCK); /* of all threads but those that call */
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

/* --- Calls that do not ------------------------------------------------------------------------ */

enum { THROWS, JUMPS, STAYS, CATCHES, IS_LEFT, UNWINDING, DEPTH = 5 };
static struct meeting unwinding[UNWINDING];

struct unwound {
    uint64_t calls, begun, ended, wrong;
};

static word call_nif_of(int i)
{
    const word depth = DEPTH;

    return ((call_nif *)unwinding[i].code)(ENV, 1, &depth);
}

static void *throw_all_along(void *context)
{
    struct unwound *unwound = context;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        unwound->wrong += call_nif_of(CATCHES) != 7;
        unwound->calls++;
    }
    unwound->begun = begun;
    unwound->ended = ended;
    return NULL;
}

/* Nobody sees those frames end. */
static void *jump_all_along(void *context)
{
    struct unwound *unwound = context;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        unwound->wrong += call_nif_of(IS_LEFT) != 5;
        unwound->calls++;
    }
    unwound->begun = begun;
    unwound->ended = ended;
    return NULL;
}

/* A thread that is cancelled: what it leaves, and whether it is there. */
struct cancelled {
    word there;
    uint64_t begun, ended;
};

static void note_end(void *context)
{
    struct cancelled *cancelled = context;

    cancelled->begun = begun;
    cancelled->ended = ended;
}

static void *stay(void *context)
{
    struct cancelled *cancelled = context;

    pthread_cleanup_push(note_end, cancelled);
    ((call_1 *)unwinding[STAYS].code)((word)&cancelled->there, DEPTH);
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel_once(struct unwound *unwound)
{
    struct cancelled cancelled = {0};
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, stay, &cancelled);
    while (!__atomic_load_n(&cancelled.there, __ATOMIC_ACQUIRE))
        usleep(50);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    unwound->calls++;
    unwound->wrong += result != PTHREAD_CANCELED;
    unwound->begun += cancelled.begun;
    unwound->ended += cancelled.ended;
}

static void *cancel_all_along(void *unwound)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        cancel_once(unwound);
    return NULL;
}

static void meet_unwinding(struct th_library *library)
{
    static const char *const names[UNWINDING] = {"throws", "jumps", "stays", "catches", "is_left"};

    for (int i = 0; i < UNWINDING; i++)
        meet_function(&unwinding[i], library, names[i],
                      i < CATCHES ? TH_NATIVE_TERMS_1 : TH_NATIVE_NIF);
}

static void frames_are_unwound(void **state)
{
    static void *(*const runs[])(void *) = {throw_all_along, cancel_all_along, jump_all_along};
    enum { THROWN, CANCELLED, LEFT, RUNS };
    struct unwound unwound[RUNS] = {{0}};
    struct th_bp_session *session = create_session();
    struct th_library *library;
    struct span span = begin_span();
    pthread_t threads[RUNS];
    uint32_t random = 3;
    uint64_t number = 0;

    (void)state;
    if (!compiled_by("g++")) {
        print_message("no g++ here\n");
        skip();
    }
    library = compiled_open("g++", FLAGS, "tests/breakpoint/unwinding.cc");
    atomic_store(&over, false);
    meet_unwinding(library);
    for (int i = 0; i < RUNS; i++)
        pthread_create(&threads[i], NULL, runs[i], &unwound[i]);
    while (!is_over(&span, number)) {
        number++;
        set_functions(session, unwinding, UNWINDING, next_random(&random) % 32,
                      next_random(&random) % 4, number);
    }
    atomic_store(&over, true);
    for (int i = 0; i < RUNS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(unwound[i].wrong, 0);
        assert_true(unwound[i].begun > 0);
        if (i != LEFT)
            assert_int_equal(unwound[i].begun, unwound[i].ended);
    }
    assert_true(unwound[LEFT].ended < unwound[LEFT].begun);
    print_message("%lu changes; %lu thrown, %lu cancelled, %lu left; %lu frames unwound\n", number,
                  unwound[THROWN].calls, unwound[CANCELLED].calls, unwound[LEFT].calls,
                  unwound[THROWN].ended + unwound[CANCELLED].ended);
    end_session(session);
    for (int i = 0; i < UNWINDING; i++)
        drop_meeting(&unwinding[i]);
    th_progress_settle();
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_follow_changes),
        cmocka_unit_test(frames_are_unwound),
    };

    if (th_native_begin() != TH_OK) {
        printf("no native sites here: %s\n", th_error_link(0));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
