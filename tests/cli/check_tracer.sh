#!/bin/sh
# Tests replay --check and run --check: violations by tracers are reported with callback and record.
. tests/cli/lib/assertions.sh

# The checker reports the leaks, which are on purpose here, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

stream=$recordings/s04_genserver_pingpong.trace
forgetful=$tracers/forgetful.so

found() {
    "$tracehost" "$@" 2>&1 | sed "s,$forgetful,FORGETFUL,g"
    "$tracehost" "$@" >"$work/out" 2>&1
    echo "status $?"
}
expect 'kept terms, leaks and messages to the tracee are reported' found replay --check -t "$forgetful" \
    --max-events=2 "$stream" <<'LINES'
tracehost replay: warning: tracer 'FORGETFUL' sends a message to its tracee in trace: this message and later ones are refused
tracehost: check: trace of tracer 'FORGETFUL', 'receive' of record 1: calls enif_send() with the tracee as receiver: the message is refused
tracehost: check: trace of tracer 'FORGETFUL', call of record 2: gives enif_fprintf() a term that lies in the environment of an earlier call, trace of tracer 'FORGETFUL', 'receive' of record 1
undefined
tracehost: check: trace of tracer 'FORGETFUL', call of record 2: calls enif_send() with the tracee as receiver: the message is refused
tracehost replay: tracer 'FORGETFUL': messages or commands to the tracee refused: 2
tracehost: check: leak: 1 environment that trace of tracer 'FORGETFUL' got from enif_alloc_env(), in trace of tracer 'FORGETFUL', 'receive' of record 1
tracehost: check: leak: 1 resource of type 'held' (1 byte) that trace of tracer 'FORGETFUL' got from enif_alloc_resource(), in trace of tracer 'FORGETFUL', 'receive' of record 1
status 1
LINES
expect 'a replay without --check reports only a refused message' found replay -t "$forgetful" --max-events=2 "$stream" <<'LINES'
tracehost replay: warning: tracer 'FORGETFUL' sends a message to its tracee in trace: this message and later ones are refused
{wl,pingpong,[20]}
tracehost replay: tracer 'FORGETFUL': messages or commands to the tracee refused: 2
status 0
LINES
expect 'run --check reports violations by a tracer' found run --check -t "$forgetful" -p fib:fib/1 fib 'fib:fib(1)' <<'LINES'
tracehost run: warning: tracer 'FORGETFUL' sends a message to its tracee in trace: this message and later ones are refused
tracehost: check: trace of tracer 'FORGETFUL', call: calls enif_send() with the tracee as receiver: the message is refused
tracehost run: tracer 'FORGETFUL': messages or commands to the tracee refused: 1
tracehost: check: leak: 1 environment that trace of tracer 'FORGETFUL' got from enif_alloc_env(), in trace of tracer 'FORGETFUL', call
tracehost: check: leak: 1 resource of type 'held' (1 byte) that trace of tracer 'FORGETFUL' got from enif_alloc_resource(), in trace of tracer 'FORGETFUL', call
1
status 1
LINES

# Puts a term of its first callback into new terms, in each of the ways that the API has.
cat >"$work/puts.c" <<'EOF'
#include <erl_tracer.h>

#include <string.h>

static ERL_NIF_TERM kept;

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

static ERL_NIF_TERM put(ErlNifEnv *env, const char *how)
{
    ERL_NIF_TERM some[] = {enif_make_int(env, 1), kept}, others[] = {enif_make_int(env, 2), some[0]};
    ERL_NIF_TERM map = enif_make_new_map(env);

    if (strcmp(how, "tuple") == 0)
        return enif_make_tuple2(env, some[0], kept);
    if (strcmp(how, "tuple_from_array") == 0)
        return enif_make_tuple_from_array(env, some, 2);
    if (strcmp(how, "list") == 0)
        return enif_make_list2(env, some[0], kept);
    if (strcmp(how, "list_from_array") == 0)
        return enif_make_list_from_array(env, some, 2);
    if (strcmp(how, "head") == 0)
        return enif_make_list_cell(env, kept, some[0]);
    if (strcmp(how, "tail") == 0)
        return enif_make_list_cell(env, some[0], kept);
    if (strcmp(how, "keys") == 0)
        enif_make_map_from_arrays(env, some, others, 2, &map);
    if (strcmp(how, "values") == 0)
        enif_make_map_from_arrays(env, others, some, 2, &map);
    if (strcmp(how, "key") == 0)
        enif_make_map_put(env, map, kept, some[0], &map);
    if (strcmp(how, "value") == 0)
        enif_make_map_put(env, map, some[0], kept, &map);
    if (strcmp(how, "update") == 0) {
        enif_make_map_put(env, map, some[0], some[0], &map);
        enif_make_map_update(env, map, some[0], kept, &map);
    }
    if (strcmp(how, "remove") == 0)
        enif_make_map_remove(env, map, kept, &map);
    if (strcmp(how, "in_part") == 0)
        return enif_make_list1(env, enif_make_tuple2(env, enif_make_list1(env, kept), some[0]));
    return map;
}

TH_TRACER_TRACE(generic)
{
    char how[20] = "";

    enif_get_atom(env, state, how, sizeof how, ERL_NIF_LATIN1);
    if (kept)
        enif_fprintf(stdout, "%T\n", put(env, how));
    else
        kept = enif_make_tuple2(env, tag, term);
}
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/puts.so" "$work/puts.c"
put_into() {
    for how in tuple tuple_from_array list list_from_array head tail keys values key value update remove in_part; do
        "$tracehost" replay --check -t "$work/puts.so=$how" --max-events=2 "$stream" 2>&1 |
            sed "s,.*gives enif_make_\(.*\) a term that lies in the environment of an earlier call.*,  \1,; s/^[^ ]/$how: &/"
    done
}
expect 'a kept term is reported by each function that makes terms' put_into <<'LINES'
  tuple()
tuple: {1,undefined}
  tuple_from_array()
tuple_from_array: {1,undefined}
  list()
list: [1,undefined]
  list_from_array()
list_from_array: [1,undefined]
  list_cell()
head: [undefined|1]
  list_cell()
tail: [1|undefined]
  map_from_arrays()
keys: #{1=>2,undefined=>1}
  map_from_arrays()
values: #{1=>undefined,2=>1}
  map_put()
key: #{undefined=>1}
  map_put()
value: #{1=>undefined}
  map_update()
update: #{1=>undefined}
  map_remove()
remove: #{}
  list()
in_part: [{[undefined],1}]
LINES

# The program that nats starts keeps what it should publish.
printf '#!/bin/sh\nexec cat >%s\n' "$work/written" >"$work/keep"
chmod +x "$work/keep"
# clean TRACER STREAM: succeeds if a replay of STREAM with --check reports nothing about TRACER.
clean() {
    case $1 in
    */nats.so) set -- "$1,log=nats://x/y,program=$work/keep" "$2" ;;
    *) set -- "$1,output=$work/written" "$2" ;;
    esac
    "$tracehost" replay --check -t "$1" -p _:_ --exception "$2" >"$work/out" 2>&1
    status=$?
    [ $status = 0 ] && ! grep 'check:' "$work/out" || {
        echo "status $status"
        cat "$work/out"
        return 1
    }
}
for tracer in "$BUILD_DIR"/lib/tracehost/tracers/*.so; do
    for name in s03_exceptions_return_to s06_ports s16_terms; do
        check "$(basename "$tracer" .so) is clean: $name" clean "$tracer" "$recordings/$name.trace"
    done
done
expect 'the sample that keeps terms causes no report' "$tracehost" replay --check -t "$samples/longest_message.so" "$stream" <<'LINES'
<0.94.0> sent {'$gen_call',{<0.94.0>,[alias|#Ref<0.3774324694.940638210.141746>]},{ping,1}}
LINES

finish
