#!/bin/sh
# Tests tracehost new: each folder that it makes compiles without warnings and passes its own test, in the build tree,
# on four schedulers and in an Erlang node; a folder that cannot be made leaves nothing. tests/try-install tests the
# folders with an installed program.
. tests/cli/lib/assertions.sh

party=$BUILD_DIR/tests/plugins/party.so
export CFLAGS='-O1 -Wall -Wextra -Wpedantic -Werror' CXXFLAGS='-O1 -Wall -Wextra -Wpedantic -Werror' RUSTFLAGS='-D warnings'
export TRACEHOST="$tracehost" ERL_CRASH_DUMP_SECONDS=0
unset PKG_CONFIG_PATH # the Makefile finds the build tree

# --- Folders

# made KIND LANGUAGE [OPTION]...: makes $work/folder/some_KIND.
made() {
    rm -rf "$work/folder"
    mkdir "$work/folder"
    (cd "$work/folder" && "$tracehost" new "$1" "some_$1" --lang="$2" --erlang)
}
in_folder() { # KIND [ARGUMENT]...: runs make
    kind=$1
    shift
    make -s -C "$work/folder/some_$kind" "$@"
}
# compiled KIND [VARIABLE]: compiles with no output of the compiler.
compiled() {
    in_folder "$1" clean && in_folder "$@" >"$work/compiler" 2>&1 && ! grep . "$work/compiler"
}
same_lines() {
    sed 's/<[0-9.]*>/<PID>/g' "$work/out" | tr -d '\r' | diff "$work/wanted" -
}

# The test notices another expected result.
notices_tracer() {
    sed -i 's/tea,2/tea,3/' "$work/folder/some_tracer/expected.txt"
    ! in_folder tracer test
}
notices_plugin() {
    sed -i 's/^6 = /7 = /' "$work/folder/some_plugin/expressions.txt"
    ! in_folder plugin test
}

# Twelve processes call at the same time: no call is lost or counted twice, and no rule is broken.
{
    for _ in $(seq 12); do
        echo 'party:spawn(fib, fib, [17], 2).'
    done
    for _ in $(seq 12); do
        echo "receive {'DOWN', _, process, _, _} -> ok end."
    done
} >"$work/calls"
schedulers_tracer() {
    "$tracehost" run --check --schedulers=4 --duration=60s -t "$work/folder/some_tracer/some_tracer.so" --flags=call,send -p fib:_/_ \
        -f "$work/calls" "$party" fib >"$work/out" || return
    [ "$(grep -c ' calls fib:fib with ' "$work/out")" = 62004 ] && grep -qx '62004 calls, [0-9]* messages' "$work/out" &&
        grep -q '^the first event: <' "$work/out"
}
schedulers_plugin() {
    "$tracehost" call --check --threads=4 --repeat=50 "$work/folder/some_plugin/some_plugin.so" \
        -f "$work/folder/some_plugin/expressions.txt" 2>"$work/err" >"$work/out" &&
        grep -q '200 rounds in 4 processes, 0 evaluations failed' "$work/err"
}

# A new version takes over the data of the old one.
upgraded_tracer() {
    folder=$work/folder/some_tracer
    mkfifo "$work/events"
    "$tracehost" replay --check --watch -t "$folder/some_tracer.so" - <"$work/events" >"$work/out" 2>"$work/err" &
    replay=$!
    exec 3>"$work/events"
    head -n 3 "$folder/events.jsonl" >&3
    until_so grep -q sends "$work/out"
    sed -i 's/ sends / posts /' "$folder/some_tracer".[cr]*
    in_folder tracer && until_so grep -q 'is in use' "$work/err"
    tail -n +4 "$folder/events.jsonl" >&3
    exec 3>&-
    wait $replay && sed '4s/ posts / sends /' "$work/out" | diff samples/new/tracer/expected.txt -
}

node_tracer() {
    in_folder tracer erlang >"$work/out" || return
    cat >"$work/wanted" <<'LINES'
<PID> calls lists:max with [[1,2]]
<PID> sends {max,2} to <PID>
1 calls, 1 messages
the first event: <PID>, {lists,max,[[1,2]]}
LINES
    same_lines
}
node_plugin() {
    in_folder plugin erlang && sed -i 's/^6 = /7 = /' "$work/folder/some_plugin/expressions.txt" && ! in_folder plugin erlang
}

# checked_tracer: `make check`, and the same without random events.
checked_tracer() {
    case $BUILD_DIR:${EMULATOR:-} in # in an emulator, calls are too slow for its limits of time
    */release:) in_folder tracer check >"$work/out" && grep -q '^0 findings; ' "$work/out" || return ;;
    esac
    (cd "$work/folder/some_tracer" && "$tracehost" check --seed=1 --for=0s ./some_tracer.so events.jsonl)
}

for language in c c++ rust; do
    if [ $language = rust ] && ! command -v rustc >/dev/null; then
        skip 'folders for Rust pass their tests' 'no rustc here'
        continue
    fi
    if [ $language = rust ] && [ -n "${EMULATOR:-}" ]; then
        skip 'folders for Rust pass their tests' 'rustc here compiles for this machine'
        continue
    fi
    case $language in
    c) compilers='CC=gcc CC=clang' ;;
    c++) compilers='CXX=g++ CXX=clang++' ;;
    rust) compilers=RUSTC=rustc ;;
    esac
    for kind in tracer plugin; do
        check "a $kind in $language is made" made $kind $language
        for compiler in $compilers; do
            if command -v "${compiler#*=}" >/dev/null; then
                check "... ${compiler#*=} compiles it without a warning" compiled $kind "$compiler"
                check '... it passes its test' in_folder $kind test
                [ $kind$compiler != tracerCC=gcc ] || check '... it has no finding' checked_tracer
            fi
        done
        case $BUILD_DIR in
        */tsan) skip '... it works on four schedulers' 'the thread sanitizer does not know the lock of stdout' ;;
        *) check '... it works on four schedulers' schedulers_$kind ;;
        esac
        if command -v erlc >/dev/null; then
            check '... it works in an Erlang node' node_$kind
        else
            skip '... it works in an Erlang node' 'no Erlang here'
        fi
        check '... its test notices another result' notices_$kind
    done
done
check 'a tracer is made again' made tracer c
check '... it compiles' compiled tracer
check '... a new version continues its counts' upgraded_tracer

cd "$work" || exit
mkdir place
cd place || exit

# left: prints the files here.
left() { find . -mindepth 1 | LC_ALL=C sort; }

expect 'the files and the next commands are printed' "$tracehost" new tracer int <<LINES
made int: Makefile, README.md, int.c, events.jsonl, expected.txt

Go on with
  cd int
  make test TRACEHOST=BUILD/bin/tracehost
LINES
# by_name: an emulator gets the whole path of the program.
by_name() {
    (PATH=$BUILD_DIR/bin:$PATH && tracehost new plugin linux --erlang -o 'x y//') >"$work/by_name"
    status=$?
    sed "${EMULATOR:+s| TRACEHOST=$BUILD_DIR/bin/tracehost||}" "$work/by_name"
    return $status
}
expect 'a program that is found by its name needs no path' by_name <<'LINES'
made x y: Makefile, README.md, linux.c, linux.erl, expressions.txt

Go on with
  cd 'x y'
  make test
LINES
expect '... all files are there, and no other ones' left <<'LINES'
./int
./int/Makefile
./int/README.md
./int/events.jsonl
./int/expected.txt
./int/int.c
./x y
./x y/Makefile
./x y/README.md
./x y/expressions.txt
./x y/linux.c
./x y/linux.erl
LINES
names_pass() {
    make -s -C int test && make -s -C 'x y' test && ! grep -r placeholder .
}
blank_in_path() {
    ln -s "$BUILD_DIR" "$work/a tree"
    make -s -C int clean && make -s -C int test TRACEHOST="$work/a tree/bin/tracehost"
}
check 'a program whose path has a blank is found, and its headers' blank_in_path
check 'names that are words or macros of C work, and no placeholder is left' names_pass
modes() { (umask 027 && "$tracehost" new plugin modes >/dev/null && stat -c %a modes modes/Makefile); }
expect 'the umask is obeyed' modes <<'LINES'
750
640
LINES
rm -rf int 'x y' modes

# --- Errors, which leave nothing

refused_name() {
    "$tracehost" new tracer "$1" 2>&1 | head -n 1
}
for name in '' Big 9lives _x a-b 'a b' a/b a.c ä; do
    expect "the name '$name' is refused" refused_name "$name" <<LINES
tracehost new: NAME must be a lower-case letter, and letters, digits and _ behind it, not '$name'
LINES
done
expect 'a reserved word of Erlang is refused' refused_name receive <<'LINES'
tracehost new: NAME must not be 'receive', a reserved word of Erlang: choose another name
LINES
for words in '' tracer 'probe x' 'tracer x y' 'tracer x --lang=ada' 'tracer Big' 'tracer end' 'tracer x --output='; do
    # shellcheck disable=SC2086
    "$tracehost" new $words >said 2>&1
    status=$?
    rm said
    check "wrong arguments have status 2: new $words" [ $status = 2 ]
done

mkdir there
touch file
ln -s nowhere link
for name in there file link; do
    expect "an existing $name is not changed" "$tracehost" new tracer $name <<LINES
-- stderr
tracehost new: $name exists already: choose another NAME or -o DIR
-- status 1
LINES
done
expect 'a folder in a missing folder is refused' "$tracehost" new tracer x -o none/x <<'LINES'
-- stderr
tracehost new: cannot make the folder none/x: No such file or directory
-- status 1
LINES
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod 555 closed
    expect 'a folder that cannot be written is refused' "$tracehost" new tracer x -o closed/x <<'LINES'
-- stderr
tracehost new: cannot make the folder closed/x: Permission denied
-- status 1
LINES
    rmdir closed
else
    skip 'a folder that cannot be written is refused' 'root may write to all folders'
fi
# With one block the Makefile cannot be written, with four the source.
for blocks in 1 4; do
    small_files() {
        (ulimit -f "$blocks" && "$tracehost" new tracer x) 2>&1 | sed 's,/.*:,/FILE:,'
    }
    expect "with files of at most $blocks blocks, the folder is not made" small_files <<'LINES'
tracehost new: cannot write x/FILE: File too large
LINES
done
# A folder of this name can be made, a file with a suffix behind it cannot.
long_name=$(printf '%0248d' 0 | tr 0 a)
long_files() { "$tracehost" new tracer "${long_name}abcdef" -o x 2>&1 | sed 's,/.*:,/FILE:,'; }
expect 'a name that is too long for a file is refused' long_files <<'LINES'
tracehost new: cannot write x/FILE: File name too long
LINES
expect 'nothing is left' left <<'LINES'
./file
./link
./there
LINES

finish
