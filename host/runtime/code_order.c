#include "process_wait.h"
#include "mailbox.h"
#include "queue.h"

#include "host/crash/crash.h"
#include "host/runtime/traced/tracepoint.h"

#include "host/base/base.h"

#include <errno.h>
#include <string.h>

/* The lock guards all of it; nothing is called under it but what starts the thread. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct th_code_order *first, **end; /* the longest there first */
    size_t orders;                      /* in the queue, and the one that is carried out */
    bool running, ending;
    pthread_t thread;
} loader = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .end = &loader.first};

/* --- Orders ----------------------------------------------------------------------------------- */

struct th_code_order *th_runtime_code_order_create(enum th_code_command command, th_term process)
{
    struct th_code_order *order = th_alloc_zero(sizeof *order);

    order->command = command;
    order->process = process;
    order->answer = TH_NONE;
    th_env_init(&order->env, TH_ENV_PLAIN);
    return order;
}

static void drop_prepared(struct th_code_order *order)
{
    while (order->count > 0)
        th_code_prepared_drop(order->prepared[--order->count]);
}

static void free_order(struct th_code_order *order)
{
    drop_prepared(order);
    th_free(order->prepared);
    th_env_release(&order->env);
    th_free(order);
}

/* --- Answers ---------------------------------------------------------------------------------- */

static th_term error_texts(th_env *env)
{
    th_term texts[TH_ERROR_LINKS];
    const char *link;
    size_t count = 0;

    while (count < TH_ERROR_LINKS && (link = th_error_link(count))) {
        texts[count] = th_make_binary(env, link, strlen(link));
        count++;
    }
    return th_make_list(env, texts, count);
}

void th_runtime_code_order_fail(struct th_code_order *order, enum th_code_refusal refusal)
{
    static const char *const words[] = {
        [TH_CODE_FAILED] = "failed",         [TH_CODE_REFUSED] = "refused",
        [TH_CODE_NOT_PURGED] = "not_purged", [TH_CODE_DUPLICATE] = "duplicate",
        [TH_CODE_NOT_LOADED] = "not_loaded",
    };
    th_env *env = &order->env;
    th_term why = th_make_tuple_of(env, th_atom(words[refusal]), error_texts(env));

    order->answer = th_make_tuple_of(env, TH_AM(error), why);
}

/* --- Carrying out ----------------------------------------------------------------------------- */

static th_term finished_list(th_env *env, const struct th_finished finished[], size_t count)
{
    th_term list = TH_NIL;

    for (size_t i = count; i-- > 0;)
        list = th_make_cons(
            env,
            th_make_tuple_of(env, finished[i].name, th_make_uint64(env, finished[i].generation)),
            list);
    return list;
}

static void finish(struct th_code_order *order)
{
    struct th_finished *finished = th_alloc((order->count + 1) * sizeof *finished);
    struct th_finish f = {.prepared = order->prepared,
                          .count = order->count,
                          .info = order->info,
                          .purge = order->purge,
                          .finished = finished};
    enum th_status status = th_code_finish(&f);

    for (size_t i = 0; status == TH_OK && th_runtime_tracing() && i < order->count; i++)
        th_trace_warn_of_losses(th_runtime_tracing(), finished[i].name);
    if (status == TH_OK) {
        order->answer = finished_list(&order->env, finished, order->count);
        order->count = 0; /* they are the modules' */
    } else {
        th_runtime_code_order_fail(order, f.refusal);
    }
    th_free(finished);
}

static void purge(struct th_code_order *order)
{
    bool had;

    if (th_code_purge(order->module, order->purge, &had) == TH_OK)
        order->answer = had ? TH_AM(true) : TH_AM(false);
    else
        th_runtime_code_order_fail(order, TH_CODE_NOT_PURGED);
}

static void delete_module(struct th_code_order *order)
{
    enum th_status status = th_code_delete(order->module, order->purge);

    if (status == TH_OK)
        order->answer = TH_AM(true);
    else
        th_runtime_code_order_fail(order,
                                   status == TH_USAGE ? TH_CODE_NOT_LOADED : TH_CODE_NOT_PURGED);
}

static void carry_out(struct th_code_order *order)
{
    static void (*const commands[])(struct th_code_order *) = {
        [TH_CODE_LOAD] = finish, [TH_CODE_PURGE] = purge, [TH_CODE_DELETE] = delete_module};

    if (order->answer == TH_NONE)
        commands[order->command](order);
    th_error_clear();
}

/* What is not to be loaded is gone when the process goes on. */
static void answer(struct th_code_order *order)
{
    struct th_message *signal = th_process_message_create(order->answer);

    signal->kind = TH_SIGNAL_CODE;
    drop_prepared(order);
    th_process_enqueue(order->process, signal);
}

/* --- The thread ------------------------------------------------------------------------------- */

static struct th_code_order *take(void)
{
    struct th_code_order *order = loader.first;

    loader.first = order->next;
    if (!loader.first)
        loader.end = &loader.first;
    return order;
}

static void *run(void *unused)
{
    pthread_setname_np(pthread_self(), "loader");
    th_crash_thread_begin();
    pthread_mutex_lock(&loader.lock);
    while (loader.first || !loader.ending) {
        struct th_code_order *order;
        if (!loader.first) {
            pthread_cond_wait(&loader.work, &loader.lock);
            continue;
        }
        order = take();
        pthread_mutex_unlock(&loader.lock);
        if (th_process_alive(order->process)) {
            carry_out(order);
            answer(order);
        }
        free_order(order);
        pthread_mutex_lock(&loader.lock);
        loader.orders--;
    }
    pthread_mutex_unlock(&loader.lock);
    th_crash_thread_end();
    return unused;
}

/* Under the lock. */
static bool start(void)
{
    int error = loader.running ? 0 : th_runtime_thread_create(&loader.thread, run, NULL);

    loader.running = !error;
    errno = error;
    return loader.running;
}

void th_runtime_loader_submit(struct th_code_order *order)
{
    bool started;

    pthread_mutex_lock(&loader.lock);
    started = start();
    if (started) {
        *loader.end = order;
        loader.end = &order->next;
        loader.orders++;
        pthread_cond_signal(&loader.work);
    }
    pthread_mutex_unlock(&loader.lock);
    if (started)
        return;
    th_error_raise(TH_FAILED, "the thread that loads code cannot be started: %s", strerror(errno));
    th_runtime_code_order_fail(order, TH_CODE_FAILED);
    th_error_clear();
    answer(order);
    free_order(order);
}

size_t th_runtime_loader_orders(void)
{
    size_t orders;

    pthread_mutex_lock(&loader.lock);
    orders = loader.orders;
    pthread_mutex_unlock(&loader.lock);
    return orders;
}

void th_runtime_loader_end(void)
{
    bool running;

    pthread_mutex_lock(&loader.lock);
    running = loader.running;
    loader.ending = true;
    pthread_cond_signal(&loader.work);
    pthread_mutex_unlock(&loader.lock);
    if (running)
        pthread_join(loader.thread, NULL);
    pthread_mutex_lock(&loader.lock);
    loader.running = loader.ending = false;
    pthread_mutex_unlock(&loader.lock);
}
