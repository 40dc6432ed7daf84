#!/bin/sh
# Tests loading of code without room for the breakpoints of the code before: calls from other modules still hit
# breakpoints, and the answer lists the functions whose calls are lost.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh
[ "$(machine)" = x86-64 ] || {
    skip 'load lists the breakpoints that new code loses' 'the instruction that takes the room, endbr64, is one of x86-64'
    finish
}

cat >"$work/roomy.c" <<'END'
#include <erl_nif.h>
#include <nif_module.h>

static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    (void)env, (void)private_data, (void)old_private_data, (void)info;
    return 0;
}

TH_FUNCTION(inner, 0)(ErlNifEnv *env)
{
    return enif_make_atom(env, WORD);
}

TH_NIF(word)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_tuple1(env, inner(env));
}

TH_NIF(other)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_list1(env, word(env, argc, argv));
}

static ErlNifFunc functions[] = {{"word", 0, word, 0}, {"жук", 0, other, 0}};
ERL_NIF_INIT(roomy, functions, NULL, NULL, upgrade, NULL)
END
room=-fcf-protection=none
no_room=-fcf-protection=full # `endbr64` stands there

# make WORD FLAG...: makes WORK/roomy.so, whose functions return WORD.
make() {
    word=$1
    shift
    "$CC" -O2 -fPIC -shared -Iplugin_api -DWORD="\"$word\"" "$@" -o "$work/new.so" "$work/roomy.c"
    mv "$work/new.so" "$work/roomy.so"
}

for _ in $(seq 20000); do
    echo "roomy:word(), roomy:'жук'(). receive after 5 -> ok end."
done >"$work/long"

# tells LINE: waits until the trace has printed LINE more than three further times.
tells() {
    count=$(grep -cF -- "$1" "$work/text")
    until_so tells_more "$1"
}
tells_more() {
    [ "$(grep -cF -- "$1" "$work/text")" -gt $((count + 3)) ]
}
silent() {
    ! grep -qF -- "$1" "$work/text"
}
# answer COMMAND...: prints the output of COMMAND without the reasons for which there is no room.
answer() {
    "$@" | sed 's/\(the code begins with .endbr64.\).*/\1/'
}
purged() {
    until_so ctl purge roomy
}

make one $room
begin "$tracehost" run --control="$socket" --schedulers=2 \
    -t "text=#{output => <<\"$work/text\">>}" -p roomy:word/0 --return -p roomy:inner/0 --return \
    --session=counts -t count -p roomy:_/_ --kind=count \
    --session=named -t count,output="$work/named" -p "roomy:'жук'/0" -f "$work/long" "$work/roomy.so"
check 'calls within the module are traced in code with room' tells 'return roomy:inner/0 -> one'
make two $no_room
expect 'load lists the breakpoints that code without room loses' answer ctl --encoding=unicode load "$work/roomy.so" <<'END'
module  generation  was       from
roomy            2  upgraded  WORK/roomy.so
committed at one instant, after 1 round of thread progress
  session 1, tracer 'text': roomy:word/0: local: calls from within the module are no longer traced: the code begins with `endbr64`
  session 1, tracer 'text': roomy:inner/0: local: calls are no longer traced: the code begins with `endbr64`
  session 2 'counts', tracer 'count': roomy:word/0 and 1 more: count: calls from within the module are no longer traced: the code begins with `endbr64`
  session 2 'counts', tracer 'count': roomy:inner/0: count: calls are no longer traced: the code begins with `endbr64`
  session 3 'named', tracer 'count': roomy:'жук'/0: local: calls from within the module are no longer traced: the code begins with `endbr64`
END
check 'calls from other modules are traced in code without room' tells 'return roomy:word/0 -> {two}'
check 'calls within the module are not traced in code without room' silent 'return roomy:inner/0 -> two'
global() {
    ctl functions roomy:word/0 | sed -n 's/  */ /g; s/ [0-9]* 1 / N 1 /p'
}
expect 'a local breakpoint becomes global in code without room' global <<'END'
roomy:word/0 global N 1 global; 2 count
END
in_json() {
    purged && ctl --json load "$work/roomy.so" | conforms load
}
expect 'the answer of load conforms to the schema' in_json <<'END'
load conforms
END
check 'old code becomes unused and is purged' purged
make three $room
expect 'load of code with room lists no lost breakpoints' ctl load "$work/roomy.so" <<'END'
module  generation  was       from
roomy            4  upgraded  WORK/roomy.so
committed at one instant, after 1 round of thread progress
END
check 'calls within the module are traced again in code with room' tells 'return roomy:inner/0 -> three'
end >"$work/ended" # in no subshell, which could not wait for it
ended_well() {
    tail -n 1 "$work/ended"
}
expect 'the host ends with status 0' ended_well <<'END'
status 0
END

# --- --watch ---

watched() {
    make one $room
    begin "$tracehost" run --watch --encoding=unicode --control="$socket" --schedulers=2 -t "text=#{output => <<\"$work/text\">>}" \
        -p "roomy:'жук'/0" -f "$work/long" "$work/roomy.so"
    make two $no_room
    until_so grep -q 'no longer traced' "$work/host.err"
    end >"$work/ended"
    answer grep '^stderr: .*roomy' "$work/ended"
}
expect '--watch warns about breakpoints that new code loses' watched <<'END'
stderr: tracehost run: the new WORK/roomy.so is loaded: module roomy, generation 2
stderr: tracehost run: warning: tracer 'text': roomy:'жук'/0: local: calls from within the module are no longer traced: the code begins with `endbr64`
END
finish
