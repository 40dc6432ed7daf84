/* What tracers may ask of the host. */
#include "nif.h"

#include "host/trace/trace.h"
#include "plugin_api/nif_module.h"

#include <string.h>

int th_disarm(ErlNifEnv *env)
{
    return th_callback_disarm(env);
}

ERL_NIF_TERM th_recordings(ErlNifEnv *env)
{
    return th_recordings_list(env);
}

int th_recordings_begun(ErlNifEnv *env)
{
    (void)env;
    return th_recordings_count();
}

void th_tracer_failed(ErlNifEnv *env, const char *reason)
{
    th_callback_failed(env, reason);
}

int th_file_unfinished(const char *path, int unfinished)
{
    if (unfinished)
        return th_output_begin_file(path);
    th_output_end_file(path);
    return 1;
}

int th_attach_pending(ErlNifEnv *env)
{
    (void)env;
    return th_callback_is_pending();
}

int th_call_fact(ErlNifEnv *env, int fact)
{
    (void)env;
    switch (fact) {
    case TH_CALL_EXTERNAL:
        return (int)th_callback_external() - TH_NO;
    case TH_CALL_TAIL:
        return (int)th_callback_tail() - TH_NO;
    default:
        return -1;
    }
}

ERL_NIF_TERM th_call_callers(ErlNifEnv *env)
{
    return th_callback_callers(env);
}

int th_recorded_unique(ErlNifEnv *env, ErlNifSInt64 *unique)
{
    int64_t found;
    bool is_there = th_callback_unique(&found);

    (void)env;
    if (is_there)
        *unique = found;
    return is_there;
}

size_t th_show_term(char *text, size_t size, ERL_NIF_TERM term)
{
    struct th_buffer whole = {0};
    size_t length, kept;

    th_text_show(&whole, term);
    length = whole.size;
    kept = length < size ? length : size - 1;
    if (size > 0) {
        memcpy(text, whole.data, kept);
        text[kept] = '\0';
    }
    th_buffer_free(&whole);
    return length;
}
