/*
 * Four threads make four processes each call functions of all kinds, on four schedulers, while
 * another thread sets and clears patterns of these functions as fast as it can.
 * // For each process and session there is a stack of the calls that the session got: an end must
 * be that of the topmost call, and no call may be left when a process has finished its jobs. One
 * session is left alone: it must get each call that the processes made. For the other one, begins
 * and ends must fit together whatever its patterns were in between. Calls that longjmp() leaves are
 * the exception: they have no end. Runs for STRESS_SECONDS, 1 by default.
 */
#include "tests/runtime/locals.h"

#include <time.h>

enum { DRIVERS = 4, EACH = 4, DEEP = 64, SESSIONS = 2 };

/* The events of a process that a session got. Written by the thread that runs the process. */
struct told {
    th_term stack[DEEP];
    int depth;
    uint64_t calls, ends, wrong;
    uint64_t left; /* further calls, which longjmp() leaves */
};

struct tracee {
    struct th_process *process;
    struct told told[SESSIONS]; /* of the lasting session; of the other one */
    uint64_t expected;          /* calls; written by the process' driver */
};

static struct tracee tracees[DRIVERS * EACH];
static _Atomic bool over; /* relaxed: a flag */

static struct told *told_of(th_term session_state, th_term pid)
{
    for (int i = 0; i < DRIVERS * EACH; i++)
        if (th_runtime_run_pid(tracees[i].process) == pid)
            return &tracees[i].told[session_state == th_atom("changed")];
    fail_msg("somebody else is traced");
    return NULL;
}

/* Returns the function's name of {M, F, Args} or {M, F, Arity}. */
static th_term function_of(th_term call)
{
    return th_tuple_elements(call)[1];
}

static void note_end(struct told *told, th_term call)
{
    told->ends++;
    if (told->depth == 0 || told->stack[told->depth - 1] != function_of(call))
        told->wrong++;
    else
        told->depth--;
}

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *in, int argc, const ERL_NIF_TERM argv[])
{
    struct told *told;

    (void)callback;
    (void)in;
    if (argc == 3)
        return TH_AM(trace);
    told = told_of(argv[1], argv[2]);
    if (function_of(argv[3]) == th_atom("leaps")) {
        told->left++;
        told->wrong += argv[0] != TH_AM(call);
    } else if (argv[0] != TH_AM(call)) {
        note_end(told, argv[3]);
    } else {
        told->calls++;
        told->wrong += told->depth == DEEP;
        if (told->depth < DEEP)
            told->stack[told->depth++] = function_of(argv[3]);
    }
    return TH_AM(ok);
}

/* --- Calls ----------------------------------------------------------------------------------- */

/* The jobs of a process, each with its number of external calls. */
static const struct {
    const char *function, *arguments;
    unsigned calls;
} jobs[] = {
    {"echo", "[1]", 1},
    {"call", "[party,echo,[1]]", 2},
    {"loop", "[20]", 21},
    {"deep", "[20]", 21},
    {"down", "[20,0]", 21},
    {"yields", "[5,r]", 1},
    {"tail", "[party,fails,[a]]", 2},
    {"call", "[party,call,[party,loop,[5]]]", 8},
    {"call_dirty", "[party,goes_dirty,[]]", 2},
    {"call", "[party,tail,[party,then,[0,party,deep,[3],k]]]", 7},
    {"catches", "[party,then_passes,[party,fails,[a]]]", 3},
    {"then", "[1,party,then,[0,party,tail,[party,exits,[b]],k],l]", 4},
    {"catches", "[party,call,[party,then,[0,party,throws,[c],k]]]", 4},
    {"then", "[0,party,await,[0],k]", 2},
    {"drops", "[a]", 2},
    {"call", "[party,nowhere,[]]", 1},
    {"call", "[locals,depth,[10]]", 1},
    {"call", "[locals,wrapped,[10]]", 1},
    {"catches", "[locals,catching,[locals,fail,[a]]]", 1},
    {"catches", "[locals,cleaning,[party,fails,[a]]]", 2},
    {"call", "[locals,calling,[party,call,[locals,later,[1,x]]]]", 2},
    {"call", "[locals,leap,[3,3,1]]", 1},
};

static void *drive(void *context)
{
    struct tracee *own = context;
    const size_t count = sizeof jobs / sizeof *jobs;

    for (size_t i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++) {
        struct tracee *tracee = &own[i % EACH];
        size_t job = i * 7 % count;
        call_in(tracee->process, jobs[job].function, "%s", jobs[job].arguments);
        tracee->expected += jobs[job].calls;
        for (int s = 0; s < SESSIONS; s++)
            tracee->told[s].wrong += tracee->told[s].depth != 0;
    }
    return NULL;
}

/* Sets local patterns of a function or a module, turns them into global ones, clears them. */
static void change_one(const char *module, const char *name, size_t round)
{
    struct th_pattern pattern = {th_atom(module), name ? th_atom(name) : TH_NONE, TH_ANY_ARITY,
                                 false};
    th_env own;
    th_term match;

    th_env_init(&own, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&own, EXCEPTIONS, strlen(EXCEPTIONS), &match), TH_OK);
    if (round % 3 < 2)
        th_trace_session_function(session, &pattern, match, round % 3 ? TH_BP_GLOBAL : TH_BP_LOCAL,
                                  NULL);
    else
        th_trace_session_function(session, &pattern, TH_AM(false), TH_BP_LOCAL, NULL);
    th_error_clear(); /* local functions have no global breakpoints */
    if (round % 3 == 2)
        th_trace_session_function(session, &pattern, TH_AM(false), TH_BP_GLOBAL, NULL);
    th_error_clear();
    th_env_release(&own);
}

static void *change(void *context)
{
    static const char *const functions[][2] = {
        {"party", "echo"},  {"party", "loop"},   {"locals", "deep"}, {"party", "down"},
        {"locals", "loop"}, {"party", "then"},   {"party", "call"},  {"locals", "calls"},
        {"party", "tail"},  {"locals", "leaps"}, {"party", NULL},    {"locals", NULL}};
    const size_t count = sizeof functions / sizeof *functions;
    uint64_t *changes = context;

    for (size_t i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++, ++*changes)
        change_one(functions[i % count][0], functions[i % count][1], i / count);
    return NULL;
}

/* --- The test -------------------------------------------------------------------------------- */

static unsigned seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    unsigned given = text ? (unsigned)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

static void start(void)
{
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    party_setup.tracing = scene_tracing();
    start_party(4);
    locals = add_module("gcc-O2", "locals");
    for (int i = 0; i < DRIVERS * EACH; i++)
        tracees[i].process = th_runtime_run_start();
    session = scene_create("alone");
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    set(NULL, TH_ANY_ARITY, EXCEPTIONS, TH_BP_GLOBAL);
    session = scene_create("changed");
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    loaded_hook(note);
}

static void run(uint64_t *changes)
{
    pthread_t drivers[DRIVERS], changer;

    for (int i = 0; i < DRIVERS; i++)
        pthread_create(&drivers[i], NULL, drive, &tracees[i * EACH]);
    pthread_create(&changer, NULL, change, changes);
    nanosleep(&(struct timespec){.tv_sec = seconds()}, NULL);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    pthread_join(changer, NULL);
    for (int i = 0; i < DRIVERS; i++)
        pthread_join(drivers[i], NULL);
}

static void each_traced_call_ends_once(void **state)
{
    uint64_t changes = 0, calls[SESSIONS] = {0}, left = 0;

    (void)state;
    start();
    run(&changes);
    for (int i = 0; i < DRIVERS * EACH; i++) {
        const struct tracee *tracee = &tracees[i];
        assert_int_equal(tracee->told[0].calls, tracee->expected);
        for (int s = 0; s < SESSIONS; s++) {
            assert_int_equal(tracee->told[s].wrong, 0);
            assert_int_equal(tracee->told[s].ends, tracee->told[s].calls);
            calls[s] += tracee->told[s].calls;
            left += tracee->told[s].left;
        }
        th_runtime_run_exit(tracee->process, TH_AM(normal));
    }
    print_message("%lu calls; %lu, and %lu that were left, met one of %lu patterns\n",
                  (unsigned long)calls[0], (unsigned long)calls[1], (unsigned long)left,
                  (unsigned long)changes);
    assert_order(calls[1], >, 0);
    assert_int_equal(th_runtime_calls_left(), left);
    assert_int_equal(th_runtime_calls_not_kept(), 0);
    remove_module(locals);
    stop_party();
    scene_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_traced_call_ends_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
