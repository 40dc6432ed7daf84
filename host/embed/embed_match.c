/* Match specifications without a session. */
#include "embed_host.h"

#include "host/base/buffer.h"
#include "host/control/commands/session_options.h"
#include "host/match/match.h"
#include "host/term/make.h"

#include <string.h>

struct tracehost_match {
    struct th_match_spec *spec;
    enum th_match_kind kind;
};

_Static_assert((int)TRACEHOST_MATCH_CALL == TH_MATCH_CALL &&
                   (int)TRACEHOST_MATCH_SEND == TH_MATCH_SEND &&
                   (int)TRACEHOST_MATCH_RECEIVE == TH_MATCH_RECEIVE,
               "kinds are handed on as they are");
_Static_assert((int)TRACEHOST_MATCH_WHOLE == TH_MATCH_WHOLE &&
                   (int)TRACEHOST_MATCH_HEAD == TH_MATCH_HEAD &&
                   (int)TRACEHOST_MATCH_GUARD == TH_MATCH_GUARD &&
                   (int)TRACEHOST_MATCH_BODY == TH_MATCH_BODY,
               "and parts");
_Static_assert((int)TRACEHOST_MATCH_NO == TH_MATCH_NO && (int)TRACEHOST_MATCH_YES == TH_MATCH_YES &&
                   (int)TRACEHOST_MATCH_UNKNOWN == TH_MATCH_UNKNOWN,
               "and ends");

/* --- Compiling -------------------------------------------------------------------------------- */

enum tracehost_status
tracehost_match_compile(enum tracehost_match_kind kind, ERL_NIF_TERM specification,
                        void (*fault)(void *context, const struct tracehost_match_fault *fault),
                        void *context, tracehost_match **match)
{
    struct th_match_faults faults = {0};
    struct th_match_spec *spec;
    enum th_status status;

    if ((unsigned)kind > TRACEHOST_MATCH_RECEIVE)
        return th_embed_answer(
            th_error_raise(TH_USAGE, "the kind must be a tracehost_match_kind, not %d", (int)kind));
    status = th_embed_need(match, "result")
                 ?: th_embed_need(specification != TH_NONE, "match specification")
                 ?: th_embed_enter()
                 ?: th_embed_find_copy(specification)
                 ?: th_match_compile((enum th_match_kind)kind, specification, &faults, &spec);
    if (status == TH_OK) {
        *match = th_alloc(sizeof **match);
        **match = (tracehost_match){spec, (enum th_match_kind)kind};
    }
    for (size_t i = 0; status != TH_OK && fault && i < faults.count; i++) {
        const struct th_match_fault *one = &faults.items[i];
        struct th_buffer place = {0};
        struct tracehost_match_fault told = {
            .size = sizeof told,
            .clause = one->place.clause,
            .part = (enum tracehost_match_part)one->place.part,
            .item = one->place.item,
            .text = one->text,
            .term = one->term,
        };
        th_match_print_place(&place, one->place);
        told.place = th_buffer_text(&place);
        fault(context, &told);
        th_buffer_free(&place);
    }
    th_match_faults_free(&faults);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_match_compile_text(
    enum tracehost_match_kind kind, const char *text,
    void (*fault)(void *context, const struct tracehost_match_fault *fault), void *context,
    tracehost_match **match)
{
    enum tracehost_status status =
        th_embed_answer(th_embed_need(text, "match specification") ?: th_embed_enter());
    th_env env;
    th_term specification;

    if (status != TRACEHOST_OK)
        return status;
    th_env_init(&env, TH_ENV_PLAIN);
    status = th_embed_answer(th_control_match_read(&env, text, &specification));
    if (status == TRACEHOST_OK)
        status = tracehost_match_compile(kind, specification, fault, context, match);
    th_env_release(&env);
    return status;
}

void tracehost_match_free(tracehost_match *match)
{
    if (!match)
        return;
    th_match_free(match->spec);
    th_free(match);
}

/* --- Trials ----------------------------------------------------------------------------------- */

/* Checks the number of elements for the kind; a call may have any number. */
static enum th_status check_target(enum th_match_kind kind,
                                   const struct tracehost_match_subject *subject)
{
    static const size_t wanted[] = {0, 2, 3};
    size_t length = subject->arity;

    if (subject->target != TH_NONE && !th_get_list_length(subject->target, &length))
        return th_error_raise(TH_USAGE, "`target` is not a proper list");
    if (length > TH_FUNCTION_ARITY_MAX)
        return th_error_raise(TH_USAGE, "an arity must be at most %d", TH_FUNCTION_ARITY_MAX);
    if (wanted[kind] && length != wanted[kind])
        return th_error_raise(TH_USAGE, "what is to be matched is no list of %zu elements",
                              wanted[kind]);
    return TH_OK;
}

/* A specification with its subject and its environment. */
struct trial {
    struct th_match_subject subject;
    struct th_match_trial trial;
    struct th_match_surroundings surroundings;
};

static enum th_status begin_trial(struct trial *trial, const tracehost_match *match,
                                  const struct tracehost_match_subject *given)
{
    struct tracehost_match_subject subject;
    const th_term *parts = NULL;
    enum th_status status =
        th_embed_need(match, "match specification")
            ?: th_embed_sized_take(&subject, sizeof subject, given, "tracehost_match_subject")
            ?: check_target(match->kind, &subject);

    if (status == TH_OK && subject.self != TH_NONE && !th_is_pid(subject.self))
        status = th_error_raise(TH_USAGE, "`self` must be a pid");
    if (status == TH_OK && th_is_tuple(subject.caller) && th_tuple_arity(subject.caller) == 3)
        parts = th_tuple_elements(subject.caller);
    if (status == TH_OK && subject.caller != TH_NONE && subject.caller != TH_AM(undefined) &&
        !(parts && th_is_atom(parts[0]) && th_is_atom(parts[1]) && th_is_small(parts[2])))
        status = th_error_raise(TH_USAGE, "`caller` must be {M,F,Arity} or undefined");
    if (status != TH_OK)
        return status;
    *trial = (struct trial){
        .subject = {.target = subject.target, .count = subject.arity},
        .trial = {.self = subject.self, .caller = subject.caller},
        .surroundings = {&th_match_trial_operations, &trial->trial},
    };
    return TH_OK;
}

enum tracehost_status tracehost_match_run(const tracehost_match *match, ErlNifEnv *env,
                                          const struct tracehost_match_subject *subject,
                                          struct tracehost_match_result *result)
{
    struct trial trial;
    struct th_match_result of;
    struct tracehost_match_result known;
    enum th_status status = begin_trial(&trial, match, subject)
                                ?: th_embed_enter()
                                ?: th_embed_need(env, "environment")
                                ?: th_embed_sized_check(result, "tracehost_match_result");

    if (status != TH_OK)
        return th_embed_answer(status);
    th_match_run(match->spec, &trial.subject, &trial.surroundings, env, &of);
    th_buffer_free(&trial.trial.doings);
    known = (struct tracehost_match_result){
        .end = (enum tracehost_match_end)of.end,
        .clause = of.clause,
    };
    if (of.end == TH_MATCH_YES) {
        known.message = of.message;
        known.return_trace = of.return_trace;
        known.exception_trace = of.exception_trace;
        known.callers_unknown = of.callers_unknown;
        known.unsure = of.unsure;
    }
    th_embed_sized_give(result, &known, sizeof known);
    return TRACEHOST_OK;
}

enum tracehost_status tracehost_match_explain(const tracehost_match *match,
                                              const struct tracehost_match_subject *subject,
                                              char **text)
{
    struct trial trial;
    struct th_match_attempt *attempts;
    struct th_match_report report;
    struct th_buffer out = {0};
    th_env env;
    enum th_status status =
        begin_trial(&trial, match, subject) ?: th_embed_enter() ?: th_embed_need(text, "result");

    if (status != TH_OK)
        return th_embed_answer(status);
    attempts = th_alloc((th_match_clause_count(match->spec) + 1) * sizeof *attempts);
    report = (struct th_match_report){.spec = match->spec,
                                      .subject = trial.subject,
                                      .attempts = attempts,
                                      .doings = &trial.trial.doings};
    th_env_init(&env, TH_ENV_PLAIN);
    report.count = th_match_explain(match->spec, &trial.subject, &trial.surroundings, &env,
                                    &report.result, attempts);
    th_match_print_report(&out, &report);
    *text = th_strdup(th_buffer_text(&out));
    th_buffer_free(&out);
    th_free(attempts);
    th_env_release(&env);
    th_buffer_free(&trial.trial.doings);
    return TRACEHOST_OK;
}
