#!/bin/sh
# Tests --watch: a file that is being written is not loaded before it is closed, and ends no host, however it is
# written.
. tests/cli/lib/assertions.sh
. tests/cli/lib/watched_plugin.sh

for word in one two three last; do
    make tracer $word "$work/tracer.$word"
    make plugin $word "$work/plugin.$word"
done
first=$folder/first/tracer.so
second=$folder/second/tracer.so
plugin=$folder/plugin.so
mkdir "$folder/first" "$folder/second"
cp "$work/tracer.one" "$first"
cp "$work/tracer.one" "$second"
cp "$work/plugin.one" "$plugin"

for _ in $(seq 100000); do
    echo 'plugin:word(). receive after 5 -> ok end.'
done >"$work/forms"
"$tracehost" run --watch -t "$folder/first/tracer.so" -t "$folder/second/tracer.so" -p plugin:_/_ -f "$work/forms" "$folder/plugin.so" \
    >"$work/out" 2>"$work/err" &
host=$!

# said TEXT [TIMES]: waits until TIMES lines of stderr have TEXT.
said_now() {
    [ "$(grep -c -- "$1" "$work/err")" -ge "${2:-1}" ]
}
said() {
    until_so said_now "$@"
}
# prints WORD: waits until WORD was printed several more times.
prints_more() {
    [ "$(grep -cx "$1" "$work/out")" -gt $((printed + 3)) ]
}
prints() {
    printed=$(grep -cx "$1" "$work/out")
    until_so prints_more "$1"
}

check 'the first tracers get events' prints one

# --- a file that is open for writing ---

# move SOURCE FILE: replaces FILE at once.
move() {
    cp "$1" "$work/moved"
    mv "$work/moved" "$2"
}
move "$work/tracer.two" "$second"
check 'a tracer that is moved into place is loaded' said 'the new .*/second/tracer.so is in use'
rm "$first"
exec 5>"$first" # which is closed below
head -c 5000 "$work/tracer.two" >&5
move "$work/plugin.two" "$plugin"
check 'a plugin is loaded while another file is half written' said 'the new .*/plugin.so is loaded'
move "$work/tracer.three" "$second"
check 'a tracer is loaded while another file is half written' said 'the new .*/second/tracer.so is in use' 2
silent() {
    ! grep 'the new .*/first/tracer.so' "$work/err"
}
check 'a half-written file is neither loaded nor reported' silent
tail -c +5001 "$work/tracer.two" >&5
exec 5>&-
check 'a half-written file is loaded when it is closed' said 'the new .*/first/tracer.so is in use'
rm "$first"
ln "$work/tracer.three" "$first"
check 'a hard link to a complete file is loaded' said 'the new .*/first/tracer.so is in use' 2
rm "$first"
ln -s "$work/tracer.two" "$first"
check 'a symbolic link to a complete file is loaded' said 'the new .*/first/tracer.so is in use' 3
nothing_else() {
    [ "$(grep -c . "$work/err")" = 6 ]
}
check 'each replacement is reported once, and nothing else' nothing_else

# --- a recreated folder, in which a file is open for writing ---

mkdir "$work/anew"
exec 5>"$work/anew/tracer.so" # which is closed below
head -c 5000 "$work/tracer.three" >&5
rm -r "$folder/first"
mv "$work/anew" "$folder/first"
rm -r "$folder/second"
mkdir "$folder/second"
move "$work/tracer.one" "$second"
check 'a tracer in a recreated folder is loaded' said 'the new .*/second/tracer.so is in use' 3
half_silent() {
    [ "$(grep -c 'the new .*/first/tracer.so' "$work/err")" = 3 ]
}
check 'a half-written file in a recreated folder is not loaded' half_silent
tail -c +5001 "$work/tracer.three" >&5
exec 5>&-
check 'a half-written file in a recreated folder is loaded when it is closed' said 'the new .*/first/tracer.so is in use' 4

# --- files that are written again and again ---

# put HOW SOURCE FILE: writes FILE as cp, install, mv, a linker or a shell does.
put() {
    case $1 in
    0) cp "$2" "$3" ;;
    1) install "$2" "$3" ;;
    2) cp "$2" "$3.new" && mv "$3.new" "$3" ;;
    3) rm "$3" && {
        head -c 4096 "$2"
        tail -c +4097 "$2"
    } >"$3" ;;
    4) cat "$2" >"$3" ;;
    esac
}
rm "$first" # a link would be written through
cp "$work/tracer.one" "$first"
i=0
while [ $i -lt 60 ]; do
    case $((i % 3)) in
    0) word=one ;;
    1) word=two ;;
    2) word=three ;;
    esac
    put $((i % 5)) "$work/tracer.$word" "$first"
    put $((i % 5)) "$work/tracer.$word" "$second"
    put $((i % 5)) "$work/plugin.$word" "$plugin"
    i=$((i + 1))
done
for word in four five six; do
    make tracer $word "$first"
    make plugin $word "$plugin"
done
check 'the host outlives files that are rewritten again and again' kill -0 $host
cp "$work/tracer.last" "$first"
cp "$work/tracer.last" "$second"
cp "$work/plugin.last" "$plugin"
all_last() {
    [ "$(tail -n 20 "$work/out" | sort -u)" = last ]
}
check 'the last tracers and the last plugin run' until_so all_last
kill -TERM $host
wait $host
check 'SIGTERM ends the run with status 143' test $? = 143

finish
