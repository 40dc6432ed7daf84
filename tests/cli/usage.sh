#!/bin/sh
# Tests wrong command lines.
. tests/cli/lib/assertions.sh

no_command() {
    "$tracehost" >"$work/out" 2>"$work/err"
    echo "status $?"
    "$tracehost" --help | cmp - "$work/err"
    cat "$work/out"
}
expect 'without a command, the help is printed on stderr' no_command <<'EOF'
status 2
EOF
expect 'an unknown command gets a suggestion' "$tracehost" reply calls.trace <<'EOF'
-- stderr
tracehost: there is no command 'reply'; did you mean 'replay'?
-- status 2
EOF
expect 'help for an unknown command gets a suggestion' "$tracehost" help reply <<'EOF'
-- stderr
tracehost: there is no command 'reply'; did you mean 'replay'?
-- status 2
EOF
expect 'help for an unknown command may suggest a command of ctl' "$tracehost" help atach <<'EOF'
-- stderr
tracehost: there is no command 'atach'; did you mean 'attach', a command of 'tracehost ctl'?
-- status 2
EOF
expect 'an unknown option of the program gets a suggestion' "$tracehost" --versoin <<'EOF'
-- stderr
tracehost: there is no option '--versoin'; did you mean '--version'?
-- status 2
EOF
expect 'a misspelt help gets a suggestion' "$tracehost" hlep <<'EOF'
-- stderr
tracehost: there is no command 'hlep'; did you mean 'help'?
-- status 2
EOF
expect 'an unknown command without similar commands gets no suggestion' "$tracehost" xyzzy <<'EOF'
-- stderr
tracehost: there is no command 'xyzzy'; see 'tracehost --help'
-- status 2
EOF
expect 'an unknown option of a command gets a suggestion' "$tracehost" replay --maxevents=3 stream <<'EOF'
-- stderr
tracehost replay: unrecognized option '--maxevents=3'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
tracehost replay: did you mean '--max-events'?
-- status 2
EOF
expect 'an unknown flag gets a suggestion' "$tracehost" run --flags=cal json 1. <<'EOF'
-- stderr
tracehost run: there is no trace flag 'cal'; did you mean 'call'?
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
for command in replay report dump convert info tracers plugins probes match call new run ctl; do
    "$tracehost" $command --help >"$work/long"
    expect "$command -h prints the text of $command --help" "$tracehost" $command -h <"$work/long"
done

expect 'an unknown --help of a command is refused' "$tracehost" replay --help=foo <<'EOF'
-- stderr
tracehost replay: --help must be all, not 'foo'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'an unknown --help of the program is refused' "$tracehost" --help=foo <<'EOF'
-- stderr
tracehost: --help must be all, not 'foo'
-- status 2
EOF
expect 'an empty --help of the program is refused' "$tracehost" --help= <<'EOF'
-- stderr
tracehost: --help must be all, not ''
-- status 2
EOF
expect 'an abbreviated value for --help of the program is refused' "$tracehost" --help=al dump <<'EOF'
-- stderr
tracehost: --help must be all, not 'al'
-- status 2
EOF
expect 'an option of a command before the command is refused' "$tracehost" --stats replay <<'EOF'
-- stderr
tracehost: there is no option '--stats'; see 'tracehost --help'
-- status 2
EOF
expect 'an unknown option without similar options is refused' "$tracehost" dump --colour x <<'EOF'
-- stderr
tracehost dump: unrecognized option '--colour'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'a --from after --to is refused' "$tracehost" replay --from=5 --to=1 x <<'EOF'
-- stderr
tracehost replay: --from is after --to: no event is between them
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'an option without its value is refused' "$tracehost" replay --from <<'EOF'
-- stderr
tracehost replay: option '--from' requires an argument
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'a value for an option without values is refused' "$tracehost" replay --stats=all x <<'EOF'
-- stderr
tracehost replay: option '--stats' doesn't allow an argument
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'dump without a stream is refused' "$tracehost" dump <<'EOF'
-- stderr
tracehost dump: argument STREAM is missing
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'dump in an unknown format is refused' "$tracehost" dump --format=xml a <<'EOF'
-- stderr
tracehost dump: --format must be term, jsonl, csv, table or jsonl-flat, not 'xml'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF
expect 'info without a stream is refused' "$tracehost" info <<'EOF'
-- stderr
tracehost info: argument STREAM is missing
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'info in an unknown format is refused' "$tracehost" info --format=yaml a <<'EOF'
-- stderr
tracehost info: --format must be text or json, not 'yaml'
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'info with a --top that is not a number is refused' "$tracehost" info --top=many a <<'EOF'
-- stderr
tracehost info: --top must be a number, not 'many'
Try `tracehost info --help' or `tracehost info --usage' for more information.
-- status 2
EOF
expect 'convert without an output is refused' "$tracehost" convert a <<'EOF'
-- stderr
tracehost convert: arguments IN and OUT are needed
Try `tracehost convert --help' or `tracehost convert --usage' for more
information.
-- status 2
EOF
expect 'convert to two outputs is refused' "$tracehost" convert a b c <<'EOF'
-- stderr
tracehost convert: unexpected argument 'c': only IN and OUT can be given
Try `tracehost convert --help' or `tracehost convert --usage' for more
information.
-- status 2
EOF
expect 'convert to a name without a known suffix is refused' "$tracehost" convert a.trace out <<'EOF'
-- stderr
tracehost convert: the output's format is not known from the name 'out': give --to=jsonl or --to=trace
-- status 2
EOF
expect 'convert to an unknown format is refused' "$tracehost" convert --to=xml a.trace out.jsonl <<'EOF'
-- stderr
tracehost convert: there is no format 'xml': the formats are jsonl and trace, plain or with .gz or .zst behind
-- status 2
EOF
expect 'tracehost tracers with two names is refused' "$tracehost" tracers text count <<'EOF'
-- stderr
tracehost tracers: unexpected argument 'count': only one NAME can be given
Try `tracehost tracers --help' or `tracehost tracers --usage' for more
information.
-- status 2
EOF
expect 'an unknown --color is refused' "$tracehost" replay --color=sometimes a <<'EOF'
-- stderr
tracehost replay: --color must be always, never or auto, not 'sometimes'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

finish
