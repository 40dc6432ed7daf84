#!/bin/sh
# Tests `tracehost check` of NIF libraries: each bug planted in check_command/planted_plugin.c is found by its rule, in the
# fewest calls; libraries without a bug have no finding; errors. With a sanitizer, one bug of six is planted.
# `tests/cli/check_plugin.sh --update` writes check_command/expected_plugin. CHECK_FOR=600s tries the libraries without a
# bug for as long as that.
. tests/cli/lib/assertions.sh
. tests/cli/check_command/planted_bugs.sh
needs_machine 'check finds the bugs of NIF libraries, and no others' 'it reports calls that take a second: in an emulator, correct ones do'

source=tests/cli/check_command/planted_plugin.c
expected=tests/cli/check_command/expected_plugin
bugs=$(bugs_in $source)
case $BUILD_DIR in
# The sanitizers know the memory of malloc(), and the stack of a deep recursion is theirs.
*/asan | */tsan) bugs=$(echo "$bugs" | grep -v -e malloc -e deep | awk 'NR % 6 == 1') ;;
esac

# --- planted bugs ---

# found BUG: prints each finding, and its calls, without what differs from run to run.
found() {
    check_bug "$1" || return
    sed -n 's/#Ref<[0-9.]*>/#Ref<...>/g; s/F(N - 1, \(.*\))(2[0-9][0-9][0-9], /F(N - 1, \1)(N, /; s/aaaa*/a.../
        s, at /.*/planted, at planted,; s/grows by [0-9]* bytes/grows by N bytes/; /^[a-z]*: /p; /^    /p' "$work/$1/said"
}
planted "$@"

# --- what has no finding ---

# no_finding ARGUMENT...
no_finding() {
    (cd "$work" && timeout 60 "$tracehost" check --seed=1 --for="${CHECK_FOR:-0s}" "$@") >"$work/report" 2>&1
    status=$?
    cat "$work/report"
    [ $status = 0 ] && grep -q '^0 findings; ' "$work/report"
}
for library in "$BUILD_DIR"/lib/tracehost/plugins/*.so; do
    check "$(basename "$library" .so) has no finding" no_finding "$library"
done
# Libraries that Debian ships, and the rules that they break, most of them when an allocation fails: a result of
# enif_alloc() or enif_alloc_resource() that is not examined (memory), memory of an earlier step that is kept then (leak), a
# destructor of a resource that was not filled (owner), a result of 0 (term). fast_yaml returns a term after an exception. A
# new version of ezlib takes over resources whose z_stream has pointers to functions of the old version (crash).
known_rules() {
    library=$(ls /usr/lib/erlang/lib/*/priv/"$1".so /usr/lib/erlang/lib/*/priv/lib/"$1".so 2>/dev/null | head -n 1)
    (cd "$work" && "$tracehost" check --seed=1 --for=0s --load-info="$2" "$library") >"$work/report" 2>&1
    cat "$work/report"
    grep -q ' runs, ' "$work/report" || return
    for rule in $(sed -n 's/^\([a-z]*\): .*/\1/p' "$work/report"); do
        case " $3 " in
        *" $rule "*) ;;
        *) return 1 ;;
        esac
    done
}
while read -r name info rules; do
    case $BUILD_DIR in
    */release | */debug)
        if [ -n "$(ls /usr/lib/erlang/lib/*/priv/"$name".so /usr/lib/erlang/lib/*/priv/lib/"$name".so 2>/dev/null)" ]; then
            check "$name has only findings that are known" known_rules "$name" "$info" "$rules"
        else
            skip "$name has only findings that are known" "there is no $name.so here"
        fi
        ;;
    esac
done <<'LIBRARIES'
jiffy 0 memory
asn1rt_nif 1 leak
iconv 0 leak
stringprep 0
fxml 0
fxml_stream 0 leak owner term
fast_yaml 0 term memory
ezlib 0 leak crash
LIBRARIES
# covers: each function of a library is called, and returns at least once.
covers() {
    no_finding "$work/no_bug/planted.so" && [ "$(grep -c ' \([0-9]*\) of \1 functions$' "$work/report")" = 2 ]
}
check 'all functions are called, and return' covers
# A library that writes a line when it is loaded, and the types of the arguments of each call.
cat >"$work/types.c" <<'LINES'
#include <erl_nif.h>

#include <stdio.h>
#include <stdlib.h>

static void log_line(const char *text)
{
    FILE *file = fopen(getenv("TYPES_LOG"), "a");

    fprintf(file, "%s\n", text);
    fclose(file);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void)env;
    (void)data;
    (void)info;
    log_line("load");
    return 0;
}

static ERL_NIF_TERM types(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char text[64];
    int used = 0;

    for (int i = 0; i < argc; i++)
        used += sprintf(text + used, "%d ", (int)enif_term_type(env, argv[i]));
    log_line(text);
    return enif_make_badarg(env);
}

static ErlNifFunc functions[] = {{"types", 5, types, 0}};
ERL_NIF_INIT(types, functions, load, NULL, NULL, NULL)
LINES
"$CC" -fPIC -shared -I"$BUILD_DIR/include/tracehost" -o "$work/types.so" "$work/types.c"
# calls_of SEED FILE: writes the calls of the first run, with arguments of all types, and those of the first random list. The
# run between has the values at the limits. No call returns, so that no other runs come before the random lists.
calls_of() {
    rm -f "$work/log"
    (cd "$work" && TYPES_LOG=$work/log "$tracehost" check --seed="$1" --for=2s ./types.so) >"$work/report" 2>&1
    grep -q "^0 findings; .* seed $1," "$work/report" || return
    awk -v all="$2.types" -v list="$2.list" '
        function ends() {
            runs += text != ""
            if (text != "" && (runs == 1 || runs == 3)) printf "%s", text >(runs == 1 ? all : list)
            text = ""
        }
        /^load$/ { ends(); next }
        { text = text $0 "\n" }
        END { ends() }' "$work/log"
    [ "$(wc -l <"$2.types")" = 1500 ] && [ "$(wc -l <"$2.list")" -gt 100 ]
}
same_seed() {
    for i in 1 2; do calls_of 77 "$work/first$i" || return; done
    calls_of 78 "$work/other" || return
    for part in types list; do
        diff "$work/first1.$part" "$work/first2.$part" || return
        ! cmp "$work/first1.$part" "$work/other.$part" || return
    done
}
check 'a run with a seed can be repeated' same_seed
nothing_left() { ! ls "$work/scratch"/tracehost-check.* 2>/dev/null; }
files_stay_away() {
    mkdir "$work/scratch" && TMPDIR=$work/scratch no_finding "$BUILD_DIR/lib/tracehost/plugins/files.so" && nothing_left
}
check 'files that functions write are removed' files_stay_away

# --- errors ---

said() { (cd "$work" && "$tracehost" check "$@"); }
expect 'a run without calls' said --run=plain no_bug/planted.so <<'LINES'
-- stderr
tracehost check: --run needs a file with calls
-- status 2
LINES
expect 'a file that is missing' said --for=0s no_bug/planted.so missing.calls <<'LINES'
-- stderr
tracehost check: cannot read missing.calls
  No such file or directory
-- status 3
LINES
printf '%%%% calls\n\nplanted:open().\nplanted:open(\n' >"$work/torn.calls"
expect 'a file that is no list of calls' said --for=0s no_bug/planted.so torn.calls <<'LINES'
-- stderr
tracehost check: cannot read line 4 of torn.calls
  line 1, column 14: expected an expression, found the end of the text
-- status 3
LINES
expect 'a run of an unknown kind' said --run=twice no_bug/planted.so torn.calls <<'LINES'
-- stderr
tracehost check: --run must be plain, threads=N (up to 64), allocation=N, kill=N (milliseconds, up to 10000), replace or rounds=N (at least 100), not 'twice'
-- status 2
LINES
finish
