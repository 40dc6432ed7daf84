#!/bin/sh
# Tests `tracehost replay -p send` and `-p receive`: recorded messages that match patterns.
. tests/cli/lib/assertions.sh

event() {
    echo "{\"tracee\":\"<0.1.0>\",\"tag\":\"$1\",\"term\":\"$2\"$3}"
}
{
    echo '{"tracehost":1,"node":"nonode@nohost","creation":0}'
    event call '{m,f,[]}'
    event send '{add,1}' ',"extra":"<0.2.0>"'
    event send '{del,2}' ',"extra":"server"'
    event send_to_non_existing_process '{add,3}' ',"extra":"<0.3.0>"'
    event send '{<0.1.0>,close}' ',"extra":"#Port<0.5>"'
    event receive '{add,4}'
    event receive '{del,5}'
    echo '{"tracee":"#Port<0.5>","tag":"receive","term":"{<0.1.0>,close}"}'
} >"$work/messages.jsonl"

replay() {
    "$tracehost" replay "$@" "$work/messages.jsonl"
}
refused() {
    replay "$@" 2>"$work/refusal"
    status=$?
    head -1 "$work/refusal"
    return $status
}

expect 'the pattern false removes sends, and other events stay as recorded' replay -p send --match-spec false <<'EOF'
<0.1.0>    call m:f()
<0.1.0>    receive {add,4}
<0.1.0>    receive {del,5}
#Port<0.5> receive {<0.1.0>,close}
EOF
expect 'patterns select sends and receives, and add results to sends' replay -p send --match-spec "[{['\$1',{add,'_'}],[],[{message,{{to,'\$1'}}}]},{[server,'_'],[],[]}]" -p receive --match-spec "[{['_','_',{del,'_'}],[],[]}]" <<'EOF'
<0.1.0>    call m:f()
<0.1.0>    send {add,1} -> <0.2.0> [result {to,<0.2.0>}]
<0.1.0>    send {del,2} -> server
<0.1.0>    send {add,3} -> <0.3.0> (no such process) [result {to,<0.3.0>}]
<0.1.0>    receive {del,5}
#Port<0.5> receive {<0.1.0>,close}
EOF
expect 'a guard selects sends to ports' replay -p send --match-spec "[{['\$1','_'],[{is_port,'\$1'}],[]}]" -p "'receive'" --match-spec false --flags=send,receive <<'EOF'
<0.1.0>    send {<0.1.0>,close} -> #Port<0.5>
#Port<0.5> receive {<0.1.0>,close}
EOF
expect 'a later pattern for sends replaces an earlier one' replay -p send --match-spec false -p send --flags=send <<'EOF'
<0.1.0>    send {add,1} -> <0.2.0>
<0.1.0>    send {del,2} -> server
<0.1.0>    send {add,3} -> <0.3.0> (no such process)
<0.1.0>    send {<0.1.0>,close} -> #Port<0.5>
EOF
expect 'a pattern for functions and one for sends apply together' replay -p m:_ -p send --match-spec "[{[server,'_'],[],[]}]" <<'EOF'
<0.1.0>    call m:f()
<0.1.0>    send {del,2} -> server
EOF
expect 'the flag silent suppresses sends that have a specification' replay -p send --match-spec "[{'_',[],[]}]" --flags=send,receive,silent <<'EOF'
<0.1.0>    receive {add,4}
<0.1.0>    receive {del,5}
#Port<0.5> receive {<0.1.0>,close}
EOF
expect 'each session has its own patterns for messages' replay --session a -p send --match-spec false --flags=send,call --session b -p receive --match-spec false --flags=send,receive <<'EOF'
<0.1.0>    call m:f()
<0.1.0>    send {add,1} -> <0.2.0>
<0.1.0>    send {del,2} -> server
<0.1.0>    send {add,3} -> <0.3.0> (no such process)
<0.1.0>    send {<0.1.0>,close} -> #Port<0.5>
#Port<0.5> receive {<0.1.0>,close}
EOF

# --- unknown names ---

expect 'a match on the unknown sender of a receive is undecided' replay --flags=receive -p receive --match-spec "[{['_','\$2','_'],[{is_pid,'\$2'}],[]}]" <<'EOF'
#Port<0.5> receive {<0.1.0>,close}
-- stderr
tracehost replay: tracer 'text': undecided matches: 2
EOF
counted() {
    replay --flags=receive -p receive --match-spec "[{['_','_',{add,'_'}],[],[]},{[a,'_','_'],[],[]}]" --stats 2>&1 |
        sed -n 's/^ *\([1-9][0-9]* .*messages.*\)/\1/p'
}
expect '--stats counts undecided matches of messages' counted <<'EOF'
1  undecided matches of messages
EOF

# --- wrong specifications ---

expect 'an option for calls is refused' refused -p send --return <<'EOF'
tracehost replay: -p send is for messages: --return is for calls only
-- status 2
EOF
expect 'a kind of calls is refused' refused -p receive --kind=count <<'EOF'
tracehost replay: -p receive is for messages: --kind is for calls only
-- status 2
EOF
expect 'a pattern for sends without the flag send is refused' refused --flags=call -p m:_ -p send <<'EOF'
tracehost replay: -p send needs the flag send: add it to --flags=call
-- status 2
EOF
expect 'an action that messages do not allow is refused' replay -p send --match-spec "[{'_',[],[{caller}]}]" <<'EOF'
-- stderr
tracehost replay: cannot set -p send; try the specification with `tracehost match`
  clause 1, body, expression 1: Special form 'caller' used in wrong dialect.
-- status 3
EOF
expect 'an action that receives do not allow is refused' replay -p receive --match-spec "[{'_',[],[{silent,true}]}]" <<'EOF'
-- stderr
tracehost replay: cannot set -p receive; try the specification with `tracehost match`
  clause 1, body, expression 1: Special form 'silent' used in wrong dialect.
-- status 3
EOF
expect 'a pattern that is not true, false or a specification is refused' replay -p send --match-spec restart <<'EOF'
-- stderr
tracehost replay: cannot set -p send
  a pattern for messages must be true, false or a match specification
-- status 2
EOF
finish
