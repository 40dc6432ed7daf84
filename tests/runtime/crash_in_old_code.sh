#!/bin/sh
# Tests the report of a crash in old code: it has the functions, the generation, and the lines of that code's source,
# although newer code has been loaded.
. tests/cli/lib/assertions.sh

ulimit -c 0
flags="-O1 -g -fPIC -shared -Iplugin_api"

# write NAME BLANKS: a version whose source is NAME.c, with so many empty lines before the line that crashes.
write() {
    {
        printf '#include <nif_module.h>\n'
        yes '' | head -n "$2"
        cat <<'EOT'
static __attribute__((noinline)) void tread(volatile int *where)
{
    *where = 1;
}
static ERL_NIF_TERM replaced(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (enif_is_identical(argv[1], enif_make_atom(env, "crash")))
        tread((int *)16);
    return argv[0];
}
static ERL_NIF_TERM replace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return th_load_code(env, argv[0], argv[0], 0, replaced, 1, argv + 1);
}
static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)
{
    (void)env, (void)data, (void)old, (void)info;
    return 0;
}
static ErlNifFunc functions[] = {{"replace", 2, replace, 0}};
ERL_NIF_INIT(treading, functions, NULL, NULL, upgrade, NULL)
EOT
    } >"$work/$1.c"
    ${CC%% *} $flags "$work/$1.c" -o "$work/$1.so"
}

# crash EXPRESSION...: the last one does.
crash() {
    "$tracehost" call "$work/first.so" "$@" >"$work/said" 2>"$work/told"
    [ $? = 6 ]
}

# Prints the number of the line of FILE that contains TEXT.
line_of() {
    grep -n -F "$2" "$work/$1.c" | cut -d: -f1
}

# names_old_code GENERATION
names_old_code() {
    for function in tread replaced; do
        grep -q "^  at treading:$function (.*+0x[0-9a-f]*), old code of generation $1\$" "$work/told" || return
    done
}

# names_lines OLD OTHER...: runs the commands that the report gives for source lines, and prints the lines.
names_lines() {
    old=$1
    shift
    command=$(sed -n 's/^  lines: //p' "$work/told")
    $command >"$work/lines" 2>&1
    grep -q "/$old.c:$(line_of "$old" '*where = 1;')" "$work/lines" &&
        grep -q "/$old.c:$(line_of "$old" 'tread((int *)16);')" "$work/lines" || return
    for other in "$@"; do
        ! grep -q "/$other.c:" "$work/lines" || return
    done
}

lines() {
    if command -v addr2line >/dev/null; then
        check "$1: the report names the lines of its own source" names_lines $2
    else
        skip "$1: the report names the lines of its own source" 'no addr2line'
    fi
}

write first 0
write second 20
write third 40

# The first load opens the file itself; later loads open a private copy.
check 'the first code: the call ends with exit status 6' crash "treading:replace([\"$work/second.so\"], crash)."
check 'the first code: the report names functions and generation' names_old_code 1
lines 'the first code' 'first second'
check 'the second code: the call ends with exit status 6' crash "treading:replace([\"$work/second.so\"], go_on)." \
    "treading:replace([\"$work/third.so\"], crash)."
check 'the second code: the report names functions and generation' names_old_code 2
lines 'the second code' 'second first third'
[ "$failed" = 0 ] || cat "$work/said" "$work/told" "$work/lines"
finish
