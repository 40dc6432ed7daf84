/*
 * Every function that tracehost offers to plugins and tracers beyond the NIF API, once.
 *
 *     TH_MODULE_FUNCTIONS(X) calls X(group, type, name, (parameters)) for each.
 *
 * Each group is a macro of its own, with its contract before it. From this list come the
 * declarations in nif_module.h, which tells how they are used, the host's table of functions that a
 * library may import, and what it exports. The types are erl_nif.h's and nif_module.h's: a list
 * that is only asked for names needs none of them. What nif_functions.h says of environments,
 * success and threads holds here as well.
 */
#ifndef TH_MODULE_FUNCTIONS_H
#define TH_MODULE_FUNCTIONS_H

/* A table: one row a function. */
/* clang-format off */

#define TH_MODULE_FUNCTIONS(X) \
    TH_MODULE_TRACING(X) \
    TH_MODULE_CALLING(X) \
    TH_MODULE_WAITING(X) \
    TH_MODULE_CODE(X) \
    TH_MODULE_PROCESSES(X) \
    TH_MODULE_SEQ_TOKENS(X) \
    TH_MODULE_FILES(X) \
    TH_MODULE_TAGS(X) \
    TH_MODULE_PROBES(X)

/*
 * For tracers.
 *
 * th_disarm() is for a callback about a call, one that asks whether it is to be traced (`enabled_call`,
 * or `enabled` with the tag `call` in a tracer without it) or the one that then tells it (`trace_call`
 * or `trace` with the tag `call`). It says that the tracer has seen enough of the function that is
 * called: its breakpoint is paused, for this session and this kind of breakpoint (tracing or meta),
 * until a pattern is set or restarted there. Calls of the function cost the tracer nothing then. It
 * takes effect soon, not at once: what many callbacks ask for is done in one change, and calls that
 * come before it still ask. The answer of an `enabled` callback counts as ever for the call at hand,
 * and how that call ends is told if a match specification asked for it.
 *
 * ENV is the callback's. 1: it will be done. 0: there is no breakpoint to be paused, as it is a
 * callback about something else, such as a return, or the session takes calls as they were recorded,
 * without patterns. Then nothing happens.
 *
 * th_recordings() tells of the recorded streams that are replayed: a list of maps, one for each stream
 * that has begun, in their order, the one at hand last.
 *
 *     name     a binary: the stream's name, as whoever replays gave it
 *     records  that were read of it so far, damaged ones included
 *     lost     events that the recorder says it dropped
 *     gaps     places where events were lost, and nobody knows how many
 *     damaged  records that were skipped, as they are damaged, and places where it is damaged or cut off
 *     interrupted  1 if reading was ended before the stream's end, as by Ctrl-C; else 0
 *
 * th_recordings_begun() is how long that list is, in a few nanoseconds: who asks in each callback sees
 * when another stream begins, whose processes and names are others than those before.
 *
 * th_recording_zero() tells when the recording begins by the clock of the callback's event: *ZERO is
 * what enif_monotonic_time(UNIT) would be in a callback for the first record that has a time by that
 * clock, whatever filters and patterns let through. There are three clocks: system time (`timestamp`
 * in Opts), CPU time (`cpu_timestamp`), and monotonic time, strict or not. Their times cannot be
 * compared, so that each has a zero of its own. Streams that are replayed together are parts of one
 * recording, and the first of them has its zeros; where a connection goes on with another node, zeros
 * but system time's are anew. In a callback alone; ENV is the callback's. 0: the event has no recorded
 * time, and enif_monotonic_time() reads the host's clock; or UNIT is none.
 *
 * ENV is any that terms can be made in. Any thread, in callbacks as well as in load() and unload(). What
 * happens in the host itself is no stream: [] where nothing was replayed.
 *
 * th_tracer_failed() reports that the tracer cannot do its work. REASON is one line of UTF-8 that names
 * what failed and why: "cannot write calls.txt: No space left on device". The host shows it with the
 * tracer's name, once for each call, and the command ends with status 1. ENV is that of the callback, of
 * load() or of unload().
 *   - In the callback that asks whether the tracer can be attached (`enabled` with the tag `trace_status`),
 *     the tracer is not attached, whatever the callback answers, and REASON is the error.
 *   - In any other callback the session gets no events any more; other sessions go on.
 *   - In load() and unload() it is shown, and counts.
 *
 * th_attach_pending() is 1 in a callback for `trace_status` while it is not known yet whether what the
 * tracer is attached for can begin: another tracer may be refused, or the stream missing. So a tracer that
 * would replace a file checks that it can, and leaves the file as it is. As soon as all has begun, a tracer
 * that called this function is asked for its `trace_status` again, and then the answer is 0. If nothing
 * begins, unload() follows without that. 0 in all other callbacks.
 *
 * The others tell what the host knows of the event that a callback reports, and Opts does not carry:
 * of what happens now, or as far as the recording has it. ENV is the callback's.
 *
 * th_call_fact() is for the callback that reports a call: 1 or 0, whether FACT is so; -1: it is not
 * known. TH_CALL_EXTERNAL: an external call, so that global breakpoints meet it. TH_CALL_TAIL: a tail
 * call; only recordings tell that.
 *
 * th_call_callers() is for the same callback: a list of {Module, Function, Arity, Location}, who
 * called, who called that one, and so on, as a stack trace has them, at most eight; [] of a process'
 * first function; it ends with `undefined` in place of [] where the next one is not known. 0: nothing is
 * known. It walks through stacks, which takes about a microsecond for each.
 *
 * th_recorded_unique() is for a callback that reports a recorded event with the time stamp
 * strict_monotonic: *UNIQUE gets the integer that stood beside the time. 0: there is none. It is the same in
 * all callbacks that one record causes.
 *
 * th_show_term() writes TERM to TEXT as the host shows terms to people, in UTF-8: as
 * io:format("~0p") in Erlang, or, where the user's encoding is Unicode, "~0tp" in `erl +pc unicode`.
 * It is for text that people read; enif_snprintf("%T") does not depend on the user. At most SIZE
 * bytes are written, of which the last is a 0; the result is the bytes of the whole text, as of
 * snprintf(). Any thread.
 *
 * th_file_unfinished() tells of the file PATH, which the tracer has made, that it is of no use until it is
 * complete: UNFINISHED is 1. If the program exits first, for want of memory, say, the host removes it.
 * 0: the tracer has completed, renamed or removed it. The result is 0 if the program exits already, so
 * that nobody removes the file but the tracer; else 1. Any thread.
 */
#define TH_MODULE_TRACING(X) \
    X(tracing, int, th_disarm, (ErlNifEnv *env)) \
    X(tracing, ERL_NIF_TERM, th_recordings, (ErlNifEnv *env)) \
    X(tracing, int, th_recordings_begun, (ErlNifEnv *env)) \
    X(tracing, void, th_tracer_failed, (ErlNifEnv *env, const char *reason)) \
    X(tracing, int, th_attach_pending, (ErlNifEnv *env)) \
    X(tracing, int, th_recording_zero, (ErlNifEnv *env, ErlNifTimeUnit unit, ErlNifTime *zero)) \
    X(tracing, int, th_call_fact, (ErlNifEnv *env, int fact)) \
    X(tracing, ERL_NIF_TERM, th_call_callers, (ErlNifEnv *env)) \
    X(tracing, int, th_recorded_unique, (ErlNifEnv *env, ErlNifSInt64 *unique)) \
    X(tracing, size_t, th_show_term, (char *text, size_t size, ERL_NIF_TERM term)) \
    X(tracing, int, th_file_unfinished, (const char *path, int unfinished))

/*
 * Calling.
 *
 * th_call() is an external call, MODULE:FUNCTION with ARGC arguments, as code in another module
 * makes it: a breakpoint may be there, and which code it reaches is decided now. It runs on this
 * thread until it is over, and only then does th_call() return: the result, a term of ENV, or 0. A
 * callee that yields (enif_schedule_nif) goes on in place. One that would have to wait or to leave
 * the thread raises the error `nested_await` or `nested_dirty`. What is not there raises `undef`;
 * what would use up the thread's stack `system_limit`. Calls of functions of the same library, in
 * C, are local calls.
 *
 * 0 is an exception of the callee. It stays with ENV until it is taken: if the function returns 0,
 * it goes on to whoever called; if the function returns a term, it is dropped. th_catch() takes it:
 * 1, and its class (`error`, `exit`, `throw`), reason and stack trace, where these are not NULL; 0
 * if there is none. A further th_call() replaces it. An exception that the function raises itself,
 * with enif_raise_exception() and the like, is another matter: it is raised whatever is returned,
 * and th_catch() does not see it. enif_is_exception() and enif_has_pending_exception() tell of
 * both.
 *
 * th_export_entry() is what a call of MODULE:FUNCTION/ARITY looks up, as code in a BEAM does when it
 * is loaded: an entry that holds what such a call reaches, now or later. It is for who calls often.
 * It is one for each name, good for ever, in any thread and any library, whether such a function is
 * loaded or not, and is not given back: it takes some 70 bytes until the program ends, so ask for
 * names that are called, not for names that come from outside. Any thread, also in load() and
 * outside of calls. NULL for what is no atom, and an arity below 0 or above 255.
 *
 * th_call_export() is th_call() of the function of ENTRY, with as many arguments as its arity says,
 * in all else the same, and quicker. A NULL ENTRY raises `badarg`.
 *
 * The others say what is to be done when the function has returned what they return, which is 0, so
 * that the thread's stack is not used meanwhile: `return th_tail_call(...);`. As of
 * enif_schedule_nif(), the last one counts. They take as many steps as there are, in constant space.
 *
 * th_tail_call() goes on with an external call, and what that returns is what the function
 * returns. As it is made when the function has returned, the function is then no caller any more.
 *
 * th_call_then() makes a call that is not nested: the callee may wait and go dirty. Then THEN goes
 * on in the function's place, its arguments the result and the KEPT terms, of which there are KEPT
 * (at most 254). An exception passes by, unless FLAGS have TH_CATCHES: then THEN is called with 0 in
 * place of the result, and th_catch() takes the exception, which else goes on when THEN returns 0.
 * A function that is waiting for THEN has not returned, as far as tracing can tell.
 *
 * th_raise() is erlang:raise/3: `return th_raise(...);` has an exception that th_catch() took go on,
 * to whoever called, with the class, reason and stack trace given. As an exception of a callee, it
 * is dropped if the function returns a term after all. `badarg` for what is no class or no list.
 *
 * th_throw() and th_exit() raise exceptions as enif_raise_exception() does, of these classes; an
 * exit that nobody catches ends the process with REASON, which is as good an end as any, and not
 * reported.
 *
 * On failure: `badarg` is raised where ENV is not that of a function that runs for a process, a
 * name is no atom, or there are more than 255 arguments.
 */
#define TH_MODULE_CALLING(X) \
    X(calling, ERL_NIF_TERM, th_call, (ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc, const ERL_NIF_TERM argv[])) \
    X(calling, const ThExport *, th_export_entry, (ERL_NIF_TERM module, ERL_NIF_TERM function, int arity)) \
    X(calling, ERL_NIF_TERM, th_call_export, (ErlNifEnv *env, const ThExport *entry, const ERL_NIF_TERM argv[])) \
    X(calling, int, th_catch, (ErlNifEnv *env, ERL_NIF_TERM *class_, ERL_NIF_TERM *reason, ERL_NIF_TERM *stacktrace)) \
    X(calling, ERL_NIF_TERM, th_tail_call, (ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc, const ERL_NIF_TERM argv[])) \
    X(calling, ERL_NIF_TERM, th_call_then, (ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc, const ERL_NIF_TERM argv[], ThContinuation *then, int flags, int kept, const ERL_NIF_TERM terms[])) \
    X(calling, ERL_NIF_TERM, th_raise, (ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM reason, ERL_NIF_TERM stacktrace)) \
    X(calling, ERL_NIF_TERM, th_throw, (ErlNifEnv *env, ERL_NIF_TERM reason)) \
    X(calling, ERL_NIF_TERM, th_exit, (ErlNifEnv *env, ERL_NIF_TERM reason))

/*
 * Waiting for messages.
 *
 * `return th_await(...);` has THEN go on in the function's place with the oldest message in the
 * mailbox, at once or when one arrives; its arguments are the message and the KEPT terms (at most
 * 254). If MILLISECONDS pass before (TH_INFINITY: never) THEN gets 0 in place of the message; with
 * 0 milliseconds that is so if there is no message now.
 *
 * The message is taken out of the mailbox when THEN returns, unless it returns what th_skip()
 * returns: then the message stays where it is, and THEN is offered the next one, with the same kept
 * terms; the time goes on running. So a selective receive looks at each message once. The next
 * th_await() begins with the oldest message again. A process that waits takes no thread.
 *
 * In a nested call (th_call()) nobody can wait: th_await() raises `nested_await`.
 *
 * On failure: `badarg` is raised where ENV is not that of a function that runs for a process; by
 * th_skip(), where no message is offered.
 */
#define TH_MODULE_WAITING(X) \
    X(waiting, ERL_NIF_TERM, th_await, (ErlNifEnv *env, ThContinuation *then, long milliseconds, int kept, const ERL_NIF_TERM terms[])) \
    X(waiting, ERL_NIF_TERM, th_skip, (ErlNifEnv *env))

/*
 * Loading code, while it runs: as erlang:prepare_loading/2 and finish_loading/1, for any number of
 * modules, which become visible at one instant, or not at all.
 *
 * `return th_load_code(...);` has THEN go on in the function's place when it is done; its arguments
 * are what became of it and the KEPT terms (at most 254). As of th_await(), the last one counts: what
 * is asked for and in whose place the function says something else is not done. The process waits
 * without a thread, its messages stay in the mailbox, and a signal that ends it does.
 *
 * PATHS is a list of files: binaries of any bytes, or lists of characters, which become UTF-8. A dirty
 * I/O thread opens a private copy of each, examines it, and calls constructors and nif_init(), in
 * the order of the list; several processes do so at once. The rest, load() and upgrade() with
 * LOAD_INFO and then making all of it visible, is done by one thread of the host, which is no
 * scheduler, in the order in which processes have come to it. A module that has current code is
 * upgraded: what it had becomes old code, in which who runs it goes on. THEN gets
 * [{Module, Generation}], in the order of PATHS: 1 is the first that was loaded of a module. If
 * the new code of a function has no room for local breakpoints that are set, stderr says so.
 *
 * The function that has asked waits in the code that it is of; so does what waits for it. Where
 * that is old code, it is in use.
 *
 * th_purge_code(): the old code of MODULE goes, with its library. THEN gets `true`, or `false` if there
 * was none. th_delete_code(): what is its current code becomes old code; THEN gets `true`.
 *
 * Old code that a module has is purged before there is other old code of it. With TH_HARD among FLAGS
 * the processes that are in it are killed first, who has asked among them; without, it is not purged
 * while somebody is in it.
 *
 * Else THEN gets {error, {Why, Texts}}, all is as it was, and TEXTS, a list of binaries, says more,
 * the first cause last. WHY is
 *
 *   not_purged  somebody is in the old code
 *   refused     a library was: by the host, as it is not there, or not what it should be; or by its own
 *               load(), th_upgrade_check() or upgrade()
 *   duplicate   two of PATHS are one module
 *   not_loaded  th_delete_code(): MODULE has no current code
 *   failed      anything else
 *
 * What a process has asked for that is killed before it is its turn is not done.
 *
 * In a nested call (th_call()) nobody can wait: that raises `nested_await`. On failure: `badarg` is
 * raised where ENV is not that of a function that runs for a process, PATHS is no list of paths,
 * MODULE no atom.
 */
#define TH_MODULE_CODE(X) \
    X(code, ERL_NIF_TERM, th_load_code, (ErlNifEnv *env, ERL_NIF_TERM paths, ERL_NIF_TERM load_info, int flags, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(code, ERL_NIF_TERM, th_purge_code, (ErlNifEnv *env, ERL_NIF_TERM module, int flags, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(code, ERL_NIF_TERM, th_delete_code, (ErlNifEnv *env, ERL_NIF_TERM module, int flags, ThContinuation *then, int kept, const ERL_NIF_TERM terms[]))

/*
 * Processes.
 *
 * As Erlang's functions of these names, for the process that runs. What one process does to another
 * arrives there in the order in which it was done, messages and signals alike; it is acted on when
 * the function that runs there has returned: a process that is killed never stops in the middle of
 * one. On a dirty thread, a process that a signal ends is dead for all others at once, and the
 * function still runs to its end: its links, monitors, signals and messages then do nothing,
 * enif_send() returns 0, and th_spawn() raises `system_limit`.
 *
 * th_spawn() starts a process with a call of MODULE:FUNCTION, with OPTIONS of TH_SPAWN_LINK and
 * TH_SPAWN_MONITOR; *PID and, if monitored, *MONITOR, a reference (NULL: not wanted), tell of it. A
 * process ends with `normal` when its function has returned; with the reason of an exit; with
 * {Reason, Stack} of an error, with {{nocatch, Term}, Stack} of a throw, which are both reported on
 * stderr.
 *
 * th_link() of a process that is dead is answered by an exit signal with the reason `noproc`. 0, and
 * nothing happens, for a pid of another node. th_unlink(): what came from the link before does not
 * come any more. th_monitor() returns a reference, and one message {'DOWN', Reference, process, Pid,
 * Reason} will come, with `noproc` for who is dead already. th_demonitor() stops it; the message
 * does not come any more, but can be in the mailbox already: with TH_FLUSH it is taken out, what
 * ever the answer. 0: the process has no such monitor (any more).
 *
 * th_exit_signal() is exit/2: TO ends with REASON, unless that is `normal` (and TO another process),
 * or TO traps exits, who gets {'EXIT', From, Reason}; `kill` ends any, with the reason `killed`.
 * Who is dead gets nothing: 1, all the same. th_trap_exit() returns what was the case before, 0 or 1.
 *
 * th_register() and th_unregister() are 0 where Erlang raises badarg: for a name that is taken, or
 * `undefined`, a process that is not alive or has a name; a name that nobody has.
 *
 * Sending, names and who is alive are the NIF API's: enif_send(), enif_whereis_pid(),
 * enif_is_process_alive().
 *
 * On failure: 0; `badarg` is raised where ENV is not that of a function that runs for a process, and
 * by th_spawn() for names that are no atoms and more than 255 arguments; `system_limit` by
 * th_spawn() if there are 1,048,576 processes.
 */
#define TH_MODULE_PROCESSES(X) \
    X(processes, int, th_spawn, (ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc, const ERL_NIF_TERM argv[], int options, ErlNifPid *pid, ERL_NIF_TERM *monitor)) \
    X(processes, int, th_link, (ErlNifEnv *env, const ErlNifPid *pid)) \
    X(processes, int, th_unlink, (ErlNifEnv *env, const ErlNifPid *pid)) \
    X(processes, ERL_NIF_TERM, th_monitor, (ErlNifEnv *env, const ErlNifPid *pid)) \
    X(processes, int, th_demonitor, (ErlNifEnv *env, ERL_NIF_TERM monitor, int flags)) \
    X(processes, int, th_exit_signal, (ErlNifEnv *env, const ErlNifPid *to, ERL_NIF_TERM reason)) \
    X(processes, int, th_trap_exit, (ErlNifEnv *env, int on)) \
    X(processes, int, th_register, (ErlNifEnv *env, ERL_NIF_TERM name, const ErlNifPid *pid)) \
    X(processes, int, th_unregister, (ErlNifEnv *env, ERL_NIF_TERM name))

/*
 * Sequential tokens, as of the module seq_trace: what a process that has one sends carries it, and
 * whoever receives that has it then.
 *
 * th_seq_set_token() is seq_trace:set_token/2: sets a component (`label`, any term; `serial`,
 * {Previous, Current}; `send`, 'receive', `print`, `timestamp`, `monotonic_timestamp`,
 * `strict_monotonic_timestamp`, true or false), with a new token if there was none, and returns the
 * value before. th_seq_reset_token() ends it, as set_token([]). th_seq_get_token() is get_token/1:
 * {Component, Value}, or `[]` without a token. th_seq_print() is print/2: 1 if the process has a
 * token with that label.
 *
 * On failure: 0; `badarg` is raised for what is no component or no value of it, and where ENV is not
 * that of a function that runs for a process.
 */
#define TH_MODULE_SEQ_TOKENS(X) \
    X(seq_tokens, ERL_NIF_TERM, th_seq_set_token, (ErlNifEnv *env, ERL_NIF_TERM component, ERL_NIF_TERM value)) \
    X(seq_tokens, ERL_NIF_TERM, th_seq_get_token, (ErlNifEnv *env, ERL_NIF_TERM component)) \
    X(seq_tokens, int, th_seq_reset_token, (ErlNifEnv *env)) \
    X(seq_tokens, int, th_seq_print, (ErlNifEnv *env, ERL_NIF_TERM label, ERL_NIF_TERM info))

/*
 * User probes: what a library says to whoever watches the host with SystemTap, bpftrace, perf or gdb, as
 * OTP's module dyntrace has it. The arguments of the probes stand in probe_table.h.
 *
 * th_user_trace_enabled() tells what is watched now: TH_USER_TRACE_S1, TH_USER_TRACE_I4S4, both, or 0,
 * after which there is no need to make a text. It takes some nanoseconds.
 *
 * th_user_trace_s1() hits user_trace__s1. th_user_trace_i4s4() hits user_trace__i4s4, with the
 * process that runs in ENV, if there is one, as its first argument. Texts end with a 0 and are in UTF-8;
 * NULL stands for "". They are needed during the call only.
 *
 * ENV may be NULL. Any thread, also in load() and outside of calls. 1: somebody watched; else 0.
 */
#define TH_MODULE_PROBES(X) \
    X(probes, int, th_user_trace_enabled, (void)) \
    X(probes, int, th_user_trace_s1, (const char *message)) \
    X(probes, int, th_user_trace_i4s4, (ErlNifEnv *env, const char *user_tag, int i_1, int i_2, int i_3, int i_4, const char *s_1, const char *s_2, const char *s_3, const char *s_4))

/*
 * Files. Threads of the host's own do what may take its time; the process waits without one.
 *
 * `return th_file_...(...);` has the operation done when the function has returned, and then THEN go
 * on in the function's place; its arguments are the result and the KEPT terms (at most 254). As of
 * th_await(), the last one counts: an operation in whose place the function says something else is not
 * done. In a nested call (th_call()) nobody can wait: that raises `nested_await`.
 *
 * A result is `ok`, {ok, Value}, or {error, Reason}, where Reason is the atom of an errno (`enoent`);
 * of functions that read also `eof`. Each does what the system call of its name does, on the whole of
 * what it is given: where a write stops short, what is left is tried again.
 *
 * A PATH is a binary of any bytes, or a list of characters, which become UTF-8, and of such binaries;
 * without a character 0.
 *
 * th_file_open() gives {ok, File}: a port, which can be sent, and used by other processes. It is
 * closed when the process that has opened it ends. FLAGS are TH_OPEN_...: what is opened for writing
 * is made if it is not there, and cut to nothing, unless it is opened for reading as well, or
 * with TH_OPEN_APPEND or TH_OPEN_KEEP. What is asked of one file is done in the order in which it is
 * asked. But a close is a close: what others have asked for and was not begun gets {error, ebadf},
 * and so does all after it.
 *
 *   th_file_read()       {ok, Binary} of at most SIZE bytes: of as many as there are, or come at once
 *   th_file_read_line()  {ok, Binary} up to the next line feed, with it
 *   th_file_lseek()      {ok, Position}; ORIGIN is SEEK_SET, SEEK_CUR or SEEK_END
 *   th_file_write()      DATA is iodata
 *   th_file_truncate()   the file ends where it stands
 *   th_file_pwritev()    PIECES are [{Position, Iodata}]
 *   th_file_preadv()     PIECES are [{Position, Size}]; {ok, [Binary or eof]}
 *   th_file_ipread()     at OFFSET stand four bytes of a size and four of a position, the highest
 *                        first: {ok, {Size, Position, Binary or eof}}; `eof` if they are not there, or
 *                        the size is more than SIZE
 *   th_file_setopt()     TH_DELAYED_WRITE, so many bytes are gathered before they are written: by
 *                        what is asked of the file next that is no write, at the latest when it is
 *                        closed, and errors come then. TH_READ_AHEAD: so many are read at once. 0 ends
 *                        either
 *   th_file_fadvise()    ADVICE is POSIX_FADV_...
 *   th_file_fstat(), th_file_lstat()
 *                        {ok, Map}: size, type (`regular`, `directory`, `symlink`, `device`, `other`),
 *                        mode, links, inode, device, rdev, uid, gid; atime, mtime, ctime in seconds
 *   th_file_write_info() MODE, UID, GID; what is below 0 stays as it is
 *   th_file_readdir()    {ok, [Binary]}, without `.` and `..`, in no order
 *   th_file_read_file(), th_file_readlink(), th_file_pwd()
 *                        {ok, Binary}
 *   th_file_delete()     unlink(2)
 *   th_file_chdir()      of the whole program
 *   th_file_altname()    {error, enotsup}: short names are another system's
 *
 * An operation whose process ends while it is queued is not done; one that is under way is, and what
 * it has opened is closed.
 *
 * The probes efile_drv__... of provider `erlang` tell of each, with the process' user tag. In all of
 * them {thread, tag} names the operation. th_file_last() tells them, with the command and the errno
 * (0: none), of the one whose result the process got last; 0 if there was none.
 *
 * On failure: `badarg` is raised for what is no path, no data, no pieces, no port, and for negative
 * sizes and offsets (other than th_file_lseek()'s), and where ENV is not that of a function that runs
 * for a process.
 */
#define TH_MODULE_FILES(X) \
    X(files, ERL_NIF_TERM, th_file_open, (ErlNifEnv *env, ERL_NIF_TERM path, int flags, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_read, (ErlNifEnv *env, ERL_NIF_TERM file, ErlNifUInt64 size, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_lseek, (ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset, int origin, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_write, (ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM data, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_fstat, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_pwd, (ErlNifEnv *env, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_readdir, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_chdir, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_fsync, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_mkdir, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_delete, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_rename, (ErlNifEnv *env, ERL_NIF_TERM old_name, ERL_NIF_TERM new_name, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_rmdir, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_truncate, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_read_file, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_write_info, (ErlNifEnv *env, ERL_NIF_TERM path, ErlNifSInt64 mode, ErlNifSInt64 uid, ErlNifSInt64 gid, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_lstat, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_readlink, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_link, (ErlNifEnv *env, ERL_NIF_TERM existing_path, ERL_NIF_TERM new_path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_symlink, (ErlNifEnv *env, ERL_NIF_TERM existing_path, ERL_NIF_TERM new_path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_close, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_pwritev, (ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_preadv, (ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_setopt, (ErlNifEnv *env, ERL_NIF_TERM file, int option, ErlNifSInt64 value, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_ipread, (ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset, ErlNifSInt64 size, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_altname, (ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_read_line, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_fdatasync, (ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, ERL_NIF_TERM, th_file_fadvise, (ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset, ErlNifSInt64 length, int advice, ThContinuation *then, int kept, const ERL_NIF_TERM terms[])) \
    X(files, int, th_file_last, (ErlNifEnv *env, ThFileLast *last))

/*
 * User tags, as of OTP's module dyntrace: a binary with which a process marks what it does, for whoever
 * looks on by probes.
 *
 * th_put_tag() sets it, or with `undefined` takes it away, and returns what it was. th_get_tag() tells
 * it, or `undefined`; th_get_tag_data() likewise, or, if the process has put none, the one that came
 * with the message that it received last.
 *
 * th_spread_tag() says whether the tag goes with the messages that the process sends from now on, until
 * it receives one without a tag; who receives one with a tag spreads it as well. It returns how
 * things were before, for th_restore_tag().
 *
 * On failure: 0; `badarg` is raised for a tag that is none, for what th_spread_tag() has not returned,
 * and where ENV is not that of a function that runs for a process.
 */
#define TH_MODULE_TAGS(X) \
    X(tags, ERL_NIF_TERM, th_put_tag, (ErlNifEnv *env, ERL_NIF_TERM tag)) \
    X(tags, ERL_NIF_TERM, th_get_tag, (ErlNifEnv *env)) \
    X(tags, ERL_NIF_TERM, th_get_tag_data, (ErlNifEnv *env)) \
    X(tags, ERL_NIF_TERM, th_spread_tag, (ErlNifEnv *env, int spreads)) \
    X(tags, int, th_restore_tag, (ErlNifEnv *env, ERL_NIF_TERM state))

/* clang-format on */

#endif
