#!/bin/sh
# Tests `tracehost replay -p ... --kind=meta --meta-tracer`: tracers of patterns, besides those of sessions.
. tests/cli/lib/assertions.sh

replay() {
    "$tracehost" replay "$@"
}
{
    echo '{"tracehost":1,"node":"nonode@nohost","creation":0}'
    for call in 'foo,[] false' 'bar,[2] false' 'bar,[1] true' 'bar,[0] true'; do
        echo "{\"tracee\":\"<0.1.0>\",\"tag\":\"call\",\"term\":\"{ex,${call% *}}\",\"tail\":${call#* }}"
    done
    echo '{"tracee":"<0.1.0>","tag":"return_from","term":"{ex,bar,1}","extra":"done"}'
    echo '{"tracee":"<0.1.0>","tag":"return_from","term":"{ex,foo,0}","extra":"ok"}'
} >"$work/example.jsonl"
refused() {
    replay "$@" "$work/example.jsonl" 2>&1 | head -1
}

expect 'each pattern of a session may have its own meta tracer' replay --session a -t text -p ex:foo/0 --kind=local,meta --meta-tracer=text -p ex:bar/1 --kind=meta --meta-tracer count --match-spec "[{[0],[],[]}]" "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    call ex:foo()
      events       %  tag
           1  100.00  call
           1  100.00  all

       calls       %  function
           1  100.00  ex:bar/1
EOF
meta_stats() {
    replay --stats "$@" 2>&1 >"$work/told" | sed -n "/meta tracer '/,\$p"
}
expect '--stats has figures of each meta tracer' meta_stats --session a -p ex:foo/0 --kind=meta --return --meta-tracer=text -p ex:bar/1 --kind=meta --meta-tracer=text -p ex:bar/1 --kind=meta --meta-tracer=count "$work/example.jsonl" <<'EOF'
session 'a', tracer 'text', meta tracer 'text'
           1  calls of its enabled callbacks
           2  calls of its trace callbacks
           3  calls for trace_status
           0  events that it discarded
           0  breakpoints that it left, as it answered 'remove'
session 'a', tracer 'text', meta tracer 'count'
           3  calls of its enabled callbacks
           3  calls of its trace callbacks
           2  calls for trace_status
           0  events that it discarded
           0  breakpoints that it left, as it answered 'remove'
EOF
expect 'each of two sessions has its own meta tracer' replay --session a -p ex:foo/0 --kind=meta --meta-tracer=text --session b -p ex:foo/0 --kind=meta --return --meta-tracer=text "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    call ex:foo()
<0.1.0>    return ex:foo/0 -> ok
EOF

# --- options ---

expect '--meta-tracer without --kind=meta is refused' refused -p lists:_ --meta-tracer count <<'EOF'
tracehost replay: -p lists:_: --meta-tracer needs --kind=meta
EOF
expect 'a meta tracer whose library does not exist is refused' replay -L "$work" -p lists:_ --kind=meta --meta-tracer ./nix.so "$work/example.jsonl" <<'EOF'
-- stderr
tracehost replay: cannot set -p lists:_
  cannot open ./nix.so
  No such file or directory
-- status 5
EOF
expect 'a meta tracer without a name is refused' replay -p lists:_ --kind=meta --meta-tracer =1 "$work/example.jsonl" <<'EOF'
-- stderr
tracehost replay: cannot set -p lists:_
  cannot use --meta-tracer '=1'
  the name of the tracer is missing
-- status 2
EOF

finish
