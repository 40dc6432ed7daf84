/*
 * Compares the two ways to read a line of JSON, in one pass and by Jansson: the same events, terms
 * and errors. For a CMocka test and a fuzzer.
 */
#ifndef TWO_WAYS_H
#define TWO_WAYS_H

#include "host/base/base.h"
#include "host/replay/json_lines.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <string.h>

struct two_ways_event {
    struct th_event event;
    th_env env;
    th_term whole;
    struct th_mfa function;
    th_term actor;
    struct th_buffer story; /* status and causes of each step */
};

static void two_ways_note(struct th_buffer *story, const char *step, enum th_status status)
{
    th_buffer_printf(story, "%s %d", step, (int)status);
    for (size_t i = 0; status != TH_OK && th_error_link(i); i++)
        th_buffer_printf(story, ": %s", th_error_link(i));
    th_buffer_add_byte(story, '\n');
    th_error_clear();
}

/* Takes all steps that a reader of the event can take. ROOT as in th_replay_json_event_begin(). */
static void two_ways_take(struct two_ways_event *way, struct th_json_event *json, json_t *root)
{
    struct th_event *event = &way->event;
    enum th_status status = th_replay_json_event_begin(json, root, event);

    two_ways_note(&way->story, "begin", status);
    if (status != TH_OK)
        return;
    if (event->kind != TH_EVENT_DROP)
        two_ways_note(&way->story, "function", event->source->function(event, &way->function));
    if (event->kind == TH_EVENT_SEQ_TRACE)
        way->actor = event->source->actor(event);
    two_ways_note(&way->story, "decode", th_trace_event_decode(event, &way->env));
    two_ways_note(&way->story, "whole", event->source->whole(event, &way->env, &way->whole));
}

static bool two_ways_same(th_term a, th_term b)
{
    return a == b || (a != TH_NONE && b != TH_NONE && th_identical(a, b));
}

/* Returns the first difference, NULL if there is none. */
static const char *two_ways_compare(const struct two_ways_event *x, const struct two_ways_event *y)
{
    const struct th_event *a = &x->event, *b = &y->event;

    if (x->story.size != y->story.size || memcmp(x->story.data, y->story.data, x->story.size) != 0)
        return "another status or cause";
    if (a->kind != b->kind || a->tag != b->tag || a->tuple_size != b->tuple_size)
        return "another kind, tag or size";
    if (a->timed != b->timed || a->time.kind != b->time.kind || a->time.ns != b->time.ns ||
        a->time.unique != b->time.unique)
        return "another time";
    if (a->external != b->external || a->tail != b->tail || a->callers_told != b->callers_told ||
        a->dropped != b->dropped)
        return "another fact";
    if (!two_ways_same(a->tracee, b->tracee) || !two_ways_same(a->term, b->term) ||
        !two_ways_same(a->extra, b->extra) || !two_ways_same(a->label, b->label) ||
        !two_ways_same(a->match_spec_result, b->match_spec_result) ||
        !two_ways_same(a->scheduler_id, b->scheduler_id) || !two_ways_same(a->callers, b->callers))
        return "another term";
    if (!two_ways_same(x->whole, y->whole) || !two_ways_same(x->actor, y->actor) ||
        !two_ways_same(x->function.module, y->function.module) ||
        !two_ways_same(x->function.function,
                       y->function.function) || /* any terms, not only atoms */
        x->function.arity != y->function.arity)
        return "another tuple, actor or function";
    return NULL;
}

/* Reads SIZE bytes, without a newline, in both ways. *QUICK: the one-pass reader took the line.
 * Returns the first difference, NULL if there is none. */
static const char *two_ways_differ(const char *line, size_t size, bool *quick)
{
    char *copy = th_alloc(size + 1 + TH_JSON_SLACK);
    static struct th_json_event in_one_pass; /* stays, with its cache of texts */
    static bool begun;
    struct th_json_event by_jansson;
    struct two_ways_event ways[2] = {0};
    const char *difference = NULL;
    json_t *root;

    memset(copy, '"', size + 1 + TH_JSON_SLACK); /* the slack must not matter */
    memcpy(copy, line, size);
    copy[size] = '\n';
    if (!begun)
        th_replay_json_event_init(&in_one_pass);
    begun = true;
    th_replay_json_event_drop(&in_one_pass);
    th_replay_json_event_init(&by_jansson);
    th_env_init(&ways[0].env, TH_ENV_PLAIN);
    th_env_init(&ways[1].env, TH_ENV_PLAIN);
    *quick = !memchr(copy, '\n', size) && th_replay_json_read_quickly(&in_one_pass, copy, size);
    if (*quick) {
        root = th_json_read(copy, size, TH_JSON_PARSE_FLAGS);
        if (!root || !json_is_object(root) || json_object_get(root, "tracehost")) {
            difference = "no record for Jansson";
            if (root)
                json_decref(root);
        } else {
            two_ways_take(&ways[0], &in_one_pass, NULL);
            two_ways_take(&ways[1], &by_jansson, root);
            difference = two_ways_compare(&ways[0], &ways[1]);
        }
    }
    for (int i = 0; i < 2; i++) {
        th_env_release(&ways[i].env);
        th_buffer_free(&ways[i].story);
    }
    th_replay_json_event_end(&by_jansson);
    th_error_clear();
    th_free(copy);
    return difference;
}

#endif
