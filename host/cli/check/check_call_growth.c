#include "check_call_growth.h"

#include "check_page.h"

#include "host/cli/call_session.h"
#include "host/term/clock.h"

#include <malloc.h>

static const int64_t SECOND = 1000000000;

/* Evaluates PROGRAM in ROUNDS rounds, and waits for all that the calls have begun. Returns the memory
 * that is in use then, in bytes. */
static size_t evaluate_rounds(struct th_call_session *session, const struct th_program *program,
                              uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        th_shell_forget_mail(&session->evaluation);
        th_shell_forget(&session->evaluation);
        th_shell_collect(&session->evaluation);
        for (size_t form = 0; form < program->count; form++) {
            th_runtime_run_yield(session->process);
            th_shell_evaluate_form(&session->evaluation, program, program->forms[form]);
            th_shell_collect(&session->evaluation);
        }
    }
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* Returns whether the memory still grows by LEAST bytes in each span of ROUNDS after many more: a
 * cache is full at some time. */
static bool grows_for_long(struct th_call_session *session, const struct th_program *program,
                           uint64_t rounds, int64_t least)
{
    enum { LEAST_SPANS = 20, SPANS = 100, LIMIT_S = 8 };
    const int64_t until = th_clock_real_monotonic() + LIMIT_S * SECOND;
    int64_t used[SPANS];
    int count = 0;

    do
        used[count++] = (int64_t)evaluate_rounds(session, program, rounds);
    while (count < LEAST_SPANS || (count < SPANS && th_clock_real_monotonic() < until));
    return used[count - 1] - used[2 * count / 3] >=
           (count - 1 - 2 * count / 3) * (least - least / 4);
}

void th_check_call_growth(struct th_call_session *session, const struct th_program *program,
                          uint64_t rounds, const char *who)
{
    enum { SPANS = 4, LEAST = 8 /* bytes for a round */ };
    struct th_call_work work = {.rounds = 1, .sessions = 1};
    const uint64_t span = rounds / SPANS;
    int64_t grown[SPANS], least = INT64_MAX, most = 0;
    bool grows;
    char text[TH_CHECK_TEXT];
    size_t last;

    th_cli_call_session_start(session, &work, 1);
    last = evaluate_rounds(session, program, span);
    for (int i = 0; i < SPANS; i++) {
        size_t now = evaluate_rounds(session, program, span);
        grown[i] = (int64_t)now - (int64_t)last;
        least = grown[i] < least ? grown[i] : least;
        most = grown[i] > most ? grown[i] : most;
        last = now;
    }
    grows = least >= LEAST * (int64_t)span && most <= least + least / 4 &&
            grows_for_long(session, program, span, least);
    th_cli_call_session_end(session);
    if (!grows)
        return;
    snprintf(text, sizeof text, "%s: the memory in use grows by %lld bytes at each call", who,
             (long long)((least + (int64_t)span / 2) / (int64_t)span));
    th_check_page_add(TH_RULE_LEAK, who, "grows", text);
}
