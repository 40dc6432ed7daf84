/*
 * Memory for processes: the memory of ended processes is kept for later ones, with an environment
 * and the first piece of its heap, so that starting and ending a process needs no malloc().
 *
 * Each scheduler keeps two lists, so that alternating give and take moves nothing between threads:
 * one list in use, and one that is full or missing. Full lists go to a depot shared by all
 * schedulers and come from there, which takes one lock for FULL processes. If some threads mostly
 * spawn and others mostly end processes, memory flows through the depot. Lists beyond the depot's
 * limit are freed.
 *
 * While the checker is on, and under the address sanitizer, nothing is kept, so that uses of ended
 * processes are found.
 */
#include "process_life.h"
#include "runtime_internal.h"

#include "host/base/memory.h"
#include "host/check/check.h"

#include <string.h>

enum {
    FULL = 32,             /* processes in a full list */
    MOST_LISTS = 128,      /* in the depot: 8 MiB, as a rule */
    MOST_FOOTPRINT = 1024, /* bytes of a heap that is kept: its first piece */
};

/* Stands in the memory of a former process. */
struct spare {
    struct spare *next;
    struct spare *list; /* of the first in a list of the depot: the next list */
    th_env *env;
};
_Static_assert(sizeof(struct spare) <= sizeof(struct th_process), "it has room there");

static _Thread_local struct spares {
    struct spare *first, *full;
    unsigned count; /* of the list FIRST */
} own __attribute__((tls_model("initial-exec")));

/* Guards the depot; innermost. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare *lists;
static unsigned list_count;

static void free_list(struct spare *list)
{
    while (list) {
        struct spare *next = list->next;
        th_env_free(list->env);
        th_free(list);
        list = next;
    }
}

/* Takes a list from the depot; NULL: none. */
static struct spare *fetch(void)
{
    struct spare *list;

    pthread_mutex_lock(&lock);
    list = lists;
    if (list) {
        lists = list->list;
        list_count--;
    }
    pthread_mutex_unlock(&lock);
    return list;
}

static struct th_process *new_process(void)
{
    struct th_process *process = th_alloc_zero(sizeof *process);

    process->env = th_env_create(TH_ENV_CALLBACK);
    return process;
}

struct th_process *th_runtime_process_memory_take(void)
{
    struct th_process *process;
    struct spare *spare;
    th_env *env;

    if (!th_self.scheduler || th_check_on())
        return new_process();
    if (!own.first) {
        own.first = own.full ? own.full : fetch();
        own.full = NULL;
        own.count = own.first ? FULL : 0;
        if (!own.first)
            return new_process();
    }
    spare = own.first;
    own.first = spare->next;
    own.count--;
    env = spare->env;
    process = memset(spare, 0, sizeof *process);
    process->env = env;
    return process;
}

void th_runtime_process_memory_give(struct th_process *process)
{
    struct spare *spare = (struct spare *)process, *extra = NULL;
    th_env *env = process->env;
    bool kept = th_self.scheduler && env && !th_check_on();

#ifdef TH_ADDRESS_SANITIZER
    kept = false;
#endif
    if (!kept) {
        if (env)
            th_check_retire(env);
        th_free(process);
        return;
    }
    if (own.count == FULL) {
        extra = own.full;
        own.full = own.first;
        own.first = NULL;
        own.count = 0;
    }
    if (extra) { /* to the depot */
        pthread_mutex_lock(&lock);
        if (list_count < MOST_LISTS) {
            extra->list = lists;
            lists = extra;
            list_count++;
            extra = NULL;
        }
        pthread_mutex_unlock(&lock);
        free_list(extra);
    }

    if (th_env_footprint(env) > MOST_FOOTPRINT)
        th_env_release(env);
    else
        th_env_clear(env);
    if (!env->chunks)
        th_env_init(env, TH_ENV_CALLBACK);
    env->library = NULL;
    *spare = (struct spare){.next = own.first, .env = env};
    own.first = spare;
    own.count++;
}

void th_runtime_process_memory_leave(void)
{
    free_list(own.first);
    free_list(own.full);
    own = (struct spares){0};
}

void th_runtime_process_memory_end(void)
{
    struct spare *list;

    while ((list = fetch()))
        free_list(list);
}
