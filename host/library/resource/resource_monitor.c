/*
 * Monitors of processes that resources hold.
 *
 * A monitor ends in one of three ways: its process ends, it is removed, or its resource ends. The
 * thread that takes it out of its resource's list, under the lock, decides which; the others find
 * it gone.
 *
 *   1. th_resource_monitor() puts it into the list, then starts the monitor of process/.
 *   2a. The process ends: resource_monitor_ended() takes a share of the resource, and the monitor
 *       out of the list. `down` is called at the next safe point, as the thread that ended the
 *       process may hold any locks. Then the monitor is freed.
 *   2b. th_resource_demonitor(), or the end of the resource, takes it out of the list. From here on
 *       `down` will not be called. But resource_monitor_ended() may be running: if
 *       th_process_monitor_stop() returns false, the last one of the two frees the monitor
 *       (`left`).
 *
 * After the last share of a resource is dropped, no share can be taken: resource_monitor_ended()
 * then leaves the monitor to 2b, which is certain to come.
 */
#include "resource_internal.h"

#include "host/base/memory.h"
#include "host/process/process.h"
#include "host/term/make.h"

#include <string.h>

struct th_resource_watch {
    struct th_monitor monitor; /* of process/ */
    struct th_resource_due due;
    struct th_resource_watch *next, **place; /* in the resource's list */
    struct th_resource *resource;            /* NULL: taken out by 2b */
    uint32_t words[TH_RESOURCE_WORDS];
    bool left; /* one of resource_monitor_ended() and resource_monitor_stop() is done */
};

_Static_assert(sizeof(ErlNifMonitor) >= sizeof((struct th_resource_watch){0}.words),
               "a monitor's words fit what the API has for it");

/* Guards the lists of all resources and the fields of a monitor from `next` on. The innermost lock:
 * no callback runs under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- The list of a resource; the lock is held ------------------------------------------------- */

static void resource_monitor_take_out(struct th_resource_watch *watch)
{
    *watch->place = watch->next;
    if (watch->next)
        watch->next->place = watch->place;
}

/* Marks the monitor as left by one of the two that end it. True: the other had left it before. */
static bool resource_monitor_leave(struct th_resource_watch *watch)
{
    bool last = watch->left;

    watch->left = true;
    return last;
}

/* --- Its process ends ------------------------------------------------------------------------- */

static void write_identity(ErlNifMonitor *to, const uint32_t words[])
{
    memset(to, 0, sizeof *to);
    memcpy(to, words, TH_RESOURCE_WORDS * sizeof *words);
}

static void run_down(struct th_resource_due *due)
{
    struct th_resource_watch *watch =
        (struct th_resource_watch *)((char *)due - offsetof(struct th_resource_watch, due));
    struct th_resource_running running = {
        th_resource_type_callbacks(watch->resource->type), {0}, {0}};
    ErlNifPid pid = {watch->monitor.watched};
    ErlNifMonitor identity;

    if (running.callbacks.down) { /* NULL if the type was taken over without it */
        write_identity(&identity, watch->words);
        th_resource_begin(&running, watch->resource, TH_RESOURCE_DOWN);
        running.callbacks.down(&running.env, watch->resource->data, &pid, &identity);
        th_resource_end(&running);
    }
    th_resource_release(watch->resource->data);
    th_resource_callbacks_drop(&running.callbacks);
    th_free(watch);
}

static void resource_monitor_ended(struct th_monitor *self, th_term reason)
{
    struct th_resource_watch *watch =
        (struct th_resource_watch *)((char *)self - offsetof(struct th_resource_watch, monitor));
    bool due, last = false;

    (void)reason;
    pthread_mutex_lock(&lock);
    due = watch->resource && th_resource_revive(watch->resource);
    if (due)
        resource_monitor_take_out(watch);
    else
        last = resource_monitor_leave(watch);
    pthread_mutex_unlock(&lock);
    if (due)
        th_resource_push_due(&watch->due);
    else if (last)
        th_free(watch);
}

/* --- Starting and stopping -------------------------------------------------------------------- */

/* The identity is written first: `down` may run before this returns. */
bool th_resource_monitor(void *object, th_term pid, ErlNifMonitor *identity)
{
    struct th_resource *resource = th_resource_of(object);
    struct th_resource_watch *watch = th_alloc(sizeof *watch);
    struct th_ref_parts parts;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    th_get_ref(th_make_new_reference(&env), &parts);
    th_env_release(&env);
    *watch = (struct th_resource_watch){
        .monitor.down = resource_monitor_ended,
        .due.run = run_down,
        .resource = resource,
        .place = &resource->watches,
    };
    memcpy(watch->words, parts.words, sizeof watch->words);
    if (identity)
        write_identity(identity, watch->words);
    pthread_mutex_lock(&lock);
    watch->next = resource->watches;
    if (watch->next)
        watch->next->place = &watch->next;
    resource->watches = watch;
    pthread_mutex_unlock(&lock);
    if (th_process_monitor_start(&watch->monitor, pid))
        return true;
    pthread_mutex_lock(&lock);
    resource_monitor_take_out(watch);
    pthread_mutex_unlock(&lock);
    th_free(watch);
    return false;
}

/* Step 2b after the lock: WATCH was taken out of the list. */
static void resource_monitor_stop(struct th_resource_watch *watch)
{
    bool last = true;

    if (!th_process_monitor_stop(&watch->monitor)) {
        pthread_mutex_lock(&lock);
        last = resource_monitor_leave(watch);
        pthread_mutex_unlock(&lock);
    }
    if (last)
        th_free(watch);
}

bool th_resource_demonitor(void *object, const ErlNifMonitor *identity)
{
    struct th_resource_watch *watch;

    pthread_mutex_lock(&lock);
    for (watch = th_resource_of(object)->watches;
         watch && memcmp(watch->words, identity, sizeof watch->words) != 0; watch = watch->next)
        ;
    if (watch) {
        resource_monitor_take_out(watch);
        watch->resource = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (watch)
        resource_monitor_stop(watch);
    return watch != NULL;
}

void th_resource_forget_watches(struct th_resource *resource)
{
    struct th_resource_watch *list;

    if (!resource->watches) /* only holders of shares change it, and there are none */
        return;
    pthread_mutex_lock(&lock);
    list = resource->watches;
    resource->watches = NULL;
    for (struct th_resource_watch *watch = list; watch; watch = watch->next)
        watch->resource = NULL;
    pthread_mutex_unlock(&lock);
    while (list) {
        struct th_resource_watch *next = list->next;
        resource_monitor_stop(list);
        list = next;
    }
}

/* --- Identities ------------------------------------------------------------------------------- */

th_term th_resource_monitor_term(th_env *env, const ErlNifMonitor *identity)
{
    uint32_t words[TH_RESOURCE_WORDS];

    memcpy(words, identity, sizeof words);
    return th_make_reference(env, TH_NONE, 0, words, TH_RESOURCE_WORDS);
}
