/* Waits for messages, and for time to pass. */
#include "shell_internal.h"

#include "host/term/clock.h"
#include "host/term/make.h"

#include <time.h>

enum {
    MILLISECOND = 1000 * 1000,
    LOOK = 50 * MILLISECOND /* nanoseconds between tests for an interruption */
};

static int64_t now(void)
{
    return th_clock_real_monotonic();
}

bool th_shell_wait(struct th_evaluation *e, int64_t nanoseconds)
{
    struct th_shell_mail *mail = th_alloc(sizeof *mail);

    mail->next = NULL;
    th_env_init(&mail->env, TH_ENV_PLAIN);
    *e->mail_end = mail;
    if (!e->host->receive(e->context, nanoseconds, &mail->env, &mail->term)) {
        th_shell_drop_mail(e, e->mail_end);
        return false;
    }
    e->mail_end = &mail->next;
    return true;
}

void th_shell_drop_mail(struct th_evaluation *e, struct th_shell_mail **place)
{
    struct th_shell_mail *mail = *place;

    *place = mail->next;
    if (e->mail_end == &mail->next)
        e->mail_end = place;
    th_env_release(&mail->env);
    th_free(mail);
}

bool th_shell_sleep(struct th_evaluation *e, int64_t nanoseconds)
{
    int64_t end = nanoseconds < 0 ? INT64_MAX : now() + nanoseconds;
    int64_t left;

    while (!th_shell_interrupted(e) && (left = end - now()) > 0) {
        if (left > LOOK)
            left = LOOK;
        nanosleep(&(struct timespec){0, left}, NULL);
    }
    return !e->stopped;
}

/*
 * Returns the clause that matches the message at PLACE, and takes the message; NULL: no clause
 * matches. A first match binds variables to terms in the message's own memory; so a matching
 * message is copied and matched again.
 */
static const struct th_node *try_message(struct th_evaluation *e, const struct th_node *node,
                                         struct th_shell_mail **place)
{
    size_t bound = e->count;
    const struct th_node *clause = th_shell_match_clauses(e, node, 2, (*place)->term);
    th_term copy;

    if (!clause)
        return NULL;
    e->count = bound;
    copy = th_copy(&e->heap, (*place)->term);
    clause = th_shell_match_clauses(e, node, 2, copy);
    th_shell_drop_mail(e, place);
    return clause;
}

bool th_shell_get_time(struct th_evaluation *e, th_term t, int64_t *nanoseconds)
{
    uint64_t milliseconds;

    *nanoseconds = -1;
    if (t == th_atom("infinity"))
        return true;
    if (!th_get_uint64(t, &milliseconds) || milliseconds > UINT32_MAX) {
        th_shell_raise(e, TH_CLASS_ERROR, th_atom("timeout_value"));
        return false;
    }
    *nanoseconds = (int64_t)milliseconds * MILLISECOND;
    return true;
}

th_term th_shell_evaluate_receive(struct th_evaluation *e, const struct th_node *node, bool tail)
{
    th_term time = node->parts[0] ? th_shell_evaluate(e, node->parts[0]) : th_atom("infinity");
    struct th_shell_mail **place = &e->mail;
    int64_t nanoseconds, end, left;

    if (time == TH_NONE || !th_shell_get_time(e, time, &nanoseconds))
        return TH_NONE;
    end = nanoseconds < 0 ? INT64_MAX : now() + nanoseconds;
    do {
        while (*place) {
            const struct th_node *clause = node->count > 2 ? try_message(e, node, place) : NULL;
            if (clause)
                return th_shell_evaluate_block(e, clause->parts[2], tail);
            place = &(*place)->next;
        }
        left = end - now();
        if (th_shell_interrupted(e))
            return TH_NONE;
    } while (th_shell_wait(e, left <= 0 ? 0 : left > LOOK ? LOOK : left) || left > 0);
    return th_shell_evaluate_block(e, node->parts[1], tail);
}
