#!/bin/sh
# Tests samples/quickstart, after installation and build: from any folder, with less than a screen of output.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=build/release}"
top=$work/top
mkdir -p "$top/samples" "$top/build" "$work/bin"
cp samples/quickstart "$top/samples"
ln -s "$(realpath samples/recordings)" "$top/samples/recordings"
ln -s "$(realpath "$BUILD_DIR")" "$top/build/release"

# fake_scons WHAT IT DOES
fake_scons() {
    printf '#!/bin/sh\n%s\n' "$1" >"$work/bin/scons"
    chmod +x "$work/bin/scons"
}
quickstart() {
    cd "$work" && PATH=$work/bin:$PATH NO_COLOR=1 top/samples/quickstart "$@" | sed 's/-j[0-9]*/-jN/'
}

fake_scons 'echo built'
expect 'quickstart builds tracehost and replays a recording' quickstart --no-install <<'LINES'
building (scons -jN mode=release) ...
samples/recordings/s03_exceptions_return_to.trace was made by an Erlang node. How it begins, and what is in it:

$ tracehost replay --max-events=8 samples/recordings/s03_exceptions_return_to.trace
0.000000 <0.89.0>   call ex:mid(err)
0.000007 <0.89.0>   call ex:caught(err)
0.000009 <0.89.0>   call ex:b1(err)
0.000010 <0.89.0>   call ex:b2(err)
0.000011 <0.89.0>   call ex:b3(err)
0.000013 <0.89.0>   call ex:b4(err)
0.000014 <0.89.0>   call ex:c4(err)
0.000016 <0.89.0>   exception ex:c4/1 ! error:boom

$ tracehost replay -t count,top=2 samples/recordings/s03_exceptions_return_to.trace
      events       %  tag
          34   39.08  call
          19   21.84  return_to
          18   20.69  exception_from
          16   18.39  return_from
          87  100.00  all

       calls       %   errors  function
           4   11.76        3  ex:b1/1
           4   11.76        3  ex:b2/1
          26   76.47       12  10 more
The program is build/release/bin/tracehost. To write a tracer: samples/writing-a-tracer.md
LINES

fake_scons 'echo "no compiler"; exit 2'
fails() {
    cd "$work" && PATH=$work/bin:$PATH top/samples/quickstart --no-install | sed 1d
}
expect 'quickstart prints the errors of a failed build' fails <<'LINES'
-- stderr
no compiler
LINES

finish
