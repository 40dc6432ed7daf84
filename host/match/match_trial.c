/* Surroundings of a match specification that is only tried. The node is a fresh one: no tokens, and
 * a trace control word of 0. */
#include "match.h"

#include "host/base/buffer.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"

static th_term trial_self(void *context)
{
    return ((struct th_match_trial *)context)->self;
}

static th_term trial_node(void *context)
{
    (void)context;
    return TH_AM(nonode);
}

static th_term trial_caller(void *context, th_env *env)
{
    (void)env;
    return ((struct th_match_trial *)context)->caller;
}

/* {Module, Function, Arity, undefined}: the line is unknown. */
static th_term trial_caller_line(void *context, th_env *env)
{
    th_term known = trial_caller(context, env);
    const th_term *parts;

    if (known == TH_NONE || !th_is_tuple(known))
        return known;
    parts = th_tuple_elements(known);
    return th_make_tuple_of(env, parts[0], parts[1], parts[2], TH_AM(undefined));
}

static th_term trial_no(void *context)
{
    (void)context;
    return TH_AM(false);
}

static th_term trial_no_token(void *context, th_env *env)
{
    (void)context;
    (void)env;
    return TH_NIL;
}

static th_term trial_get_tcw(void *context, th_env *env)
{
    (void)context;
    (void)env;
    return th_small(0);
}

/* --- Actions ---------------------------------------------------------------------------------- */

/* Adds a line "action {NAME,A,B}", without terms that are TH_NONE. */
static void note_action(void *context, const char *name, th_term a, th_term b, th_term c)
{
    const th_term terms[] = {a, b, c};
    struct th_match_trial *trial = context;
    struct th_buffer *out = &trial->doings;

    th_buffer_printf(out, "action {%s", name);
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (terms[i] != TH_NONE) {
            th_buffer_add_byte(out, ',');
            (trial->for_people ? th_text_show : th_text_print)(out, terms[i]);
        }
    th_buffer_add_text(out, "}\n");
}

static void trial_display(void *context, th_term t)
{
    note_action(context, "display", t, TH_NONE, TH_NONE);
}

static void trial_silence(void *context, bool silent)
{
    note_action(context, "silent", silent ? TH_AM(true) : TH_AM(false), TH_NONE, TH_NONE);
}

static th_term trial_set_tcw(void *context, th_env *env, uint32_t value)
{
    note_action(context, "set_tcw", th_small(value), TH_NONE, TH_NONE);
    return trial_get_tcw(context, env);
}

/* The results of set_seq_token and set_flags depend on the process. */
static th_term trial_set_seq_token(void *context, th_env *env, th_term component, th_term value)
{
    (void)env;
    note_action(context, "set_seq_token", component, value, TH_NONE);
    return TH_NONE;
}

static th_term trial_set_flags(void *context, th_term tracee, th_term clear, th_term set)
{
    note_action(context, "trace", tracee, clear, set);
    return TH_NONE;
}

const struct th_match_operations th_match_trial_operations = {
    .self = trial_self,
    .node = trial_node,
    .caller = trial_caller,
    .caller_line = trial_caller_line,
    .is_seq_trace = trial_no,
    .get_seq_token = trial_no_token,
    .set_seq_token = trial_set_seq_token,
    .get_tcw = trial_get_tcw,
    .set_tcw = trial_set_tcw,
    .display = trial_display,
    .set_flags = trial_set_flags,
    .silence = trial_silence,
    .is_silent = trial_no,
};
