/*
 * save() and merge() of a tracer: erl_tracer.h describes shares of a recording.
 *
 * The saved term is a list of {State, Saved}, one for each output; State is [] without settings. A
 * tracer has two functions for one output:
 *
 *     static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output);
 *     static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved);
 *
 * The first returns 0, the second false, on failure. A share that has lost anything for want of
 * memory is not saved.
 */
#ifndef TRACER_SHARE_H
#define TRACER_SHARE_H

#include "copy.h"
#include "output.h"

static inline ERL_NIF_TERM share_save(ErlNifEnv *env,
                                      ERL_NIF_TERM (*save)(ErlNifEnv *, struct output *))
{
    struct output *output = atomic_load_explicit(&outputs.first, memory_order_relaxed);
    ERL_NIF_TERM list = enif_make_list(env, 0), saved;

    if (outputs.lost || losses)
        return 0;
    for (; output; output = output->next) {
        saved = save(env, output);
        if (!saved)
            return 0;
        saved = enif_make_tuple2(
            env, output->state ? enif_make_copy(env, output->state) : enif_make_list(env, 0),
            saved);
        list = enif_make_list_cell(env, saved, list);
    }
    return list;
}

static inline int share_merge(ErlNifEnv *env, ERL_NIF_TERM list,
                              bool (*merge)(ErlNifEnv *, struct output *, ERL_NIF_TERM))
{
    const ERL_NIF_TERM *pair;
    struct output *output;
    ERL_NIF_TERM head;
    int size;

    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &size, &pair) || size != 2)
            return 1;
        output = output_find_or_add(env, pair[0]);
        if (!output || !merge(env, output, pair[1]))
            return 1;
    }
    return 0;
}

/* --- Figures ---------------------------------------------------------------------------------- */

/* Gets the numbers of TUPLE from element FIRST on. False if TUPLE has not just these. */
static inline bool share_numbers(ErlNifEnv *env, ERL_NIF_TERM tuple, int first, int count,
                                 uint64_t *const numbers[])
{
    const ERL_NIF_TERM *elements;
    ErlNifUInt64 number;
    int size;

    if (!enif_get_tuple(env, tuple, &size, &elements) || size != first + count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!enif_get_uint64(env, elements[first + i], &number))
            return false;
        *numbers[i] = number;
    }
    return true;
}

#ifdef TRACER_PART_H
/* Returns a part of OUTPUT for figures of another share. NULL, and counted, if there is no memory.
 */
static inline struct part *share_part(struct output *output)
{
    struct part *part = atomic_load_explicit(&parts.first, memory_order_relaxed);

    while (part && part->output != output)
        part = part->next;
    return part ? part : part_new(output->state ? &parts_here.others : &parts_here.plain, output);
}
#endif

/* --- Files that are written while events come ------------------------------------------------- */

/* Returns {Path, From}, the share's file of OUTPUT from byte From on, where the last save() ended;
 * {} if an earlier output has the same file; 0 if the file cannot be read. */
static inline ERL_NIF_TERM share_save_file(ErlNifEnv *env, const struct output *output)
{
    const struct output *other = atomic_load_explicit(&outputs.first, memory_order_relaxed);
    char path[64];
    off_t from;

    for (; other != output; other = other->next)
        if (other->to == output->to)
            return enif_make_tuple(env, 0);
    if (!output->to || !output->to->share || fflush(output->file) != 0 ||
        output_file_error(output->to) || output->to->held_size > 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), output->to->descriptor);
    from = output->to->saved;
    output->to->saved = output->to->written;
    return enif_make_tuple2(env, enif_make_string(env, path, ERL_NIF_LATIN1),
                            enif_make_int64(env, from));
}

/* Opens the file that share_save_file() has named, at its byte. True without a *FILE if there is none to read. */
static inline bool share_open_file(ErlNifEnv *env, ERL_NIF_TERM saved, FILE **file)
{
    const ERL_NIF_TERM *elements;
    ErlNifSInt64 from;
    char path[64];
    int size;

    *file = NULL;
    if (!enif_get_tuple(env, saved, &size, &elements))
        return false;
    if (size == 0)
        return true;
    return size == 2 && enif_get_string(env, elements[0], path, sizeof path, ERL_NIF_LATIN1) > 0 &&
           enif_get_int64(env, elements[1], &from) && (*file = fopen(path, "re")) &&
           fseeko(*file, (off_t)from, SEEK_SET) == 0;
}

/* Appends the file that share_save_file() has named to that of OUTPUT. */
static inline bool share_merge_file(ErlNifEnv *env, const struct output *output, ERL_NIF_TERM saved)
{
    FILE *from;
    bool copied;

    if (!share_open_file(env, saved, &from))
        return false;
    copied = !from || share_copy(from, output->file, UINT64_MAX);
    if (from)
        fclose(from);
    return copied;
}

#endif
