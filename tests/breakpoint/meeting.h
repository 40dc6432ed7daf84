/* Defines handlers of native sites that count their calls and call the body. */
#ifndef MEETING_H
#define MEETING_H

#include "host/breakpoint/breakpoint.h"

#include <stdatomic.h>

/* The owner of a native record. */
struct meeting {
    struct th_site *site;
    struct th_native *native;
    struct th_native_place place; /* place of `site` */
    const void *code;
    atomic_uint met;      /* calls of the handler; relaxed: a count */
    const void *returner; /* return address of the last call */
};

/* Creates MEETING's site; MEETING->native is its only record. */
static inline void meet_at_site(struct meeting *meeting)
{
    meeting->place = (struct th_native_place){{meeting->native}};
    meeting->site = th_breakpoint_site_create(&th_native_site_native, meeting, &meeting->place);
}

/* Types of each form's function. ENV and the terms are any words. */
typedef uintptr_t word;
typedef word call_0(word);
typedef word call_1(word, word);
typedef word call_2(word, word, word);
typedef word call_3(word, word, word, word);
typedef word call_4(word, word, word, word, word);
typedef word call_5(word, word, word, word, word, word);
typedef word call_nif(word, int, const word[]);

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static struct meeting *note_meeting(struct th_native *native, const void *returner)
{
    struct meeting *meeting = native->owner;

    atomic_fetch_add_explicit(&meeting->met, 1, memory_order_relaxed);
    meeting->returner = returner;
    return meeting;
}

#define NOTE(native) note_meeting(native, __builtin_return_address(0))

static word meet_0(word env, struct th_native *native)
{
    NOTE(native);
    return ((call_0 *)native->body)(env);
}

static word meet_1(word env, word a, struct th_native *native)
{
    NOTE(native);
    return ((call_1 *)native->body)(env, a);
}

static word meet_2(word env, word a, word b, struct th_native *native)
{
    NOTE(native);
    return ((call_2 *)native->body)(env, a, b);
}

static word meet_3(word env, word a, word b, word c, struct th_native *native)
{
    NOTE(native);
    return ((call_3 *)native->body)(env, a, b, c);
}

static word meet_4(word env, word a, word b, word c, word d, struct th_native *native)
{
    NOTE(native);
    return ((call_4 *)native->body)(env, a, b, c, d);
}

static word meet_5(word env, word a, word b, word c, word d, word e, double last)
{
    struct th_native *native = th_native_of(last);

    NOTE(native);
    return ((call_5 *)native->body)(env, a, b, c, d, e);
}

static word meet_nif(word env, int argc, const word argv[], struct th_native *native)
{
    NOTE(native);
    return ((call_nif *)native->body)(env, argc, argv);
}

static void *const meet_handlers[TH_NATIVE_FORMS] = {meet_0, meet_1, meet_2,  meet_3,
                                                     meet_4, meet_5, meet_nif};

/* The names of the functions in forms.c, by form. Their arguments are (10, 20, 30, ...), or (10, 1,
 * {20}) for the form NIF. */
static const char *const form_names[TH_NATIVE_FORMS] = {"terms_0", "terms_1", "terms_2", "terms_3",
                                                        "terms_4", "terms_5", "nif"};
enum { ENV = 10 };

static word call_form(enum th_native_form form, const void *code)
{
    static const word argv[] = {20};

    switch (form) {
    case TH_NATIVE_TERMS_0:
        return ((call_0 *)code)(ENV);
    case TH_NATIVE_TERMS_1:
        return ((call_1 *)code)(ENV, 20);
    case TH_NATIVE_TERMS_2:
        return ((call_2 *)code)(ENV, 20, 30);
    case TH_NATIVE_TERMS_3:
        return ((call_3 *)code)(ENV, 20, 30, 40);
    case TH_NATIVE_TERMS_4:
        return ((call_4 *)code)(ENV, 20, 30, 40, 50);
    case TH_NATIVE_TERMS_5:
        return ((call_5 *)code)(ENV, 20, 30, 40, 50, 60);
    default:
        return ((call_nif *)code)(ENV, 1, argv);
    }
}

static word answer_of(enum th_native_form form)
{
    static const word factors[] = {0, 3 * 20, 5 * 30, 7 * 40, 11 * 50, 13 * 60};
    word sum = form == TH_NATIVE_TERMS_0 ? ENV + 1 : ENV;

    if (form == TH_NATIVE_NIF)
        return ENV + 17 + 3 * 20;
    for (unsigned i = 0; i <= (unsigned)form; i++)
        sum += factors[i];
    return sum;
}

#pragma GCC diagnostic pop

#endif
