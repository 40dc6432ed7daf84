#include "share.h"

#include "session.h"
#include "tracing.h"

#include "host/base/output.h"
#include "host/library/load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(TH_SESSIONS_LIMIT *TH_COUNTED_ALL <= TH_SHARE_COUNTS, "room for all counts");

bool th_trace_share_is_alone(const struct th_tracing *tracing)
{
    /* `in` matters only for a tracee with flags of its own: see inheritance.c. */
    const struct th_discard_streak *streak = &tracing->streak;
    bool attached = true;

    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        attached &= th_trace_session_attached(th_trace_session(tracing, i)) &&
                    !th_trace_session_failed(th_trace_session(tracing, i));
    return attached && !tracing->special && !streak->broken && !streak->discarding &&
           !atomic_load_explicit(&tracing->patterned, memory_order_relaxed) &&
           !(atomic_load_explicit(&tracing->relevant, memory_order_relaxed) & ~(1U << TH_TAG_in));
}

bool th_trace_share_takes_past(const struct th_tracing *tracing)
{
    const uint32_t needed = TH_FLAG_CALL | TH_FLAG_RETURN_TO | TH_FLAG_AS_RECORDED;
    const struct th_tracee_flags *flags =
        atomic_load_explicit(&tracing->found[TH_KIND_PROCESS], memory_order_acquire);
    bool takes = th_trace_share_is_alone(tracing) && !tracing->shared &&
                 flags->count == th_trace_sessions(tracing);

    for (uint32_t i = 0; i < flags->count && takes; i++) {
        const struct th_tracee_ref *ref = &flags->tracee_flags[i];
        const struct th_library *library = th_trace_session_library(ref->session);
        takes = library && th_library_takes_past_calls(library) &&
                (ref->flags & (needed | TH_FLAG_SILENT)) == needed;
        /* Two sessions of one library may have one state, to which each event comes twice. */
        for (uint32_t before = 0; before < i; before++)
            takes &= th_trace_session_library(flags->tracee_flags[before].session) != library;
    }
    return takes;
}

void th_trace_share_past(struct th_tracing *tracing, const struct th_past_event *events,
                         size_t count)
{
    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_session *session = th_trace_session(tracing, i);
        if (th_trace_session_is_attached(session))
            th_library_past_calls(th_trace_session_library(session),
                                  th_trace_session_attachment(session)->state, events, count);
    }
}

/* --- Counts ----------------------------------------------------------------------------------- */

void th_trace_share_counts(const struct th_tracing *tracing, struct th_share_counts *counts)
{
    *counts = (struct th_share_counts){
        .unwanted = atomic_load_explicit(&tracing->unwanted, memory_order_relaxed),
        .seen = tracing->seen,
    };
    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        memcpy(&counts->words[i * TH_COUNTED_ALL], th_trace_session(tracing, i)->counts,
               TH_COUNTED_ALL * sizeof counts->words[0]);
}

void th_trace_share_add(struct th_tracing *tracing, const struct th_share_counts *counts,
                        const struct th_share_counts *before)
{
    tracing->unwanted += counts->unwanted - before->unwanted;
    tracing->seen |= (uint32_t)counts->seen;
    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        for (size_t what = 0; what < TH_COUNTED_ALL; what++)
            th_trace_session(tracing, i)->counts[what] +=
                counts->words[i * TH_COUNTED_ALL + what] - before->words[i * TH_COUNTED_ALL + what];
}

/* --- Files ------------------------------------------------------------------------------------ */

/* Written before there are other threads, but the atomic ones: relaxed, words in
 * themselves. */
static struct {
    bool begun;
    _Atomic bool stdout_taken, spoiled, has_files;
} share;

void th_trace_share_begin(void)
{
    share.begun = true;
}

static bool is_terminal(const char *path)
{
    int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool terminal = fd >= 0 && isatty(fd);

    if (fd >= 0)
        close(fd);
    return terminal;
}

int th_trace_share_file(const char *path)
{
    bool is_stdout = strcmp(path, "-") == 0;
    struct stat about;
    int fd;

    if (!share.begun)
        return -1;
    fd = th_output_open_nameless(NULL);
    /* A tracer may write to a terminal in another form than to a file. */
    share.spoiled |=
        fd < 0 || (is_stdout && share.stdout_taken) ||
        (!is_stdout && stat(path, &about) == 0 && S_ISCHR(about.st_mode) && is_terminal(path));
    share.stdout_taken |= is_stdout;
    share.has_files = true;
    return fd;
}

bool th_trace_share_has_files(void)
{
    return share.has_files;
}

bool th_trace_share_is_spoiled(void)
{
    return share.spoiled;
}
