/*
 * Labels: what processes are called in a tracer's figures, which are printed when the recording has
 * ended: a table of tracees, with those processes that are called anything. For one thread at a time;
 * labels_note() does nothing in threads that replay no recording.
 */
#ifndef TRACER_LABELS_H
#define TRACER_LABELS_H

#include "loss.h"
#include "tracees.h"

/* Notes what PROCESS is called, once. In a callback. */
static inline void labels_note(struct tracees *labels, ERL_NIF_TERM process)
{
    struct tracee asked = {.term = process};

    if (tracees_find(labels, process))
        return;
    tracee_ask(&asked);
    if ((asked.name || asked.first.module) && !tracees_add(labels, process, sizeof asked))
        loss_add();
}

/* Adds PROCESS to LINE, for people behind its label and a space. Starts LABEL, and adds the label for
 * programs. Returns LABEL's text; NULL if PROCESS is not called anything. */
static inline const char *labels_add(struct line *line, struct line *label,
                                     const struct tracees *labels, ERL_NIF_TERM process)
{
    const struct tracee *tracee = tracees_find(labels, process);

    line_start(label);
    label->for_programs = 1;
    if (tracee)
        tracee_add_label(label, tracee);
    if (tracee && !line->for_programs && tracee_add_label(line, tracee))
        line_add(line, " ");
    line_add(line, "%#T", process);
    return tracee ? label->text : NULL;
}

/* Returns the labels as a list, for a share of a recording: {Pid, Name} and {Pid, M, F, A}.
 * labels_take() adds such a list; false if it is damaged, or there is no memory. */
static inline ERL_NIF_TERM labels_save(ErlNifEnv *env, const struct tracees *labels)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), label;

    for (size_t slot = 0; slot < labels->size; slot++)
        for (const struct tracee *tracee = labels->slots[slot]; tracee; tracee = tracee->next) {
            const struct mfa *first = &tracee->first;
            label = tracee->name
                        ? enif_make_tuple2(env, tracee->term, tracee->name)
                        : enif_make_tuple4(env, tracee->term, first->module, first->function,
                                           enif_make_uint(env, first->arity));
            list = enif_make_list_cell(env, label, list);
        }
    return list;
}

static inline bool labels_take(ErlNifEnv *env, struct tracees *labels, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *elements;
    struct tracee *tracee;
    ERL_NIF_TERM head;
    int size;

    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &size, &elements) || (size != 2 && size != 4))
            return false;
        tracee = tracees_find(labels, elements[0]);
        if (!tracee)
            tracee = tracees_add(labels, elements[0], sizeof *tracee);
        if (!tracee)
            return false;
        tracee->name = size == 2 ? elements[1] : 0;
        tracee->first = size == 2 ? (struct mfa){0} : (struct mfa){elements[1], elements[2], 0};
        if (size == 4 && !enif_get_uint(env, elements[3], &tracee->first.arity))
            return false;
    }
    return true;
}

static inline void labels_free(struct tracees *labels)
{
    struct tracee *tracee;
    size_t slot = 0;

    while ((tracee = tracees_any(labels, &slot))) {
        tracees_remove(labels, tracee);
        free(tracee);
    }
    free(labels->slots);
    *labels = (struct tracees){0};
}

#endif
