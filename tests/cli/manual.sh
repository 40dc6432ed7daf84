#!/bin/sh
# Tests the manual pages: they match --help, and are well-formed. tests/samples/pages.sh runs their examples.
case ${BUILD_DIR:-} in
*asan | *tsan) echo 'the pages are the same in each build'; exit 77 ;;
esac
. tests/cli/lib/assertions.sh

man=$BUILD_DIR/share/man
pages=$(cd "$man" && echo man*/*)

expected() {
    "$tracehost" --help | sed -n 's|^  \([a-z]*\)   *[^ ].*|man1/tracehost-\1.1|p'
    echo man1/tracehost.1
    for header in erl_nif erl_tracer nif_module tracehost; do
        echo "man3/$header.h.3"
    done
    echo man5/tracehost-jsonl.5
    echo man7/tracehost-nats.7
    echo man7/tracehost-node.7
    echo man7/tracehost-python.7
    echo man7/tracehost-tracer.7
    echo man7/tracehost-tracers.7
    echo man7/tracehost.7
}
expect 'each command and each header has a manual page' echo "$pages" <<EOF
$(expected | sort | tr '\n' ' ' | sed 's/ $//')
EOF

# --- the text of the pages

expect 'the pages of commands match --help' tests/cli/lib/compare_manual.py compare "$tracehost" "$man" </dev/null
expect 'each page that is referred to exists' tests/cli/lib/compare_manual.py references "$man" </dev/null

# A comparison that reports nothing may be broken: these pages have known faults.
worse() {
    cp -r "$man" "$work/man"
    (
        cd "$work/man/man1" || exit
        sed -i '/fB\\-\\-stats/,+1d; s/^Likewise for/The same for/' tracehost-replay.1
        sed -i '/^.SS Output/d; s/^.SS Events/.SS Output\n&/' tracehost-report.1
        sed -i '/^.BR tracehost\\-convert (1)/,+1d; s/partial/broken/' tracehost.1
        sed -i 's/tracehost\\-info\\fP(1)/tracehost\\-infos\\fP(1)/' tracehost-dump.1
        sed -i 's/it matches/it does match/' tracehost-match.1
        sed -i 's/info \\-\\-top=5/info \\-\\-top=6/; s/^Counts/It counts/' tracehost-info.1
        rm tracehost-call.1
        cp tracehost-run.1 tracehost-ran.1
    )
    tests/cli/lib/compare_manual.py compare "$tracehost" "$work/man"
    tests/cli/lib/compare_manual.py references "$work/man"
}
expect 'the comparison reports each difference and each missing page' worse <<'EOF'
tracehost.1: COMMANDS are not those of --help
tracehost.1: EXIT STATUS is not that of --help
tracehost-call.1: is not there
tracehost-ran.1: there is no such command
tracehost-replay.1: lacks --stats
tracehost-replay.1: of --ports=LIST it says "The same for ports", --help "Likewise for ports"
tracehost-report.1: has the options in another order or other groups
tracehost-info.1: DESCRIPTION does not begin with "Counts the records of streams: by tag, by tracee and by called function. Several are merged by time. STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst), - for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME."
tracehost-info.1: lacks "tracehost info --top=5 samples/recordings/s04_genserver_pingpong.trace"
tracehost-match.1: lacks "Exit status: 0 it matches, 1 it does not, 4 that is unknown, 3 SPEC has a"
tracehost-dump.1: there is no tracehost-infos(1)
tracehost-new.1: there is no tracehost-call(1)
tracehost-plugins.1: there is no tracehost-call(1)
tracehost-ran.1: there is no tracehost-call(1)
tracehost-run.1: there is no tracehost-call(1)
tracehost.1: there is no tracehost-call(1)
tracehost.7: there is no tracehost-call(1)
-- status 1
EOF

# The fields that the host reads and writes: the fields of the header, and the fields of the table of JSON lines.
fields() {
    sed -n '/^void th_replay_json_write_header/,/^}/ s/.*add_[a-z]*_field(out, "\([a-z]*\)".*/\1/p' host/replay/json_writer.c
    sed -n 's/^    X(\([a-z_]*\), TH_JSON.*/\1/p' host/replay/json_lines.h
}
expect 'tracehost-jsonl(5) has every field' tests/cli/lib/compare_manual.py fields "$man/man5/tracehost-jsonl.5" <<EOF
$(fields)
EOF

# --- the form of the pages

# warnings PAGE: prints the warnings of all formatters of the page, and lines that are too wide.
warnings() {
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 "$1" 2>&1 >/dev/null
    groff -t -man -ww -Kutf8 -Tutf8 "$1" 2>&1 >/dev/null
    mandoc -Tlint -W warning "$1"
    LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat man -l "$1" | sed 's/─/-/g' |
        awk 'length($0) > 80 { print "too wide: " $0 }'
    name=$(basename "${1%.*}")
    lexgrog "$1" | grep -q "\"$name - [^ ]" || echo 'whatis(1) finds no name'
}
for page in $pages; do
    expect "$page is well-formed" warnings "$man/$page" </dev/null
done

# All links of the page for browsers have one target; all pages, and functions of other pages, are linked.
links() {
    # shellcheck disable=SC2086
    (cd "$man" && python3 -B "$SOURCE_DIR/host/cli/manual/make_html" 0.1 $pages) >"$work/manual.html"
    grep -o 'id="[^"]*"' "$work/manual.html" | sed 's/id="\(.*\)"/\1/' | sort >"$work/ids"
    grep -o 'href="#[^"]*"' "$work/manual.html" | sed 's/href="#\(.*\)"/\1/' | sort -u >"$work/links"
    uniq -d "$work/ids" | sed 's/^/twice: /'
    comm -13 "$work/ids" "$work/links"
    printf '%s\n' tracehost_error_link enif_make_list9 th_load_code tracehost-replay.1:OPTIONS $pages |
        sed 's,.*/,,' | sort | comm -23 - "$work/links"
}
expect 'each link of the HTML page has one target' links </dev/null

found_by_name() { man -M "$man" -w tracehost-replay tracehost-tracer tracehost-jsonl tracehost.h | sed "s|$man|MAN|"; }
expect 'man finds the pages in the build tree' found_by_name <<'EOF'
MAN/man1/tracehost-replay.1
MAN/man7/tracehost-tracer.7
MAN/man5/tracehost-jsonl.5
MAN/man3/tracehost.h.3
EOF

# --- the sources of the pages

# Each function of a header that is declared, or defined by a macro, has a declaration in the header's page.
undeclared() {
    for header in erl_nif erl_tracer nif_module tracehost; do
        sed -nE 's/^(static |ERL_NAPI_EXPORT|TH_MODULE_API|TRACEHOST_API|TH_TRACER_EXPORT).*[ *](\w+)\(.*/\2/p' plugin_api/$header.h |
            grep -v '^TH_\|_ATTR_' | sort -u | while read -r name; do
            grep -q "B$name.fP(" "$man/man3/$header.h.3" || echo "$header.h.3: $name() is missing"
        done
    done
    grep -qc 'fBenif_make_list9.fP(' "$man/man3/erl_nif.h.3" || echo 'erl_nif.h.3: enif_make_list9() is missing'
}
expect 'the pages of headers describe all functions' undeclared </dev/null

# header: prints the declarations of a header from stdin, as make_page takes them.
header() {
    cat >"$work/header.h"
    python3 -B - "$work/header.h" <<'EOF'
import sys

sys.path.insert(0, 'host/cli/manual')
from header_text import Header

header = Header(sys.argv[1])
print(*header.introduction(), '----', *header.declarations(), sep='\n')
EOF
}
some_header() {
    header <<'EOF'
/*
 * Opens doors.
 *
 *     #include <door.h>
 */
#ifndef DOOR_H
#define DOOR_H

/* --- Doors --- */

/* Rules. All doors
 * have `hinges`. */

typedef struct door door;

/* Opens DOOR, see door_shut().
 *   - once
 *   - or twice
 * Owner: the caller of F. Source: wood.
 * Errors: DOOR_STUCK. */
TH_MODULE_API int door_open(const struct door *door, void (*creak)(void *context, const char *how), void *context);
extern void door_shut(void) __attribute__((cold));

struct hinge {
    size_t size;
    int left, right; /* in mm:
                      * never 0 */
    /* The state. */
    bool oiled;
};
struct pin { /* does not grow */
    int width;
};

/* Ways. */
enum way {
#define ROW(name) WAY_##name,
    WAYS(ROW)
#undef ROW
        WAY_COUNT
};

/* WAYS(X): X(name) for each. */
#define WAYS(X) \
    X(in) \
    X(out)

#define MAKE(n, ...) \
    static __inline__ int door##n(int a) \
    { \
        return n; \
    }
/* Makes. */
MAKE(7, a)
#undef MAKE

/* Not shown. */
#if 0
#endif

/* Internals. */
int hidden(void);
#endif
EOF
}
expect 'headers become man(7) text' some_header <<'EOF'
.PP
Opens doors.
.PP
.EX
#include <door.h>
.EE
----
.SS Doors
\fBRules.\fP
All doors have \fBhinges\fP.
.PP
.nf
typedef struct door door;
.fi
.PP
.nf
int \fBdoor_open\fP(const struct door *\fIdoor\fP,
\&    void (*\fIcreak\fP)(void *\fIcontext\fP, const char *how), void *\fIcontext\fP);
void \fBdoor_shut\fP(void);
.fi
.RS 4
Opens \fIDOOR\fP, see \fBdoor_shut\fP().
.IP \(bu 2
once
.IP \(bu 2
or twice
.TP 9
\fBOwner:\fP
the caller of F.
.TP 9
\fBSource:\fP
wood.
.TP 9
\fBErrors:\fP
DOOR_STUCK.
.RE
.PP
.nf
struct hinge {...};
.fi
.RS 4
.nf
\fBsize_t size\fP
.fi
.TP
\fBint left, right\fP
in mm: never 0
.TP
\fBbool oiled\fP
The state.
.RE
.PP
.nf
struct pin {...};
.fi
.RS 4
does not grow
.PP
.nf
\fBint width\fP
.fi
.RE
.PP
.nf
enum way {...};
.fi
.RS 4
Ways.
.PP
WAY_in, WAY_out, WAY_COUNT
.RE
.PP
.nf
#define \fBWAYS\fP(X)
.fi
.RS 4
WAYS(X): X(name) for each.
.PP
.EX
X(in)
X(out)
.EE
.RE
.PP
.nf
int \fBdoor7\fP(int \fIa\fP);
.fi
.RS 4
Makes.
.RE
EOF

# markdown: prints a page of Markdown from stdin, as make_page takes it.
markdown() {
    cat >"$work/page.1.md"
    python3 - "$work/page.1.md" 2>&1 <<'EOF'
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, 'host/cli/manual')
from man_text import Fault, Markdown

try:
    for kind, content in Markdown(sys.argv[1], 'page(1)'):
        print(*(content if kind == 'text' else [kind + ' ' + content]), sep='\n')
except Fault as fault:
    print(str(fault).replace(sys.argv[1], 'page'))
EOF
}
all_of_it() {
    markdown <<'EOF'
# page(1)

## DESCRIPTION

A `word-1`, a **bold**
one, an *italic*, the option --top, [a link](page.1.md), ls(1); 2 * 3 * 4.

### More of it

* an item
  of two lines
* `a`, *B*: a term

| term | text |
|---|---|
| `x \| y` | a cell |

| what | there | here |
|---|---|---|
| one | `x` and something that takes a line of its own | |

```console
$ echo '\1' `ls`
.
```

<!-- @tags@ -->
EOF
}
expect 'Markdown becomes man(7) text' all_of_it <<'EOF'
section DESCRIPTION
.PP
A \fBword\-1\fP, a \fBbold\fP one, an \fIitalic\fP, the option \fB\-\-top\fP,
a link, \fBls\fP(1); 2 * 3 * 4.
.SS More of it
.IP \(bu 2
an item of two lines
.TP
\fBa\fP, \fIB\fP
a term
.TP
\fBx | y\fP
a cell
.TS
lbw(14n) lbw(40n) lbw(10n)
lw(14n) lw(40n) lw(10n).
T{
what
T}	T{
there
T}	T{
here
T}
_
T{
one
T}	T{
\fBx\fP and something that takes a line of its own
T}	T{
T}
.TE
.PP
.EX
$ echo \(aq\e1\(aq \(gals\(ga
\&.
.EE
insert tags
EOF
refused() {
    for text in '#### Deep' '> quoted' '1. one' '- dashed' '<b>raw</b>' '.B raw' '* [a](none.md)' '```' '```sh' '| a | b | c |' '| a |' "$(printf '| %075d | b | c |\n' 1 2 3)"; do
        printf '# page(1)\n\n%s\n' "$text" | markdown
    done
    echo '# other(1)' | markdown
}
expect 'unknown Markdown is refused' refused <<'EOF'
page:3: unknown Markdown: #### Deep
page:3: unknown Markdown: > quoted
page:3: unknown Markdown: 1. one
page:3: unknown Markdown: - dashed
page:3: unknown Markdown: <b>raw</b>
.PP
\&.B raw
.IP \(bu 2
a
page:3: there is no none.md
page:3: an example is ```LANGUAGE or ```LANGUAGE >FILE
page:3: an example without end
page:3: a table has a heading, and two columns or more in all rows
page:3: a table has a heading, and two columns or more in all rows
page:3: the longest words of the columns need more than 70 characters
page:1: is not "# page(1)"
EOF

# --- The examples of --help

# The examples run in a folder that looks like the top of the source tree. An example that ends with & starts
# a host with a socket.
mkdir "$work/examples"
ln -s "$PWD/samples" "$work/examples/samples"
command_examples() (
    cd "$work/examples" || exit
    PATH=$BUILD_DIR/bin:$PATH
    for command in '' $("$tracehost" --help | sed -n 's|^  \([a-z]*\)   *[^ ].*|\1|p'); do
        # shellcheck disable=SC2086 # the program itself has no word
        "$tracehost" $command --help | sed -n '/^Examples:$/,/^$/ s/^  tracehost/tracehost/p'
    done >list
    sed -i '/nats:/d' list # they need a server; tests/cli/nats.sh has one
    [ -z "${EMULATOR:-}" ] || sed -i '/^tracehost bench /s/$/ --runs=20/' list # an emulator is slow
    while read -r example; do
        sh -c "$example" >out 2>&1 </dev/null || echo "$example: $(cat out)"
        case $example in *'&') until tracehost ctl socket status >status 2>&1; do sleep 0.1; done ;; esac
    done <list
    tracehost ctl socket stop >stopped
    [ "$(wc -l <list)" -gt 20 ] || echo 'few examples'
)
expect 'the examples of --help succeed' command_examples </dev/null
finish
