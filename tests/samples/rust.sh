#!/bin/sh
# Tests the crate of samples/rust: its declarations have the layout of tracehost.h; panics, errors and loaded tracers.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=$PWD/build/release}" "${CC:=gcc}"
if ! command -v rustc >/dev/null; then
    skip 'the crate of samples/rust' 'no rustc here'
    finish
fi
needs_machine 'the crate of samples/rust' 'Rust has no library for the other machine here'
case $BUILD_DIR in
*/release | */debug) ;;
*)
    skip 'the crate of samples/rust' 'the sanitizer must be there before the program'
    finish
    ;;
esac

library=$BUILD_DIR/lib
rust() { # OUTPUT ARGUMENT...
    output=$1
    shift
    rustc -D warnings --edition 2021 -L "$library" -C "link-arg=-Wl,-rpath,$library" -o "$work/$output" "$@"
}

check 'the library compiles without a warning' rust libtracehost.rlib --crate-type rlib --crate-name tracehost samples/rust/src/lib.rs
check 'the example compiles without a warning' rust exceptions --extern "tracehost=$work/libtracehost.rlib" samples/rust/examples/exceptions.rs

# Offsets of the members that Rust declares, as each language sees them. A later library may have more behind them.
members='
tracehost_event Event size session tag tag_term tracee state env number term extra match_spec_result scheduler_id time_kind time
tracehost_callbacks Callbacks size context enabled trace end functions_only
tracehost_session_setup SessionSetup size tracer name state state_text state_options recorded_flags callbacks
tracehost_replay_counts ReplayCounts size records played skipped drops lost malformed damages'
{
    printf '#include <stddef.h>\n#include <tracehost.h>\nint main(void)\n{\n'
    echo "$members" | while read -r c rust names; do
        [ -n "$c" ] || continue
        for name in $names; do printf 'printf("%s.%s %%zu\\n", offsetof(struct %s, %s));\n' "$rust" "$name" "$c" "$name"; done
    done
    printf '}\n'
} >"$work/layout.c"
{
    printf '#![allow(dead_code)]\n#[path = "%s/samples/rust/src/sys.rs"]\nmod sys;\nuse std::mem::MaybeUninit;\n' "$PWD"
    printf 'fn main() {\n'
    echo "$members" | while read -r c rust names; do
        [ -n "$c" ] || continue
        printf 'let place = MaybeUninit::<sys::%s>::uninit();\nlet start = place.as_ptr();\n' "$rust"
        for name in $names; do
            printf 'println!("%s.%s {}", unsafe { std::ptr::addr_of!((*start).%s) } as usize - start as usize);\n' "$rust" "$name" "$name"
        done
    done
    printf '}\n'
} >"$work/layout.rs"
check 'the layout in C compiles' "$CC" -Iplugin_api -o "$work/layout_c" "$work/layout.c"
check 'the layout in Rust compiles' rust layout_rust "$work/layout.rs"
"$work/layout_c" >"$work/layout"
check 'the layout has all members' test "$(wc -l <"$work/layout")" = 36
expect 'structures in Rust have the layout of tracehost.h' "$work/layout_rust" <"$work/layout"

cat >"$work/uses.rs" <<'RUST'
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use tracehost::{Answer, Event, Host, Tracer, AS_RECORDED, EVENTS};

#[allow(dead_code)]
struct Panics(u64, Rc<()>);
impl Tracer for Panics {
    fn trace(&mut self, event: &Event) {
        if event.number() == self.0 {
            panic!("record {}", self.0);
        }
    }
}

/// The sum of the integers that sem and ex get as their first argument.
struct Sum(i64);
impl Tracer for Sum {
    fn enabled(&mut self, event: &Event) -> Answer {
        assert!(event.term().is_none() && event.time().is_none());
        if event.tag() == "call" { Answer::Trace } else { Answer::Remove }
    }
    fn trace(&mut self, event: &Event) {
        let call = event.term().and_then(|term| term.tuple()).expect("a call");
        if let Some(first) = call[2].to_string().strip_prefix('[') {
            self.0 += first.trim_end_matches(']').parse::<i64>().unwrap_or(0);
        }
        assert_eq!(call.len(), 3);
        assert!(call[2].tuple().is_none() && call[2].integer().is_none());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).expect("a recording");
    let all = EVENTS | AS_RECORDED;
    let host = Host::start()?;
    println!("second host: {}", Host::start().err().expect("an error"));

    let alive = Rc::new(());
    let session = host.trace(Panics(5, alive.clone()), all)?;
    std::panic::set_hook(Box::new(|_| {}));
    let caught = catch_unwind(AssertUnwindSafe(|| host.replay(&name))).err().expect("a panic");
    println!("panic: {}", caught.downcast_ref::<String>().expect("text"));
    println!("after it: {}", session.end().err().expect("an error"));
    println!("tracers left: {}", Rc::strong_count(&alive) - 1);

    let sum = host.trace(Sum(0), all)?;
    let text = host.load("count", "top=1", all)?;
    println!("no tracer: {}", host.load("nothing", "", all).err().expect("an error").causes[0]);
    println!("records: {}", host.replay(&name)?);
    println!("sum: {}", sum.end()?.0);
    text.end()?;
    drop(host.trace(Panics(0, alive.clone()), all)?);
    println!("tracers left: {}", Rc::strong_count(&alive) - 1);
    let mut sessions = Vec::new();
    let refused = loop {
        match host.trace(Panics(0, alive.clone()), all) {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
    };
    println!("{} sessions, then: {}", sessions.len(), refused);
    println!("tracers left: {}", Rc::strong_count(&alive) - 1);
    drop(sessions);
    println!("tracers left: {}", Rc::strong_count(&alive) - 1);
    Ok(())
}
RUST
check 'a program compiles' rust uses --extern "tracehost=$work/libtracehost.rlib" "$work/uses.rs"
expect 'panics, errors and tracers end as they should' "$work/uses" $recordings/s01_seed_local_caller.trace <<'LINES'
second host: a host is running already
panic: record 5
after it: the tracer has panicked
tracers left: 0
no tracer: there is no library 'nothing'
records: 15
sum: 28
      events       %  tag
          15  100.00  call
          15  100.00  all

       calls       %  function
          11   73.33  ex:bar/1
           4   26.67  4 more
tracers left: 0
64 sessions, then: cannot attach tracer 'callbacks': there can be at most 64 tracers
tracers left: 64
tracers left: 0
LINES
expect 'the example replays a recording' "$work/exceptions" $recordings/s20_empty.trace <<'LINES'
0 calls, 0 exceptions
LINES
finish
