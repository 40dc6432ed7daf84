#!/bin/sh
# Tests call --check: reports about libraries that violate the NIF API.
. tests/cli/lib/assertions.sh

sins=$BUILD_DIR/tests/plugins/sins.so
installed=/usr/lib/erlang/lib

# The address sanitizer would report the leaks, too.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

expect 'a correct function causes no report' "$tracehost" call --check "$sins" 'sins:same({1,"two",<<3>>,#{4 => 5.0}}).' 'sins:gives_back(<<1,2,3>>).' <<EOF
{1,"two",<<3>>,#{4 => 5.0}}
ok
EOF

codesets() {
    LC_ALL=C.UTF-8 "$tracehost" call "$sins" 'sins:codeset().'
    LC_ALL=C "$tracehost" call "$sins" 'sins:codeset().'
}
expect "a library sees the character set of the user's locale, as in a BEAM" codesets <<EOF
'UTF-8'
'ANSI_X3.4-1968'
EOF

expect 'results that are not terms are reported' "$tracehost" call --check "$sins" 'sins:nothing().' 'sins:word().' 'sins:inner_word().' <<EOF
undefined
undefined
undefined
-- stderr
tracehost: check: sins:nothing(): returns 0: neither a term nor an exception
tracehost: check: sins:word(): returns 0x1230, which is not a term
tracehost: check: sins:inner_word(): returns a term with the part 0x1b, which is not a term
-- status 1
EOF

expect 'without --check only a result of 0 is an error' "$tracehost" call "$sins" 'sins:nothing().' 'sins:release_inspected(<<1>>).' <<EOF
ok
-- stderr
** exception error: bad argument
     in function  sins:nothing/0
        called as sins:nothing()
-- status 1
EOF

expect 'use of a term of an earlier call is reported' "$tracehost" call --check "$sins" 'sins:keep({first, [1]}).' 'sins:give_kept_inside(now).' \
    'sins:make_in_kept().' <<EOF
ok
{now,undefined}
ok
-- stderr
tracehost: check: sins:give_kept_inside(now): gives enif_make_tuple() a term that lies in the environment of an earlier call, sins:keep({first,[1]})
tracehost: check: sins:make_in_kept(): makes a term in the environment of an earlier call, sins:keep({first,[1]})
-- status 1
EOF

expect 'a bound variable keeps its value during later calls' "$tracehost" call --check "$sins" 'X = sins:all_kinds({1.5}), sins:same(7).' \
    'element(7, X).' <<EOF
7
{1.5}
EOF

expect 'objects that are freed twice are reported' "$tracehost" call --check "$sins" 'sins:free_env_twice().' 'sins:release_often() =/= x.' <<EOF
ok
true
-- stderr
tracehost: check: sins:free_env_twice(): calls enif_free_env() on an environment that was already given back to enif_free_env() by sins:free_env_twice()
tracehost: check: sins:release_often(): calls enif_release_resource() on a resource that was already given back to enif_release_resource() by sins:release_often()
-- status 1
EOF

expect 'misuse in a destructor is reported' "$tracehost" call --check "$sins" 'sins:in_destructor().' <<EOF
ok
-- stderr
tracehost: check: the destructor of careless of sins.so: calls enif_release_resource() on a resource that was already given back to enif_release_resource() by sins:in_destructor()
tracehost: check: the destructor of careless of sins.so: calls enif_free() on memory that enif_alloc() did not return
-- status 1
EOF

expect 'leaks are reported with the functions that allocated them' "$tracehost" call --check --load-info=leak "$sins" 'A = sins:open_db("x"), B = sins:open_db("y"), ok.' 'sins:leak_memory(17).' <<EOF
ok
ok
-- stderr
tracehost: check: leak: 1 block of memory (24 bytes) that load of sins.so got from enif_alloc()
tracehost: check: leak: 1 block of memory (17 bytes) that sins:leak_memory/1 got from enif_alloc(), in sins:leak_memory(17)
tracehost: check: leak: 2 resources of type 'db' (160 bytes) that sins:open_db/1 got from enif_alloc_resource(), first in sins:open_db("x")
-- status 1
EOF

# A resource with a destructor keeps its library loaded, so unload() is not called and memory of load() is no leak.
expect 'memory of load() is no leak if a leaked resource keeps the library' "$tracehost" call --check --load-info=keep "$sins" 'sins:leak_careless() =/= x.' <<EOF
true
-- stderr
tracehost: check: leak: 1 resource of type 'careless' (1 byte) that sins:leak_careless/0 got from enif_alloc_resource(), in sins:leak_careless()
-- status 1
EOF

expect 'reports after the tenth of a function are only counted' "$tracehost" call --check --repeat=15 "$sins" 'sins:release_inspected(<<1>>).' <<EOF
ok
-- stderr
$(yes 'tracehost: check: sins:release_inspected(<<1>>): calls enif_release_binary() on a binary that was only inspected' | head -10)
tracehost call: 15 rounds in 1 process, 0 evaluations failed
tracehost: check: sins:release_inspected/1: 5 more times: calls enif_release_binary() on a binary that was only inspected
-- status 1
EOF

# Each continuation runs in its own environment, on dirty threads, too.
expect 'continuations cause no report' "$tracehost" call --check "$sins" 'sins:goes_on([1,2], dirty).' 'sins:goes_on({<<1>>}, normal).' <<EOF
{went_on,[1,2]}
{went_on,{<<1>>}}
EOF

expect 'a continuation that returns a term of an earlier call is reported' "$tracehost" call --check "$sins" 'sins:goes_on_with_kept({1}).' <<EOF
undefined
-- stderr
tracehost: check: sins:gives_kept_last(1), scheduled by sins:goes_on_with_kept/1: returns a term of the environment of an earlier call, sins:goes_on_with_kept({1})
-- status 1
EOF

expect 'calls in four threads cause no report' "$tracehost" call --check --threads=4 --repeat=200 "$sins" 'sins:all_kinds({"a",1.5}) =/= x.' \
    'sins:gives_back(<<1,2>>).' 'sins:goes_on([1], dirty).' <<EOF
true
ok
{went_on,[1]}
-- stderr
tracehost call: 800 rounds in 4 processes, 0 evaluations failed
EOF

# Libraries that others compiled are clean, with one exception; tests/debian has the calls.
for file in tests/debian/*.calls; do
    name=$(basename "$file" .calls)
    library=$(ls $installed/*/priv/"$name".so $installed/*/priv/lib/"$name".so 2>/dev/null | head -n 1)
    if [ -z "$library" ]; then
        skip "$name is clean" 'it is not installed'
        continue
    fi
    info=$(sed -n "s|LIBRARY|${library%.so}|; s/^%% load-info: //p" "$file")
    "$tracehost" call --check --load-info="${info:-0}" -f "$file" "$library" 2>&1 >/dev/null | grep 'check: ' >"$work/found"
    # stringprep misuses the API in each function; a BEAM does nothing then.
    if [ "$name" = stringprep ]; then
        sed -i '/calls enif_release_binary() on a binary that was given to enif_make_binary()$/d' "$work/found"
    fi
    check "$name is clean" cmp "$work/found" /dev/null
done

finish
