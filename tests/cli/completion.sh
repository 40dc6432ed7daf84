#!/bin/sh
# Tests the completion of command lines in bash.
# Long because: it holds whole outputs.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

SCRIPT=$BUILD_DIR/share/bash-completion/completions/tracehost
TRACEHOST=$tracehost
PROGRAM=$tracehost
export SCRIPT TRACEHOST PROGRAM
completed=$PWD/tests/cli/lib/complete.sh

mkdir -p "$work/here/folder" "$work/here/empty" "$work/here/lib"
touch "$work/here/fine.trace" "$work/here/final.c" "$work/here/folder/file.jsonl" "$work/here/two words"
cp "$BUILD_DIR/lib/tracehost/plugins/fib.so" "$work/here/lib/mine.so"
cp "$BUILD_DIR/lib/tracehost/tracers/msg.so" "$work/here/lib/ours.so"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/here/a_socket"

# completions LINE...: prints the completions of each LINE in a folder with files.
completions() (
    cd "$work/here" || exit
    "$completed" "$@"
)

commands=$("$tracehost" --help | sed -n 's|^  \([a-z]*\)   *[^ ].*|\1|p')
sorted() { LC_ALL=C sort | sed 's/^/    /'; }

expect 'commands are completed' completions 'tracehost ' 'tracehost r' 'tracehost help m' 'tracehost --v' <<EOF
tracehost  =>
$({ echo "$commands" && printf '%s\n' help --help -h --version -V; } | sorted)
tracehost r =>
$(echo "$commands" | grep '^r' | sorted)
tracehost help m =>
$(echo "$commands" | grep '^m' | sorted)
tracehost --v =>
    --version
EOF

# Each option of the help, with its ending: --name, --name= or both. Nothing else.
options() { # COMMAND
    "$tracehost" "$1" --help=all | grep -E '^( {2}-.| {6}--)' | sed 's/\([^ ]\)  .*/\1/' | awk '
        {
            count = split($0, forms, ", ")
            for (i = 1; i <= count; i++) {
                form = forms[i]
                sub(/^ +/, "", form)
                if (form !~ /^--/) { print substr(form, 1, 2); continue }
                sub(/ .*/, "", form)
                name = form
                sub(/[[=].*/, "", name)
                if (form !~ /[^[]=/) print name
                if (form ~ /=/) print name "="
            }
        }' | sed 's/-?/-\\?/'
}
completed_options() { completions "tracehost $1 -" | sed 1d; }
for command in $commands; do
    expect "the completed options of $command are the options of its help" completed_options "$command" <<EOF
$(options "$command" | sorted)
EOF
done

if [ -z "$slow" ]; then
    expect 'each option accepts the values of its help and no others' tests/cli/lib/compare_manual.py choices "$tracehost" </dev/null
else
    skip 'each option accepts the values of its help and no others' 'this build takes minutes for all values'
fi

expect 'options are completed' completions 'tracehost dump -' \
    'tracehost dump --f' \
    'tracehost replay --re' \
    'tracehost replay --top' \
    'tracehost dump -- -' \
    'tracehost dump x --r' \
    'tracehost ctl a_socket -' \
    'tracehost --stats ' \
    'tracehost nothing -' <<'EOF'
tracehost dump - => ( nospace )
    --allow-partial
    --caller
    --caller-line
    --cookie-file=
    --cookie=
    --encoding=
    --exception
    --explain
    --flags=
    --for=
    --format=
    --help
    --help=
    --load
    --match-spec=
    --max-bytes=
    --max-events=
    --max-memory=
    --max-rate=
    --max-records=
    --names=
    --no-load
    --output=
    --pattern=
    --ports=
    --processes=
    --progress=
    --reconnect
    --reconnect=
    --return
    --sample=
    --scheduler-id
    --usage
    --version
    --via=
    -V
    -\?
    -o
    -p
tracehost dump --f => ( nospace )
    --flags=
    --for=
    --format=
tracehost replay --re => ( nospace )
    --reconnect
    --reconnect=
    --recorded-callers
    --resume=
    --return
tracehost replay --top => ( nospace )
    --top
    --top=
tracehost dump -- - => ( filenames )
tracehost dump x --r => ( nospace )
    --reconnect
    --reconnect=
    --return
tracehost ctl a_socket - =>
tracehost --stats  =>
tracehost nothing - =>
EOF

expect 'values of options are completed' completions 'tracehost dump --format=' \
    'tracehost dump --format js' \
    'tracehost dump --form js' \
    'tracehost info --format=t' \
    'tracehost replay --color=' \
    'tracehost replay --clock ' \
    'tracehost run -p m:f --match-spec=' \
    'tracehost match --kind=s' \
    'tracehost convert --to=' \
    'tracehost dump --max-events=' \
    'tracehost dump --nothing=' \
    'tracehost dump --scheduler-id=' <<'EOF'
tracehost dump --format= =>
    csv
    jsonl
    jsonl-flat
    table
    term
tracehost dump --format js =>
    jsonl
    jsonl-flat
tracehost dump --form js =>
    jsonl
    jsonl-flat
tracehost info --format=t =>
    text
tracehost replay --color= =>
    always
    auto
    never
tracehost replay --clock  =>
    recorded
    wall
tracehost run -p m:f --match-spec= =>
    c
    cx
    false
    r
    true
    x
tracehost match --kind=s =>
    send
tracehost convert --to= =>
    jsonl
    jsonl.gz
    jsonl.zst
    trace
    trace.gz
    trace.zst
tracehost dump --max-events= =>
tracehost dump --nothing= =>
tracehost dump --scheduler-id= =>
EOF

expect 'lists of values are completed' completions 'tracehost replay --flags=se' \
    'tracehost replay --flags=send,re' \
    'tracehost replay --flags=send,receive,send' \
    'tracehost replay --processes=all,' \
    'tracehost replay -p m:f --kind=count,' \
    'tracehost run -p m:f --kind=m' \
    'tracehost replay -p m:f --kind=mem' <<'EOF'
tracehost replay --flags=se =>
    send
    set_on_first_link
    set_on_first_spawn
    set_on_link
    set_on_spawn
tracehost replay --flags=send,re =>
    send,receive
    send,return_to
tracehost replay --flags=send,receive,send =>
tracehost replay --processes=all, =>
    all,existing
    all,new
tracehost replay -p m:f --kind=count, =>
    count,global
    count,local
    count,meta
    count,time
tracehost run -p m:f --kind=m =>
    memory
    meta
tracehost replay -p m:f --kind=mem =>
EOF

expect 'names and settings of tracers are completed' completions 'tracehost replay -t c' \
    'tracehost replay -tc' \
    'tracehost replay --tracer=c' \
    'tracehost replay --tracer c' \
    'tracehost run --meta-tracer=t' \
    'tracehost replay -L lib -t ou' \
    'tracehost replay -Llib -t ou' \
    'tracehost tracers -L lib ou' \
    'tracehost replay -t ./l' \
    'tracehost replay -t lib/' \
    'tracehost replay -t msg=' \
    'tracehost replay -t msg,output=fi' \
    'tracehost replay -t text,color=never,output=fi' \
    'tracehost replay -t text,' <<'EOF'
tracehost replay -t c =>
    chrome
    count
    coverage
tracehost replay -tc =>
    -tchrome
    -tcount
    -tcoverage
tracehost replay --tracer=c =>
    chrome
    count
    coverage
tracehost replay --tracer c =>
    chrome
    count
    coverage
tracehost run --meta-tracer=t =>
    text
    time
    trace_port
    tree
tracehost replay -L lib -t ou =>
    ours
tracehost replay -Llib -t ou =>
    ours
tracehost tracers -L lib ou =>
    ours
tracehost replay -t ./l => ( filenames )
    ./lib
tracehost replay -t lib/ => ( filenames )
    lib/mine.so
    lib/ours.so
tracehost replay -t msg= =>
    console
tracehost replay -t msg,output=fi => ( filenames )
    final.c
    fine.trace
tracehost replay -t text,color=never,output=fi => ( filenames )
    final.c
    fine.trace
tracehost replay -t text, => ( nospace )
    text,args=
    text,color=
    text,names=
    text,output=
    text,time=
EOF

expect 'names of plugins are completed' completions 'tracehost plugins fi' \
    'tracehost plugins fib ' \
    'tracehost run -L lib m' \
    'tracehost call fib lib/' \
    'tracehost run -f fi' \
    'tracehost probes us' <<'EOF'
tracehost plugins fi => ( filenames )
    fib
    files
    final.c
    fine.trace
tracehost plugins fib  =>
tracehost run -L lib m => ( filenames )
    mine
tracehost call fib lib/ => ( filenames )
    lib/mine.so
    lib/ours.so
tracehost run -f fi => ( filenames )
    final.c
    fine.trace
tracehost probes us => ( filenames )
    usdt
EOF

expect 'patterns are completed' completions 'tracehost run -p fi' \
    'tracehost run -p fib:' \
    'tracehost run -p fib:f' \
    'tracehost run -p fib:_' \
    'tracehost run --pattern=fib:d' \
    'tracehost run --pattern fib:d' \
    'tracehost run -p '"'"'fib:d' \
    'tracehost run -p "fib:d' \
    'tracehost run lib/mine.so -p mi' \
    'tracehost run lib/mine.so -p mine:q' \
    'tracehost run lib/mine.so -p fib:q' \
    'tracehost run -L lib -p mine:q' \
    'tracehost run fib -p fib:q' \
    'tracehost run -p nothing:' \
    'tracehost run -p s' \
    'tracehost replay -p r' \
    'tracehost replay -p fib:' \
    'tracehost run --probe=message' <<'EOF'
tracehost run -p fi => ( nospace )
    fib:
    files:
tracehost run -p fib: =>
    _/_
    depth/1
    down/1
    fib/1
    loop/3
    quick/1
tracehost run -p fib:f =>
    fib/1
tracehost run -p fib:_ =>
    _/_
tracehost run --pattern=fib:d =>
    depth/1
    down/1
tracehost run --pattern fib:d =>
    depth/1
    down/1
tracehost run -p 'fib:d =>
    fib:depth/1
    fib:down/1
tracehost run -p "fib:d =>
    fib:depth/1
    fib:down/1
tracehost run lib/mine.so -p mi => ( nospace )
    mine:
tracehost run lib/mine.so -p mine:q =>
tracehost run lib/mine.so -p fib:q =>
    quick/1
tracehost run -L lib -p mine:q =>
tracehost run fib -p fib:q =>
    quick/1
tracehost run -p nothing: =>
tracehost run -p s => ( nospace )
    send
    spec_example:
tracehost replay -p r =>
    receive
tracehost replay -p fib: =>
tracehost run --probe=message =>
    message__queued
    message__receive
    message__send
    message__send__remote
EOF

expect 'names of files are completed' completions 'tracehost info fi' \
    'tracehost info fine.trace fi' \
    'tracehost convert fi' \
    'tracehost convert fine.trace fi' \
    'tracehost convert a b fi' \
    'tracehost replay fine.trace fi' \
    'tracehost replay folder/' \
    'tracehost dump -o fi' \
    'tracehost dump -ofi' \
    'tracehost dump --output=fi' \
    'tracehost dump --output fi' \
    'tracehost replay -L f' \
    'tracehost info >fi' \
    'tracehost info a 2>fi' \
    'tracehost info <fi a fi' \
    'tracehost info "two' \
    'tracehost info two\ ' \
    'tracehost run --control=a' \
    'tracehost ctl ' \
    'tracehost ctl f' <<'EOF'
tracehost info fi => ( filenames )
    final.c
    fine.trace
tracehost info fine.trace fi => ( filenames )
    final.c
    fine.trace
tracehost convert fi => ( filenames )
    final.c
    fine.trace
tracehost convert fine.trace fi => ( filenames )
    final.c
    fine.trace
tracehost convert a b fi =>
tracehost replay fine.trace fi => ( filenames )
    final.c
    fine.trace
tracehost replay folder/ => ( filenames )
    folder/file.jsonl
tracehost dump -o fi => ( filenames )
    final.c
    fine.trace
tracehost dump -ofi => ( filenames )
    -ofinal.c
    -ofine.trace
tracehost dump --output=fi => ( filenames )
    final.c
    fine.trace
tracehost dump --output fi => ( filenames )
    final.c
    fine.trace
tracehost replay -L f => ( filenames )
    folder
tracehost info >fi => ( filenames )
    final.c
    fine.trace
tracehost info a 2>fi => ( filenames )
    final.c
    fine.trace
tracehost info <fi a fi => ( filenames )
    final.c
    fine.trace
tracehost info "two => ( filenames )
    two words
tracehost info two\  => ( filenames )
    two words
tracehost run --control=a => ( filenames )
    a_socket
tracehost ctl  => ( filenames )
    a_socket
    empty
    folder
    lib
tracehost ctl f => ( filenames )
    folder
EOF

# --- ctl

a_bank
ctl_completions() {
    for line; do
        completions "tracehost ctl $socket $line"
    done
}
ctl attach count >/dev/null
expect 'ctl completes commands and arguments with the names of the host' ctl_completions 'a' 'attach co' 'attach --f' 'attach count --flags=call,se' 'pattern bank:o' \
    'pattern "bank:o' 'attach count -p bank:a' 'detach ' 'nothing ' <<'EOF'
tracehost ctl WORK/socket a =>
    attach
tracehost ctl WORK/socket attach co =>
    count
    coverage
tracehost ctl WORK/socket attach --f => ( nospace )
    --flags=
tracehost ctl WORK/socket attach count --flags=call,se =>
    call,send
    call,set_on_first_link
    call,set_on_first_spawn
    call,set_on_link
    call,set_on_spawn
tracehost ctl WORK/socket pattern bank:o =>
    open/2
tracehost ctl WORK/socket pattern "bank:o =>
    bank:open/2
tracehost ctl WORK/socket attach count -p bank:a =>
    account/3
    audit/0
tracehost ctl WORK/socket detach  =>
    1
    count
tracehost ctl WORK/socket nothing  =>
EOF
expect 'ctl completes settings of tracers' ctl_completions 'attach count,' 'attach count,top=1,f' 'attach count,top=1,format=' \
    "attach $tracers/declaring.so,le" 'attach nobody,' 'attach count -p bank:open/2 --meta-tracer=text,time=d' 'replace count count,b' <<'EOF'
tracehost ctl WORK/socket attach count, => ( nospace )
    count,by=
    count,color=
    count,format=
    count,output=
    count,top=
tracehost ctl WORK/socket attach count,top=1,f => ( nospace )
    1,format=
tracehost ctl WORK/socket attach count,top=1,format= =>
    csv
    json
    table
tracehost ctl WORK/socket attach BUILD/tests/tracers/declaring.so,le => ( nospace )
    BUILD/tests/tracers/declaring.so,level=
tracehost ctl WORK/socket attach nobody, =>
tracehost ctl WORK/socket attach count -p bank:open/2 --meta-tracer=text,time=d =>
    delta
tracehost ctl WORK/socket replace count count,b => ( nospace )
    count,by=
EOF
end >/dev/null
expect 'ctl completes nothing if there is no host' ctl_completions 'a' 'attach co' <<'EOF'
tracehost ctl WORK/socket a =>
tracehost ctl WORK/socket attach co =>
EOF

# --- cursor, word breaks, shells

expect 'a word is completed at a cursor inside the line' env CURSOR=20 "$completed" 'tracehost dump --forx --format=jsonl' <<'EOF'
tracehost dump --forx --format=jsonl => ( nospace )
    --for=
    --format=
EOF

# If : and = are no word breaks, the shell replaces the whole word.
expect 'the whole word is inserted if : and = break no words' env BREAKS=' ' "$completed" 'tracehost run -p fib:f' 'tracehost replay --flags=send,re' 'tracehost dump --output=READ' <<'EOF'
tracehost run -p fib:f =>
    fib:fib/1
tracehost replay --flags=send,re =>
    --flags=send,receive
    --flags=send,return_to
tracehost dump --output=READ => ( filenames )
    --output=README.md
EOF

# The value of a setting begins after its first =, and may contain any characters.
mkdir "$work/signs"
touch "$work/signs/on=fine.trace"
signs() {
    (cd "$work/signs" && BREAKS=' ' "$completed" 'tracehost replay -t msg,output=on=f')
}
expect 'a path that contains = is completed' signs <<'EOF'
tracehost replay -t msg,output=on=f => ( filenames )
    msg,output=on=fine.trace
EOF

PROGRAM=$work/nothing expect 'nothing is completed if the program is missing' completions 'tracehost ' <<'EOF'
tracehost  =>
EOF

# A shell at a terminal: echo shows the completed line.
printf '. "%s"\nPS1="$ "\nPATH="%s:$PATH"\n' "$SCRIPT" "$BUILD_DIR/bin" >"$work/rc"
typed() {
    (
        typed=$PWD/tests/cli/lib/type_at_terminal.py
        cd "$work/here" || exit
        TERM=dumb "$typed" '' "$1\\001echo \\nexit\\n" bash --noprofile --rcfile "$work/rc" -i
    ) | tr -d '\r' | grep '^tracehost' | tail -n 1
}
at_terminal 'an interactive shell completes commands, options and files' typed 'tracehost du\011--form\011te\011fine\011' <<'EOF'
tracehost dump --format=term fine.trace
EOF
at_terminal 'an interactive shell completes words with colons and quotes' typed "tracehost run -p fib:q\\011 -p 'fib:q\\011 fib" <<'EOF'
tracehost run -p fib:quick/1 -p fib:quick/1 fib
EOF

# The package bash-completion loads the script by the name of the command when the command is first completed.
lazily() {
    bash --norc -c '. /usr/share/bash-completion/bash_completion && _completion_loader tracehost
        complete -p tracehost' 2>&1
}
if [ -e /usr/share/bash-completion/bash_completion ]; then
    XDG_DATA_DIRS=$BUILD_DIR/share expect 'bash-completion loads the script on demand' lazily <<'EOF'
complete -F _tracehost tracehost
EOF
else
    skip 'bash-completion loads the script on demand' 'it is not installed'
fi
finish
