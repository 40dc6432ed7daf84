/*
 * Functions that the host itself has for expressions: those of erlang, lists, ... that a session
 * with a library needs. Inner header of the tables (function_*.c).
 */
#ifndef TH_FUNCTION_H
#define TH_FUNCTION_H

#include "shell.h"

struct th_shell_call {
    struct th_evaluation *e;
    const struct th_shell_function *function;
    const th_term *arguments;
};

struct th_shell_function {
    const char *name;
    unsigned char arity;
    bool guard;  /* a guard may call it */
    bool remote; /* is only called with its module */
    th_term (*run)(const struct th_shell_call *call);
};

/* The functions of a module; the last one has no name. */
struct th_shell_module {
    const char *name;
    const struct th_shell_function *functions;
};

extern const struct th_shell_function th_shell_functions_of_terms[]; /* erlang: tests, parts */
extern const struct th_shell_function
    th_shell_functions_of_processes[]; /* erlang: messages, names, ends */
extern const struct th_shell_function th_shell_functions_of_lists[], th_shell_functions_of_binary[],
    th_shell_functions_of_timer[], th_shell_functions_of_tracehost[];

/* Raises badarg with NOTE ("argument 1: not an atom"); returns TH_NONE. */
th_term th_shell_refuse(const struct th_shell_call *call, const char *note);

#endif
