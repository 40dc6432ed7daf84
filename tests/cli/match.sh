#!/bin/sh
# Tests match specifications on the command line.
. tests/cli/lib/assertions.sh

expect 'a match prints the message and the actions' "$tracehost" match "[{['\$1',b],[{is_atom,'\$1'}],[{message,'\$1'},{return_trace}]}]" '[a,b]' <<'EOF'
{ok,a,[return_trace],[]}
clause 1 matches
EOF
expect 'a mismatch prints a reason for each clause' "$tracehost" match \
    "[{[a],[],[]},{[a,{c,'_'}],[],[]},{['\$1','_'],[true,{is_integer,'\$1'}],[]},{'_',[{hd,[]}],[]}]" '[a,b]' <<'EOF'
{ok,false,[],[]}
clause 1, head: [a] is for another number of elements
clause 2, head, element 2: b does not match {c,'_'}
clause 3, guard 2: {is_integer,'$1'} gives false
clause 4, guard 1: {hd,[]} raises an exception
-- status 1
EOF
expect 'clauses after the first match are not tried' "$tracehost" match "[{[a],[],[]},{'_',[],[{exception_trace}]},{'_',[],[]}]" '[b]' <<'EOF'
{ok,true,[exception_trace],[]}
clause 1, head, element 1: b does not match a
clause 2 matches
EOF
expect "a guard on an unknown argument gives 'unknown'" "$tracehost" match --arity=2 "[{[a,b,c],[],[]},{['_','\$2'],[{is_atom,'\$2'}],[]},{'_',[],[]}]" <<'EOF'
unknown
clause 1, head: [a,b,c] is for another number of elements
clause 2, guard 1: {is_atom,'$2'} depends on what is unknown
-- status 4
EOF
expect 'a guard that cannot be true is a mismatch' "$tracehost" match --arity=1 "[{['\$1'],[{'andalso',{is_atom,'\$1'},{hd,[]}}],[]}]" <<'EOF'
{ok,false,[],[]}
clause 1, guard 1: {'andalso',{is_atom,'$1'},{hd,[]}} cannot be true
-- status 1
EOF
expect 'a message and an action that need an unknown argument are left out' "$tracehost" match --arity=1 "[{['\$1'],[],[{message,'\$1'},{display,'\$1'}]}]" <<'EOF'
{ok,_,[],[]}
clause 1 matches
the message depends on what is unknown
actions left out, as they depend on what is unknown: 1
EOF
expect 'a short name stands for a specification, and an unknown caller is counted' "$tracehost" match cx '[]' <<'EOF'
{ok,undefined,[exception_trace],[]}
clause 1 matches
callers unknown: 1
EOF
expect '--caller is the result of {caller} and {caller_line}' "$tracehost" match --caller='{m,f,1}' "[{'_',[],[{message,[{caller}|{caller_line}]}]}]" '[]' <<'EOF'
{ok,[{m,f,1}|{m,f,1,undefined}],[],[]}
clause 1 matches
EOF
expect '--caller=undefined gives the caller undefined' "$tracehost" match --caller=undefined caller_trace '[]' <<'EOF'
{ok,undefined,[],[]}
clause 1 matches
EOF
expect '--kind=send matches the receiver and the message' "$tracehost" match --kind=send --self='<0.7.0>' \
    "[{['\$1',{ok,'_'}],[],[{message,{{{self},'\$1'}}}]}]" '[<0.1.0>,{ok,2}]' <<'EOF'
{ok,{<0.7.0>,<0.1.0>},[],[]}
clause 1 matches
EOF
expect '--kind=receive matches the node, the sender and the message' "$tracehost" match --kind=receive "[{[nonode@nohost,'_',ok],[],[]}]" \
    '[nonode@nohost,<0.1.0>,ok]' <<'EOF'
{ok,true,[],[]}
clause 1 matches
EOF
expect 'actions without a result are printed' "$tracehost" match \
    "[{'_',[],[{display,\"x\"},{silent,true},{set_tcw,5},{enable_trace,send},{set_seq_token,label,1}]}]" '[]' <<'EOF'
{ok,true,[],[]}
clause 1 matches
action {display,"x"}
action {silent,true}
action {set_tcw,5}
action {trace,[],[send]}
action {set_seq_token,label,1}
EOF
expect 'all faults of a specification are reported' "$tracehost" match "[{'_',[],[]},{['\$1'],[{foo}],[{message,'\$3'}]}]" '[a]' <<'EOF'
{error,[{error,"Function foo/0 does_not_exist."},{error,"Variable $3 is unbound."}]}
clause 2, guard 1: in {foo}
clause 2, body, expression 1: in '$3'
-- status 3
EOF
expect 'an action that the kind does not allow is refused' "$tracehost" match --kind=receive c '[a,b,c]' <<'EOF'
{error,[{error,"Special form 'caller' used in wrong dialect."}]}
clause 1, body, expression 1: in {caller}
-- status 3
EOF

# --- JSON

expect 'a match as JSON' "$tracehost" match --format=json \
    "[{[x],[],[]},{['\$1'],[{is_list,'\$1'}],[]},{['\$1'],[{is_atom,'\$1'}],[{message,\"\\\"y\"},{return_trace},{display,1}]}]" '[a]' <<'EOF'
{
  "end": "yes",
  "clause": 3,
  "message": "\"\\\"y\"",
  "return_trace": true,
  "exception_trace": false,
  "done": [
    "action {display,1}"
  ],
  "callers_unknown": 0,
  "unsure": 0,
  "clauses": [
    {
      "clause": 1,
      "part": "head",
      "item": 1,
      "end": "no",
      "term": "x"
    },
    {
      "clause": 2,
      "part": "guard",
      "item": 1,
      "end": "no",
      "term": "{is_list,'$1'}",
      "value": "false"
    },
    {
      "clause": 3,
      "part": "whole",
      "end": "yes"
    }
  ]
}
EOF
expect 'a mismatch as JSON' "$tracehost" match --format=json "[{'_',[{hd,[]}],[]}]" '[a]' <<'EOF'
{
  "end": "no",
  "clauses": [
    {
      "clause": 1,
      "part": "guard",
      "item": 1,
      "end": "no",
      "term": "{hd,[]}",
      "raised": true
    }
  ]
}
-- status 1
EOF
expect 'an unknown result as JSON' "$tracehost" match --format=json --arity=1 "[{[a],[],[]}]" <<'EOF'
{
  "end": "unknown",
  "clauses": [
    {
      "clause": 1,
      "part": "head",
      "item": 1,
      "end": "unknown",
      "term": "a"
    }
  ]
}
-- status 4
EOF
expect 'faults of a specification as JSON' "$tracehost" match --format=json "[{'_',[],[{'\$1'}]}]" '[a]' <<'EOF'
{
  "errors": [
    {
      "clause": 1,
      "part": "body",
      "item": 1,
      "text": "{'$1'} is neither a function call, nor a tuple (tuples are written {{ ... }}).",
      "term": "{'$1'}"
    }
  ]
}
-- status 3
EOF

# --- Input that cannot be parsed

expect 'a specification that is not a term is refused' "$tracehost" match '[{[x' '[a]' <<'EOF'
-- stderr
tracehost match: cannot parse the match specification
  line 1, column 5: expected ',', '|' or ']', found the end of the text
-- status 3
EOF
expect 'arguments that are not a list are refused' "$tracehost" match c '{a}' <<'EOF'
-- stderr
tracehost match: TERM is not a proper list
-- status 3
EOF
expect 'a list of the wrong length for --kind=send is refused' "$tracehost" match --kind=send x '[a]' <<'EOF'
-- stderr
tracehost match: the list for --kind=send must have 2 elements, not 1
-- status 3
EOF
expect 'a --self that is not a pid is refused' "$tracehost" match --self=x c '[a]' <<'EOF'
-- stderr
tracehost match: --self must be a pid, not 'x'
-- status 2
EOF
expect 'a --caller that is not a function is refused' "$tracehost" match --caller=x c '[a]' <<'EOF'
-- stderr
tracehost match: --caller must be {Module,Function,Arity} or undefined, not 'x'
-- status 2
EOF
for words in '' 'c' 'c [] x' '--kind=exit c []' '--arity=256 c' '--arity=x c' '--format=xml c []' '--arity=1 c []'; do
    # shellcheck disable=SC2086
    "$tracehost" match $words >"$work/said" 2>&1
    status=$?
    check "wrong arguments have status 2: match $words" [ $status = 2 ]
done

finish
