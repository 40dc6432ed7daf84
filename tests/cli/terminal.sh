#!/bin/sh
# Tests output to a terminal: progress after one second, on stderr, and colours.
. tests/cli/lib/assertions.sh

has_terminals || {
    echo "$no_terminals"
    exit 77
}

calls=$recordings/s01_seed_local_caller.trace
many=$recordings/s04_genserver_pingpong.trace
terminal=tests/cli/lib/watch_terminal.py
[ -z "${EMULATOR:-}" ] && late=1.2 || late=8 # a program starts slowly in an emulator

# --- progress ---

# figures: shows figures of progress as N, and repeated lines once.
figures() {
    sed 's|[0-9][0-9]*%|N%|g; s|[0-9]* records, [0-9]*\( [kM]\)*/s|N records, N/s|g
        s|\([^\\]*records, N/s\\e\[K\\r\)\1*|\1|'
}
waiting() {
    $terminal $late "$tracehost" dump "$recordings/s22_killed_vm.trace" | grep -v '^{trace' | figures
}
expect 'progress is erased before a message' waiting <<'EOF'
...ecordings/s22_killed_vm.trace: N% of 0.1 MB, N records, N/s\e[K\r\r\e[Ktracehost dump: samples/recordings/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost dump: samples/recordings/s22_killed_vm.trace: recovered 1156 records
EOF

# slow COMMAND...: half of the input comes at once, the other after more than a second.
slow() {
    {
        cat "$many"
        sleep 2.5
        cat "$many"
    } | "$@"
}
unprinted() {
    slow $terminal both "$tracehost" replay -t count,top=1 - | figures
}
expect 'progress of a pipe is shown until tracers print' unprinted <<'EOF'
stdin: 0.1 MB, N records, N/s\e[K\r\r\e[K      events       %  tag
         874   60.78  call
         212   14.74  return_from
         172   11.96  receive
         168   11.68  send
           2    0.14  exit
           2    0.14  getting_linked
           2    0.14  getting_unlinked
           2    0.14  link
           2    0.14  spawn
           2    0.14  spawned
        1438  100.00  all

       calls       %  function
          82    9.38  gen_server:decode_msg/9
         792   90.62  29 more
EOF
printed() {
    slow $terminal both "$tracehost" replay -t msg - | grep -c 'records'
}
expect 'no progress is shown once tracers print' printed <<'EOF'
0
-- status 1
EOF
narrow() {
    WIDTH=40 $terminal $late "$tracehost" dump --allow-partial "$recordings/s22_killed_vm.trace" | grep -v '^{trace' |
        sed 's/\\e\[K\\r.*//' | awk '{ print (length($0) < 40 ? "fits" : "does not fit") ": " $0 }' | figures | head -n 1
}
expect 'progress is cut to the width of the terminal' narrow <<'EOF'
fits: N% of 0.1 MB, N records, N/s
EOF
never() {
    $terminal $late "$tracehost" dump --progress=never --allow-partial "$recordings/s22_killed_vm.trace" | grep -c 'records, '
}
expect '--progress=never shows no progress' never <<'EOF'
0
-- status 1
EOF
drawn_on() {
    RAW=1 $terminal $late "$tracehost" dump --allow-partial "$recordings/s22_killed_vm.trace" | grep -c 'records, '
}
expect 'no progress is shown on a terminal in raw mode' drawn_on <<'EOF'
0
-- status 1
EOF
reader_gone() {
    for i in 1 2 3 4 5 6 7 8; do cat "$recordings/s04_genserver_pingpong.trace"; done >"$work/long"
    (cd "$work" && "$OLDPWD/$terminal" gone "$tracehost" dump long | figures)
    echo
}
expect 'progress is erased when the reader of stdout ends' reader_gone <<'EOF'
long: N% of 1.0 MB, N records, N/s\e[K\r\r\e[K
EOF
always() {
    until grep -qs records "$work/told"; do cat "$many"; done | "$tracehost" replay --progress=always -t count - >"$work/counts" 2>"$work/told"
    figures <"$work/told" | sed 's/[0-9.]* MB/N MB/'
}
expect '--progress=always shows progress without a terminal' always <<'EOF'
stdin: N MB, N records, N/s
EOF
expect 'no progress is shown in the first second' $terminal 0 "$tracehost" replay -t count,top=1 "$many" <<'EOF'
      events       %  tag
         437   60.78  call
         106   14.74  return_from
          86   11.96  receive
          84   11.68  send
           1    0.14  exit
           1    0.14  getting_linked
           1    0.14  getting_unlinked
           1    0.14  link
           1    0.14  spawn
           1    0.14  spawned
         719  100.00  all

       calls       %  function
          41    9.38  gen_server:decode_msg/9
         396   90.62  29 more
EOF

# --- colours ---

coloured() {
    $terminal both "$tracehost" replay --max-events=1 "$@" "$calls"
}
expect 'text has colours on a terminal' coloured <<'EOF'
<0.79.0>   \e[32mcall\e[0m ex:foo()\e[2m [result {rec,w,0}]\e[0m
EOF
expect '--color=never removes colours on a terminal' coloured --color=never <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF
without() {
    NO_COLOR=1 coloured "$@"
}
expect 'NO_COLOR removes colours on a terminal' without <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF
expect '--color=always overrides NO_COLOR' without --color=always <<'EOF'
<0.79.0>   \e[32mcall\e[0m ex:foo()\e[2m [result {rec,w,0}]\e[0m
EOF
expect '--color=auto does not override NO_COLOR' without --color=auto <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF
expect 'text has no colours without a terminal' "$tracehost" replay --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF
elsewhere() {
    "$tracehost" replay --max-events=1 --color=always "$calls" | cat -v
}
expect '--color=always adds colours without a terminal' elsewhere <<'EOF'
<0.79.0>   ^[[32mcall^[[0m ex:foo()^[[2m [result {rec,w,0}]^[[0m
EOF

finish
