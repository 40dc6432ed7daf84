/*
 * Processes that wait for code to be loaded, purged or deleted.
 *
 * A function requests a change of code by a continuation (th_runtime_call_code()). When the
 * function has returned,
 *
 *   1. a dirty io thread prepares the libraries, as part of the process' turn: so as many processes
 *      prepare at once as there are such threads. Purging and deleting skip this step;
 *   2. the loader gets an order for the rest, with all that was prepared;
 *   3. the process waits without a thread, as for a message. The answer is a signal, not a message:
 *      the answer comes in order, and messages stay in the mailbox.
 *
 * If a process ends meanwhile, its order is dropped at its turn, or carried out to the end without
 * an answer.
 *
 * The loader is the thread that changes code: it carries out one order after the other, waits for
 * the code modification permission, for load() of libraries and for grace periods, and sends the
 * answer. So one thread waits, whatever the number of processes, and no scheduler does. The first
 * order starts the thread. The loader calls code of libraries only in functions of code/loading.h.
 */
#include "mailbox.h"
#include "queue.h"

#include "host/code/export.h"
#include "host/code/loading.h"
#include "host/crash/crash.h"
#include "host/library/load.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/term/make.h"

#include <errno.h>
#include <string.h>

struct th_code_order {
    struct th_code_order *next; /* in the queue, under its lock */
    th_term process;            /* waits for the answer */
    enum th_code_command command;
    enum th_purge purge;
    th_term module; /* to purge or delete */

    struct th_instance **prepared; /* to load: COUNT of them */
    size_t count;
    th_term info;   /* in ENV */
    th_term answer; /* in ENV; TH_NONE: none yet. With an answer, the loader only drops PREPARED and
                       sends the answer */
    th_env env;
};

/* The lock guards all of it; nothing but the start of the thread is called under it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct th_code_order *first, **end; /* the oldest first */
    size_t orders;                      /* in the queue, and the one in work */
    bool running, ending;
    pthread_t thread;
} loader = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .end = &loader.first};

/* --- Orders ----------------------------------------------------------------------------------- */

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

/* Makes {error, {Why, Texts}} the answer: Why is REFUSAL, Texts the thread's error chain. */
static void fail_order(struct th_code_order *order, enum th_code_refusal refusal)
{
    static const char *const words[] = {
        [TH_CODE_FAILED] = "failed",         [TH_CODE_REFUSED] = "refused",
        [TH_CODE_NOT_PURGED] = "not_purged", [TH_CODE_DUPLICATE] = "duplicate",
        [TH_CODE_NOT_LOADED] = "not_loaded",
    };
    th_env *env = &order->env;
    th_term texts[TH_ERROR_LINKS];
    const char *link;
    size_t count = 0;

    while (count < TH_ERROR_LINKS && (link = th_error_link(count))) {
        texts[count] = th_make_binary(env, link, strlen(link));
        count++;
    }
    order->answer = th_make_tuple_of(
        env, TH_AM(error),
        th_make_tuple_of(env, th_atom(words[refusal]), th_make_list(env, texts, count)));
}

/* --- Execution -------------------------------------------------------------------------------- */

static void code_order_finish(struct th_code_order *order)
{
    struct th_finished *finished = th_alloc((order->count + 1) * sizeof *finished);
    struct th_finish f = {.prepared = order->prepared,
                          .count = order->count,
                          .info = order->info,
                          .purge = order->purge,
                          .finished = finished};
    enum th_status status = th_code_finish(&f);
    th_env *env = &order->env;

    if (status != TH_OK) {
        fail_order(order, f.refusal);
        th_free(finished);
        return;
    }
    for (size_t i = 0; th_runtime_tracing() && i < order->count; i++)
        th_trace_warn_of_losses(th_runtime_tracing(), finished[i].name);
    order->answer = TH_NIL;
    for (; order->count > 0; order->count--) { /* the modules own the instances now */
        const struct th_finished *last = &finished[order->count - 1];
        order->answer = th_make_cons(
            env, th_make_tuple_of(env, last->name, th_make_uint64(env, last->generation)),
            order->answer);
    }
    th_free(finished);
}

static void code_order_carry_out(struct th_code_order *order)
{
    enum th_status status;
    bool had;

    switch (order->command) {
    case TH_CODE_LOAD:
        code_order_finish(order);
        break;
    case TH_CODE_PURGE:
        status = th_code_purge(order->module, order->purge, &had);
        order->answer = had ? TH_AM(true) : TH_AM(false);
        if (status != TH_OK)
            fail_order(order, TH_CODE_NOT_PURGED);
        break;
    case TH_CODE_DELETE:
        status = th_code_delete(order->module, order->purge);
        order->answer = TH_AM(true);
        if (status != TH_OK)
            fail_order(order, status == TH_USAGE ? TH_CODE_NOT_LOADED : TH_CODE_NOT_PURGED);
    }
    th_error_clear();
}

/* Drops instances that are not loaded before the process goes on. */
static void send_answer(struct th_code_order *order)
{
    struct th_message *signal = th_process_message_create(order->answer);

    signal->kind = TH_SIGNAL_CODE;
    drop_prepared(order);
    th_process_enqueue(order->process, signal);
}

/* --- The thread ------------------------------------------------------------------------------- */

static void *code_order_run(void *unused)
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
        order = loader.first;
        loader.first = order->next;
        if (!loader.first)
            loader.end = &loader.first;
        pthread_mutex_unlock(&loader.lock);
        if (th_process_alive(order->process)) {
            if (order->answer == TH_NONE)
                code_order_carry_out(order);
            send_answer(order);
        }
        free_order(order);
        pthread_mutex_lock(&loader.lock);
        loader.orders--;
    }
    pthread_mutex_unlock(&loader.lock);
    th_crash_thread_end();
    return unused;
}

/* Queues ORDER. The loader drops an order whose process is dead at the order's turn.
 * Owner: takes ORDER over. */
static void submit_order(struct th_code_order *order)
{
    int error;

    pthread_mutex_lock(&loader.lock);
    error = loader.running ? 0 : th_runtime_thread_create(&loader.thread, code_order_run, NULL);
    if (!error) {
        loader.running = true;
        *loader.end = order;
        loader.end = &order->next;
        loader.orders++;
        pthread_cond_signal(&loader.work);
    }
    pthread_mutex_unlock(&loader.lock);
    if (!error)
        return;
    th_error_raise(TH_FAILED, "cannot start the thread that loads code: %s", strerror(error));
    fail_order(order, TH_CODE_FAILED);
    th_error_clear();
    send_answer(order);
    free_order(order);
}

/* --- Processes that wait ---------------------------------------------------------------------- */

/* Prepares the libraries of PATHS. */
static void code_order_prepare(struct th_code_order *order, th_term paths, th_term info)
{
    enum th_status status = TH_OK;
    struct th_library *library;
    size_t length = 0;

    th_get_list_length(paths, &length);
    order->prepared = th_alloc((length + 1) * sizeof *order->prepared);
    order->info = th_copy(&order->env, info);
    for (; status == TH_OK && th_is_list(paths); paths = th_cell(paths)[1]) {
        char *path = th_file_path(th_cell(paths)[0]);
        status = th_library_open_copy(path, &library);
        if (status == TH_OK)
            order->prepared[order->count++] = th_code_prepare(library);
        th_free(path);
    }
    if (status != TH_OK)
        fail_order(order, status == TH_REFUSED ? TH_CODE_REFUSED : TH_CODE_FAILED);
    th_error_clear();
}

static void code_order_go_on(struct th_process *process, const struct th_message *answer)
{
    (void)answer;
    process->code_ordered = false;
}

/* th_runtime_call_code() has put the request in the place of the answer. The answer may arrive as
 * soon as the order is submitted. */
bool th_runtime_code_step(struct th_process *process)
{
    struct th_code_order *order;
    const th_term *request;

    if (process->code_ordered)
        return th_runtime_mailbox_await(process, code_order_go_on);
    request = th_tuple_elements(process->next.argv[0]);
    order = th_alloc_zero(sizeof *order);
    order->command = (enum th_code_command)th_small_value(request[0]);
    order->purge = (enum th_purge)th_small_value(request[3]);
    order->process = process->pid;
    order->answer = TH_NONE;
    th_env_init(&order->env, TH_ENV_PLAIN);
    th_runtime_thread_runs(process->next.callee->name); /* the requesting function */
    if (order->command == TH_CODE_LOAD)
        code_order_prepare(order, request[1], request[2]);
    else
        order->module = request[1];
    process->next.argv[0] = TH_NONE;
    process->next.where = ERL_NIF_THR_NORMAL_SCHEDULER;
    process->code_ordered = true;
    submit_order(order);
    th_runtime_thread_runs(NULL);
    return true;
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
