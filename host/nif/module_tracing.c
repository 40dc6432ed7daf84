/* Functions of nif_module.h for tracers and probes. */

#include "host/base/buffer.h"
#include "host/base/kept.h"
#include "host/base/output.h"
#include "host/crash/supervisor.h"
#include "host/probe/probe.h"
#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/peer.h"
#include "host/term/text.h"
#include "host/trace/callback.h"
#include "host/trace/note.h"
#include "host/trace/recorded/recordings.h"
#include "host/trace/share.h"
#include "plugin_api/nif_module.h"

#include <string.h>
#include <sys/stat.h>

/* --- Functions for tracers -------------------------------------------------------------------- */

int th_disarm(ErlNifEnv *env)
{
    return th_trace_callback_disarm(env);
}

ERL_NIF_TERM th_recordings(ErlNifEnv *env)
{
    return th_recorded_streams_list(env);
}

int th_recordings_begun(ErlNifEnv *env)
{
    (void)env;
    return th_recorded_recordings_count();
}

int th_recorded_name(ERL_NIF_TERM tracee, ERL_NIF_TERM *name)
{
    th_term found = th_trace_note_name(tracee);

    *name = found;
    return th_is_atom(found);
}

int th_recorded_node(ERL_NIF_TERM of, unsigned *number)
{
    th_term here = th_process_world_node().node;
    unsigned found = th_is_atom(of) ? th_peer_named(of) : th_peer_of(of);

    if (of == (here ? here : TH_AM(nonode)))
        found = 0;
    else if (found == 0 && !th_is_local_pid(of) && !th_is_local_port(of))
        return 0;
    *number = found;
    return 1;
}

int th_recorded_owner(ERL_NIF_TERM name, unsigned node, ERL_NIF_TERM *tracee)
{
    th_term found = th_trace_note_owner(name, node);

    *tracee = found;
    return found != TH_NONE;
}

int th_recorded_first_call(ERL_NIF_TERM process, ERL_NIF_TERM *module, ERL_NIF_TERM *function,
                           unsigned *arity)
{
    const struct th_mfa *first = th_trace_note_first_call(process);

    if (!first)
        return 0;
    *module = first->module;
    *function = first->function;
    *arity = first->arity;
    return 1;
}

void th_tracer_failed(ErlNifEnv *env, const char *reason)
{
    th_trace_callback_failed(env, reason);
}

int th_file_unfinished(const char *path, int unfinished)
{
    if (unfinished)
        return th_output_begin_file(path);
    th_output_end_file(path);
    return 1;
}

char *th_output_buffer(int descriptor, size_t size)
{
    return th_kept_begin(descriptor, size);
}

void th_output_buffer_written(char *buffer, const char *data, size_t size, int torn)
{
    th_kept_written(buffer, data, size, torn);
}

void th_output_buffer_gzip(char *buffer)
{
    th_kept_gzip(buffer);
}

void th_output_buffer_end(char *buffer)
{
    th_kept_end(buffer);
}

int th_output_continued(const char *path)
{
    struct stat about;

    if (!path)
        return th_crash_continues_stdout();
    return (th_crash_continues_file() || th_output_goes_on) && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode) && about.st_size > 0;
}

int th_share_file(const char *path)
{
    return th_trace_share_file(path);
}

int th_attach_pending(ErlNifEnv *env)
{
    (void)env;
    return th_trace_callback_is_pending();
}

int th_call_fact(ErlNifEnv *env, ThCallFact fact)
{
    (void)env;
    switch (fact) {
    case TH_CALL_EXTERNAL:
        return (int)th_trace_callback_external() - TH_NO;
    case TH_CALL_TAIL:
        return (int)th_trace_callback_tail() - TH_NO;
    default:
        return -1;
    }
}

ERL_NIF_TERM th_call_callers(ErlNifEnv *env)
{
    return th_trace_callback_callers(env);
}

int th_recorded_unique(ErlNifEnv *env, ErlNifSInt64 *unique)
{
    int64_t found;
    bool is_there = th_trace_callback_unique(&found);

    (void)env;
    if (is_there)
        *unique = found;
    return is_there;
}

/* Moves WHOLE to TEXT, cut off to SIZE bytes. Returns the bytes of WHOLE. */
static size_t module_tracing_give(char *text, size_t size, struct th_buffer *whole)
{
    size_t length = whole->size, kept = length < size ? length : size - 1;

    if (size > 0 && length > 0) {
        memcpy(text, whole->data, kept);
        text[kept] = '\0';
    }
    th_buffer_free(whole);
    return length;
}

size_t th_show_term(char *text, size_t size, ERL_NIF_TERM term)
{
    struct th_buffer whole = {0};

    th_text_show(&whole, term);
    return module_tracing_give(text, size, &whole);
}

size_t th_elixir_name(char *text, size_t size, ERL_NIF_TERM module, ERL_NIF_TERM function)
{
    struct th_buffer whole = {0};

    if (th_text_shown_names() != TH_TEXT_ELIXIR || !th_is_atom(module))
        return 0;
    if (function == 0)
        th_text_elixir_alias(&whole, module);
    else if (th_is_atom(function))
        th_text_elixir_function(&whole, module, function);
    return module_tracing_give(text, size, &whole);
}

/* --- User probes, for any code of a library --------------------------------------------------- */

int th_user_trace_enabled(void)
{
    return (TH_PROBE_ENABLED(user_trace__s1) ? TH_USER_TRACE_S1 : 0) |
           (TH_PROBE_ENABLED(user_trace__i4s4) ? TH_USER_TRACE_I4S4 : 0);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

int th_user_trace_s1(const char *message)
{
    if (!TH_PROBE_ENABLED(user_trace__s1))
        return 0;
    TH_PROBE(user_trace__s1, or_empty(message));
    return 1;
}

int th_user_trace_i4s4(ErlNifEnv *env, const char *user_tag, int i_1, int i_2, int i_3, int i_4,
                       const char *s_1, const char *s_2, const char *s_3, const char *s_4)
{
    char proc[TH_PROBE_TEXT] = "";

    if (!TH_PROBE_ENABLED(user_trace__i4s4))
        return 0;
    if (env && env->self != TH_NONE)
        th_text_fit(proc, sizeof proc, env->self);
    TH_PROBE(user_trace__i4s4, proc, or_empty(user_tag), i_1, i_2, i_3, i_4, or_empty(s_1),
             or_empty(s_2), or_empty(s_3), or_empty(s_4));
    return 1;
}
