/*
 * Checks properties of every stream, sound or damaged, for the fuzzers of both formats. A reader
 * reaches the end; the parts of an event are those of its whole tuple; a record can be written in
 * the other format, and is then read as the same terms.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "host/base/base.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Larger terms are read, but not compared, as that would exceed the time of a run. */
enum { COMPARED = 1 << 20 };

static void claim(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static struct th_reader *open_bytes(const void *data, size_t size)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    struct th_reader *reader;

    claim(fd > 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0,
          "no memory file");
    if (th_replay_reader_attach(fd, "stream", NULL, &reader) == TH_OK)
        return reader;
    claim(th_error_link(0) != NULL, "refused without a cause");
    return NULL;
}

static void same(th_term a, th_term b, const char *what)
{
    claim(a == b || (a != TH_NONE && b != TH_NONE && th_identical(a, b)), what);
}

static void compare_events(const struct th_event *a, const struct th_event *b)
{
    claim(a->kind == b->kind && a->tag == b->tag, "another kind or tag");
    claim(a->tuple_size == b->tuple_size, "another size");
    same(a->tracee, b->tracee, "another tracee");
    same(a->term, b->term, "another term");
    same(a->extra, b->extra, "another extra");
    same(a->match_spec_result, b->match_spec_result, "another match_spec_result");
    same(a->scheduler_id, b->scheduler_id, "another scheduler_id");
    same(a->label, b->label, "another label");
    claim(a->time.kind == b->time.kind && a->time.ns == b->time.ns &&
              a->time.unique == b->time.unique,
          "another time");
}

/* Asserts that EVENT is sound if and only if it is with its terms skipped. */
static void check_brief(struct th_event *event, th_env *env)
{
    struct th_event brief = *event;

    if (!event->source->brief || event->kind > TH_EVENT_SEQ_TRACE)
        return;
    brief.decoded = false;
    brief.brief = TH_NONE;
    claim((th_trace_event_brief(&brief, env) == TH_OK) ==
              (th_trace_event_decode(event, env) == TH_OK),
          "sound only if skipped, or only if decoded");
    if (event->decoded && th_trace_event_brief_decoded(event, env) == TH_OK)
        same(brief.brief, event->brief, "another brief term");
}

/* Asserts that the parts of EVENT are those of TUPLE. If AMBIGUOUS, only the function is compared,
 * as a scheduler id in TUPLE can be a match specification's result. */
static void check_pieces(struct th_event *event, th_env *env, th_term tuple, bool ambiguous)
{
    struct th_event expected = *event;
    struct th_mfa function, expected_function;
    bool sound;

    /* Only the term shows whether a list of arguments is proper. */
    if (event->source->function(event, &function) == TH_OK &&
        th_trace_event_decode(event, env) == TH_OK &&
        th_trace_event_function_from_term(event->term, &expected_function))
        claim(function.module == expected_function.module &&
                  function.function == expected_function.function &&
                  function.arity == expected_function.arity,
              "another function");
    check_brief(event, env);
    sound = th_trace_event_decode(event, env) == TH_OK && th_trace_event_time(event) == TH_OK;
    if (event->kind == TH_EVENT_OTHER || ambiguous)
        return;
    claim(sound == (th_trace_event_from_tuple(&expected, tuple, false) == TH_OK),
          "sound in one way only");
    if (sound)
        compare_events(event, &expected);
}

/* Returns the name of a scratch file in a folder of this process. */
static const char *scratch_file(void)
{
    static char name[] = "/tmp/fuzz_XXXXXX/stream";
    static bool made;

    if (!made) {
        name[strlen(name) - strlen("/stream")] = 0;
        claim(mkdtemp(name) != NULL, "no folder");
        name[strlen(name)] = '/';
    }
    made = true;
    return name;
}

/* Reads to the end and writes all records as JSON. TERMS gets the encoded terms. */
static void rewrite(struct th_reader *reader, bool ambiguous, struct th_buffer *terms)
{
    const struct th_reader_info *info = th_replay_reader_info(reader);
    struct th_writer_options options = {.format = TH_FORMAT_JSONL, .here = info->node};
    struct th_etf_options etf = {.here = info->node};
    struct th_event event = {0};
    struct th_writer *writer;
    enum th_status status;
    th_term tuple;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    claim(th_replay_writer_open(scratch_file(), &options, &writer) == TH_OK, "no scratch file");
    while ((status = th_replay_reader_next(reader, &event)) != TH_END) {
        size_t before = terms->size;
        if (status != TH_OK)
            claim(th_error_link(0) != NULL, "damaged without a cause");
        if (status != TH_OK || event.source->whole(&event, &env, &tuple) != TH_OK)
            continue;
        claim(th_etf_encode(terms, tuple, true, &etf) == TH_OK, "cannot be encoded");
        check_pieces(&event, &env, tuple, ambiguous);
        if (terms->size - before > COMPARED)
            terms->size = before;
        else
            claim(th_replay_writer_add(writer, &event, &env) == TH_OK, "cannot be written as JSON");
        th_env_clear(&env);
    }
    claim(th_replay_reader_next(reader, &event) == TH_END, "goes on behind the end");
    claim(th_replay_writer_commit(writer) == TH_OK, "its JSON is not written");
    th_env_release(&env);
    th_replay_reader_close(reader);
}

static void check_stream(const unsigned char *data, size_t size)
{
    struct th_reader *reader = open_bytes(data, size);
    struct th_buffer terms = {0}, terms_again = {0};
    bool ambiguous;

    if (!reader)
        return;
    /* JSON names the meaning of a single integer; a tuple does not. */
    ambiguous = strcmp(th_replay_reader_info(reader)->format, "jsonl") == 0;
    rewrite(reader, ambiguous, &terms);
    claim(th_replay_reader_open(scratch_file(), NULL, &reader) == TH_OK, "its JSON is refused");
    rewrite(reader, true, &terms_again);
    claim(terms.size == terms_again.size &&
              (terms.size == 0 || memcmp(terms.data, terms_again.data, terms.size) == 0),
          "as JSON it is something else");
    th_buffer_free(&terms);
    th_buffer_free(&terms_again);
    th_error_clear();
}

#endif
