/*
 * Tests that an unwinder finds callers, handlers and bodies of native sites like any functions.
 *
 *   test_native_stack              the tests: libgcc's unwinder, in a handler
 *   test_native_stack MILLISECONDS the program that native_stack.sh inspects: main() calls
 *                                  call_once(), with the breakpoint and then without; or, unless
 *                                  MILLISECONDS is 0, call_for() for that time
 */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "host/breakpoint/native/native_machine.h"
#include "host/library/library.h"
#include "host/process/process.h"
#include "tests/support/assertions.h"
#include "tests/support/noting.h"

#include <stdlib.h>
#include <string.h>
#include <unwind.h>

enum { DEPTH = 3 };

typedef ERL_NIF_TERM call_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
typedef ERL_NIF_TERM call_1(ErlNifEnv *env, ERL_NIF_TERM depth);

static th_env env;
static struct th_library *library;
static call_nif *descend, *burn;
static struct th_native *plunge;
static struct th_native_place place;
static struct th_site *site;
static struct noting *noting;

/* --- Stacks ----------------------------------------------------------------------------------- */

/* The starts of the functions of all frames, innermost first. */
struct stack {
    uintptr_t functions[100];
    size_t count;
};

/* The deepest stack of the last call of plunge(); NULL: not recorded. */
static struct stack *deepest;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *noted)
{
    struct stack *stack = noted;

    if (stack->count == sizeof stack->functions / sizeof *stack->functions)
        return _URC_END_OF_STACK;
    stack->functions[stack->count++] = _Unwind_GetRegionStart(context);
    return _URC_NO_REASON;
}

/* Calls the body and returns after it, as the runtime does if the return is requested. */
static __attribute__((noinline)) ERL_NIF_TERM handle(ErlNifEnv *of, ERL_NIF_TERM depth,
                                                     struct th_native *native)
{
    ERL_NIF_TERM answer;

    if (deepest) {
        deepest->count = 0;
        _Unwind_Backtrace(note_frame, deepest);
    }
    answer = ((call_1 *)native->body)(of, depth);
    __asm__ volatile("" ::: "memory"); /* prevents a tail call */
    return answer;
}

/* --- The library ------------------------------------------------------------------------------ */

static call_nif *function_of_table(const char *name)
{
    const struct th_entry *entry = th_library_entry(library);

    for (size_t i = 0; i < entry->function_count; i++)
        if (strcmp(entry->functions[i].name, name) == 0)
            return entry->functions[i].fptr;
    return NULL;
}

static int arm(void **state)
{
    char *path = th_printf("%s/tests/plugins/depths.so", getenv("BUILD_DIR"));
    const struct th_code_map *map;

    (void)state;
    assert_int_equal(th_native_begin(), TH_OK);
    assert_int_equal(th_library_open(path, &library), TH_OK);
    th_free(path);
    map = th_library_code_map(library);
    assert_int_equal(map->local_count, 1);
    assert_null(th_native_refusal(library, map->locals[0].code));
    plunge =
        th_native_create(library, map->locals[0].code, TH_NATIVE_TERMS_1, (void *)handle, NULL);
    assert_non_null(plunge);
    place.records[0] = plunge;
    site = th_breakpoint_site_create(&th_native_site_native, NULL, &place);
    noting = noting_create('A');
    set_kinds(site, noting, TH_BP_LOCAL, 0);
    descend = function_of_table("descend");
    burn = function_of_table("burn");
    return 0;
}

static int disarm(void **state)
{
    (void)state;
    noting_end(noting);
    th_native_drop(plunge);
    th_breakpoint_site_drop(site);
    return 0;
}

/* Found by its name from outside. */
__attribute__((noinline)) ERL_NIF_TERM call_once(void)
{
    const ERL_NIF_TERM argv[] = {th_small(DEPTH)};
    ERL_NIF_TERM answer = descend(&env, 1, argv);

    __asm__ volatile("" ::: "memory");
    return answer;
}

__attribute__((noinline)) ERL_NIF_TERM call_for(int milliseconds)
{
    const ERL_NIF_TERM argv[] = {th_small(milliseconds)};
    ERL_NIF_TERM answer = burn(&env, 1, argv);

    __asm__ volatile("" ::: "memory");
    return answer;
}

/* --- Tests ------------------------------------------------------------------------------------ */

/* gcc 12 lets the unwind entry of a function begin after the two NOPs at the label on arm64. */
static void assert_begin(uintptr_t label, uintptr_t unwound)
{
    assert_in_range(unwound, label, label + (sizeof(th_entry_word) == 4 ? 8 : 0));
}

static void a_backtrace_shows_handlers_and_bodies(void **state)
{
    static struct stack stack;
    const uintptr_t *frame = stack.functions;

    (void)state;
    deepest = &stack;
    assert_term_equal(call_once(), th_small(DEPTH));
    assert_in_range(stack.count, 2 * DEPTH + 4, 99);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(*frame++, (uintptr_t)handle);
        assert_begin((uintptr_t)plunge->code, *frame++);
    }
    assert_int_equal(*frame++, (uintptr_t)handle);
    assert_begin((uintptr_t)descend, *frame++);
    assert_int_equal(*frame++, (uintptr_t)call_once);
    assert_int_equal(*frame++, (uintptr_t)a_backtrace_shows_handlers_and_bodies);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_backtrace_shows_handlers_and_bodies)};
    int milliseconds = argc > 1 ? atoi(argv[1]) : 0;

    if (argc == 1)
        return cmocka_run_group_tests(tests, arm, disarm);
    arm(NULL);
    if (milliseconds > 0)
        call_for(milliseconds);
    else
        call_once();
    disarm(NULL);
    return call_once() == th_small(DEPTH) ? 0 : 1;
}
