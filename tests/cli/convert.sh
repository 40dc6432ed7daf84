#!/bin/sh
# Tests that recordings are the same bytes after a conversion to JSON lines and back.
. tests/cli/lib/assertions.sh
[ -z "${EMULATOR:-}" ] || large=

# there_and_back STREAM BYTES
there_and_back() {
    "$tracehost" convert --allow-partial "$1" "$work/stream.jsonl" 2>"$work/stderr" &&
        "$tracehost" convert "$work/stream.jsonl" "$work/stream.trace" &&
        cmp "$work/stream.trace" "$2"
}

# The records recovered from a damaged file are the records before the damage.
recovered() {
    "$tracehost" convert --allow-partial "$1" "$work/recovered.trace" 2>"$work/stderr" &&
        cmp -n "$(wc -c <"$work/recovered.trace")" "$work/recovered.trace" "$1" &&
        there_and_back "$1" "$work/recovered.trace"
}

for trace in "$recordings"/*.trace; do
    name=$(basename "$trace" .trace)
    case $name in
    trunc_* | s22_*) check "convert recovers the records of $name before the damage" recovered "$trace" ;;
    *) check "conversion of $name to JSON lines and back changes no byte" there_and_back "$trace" "$trace" ;;
    esac
done
cat "$recordings"/wrap/w[1-4].log >"$work/wrap"
check 'conversion of a wrap set to JSON lines and back changes no byte' there_and_back "$recordings/wrap/w*.log" "$work/wrap"
for name in l1_compile_compiler_arity l2_mnesia_full l3_sorts_args_return; do
    if [ -e "$large/$name.trace" ]; then
        check "conversion of $name to JSON lines and back changes no byte" there_and_back "$large/$name.trace" "$large/$name.trace"
    else
        skip "conversion of $name to JSON lines and back changes no byte" 'the large recordings are not here, or would take minutes in an emulator'
    fi
done

more_known() {
    cat >"$work/more.jsonl" <<'JSON'
{"tracehost":1,"node":"a@h","creation":1}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}","external":true}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}","tail":false}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}","callers":"[]"}
{"tracee":"<0.50.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}
JSON
    "$tracehost" convert "$work/more.jsonl" "$work/less.trace" &&
        "$tracehost" convert "$work/more.jsonl" "$work/same.jsonl" &&
        cmp "$work/more.jsonl" "$work/same.jsonl" &&
        "$tracehost" convert --to=jsonl "$work/less.trace" -
}
expect 'convert counts calls that lose fields in trace-port format' more_known <<'EOF'
{"tracehost":1,"node":"a@h","creation":1}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.50.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.50.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}
-- stderr
tracehost convert: WORK/more.jsonl: calls written without `external`, `tail` and callers (jsonl keeps them): 3
EOF

finish
