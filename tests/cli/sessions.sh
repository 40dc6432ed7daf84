#!/bin/sh
# Tests `tracehost replay`: sessions of several tracers, and the tracees of each.
. tests/cli/lib/assertions.sh

procs=$recordings/s13_procs.trace
pingpong=$recordings/s04_genserver_pingpong.trace
ports=$recordings/s06_ports.trace

# counted ARGUMENT...: prints the number of events that a replay delivers to `count`.
counted() {
    "$tracehost" replay -t count "$@" | sed -n 's/  100.00  all//p' | tr -d ' '
}

# --- tracees with flags ---

expect '--processes=all selects all processes' counted --processes=all "$procs" <<'EOF'
47
EOF
expect '--processes=new selects processes that the recording spawns' counted --processes=new "$procs" <<'EOF'
16
EOF
expect '--processes=existing selects processes from before the recording' counted --processes=existing "$procs" <<'EOF'
31
EOF
expect '--processes=new,existing selects all processes' counted --processes=new,existing "$procs" <<'EOF'
47
EOF
expect '--processes=PID selects a single process' "$tracehost" replay --processes='<0.170.0>' "$procs" <<'EOF'
<0.170.0>  spawned by <0.169.0> as erlang:apply(#Fun<wl.0.18326006>,[])
<0.170.0>  getting_linked <0.169.0>
<0.170.0>  getting_unlinked <0.169.0>
<0.170.0>  getting_linked <0.169.0>
<0.170.0>  receive die
<0.170.0>  exit normal
EOF
expect '--processes=NAME selects a process from its registration on' \
    "$tracehost" replay --processes=wlme,nobody --flags=procs --max-records=6 "$procs" <<'EOF'
<0.169.0>  register wlme
<0.169.0>  spawn <0.170.0> as erlang:apply(#Fun<wl.0.18326006>,[])
<0.169.0>  link <0.170.0>
<0.169.0>  unlink <0.170.0>
-- stderr
tracehost replay: warning: there is no event of nobody, which --processes or --ports names
EOF
expect 'quoted names are not the words new and all' counted --processes="'new','all'" "$procs" <<'EOF'
-- stderr
tracehost replay: warning: there is no event of new and all, which --processes or --ports names
EOF
expect 'a quoted name may contain a comma' counted --processes="'a,\\'b',wlme" "$procs" <<'EOF'
30
-- stderr
tracehost replay: warning: there is no event of 'a,\'b', which --processes or --ports names
EOF
expect '--processes=PID selects the process in each stream' counted --processes='<0.170.0>' "$procs" "$procs" <<'EOF'
12
EOF
expect '--processes alone selects no ports' counted --processes=all "$ports" <<'EOF'
15
EOF
expect '--ports alone selects no processes' counted --ports=all "$ports" <<'EOF'
42
EOF
expect '--ports and --processes select both kinds of tracees' counted --ports=new --processes=all "$ports" <<'EOF'
57
EOF
expect '--ports=existing without such a port gives a warning' counted --ports=existing "$ports" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'count': no event matches --ports=existing; there are send, receive, procs, ports, running_ports events
EOF
# unmatched ARGUMENT...: prints the warnings about filters that match nothing.
calls=$recordings/s01_seed_local_caller.trace
unmatched() {
    "$tracehost" replay "$@"
}
# A name is known from a record that tells it.
expect '--processes=NAME in a recording without names gives a warning' unmatched --processes=till "$calls" <<'EOF'
-- stderr
tracehost replay: warning: there is no event of till, which --processes or --ports names; no record tells a registered name: give pids
EOF
expect '--processes=PID without such a process gives a warning without advice' unmatched --processes='<0.4.0>' "$calls" <<'EOF'
-- stderr
tracehost replay: warning: there is no event of <0.4.0>, which --processes or --ports names
EOF
expect '--ports=new without any port gives a warning' unmatched --ports=new "$calls" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches --ports=new; there are call events
EOF
expect '--processes=new without such a process gives a warning' unmatched --processes=new "$calls" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches --processes=new; there are call events
EOF
expect 'several filters that match nothing give one warning' unmatched --flags=running,procs --processes=existing,new --ports=all "$calls" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches --flags=running,procs --processes=existing,new --ports=all; there are call events
EOF
expect 'a pattern that matches no arguments gives a warning' unmatched -p ex:bar/1 --match-spec='[{[99],[],[]}]' "$calls" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches -p ex:bar/1 --match-spec=[{[99],[],[]}]; there are call events; try the specification with `tracehost match`
EOF
expect 'a pattern that matches no message gives a warning' unmatched --flags=send --processes=all -p send --match-spec="[{['_',stop],[],[]}]" "$ports" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches --flags=send --processes=all -p send --match-spec=[{['_',stop],[],[]}]; there are send, receive, procs, ports, running_ports events; try the specification with `tracehost match`
EOF
expect 'a session that gets no event gives a warning' unmatched --session a -t count --ports=new --session b -t text --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost replay: warning: session 'a', tracer 'count': no event matches --ports=new; there are call events
EOF
expect 'a report that gets no event gives a warning' "$tracehost" report -o /dev/null --flags=send "$calls" <<'EOF'
-- stderr
tracehost report: warning: tracer 'report': no event matches --flags=send; there are call events
EOF
named() {
    "$tracehost" replay --stats -t msg --processes='<0.7.7>' --max-records=1 "$procs" 2>&1 | grep 'tracees seen'
}
expect 'a process that is named but has no event does not count as seen' named <<'EOF'
           1  tracees seen
EOF

# --- inheritance ---

expect 'set_on_spawn passes flags to all spawned processes' counted --processes='<0.169.0>' --flags=procs,set_on_spawn "$procs" <<'EOF'
30
EOF
expect 'set_on_first_spawn passes flags to the first spawned process' counted --processes='<0.169.0>' --flags=procs,set_on_first_spawn \
    "$procs" <<'EOF'
20
EOF
expect 'set_on_link passes flags to linked processes' counted --processes='<0.169.0>' --flags=procs,set_on_link "$procs" <<'EOF'
21
EOF
expect 'a spawn before --from passes flags' \
    counted --processes='<0.94.0>' --flags=procs,set_on_spawn --from=50us "$pingpong" <<'EOF'
2
EOF

# --- sessions ---

expect 'two sessions have their own tracers, processes and flags' "$tracehost" replay --session lives --processes=new --flags=procs \
    --session=calls -t count,top=1 --flags=call "$pingpong" <<'EOF'
<0.95.0>   spawned by <0.94.0> as proc_lib:init_p(<0.94.0>,[],gen,init_it,[gen_server,<0.94.0>,<0.94.0>,wl,[],[]])
<0.95.0>   getting_linked <0.94.0>
<0.95.0>   exit normal
      events       %  tag
         437   80.48  call
         106   19.52  return_from
         543  100.00  all

       calls       %  function
          41    9.38  gen_server:decode_msg/9
         396   90.62  29 more
EOF
expect 'two sessions of one tracer have separate outputs: first session' "$tracehost" replay --session a -t text --processes='<0.170.0>' \
    --flags=receive --session b -t "text,output=$work/b" --processes=wlme --flags=send \
    --max-records=13 "$procs" <<'EOF'
<0.170.0>  receive die
EOF
expect 'two sessions of one tracer have separate outputs: second session' cat "$work/b" <<'EOF'
<0.169.0>  send die -> <0.170.0>
EOF
expect 'tracers before the first --session are not part of the named session' "$tracehost" replay -t msg -t msg \
    --flags=send --session b -t text --flags=receive --max-records=12 "$procs" <<'EOF'
<0.169.0>  receive {go,<0.9.0>,fun wl:procs/0}
<0.169.0> -> <0.170.0>
<0.169.0> -> <0.170.0>
<0.170.0>  receive die
EOF

summary() {
    "$tracehost" replay --stats "$@" 2>&1 >/dev/null | sed -n '/^session/,$p' | grep -v '  0 '
}
expect '--stats names each session' summary --session quiet -t text --flags=call,silent \
    --session plain -t text --flags=return_to,send "$pingpong" <<'EOF'
session 'quiet', tracer 'text'
         437  calls of its enabled callbacks
           2  calls for trace_status
         176  events held back by --flags
         437  calls held back, as their tracee was silent
         106  returns held back, as the call was discarded or silent
session 'plain', tracer 'text'
          84  calls of its enabled callbacks
          84  calls of its trace callbacks
           2  calls for trace_status
         635  events held back by --flags
EOF

crash() {
    "$tracehost" replay -L "$samples" --session fine -t msg --session bad -t crash_tracer,how=segv "$pingpong" 2>&1 |
        grep session
}
expect 'the report of a crash names the session' crash <<'EOF'
  session 'bad'
EOF

# --- wrong options ---

refused() {
    "$tracehost" replay "$@" "$procs" 2>&1 | sed '/^Try/,$d'
}
expect 'two tracers in a session are refused' refused --session a -t text -t msg <<'EOF'
tracehost replay: session 'a' has the tracer 'text' already; begin another --session for 'msg'
EOF
expect 'two sessions of one name are refused' refused --session a --session b --session a <<'EOF'
tracehost replay: session 'a' exists already: choose another name
EOF
expect 'a session without a name is refused' refused --session= <<'EOF'
tracehost replay: --session needs a name
EOF
expect '--flags before the first --session is refused' refused --flags=call --session a <<'EOF'
tracehost replay: --flags must follow the --session to which it applies
EOF
expect '--processes before the first --session is refused' refused --processes=new --session a <<'EOF'
tracehost replay: --processes must follow the --session to which it applies
EOF
expect '--processes with a variable is refused' refused --processes=new,_Boss <<'EOF'
tracehost replay: --processes must be all, existing, new, processes such as <0.95.0> or registered names, not '_Boss'
EOF
expect '--ports with a pid is refused' refused --ports='<0.95.0>' <<'EOF'
tracehost replay: --ports must be all, existing, new, ports such as #Port<0.5> or registered names, not '<0.95.0>'
EOF
expect '--processes with an empty name is refused' refused --processes=all, <<'EOF'
tracehost replay: --processes must be all, existing, new, processes such as <0.95.0> or registered names, not ''
EOF
expect 'the flag cpu_timestamp for some processes is refused' "$tracehost" replay --session a --processes=new --flags=send,cpu_timestamp "$procs" <<'EOF'
-- stderr
tracehost replay: cannot start session 'a'
  --processes cannot be combined with --flags=send,cpu_timestamp
  the flag cpu_timestamp can be set only for all processes or ports at once
-- status 2
EOF
expect 'a tracer that does not exist is refused' "$tracehost" replay --session a -t nowhere/to.so "$procs" <<'EOF'
-- stderr
tracehost replay: cannot start session 'a'
  cannot open nowhere/to.so
  No such file or directory
-- status 5
EOF
finish
