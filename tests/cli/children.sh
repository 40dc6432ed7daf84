#!/bin/sh
# Tests libraries that fork: a child ends in its own way, writes no output twice, and is no second host.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
ulimit -c 0
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" # a child has no business with its parent's threads

# A tracer whose third callback forks; the child ends as $CHILD says, and the parent waits for it.
cat >"$work/forks.c" <<'EOF'
#include <erl_tracer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void end_child(const char *how)
{
    if (strcmp(how, "prints") == 0)
        printf("from the child\n");
    if (strcmp(how, "crashes") == 0)
        abort();
    exit(0);
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    static int calls;
    int status;
    pid_t child;

    if (++calls != 3)
        return;
    child = fork();
    if (child == 0 && strcmp(getenv("CHILD"), "returns") == 0)
        return;
    if (child == 0)
        end_child(getenv("CHILD"));
    waitpid(child, &status, 0);
    fprintf(stderr, "child: exit %d, signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/forks.so" "$work/forks.c"
# forked HOW: prints the output on stdout and the output in a file.
forked() {
    CHILD=$1 "$tracehost" replay -L "$work" -t text -t text,output="$work/text" -t forks --max-events=4 "$calls"
    echo "status $?"
    cat "$work/text"
}
expect 'a child that exits does not repeat buffered output' forked exits <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
status 0
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
-- stderr
child: exit 0, signal 0
EOF
expect 'output of a child is printed once' forked prints <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
from the child
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
status 0
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
-- stderr
child: exit 0, signal 0
EOF
expect 'a crash of a child does not end the host' forked crashes <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
status 0
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
-- stderr
child: exit 0, signal 6
EOF

# A child that returns would be a second host, with half of the threads and its parent's files.
expect 'a child that returns to a replay is ended' forked returns <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
status 0
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
-- stderr
tracehost: a process that a library has forked came back to the host, and is ended
child: exit 6, signal 0
EOF
cat >"$work/forker.c" <<'EOF'
#include <erl_nif.h>

#include <sys/wait.h>
#include <unistd.h>

static ERL_NIF_TERM child(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int status = 0;
    pid_t child = fork();

    (void)argc, (void)argv;
    if (child)
        waitpid(child, &status, 0);
    return enif_make_int(env, child ? WEXITSTATUS(status) : -1);
}

static ErlNifFunc functions[] = {
    {"normal", 0, child, 0}, {"dirty", 0, child, ERL_NIF_DIRTY_JOB_CPU_BOUND}};
ERL_NIF_INIT(forker, functions, NULL, NULL, NULL, NULL)
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/forker.so" "$work/forker.c"
for command in 'call' 'run -t count,output=/dev/null'; do
    for function in normal dirty; do
        expect "a child that returns to ${command%% *} is ended, $function" \
            "$tracehost" $command "$work/forker.so" "{forker:$function(), done}." <<'EOF'
{6,done}
-- stderr
tracehost: a process that a library has forked came back to the host, and is ended
EOF
    done
done

finish
