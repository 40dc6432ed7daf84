#include "module_list.h"

#include "host/crash/crash.h"

#include <stdatomic.h>
#include <string.h>

enum { MOST_THREADS = 8 };

struct preparing {
    struct th_control_module_list *list;
    _Atomic size_t next; /* relaxed: each takes another number */
};

static enum th_status prepare(const struct th_search *search, const char *name,
                              struct th_control_module_made *made)
{
    struct th_library *library;
    enum th_status status = th_library_search_find(search, name, &made->path);

    if (status == TH_OK)
        status = th_library_open_copy(made->path, &library);
    if (status == TH_OK)
        made->prepared = th_code_prepare(library);
    return status;
}

static void note_refusal(struct th_control_module_made *made)
{
    made->refusal = th_alloc(sizeof *made->refusal);
    th_error_save(made->refusal);
}

static void prepare_some(struct preparing *preparing)
{
    const struct th_control_module_list *list = preparing->list;
    size_t i;

    while ((i = atomic_fetch_add_explicit(&preparing->next, 1, memory_order_relaxed)) < list->count)
        if (prepare(list->search, list->names[i], &list->made[i]) != TH_OK)
            note_refusal(&list->made[i]);
}

static void *run(void *context)
{
    th_crash_thread_begin();
    prepare_some(context);
    th_crash_thread_end();
    return NULL;
}

/* This thread takes part; so there may be no others. */
static void prepare_all(struct preparing *preparing)
{
    size_t wanted = preparing->list->count < MOST_THREADS ? preparing->list->count : MOST_THREADS;
    pthread_t threads[MOST_THREADS];
    size_t count = 0;

    while (count + 1 < wanted && th_thread_start(&threads[count], NULL, run, preparing) == 0)
        count++;
    prepare_some(preparing);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

enum th_status th_control_module_list_prepare(struct th_control_module_list *list)
{
    struct preparing preparing = {.list = list};

    list->made = th_alloc_zero((list->count + 1) * sizeof *list->made);
    list->finished = th_alloc_zero((list->count + 1) * sizeof *list->finished);
    atomic_init(&preparing.next, 0);
    prepare_all(&preparing);
    for (size_t i = 0; i < list->count; i++)
        if (list->made[i].refusal) {
            th_error_restore(list->made[i].refusal);
            return th_error_status();
        }
    return TH_OK;
}

enum th_status th_control_module_list_finish(struct th_control_module_list *list)
{
    struct th_prepared **prepared = th_alloc((list->count + 1) * sizeof(struct th_prepared *));
    struct th_finish finish = {.prepared = prepared,
                               .count = list->count,
                               .info = list->info,
                               .purge = list->purge,
                               .finished = list->finished};
    enum th_status status;

    for (size_t i = 0; i < list->count; i++)
        prepared[i] = list->made[i].prepared;
    status = th_code_finish(&finish);
    list->rounds = finish.rounds;
    for (size_t i = 0; status == TH_OK && i < list->count; i++)
        list->made[i].prepared = NULL;
    th_free(prepared);
    return status;
}

/* Destructors of libraries run here. The chain stays. */
static void drop_all(const struct th_control_module_list *list)
{
    struct th_error_chain why;

    th_error_save(&why);
    for (size_t i = 0; i < list->count; i++)
        if (list->made[i].prepared)
            th_code_prepared_drop(list->made[i].prepared);
    th_error_restore(&why);
}

void th_control_module_list_free(struct th_control_module_list *list)
{
    drop_all(list);
    for (size_t i = 0; i < list->count; i++) {
        th_free(list->made[i].path);
        th_free(list->made[i].refusal);
    }
    th_free(list->made);
    th_free(list->finished);
}

enum th_status th_control_load_info_read(const char *text, th_env *env, th_term *info)
{
    *info = th_small(0);
    if (!text || th_text_parse(env, text, strlen(text), info) == TH_OK)
        return TH_OK;
    return th_error_raise(TH_USAGE, "--load-info is no Erlang term: %s", th_error_link(0));
}
