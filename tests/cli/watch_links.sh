#!/bin/sh
# Tests --watch: files behind symbolic links.
. tests/cli/lib/assertions.sh
. tests/cli/lib/watched_plugin.sh

for word in one two three four five six seven; do
    for kind in tracer plugin; do
        make $kind $word "$work/$kind.$word" -DPRINTS
    done
done

# made/at/tracer.so -> ../middle/link.so -> made/real/tracer.so; made/current -> release1
cd "$folder" || exit 1
mkdir at middle real other release1 release2
cp "$work/tracer.one" real/tracer.so
ln -s "$folder/real/tracer.so" middle/link.so
ln -s ../middle/link.so at/tracer.so
cp "$work/plugin.one" release1/plugin.so
ln -s release1 current
for _ in $(seq 100000); do
    echo 'plugin:word(). receive after 5 -> ok end.'
done >"$work/forms"
"$tracehost" run --watch -t at/tracer.so -p plugin:_/_ -f "$work/forms" ./current/plugin.so >"$work/out" 2>"$work/err" &
host=$!

# A line of its own, as often as new ones are printed.
prints_more() {
    [ "$(grep -cx "$1" "$work/out")" -gt $((printed + 3)) ]
}
prints() {
    printed=$(grep -cx "$1" "$work/out")
    until_so prints_more "$1"
}

# put WHAT FILE: at once.
put() {
    cp "$1" "$work/moved"
    mv "$work/moved" "$2"
}
# relink TARGET LINK: at once.
relink() {
    ln -s "$1" "$work/relinked"
    mv -T "$work/relinked" "$2"
}

check 'the host runs' prints one
put "$work/tracer.two" real/tracer.so
check 'another file takes the place of the last one' prints two
cat "$work/tracer.three" >real/tracer.so
check 'which is written in place' prints three
cp "$work/tracer.four" other/tracer.so
relink ../other/tracer.so middle/link.so
check 'a link in the middle leads elsewhere' prints four
put "$work/tracer.five" other/tracer.so
check 'where another file comes' prints five
rm at/tracer.so
ln -s "$folder/real/six.so" at/tracer.so
put "$work/tracer.six" real/six.so
check 'the first link leads to a file that comes later' prints six
exec 5>real/seven.so # which is closed below
head -c 5000 "$work/tracer.seven" >&5
relink ../real/seven.so at/tracer.so
cp "$work/plugin.two" release2/plugin.so
relink release2 current
check 'a folder that is a link leads elsewhere' prints 'plugin two'
tail -c +5001 "$work/tracer.seven" >&5
exec 5>&-
check 'a file that is being written is awaited' prints seven
put "$work/plugin.three" release2/plugin.so
check 'in that folder another file comes' prints 'plugin three'
said() {
    sed 's/, generation .*//' "$work/err" | sort | uniq -c | sed 's/^ *//'
}
cd "$OLDPWD" || exit 1
expect 'nothing else is said' said <<'EOF'
2 tracehost run: the new ./current/plugin.so is loaded: module plugin
6 tracehost run: the new at/tracer.so is in use
EOF
kill -TERM $host
wait $host
check 'it ends as told' test $? = 143

finish
