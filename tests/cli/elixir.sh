#!/bin/sh
# Tests names of Elixir: in patterns, and printed with --names=elixir.
. tests/cli/lib/assertions.sh

cd "$work" || exit 1
cat >shop.jsonl <<'EOF'
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"register","term":"'Elixir.MyApp.Repo'"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{'Elixir.Enum',sort,[[3,1,2]]}"}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{lists,sort,[[3,1,2]]}"}
{"ts":3000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2,3]"}
{"ts":4000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{'Elixir.Enum',sort,1}","extra":"[1,2,3]"}
{"ts":5000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{'Elixir.MyApp.Cart','valid?',[#{'__struct__' => 'Elixir.MyApp.Cart'}]}"}
{"ts":6000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{'Elixir.MyApp.Cart','-add/2-fun-0-',[]}"}
{"ts":7000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{'Elixir.MyApp.Cart','-add/2-fun-0-',0}","extra":"ok"}
{"ts":8000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{'Elixir.MyApp.Cart','valid?',1}","extra":"true"}
{"ts":9000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"send","term":"hello","extra":"'Elixir.MyApp.Repo'"}
{"ts":9500,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"spawned","term":"<0.8.0>","extra":"{'Elixir.MyApp.Repo',init,[a]}"}
EOF

# calls PATTERN...: the calls that each pattern selects.
calls() {
    for pattern; do
        "$tracehost" replay -p "$pattern" shop.jsonl 2>&1 | sed "s|.*call|$pattern =>|"
    done
}
expect 'patterns may be written as in Elixir' calls "'Elixir.Enum':sort/1" Enum.sort/1 Enum.sort Enum._ MyApp.Cart.valid? \
    'MyApp.Cart."-add/2-fun-0-"/0' MyApp.Cart._ :lists.sort/1 <<'EOF'
'Elixir.Enum':sort/1 => 'Elixir.Enum':sort([3,1,2])
Enum.sort/1 => 'Elixir.Enum':sort([3,1,2])
Enum.sort => 'Elixir.Enum':sort([3,1,2])
Enum._ => 'Elixir.Enum':sort([3,1,2])
MyApp.Cart.valid? => 'Elixir.MyApp.Cart':'valid?'(#{'__struct__' => 'Elixir.MyApp.Cart'})
MyApp.Cart."-add/2-fun-0-"/0 => 'Elixir.MyApp.Cart':'-add/2-fun-0-'()
MyApp.Cart._ => 'Elixir.MyApp.Cart':'valid?'(#{'__struct__' => 'Elixir.MyApp.Cart'})
MyApp.Cart._ => 'Elixir.MyApp.Cart':'-add/2-fun-0-'()
:lists.sort/1 => lists:sort([3,1,2])
EOF
expect 'a module of Elixir without a function is refused' "$tracehost" replay -p MyApp.Cart shop.jsonl <<'EOF'
-- stderr
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'MyApp.Cart'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'a pattern without effect asks for names as they are shown' "$tracehost" replay --names=elixir -p MyApp.Cart.valid/1 shop.jsonl <<'EOF'
-- stderr
tracehost replay: warning: -p MyApp.Cart.valid/1: no such function was called; did you mean 'MyApp.Cart.valid?/1'?
EOF

expect 'a process may be named by the alias of a module' "$tracehost" replay -p :lists._ --processes=MyApp.Repo shop.jsonl <<'EOF'
0.000001 <0.9.0>    call lists:sort([3,1,2])
EOF

# elixir COMMAND ARGUMENT...
elixir() {
    command=$1
    shift
    "$tracehost" "$command" --names=elixir "$@" shop.jsonl
}
expect 'text' elixir replay <<'EOF'
0.000000 <0.9.0>    register MyApp.Repo
0.000000 <0.9.0>    call Enum.sort([3,1,2])
0.000001 <0.9.0>    call :lists.sort([3,1,2])
0.000002 <0.9.0>    return :lists.sort/1 -> [1,2,3]
0.000003 <0.9.0>    return Enum.sort/1 -> [1,2,3]
0.000004 <0.9.0>    call MyApp.Cart.valid?(#{'__struct__' => MyApp.Cart})
0.000005 <0.9.0>    call MyApp.Cart."-add/2-fun-0-"()
0.000006 <0.9.0>    return MyApp.Cart."-add/2-fun-0-"/0 -> ok
0.000007 <0.9.0>    return MyApp.Cart.valid?/1 -> true
0.000008 <0.9.0>    send hello -> MyApp.Repo
0.000008 <0.9.0>    spawned by <0.8.0> as MyApp.Repo.init(a)
EOF
expect 'flame' elixir replay -t flame <<'EOF'
MyApp.Repo <0.9.0>;Enum.sort/1 2000
MyApp.Repo <0.9.0>;Enum.sort/1;:lists.sort/1 1000
MyApp.Repo <0.9.0>;MyApp.Cart.valid?/1 2000
MyApp.Repo <0.9.0>;MyApp.Cart.valid?/1;MyApp.Cart."-add/2-fun-0-"/0 1000
EOF
expect 'sequence' elixir replay -t sequence <<'EOF'
sequenceDiagram
    participant p1 as MyApp.Repo #60;0.9.0#62;
    p1->>p1: hello
EOF
expect 'msg' elixir replay -t msg <<'EOF'
<0.9.0> -> MyApp.Repo
EOF
names_in() { grep -o "\"name\":\"[^\"]*$1[^\"]*\"" | sort -u; }
chrome() { elixir replay -t chrome | names_in /1 && elixir replay -t chrome | names_in Repo; }
expect 'chrome' chrome <<'EOF'
"name":":lists.sort/1"
"name":"Enum.sort/1"
"name":"MyApp.Cart.valid?/1"
"name":"MyApp.Repo <0.9.0>"
EOF
perfetto() { elixir replay -t perfetto | grep -aoE 'Enum.sort/1|:lists.sort/1|MyApp.(Repo <0.9.0>|Cart.valid.?/1)' | sort -u; }
expect 'perfetto' perfetto <<'EOF'
:lists.sort/1
Enum.sort/1
MyApp.Cart.valid?/1
MyApp.Repo <0.9.0>
EOF
speedscope() { elixir replay -t speedscope 2>/dev/null | names_in /1 && elixir replay -t speedscope 2>/dev/null | names_in Repo; }
expect 'speedscope' speedscope <<'EOF'
"name":":lists.sort/1"
"name":"Enum.sort/1"
"name":"MyApp.Cart.valid?/1"
"name":"MyApp.Repo <0.9.0>"
EOF
otlp() { elixir replay -t otlp 2>/dev/null | grep -o '"name":"[^"]*sort[^"]*"\|"code.function.name[^}]*sort[^}]*'; }
expect 'otlp: names of spans, not of functions' otlp <<'EOF'
"name":":lists.sort/1"
"code.function.name","value":{"stringValue":"lists:sort"
"name":"Enum.sort/1"
"code.function.name","value":{"stringValue":"'Elixir.Enum':sort"
EOF
words() { grep -o '[^ ]*sort[^ ]*' | sort; }
tables() {
    elixir replay -t count,by=function | words
    elixir replay -t time | words
    elixir replay -p Enum._ --kind=count | words
    elixir info | words
    elixir dump | words
}
expect 'tables, info and dump' tables <<'EOF'
:lists.sort/1
Enum.sort/1
:lists.sort/1
Enum.sort/1
Enum.sort/1
:lists.sort/1
Enum.sort/1
{trace_ts,<0.9.0>,call,{Enum,sort,[[3,1,2]]},1000}.
{trace_ts,<0.9.0>,call,{lists,sort,[[3,1,2]]},2000}.
{trace_ts,<0.9.0>,return_from,{Enum,sort,1},[1,2,3],4000}.
{trace_ts,<0.9.0>,return_from,{lists,sort,1},[1,2,3],3000}.
EOF
page() { elixir report -o page.html >/dev/null 2>&1 && sed -n 's/^"\(Enum\|:lists\|MyApp\)/&/p; s/.*"name":"\(MyApp[^"]*\)".*/\1/p' page.html; }
expect 'report' page <<'EOF'
MyApp.Repo
"Enum.sort/1",
"MyApp.Cart.valid?/1",
"MyApp.Cart.\"-add/2-fun-0-\"/0",
":lists.sort/1"],
EOF

# same COMMAND ARGUMENT...: succeeds if the output does not depend on --names.
same() { elixir "$@" >one 2>&1 && "$tracehost" "$@" shop.jsonl >other 2>&1 && [ -s one ] && cmp one other; }
for tracer in jsonl count,format=json count,format=csv time,format=json time,format=csv coverage; do
    expect "$tracer keeps the names of Erlang" same replay -t $tracer </dev/null
done
port() { elixir replay -t trace_port,output=port.trace && "$tracehost" dump port.trace | grep -o '{[^{]*,sort,1}'; }
expect 'trace_port keeps the names of Erlang' port <<'EOF'
{lists,sort,1}
{'Elixir.Enum',sort,1}
EOF
expect 'info as JSON keeps the names of Erlang' same info --format=json </dev/null
expect 'counts as JSON keep the names of Erlang' same replay --format=json -p Enum.sort --kind=count </dev/null
expect 'dump as JSON lines keeps the names of Erlang' same dump --format=jsonl </dev/null

# The colour of a function in the page is that of its module.
if command -v node >/dev/null; then
    modules() {
        { sed -n '/^function moduleOf/,/^}/p' page.html && cat names.js; } | node -
    }
    cat >names.js <<'EOF'
for (const name of ['lists:sort/1', "'odd\\':m':'f:1'/1", "m:'M.f'/1", 'Enum.sort/1', 'A.B."x.y:z"/1', ':lists.sort/1',
  ':"odd\\".m".f/1', 'Kernel.+/2', 'nothing'])
  console.log(moduleOf(name));
EOF
    expect 'the page knows the modules of functions' modules <<'EOF'
lists
'odd\':m'
m
Enum
A.B
:lists
:"odd\".m"
Kernel
nothing
EOF
fi

finish
