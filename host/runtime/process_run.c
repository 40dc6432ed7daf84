/* Processes that run: made, called, sent messages, ended. */
#include "running.h"

#include <errno.h>
#include <time.h>

/* --- Beginning and end ----------------------------------------------------------------------- */

/* Under the mailbox's lock. */
static void on_mail(void *context)
{
    struct th_process_run *process = context;

    pthread_mutex_lock(&process->lock);
    process->mail = true;
    pthread_cond_broadcast(&process->changed);
    pthread_mutex_unlock(&process->lock);
}

struct th_process_run *th_run_start(void)
{
    struct th_process_run *process = th_alloc_zero(sizeof *process);
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&process->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&process->lock, NULL);
    process->env = th_env_create(TH_ENV_CALLBACK);
    process->mailbox = th_host_process_start_mailbox(on_mail, process);
    return process;
}

th_term th_run_pid(const struct th_process_run *process)
{
    return th_host_process_pid(process->mailbox);
}

void th_run_exit(struct th_process_run *process, th_term reason)
{
    th_host_process_exit(process->mailbox, reason);
    while (process->inbox) {
        struct th_message *next = process->inbox->next;
        th_message_free(process->inbox);
        process->inbox = next;
    }
    th_check_retire(process->env);
    pthread_cond_destroy(&process->changed);
    pthread_mutex_destroy(&process->lock);
    th_free(process);
}

/* --- Calls ----------------------------------------------------------------------------------- */

static int first_thread(const ErlNifFunc *function)
{
    return function->flags == ERL_NIF_DIRTY_JOB_CPU_BOUND  ? ERL_NIF_THR_DIRTY_CPU_SCHEDULER
           : function->flags == ERL_NIF_DIRTY_JOB_IO_BOUND ? ERL_NIF_THR_DIRTY_IO_SCHEDULER
                                                           : ERL_NIF_THR_NORMAL_SCHEDULER;
}

/* Makes the call what PROCESS does next. */
static void prepare(struct th_process_run *process, const struct th_callee *callee,
                    const th_term argv[])
{
    const ErlNifFunc *function = callee->function;
    th_env *env = process->env;
    th_term *copies = th_env_take(env, function->arity);

    for (unsigned i = 0; i < function->arity; i++)
        copies[i] = th_copy(env, argv[i]);
    env->self = th_run_pid(process);
    env->library = callee->library;
    th_heap_start(process);
    process->callee = callee;
    process->next = (struct th_continuation){
        .code = function->fptr,
        .function = function->name,
        .argc = (int)function->arity,
        .argv = copies,
        .where = first_thread(function),
    };
}

enum th_call_end th_run_call(struct th_process_run *process, const struct th_callee *callee,
                             const th_term argv[], th_env *env, th_term *result)
{
    prepare(process, callee, argv);
    process->caller_env = env;
    process->caller_result = result;
    process->calling = true; /* nobody else looks before it is in the queue */
    th_queue_add(process);
    pthread_mutex_lock(&process->lock);
    while (process->calling)
        pthread_cond_wait(&process->changed, &process->lock);
    pthread_mutex_unlock(&process->lock);
    return process->end;
}

/*
 * What the call let go of is destroyed before whoever waits hears of its end, so that a caller
 * meets the effects of destructors in order. The caller's environment may be used here, as the
 * caller does nothing else meanwhile.
 */
void th_process_finish(struct th_process_run *process)
{
    *process->caller_result = th_copy(process->caller_env, process->outcome);
    th_heap_end(process);
    th_resource_reap();
    pthread_mutex_lock(&process->lock);
    process->calling = false;
    pthread_cond_broadcast(&process->changed);
    pthread_mutex_unlock(&process->lock);
}

/* --- Messages -------------------------------------------------------------------------------- */

/* A moment on the monotonic clock, NANOSECONDS from now; TV_SEC is negative for none. */
static struct timespec moment_in(int64_t nanoseconds)
{
    enum { BILLION = 1000000000 };
    struct timespec moment;

    if (nanoseconds < 0)
        return (struct timespec){.tv_sec = -1};
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment.tv_sec += nanoseconds / BILLION;
    moment.tv_nsec += nanoseconds % BILLION;
    if (moment.tv_nsec >= BILLION) {
        moment.tv_nsec -= BILLION;
        moment.tv_sec++;
    }
    return moment;
}

/* Waits until mail has arrived; false if it has not by DEADLINE. */
static bool wait_for_mail(struct th_process_run *process, const struct timespec *deadline)
{
    int error = 0;
    bool mail;

    pthread_mutex_lock(&process->lock);
    while (!process->mail && error != ETIMEDOUT) {
        if (deadline->tv_sec < 0)
            pthread_cond_wait(&process->changed, &process->lock);
        else
            error = pthread_cond_timedwait(&process->changed, &process->lock, deadline);
    }
    mail = process->mail;
    process->mail = false;
    pthread_mutex_unlock(&process->lock);
    return mail;
}

struct th_message *th_run_receive(struct th_process_run *process, int64_t nanoseconds)
{
    struct timespec deadline = moment_in(nanoseconds);
    struct th_message *message;

    while (!process->inbox) {
        process->inbox = th_host_process_take(process->mailbox);
        if (!process->inbox && (nanoseconds == 0 || !wait_for_mail(process, &deadline)))
            return NULL;
    }
    message = process->inbox;
    process->inbox = message->next;
    message->next = NULL;
    return message;
}
