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

# prints_more LINE: succeeds if LINE was printed more than three times since `prints` was called.
prints_more() {
    [ "$(grep -cx "$1" "$work/out")" -gt $((printed + 3)) ]
}
prints() {
    printed=$(grep -cx "$1" "$work/out")
    until_so prints_more "$1"
}

# put SOURCE FILE: replaces FILE at once.
put() {
    cp "$1" "$work/moved"
    mv "$work/moved" "$2"
}
# relink TARGET LINK: replaces LINK at once.
relink() {
    ln -s "$1" "$work/relinked"
    mv -T "$work/relinked" "$2"
}

check 'the tracer at the end of the links gets events' prints one
put "$work/tracer.two" real/tracer.so
check 'a new file at the end of the links is loaded' prints two
cat "$work/tracer.three" >real/tracer.so
check 'a file behind links that is written in place is loaded' prints three
cp "$work/tracer.four" other/tracer.so
relink ../other/tracer.so middle/link.so
check 'a changed link in the middle loads the new target' prints four
put "$work/tracer.five" other/tracer.so
check 'a new file at the new target is loaded' prints five
rm at/tracer.so
ln -s "$folder/real/six.so" at/tracer.so
put "$work/tracer.six" real/six.so
check 'a changed first link loads its target once the file exists' prints six
exec 5>real/seven.so # which is closed below
head -c 5000 "$work/tracer.seven" >&5
relink ../real/seven.so at/tracer.so
cp "$work/plugin.two" release2/plugin.so
relink release2 current
check 'a changed link to a folder loads the plugin in the new folder' prints 'plugin two'
tail -c +5001 "$work/tracer.seven" >&5
exec 5>&-
check 'a file that is being written is loaded when it is closed' prints seven
put "$work/plugin.three" release2/plugin.so
check 'a new plugin in the new folder is loaded' prints 'plugin three'
said() {
    sed 's/, generation .*//' "$work/err" | sort | uniq -c | sed 's/^ *//'
}
cd "$OLDPWD" || exit 1
expect 'each replacement is reported once, and nothing else' said <<'EOF'
2 tracehost run: the new ./current/plugin.so is loaded: module plugin
6 tracehost run: the new at/tracer.so is in use
EOF
kill -TERM $host
wait $host
check 'SIGTERM ends the run with status 143' test $? = 143

finish
