#!/bin/sh
# Tests wrong command lines.
. tests/cli/lib/assertions.sh

no_command() {
    "$tracehost" >"$work/out" 2>"$work/err"
    echo "status $?"
    "$tracehost" --help | cmp - "$work/err"
    cat "$work/out"
}
expect 'no command: the help, on stderr' no_command <<'EOF'
status 2
EOF
expect 'a command that there is not' "$tracehost" reply calls.trace <<'EOF'
-- stderr
tracehost: there is no command 'reply'; did you mean 'replay'?
-- status 2
EOF
expect 'help for a command that there is not' "$tracehost" help reply <<'EOF'
-- stderr
tracehost: there is no command 'reply'; did you mean 'replay'?
-- status 2
EOF
expect 'help for a command of ctl' "$tracehost" help atach <<'EOF'
-- stderr
tracehost: there is no command 'atach'; did you mean 'attach', a command of 'tracehost ctl'?
-- status 2
EOF
expect 'an option of the program itself' "$tracehost" --versoin <<'EOF'
-- stderr
tracehost: there is no option '--versoin'; did you mean '--version'?
-- status 2
EOF
expect 'a word of the program itself' "$tracehost" hlep <<'EOF'
-- stderr
tracehost: there is no command 'hlep'; did you mean 'help'?
-- status 2
EOF
expect 'nothing like it' "$tracehost" xyzzy <<'EOF'
-- stderr
tracehost: there is no command 'xyzzy'; see 'tracehost --help'
-- status 2
EOF
expect 'an option that is like another' "$tracehost" replay --maxevents=3 stream <<'EOF'
-- stderr
tracehost replay: unrecognized option '--maxevents=3'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
tracehost replay: did you mean '--max-events'?
-- status 2
EOF
expect 'a flag that is like another' "$tracehost" run --flags=cal json 1. <<'EOF'
-- stderr
tracehost run: there is no trace flag 'cal'; did you mean 'call'?
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
for command in replay report dump convert info tracers plugins probes match call run ctl; do
    "$tracehost" $command --help >"$work/long"
    expect "$command -h is $command --help" "$tracehost" $command -h <"$work/long"
done

expect 'help of a kind that there is not' "$tracehost" replay --help=foo <<'EOF'
-- stderr
tracehost replay: --help must be all, not 'foo'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'help of the program of such a kind' "$tracehost" --help=foo <<'EOF'
-- stderr
tracehost: --help must be all, not 'foo'
-- status 2
EOF
expect 'an option in place of a command' "$tracehost" --stats replay <<'EOF'
-- stderr
tracehost: there is no option '--stats'; see 'tracehost --help'
-- status 2
EOF
expect 'an option that there is not' "$tracehost" dump --colour x <<'EOF'
-- stderr
tracehost dump: unrecognized option '--colour'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'times between which nothing is' "$tracehost" replay --from=5 --to=1 x <<'EOF'
-- stderr
tracehost replay: --from is after --to: no event is between them
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'an option without its value' "$tracehost" replay --from <<'EOF'
-- stderr
tracehost replay: option '--from' requires an argument
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'a value that an option does not have' "$tracehost" replay --stats=all x <<'EOF'
-- stderr
tracehost replay: option '--stats' doesn't allow an argument
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'dump of nothing' "$tracehost" dump <<'EOF'
-- stderr
tracehost dump: argument STREAM is missing
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'dump of two' "$tracehost" dump a b <<'EOF'
-- stderr
tracehost dump: unexpected argument 'b': only one STREAM can be given
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'dump in an unknown format' "$tracehost" dump --format=xml a <<'EOF'
-- stderr
tracehost dump: --format must be term or jsonl, not 'xml'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'info of nothing' "$tracehost" info <<'EOF'
-- stderr
tracehost info: argument STREAM is missing
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'info of two' "$tracehost" info a b <<'EOF'
-- stderr
tracehost info: unexpected argument 'b': only one STREAM can be given
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'info in an unknown format' "$tracehost" info --format=yaml a <<'EOF'
-- stderr
tracehost info: --format must be text or json, not 'yaml'
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'info of the top of what' "$tracehost" info --top=many a <<'EOF'
-- stderr
tracehost info: --top must be a number, not 'many'
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'convert to nothing' "$tracehost" convert a <<'EOF'
-- stderr
tracehost convert: arguments IN and OUT are needed
Try `tracehost convert --help' or `tracehost convert --usage' for more
information.
-- status 2
EOF
expect 'convert to two' "$tracehost" convert a b c <<'EOF'
-- stderr
tracehost convert: unexpected argument 'c': only IN and OUT can be given
Try `tracehost convert --help' or `tracehost convert --usage' for more
information.
-- status 2
EOF
expect 'convert to what the name does not tell' "$tracehost" convert a.trace out <<'EOF'
-- stderr
tracehost convert: the output's format is not known from the name 'out': give --to=jsonl or --to=trace
-- status 2
EOF
expect 'convert to an unknown format' "$tracehost" convert --to=xml a.trace out.jsonl <<'EOF'
-- stderr
tracehost convert: there is no format 'xml': the formats are jsonl and trace
-- status 2
EOF
expect 'two tracers' "$tracehost" tracers text count <<'EOF'
-- stderr
tracehost tracers: unexpected argument 'count': only one NAME can be given
Try `tracehost tracers --help' or `tracehost tracers --usage' for more
information.
-- status 2
EOF
expect 'colours at a time that there is not' "$tracehost" replay --color=sometimes a <<'EOF'
-- stderr
tracehost replay: --color must be always, never or auto, not 'sometimes'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

finish
