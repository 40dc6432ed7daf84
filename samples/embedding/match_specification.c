/*
 * Match specifications without a session: the faults of one, with their places; the result of
 * another for a call; and the reason why it does not match a third time.
 */
#include <tracehost.h>

#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "match_specification");
    exit(status);
}

static void show_fault(void *context, const struct tracehost_match_fault *fault)
{
    (void)context;
    printf("%s: %s\n", fault->place, fault->text);
}

/* Runs MATCH on ARGUMENTS, called by lists:map/2. */
static void try_on(const tracehost_match *match, const char *arguments)
{
    ErlNifEnv *env = enif_alloc_env();
    struct tracehost_match_subject subject = {.size = sizeof subject};
    struct tracehost_match_result result = {.size = sizeof result};
    char *text;

    must(tracehost_term_parse(env, arguments, &subject.target));
    must(tracehost_term_parse(env, "{lists,map,2}", &subject.caller));
    must(tracehost_match_run(match, env, &subject, &result));
    if (result.end == TRACEHOST_MATCH_YES) {
        text = tracehost_term_to_text(result.message);
        printf("%s: clause %zu matches, the message is %s%s\n", arguments, result.clause, text,
               result.return_trace ? ", and returns are traced" : "");
    } else {
        must(tracehost_match_explain(match, &subject, &text));
        printf("%s:\n%s", arguments, text);
    }
    tracehost_free(text);
    enif_free_env(env);
}

int main(void)
{
    tracehost_match *match;
    enum tracehost_status status = tracehost_match_compile_text(
        TRACEHOST_MATCH_CALL, "[{['$1'],[{'>','$1',{node,'$2'}}],[{returntrace}]}]", show_fault,
        NULL, &match);

    printf("status %d: %s\n", status, tracehost_error_link(0));
    must(tracehost_match_compile_text(TRACEHOST_MATCH_CALL,
                                      "[{['$1','_'],[{is_integer,'$1'},{'>','$1',3}],[{return_"
                                      "trace},{message,{{'$1',{caller}}}}]},"
                                      " {[],[],[]}]",
                                      NULL, NULL, &match));
    try_on(match, "[4,a]");
    try_on(match, "[]");
    try_on(match, "[2,a]");
    tracehost_match_free(match);
    return 0;
}
