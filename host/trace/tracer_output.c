/*
 * Checks the files that tracers write: each has one writing tracer, and the host does not read it.
 *
 * Two paths name one file if device and inode are equal or, before the file exists, folder and name
 * behind all links. Devices, FIFOs and stdout may have many writers.
 */
#include "pattern_internal.h"
#include "session.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/library/load.h"
#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/map.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Equal files ------------------------------------------------------------------------------ */

/* Returns the path of the file that NAME would create, with its folder behind all links. NULL:
 * there is no such folder.
 * Owner: the caller frees the path with th_free(). */
static char *tracer_output_place_of(const char *name)
{
    char *target = th_output_target(name), *folder, *place = NULL, real[PATH_MAX];
    const char *last;

    if (!target)
        return NULL;
    last = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
    folder = th_printf("%.*s.", (int)(last - target), target);
    if (realpath(folder, real))
        place = th_printf("%s/%s", real, last);
    th_free(folder);
    th_free(target);
    return place;
}

bool th_trace_output_is_one_file(const char *path, const char *other)
{
    struct stat first, second;
    bool there = stat(path, &first) == 0, same;
    char *place, *other_place;

    if (there != (stat(other, &second) == 0))
        return false;
    if (there)
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    place = tracer_output_place_of(path);
    other_place = tracer_output_place_of(other);
    same = place && other_place && strcmp(place, other_place) == 0;
    th_free(place);
    th_free(other_place);
    return same;
}

/* --- Writers ---------------------------------------------------------------------------------- */

struct check {
    struct th_attachment *new;
    const char *path; /* a file that NEW would write */
    const struct th_attachment *writer;
    enum th_status status;
};

static enum th_status tracer_output_compare(void *context, const char *path)
{
    const struct check *check = context;

    if (!th_trace_output_is_one_file(check->path, path))
        return TH_OK;
    if (check->writer->session == check->new->session)
        th_error_raise(TH_USAGE,
                       "the new tracer has no upgrade(), so it cannot take over the file: detach "
                       "the old tracer first, or give the new one another output");
    else
        th_error_raise(TH_USAGE, "give each tracer an output of its own");
    return th_error_context("the file %s is written by tracer '%s', as %s", check->path,
                            check->writer->name, path);
}

/* Refuses the file of stdout or stderr: host and tracer would overwrite each other at different
 * offsets. */
static enum th_status check_standard(const char *path)
{
    static const char *const names[] = {[STDOUT_FILENO] = "stdout", [STDERR_FILENO] = "stderr"};
    struct stat file, standard;

    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return TH_OK;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
        if (fstat(i, &standard) == 0 && standard.st_dev == file.st_dev &&
            standard.st_ino == file.st_ino) {
            th_error_raise(TH_USAGE, "give the tracer another output, or - for stdout");
            return th_error_context("%s is redirected to the file %s", names[i], path);
        }
    return TH_OK;
}

static void check_writer(void *context, struct th_session *session)
{
    struct check *check = context;
    const struct th_attachment *new = check->new, *writer = th_trace_session_attachment(session);
    /* A successor in the same session takes over the files of the old tracer. */
    bool takes_over =
        new->session == session &&
        (!writer->library || th_trace_session_upgrades(new->library, writer->library));
    bool is_meta = new->session->meta || session->meta;

    check->writer = writer;
    if (check->status != TH_OK || takes_over)
        return;
    /* Breakpoints of one meta tracer have an attachment each. */
    if (!is_meta || new->library != writer->library || th_compare_exact(new->state, writer->state))
        check->status = th_trace_settings_each_output(writer->library, writer->state,
                                                      tracer_output_compare, check);
}

static enum th_status check_path(void *context, const char *path)
{
    struct check *check = context;
    struct th_tracing *tracing = check->new->session->tracing;

    check->path = path;
    check->status = check_standard(path);
    if (check->status == TH_OK && tracing->check_output)
        check->status = tracing->check_output(tracing->check_context, path);
    th_trace_each_tracer(tracing, check_writer, check);
    return check->status;
}

static enum th_status open_fifo(void *context, const char *path)
{
    struct th_outputs *outputs = context;
    struct stat file;
    int fifo;

    if (stat(path, &file) != 0 || !S_ISFIFO(file.st_mode))
        return TH_OK;
    fifo = th_output_open_fifo(path, th_output_stop != NULL);
    if (fifo < 0 && errno == ENXIO)
        return th_error_raise(TH_FAILED, "cannot write %s: no reader has opened it", path);
    if (fifo < 0)
        return TH_OK; /* the tracer reports why */
    TH_ARRAY_GROW(outputs->fifos, outputs->count, outputs->capacity);
    outputs->fifos[outputs->count++] = fifo;
    return TH_OK;
}

enum th_status th_trace_outputs_check(struct th_attachment *attachment, struct th_outputs *outputs)
{
    struct check check = {.new = attachment};
    enum th_status status =
        th_trace_settings_check(attachment->library, attachment->name, attachment->state);

    if (status == TH_OK)
        status = th_trace_settings_each_output(attachment->library, attachment->state, check_path,
                                               &check);
    if (status == TH_OK)
        status = th_trace_settings_each_output(attachment->library, attachment->state, open_fifo,
                                               outputs);
    return status;
}

void th_trace_outputs_discard(struct th_attachment *attachment)
{
    static const struct th_tracer_setting undeclared[] = {{"output", TH_SETTING_OUTPUT, .help = ""},
                                                          {0}};
    static const char nowhere[] = "/dev/null";
    const struct th_tracer_setting *settings =
        attachment->library ? th_library_settings(attachment->library) : NULL;
    th_env *env = &attachment->state_env;

    for (settings = settings ? settings : undeclared; settings->name; settings++)
        if (settings->type == TH_SETTING_OUTPUT && th_is_map(attachment->state) &&
            th_map_find(attachment->state, th_atom(settings->name)))
            attachment->state = th_map_put(env, attachment->state, th_atom(settings->name),
                                           th_make_binary(env, nowhere, sizeof nowhere - 1));
}

void th_trace_discard_outputs(struct th_tracing *tracing)
{
    tracing->discards_outputs = true;
}

void th_trace_outputs_close(struct th_outputs *outputs)
{
    while (outputs->count > 0)
        close(outputs->fifos[--outputs->count]);
    th_free(outputs->fifos);
}

void th_trace_check_outputs(struct th_tracing *tracing,
                            enum th_status (*check)(void *context, const char *path), void *context)
{
    tracing->check_output = check;
    tracing->check_context = context;
}
