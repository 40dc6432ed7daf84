/*
 * The table of all probes of the USDT provider `erlang`.
 *
 *     TH_PROBES(X) calls X(name, fires, "where", (type, name), ...) for each.
 *
 * Names, arguments and their order are those of Erlang/OTP's probes, so that scripts for a BEAM
 * work. The notes of the program and of the library list all probes; `where` is the event at which
 * a probe fires here, or the reason why it never does. The macros of host/probe, the notes, the
 * tables of the documentation and of `tracehost probes`, and the probes of tracers/usdt are made
 * from this list.
 *
 * fires   live: from events in the host, and in replay; replay: only from recorded events
 *         (`tracehost replay --probes`); never.
 * types   string: char *, UTF-8, ends with a 0, valid while the probe fires; int: int; uint32:
 *         uint32_t; int64: int64_t.
 *
 * Rules for all arguments. A process or port is its text, `<0.84.0>` or `#Port<0.3>`; a function is
 * `module:function/arity`. `size` is in words of 8 bytes, without the contents of large binaries. A
 * sequential token is its label, if the label is a small integer, and its two counts; 0, 0, 0
 * without a token. `depth` is the number of calls that the process is in. Texts are cut after 255
 * bytes, file names are not.
 */
#ifndef TH_PROBE_TABLE_H
#define TH_PROBE_TABLE_H

/* A table: one row for each probe. */
/* clang-format off */

#define TH_PROBES(X) \
    TH_PROBES_MESSAGES(X) \
    TH_PROBES_FUNCTIONS(X) \
    TH_PROBES_COLLECTIONS(X) \
    TH_PROBES_PROCESSES(X) \
    TH_PROBES_DISTRIBUTION(X) \
    TH_PROBES_PORTS(X) \
    TH_PROBES_DRIVERS(X) \
    TH_PROBES_FILES(X) \
    TH_PROBES_TRACING(X)

/* Messages. */
#define TH_PROBES_MESSAGES(X) \
    X(message__send, live, "a process sends to a process", \
      (string, sender), (string, receiver), (uint32, size), (int, token_label), \
      (int, token_previous), (int, token_current)) \
    X(message__send__remote, never, "there are no other nodes", \
      (string, sender), (string, node_name), (string, receiver), (uint32, size), \
      (int, token_label), (int, token_previous), (int, token_current)) \
    X(message__queued, live, "a message is put into a mailbox, but not into the sender's own", \
      (string, receiver), (uint32, size), (uint32, queue_len), (int, token_label), \
      (int, token_previous), (int, token_current)) \
    X(message__receive, live, "a message is taken out of a mailbox", \
      (string, receiver), (uint32, size), (uint32, queue_len), (int, token_label), \
      (int, token_previous), (int, token_current)) \
    X(copy__struct, live, "a message or a signal is copied for its receiver", \
      (uint32, size)) \
    X(copy__object, live, "the arguments of a new process are copied to its heap", \
      (string, proc), (uint32, size))

/* Functions. */
#define TH_PROBES_FUNCTIONS(X) \
    X(global__function__entry, live, "an external call begins", \
      (string, p), (string, mfa), (int, depth)) \
    X(local__function__entry, live, "a local call meets a local breakpoint", \
      (string, p), (string, mfa), (int, depth)) \
    X(function__return, live, "a call ends with a value; a local one where a breakpoint wants that", \
      (string, p), (string, mfa), (int, depth)) \
    X(bif__entry, never, "what is a BIF in Erlang, a library calls as a C function", \
      (string, p), (string, mfa)) \
    X(bif__return, never, "as bif__entry", \
      (string, p), (string, mfa)) \
    X(nif__entry, live, "a function of a library is entered by an external call, or goes on", \
      (string, p), (string, mfa)) \
    X(nif__return, live, "that function returns to the host, whether or not its call has ended", \
      (string, p), (string, mfa))

/* Garbage collections of a process's heap. */
#define TH_PROBES_COLLECTIONS(X) \
    X(gc_major__start, live, "a heap is collected", \
      (string, p), (int, need)) \
    X(gc_minor__start, replay, "heaps of this host have one generation", \
      (string, p), (int, need)) \
    X(gc_major__end, live, "it has been", \
      (string, p), (int, reclaimed)) \
    X(gc_minor__end, replay, "as gc_minor__start", \
      (string, p), (int, reclaimed))

/* Processes. */
#define TH_PROBES_PROCESSES(X) \
    X(process__spawn, live, "a process is there; mfa is its first call, empty where it waits", \
      (string, p), (string, mfa)) \
    X(process__exit, live, "a process has ended", \
      (string, p), (string, reason)) \
    X(process__exit_signal, live, "an exit signal is sent, also over a link that breaks", \
      (string, sender), (string, receiver), (string, reason)) \
    X(process__exit_signal__remote, never, "there are no other nodes", \
      (string, sender), (string, node_name), (string, receiver), (string, reason), \
      (int, token_label), (int, token_previous), (int, token_current)) \
    X(process__scheduled, live, "a process gets a thread, with the function that goes on", \
      (string, p), (string, mfa)) \
    X(process__unscheduled, live, "it gives the thread back", \
      (string, p)) \
    X(process__hibernate, never, "no function hibernates: who waits keeps no stack anyhow", \
      (string, p), (string, mfa)) \
    X(process__port_unblocked, never, "ports of this host are never busy", \
      (string, p), (string, port)) \
    X(process__heap_grow, live, "room until the next collection, in words, is more than it was", \
      (string, p), (int, old_size), (int, new_size)) \
    X(process__heap_shrink, live, "as heap_grow, but less", \
      (string, p), (int, old_size), (int, new_size))

/* Distribution. */
#define TH_PROBES_DISTRIBUTION(X) \
    X(dist__monitor, never, "there are no other nodes", \
      (string, node), (string, what), (string, monitored_node), (string, type), \
      (string, reason)) \
    X(dist__port_busy, never, "there are no other nodes", \
      (string, node), (string, port), (string, remote_node), (string, pid)) \
    X(dist__output, never, "there are no other nodes", \
      (string, node), (string, port), (string, remote_node), (int, bytes)) \
    X(dist__outputv, never, "there are no other nodes", \
      (string, node), (string, port), (string, remote_node), (int, bytes)) \
    X(dist__port_not_busy, never, "there are no other nodes", \
      (string, node), (string, port), (string, remote_node))

/* Ports. */
#define TH_PROBES_PORTS(X) \
    X(port__open, live, "a port is opened", \
      (string, process), (string, port_name), (string, port)) \
    X(port__command, live, "a port is given data", \
      (string, process), (string, port), (string, port_name), (string, command_type)) \
    X(port__control, never, "ports of this host take no control calls", \
      (string, process), (string, port), (string, port_name), (int, command_no)) \
    X(port__exit, live, "a port is closed; new_process is the reason", \
      (string, process), (string, port), (string, port_name), (string, new_process)) \
    X(port__connect, never, "ports of this host keep their owner", \
      (string, process), (string, port), (string, port_name), (string, new_process)) \
    X(port__busy, never, "ports of this host are never busy", \
      (string, port)) \
    X(port__not_busy, never, "ports of this host are never busy", \
      (string, port))

/* Drivers. */
#define TH_PROBES_DRIVERS(X) \
    X(driver__init, never, "there are no drivers", \
      (string, name), (int, major), (int, minor), (int, flags)) \
    X(driver__start, never, "there are no drivers", \
      (string, process), (string, name), (string, port)) \
    X(driver__stop, never, "there are no drivers", \
      (string, process), (string, name), (string, port)) \
    X(driver__finish, never, "there are no drivers", \
      (string, name)) \
    X(driver__flush, never, "there are no drivers", \
      (string, process), (string, port), (string, port_name)) \
    X(driver__output, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name), (int, bytes)) \
    X(driver__outputv, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name), (int, bytes)) \
    X(driver__control, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name), (int, command), (int, bytes)) \
    X(driver__call, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name), (int, command), (int, bytes)) \
    X(driver__event, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name)) \
    X(driver__ready_input, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name)) \
    X(driver__ready_output, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name)) \
    X(driver__timeout, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name)) \
    X(driver__ready_async, never, "there are no drivers: file I/O is the host's own", \
      (string, process), (string, port), (string, port_name)) \
    X(driver__process_exit, never, "there are no drivers", \
      (string, node), (string, port), (string, port_name)) \
    X(driver__stop_select, never, "there are no drivers", \
      (string, name))

/* Asynchronous file I/O. {thread_id, tag} names an operation: the same in all four of its probes.
 * The meaning of the string and integer arguments depends on the command. */
#define TH_PROBES_FILES(X) \
    X(aio_pool__add, live, "an operation is queued for the I/O threads; the length with it", \
      (string, port), (int, new_queue_length)) \
    X(aio_pool__get, live, "an I/O thread takes one; the length without it", \
      (string, port), (int, new_queue_length)) \
    X(efile_drv__entry, live, "a process asks for a file operation", \
      (int, thread_id), (int, tag), (string, user_tag), (int, command), (string, string_1), \
      (string, string_2), (int64, integer_1), (int64, integer_2), (int64, integer_3), \
      (int64, integer_4), (string, port)) \
    X(efile_drv__int_entry, live, "an I/O thread begins the operation", \
      (int, thread_id), (int, tag), (int, command)) \
    X(efile_drv__int_return, live, "an I/O thread has done it", \
      (int, thread_id), (int, tag), (int, command)) \
    X(efile_drv__return, live, "the process gets the result", \
      (int, thread_id), (int, tag), (string, user_tag), (int, command), (int, success), \
      (int, errno_value))

/* Trace events without a probe of their own, and reports of programs. */
#define TH_PROBES_TRACING(X) \
    X(trace, replay, "any other recorded event: event is its tag, the others its terms", \
      (string, p), (string, event), (string, state), (string, arg_1), (string, arg_2)) \
    X(trace_seq, replay, "a recorded seq_trace event", \
      (string, state), (string, label), (string, seq_info)) \
    X(user_trace__s1, live, "a library calls th_user_trace_s1()", \
      (string, message)) \
    X(user_trace__i4s4, live, "a library calls th_user_trace_i4s4()", \
      (string, proc), (string, user_tag), (int, i_1), (int, i_2), (int, i_3), (int, i_4), \
      (string, s_1), (string, s_2), (string, s_3), (string, s_4))

/*
 * For macros that are made from a row's arguments: TH_PROBE_EACH(M, (type, name), ...) expands to
 * M(type, name), ..., separated by commas; TH_PROBE_COUNT(...) is the number of its arguments, 1 to
 * 12.
 */
#define TH_PROBE_COUNT(...) TH_PROBE_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define TH_PROBE_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count
#define TH_PROBE_JOIN(a, b) TH_PROBE_JOIN_(a, b)
#define TH_PROBE_JOIN_(a, b) a##b
#define TH_PROBE_EACH(M, ...) \
    TH_PROBE_JOIN(TH_PROBE_EACH_, TH_PROBE_COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define TH_PROBE_EACH_1(M, a) M a
#define TH_PROBE_EACH_2(M, a, ...) M a, TH_PROBE_EACH_1(M, __VA_ARGS__)
#define TH_PROBE_EACH_3(M, a, ...) M a, TH_PROBE_EACH_2(M, __VA_ARGS__)
#define TH_PROBE_EACH_4(M, a, ...) M a, TH_PROBE_EACH_3(M, __VA_ARGS__)
#define TH_PROBE_EACH_5(M, a, ...) M a, TH_PROBE_EACH_4(M, __VA_ARGS__)
#define TH_PROBE_EACH_6(M, a, ...) M a, TH_PROBE_EACH_5(M, __VA_ARGS__)
#define TH_PROBE_EACH_7(M, a, ...) M a, TH_PROBE_EACH_6(M, __VA_ARGS__)
#define TH_PROBE_EACH_8(M, a, ...) M a, TH_PROBE_EACH_7(M, __VA_ARGS__)
#define TH_PROBE_EACH_9(M, a, ...) M a, TH_PROBE_EACH_8(M, __VA_ARGS__)
#define TH_PROBE_EACH_10(M, a, ...) M a, TH_PROBE_EACH_9(M, __VA_ARGS__)
#define TH_PROBE_EACH_11(M, a, ...) M a, TH_PROBE_EACH_10(M, __VA_ARGS__)
#define TH_PROBE_EACH_12(M, a, ...) M a, TH_PROBE_EACH_11(M, __VA_ARGS__)

/* clang-format on */
#endif
