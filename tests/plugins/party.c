/*
 * Functions that use all of nif_module.h. The library can be loaded by a BEAM, too, which lacks
 * these functions: there, present/0 returns 0, and functions that need the host raise `absent`.
 * // Long because: the functions of a module are in one table, and tests let the functions of this
 * module call each other, once for each function of the host.
 */
#include <erl_nif.h>
#include <nif_module.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
#define HOSTED(NAME)                                                                    \
    static ERL_NIF_TERM do_##NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]); \
    NIF(NAME)                                                                           \
    {                                                                                   \
        if (!th_host_present())                                                         \
            return enif_raise_exception(env, enif_make_atom(env, "absent"));            \
        return do_##NAME(env, argc, argv);                                              \
    }                                                                                   \
    static ERL_NIF_TERM do_##NAME(ErlNifEnv *env, int argc __attribute__((unused)),     \
                                  const ERL_NIF_TERM argv[] __attribute__((unused)))

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static long integer(ErlNifEnv *env, ERL_NIF_TERM term)
{
    long value;

    return enif_get_long(env, term, &value) ? value : 0;
}

static ErlNifPid pid_of(ERL_NIF_TERM term)
{
    ErlNifPid pid;

    return enif_get_local_pid(NULL, term, &pid) ? pid : (ErlNifPid){0};
}

static ERL_NIF_TERM self_of(ErlNifEnv *env)
{
    ErlNifPid self;

    enif_self(env, &self);
    return enif_make_pid(env, &self);
}

static void send_to(ErlNifEnv *env, ERL_NIF_TERM to, ERL_NIF_TERM message)
{
    ErlNifPid pid = pid_of(to);

    enif_send(env, &pid, NULL, message);
}

enum { MOST = 16 };

/* Copies the elements of LIST to FOUND, at most MOST, and returns their number. */
static int elements(ErlNifEnv *env, ERL_NIF_TERM list, ERL_NIF_TERM found[MOST])
{
    int count = 0;

    while (count < MOST && enif_get_list_cell(env, list, &found[count], &list))
        count++;
    return count;
}

NIF(present)
{
    (void)argc;
    (void)argv;
    return enif_make_int(env, th_host_present());
}

/* --- Local functions -------------------------------------------------------------------------- */

TH_FUNCTION(sum_of, 5)
(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c, ERL_NIF_TERM d, ERL_NIF_TERM e)
{
    return enif_make_long(env, integer(env, a) + integer(env, b) + integer(env, c) +
                                   integer(env, d) + integer(env, e));
}

TH_FUNCTION(one, 0)(ErlNifEnv *env)
{
    return enif_make_int(env, 1);
}

NIF(local)
{
    (void)argc;
    return sum_of(env, one(env), argv[0], argv[0], argv[0], argv[0]);
}

/* --- Ends of functions ------------------------------------------------------------------------ */

HOSTED(throws)
{
    return th_throw(env, argv[0]);
}

HOSTED(exits)
{
    return th_exit(env, argv[0]);
}

NIF(fails)
{
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

NIF(echo)
{
    (void)env;
    (void)argc;
    return argv[0];
}

NIF(dirty)
{
    (void)argc;
    (void)argv;
    return enif_make_int(env, enif_thread_type());
}

/* yields(N, Result): schedules itself N times, then returns Result. */
NIF(yields)
{
    ERL_NIF_TERM next[2] = {enif_make_long(env, integer(env, argv[0]) - 1), argv[1]};

    if (integer(env, argv[0]) == 0)
        return argv[1];
    return enif_schedule_nif(env, "yields", 0, yields, argc, next);
}

NIF(goes_dirty)
{
    return enif_schedule_nif(env, "dirty", ERL_NIF_DIRTY_JOB_CPU_BOUND, dirty, argc, argv);
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* call(M, F, Args): returns the result. */
HOSTED(call)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);

    return th_call(env, argv[0], argv[1], count, found);
}

/* catches(M, F, Args): returns {ok, Result} or {Class, Reason, Stack}. */
HOSTED(catches)
{
    ERL_NIF_TERM found[MOST], class, reason, stack;
    int count = elements(env, argv[2], found);
    ERL_NIF_TERM result = th_call(env, argv[0], argv[1], count, found);

    if (result)
        return enif_make_tuple2(env, atom(env, "ok"), result);
    if (!enif_is_exception(env, result) || !enif_has_pending_exception(env, &reason))
        return atom(env, "no_exception");
    if (!th_catch(env, &class, &reason, &stack) || th_catch(env, NULL, NULL, NULL))
        return atom(env, "not_caught_once");
    return enif_make_tuple3(env, class, reason, stack);
}

/* again(M, F, Args): catches an exception and raises it again. If M is a class, again(Class,
 * Reason, Stack) raises that. */
HOSTED(again)
{
    ERL_NIF_TERM found[MOST], class, reason, stack;
    int count = elements(env, argv[2], found);

    if (!enif_is_atom(env, argv[1]) || !th_call(env, argv[0], argv[1], count, found))
        return th_catch(env, &class, &reason, &stack) ? th_raise(env, class, reason, stack)
                                                      : th_raise(env, argv[0], argv[1], argv[2]);
    return atom(env, "no_exception");
}

/* The returned term cancels the exception that th_raise() passed on. */
HOSTED(again_not)
{
    th_raise(env, atom(env, "error"), argv[0], enif_make_list(env, 0));
    return argv[0];
}

/* The returned term cancels the exception of the callee. */
HOSTED(drops)
{
    return th_call(env, atom(env, "party"), atom(env, "fails"), 1, argv) ? atom(env, "no")
                                                                         : argv[0];
}

/* Its own exception replaces that of the callee and the returned term. */
HOSTED(own_counts)
{
    th_call(env, atom(env, "party"), atom(env, "fails"), 1, argv);
    enif_raise_exception(env, atom(env, "own"));
    return th_catch(env, NULL, NULL, NULL) ? argv[0] : atom(env, "nothing_caught");
}

/* exported(M, F, Args): like call, by export entry; `none` if the arguments make no entry. */
HOSTED(exported)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);
    const ThExport *entry = th_export_entry(argv[0], argv[1], count);

    return entry ? th_call_export(env, entry, found) : atom(env, "none");
}

/* no_entry(Case): uses invalid entries. */
HOSTED(no_entry)
{
    switch (integer(env, argv[0])) {
    case 0:
        return th_call_export(env, NULL, argv);
    case 1:
        return th_export_entry(argv[0], atom(env, "a"), 0) ? argv[0] : atom(env, "none");
    case 2:
        return th_export_entry(atom(env, "a"), atom(env, "a"), -1) ? argv[0] : atom(env, "none");
    case 3:
        return th_export_entry(atom(env, "a"), atom(env, "a"), 256) ? argv[0] : atom(env, "none");
    default:
        return th_export_entry(atom(env, "a"), atom(env, "a"), 255) ? argv[0] : atom(env, "none");
    }
}

/* own_first(M, F, Args): an exception raised before the call survives the call. */
HOSTED(own_first)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);

    enif_raise_exception(env, atom(env, "own"));
    return th_call(env, argv[0], argv[1], count, found);
}

/* data_after(M, F, Args): returns {Result, private data} after the call. */
HOSTED(data_after)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);
    ERL_NIF_TERM result = th_call(env, argv[0], argv[1], count, found);

    return enif_make_tuple2(env, result, enif_make_ulong(env, (unsigned long)enif_priv_data(env)));
}

HOSTED(tail)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);

    return th_tail_call(env, argv[0], argv[1], count, found);
}

/* down(N): N nested calls, then N. */
HOSTED(down)
{
    ERL_NIF_TERM next[2] = {enif_make_long(env, integer(env, argv[0]) - 1),
                            enif_make_long(env, integer(env, argv[1]) + 1)};

    if (integer(env, argv[0]) == 0)
        return argv[1];
    return th_call(env, atom(env, "party"), atom(env, "down"), 2, next);
}

/* loop(N): N tail calls, with garbage. */
HOSTED(loop)
{
    ERL_NIF_TERM next = enif_make_long(env, integer(env, argv[0]) - 1);

    if (integer(env, argv[0]) == 0)
        return atom(env, "done");
    enif_make_tuple4(env, next, next, next, next);
    return th_tail_call(env, atom(env, "party"), atom(env, "loop"), 1, &next);
}

/* sheds(N, Term): keeps Term for N functions, then makes a megabyte of garbage without it. */
HOSTED(sheds)
{
    ERL_NIF_TERM next[2] = {enif_make_long(env, integer(env, argv[0]) - 1), argv[1]};
    ERL_NIF_TERM rounds = enif_make_int(env, 2), garbage;

    if (integer(env, argv[0]) == 0) {
        memset(enif_make_new_binary(env, 1 << 20, &garbage), 0, 1 << 20);
        return th_tail_call(env, atom(env, "party"), atom(env, "loop"), 1, &rounds);
    }
    return enif_schedule_nif(env, "sheds", 0, sheds, argc, next);
}

static ERL_NIF_TERM with_kept(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM class, reason, stack;

    (void)argc;
    if (argv[0])
        return enif_make_tuple3(env, atom(env, "result"), argv[0], argv[1]);
    if (!th_catch(env, &class, &reason, &stack))
        return atom(env, "nothing");
    return enif_make_tuple4(env, class, reason, stack, argv[1]);
}

static ERL_NIF_TERM passes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[0]; /* 0 passes an exception on */
}

/* then(Flags, M, F, Args, Kept) */
HOSTED(then)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[3], found);

    return th_call_then(env, argv[1], argv[2], count, found, with_kept, (int)integer(env, argv[0]),
                        1, &argv[4]);
}

HOSTED(then_passes)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[2], found);

    return th_call_then(env, argv[0], argv[1], count, found, passes, TH_CATCHES, 0, NULL);
}

static ERL_NIF_TERM add_one(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_long(env, integer(env, argv[0]) + 1);
}

/* deep(N): N waiting functions, which use no C stack. */
HOSTED(deep)
{
    ERL_NIF_TERM next = enif_make_long(env, integer(env, argv[0]) - 1);

    if (integer(env, argv[0]) == 0)
        return argv[0];
    return th_call_then(env, atom(env, "party"), atom(env, "deep"), 1, &next, add_one, 0, 0, NULL);
}

/* --- Messages --------------------------------------------------------------------------------- */

static ERL_NIF_TERM got(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return argv[0] ? argv[0] : atom(env, "timeout");
}

/* await(Milliseconds): returns the next message, or `timeout`. */
HOSTED(await)
{
    return th_await(env, got, integer(env, argv[0]), 0, NULL);
}

static ERL_NIF_TERM selected(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *pair;
    int arity;

    (void)argc;
    if (!argv[0])
        return atom(env, "timeout");
    if (enif_get_tuple(env, argv[0], &arity, &pair) && arity > 0 &&
        enif_is_identical(pair[0], argv[1]))
        return argv[0];
    return th_skip(env);
}

/* select(Tag, Milliseconds): returns the first tuple that begins with Tag. */
HOSTED(select_)
{
    return th_await(env, selected, integer(env, argv[1]), 1, argv);
}

HOSTED(skips)
{
    return th_skip(env);
}

/* sends(To, Messages) */
NIF(sends)
{
    ERL_NIF_TERM head, list = argv[1];

    (void)argc;
    while (enif_get_list_cell(env, list, &head, &list))
        send_to(env, argv[0], head);
    return atom(env, "ok");
}

/* floods(To, N): sends N messages, {N - 1}, ..., {0}. */
NIF(floods)
{
    (void)argc;
    for (long i = integer(env, argv[1]); i > 0; i--)
        send_to(env, argv[0], enif_make_tuple1(env, enif_make_long(env, i - 1)));
    return atom(env, "ok");
}

/* Answers {From, Message} with Message, until `stop` comes. */
static ERL_NIF_TERM served(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *pair;
    int arity;

    (void)argc;
    if (!enif_get_tuple(env, argv[0], &arity, &pair))
        return argv[0];
    send_to(env, pair[0], pair[1]);
    return th_await(env, served, TH_INFINITY, 0, NULL);
}

HOSTED(server)
{
    return th_await(env, served, TH_INFINITY, 0, NULL);
}

/* ping(Server, N): sends N requests, each after the answer to the one before. */
static ERL_NIF_TERM ponged(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM kept[2] = {argv[1], enif_make_long(env, integer(env, argv[2]) - 1)};

    (void)argc;
    if (integer(env, kept[1]) == 0)
        return atom(env, "done");
    send_to(env, argv[1], enif_make_tuple2(env, self_of(env), argv[2]));
    return th_await(env, ponged, TH_INFINITY, 2, kept);
}

HOSTED(ping)
{
    send_to(env, argv[0], enif_make_tuple2(env, self_of(env), argv[1]));
    return th_await(env, ponged, TH_INFINITY, 2, argv);
}

/* --- User probes ------------------------------------------------------------------------------ */

/* user_trace(Atom, N): returns which probes are enabled, and whether each probe was. */
HOSTED(user_trace)
{
    char text[32];
    int enabled = th_user_trace_enabled(), s_1, i_4;

    if (!enif_get_atom(env, argv[0], text, sizeof text, ERL_NIF_LATIN1))
        return enif_make_badarg(env);
    s_1 = th_user_trace_s1(text);
    i_4 = th_user_trace_i4s4(env, "tag", (int)integer(env, argv[1]), -1, 0, 1, text, NULL, "s3",
                             "s4");
    return enif_make_tuple3(env, enif_make_int(env, enabled), enif_make_int(env, s_1),
                            enif_make_int(env, i_4));
}

/* --- Processes -------------------------------------------------------------------------------- */

/* spawn(M, F, Args, Options): returns Pid, or {Pid, Monitor}. */
HOSTED(spawn)
{
    ERL_NIF_TERM found[MOST], monitor;
    int count = elements(env, argv[2], found);
    int options = (int)integer(env, argv[3]);
    ErlNifPid pid;

    if (!th_spawn(env, argv[0], argv[1], count, found, options, &pid, &monitor))
        return 0;
    if (options & TH_SPAWN_MONITOR)
        return enif_make_tuple2(env, enif_make_pid(env, &pid), monitor);
    return enif_make_pid(env, &pid);
}

/* spawns(N, M, F, Args): spawns N processes and returns N. */
HOSTED(spawns)
{
    ERL_NIF_TERM found[MOST];
    int count = elements(env, argv[3], found);
    long number = integer(env, argv[0]);

    for (long i = 0; i < number; i++)
        th_spawn(env, argv[1], argv[2], count, found, TH_SPAWN_LINK, NULL, NULL);
    return argv[0];
}

/* chain(N, To): spawns N processes, each linked to its parent; the last sends to To and waits. */
HOSTED(chain)
{
    ERL_NIF_TERM next[2] = {enif_make_long(env, integer(env, argv[0]) - 1), argv[1]};

    if (integer(env, argv[0]) == 0)
        send_to(env, argv[1], enif_make_tuple2(env, atom(env, "last"), self_of(env)));
    else
        th_spawn(env, atom(env, "party"), atom(env, "chain"), 2, next, TH_SPAWN_LINK, NULL, NULL);
    return th_await(env, got, TH_INFINITY, 0, NULL);
}

/* crowd(N): spawns N processes that each send a message; returns when all have come. */
NIF(tell)
{
    (void)argc;
    send_to(env, argv[0], atom(env, "here"));
    return argv[0];
}

static ERL_NIF_TERM counted(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM left = enif_make_long(env, integer(env, argv[1]) - 1);

    (void)argc;
    if (integer(env, left) == 0)
        return atom(env, "done");
    return th_await(env, counted, TH_INFINITY, 1, &left);
}

HOSTED(crowd)
{
    ERL_NIF_TERM self = self_of(env);

    for (long i = integer(env, argv[0]); i > 0; i--)
        th_spawn(env, atom(env, "party"), atom(env, "tell"), 1, &self, 0, NULL, NULL);
    return th_await(env, counted, TH_INFINITY, 1, argv);
}

/* calls(N): N external calls, one after the other. */
HOSTED(calls)
{
    ERL_NIF_TERM module = atom(env, "party"), function = atom(env, "echo"), last = argv[0];

    for (long i = integer(env, argv[0]); i > 0; i--)
        last = th_call(env, module, function, 1, argv);
    return last;
}

/* exports(N): like calls(N), by the export entry. */
HOSTED(exports)
{
    const ThExport *echo = th_export_entry(atom(env, "party"), atom(env, "echo"), 1);
    ERL_NIF_TERM last = argv[0];

    for (long i = integer(env, argv[0]); i > 0; i--)
        last = th_call_export(env, echo, argv);
    return last;
}

/* named(Name): registers Name, and waits. */
HOSTED(named)
{
    ErlNifPid self;

    enif_self(env, &self);
    th_register(env, argv[0], &self);
    return th_await(env, got, TH_INFINITY, 0, NULL);
}

/* spins(Name): spawns named(Name), and does not return before that has run. */
HOSTED(spins)
{
    ErlNifTime begin = enif_monotonic_time(ERL_NIF_SEC);
    ErlNifPid pid;

    th_spawn(env, atom(env, "party"), atom(env, "named"), 1, argv, 0, NULL, NULL);
    while (!enif_whereis_pid(env, argv[0], &pid))
        if (enif_monotonic_time(ERL_NIF_SEC) > begin + 10)
            return atom(env, "never");
    return atom(env, "ran");
}

/* chaos(Peers, N, Seed, To): N steps, each of which links to a peer or removes the link; then sends
 * to To, and waits. */
NIF(chaos)
{
    ERL_NIF_TERM peers[MOST],
        next[4] = {argv[0], enif_make_long(env, integer(env, argv[1]) - 1), 0, argv[3]};
    unsigned long seed = (unsigned long)integer(env, argv[2]) * 1103515245 + 12345;
    int count = elements(env, argv[0], peers);
    ErlNifPid peer = pid_of(peers[seed / 65536 % (unsigned)count]);

    if (integer(env, argv[1]) == 0) {
        send_to(env, argv[3], atom(env, "done"));
        return th_await(env, got, TH_INFINITY, 0, NULL);
    }
    if (seed / 1048576 % 2)
        th_link(env, &peer);
    else
        th_unlink(env, &peer);
    next[2] = enif_make_long(env, (long)(seed % 2147483648));
    if (seed / 2097152 % 8 == 0)
        enif_consume_timeslice(env, 100);
    return enif_schedule_nif(env, "chaos", 0, chaos, argc, next);
}

/* mingles(N, Seed, To): waits for the list of peers, then calls chaos/4. */
static ERL_NIF_TERM mingle(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return th_tail_call(env, atom(env, "party"), atom(env, "chaos"), 4, argv);
}

HOSTED(mingles)
{
    return th_await(env, mingle, TH_INFINITY, 3, argv);
}

HOSTED(link_)
{
    ErlNifPid pid = pid_of(argv[0]);

    return enif_make_int(env, th_link(env, &pid));
}

HOSTED(unlink_)
{
    ErlNifPid pid = pid_of(argv[0]);

    return enif_make_int(env, th_unlink(env, &pid));
}

HOSTED(monitor)
{
    ErlNifPid pid = pid_of(argv[0]);

    return th_monitor(env, &pid);
}

HOSTED(demonitor)
{
    return enif_make_int(env, th_demonitor(env, argv[0], (int)integer(env, argv[1])));
}

/* signal(To, Reason) */
HOSTED(signal_)
{
    ErlNifPid pid = pid_of(argv[0]);

    return enif_make_int(env, th_exit_signal(env, &pid, argv[1]));
}

/* kill_and_monitor(Pid): the kill comes first, so it takes effect first. */
HOSTED(kill_and_monitor)
{
    ErlNifPid pid = pid_of(argv[0]);

    th_exit_signal(env, &pid, atom(env, "kill"));
    return th_monitor(env, &pid);
}

/* Unlinks, and links again at once. */
HOSTED(relink)
{
    ErlNifPid pid = pid_of(argv[0]);

    th_unlink(env, &pid);
    th_link(env, &pid);
    return atom(env, "ok");
}

HOSTED(trap)
{
    return enif_make_int(env, th_trap_exit(env, (int)integer(env, argv[0])));
}

/* Traps exits, waits for a message, and sends it to To. */
static ERL_NIF_TERM forward(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    send_to(env, argv[1], argv[0]);
    return argv[0];
}

HOSTED(traps)
{
    th_trap_exit(env, 1);
    send_to(env, argv[0], atom(env, "ready"));
    return th_await(env, forward, TH_INFINITY, 1, argv);
}

HOSTED(register_)
{
    ErlNifPid pid = pid_of(argv[1]);

    return enif_make_int(env, th_register(env, argv[0], &pid));
}

HOSTED(unregister)
{
    return enif_make_int(env, th_unregister(env, argv[0]));
}

NIF(whereis)
{
    ErlNifPid pid;

    (void)argc;
    return enif_whereis_pid(env, argv[0], &pid) ? enif_make_pid(env, &pid) : atom(env, "undefined");
}

NIF(self)
{
    (void)argc;
    (void)argv;
    return self_of(env);
}

NIF(alive)
{
    ErlNifPid pid = pid_of(argv[0]);

    (void)argc;
    return enif_make_int(env, enif_is_process_alive(env, &pid));
}

/* until_dead(To): sends `began` to To, polls until its own process is dead, 20 seconds at most, and
 * sends the result. */
NIF(until_dead)
{
    ErlNifTime end = enif_monotonic_time(ERL_NIF_SEC) + 20;

    (void)argc;
    send_to(env, argv[0], atom(env, "began"));
    while (enif_is_current_process_alive(env) && enif_monotonic_time(ERL_NIF_SEC) < end)
        ;
    send_to(env, argv[0], atom(env, enif_is_current_process_alive(env) ? "alive" : "dead"));
    return atom(env, "ok");
}

/* may_go: set by let_go(). last_sent: the result of the last enif_send() of stays(), set as it
 * returns. Relaxed: only these values matter. */
static atomic_bool may_go;
static atomic_int last_sent;

/* stays(To): sends `began` to To, stays until let_go() is called, then sends {late}. */
NIF(stays)
{
    ErlNifPid pid = pid_of(argv[0]);

    (void)argc;
    atomic_store_explicit(&may_go, false, memory_order_relaxed);
    atomic_store_explicit(&last_sent, -1, memory_order_relaxed);
    send_to(env, argv[0], atom(env, "began"));
    while (!atomic_load_explicit(&may_go, memory_order_relaxed))
        ;
    atomic_store_explicit(&last_sent,
                          enif_send(env, &pid, NULL, enif_make_tuple1(env, atom(env, "late"))),
                          memory_order_relaxed);
    return argv[0];
}

/* Like stays(); traps exits and links to To meanwhile. */
HOSTED(stays_and_links)
{
    ErlNifPid pid = pid_of(argv[0]);

    th_trap_exit(env, 1);
    th_link(env, &pid);
    return stays(env, argc, argv);
}

/* The pid of the process in crosses(), until stays_and_crosses() has linked to it. Relaxed: a pid
 * is an immediate term. */
static _Atomic ERL_NIF_TERM who_crosses;

/* Like stays(); links to the process in crosses() meanwhile. */
HOSTED(stays_and_crosses)
{
    ErlNifPid pid;

    send_to(env, argv[0], atom(env, "here"));
    while (!(pid.pid = atomic_load_explicit(&who_crosses, memory_order_relaxed)))
        ;
    th_link(env, &pid);
    atomic_store_explicit(&who_crosses, 0, memory_order_relaxed);
    return stays(env, argc, argv);
}

/* crosses(Pid): links to Pid, which is in stays_and_crosses(). The exit signal `normal` reaches
 * this process before the link from Pid, which comes too late. */
HOSTED(crosses)
{
    ErlNifPid pid = pid_of(argv[0]), self = pid_of(self_of(env));

    th_link(env, &pid);
    th_exit_signal(env, &self, atom(env, "normal"));
    atomic_store_explicit(&who_crosses, self.pid, memory_order_relaxed);
    while (atomic_load_explicit(&who_crosses, memory_order_relaxed))
        ;
    return argv[0];
}

/* links_and_exits(Pid, Reason) */
HOSTED(links_and_exits)
{
    ErlNifPid pid = pid_of(argv[0]);

    th_link(env, &pid);
    return th_exit(env, argv[1]);
}

/* Does one of the things that a process can do. */
static void do_any(ErlNifEnv *env, unsigned what, ERL_NIF_TERM to)
{
    ErlNifPid pid = pid_of(to), self = pid_of(self_of(env));
    ERL_NIF_TERM text = enif_make_string(env, "some label", ERL_NIF_LATIN1), tag;

    switch (what % 12) {
    case 0:
        th_seq_set_token(env, atom(env, "label"), text);
        break;
    case 1:
        th_seq_set_token(env, atom(env, "send"), atom(env, "true"));
        break;
    case 2:
        th_seq_reset_token(env);
        break;
    case 3:
        send_to(env, enif_make_pid(env, &self), text);
        break;
    case 4:
        th_link(env, &pid);
        break;
    case 5:
        th_unlink(env, &pid);
        break;
    case 6:
        th_demonitor(env, th_monitor(env, &pid), what & 16 ? TH_FLUSH : 0);
        break;
    case 7:
        th_monitor(env, &self);
        break;
    case 8:
        th_spawn(env, atom(env, "party"), atom(env, "self"), 0, NULL,
                 what & 16 ? TH_SPAWN_LINK : TH_SPAWN_MONITOR, NULL, NULL);
        break;
    case 9:
        enif_make_new_binary(env, 8, &tag);
        th_put_tag(env, tag);
        th_spread_tag(env, 1);
        break;
    case 10:
        th_call(env, atom(env, "party"), atom(env, "self"), 0, NULL);
        break;
    default:
        th_seq_print(env, text, text);
        break;
    }
}

/* busy(To, Seed): does things of all kinds, also for a while after its process has ended. */
HOSTED(busy)
{
    unsigned random = (unsigned)integer(env, argv[1]);

    for (int left = 20; left > 0; left -= !enif_is_current_process_alive(env)) {
        random = random * 1103515245u + 12345u;
        do_any(env, random >> 16, argv[0]);
    }
    return argv[0];
}

NIF(let_go)
{
    (void)argc;
    (void)argv;
    atomic_store_explicit(&may_go, true, memory_order_relaxed);
    return atom(env, "ok");
}

/* -1 until stays() has sent {late}. */
NIF(sent_late)
{
    (void)argc;
    (void)argv;
    return enif_make_int(env, atomic_load_explicit(&last_sent, memory_order_relaxed));
}

/* --- Sequential tokens ------------------------------------------------------------------------ */

HOSTED(seq_set)
{
    return th_seq_set_token(env, argv[0], argv[1]);
}

HOSTED(seq_get)
{
    return th_seq_get_token(env, argv[0]);
}

HOSTED(seq_reset)
{
    return enif_make_int(env, th_seq_reset_token(env));
}

HOSTED(seq_print)
{
    return enif_make_int(env, th_seq_print(env, argv[0], argv[1]));
}

/* --- Code ------------------------------------------------------------------------------------- */

/* Arguments: the result, the kept term. Returns both. */
static ERL_NIF_TERM changed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_tuple2(env, argv[0], argv[1]);
}

/* load_code(Paths, Info, Flags), purge_code(Module, Flags), delete_code(Module, Flags): return
 * {Result, Flags}. */
HOSTED(load_code)
{
    return th_load_code(env, argv[0], argv[1], (int)integer(env, argv[2]), changed, 1, argv + 2);
}

HOSTED(purge_code)
{
    return th_purge_code(env, argv[0], (int)integer(env, argv[1]), changed, 1, argv + 1);
}

HOSTED(delete_code)
{
    return th_delete_code(env, argv[0], (int)integer(env, argv[1]), changed, 1, argv + 1);
}

/* load_code_not(Paths): requests the load, but returns a term, which cancels the request. */
HOSTED(load_code_not)
{
    th_load_code(env, argv[0], atom(env, "none"), 0, changed, 1, argv);
    return atom(env, "not");
}

/* Sends each message to To, until `stop` comes. */
static ERL_NIF_TERM passed_on(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (enif_is_identical(argv[0], atom(env, "stop")))
        return argv[0];
    send_to(env, argv[1], argv[0]);
    return th_await(env, passed_on, TH_INFINITY, 1, argv + 1);
}

/* load_and_pass_on(Paths, Info, To): loads, and sends To the result, then each message. */
HOSTED(load_and_pass_on)
{
    return th_load_code(env, argv[0], argv[1], 0, passed_on, 1, argv + 2);
}

static ErlNifFunc functions[] = {
    {"present", 0, present, 0},
    {"local", 1, local, 0},
    {"throws", 1, throws, 0},
    {"exits", 1, exits, 0},
    {"fails", 1, fails, 0},
    {"echo", 1, echo, 0},
    {"dirty", 0, dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"yields", 2, yields, 0},
    {"goes_dirty", 0, goes_dirty, 0},
    {"call", 3, call, 0},
    {"call_dirty", 3, call, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"catches", 3, catches, 0},
    {"again", 3, again, 0},
    {"again_not", 1, again_not, 0},
    {"drops", 1, drops, 0},
    {"own_counts", 1, own_counts, 0},
    {"exported", 3, exported, 0},
    {"no_entry", 1, no_entry, 0},
    {"own_first", 3, own_first, 0},
    {"data_after", 3, data_after, 0},
    {"tail", 3, tail, 0},
    {"down", 2, down, 0},
    {"loop", 1, loop, 0},
    {"then", 5, then, 0},
    {"then_passes", 3, then_passes, 0},
    {"deep", 1, deep, 0},
    {"await", 1, await, 0},
    {"select", 2, select_, 0},
    {"skips", 0, skips, 0},
    {"sends", 2, sends, 0},
    {"floods", 2, floods, 0},
    {"server", 0, server, 0},
    {"ping", 2, ping, 0},
    {"spawn", 4, spawn, 0},
    {"spawns", 4, spawns, 0},
    {"chain", 2, chain, 0},
    {"tell", 1, tell, 0},
    {"crowd", 1, crowd, 0},
    {"calls", 1, calls, 0},
    {"exports", 1, exports, 0},
    {"named", 1, named, 0},
    {"spins", 1, spins, 0},
    {"chaos", 4, chaos, 0},
    {"mingles", 3, mingles, 0},
    {"until_dead", 1, until_dead, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"stays", 1, stays, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"stays_and_links", 1, stays_and_links, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"stays_and_crosses", 1, stays_and_crosses, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"crosses", 1, crosses, 0},
    {"links_and_exits", 2, links_and_exits, 0},
    {"busy", 2, busy, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"let_go", 0, let_go, 0},
    {"sent_late", 0, sent_late, 0},
    {"link", 1, link_, 0},
    {"unlink", 1, unlink_, 0},
    {"monitor", 1, monitor, 0},
    {"demonitor", 2, demonitor, 0},
    {"signal", 2, signal_, 0},
    {"kill_and_monitor", 1, kill_and_monitor, 0},
    {"relink", 1, relink, 0},
    {"trap", 1, trap, 0},
    {"traps", 1, traps, 0},
    {"register", 2, register_, 0},
    {"unregister", 1, unregister, 0},
    {"whereis", 1, whereis, 0},
    {"self", 0, self, 0},
    {"alive", 1, alive, 0},
    {"seq_set", 2, seq_set, 0},
    {"seq_get", 1, seq_get, 0},
    {"seq_reset", 0, seq_reset, 0},
    {"user_trace", 2, user_trace, 0},
    {"sheds", 2, sheds, 0},
    {"seq_print", 2, seq_print, 0},
    {"load_code", 3, load_code, 0},
    {"purge_code", 2, purge_code, 0},
    {"delete_code", 2, delete_code, 0},
    {"load_code_not", 1, load_code_not, 0},
    {"load_and_pass_on", 3, load_and_pass_on, 0},
};
ERL_NIF_INIT(party, functions, NULL, NULL, NULL, NULL)
