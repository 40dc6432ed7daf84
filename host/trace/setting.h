/*
 * Settings that tracers declare (th_tracer_settings of erl_tracer.h), and what is given for them.
 */
#ifndef TH_SETTING_H
#define TH_SETTING_H

#include "host/library/library.h"
#include "host/term/term.h"

/*
 * TH_USAGE if STATE, which a tracer of that NAME is to get, is no map (and not []), or has a key
 * that LIBRARY does not declare, or a value that is none of the key's: of TH_SETTING_INPUT, that of
 * a file that cannot be read. A library that declares nothing takes any state.
 */
enum th_status th_trace_settings_check(const struct th_library *library, const char *name,
                                       th_term state);

/* Calls VISIT with the path of each file that STATE has LIBRARY write, until it returns another
 * status than TH_OK; the last status. */
enum th_status th_trace_settings_each_output(const struct th_library *library, th_term state,
                                             enum th_status (*visit)(void *context,
                                                                     const char *path),
                                             void *context);

/* A word for what a value may be: "a number", "table, json or csv". To be freed by th_free(). */
char *th_trace_setting_values(const struct th_tracer_setting *setting);

/* Appends the words that SETTING may be. */
void th_trace_setting_words(const struct th_tracer_setting *setting, struct th_names *words);

#endif
