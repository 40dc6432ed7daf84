#!/bin/sh
# Tests the plugin `files`: the same results as its twin in Erlang, in a folder of their own; in a real BEAM; and the
# probes of a rename, line by line as in OTP's document.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

mkdir "$work/top" "$work/top/folder"
ln -s "$PWD/tests" "$PWD/plugins" "$work/top"
cd "$work/top" || exit 1
answers files none

# Numbers differ from run to run; the first and the last line have the tag, as in the probes.
numberless() {
    "$@" 2>&1 | sed -e 's/{[0-9]*,[0-9]*}/{N,N}/' -e 's/#Port<0\.[0-9]*>/#Port<0.N>/'
}
expect 'a failed rename fires the four probes of a file operation' numberless "$tracehost" run --flags=send --probe 'efile_drv__*' files \
    'files:put_tag(<<"some-user-tag">>), files:rename("old-name", "new-name").' <<'LINES'
efile_drv enter tag={N,N} user tag some-user-tag | RENAME (12) | args: old-name new-name , 0 0 (port #Port<0.N>)
async I/O worker tag={N,N} | RENAME (12) | efile_drv-int_entry
async I/O worker tag={N,N} | RENAME (12) | efile_drv-int_return
efile_drv return tag={N,N} user tag some-user-tag | RENAME (12) | errno 2
{error,enoent}
LINES

# The four probes of an operation have one tag, and each operation has its own.
tags() {
    "$tracehost" run --flags=send --probe 'efile_drv__*' files \
        'files:write("a", "b"), files:read("a"), files:delete("a").' 2>&1 |
        sed -n 's/.* tag={\([0-9]*,[0-9]*\)} .*| \([A-Z_]* ([0-9]*)\).*/\2 \1/p' | sort | uniq -c | sed 's/[0-9]*,[0-9]*$/N/'
}
expect 'each file operation has its own tag' tags <<'LINES'
      4 CLOSE (23) N
      4 DELETE (11) N
      4 OPEN (1) N
      4 READ_FILE (15) N
      4 WRITE (4) N
LINES

# --async-threads is obeyed, and its range is checked.
expect 'one I/O thread executes all file operations' "$tracehost" run --flags=send --async-threads=1 files \
    'files:write("a", "b"), files:copy("a", "c"), {files:read("c"), files:delete("a"), files:delete("c")}.' <<'LINES'
{{ok,<<"b">>},ok,ok}
-- stderr
tracehost run: warning: tracer 'text': no event matches --flags=send
LINES
for count in 0 1025 -1 x; do
    check "--async-threads=$count is refused" sh -c "'$tracehost' run --async-threads=$count files 'files:get_tag().' 2>&1 | grep -e '--async-threads' && ! '$tracehost' run --async-threads=$count files 'files:get_tag().' 2>/dev/null"
done

# An operation that hangs in an I/O thread is named when the run ends.
mkfifo pipe
expect 'a file operation that hangs is reported at the end' "$tracehost" run --flags=send --duration=1s --grace=1s files 'files:read("pipe").' <<'LINES'
-- stderr
tracehost run: stopped after 1 s (--duration)
tracehost run: file operation READ_FILE has not returned after 1 s; the program ends without it
-- status 6
LINES

# Calls on a host that lacks these operations.
cat >all.calls <<'LINES'
[files:rename(a, b), files:write(a, b), files:read(a), files:list(a), files:delete(a), files:copy(a, b)].
[files:put_tag(a), files:get_tag()].
LINES
if [ -n "$sanitized" ] || ! command -v escript >/dev/null; then
    skip 'in a BEAM the functions return not_supported' 'there is none, or there are sanitizers'
else
    not_supported='{error,not_supported}'
    expect 'in a BEAM the functions return not_supported' escript tests/shipped/calls.escript plugins/files/files.erl "$plugins/files" "$PWD/all.calls" <<LINES
[$not_supported,$not_supported,$not_supported,$not_supported,$not_supported,$not_supported]
[$not_supported,$not_supported]
LINES
fi

finish
