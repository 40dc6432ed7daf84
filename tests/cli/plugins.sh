#!/bin/sh
# Tests `tracehost plugins`.
. tests/cli/lib/assertions.sh

compile() {
    cat >"$work/$1.c"
    "$CC" -fPIC -shared -Iplugin_api -o "$work/$1.so" "$work/$1.c"
}

# --- a single library ---

compile shapes <<'EOF'
#include <erl_nif.h>

static ERL_NIF_TERM make(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary bin;

    return enif_term_to_binary(env, argv[0], &bin) ? enif_make_binary(env, &bin) : enif_make_badarg(env);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    return enif_set_option(env, ERL_NIF_OPT_DELAY_HALT);
}

static void unload(ErlNifEnv *env, void *data)
{
}

static ErlNifFunc functions[] = {
    {"area", 1, make, 0}, {"area", 2, make, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"is round?", 1, make, 0}, {"Save", 3, make, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(Elixir.Shapes, functions, load, NULL, NULL, unload)
EOF
expect 'the functions, flags, callbacks and imports of a library are printed' "$tracehost" plugins "$work/shapes.so" <<'EOF'
module      Elixir.Shapes
path        WORK/shapes.so
form        NIF library, compiled for NIF 2.18, at least erts-14.0
callbacks   load unload

functions: 4
  'Elixir.Shapes':area/1                    global
  'Elixir.Shapes':area/2                    global         dirty, CPU bound
  'Elixir.Shapes':'is round?'/1             global
  'Elixir.Shapes':'Save'/3                  global         dirty, I/O bound

no local breakpoints
  all:
    the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`

imports of the NIF API: 4, all in NIF 2.17 (the newest: enif_set_option)
  enif_make_badarg enif_make_binary enif_set_option enif_term_to_binary

remarks
  its module is called Elixir.Shapes
EOF

# With debug information each function has its place.
places() {
    (cd "$work" && "$CC" -g "$@" -fPIC -shared -I"$OLDPWD/plugin_api" -o placed.so shapes.c)
    "$tracehost" plugins "$work/placed.so" | sed -n '/^functions/,/^$/p'
}
expect 'debug information gives the place of each function in the source' places <<'EOF'
functions: 4
  'Elixir.Shapes':area/1                    global         shapes.c:4
  'Elixir.Shapes':area/2                    global         dirty, CPU bound  shapes.c:4
  'Elixir.Shapes':'is round?'/1             global         shapes.c:4
  'Elixir.Shapes':'Save'/3                  global         dirty, I/O bound  shapes.c:4

EOF
expect 'without debug information, functions have no place' places -s <<'EOF'
functions: 4
  'Elixir.Shapes':area/1                    global
  'Elixir.Shapes':area/2                    global         dirty, CPU bound
  'Elixir.Shapes':'is round?'/1             global
  'Elixir.Shapes':'Save'/3                  global         dirty, I/O bound

EOF

# Functions of the table, and local functions of the library. Some have room at their entry, and some lack room,
# each for another reason.
compile mixed <<'EOF'
#include <nif_module.h>

static ERL_NIF_TERM plain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_int(env, argc);
}

/* Eight bytes before the entry and four there. */
#ifdef __aarch64__
#define ROOM __attribute__((patchable_function_entry(3, 2), aligned(16)))
#else
#define ROOM __attribute__((patchable_function_entry(12, 8), aligned(16)))
#endif
static ROOM ERL_NIF_TERM narrow(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_int(env, argc);
}

TH_FUNCTION(own, 2)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    return enif_make_tuple2(env, a, b);
}

TH_NIF(both)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return own(env, argv[0], argv[0]);
}

static ERL_NIF_TERM of_two(ErlNifEnv *env, ERL_NIF_TERM a)
{
    return a;
}

static const struct th_local_function made_by_hand __attribute__((
    TH_RETAINED, section("tracehost_functions"), aligned(8))) = {"by hand", (void (*)(void))of_two, 1};

static ErlNifFunc functions[] = {
    {"plain", 1, plain, 0}, {"narrow", 1, narrow, 0}, {"both", 1, both, 0}};

ERL_NIF_INIT(mixed, functions, NULL, NULL, NULL, NULL)
EOF
mixed() {
    # On arm64 the room is counted in instructions.
    "$tracehost" plugins "$work/mixed.so" | sed -n '/^functions/,/^imports/p' | sed '/^imports/d; s/ two instructions:/ eight bytes:/'
}
expect 'a reason is printed for each function without local breakpoints' mixed <<'EOF'
functions: 3
  mixed:plain/1                             global
  mixed:narrow/1                            global
  mixed:both/1                              local, global

local functions: 2
  mixed:own/2                               local
  mixed:'by hand'/1                         none

no local breakpoints
  mixed:plain/1 and mixed:'by hand'/1:
    the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
  mixed:narrow/1:
    the room at the entry is less than eight bytes: compile with `pkg-config --cflags tracehost-plugin`

EOF
shipped() {
    for library in "$BUILD_DIR"/lib/tracehost/plugins/*.so; do
        "$tracehost" plugins "$library" >"$work/shown" && grep -q 'local, global\( \|$\)' "$work/shown" &&
            ! grep -q 'no local breakpoints' "$work/shown" || echo "$library: $(cat "$work/shown")"
    done
}
expect 'functions of shipped libraries have local breakpoints' shipped </dev/null
by_name() {
    TRACEHOST_PATH=$work "$tracehost" plugins shapes | head -n 2
}
expect 'a library is found in $TRACEHOST_PATH' by_name <<'EOF'
module      Elixir.Shapes
path        WORK/shapes.so
EOF
expect 'a library of an old NIF version is printed' "$tracehost" plugins "$tracers/old_entry_4.so" <<'EOF'
module      old_entry
path        BUILD/tests/tracers/old_entry_4.so
form        NIF library, compiled for NIF 2.4
callbacks   load

functions: 4
  old_entry:add/2                           local, global  tests/tracers/old/entry.c:57
  old_entry:info/0                          local, global  tests/tracers/old/entry.c:66
  old_entry:enabled/3                       local, global  tests/tracers/old/entry.c:72
  old_entry:trace/5                         local, global  tests/tracers/old/entry.c:78

imports of the NIF API: 4, all in NIF 2.0
  enif_get_int enif_make_badarg enif_make_int enif_priv_data

remarks
  its module is called old_entry
EOF

# The library is compiled for NIF 2.16, but calls a function of NIF 2.17.
"$CC" -fPIC -shared -Iplugin_api -DERL_NIF_MINOR_VERSION=16 -o "$work/hasty.so" "$work/shapes.c"
hasty() {
    "$tracehost" plugins "$work/hasty.so" | sed -n '/^form/p; /^remarks/,$p'
}
expect 'a library that imports more than its NIF version gets a remark' hasty <<'EOF'
form        NIF library, compiled for NIF 2.16, at least erts-12.0
remarks
  its module is called Elixir.Shapes
  its entry declares NIF 2.16, but enif_set_option is of NIF 2.17
EOF
compile empty <<'EOF'
#include <erl_nif.h>

ErlNifEntry *nif_init(void)
{
    static ErlNifEntry entry = {2, 16, "empty", 0, NULL, NULL, NULL, NULL, NULL,
                                ERL_NIF_VM_VARIANT, 1, sizeof(ErlNifResourceTypeInit), "erts-12.0"};
    return &entry;
}
EOF
expect 'a library without functions, callbacks and imports is printed' "$tracehost" plugins "$work/empty.so" <<'EOF'
module      empty
path        WORK/empty.so
form        NIF library, compiled for NIF 2.16, at least erts-12.0
callbacks   none

functions: 0

imports of the NIF API: 0
EOF

# --- refusals ---

compile later <<'EOF'
#include <erl_nif.h>

ERL_NIF_TERM enif_of_the_future(ErlNifEnv *env);

static ERL_NIF_TERM f(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_of_the_future(env);
}

static ErlNifFunc functions[] = {{"f", 0, f, 0}};

ERL_NIF_INIT(later, functions, NULL, NULL, NULL, NULL)
EOF
expect 'a library that imports an unknown function is refused' "$tracehost" plugins "$work/later.so" <<'EOF'
-- stderr
tracehost plugins: WORK/later.so was refused
  the library needs enif_of_the_future, which is in no NIF API up to 2.18; compile the library with an older erl_nif.h
-- status 5
EOF
expect 'a library that does not exist is refused' "$tracehost" plugins nothing <<'EOF'
-- stderr
tracehost plugins: there is no library 'nothing'
  looked for nothing.so in BUILD/lib/tracehost/plugins (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost plugins` lists all that are found
-- status 5
EOF
expect 'two names are refused' "$tracehost" plugins one two <<'EOF'
-- stderr
tracehost plugins: unexpected argument 'two': only one NAME can be given
Try `tracehost plugins --help' or `tracehost plugins --usage' for more
information.
-- status 2
EOF

# --- the list ---

listed() {
    mkdir -p "$work/list"
    cp "$work/shapes.so" "$work/later.so" "$work/list"
    TRACEHOST_PATH=/nowhere "$tracehost" plugins -L "$work/list" | grep -v 'built in'
}
expect 'the list has the libraries of all folders, with refusals' listed <<'EOF'
later                refused        -L               WORK/list/later.so
    the library needs enif_of_the_future, which is in no NIF API up to 2.18; compile the library with an older erl_nif.h
shapes               NIF library    -L               WORK/list/shapes.so

looked in:
  WORK/list (-L)
  /nowhere ($TRACEHOST_PATH), which does not exist
EOF

finish
