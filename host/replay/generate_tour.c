/*
 * The shapes of events, and the tour: a stream with each of them.
 *
 * The rows are in the order of the tour. Its process <0.100.0> starts <0.101.0>, calls functions,
 * sends, opens the port #Port<0.6> and ends.
 */
#include "generate_internal.h"

#include "part.h"

#include "host/term/env.h"

/* Keys of a garbage collection. Later releases may add some. */
#define GC_KEYS                                                                                 \
    "{wordsize,8},{old_heap_block_size,0},{heap_block_size,233},{mbuf_size,13},{recent_size,7}" \
    ",{stack_size,8},{old_heap_size,0},{heap_size,219},{bin_vheap_size,3}"                      \
    ",{bin_vheap_block_size,46422},{bin_old_vheap_size,0},{bin_old_vheap_block_size,46422}"
#define GC_MORE ",{off_heap_message_size,24}"

#define MONOTONIC "-576460751495413024"

static const struct {
    enum th_tracer_tag tag;
    const char *name; /* NULL: the record only prepares the next ones */
    const char *record;
} rows[] = {
#define SHAPE(tag, form, record)        \
    {                                   \
        TH_TAG_##tag, #tag form, record \
    }
#define PREPARE(tag, record)       \
    {                              \
        TH_TAG_##tag, NULL, record \
    }

    /* --- processes and ports begin --- */
    SHAPE(spawn, " with arguments",
          "{trace,<0.100.0>,spawn,<0.101.0>,{worker,init,[<0.100.0>,[{name,\"w\"}]]}}"),
    SHAPE(spawned, " with arguments",
          "{trace,<0.101.0>,spawned,<0.100.0>,{worker,init,[<0.100.0>,[{name,\"w\"}]]}}"),
    SHAPE(spawn, " with a fun", "{trace,<0.100.0>,spawn,<0.102.0>,{erlang,apply,[a_fun,[]]}}"),
    SHAPE(spawned, " with a fun", "{trace,<0.102.0>,spawned,<0.100.0>,{erlang,apply,[a_fun,[]]}}"),
    SHAPE(spawn, " without arguments", "{trace,<0.100.0>,spawn,<0.103.0>,{worker,loop,[]}}"),
    SHAPE(spawned, " without arguments", "{trace,<0.103.0>,spawned,<0.100.0>,{worker,loop,[]}}"),
    SHAPE(spawn, " with 255 arguments",
          "{trace,<0.100.0>,spawn,<0.104.0>,{worker,many,arguments_255}}"),
    SHAPE(spawned, " by a process of another node",
          "{trace,<0.105.0>,spawned,external_pid,{worker,loop,[]}}"),
    SHAPE(spawn, " on another node", "{trace,<0.100.0>,spawn,external_pid,{worker,loop,[]}}"),
    SHAPE(spawn, " with scheduler_id", "{trace,<0.100.0>,spawn,<0.106.0>,{worker,loop,[]},1}"),
    SHAPE(spawn, " with timestamp",
          "{trace_ts,<0.100.0>,spawn,<0.107.0>,{worker,loop,[]},{1795,233754,93267}}"),
    SHAPE(link, " to a process", "{trace,<0.100.0>,link,<0.101.0>}"),
    SHAPE(getting_linked, " by a process", "{trace,<0.101.0>,getting_linked,<0.100.0>}"),
    SHAPE(link, " to a process of another node", "{trace,<0.100.0>,link,external_pid}"),
    SHAPE(getting_linked, " by a process of another node",
          "{trace,<0.101.0>,getting_linked,external_pid}"),
    SHAPE(register, " of a process", "{trace,<0.101.0>,register,worker}"),
    SHAPE(register, " with an odd name", "{trace,<0.102.0>,register,'my worker\\n'}"),
    SHAPE(register, " with a name of 255 characters", "{trace,<0.103.0>,register,long_wide_atom}"),

    SHAPE(open, " of a driver", "{trace,#Port<0.6>,open,<0.100.0>,tcp_inet}"),
    SHAPE(open, " of a command", "{trace,#Port<0.7>,open,<0.100.0>,'sh -c \\'exit 3\\''}"),

    /* --- processes are scheduled --- */
    SHAPE(in, " of a process with its function", "{trace,<0.100.0>,in,{worker,loop,1}}"),
    SHAPE(out, " of a process with its function", "{trace,<0.100.0>,out,{worker,loop,1}}"),
    SHAPE(in, " of a process without a function", "{trace,<0.100.0>,in,0}"),
    SHAPE(out, " of a process without a function", "{trace,<0.100.0>,out,0}"),
    SHAPE(in, " with scheduler_id", "{trace,<0.100.0>,in,{worker,loop,1},2}"),
    SHAPE(out, " with scheduler_id and monotonic_timestamp",
          "{trace_ts,<0.100.0>,out,{worker,loop,1},2," MONOTONIC "}"),
    SHAPE(in, " with strict_monotonic_timestamp",
          "{trace_ts,<0.100.0>,in,{worker,loop,1},{" MONOTONIC ",-576460752303423431}}"),

    /* --- calls --- */
    SHAPE(call, " with arguments", "{trace,<0.100.0>,call,{lists,seq,[1,2]}}"),
    SHAPE(return_from, " a function", "{trace,<0.100.0>,return_from,{lists,seq,2},[1,2]}"),
    SHAPE(return_to, " a function", "{trace,<0.100.0>,return_to,{worker,loop,1}}"),
    SHAPE(call, " without arguments", "{trace,<0.100.0>,call,{erlang,self,[]}}"),
    SHAPE(return_to, " undefined", "{trace,<0.100.0>,return_to,undefined}"),
    SHAPE(call, " with 255 arguments", "{trace,<0.100.0>,call,{worker,many,arguments_255}}"),
    SHAPE(call, " with arity", "{trace,<0.100.0>,call,{lists,map,2}}"),
    SHAPE(call, " with arity 0", "{trace,<0.100.0>,call,{erlang,self,0}}"),
    SHAPE(call, " with arity 255", "{trace,<0.100.0>,call,{worker,many,255}}"),
    SHAPE(call, " with match_spec_result", "{trace,<0.100.0>,call,{lists,seq,[1,2]},{caller,x}}"),
    SHAPE(call, " with the result undefined", "{trace,<0.100.0>,call,{lists,seq,[1,2]},undefined}"),
    SHAPE(call, " with a large match_spec_result",
          "{trace,<0.100.0>,call,{lists,seq,[1,2]},large_binary}"),
    SHAPE(call, " with scheduler_id", "{trace,<0.100.0>,call,{lists,seq,[1,2]},3}"),
    SHAPE(call, " with arity, match_spec_result and scheduler_id",
          "{trace,<0.100.0>,call,{lists,seq,2},{worker,loop,1},3}"),
    SHAPE(call, " with timestamp",
          "{trace_ts,<0.100.0>,call,{lists,seq,[1,2]},{1795,233754,93267}}"),
    SHAPE(call, " with cpu_timestamp", "{trace_ts,<0.100.0>,call,{lists,seq,[1,2]},{0,0,1234}}"),
    SHAPE(call, " with monotonic_timestamp",
          "{trace_ts,<0.100.0>,call,{lists,seq,[1,2]}," MONOTONIC "}"),
    SHAPE(call, " with strict_monotonic_timestamp",
          "{trace_ts,<0.100.0>,call,{lists,seq,[1,2]},{" MONOTONIC ",-576460752303423431}}"),
    SHAPE(call, " with all options",
          "{trace_ts,<0.100.0>,call,{lists,seq,[1,2]},{caller,x},3," MONOTONIC "}"),
    SHAPE(call, " of an operator", "{trace,<0.100.0>,call,{erlang,'+',[1,2]}}"),
    SHAPE(call, " of a function with empty names", "{trace,<0.100.0>,call,{'','',[]}}"),
    SHAPE(call, " of a function in a module of Elixir",
          "{trace,<0.100.0>,call,{'Elixir.Enum','map!',[[],a_fun]}}"),
    SHAPE(call, " of a local fun", "{trace,<0.100.0>,call,{worker,'-loop/1-fun-0-',[1]}}"),
    SHAPE(call, " of a function with odd names",
          "{trace,<0.100.0>,call,{'a:b/1','x\\n\\t\\0\"<&>;\\'',[1]}}"),
    SHAPE(call, " of a function with names of other scripts",
          "{trace,<0.100.0>,call,{'caf\u00E9','\u540D\u524D',[1]}}"),
    SHAPE(call, " of a function with names of 255 characters",
          "{trace,<0.100.0>,call,{long_atom,long_wide_atom,[1]}}"),
    SHAPE(call, " with numbers",
          "{trace,<0.100.0>,call,{worker,f,[-1,9223372036854775808,big_integer,-0.0,5.0e-324]}}"),
    SHAPE(call, " with lists",
          "{trace,<0.100.0>,call,{worker,f,[[],\"text\",[a|b],[[]|[]],long_list]}}"),
    SHAPE(call, " with tuples and maps",
          "{trace,<0.100.0>,call,{worker,f,[{},{a,{}},#{},#{1 => a,1.0 => b},large_map]}}"),
    SHAPE(call, " with bit strings",
          "{trace,<0.100.0>,call,{worker,f,[<<>>,<<\"text\">>,<<255>>,<<5:3>>,large_binary]}}"),
    SHAPE(call, " with identifiers",
          "{trace,<0.100.0>,call,{worker,f,[<0.100.0>,#Port<0.6>,#Ref<0.1.2.3>,alias_ref]}}"),
    SHAPE(call, " with identifiers of another node",
          "{trace,<0.100.0>,call,{worker,f,[external_pid,external_port,external_ref]}}"),
    SHAPE(call, " with funs", "{trace,<0.100.0>,call,{worker,f,[a_fun,fun lists:map/2]}}"),
    SHAPE(call, " with deep terms", "{trace,<0.100.0>,call,{worker,f,[deep_tuple,deep_list]}}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,f,2}}"),
    SHAPE(return_from, " a function with a large value",
          "{trace,<0.100.0>,return_from,{worker,f,2},[large_binary,deep_tuple]}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,many,0}}"),
    SHAPE(return_from, " a function without arguments, with scheduler_id",
          "{trace,<0.100.0>,return_from,{worker,many,0},ok,3}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,many,0}}"),
    SHAPE(return_from, " a function with monotonic_timestamp",
          "{trace_ts,<0.100.0>,return_from,{worker,many,0},-1," MONOTONIC "}"),
    SHAPE(return_to, " a function with scheduler_id and timestamp",
          "{trace_ts,<0.100.0>,return_to,{worker,loop,1},3,{1795,233754,93267}}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,fail,[1]}}"),
    SHAPE(exception_from, " with error",
          "{trace,<0.100.0>,exception_from,{worker,fail,1},{error,{badmatch,1}}}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,fail,[1]}}"),
    SHAPE(exception_from, " with exit",
          "{trace,<0.100.0>,exception_from,{worker,fail,1},{exit,normal}}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,fail,[1]}}"),
    SHAPE(exception_from, " with throw",
          "{trace,<0.100.0>,exception_from,{worker,fail,1},{throw,large_map}}"),
    PREPARE(call, "{trace,<0.100.0>,call,{worker,fail,[1]}}"),
    SHAPE(exception_from, " with scheduler_id and strict_monotonic_timestamp",
          "{trace_ts,<0.100.0>,exception_from,{worker,fail,1},{error,undef},3,{" MONOTONIC ",7}}"),

    /* --- messages --- */
    SHAPE(send, " to a process", "{trace,<0.100.0>,send,{request,1},<0.101.0>}"),
    SHAPE(receive, " of a tuple", "{trace,<0.101.0>,'receive',{request,1}}"),
    SHAPE(send, " to itself", "{trace,<0.100.0>,send,tick,<0.100.0>}"),
    SHAPE(receive, " of an atom", "{trace,<0.100.0>,'receive',tick}"),
    SHAPE(send, " to a registered name", "{trace,<0.100.0>,send,[],worker}"),
    SHAPE(receive, " of an empty list", "{trace,<0.101.0>,'receive',[]}"),
    SHAPE(send, " to {Name,Node}", "{trace,<0.100.0>,send,1.5,{worker,nonode@nohost}}"),
    SHAPE(receive, " of a float", "{trace,<0.101.0>,'receive',1.5}"),
    SHAPE(send, " to {Name,Node} of another node",
          "{trace,<0.100.0>,send,<<\"data\">>,{'my worker\\n',other@host}}"),
    SHAPE(send, " to a process of another node", "{trace,<0.100.0>,send,#{a => 1},external_pid}"),
    SHAPE(send, " to a port", "{trace,<0.100.0>,send,{<0.100.0>,{command,<<\"x\">>}},#Port<0.6>}"),
    SHAPE(send, " to an alias", "{trace,<0.100.0>,send,{alias_ref,ok},alias_ref}"),
    SHAPE(send, " of a large message", "{trace,<0.100.0>,send,{large_binary,long_list},<0.101.0>}"),
    SHAPE(receive, " of a large message", "{trace,<0.101.0>,'receive',{large_binary,long_list}}"),
    SHAPE(receive, " of a deep message", "{trace,<0.101.0>,'receive',deep_tuple}"),
    SHAPE(receive, " of a message of another node",
          "{trace,<0.101.0>,'receive',{external_ref,external_pid}}"),
    SHAPE(receive, " of a message about a dead process",
          "{trace,<0.101.0>,'receive',{'DOWN',#Ref<0.1.2.3>,process,<0.102.0>,noproc}}"),
    SHAPE(send, " with match_spec_result", "{trace,<0.100.0>,send,tick,<0.101.0>,{caller,x}}"),
    SHAPE(receive, " with match_spec_result", "{trace,<0.101.0>,'receive',tick,{node,x}}"),
    SHAPE(send, " with scheduler_id", "{trace,<0.100.0>,send,tick,<0.101.0>,2}"),
    SHAPE(receive, " with scheduler_id", "{trace,<0.101.0>,'receive',tick,2}"),
    SHAPE(send, " with all options",
          "{trace_ts,<0.100.0>,send,tick,<0.101.0>,{caller,x},2,{1795,233754,93267}}"),
    SHAPE(receive, " with all options",
          "{trace_ts,<0.101.0>,'receive',tick,{node,x},2,{" MONOTONIC ",-576460752303423431}}"),
    SHAPE(send_to_non_existing_process, " to a process",
          "{trace,<0.100.0>,send_to_non_existing_process,{request,2},<0.99.0>}"),
    SHAPE(send_to_non_existing_process, " with all options",
          "{trace_ts,<0.100.0>,send_to_non_existing_process,x,<0.99.0>,{caller,x},2," MONOTONIC
          "}"),

    /* --- sequential tracing --- */
    SHAPE(seq_trace, " send with an integer as label",
          "{seq_trace,17,{send,{0,1},<0.100.0>,<0.101.0>,{request,3}}}"),
    SHAPE(seq_trace, " receive with an integer as label",
          "{seq_trace,17,{'receive',{0,1},<0.100.0>,<0.101.0>,{request,3}}}"),
    SHAPE(seq_trace, " print with an integer as label",
          "{seq_trace,17,{print,{1,2},<0.101.0>,[],serving}}"),
    SHAPE(seq_trace, " send with an atom as label",
          "{seq_trace,order,{send,{1,3},<0.101.0>,<0.100.0>,large_binary}}"),
    SHAPE(seq_trace, " receive with a large term as label",
          "{seq_trace,{large_map,[deep_tuple]},{'receive',{1,3},<0.101.0>,<0.100.0>,ok}}"),
    SHAPE(seq_trace, " send to a registered name",
          "{seq_trace,0,{send,{3,4},<0.100.0>,worker,ok}}"),
    SHAPE(seq_trace, " send to a port",
          "{seq_trace,0,{send,{3,4},<0.100.0>,#Port<0.6>,{<0.100.0>,close}}}"),
    SHAPE(seq_trace, " send to another node",
          "{seq_trace,0,{send,{3,4},<0.100.0>,external_pid,ok}}"),
    SHAPE(seq_trace, " with timestamp",
          "{seq_trace,1,{print,{4,5},<0.101.0>,[],ok},{1795,233754,93267}}"),
    SHAPE(seq_trace, " with monotonic_timestamp",
          "{seq_trace,1,{print,{5,6},<0.101.0>,[],ok}," MONOTONIC "}"),
    SHAPE(seq_trace, " with strict_monotonic_timestamp",
          "{seq_trace,1,{print,{6,7},<0.101.0>,[],ok},{" MONOTONIC ",-576460752303423431}}"),

    /* --- garbage collections --- */
    SHAPE(gc_minor_start, "", "{trace,<0.100.0>,gc_minor_start,[" GC_KEYS "]}"),
    SHAPE(gc_minor_end, "", "{trace,<0.100.0>,gc_minor_end,[" GC_KEYS "]}"),
    SHAPE(gc_major_start, "", "{trace,<0.100.0>,gc_major_start,[" GC_KEYS "]}"),
    SHAPE(gc_major_end, "", "{trace,<0.100.0>,gc_major_end,[" GC_KEYS "]}"),
    SHAPE(gc_minor_start, " with a further key",
          "{trace,<0.100.0>,gc_minor_start,[" GC_KEYS GC_MORE "]}"),
    SHAPE(gc_minor_end, " with a further key",
          "{trace,<0.100.0>,gc_minor_end,[" GC_KEYS GC_MORE "]}"),
    SHAPE(gc_major_start, " with a further key",
          "{trace,<0.100.0>,gc_major_start,[" GC_KEYS GC_MORE "]}"),
    SHAPE(gc_major_end, " with a further key",
          "{trace,<0.100.0>,gc_major_end,[" GC_KEYS GC_MORE "]}"),
    SHAPE(gc_minor_start, " with scheduler_id and monotonic_timestamp",
          "{trace_ts,<0.100.0>,gc_minor_start,[" GC_KEYS "],2," MONOTONIC "}"),
    SHAPE(gc_minor_end, " with scheduler_id and monotonic_timestamp",
          "{trace_ts,<0.100.0>,gc_minor_end,[" GC_KEYS "],2," MONOTONIC "}"),
    SHAPE(gc_max_heap_size, "", "{trace,<0.104.0>,gc_max_heap_size,[" GC_KEYS "]}"),
    SHAPE(gc_max_heap_size, " with a further key",
          "{trace,<0.104.0>,gc_max_heap_size,[" GC_KEYS GC_MORE "]}"),

    /* --- ports --- */
    SHAPE(in, " of a port with open", "{trace,#Port<0.6>,in,open}"),
    SHAPE(out, " of a port with open", "{trace,#Port<0.6>,out,open}"),
    SHAPE(getting_linked, " of a port", "{trace,#Port<0.6>,getting_linked,<0.100.0>}"),
    SHAPE(link, " to a port", "{trace,<0.100.0>,link,#Port<0.6>}"),
    SHAPE(link, " of a port", "{trace,#Port<0.6>,link,<0.101.0>}"),
    SHAPE(getting_linked, " by a port", "{trace,<0.101.0>,getting_linked,#Port<0.6>}"),
    SHAPE(register, " of a port", "{trace,#Port<0.6>,register,socket}"),
    SHAPE(in, " of a port with link", "{trace,#Port<0.6>,in,link}"),
    SHAPE(out, " of a port with link", "{trace,#Port<0.6>,out,link}"),
    SHAPE(in, " of a port with command", "{trace,#Port<0.6>,in,command}"),
    SHAPE(receive, " of a port with command",
          "{trace,#Port<0.6>,'receive',{<0.100.0>,{command,<<\"hello\">>}}}"),
    SHAPE(receive, " of a port with command and I/O data",
          "{trace,#Port<0.6>,'receive',{<0.100.0>,{command,[\"he\",<<\"llo\">>|<<>>]}}}"),
    SHAPE(receive, " of a port with connect",
          "{trace,#Port<0.6>,'receive',{<0.100.0>,{connect,<0.101.0>}}}"),
    SHAPE(receive, " of a port with control",
          "{trace,#Port<0.6>,'receive',{<0.100.0>,{control,[7,<<\"args\">>]}}}"),
    SHAPE(receive, " of a port with call",
          "{trace,#Port<0.6>,'receive',{<0.100.0>,{call,{7,large_map}}}}"),
    SHAPE(receive, " of a port with scheduler_id and timestamp",
          "{trace_ts,#Port<0.6>,'receive',{<0.100.0>,flush},2,{1795,233754,93267}}"),
    SHAPE(out, " of a port with command", "{trace,#Port<0.6>,out,command}"),
    SHAPE(in, " of a port without a command", "{trace,#Port<0.6>,in,0}"),
    SHAPE(send, " of a port", "{trace,#Port<0.6>,send,{#Port<0.6>,{data,\"hello\"}},<0.100.0>}"),
    SHAPE(send, " of a port with all options",
          "{trace_ts,#Port<0.6>,send,{#Port<0.6>,connected},<0.100.0>,{caller,x},2," MONOTONIC "}"),
    SHAPE(send_to_non_existing_process, " of a port",
          "{trace,#Port<0.6>,send_to_non_existing_process,{#Port<0.6>,{data,[]}},<0.99.0>}"),
    SHAPE(out, " of a port without a command", "{trace,#Port<0.6>,out,0}"),
    SHAPE(in, " of a port with scheduler_id and monotonic_timestamp",
          "{trace_ts,#Port<0.6>,in,unlink,2," MONOTONIC "}"),
    SHAPE(getting_unlinked, " of a port", "{trace,#Port<0.6>,getting_unlinked,<0.100.0>}"),
    SHAPE(unlink, " from a port", "{trace,<0.100.0>,unlink,#Port<0.6>}"),
    SHAPE(out, " of a port with timestamp", "{trace_ts,#Port<0.6>,out,unlink,{1795,233754,93267}}"),
    SHAPE(in, " of a port with close", "{trace,#Port<0.6>,in,close}"),
    SHAPE(unregister, " of a port", "{trace,#Port<0.6>,unregister,socket}"),
    SHAPE(in_exiting, " of a port", "{trace,#Port<0.6>,in_exiting,0}"),
    SHAPE(unlink, " of a port", "{trace,#Port<0.6>,unlink,<0.101.0>}"),
    SHAPE(getting_unlinked, " by a port", "{trace,<0.101.0>,getting_unlinked,#Port<0.6>}"),
    SHAPE(out_exiting, " of a port", "{trace,#Port<0.6>,out_exiting,0}"),
    SHAPE(closed, " normally", "{trace,#Port<0.6>,closed,normal}"),
    SHAPE(out_exited, " of a port", "{trace,#Port<0.6>,out_exited,0}"),
    SHAPE(closed, " with a reason and scheduler_id",
          "{trace,#Port<0.7>,closed,{exit_status,large_binary},2}"),

    /* --- processes end --- */
    SHAPE(unlink, " from a process", "{trace,<0.100.0>,unlink,<0.101.0>}"),
    SHAPE(getting_unlinked, " by a process", "{trace,<0.101.0>,getting_unlinked,<0.100.0>}"),
    SHAPE(unlink, " from a process of another node", "{trace,<0.100.0>,unlink,external_pid}"),
    SHAPE(getting_unlinked, " by a process of another node",
          "{trace,<0.101.0>,getting_unlinked,external_pid}"),
    SHAPE(unregister, " of a process", "{trace,<0.101.0>,unregister,worker}"),
    SHAPE(unregister, " with an odd name", "{trace,<0.102.0>,unregister,'my worker\\n'}"),
    SHAPE(exit, " with normal", "{trace,<0.101.0>,exit,normal}"),
    SHAPE(in_exiting, " of a process with its function",
          "{trace,<0.101.0>,in_exiting,{worker,loop,1}}"),
    SHAPE(out_exiting, " of a process with its function",
          "{trace,<0.101.0>,out_exiting,{worker,loop,1}}"),
    SHAPE(in_exiting, " of a process without a function", "{trace,<0.101.0>,in_exiting,0}"),
    SHAPE(out_exiting, " of a process without a function", "{trace,<0.101.0>,out_exiting,0}"),
    SHAPE(in_exiting, " with scheduler_id and timestamp",
          "{trace_ts,<0.101.0>,in_exiting,0,2,{1795,233754,93267}}"),
    SHAPE(out_exited, " of a process with its function",
          "{trace,<0.101.0>,out_exited,{worker,loop,1}}"),
    SHAPE(exit, " with shutdown", "{trace,<0.102.0>,exit,{shutdown,restart}}"),
    SHAPE(out_exited, " of a process without a function", "{trace,<0.102.0>,out_exited,0}"),
    SHAPE(exit, " with kill", "{trace,<0.103.0>,exit,killed}"),
    SHAPE(exit, " with a reason and a stack",
          "{trace,<0.104.0>,exit,{{badmatch,1},[{worker,f,1,[{file,\"worker.erl\"},{line,7}]}]}}"),
    SHAPE(exit, " with a large reason", "{trace,<0.105.0>,exit,[large_binary,deep_tuple,a_fun]}"),
    SHAPE(exit, " with scheduler_id and monotonic_timestamp",
          "{trace_ts,<0.106.0>,exit,noproc,2," MONOTONIC "}"),
    SHAPE(exit, " with timestamp", "{trace_ts,<0.100.0>,exit,normal,{1795,233754,93268}}"),
#undef SHAPE
#undef PREPARE
};

enum { ROWS = sizeof rows / sizeof rows[0] };

size_t th_replay_shapes(void)
{
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++)
        count += rows[i].name != NULL;
    return count;
}

static size_t row_of_shape(size_t shape)
{
    size_t row = 0;

    while (!rows[row].name || shape-- > 0)
        row++;
    return row;
}

const char *th_replay_shape_name(size_t shape)
{
    return rows[row_of_shape(shape)].name;
}

enum th_tracer_tag th_replay_shape_tag(size_t shape)
{
    return rows[row_of_shape(shape)].tag;
}

size_t th_replay_generate_tour(struct th_buffer *stream, size_t **shapes)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    size_t shape = 0;
    th_env env;

    *shapes = th_alloc(ROWS * sizeof **shapes);
    th_env_init(&env, TH_ENV_PLAIN);
    for (size_t i = 0; i < ROWS; i++) {
        (*shapes)[i] = rows[i].name ? shape++ : SIZE_MAX;
        th_replay_generate_add(stream, &how,
                               &(struct th_event){
                                   .kind = TH_EVENT_OTHER,
                                   .term = th_replay_generate_parse(&env, rows[i].record),
                               });
        th_env_clear(&env);
    }
    th_env_release(&env);
    return ROWS;
}
