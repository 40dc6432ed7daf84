/* Calls save() and merge() of tracers, whose terms pass between processes as external terms, and
 * past_calls(). */
#include "library_internal.h"

#include "host/base/buffer.h"
#include "host/term/etf.h"
#include "plugin_api/erl_tracer.h"

#include <dlfcn.h>
#include <string.h>

bool th_library_can_merge(const struct th_library *library)
{
    return library->facts.save && library->facts.merge;
}

bool th_library_has_share_file(const struct th_library *library)
{
    bool found = false;

    for (size_t i = 0; i < library->facts.import_count; i++)
        found |= strcmp(library->facts.imports[i].name, "th_share_file") == 0;
    return found;
}

bool th_library_gathers(const struct th_library *library)
{
    const struct th_examination *facts = &library->facts;

    return facts->gathers || facts->past || (facts->save && !th_library_has_share_file(library));
}

unsigned char *th_library_past(const struct th_library *library)
{
    return library->facts.past ? dlsym(library->handle, "th_tracer_past") : NULL;
}

enum th_status th_library_past_check(const struct th_library *library)
{
    const struct th_memory_part *part =
        th_library_memory_part_at(&library->memory, (uintptr_t)th_library_past(library));

    if (!library->facts.past || (part && part->rights & TH_MEMORY_WRITABLE))
        return TH_OK;
    return th_error_raise(TH_REFUSED, "th_tracer_past cannot be written: declare it without const");
}

bool th_library_takes_past_calls(const struct th_library *library)
{
    return library->facts.past && library->facts.past_calls;
}

void th_library_past_calls(struct th_library *library, th_term state,
                           const struct th_past_event *events, size_t count)
{
    void (*past_calls)(ErlNifEnv * env, ERL_NIF_TERM state, const struct th_past_event *events,
                       size_t count) =
        (void (*)(ErlNifEnv *, ERL_NIF_TERM, const struct th_past_event *, size_t))(uintptr_t)dlsym(
            library->handle, "past_calls");
    struct th_library_frame call;
    th_env env;

    th_library_init_env(&env, library);
    th_library_begin(&call, library->facts.path, "past_calls");
    past_calls(&env, state, events, count);
    th_library_end(&call);
    th_env_release(&env);
}

static enum th_status could_not(const struct th_library *library, const char *act)
{
    return th_error_context("%s cannot %s the figures of a share", library->facts.path, act);
}

enum th_status th_library_save(struct th_library *library, struct th_buffer *out)
{
    const struct th_etf_options options = {.utf8_atoms = true};
    ERL_NIF_TERM(*save)
    (ErlNifEnv * env) = (ERL_NIF_TERM(*)(ErlNifEnv *))(uintptr_t)dlsym(library->handle, "save");
    struct th_library_frame call;
    enum th_status status;
    th_term saved;
    th_env env;

    th_library_init_env(&env, library);
    th_library_begin(&call, library->facts.path, "save");
    saved = save(&env);
    th_library_end(&call);
    status = saved == TH_NONE ? th_error_raise(TH_FAILED, "save() returned no term")
                              : th_etf_encode(out, saved, true, &options);
    th_env_release(&env);
    return status == TH_OK ? TH_OK : could_not(library, "save");
}

enum th_status th_library_merge(struct th_library *library, const void *data, size_t size)
{
    const struct th_etf_options options = {.inflate_limit = 0};
    int (*merge)(ErlNifEnv * env, ERL_NIF_TERM saved) =
        (int (*)(ErlNifEnv *, ERL_NIF_TERM))(uintptr_t)dlsym(library->handle, "merge");
    struct th_library_frame call;
    enum th_status status;
    th_term saved;
    size_t used;
    int answer;
    th_env env;

    th_library_init_env(&env, library);
    status = th_etf_decode(&env, data, size, true, &options, &saved, &used);
    if (status == TH_OK) {
        th_library_begin(&call, library->facts.path, "merge");
        answer = merge(&env, saved);
        th_library_end(&call);
        if (answer != 0)
            status = th_error_raise(TH_FAILED, "merge() returned %d", answer);
    }
    th_env_release(&env);
    return status == TH_OK ? TH_OK : could_not(library, "merge");
}
