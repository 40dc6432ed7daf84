/*
 * Functions that call each other in C, in all ways that traced local calls can take: with all
 * numbers of arguments, nested, ended by a jump, raising, continued later, left by longjmp().
 */
#include <nif_module.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call at the end of a C function must be a jump, in all builds; clang has no such pragma. */
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static __attribute__((noinline)) long number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    long value;

    return enif_get_long(env, term, &value) ? value : 0;
}

/* Returns TERM through a barrier, so that the caller cannot end with a jump to its callee. */
static ERL_NIF_TERM kept(ERL_NIF_TERM term)
{
    __asm__ volatile("" : "+r"(term));
    return term;
}

/* The address of FUNCTION, hidden from the compiler. */
#define UNKNOWN(function)                             \
    ({                                                \
        __typeof__(&(function)) address = (function); \
        __asm__("" : "+r"(address));                  \
        address;                                      \
    })

/* --- All forms -------------------------------------------------------------------------------- */

TH_FUNCTION(none, 0)(ErlNifEnv *env)
{
    return atom(env, "none");
}

TH_FUNCTION(same, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    (void)env;
    return a;
}

TH_FUNCTION(two, 2)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    return enif_make_tuple2(env, a, b);
}

TH_FUNCTION(three, 3)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c)
{
    return enif_make_tuple3(env, a, b, c);
}

TH_FUNCTION(four, 4)
(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c, ERL_NIF_TERM d)
{
    return enif_make_tuple4(env, a, b, c, d);
}

TH_FUNCTION(five, 5)
(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c, ERL_NIF_TERM d, ERL_NIF_TERM e)
{
    return enif_make_tuple5(env, a, b, c, d, e);
}

/* In the library's table three times with the same code: pair/2, twin/2 and single/1. */
NIF(pair)
{
    return argc == 2 ? enif_make_tuple2(env, argv[0], argv[1]) : argv[0];
}

/* forms(A, B, C, D, E): calls each form. */
NIF(forms)
{
    ERL_NIF_TERM results[] = {
        none(env),
        same(env, argv[0]),
        two(env, argv[0], argv[1]),
        three(env, argv[0], argv[1], argv[2]),
        four(env, argv[0], argv[1], argv[2], argv[3]),
        five(env, argv[0], argv[1], argv[2], argv[3], argv[4]),
        UNKNOWN(pair)(env, 2, argv),
        UNKNOWN(pair)(env, 1, argv),
        UNKNOWN(pair)(env, argc, argv), /* an arity that the table lacks */
    };

    return enif_make_list_from_array(env, results, sizeof results / sizeof *results);
}

/* --- Depth ------------------------------------------------------------------------------------ */

TH_FUNCTION(deep, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    long n = number(env, count);

    return n <= 0 ? enif_make_int(env, 0)
                  : enif_make_long(env, 1 + number(env, deep(env, enif_make_long(env, n - 1))));
}

NIF(depth)
{
    (void)argc;
    return kept(deep(env, argv[0]));
}

/* A stack of only this function's frames, as small as a function's can be. */
TH_FUNCTION(thin, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    return count == 0x0f ? count : kept(thin(env, count - 0x10)); /* 0 and N - 1, as terms */
}

NIF(thins)
{
    (void)argc;
    return kept(thin(env, argv[0]));
}

/* Calls at the end that are jumps. */
TH_FUNCTION(loop, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    long n = number(env, count);

    return n <= 0 ? atom(env, "done") : UNKNOWN(loop)(env, enif_make_long(env, n - 1));
}

TH_FUNCTION(wraps, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    return enif_make_tuple1(env, loop(env, count));
}

NIF(loops)
{
    (void)argc;
    return kept(loop(env, argv[0]));
}

NIF(jumps)
{
    (void)argc;
    return loop(env, argv[0]);
}

NIF(wrapped)
{
    (void)argc;
    return kept(wraps(env, argv[0]));
}

/* --- Exceptions, and calls through the host --------------------------------------------------- */

static ERL_NIF_TERM call(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM arguments)
{
    ERL_NIF_TERM found[8];
    int count = 0;

    while (count < 8 && enif_get_list_cell(env, arguments, &found[count], &arguments))
        count++;
    return th_call(env, m, f, count, found);
}

TH_FUNCTION(fails, 1)(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return enif_raise_exception(env, reason);
}

TH_FUNCTION(fails_below, 1)(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return kept(fails(env, reason));
}

NIF(fail)
{
    (void)argc;
    return kept(fails_below(env, argv[0]));
}

TH_FUNCTION(calls, 3)(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM arguments)
{
    return kept(call(env, m, f, arguments));
}

NIF(calling)
{
    (void)argc;
    return kept(calls(env, argv[0], argv[1], argv[2]));
}

TH_FUNCTION(catches, 3)(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM arguments)
{
    ERL_NIF_TERM result = calls(env, m, f, arguments), class_, reason;

    if (result || !th_catch(env, &class_, &reason, NULL))
        return result;
    return enif_make_tuple3(env, atom(env, "caught"), class_, reason);
}

NIF(catching)
{
    (void)argc;
    return kept(catches(env, argv[0], argv[1], argv[2]));
}

/* Ignores the exception of its first call and returns. */
TH_FUNCTION(drops, 3)(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM arguments)
{
    call(env, m, f, arguments);
    return atom(env, "dropped");
}

TH_FUNCTION(cleans, 3)(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM arguments)
{
    if (!call(env, m, f, arguments))
        same(env, atom(env, "cleaned"));
    return 0;
}

NIF(dropping)
{
    (void)argc;
    return kept(drops(env, argv[0], argv[1], argv[2]));
}

NIF(cleaning)
{
    (void)argc;
    return kept(cleans(env, argv[0], argv[1], argv[2]));
}

/* --- Continued later -------------------------------------------------------------------------- */

NIF(ends)
{
    (void)env;
    (void)argc;
    return argv[0];
}

TH_FUNCTION(yields, 1)(ErlNifEnv *env, ERL_NIF_TERM result)
{
    return enif_schedule_nif(env, "ends", 0, ends, 1, &result);
}

TH_FUNCTION(tails, 1)(ErlNifEnv *env, ERL_NIF_TERM result)
{
    return th_tail_call(env, atom(env, "locals"), atom(env, "ends"), 1, &result);
}

TH_FUNCTION(says_nothing, 0)(ErlNifEnv *env)
{
    (void)env;
    return 0;
}

/* later(How, R): 0: a callee schedules the rest; 1: a callee makes a tail call; 2: returns 0. */
NIF(later)
{
    long how = number(env, argv[0]);

    (void)argc;
    return kept(how == 0   ? yields(env, argv[1])
                : how == 1 ? tails(env, argv[1])
                           : says_nothing(env));
}

/* The returned term cancels the request. */
NIF(not_later)
{
    (void)argc;
    yields(env, argv[0]);
    return same(env, argv[0]);
}

/* Schedules itself N times. */
NIF(again)
{
    ERL_NIF_TERM less = enif_make_long(env, number(env, argv[0]) - 1);

    (void)argc;
    same(env, argv[0]);
    return number(env, argv[0]) == 0 ? atom(env, "done")
                                     : enif_schedule_nif(env, "again", 0, again, 1, &less);
}

static ERL_NIF_TERM after(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return kept(same(env, argv[0]));
}

/* then(M, F, Args): returns the result, which another function gets first. */
NIF(then)
{
    ERL_NIF_TERM found[8], arguments = argv[2];
    int count = 0;

    (void)argc;
    while (count < 8 && enif_get_list_cell(env, arguments, &found[count], &arguments))
        count++;
    return th_call_then(env, argv[0], argv[1], count, found, after, 0, 0, NULL);
}

/* --- longjmp() -------------------------------------------------------------------------------- */

static _Thread_local jmp_buf *landing;

TH_FUNCTION(leaps, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    long n = number(env, count);

    if (n <= 0)
        longjmp(*landing, 1);
    return kept(UNKNOWN(leaps)(env, enif_make_long(env, n - 1)));
}

/* leap(Times, Depth, Then): calls same/1 after each jump if THEN is not 0. */
NIF(leap)
{
    volatile long times = number(env, argv[0]);
    jmp_buf here;

    (void)argc;
    landing = &here;
    while (times > 0) {
        times--;
        if (!setjmp(here))
            leaps(env, argv[1]);
        if (number(env, argv[2]))
            same(env, atom(env, "landed"));
    }
    return atom(env, "done");
}

/* --- Threads, signals, child processes -------------------------------------------------------- */

TH_FUNCTION(ends_thread, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    if (number(env, count) > 0)
        return kept(UNKNOWN(ends_thread)(env, enif_make_long(env, number(env, count) - 1)));
    pthread_exit(NULL);
}

static void *run_thread(void *context)
{
    ErlNifEnv *env = context;

    ends_thread(env, kept(same(env, enif_make_int(env, 2))));
    return NULL;
}

/* A thread that runs no process makes four calls, and ends in the last. */
NIF(thread)
{
    ErlNifEnv *own = enif_alloc_env();
    pthread_t thread;

    (void)argc;
    (void)argv;
    if (pthread_create(&thread, NULL, run_thread, own) != 0)
        return enif_make_badarg(env);
    pthread_join(thread, NULL);
    enif_free_env(own);
    return atom(env, "ok");
}

static ErlNifEnv *interrupted;
static _Atomic long signals;   /* signals handled */
static _Atomic int signalling; /* relaxed: only these values matter */

static void handle(int number)
{
    (void)number;
    same(interrupted, 0x0f);
    atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
}

static void *send_signals(void *context)
{
    while (atomic_load_explicit(&signalling, memory_order_relaxed))
        pthread_kill(*(pthread_t *)context, SIGUSR1);
    return NULL;
}

/* signalled(Signals, N): calls thin(N) until SIGNALS signals have come, whose handler calls same/1.
 * Returns {number of signals, number of calls of thin(N)}. */
NIF(signalled)
{
    long most = number(env, argv[0]), rounds = 0;
    struct sigaction action = {.sa_handler = handle}, old;
    pthread_t self = pthread_self(), sender;
    sigset_t set;

    (void)argc;
    interrupted = env;
    atomic_store_explicit(&signals, 0, memory_order_relaxed);
    atomic_store_explicit(&signalling, 1, memory_order_relaxed);
    sigaction(SIGUSR1, &action, &old);
    pthread_create(&sender, NULL, send_signals, &self);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (; atomic_load_explicit(&signals, memory_order_relaxed) < most; rounds++)
        kept(thin(env, argv[1]));
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    atomic_store_explicit(&signalling, 0, memory_order_relaxed);
    pthread_join(sender, NULL);
    sigaction(SIGUSR1, &old, NULL);
    return enif_make_tuple2(
        env, enif_make_long(env, atomic_load_explicit(&signals, memory_order_relaxed)),
        enif_make_long(env, rounds));
}

static pid_t child;

TH_FUNCTION(forks, 0)(ErlNifEnv *env)
{
    child = fork();
    return kept(deep(env, enif_make_int(env, child == 0 ? 1 : 0)));
}

/* Forks a child in a function whose return is requested. The child exits after that return; its
 * exit status is the result. */
NIF(forking)
{
    ERL_NIF_TERM depth = forks(env);
    int status = 0;

    (void)argc;
    (void)argv;
    if (child == 0)
        _exit(number(env, depth) == 1 ? 0 : 1);
    waitpid(child, &status, 0);
    return enif_make_int(env, status);
}

static ErlNifFunc functions[] = {
    {"thread", 0, thread, 0},     {"signalled", 2, signalled, 0}, {"forking", 0, forking, 0},
    {"forms", 5, forms, 0},       {"pair", 2, pair, 0},           {"twin", 2, pair, 0},
    {"single", 1, pair, 0},       {"depth", 1, depth, 0},         {"thins", 1, thins, 0},
    {"loops", 1, loops, 0},       {"jumps", 1, jumps, 0},         {"wrapped", 1, wrapped, 0},
    {"fail", 1, fail, 0},         {"calling", 3, calling, 0},     {"catching", 3, catching, 0},
    {"dropping", 3, dropping, 0}, {"cleaning", 3, cleaning, 0},   {"ends", 1, ends, 0},
    {"later", 2, later, 0},       {"not_later", 1, not_later, 0}, {"again", 1, again, 0},
    {"then", 3, then, 0},         {"leap", 3, leap, 0},
};

ERL_NIF_INIT(locals, functions, NULL, NULL, NULL, NULL)
