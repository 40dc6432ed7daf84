/* Sets up tests of local calls: `locals`, compiled by COMPILER-LEVEL, is a module beside party. */
#ifndef LOCALS_H
#define LOCALS_H

#include "host/base/base.h"
#include "tests/runtime/traced.h"

static struct th_library *locals;

static inline struct th_library *add_module(const char *made_by, const char *name)
{
    char *file = th_printf("tests/plugins/%s/%s.so", made_by, name);
    struct th_library *library = loaded_plugin(file, th_small(0));

    th_code_module_add(library);
    th_free(file);
    return library;
}

static inline void remove_module(struct th_library *library)
{
    th_code_module_remove(library);
    th_library_release(library);
}

static inline int begin_locals(void **state)
{
    begin(state);
    locals = add_module("gcc-O2", "locals");
    return 0;
}

static inline int end_locals(void **state)
{
    remove_module(locals);
    return end(state);
}

/* Calls locals:FUNCTION and returns the result as call() does. */
#define local(function, ...) local_in(process, function, __VA_ARGS__)
static inline const char *local_in(struct th_process *in, const char *function,
                                   const char *arguments, ...)
    __attribute__((format(printf, 3, 4)));
static inline const char *local_in(struct th_process *in, const char *function,
                                   const char *arguments, ...)
{
    char text[256];
    va_list more;

    va_start(more, arguments);
    vsnprintf(text, sizeof text, arguments, more);
    va_end(more);
    return call_in(in, "call", "[locals,%s,%s]", function, text);
}

/* Sets a local pattern for FUNCTION, or for all functions if it is NULL. */
static inline void set_local(const char *function, const char *match)
{
    assert_int_equal(try_in("locals", function, TH_ANY_ARITY, match, TH_BP_LOCAL), TH_OK);
}

#define CALLERS "[{'_',[],[{message,{caller}}]}]"
#define STACKS "[{'_',[],[{message,{current_stacktrace}}]}]"

#endif
