#include "commands.h"
#include "commands_internal.h"

#include "host/base/memory.h"
#include "host/base/thread.h"
#include "host/crash/crash.h"
#include "host/library/load.h"
#include "host/term/text.h"

#include <stdatomic.h>
#include <string.h>

enum { MOST_THREADS = 8 };

static void prepare_some(struct th_control_module_list *list)
{
    size_t i;

    while ((i = atomic_fetch_add_explicit(&list->next, 1, memory_order_relaxed)) < list->count) {
        struct th_control_module_made *made = &list->made[i];
        struct th_library *library;
        enum th_status status = th_library_search_find(list->search, list->names[i], &made->path);
        if (status == TH_OK)
            status = th_library_open_copy(made->path, &library);
        if (status == TH_OK)
            made->prepared = th_code_prepare(library);
        if (status != TH_OK) {
            made->refusal = th_alloc(sizeof *made->refusal);
            th_error_save(made->refusal);
        }
    }
}

static void *module_list_run(void *context)
{
    th_crash_thread_begin();
    prepare_some(context);
    th_crash_thread_end();
    return NULL;
}

/* Opens private copies of the libraries and prepares them, in several threads, including this one;
 * so no further thread is needed. Errors: the status and chain of the first library that was
 * refused. */
static enum th_status module_list_prepare(struct th_control_module_list *list)
{
    size_t wanted = list->count < MOST_THREADS ? list->count : MOST_THREADS, count = 0;
    pthread_t threads[MOST_THREADS];

    atomic_init(&list->next, 0);
    while (count + 1 < wanted && th_thread_start(&threads[count], NULL, module_list_run, list) == 0)
        count++;
    prepare_some(list);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    for (size_t i = 0; i < list->count; i++)
        if (list->made[i].refusal) {
            th_error_restore(list->made[i].refusal);
            return th_error_status();
        }
    return TH_OK;
}

enum th_status th_control_module_list_load(struct th_control_module_list *list, const char *info)
{
    struct th_finish finish = {.count = list->count, .purge = list->purge};
    enum th_status status;
    bool readable; /* INFO was parsed */
    th_env env;

    list->made = th_alloc_zero((list->count + 1) * sizeof *list->made);
    list->finished = finish.finished = th_alloc_zero((list->count + 1) * sizeof *list->finished);
    th_env_init(&env, TH_ENV_PLAIN);
    status = th_control_load_info_read(info, &env, &finish.info);
    readable = status == TH_OK;
    if (readable)
        status = module_list_prepare(list);
    if (status == TH_OK) {
        struct th_instance **prepared = th_alloc((list->count + 1) * sizeof(struct th_instance *));
        for (size_t i = 0; i < list->count; i++)
            prepared[i] = list->made[i].prepared;
        finish.prepared = prepared;
        status = th_code_finish(&finish);
        list->rounds = finish.rounds;
        for (size_t i = 0; status == TH_OK && i < list->count; i++)
            list->made[i].prepared = NULL;
        th_free(prepared);
    }
    if (readable && status != TH_OK && list->count > 1)
        th_error_context("none of the %zu libraries was loaded", list->count);
    th_env_release(&env);
    return status;
}

void th_control_module_list_free(struct th_control_module_list *list)
{
    struct th_error_chain why;

    th_error_save(&why); /* destructors of libraries run below */
    for (size_t i = 0; i < list->count; i++) {
        if (list->made[i].prepared)
            th_code_prepared_drop(list->made[i].prepared);
        th_free(list->made[i].path);
        th_free(list->made[i].refusal);
    }
    th_error_restore(&why);
    th_free(list->made);
    th_free(list->finished);
}

enum th_status th_control_load_info_read(const char *text, th_env *env, th_term *info)
{
    *info = th_small(0);
    if (!text || th_text_parse(env, text, strlen(text), info) == TH_OK)
        return TH_OK;
    return th_error_raise(TH_USAGE, "--load-info is not an Erlang term: %s", th_error_link(0));
}
