#!/bin/sh
# Tests jiffy, as Debian ships it: it decodes and encodes 1000 documents, called by another library through the host.
# The host counts as many calls as that library, and so does the tracer `count` under global trace.
. tests/cli/lib/assertions.sh

root=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
jiffy=$(ls "${root:-/usr/lib/erlang}"/lib/jiffy-*/priv/jiffy.so 2>/dev/null)
[ -n "$jiffy" ] || { echo 'no jiffy.so (Debian: erlang-jiffy)'; exit 77; }

for name in counted documents; do
    $CC -Wall -Wextra -Werror -O2 -DERL_NIF_MINOR_VERSION=16 -I plugin_api -fPIC -shared -o "$work/$name.so" \
        "tests/debian/$name.c" || exit 1
done

# counted COMMAND...: prints the output, then the number of calls of each function of jiffy.
counted() {
    COUNTED_LIBRARY=$jiffy COUNTED_OUTPUT=$work/counts "$tracehost" "$@" && cat "$work/counts"
}
expect 'jiffy decodes and encodes 1000 documents' counted call "$work/counted.so" "$work/documents.so" 'documents:round_trips(1000).' <<'LINES'
{3000,1000}
2000 jiffy:nif_decode_init/2
0 jiffy:nif_decode_iter/5
1000 jiffy:nif_encode_init/2
0 jiffy:nif_encode_iter/3
LINES

expect 'count gets each call of jiffy' "$tracehost" run -t count -p jiffy:_/_ "$jiffy" "$work/documents.so" \
    'documents:round_trips(1000)' <<'LINES'
      events       %  tag
        3000  100.00  call
        3000  100.00  all

       calls       %  function
        2000   66.67  jiffy:nif_decode_init/2
        1000   33.33  jiffy:nif_encode_init/2
{3000,1000}
LINES

# Debian compiles it without room for breakpoints in its code.
expect 'a pattern for local calls of jiffy is refused' "$tracehost" run -p jiffy:nif_encode_init/2 --kind=local "$jiffy" \
    'jiffy:nif_encode_init([], [])' <<'LINES'
-- stderr
tracehost run: cannot set -p jiffy:nif_encode_init/2
  no function can have a breakpoint for local calls: trace calls from other modules with a global pattern
  jiffy:nif_encode_init/2: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
-- status 2
LINES
expect 'calls of jiffy from outside are traced' "$tracehost" run -p jiffy:nif_encode_init/2 --return "$jiffy" \
    'jiffy:nif_encode_init([], [])' <<'LINES'
<0.1.4096> call jiffy:nif_encode_init([],[])
<0.1.4096> return jiffy:nif_encode_init/2 -> [<<"[]">>]
[<<"[]">>]
LINES

finish
