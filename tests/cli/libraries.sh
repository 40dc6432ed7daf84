#!/bin/sh
# Tests libraries that are refused, and `tracehost tracers`.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace

# replay TRACER: replays one event into TRACER.
replay() {
    "$tracehost" replay -t "$1" --max-events=1 "$calls"
}

# --- names ---

expect 'an unknown name is refused with the folder of the search' replay nothing <<'EOF'
-- stderr
tracehost replay: there is no library 'nothing'
  looked for nothing.so in BUILD/lib/tracehost/tracers (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost tracers` lists all that are found
-- status 5
EOF
expect 'a misspelt name is refused with a suggestion' replay coutn <<'EOF'
-- stderr
tracehost replay: there is no library 'coutn'
  looked for coutn.so in BUILD/lib/tracehost/tracers (built in)
  did you mean 'count'?
-- status 5
EOF
everywhere() {
    TRACEHOST_PATH=/one:/two "$tracehost" replay -L "$work" -L /three -t nothing "$calls"
}
expect 'the folders of the search are listed in their order' everywhere <<'EOF'
-- stderr
tracehost replay: there is no library 'nothing'
  looked for nothing.so in WORK (-L), /three (-L), /one ($TRACEHOST_PATH), /two ($TRACEHOST_PATH) and BUILD/lib/tracehost/tracers (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost tracers` lists all that are found
-- status 5
EOF
here() {
    cp "$samples/first_tracer.so" "$work/here.so"
    (cd "$work" && "$tracehost" replay -t here.so "$calls")
}
expect 'a file name without a slash is not a path' here <<'EOF'
-- stderr
tracehost replay: there is no library 'here.so'
  looked for here.so.so in BUILD/lib/tracehost/tracers (built in)
  a path needs a '/': use ./here.so
-- status 5
EOF
expect 'a missing path is refused' replay "$work/nothing.so" <<'EOF'
-- stderr
tracehost replay: cannot open WORK/nothing.so
  No such file or directory
-- status 5
EOF
expect 'a folder is refused' replay "$work" <<'EOF'
-- stderr
tracehost replay: WORK was refused
  the path is a folder; add the folder with -L and give the library's name alone
-- status 5
EOF
expect 'a path is not completed with .so' replay "$work/nothing" <<'EOF'
-- stderr
tracehost replay: cannot open WORK/nothing
  No such file or directory
-- status 5
EOF
cp "$BUILD_DIR/lib/tracehost/tracers/text.so" "$work/suffixed.so"
expect 'a path without .so, of a file that exists' replay "$work/suffixed" <<'EOF'
-- stderr
tracehost replay: cannot open WORK/suffixed; did you mean 'WORK/suffixed.so'?
  No such file or directory
-- status 5
EOF
rm "$work/suffixed.so"

# If two libraries have one name, the first is loaded.
shadowed() {
    mkdir -p "$work/a" "$work/b"
    cp "$tracers/echo.so" "$work/a/mine.so"
    cp "$samples/erl_msg_tracer.so" "$work/b/mine.so"
    "$tracehost" replay -L "$work/$1" -L "$work/$2" -t mine --max-events=1 "$calls"
    "$tracehost" tracers -L "$work/$1" -L "$work/$2" | grep mine
}
expect 'the library in the first folder is loaded' shadowed a b <<'EOF'
state #{}
call: <0.79.0> call {ex,foo,[]} with #{match_spec_result => {rec,w,0}}
mine                 plain symbols  -L               WORK/a/mine.so
mine                 NIF library    -L               WORK/b/mine.so (shadowed by the one above)
EOF
expect 'the order of -L decides which library is loaded' shadowed b a <<'EOF'
mine                 NIF library    -L               WORK/b/mine.so
mine                 plain symbols  -L               WORK/a/mine.so (shadowed by the one above)
-- stderr
tracehost replay: warning: tracer 'mine': its module is called erl_msg_tracer
EOF

# --- refusals before any code of the library runs ---

# compile NAME: compiles the text on stdin to $work/NAME.so
compile() {
    cat >"$work/$1.c"
    "$CC" -fPIC -shared -Iplugin_api -o "$work/$1.so" "$work/$1.c"
}
# tracer_with STATEMENT NAME: compiles a tracer of plain symbols whose enabled() executes STATEMENT.
tracer_with() {
    compile "$2" <<EOF
#include <erl_tracer.h>
void enif_foo(void), enif_bar(void), driver_output(void), th_foo(void);
void th_bar(void) __attribute__((weak));
TH_TRACER_ENABLED(generic)
{
    $1
    return TH_TRACER_ATOM(env, trace);
}
TH_TRACER_TRACE(generic)
{
}
EOF
}

echo 'int enabled;' >"$work/text.so"
expect 'a text file is refused' replay "$work/text.so" <<'EOF'
-- stderr
tracehost replay: WORK/text.so was refused
  the file is text, not a shared object; compile C code with -fPIC -shared
-- status 5
EOF
echo 'int enabled(void) { return 0; } int trace(void) { return 0; }' >"$work/host.c"
"$CC" -fPIC -shared -Wl,--no-as-needed -o "$work/host.so" "$work/host.c" -L"$BUILD_DIR/lib" -ltracehost
expect 'a tracer that is linked with the library for hosts is refused' replay "$work/host.so" <<'EOF'
-- stderr
tracehost replay: WORK/host.so was refused
  the library is linked with libtracehost.so.0, which is for programs that embed a host; compile it with `pkg-config --cflags tracehost-plugin` and link it without -ltracehost
-- status 5
EOF
: >"$work/empty.so"
expect 'an empty file is refused' replay "$work/empty.so" <<'EOF'
-- stderr
tracehost replay: WORK/empty.so was refused
  the file is empty
-- status 5
EOF
expect 'a program is refused' replay "$tracehost" <<'EOF'
-- stderr
tracehost replay: BUILD/bin/tracehost was refused
  the file is a program; link it with -shared
-- status 5
EOF
head -c 700 "$samples/first_tracer.so" >"$work/short.so"
short() {
    replay "$work/short.so" 2>&1 | sed 's/end at byte [0-9]*/end at byte N/'
}
expect 'a truncated library is refused' short <<'EOF'
tracehost replay: WORK/short.so was refused
  the file is truncated: 700 bytes, but its section headers end at byte N
EOF
cp "$samples/first_tracer.so" "$work/other.so"
printf '\363' | dd of="$work/other.so" bs=1 seek=18 conv=notrunc 2>"$work/dd"
expect 'a library for another machine is refused' replay "$work/other.so" <<EOF
-- stderr
tracehost replay: WORK/other.so was refused
  the file was compiled for RISC-V; this host runs on $(machine)
-- status 5
EOF

tracer_with '' enough
expect 'a tracer with only enabled and trace is loaded' replay "$work/enough.so" <<'EOF'
EOF
tracer_with 'enif_foo();' later
expect 'a library that needs an unknown enif function is refused' replay "$work/later.so" <<'EOF'
-- stderr
tracehost replay: WORK/later.so was refused
  the library needs enif_foo, which is in no NIF API up to 2.18; compile the library with an older erl_nif.h
-- status 5
EOF
tracer_with 'enif_foo(); enif_bar();' two_later
expect 'the message lists both unknown enif functions' replay "$work/two_later.so" <<'EOF'
-- stderr
tracehost replay: WORK/two_later.so was refused
  the library needs enif_bar and enif_foo, which are in no NIF API up to 2.18; compile the library with an older erl_nif.h
-- status 5
EOF
tracer_with 'driver_output();' driver
expect 'a library that needs a function of the driver API is refused' replay "$work/driver.so" <<'EOF'
-- stderr
tracehost replay: WORK/driver.so was refused
  the library needs driver_output, which is of the driver API; this host provides the NIF API only
-- status 5
EOF
tracer_with 'th_foo();' other_module
expect 'a library that needs an unknown function of nif_module.h is refused' "$tracehost" tracers "$work/other_module.so" <<'EOF'
-- stderr
tracehost tracers: WORK/other_module.so was refused
  the library needs th_foo, which is not in nif_module.h of this version of the host; include that header, which makes such functions optional
-- status 5
EOF
tracer_with 'if (th_bar) th_bar();' later_module
expect 'a library with a weak reference to an unknown function is loaded' replay "$work/later_module.so" <<'EOF'
EOF

compile nothing <<'EOF'
int answer = 42;
EOF
expect 'a library that is neither tracer nor plugin is refused' replay "$work/nothing.so" <<'EOF'
-- stderr
tracehost replay: WORK/nothing.so was refused
  the library is neither a plugin nor a tracer: it exports neither nif_init(), which ERL_NIF_INIT makes, nor enabled() and trace()
-- status 5
EOF
compile half <<'EOF'
long trace(void) { return 0; }
EOF
expect 'a library without the symbol enabled is refused' replay "$work/half.so" <<'EOF'
-- stderr
tracehost replay: WORK/half.so was refused
  the library is not a tracer: it lacks enabled/3
-- status 5
EOF

# --- refusals because of the library's code ---

compile misfit <<'EOF'
#include <erl_nif.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *what)
{
    return strcmp(getenv("MISFIT"), what) == 0;
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_atom(env, is("remove") ? "remove" : "trace");
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    return is("load") ? 17 : 0;
}

ErlNifEntry *nif_init(void)
{
    static ErlNifFunc functions[] = {{"trace", 5, enabled, 0}, {"enabled", 3, enabled, 0}};
    static ErlNifEntry entry = {
        ERL_NIF_MAJOR_VERSION, ERL_NIF_MINOR_VERSION, "misfit", 2, functions, load, NULL, NULL, NULL,
        ERL_NIF_VM_VARIANT, 1, sizeof(ErlNifResourceTypeInit), "erts-10.0"};

    if (is("null"))
        return NULL;
    if (is("major"))
        entry.major++;
    if (is("minor"))
        entry.minor += 7;
    if (is("variant"))
        entry.vm_variant = "beam.other";
    if (is("enabled"))
        entry.num_of_funcs = 1;
    if (is("arity"))
        functions[1].arity = 4;
    if (is("unnamed"))
        entry.name = NULL;
    return &entry;
}
EOF
misfit() {
    MISFIT=$1 replay "$work/misfit.so"
}
expect 'a library with a valid entry is loaded' misfit well <<'EOF'
EOF
expect 'a library whose load() fails is refused' misfit load <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  load() returned 17
-- status 5
EOF
expect 'a library for a later minor NIF version is refused' misfit minor <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the library was compiled for NIF version 2.25 of erts-10.0; this host provides 2.18: compile it with an older erl_nif.h
-- status 5
EOF
expect 'a library for another major NIF version is refused' misfit major <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the library was compiled for NIF version 3.18; this host provides 2.18: compile it with an older erl_nif.h
-- status 5
EOF
expect 'a library for another VM variant is refused' misfit variant <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the library was compiled for the VM variant 'beam.other', not 'beam.vanilla'
-- status 5
EOF
expect 'a library whose nif_init() returns NULL is refused' misfit null <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  nif_init() returned NULL
-- status 5
EOF
expect 'a library without a module name is refused' misfit unnamed <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the entry has no module name, or one that is too long for an atom
-- status 5
EOF
expect 'a library without enabled/3 is refused' misfit enabled <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the library is not a tracer: it lacks enabled/3
-- status 5
EOF
expect 'a library with enabled/4 instead of enabled/3 is refused' misfit arity <<'EOF'
-- stderr
tracehost replay: WORK/misfit.so was refused
  the library is not a tracer: it lacks enabled/3
-- status 5
EOF
expect 'a tracer that answers remove to trace_status is refused' misfit remove <<'EOF'
-- stderr
tracehost replay: cannot attach tracer 'WORK/misfit.so'
  the tracer answered 'remove' to enabled(trace_status, ...)
-- status 1
EOF
of_no_use() {
    MISFIT=enabled "$tracehost" tracers "$work/misfit.so" | sed -n '1,/^$/p'
}
expect 'tracers shows a library that is not a tracer' of_no_use <<'EOF'
module      misfit
path        WORK/misfit.so
form        NIF library, compiled for NIF 2.18, at least erts-10.0
functions   1

-- stderr
tracehost tracers: WORK/misfit.so was refused
  the library is not a tracer: it lacks enabled/3
EOF

# --- warnings ---

expect 'callbacks that are never called cause warnings' replay "$tracers/never_called.so" <<'EOF'
-- stderr
tracehost replay: warning: tracer 'BUILD/tests/tracers/never_called.so': its module is called never_called_module
tracehost replay: warning: tracer 'BUILD/tests/tracers/never_called.so': enabled_return_to/3 is never called: there is no such callback
tracehost replay: warning: tracer 'BUILD/tests/tracers/never_called.so': trace_spawn/5 is never called: there is no such callback
tracehost replay: warning: tracer 'BUILD/tests/tracers/never_called.so': trace_call/4 is never called: the callback is trace_call/5
tracehost replay: tracer 'BUILD/tests/tracers/never_called.so': tracees removed from the tracer, as it answered neither 'trace' nor 'discard': 1
EOF

# --- tracehost tracers ---

listed() {
    mkdir -p "$work/list"
    cp "$work/text.so" "$work/other.so" "$work/enough.so" "$work/misfit.so" "$work/list"
    TRACEHOST_PATH=/nowhere "$tracehost" tracers -L "$work/list"
}
expect 'tracers lists libraries that are found, refused or shadowed' listed <<EOF
chrome               NIF library    built in         BUILD/lib/tracehost/tracers/chrome.so
count                NIF library    built in         BUILD/lib/tracehost/tracers/count.so
coverage             NIF library    built in         BUILD/lib/tracehost/tracers/coverage.so
diff                 NIF library    built in         BUILD/lib/tracehost/tracers/diff.so
enough               plain symbols  -L               WORK/list/enough.so
flame                NIF library    built in         BUILD/lib/tracehost/tracers/flame.so
jsonl                NIF library    built in         BUILD/lib/tracehost/tracers/jsonl.so
misfit               NIF library    -L               WORK/list/misfit.so
msg                  NIF library    built in         BUILD/lib/tracehost/tracers/msg.so
nats                 NIF library    built in         BUILD/lib/tracehost/tracers/nats.so
other                refused        -L               WORK/list/other.so
    the file was compiled for RISC-V; this host runs on $(machine)
otlp                 NIF library    built in         BUILD/lib/tracehost/tracers/otlp.so
perfetto             NIF library    built in         BUILD/lib/tracehost/tracers/perfetto.so
report               NIF library    built in         BUILD/lib/tracehost/tracers/report.so
sequence             NIF library    built in         BUILD/lib/tracehost/tracers/sequence.so
speedscope           NIF library    built in         BUILD/lib/tracehost/tracers/speedscope.so
text                 refused        -L               WORK/list/text.so
    the file is text, not a shared object; compile C code with -fPIC -shared
text                 NIF library    built in         BUILD/lib/tracehost/tracers/text.so (shadowed by the one above)
time                 NIF library    built in         BUILD/lib/tracehost/tracers/time.so
trace_port           NIF library    built in         BUILD/lib/tracehost/tracers/trace_port.so
tree                 NIF library    built in         BUILD/lib/tracehost/tracers/tree.so
usdt                 NIF library    built in         BUILD/lib/tracehost/tracers/usdt.so

looked in:
  WORK/list (-L)
  /nowhere (\$TRACEHOST_PATH), which does not exist
  BUILD/lib/tracehost/tracers (built in)
EOF
expect 'tracers shows the slots, settings and imports of a built-in tracer' "$tracehost" tracers count <<'EOF'
module      tracehost_count
path        BUILD/lib/tracehost/tracers/count.so
form        NIF library, compiled for NIF 2.16, at least erts-12.0
functions   3

slot                          filled by
enabled/3                     enabled/3
trace/5                       trace/5
enabled_call/3                enabled/3
trace_call/5                  trace_call/5
enabled_send/3                enabled/3
trace_send/5                  trace/5
enabled_receive/3             enabled/3
trace_receive/5               trace/5
enabled_procs/3               enabled/3
trace_procs/5                 trace/5
enabled_ports/3               enabled/3
trace_ports/5                 trace/5
enabled_running_procs/3       enabled/3
trace_running_procs/5         trace/5
enabled_running_ports/3       enabled/3
trace_running_ports/5         trace/5
enabled_garbage_collection/3  enabled/3
trace_garbage_collection/5    trace/5

setting       may be
by            function, process or tag
              what is counted; tags, then functions without it
format        table, json or csv (default: table)
              how the figures are written
top           a number from 0 to 4294967295 (default: 20)
              how many rows are shown, 0 for all; all in JSON and CSV without it
output        a file, or - for stdout (default: -)
              the file to write to; compressed if it ends in .gz
color         always, never or auto (default: auto)
              whether colours are used; auto: on a terminal, unless NO_COLOR is set, and everywhere if CLICOLOR_FORCE is

imports of the NIF API: 27, all in NIF 2.14 (the newest: enif_vsnprintf)
  enif_alloc_env enif_compare enif_free_env enif_get_atom enif_get_list_cell
  enif_get_list_length enif_get_local_pid enif_get_local_port enif_get_map_size
  enif_get_map_value enif_get_tuple enif_get_uint enif_get_ulong
  enif_inspect_iolist_as_binary enif_is_atom enif_is_identical enif_is_number
  enif_make_atom enif_make_copy enif_make_list enif_make_list_cell
  enif_make_tuple enif_make_uint enif_make_ulong enif_snprintf enif_thread_join
  enif_vsnprintf
EOF
expect 'tracers shows a tracer of plain symbols' "$tracehost" tracers "$work/enough.so" <<'EOF'
module      enough
path        WORK/enough.so
form        plain symbols

slot                          filled by
enabled/3                     enabled/3
trace/5                       trace/5
enabled_call/3                enabled/3
trace_call/5                  trace/5
enabled_send/3                enabled/3
trace_send/5                  trace/5
enabled_receive/3             enabled/3
trace_receive/5               trace/5
enabled_procs/3               enabled/3
trace_procs/5                 trace/5
enabled_ports/3               enabled/3
trace_ports/5                 trace/5
enabled_running_procs/3       enabled/3
trace_running_procs/5         trace/5
enabled_running_ports/3       enabled/3
trace_running_ports/5         trace/5
enabled_garbage_collection/3  enabled/3
trace_garbage_collection/5    trace/5

imports of the NIF API: 1, all in NIF 2.0
  enif_make_atom
EOF
expect 'tracers shows remarks about callbacks that are never called' "$tracehost" tracers "$tracers/never_called.so" <<'EOF'
module      never_called_module
path        BUILD/tests/tracers/never_called.so
form        NIF library, compiled for NIF 2.18, at least erts-14.0
functions   6

slot                          filled by
enabled/3                     enabled/3
trace/5                       trace/5
enabled_call/3                enabled/3
trace_call/5                  trace/5
enabled_send/3                enabled/3
trace_send/5                  trace/5
enabled_receive/3             enabled/3
trace_receive/5               trace/5
enabled_procs/3               enabled/3
trace_procs/5                 trace/5
enabled_ports/3               enabled/3
trace_ports/5                 trace/5
enabled_running_procs/3       enabled/3
trace_running_procs/5         trace/5
enabled_running_ports/3       enabled/3
trace_running_ports/5         trace/5
enabled_garbage_collection/3  enabled/3
trace_garbage_collection/5    trace/5

imports of the NIF API: 0

remarks
  its module is called never_called_module
  enabled_return_to/3 is never called: there is no such callback
  trace_spawn/5 is never called: there is no such callback
  trace_call/4 is never called: the callback is trace_call/5
EOF
expect 'tracers shows why a library is refused' "$tracehost" tracers -L "$work" other <<EOF
-- stderr
tracehost tracers: WORK/other.so was refused
  the file was compiled for RISC-V; this host runs on $(machine)
-- status 5
EOF
expect 'tracers refuses an unknown name' "$tracehost" tracers nothing <<'EOF'
-- stderr
tracehost tracers: there is no library 'nothing'
  looked for nothing.so in BUILD/lib/tracehost/tracers (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost tracers` lists all that are found
-- status 5
EOF

finish
