# Sourced by the tests of replay --isolate and --on-crash=continue, after assertions.sh: builds the tracer `dying`.
ulimit -c 0
# build_tracer FILE SOURCE FLAG...
build_tracer() {
    made=$1
    shift
    "$CC" -std=gnu11 -D_GNU_SOURCE -O1 -fPIC -shared -Iplugin_api -I. -o "$made" "$@" -lz
}
mkdir "$work/lib"
build_tracer "$work/lib/dying.so" tests/cli/isolate/dying.c || exit 1
top=$PWD
pingpong=$top/$recordings/s04_genserver_pingpong.trace

# replayed FOLDER ARGUMENT...: replays in FOLDER, with all that the command writes in files there. The time of a replay is
# left out.
replayed() {
    rm -rf "$work/$1"
    mkdir -p "$work/$1"
    (
        cd "$work/$1" || exit 1
        shift
        "$tracehost" replay "$@" >stdout 2>stderr </dev/null
        echo $? >status
        sed -i 's/^played in .*/played/' stderr
    )
}
