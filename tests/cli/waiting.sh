#!/bin/sh
# Tests patterns for functions that are not loaded yet, and for all future ones.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

# begun PATTERN...: starts a host that calls counter:new/0 as soon as the function is loaded.
begun() {
    begin "$tracehost" run --control="$socket" --schedulers=2 "$@" bank 'bank:start().' \
        "New = fun(New) -> case catch counter:new() of {'EXIT', _} -> timer:sleep(10), New(New); _ -> done end end, New(New)." \
        'timer:sleep(3600000).'
}

# traced COUNT: succeeds if the only session got COUNT calls and returns.
traced() {
    "$tracehost" ctl "$socket" sessions | grep -q "^ *[0-9]*  text *$1 "
}
until_traced() {
    until_so traced "$1" || echo 'counter:new/0 is not traced'
}

load() {
    ctl load "$samples/counter.so" | sed -n "2s|$BUILD_DIR|BUILD|p"
}

# plain FILE: prints FILE with all references replaced, as their numbers differ from run to run.
plain() {
    sed 's/#Ref<[^>]*>/REF/' "$1"
}

waited() {
    begun -p counter:new/0 -p counter:nix/1 -p counter:watch/_ --kind=count
    ctl --json sessions | grep -o '"waiting": *\[[^]]*\]'
    load
    until_traced 1
    end
}
expect 'run: patterns wait for their module, and the end reports missing functions' waited <<'EOF'
"waiting":["counter:new/0","counter:nix/1","counter:watch/_"]
counter           1  loaded  BUILD/samples/counter.so
<0.1.4096> call counter:new()
a counter ends at 0
       calls  function
           0  counter:watch/1
ok
done
stderr: tracehost run: warning: -p counter:new/0: there is no such function yet
stderr: tracehost run: warning: -p counter:nix/1: there is no such function yet
stderr: tracehost run: warning: -p counter:watch/_: there is no such function yet
stderr: tracehost run: received a request to stop
stderr: tracehost run: -p counter:nix/1: no such function was loaded
status 0
EOF

all_that_comes() {
    begun -p on_load --return
    load
    until_traced 2
    end >"$work/ended"
    plain "$work/ended"
}
expect 'run: on_load traces each function that is loaded' all_that_comes <<'EOF'
counter           1  loaded  BUILD/samples/counter.so
<0.1.4096> call counter:new()
<0.1.4096> return counter:new/0 -> {ok,REF}
a counter ends at 0
ok
done
stderr: tracehost run: received a request to stop
status 0
EOF

expect 'run: on_load without a loaded function is reported at the end' "$tracehost" run -p on_load json '1 + 1.' <<'EOF'
2
-- stderr
tracehost run: -p on_load: no such function was loaded
EOF

asked() {
    begun
    ctl attach "text,output=$work/told" -p on_load -p counter:nix/1
    ctl pattern counter:new/0 --return
    ctl pattern counter:new/1
    ctl pattern on_load --kind=count
    ctl pattern on_load --kind=count --match-spec=false
    ctl pattern counter:new/1 --match-spec=false
    load
    until_traced 2
    ctl pattern bank:nix/1
    ctl detach 1
    end
    plain "$work/told"
}
expect 'ctl: patterns wait for their module, and can be withdrawn' asked <<'EOF'
session 1, tracer 'text': flags call
  waits for code: -p on_load
  waits for code: -p counter:nix/1
session 1, tracer 'text': counter:new/0: 0 functions; the pattern waits for code
session 1, tracer 'text': counter:new/1: 0 functions; the pattern waits for code
session 1, tracer 'text': on_load: 0 functions; the pattern waits for code
session 1, tracer 'text': on_load: 0 functions
session 1, tracer 'text': counter:new/1: 0 functions: there is no such function
counter           1  loaded  BUILD/samples/counter.so
session 1, tracer 'text': bank:nix/1: 0 functions; the pattern waits for code
session 1, tracer 'text' has ended
events      2 traced, 1 enabled, 1 filtered
  waits for code: -p counter:nix/1
  waits for code: -p bank:nix/1
a counter ends at 0
ok
done
stderr: tracehost run: received a request to stop
status 0
<0.1.4096> call counter:new()
<0.1.4096> return counter:new/0 -> {ok,REF}
-- stderr
tracehost ctl: warning: -p counter:nix/1: there is no such function yet
EOF

for command in 'pattern on_load' 'pattern nosuch:_/_' sessions 'detach 1'; do
    answered() {
        begun -p nosuch:f/1
        # shellcheck disable=SC2086 # words
        ctl --json $command | conforms "${command%% *}"
        end >"$work/ended"
    }
    expect "ctl: the answer to $command conforms to the schema" answered <<EOF
${command%% *} conforms
EOF
done

# --- recordings, whose functions exist once an event has them ---

expect 'replay: on_load applies to each function of the recording' "$tracehost" replay -p on_load --kind=count \
    "$recordings/s01_seed_local_caller.trace" <<'EOF'
       calls  function
          11  ex:bar/1
           1  ex:foo/0
           1  ex:indirections/0
           1  ex:lots/0
           1  ex:'of'/0
EOF
finish
