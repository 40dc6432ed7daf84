/*
 * Tests that a profiler's signal can walk the stack wherever it interrupts a thread on its way to a
 * handler: the trap flag stops the processor at each instruction, where the stack is walked. The
 * two instructions of a stub are the exception. No unwind table covers them: for a table that is
 * registered at run time, each C++ exception takes a lock, which such a signal could find taken.
 */
#include "meeting.h"

#include "host/breakpoint/native/native_internal.h"
#include "host/breakpoint/native/native_thunk.h"
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/compiled.h"
#include "tests/support/noting.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#ifdef __x86_64__

/* Counters of the call that is stepped through. The signal handler writes them. */
enum place { ENTRY, STUB, THUNK, BODY, ELSEWHERE /* the handler and its callees */, PLACES };
static const struct meeting *stepped;
static unsigned steps[PLACES], reached[PLACES];
static bool stepping;

static __attribute__((noinline)) word step_through(enum th_native_form form);

static enum place place_of(word address)
{
    word code = (word)stepped->code, stub = th_native_near_stub(stepped->native);
    word thunk = (word)stepped->native->thunk;

    if (address - code < 8)
        return ENTRY;
    if (address - stub < 16)
        return STUB;
    if (address - thunk < 32)
        return THUNK;
    return address - code < 64 ? BODY : ELSEWHERE;
}

static _Unwind_Reason_Code look_for_caller(struct _Unwind_Context *frame, void *found)
{
    int before;
    word address = _Unwind_GetIPInfo(frame, &before);

    if (_Unwind_FindEnclosingFunction((void *)(address + before)) != (void *)step_through)
        return _URC_NO_REASON;
    *(bool *)found = true;
    return _URC_END_OF_STACK;
}

static void look(int signal, siginfo_t *info, void *context)
{
    word address = (word)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    bool found = false;

    (void)signal;
    (void)info;
    if (!stepping || _Unwind_FindEnclosingFunction((void *)(address + 1)) == (void *)step_through)
        return;
    _Unwind_Backtrace(look_for_caller, &found);
    steps[place_of(address)]++;
    reached[place_of(address)] += found;
}

/* Sets the trap flag. The push is below the red zone of 128 bytes under the stack pointer. */
#define SET_TRAP(how, bits)                                                         \
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " how " %0, (%%rsp); popfq; " \
                     "lea 128(%%rsp), %%rsp" ::"i"(bits)                            \
                     : "memory", "cc")

static __attribute__((noinline)) word step_through(enum th_native_form form)
{
    const void *code = stepped->code;
    word answer;

    stepping = true;
    SET_TRAP("orq", 0x100);
    answer = call_form(form, code);
    SET_TRAP("andq", ~0x100);
    stepping = false;
    return answer;
}

static void step(struct meeting *meeting, enum th_native_form form)
{
    stepped = meeting;
    memset(steps, 0, sizeof steps);
    memset(reached, 0, sizeof reached);
    assert_int_equal(step_through(form), answer_of(form));
    for (int i = 0; i < PLACES; i++)
        if (i != STUB)
            assert_int_equal(reached[i], steps[i]);
    assert_int_equal(steps[ENTRY], 1);
    assert_order(steps[BODY], >, 0);
}

static void make_meeting(struct meeting *meeting, struct th_library *library,
                         enum th_native_form form)
{
    meeting->code = compiled_function(library, form_names[form]);
    meeting->native =
        th_native_create(library, (void *)meeting->code, form, meet_handlers[form], meeting);
    assert_non_null(meeting->native);
    meet_at_site(meeting);
}

static void each_instruction_outside_a_stub_unwinds_to_the_caller(void **state)
{
    struct th_library *library =
        compiled_open(NULL, "-O2 " TH_ENTRY_FLAGS, "tests/breakpoint/forms.c");
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO}, before;

    (void)state;
    sigaction(SIGTRAP, &action, &before);
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++) {
        struct meeting meeting = {0};
        make_meeting(&meeting, library, i);
        step(&meeting, i);
        assert_int_equal(steps[STUB] + steps[THUNK], 0);
        th_breakpoint_sites_write(&meeting.site, 1, true);
        step(&meeting, i);
        assert_int_equal(steps[STUB], 2);
        assert_int_equal(steps[THUNK], 4);
        th_native_site_native.count(meeting.site, th_breakpoint_generation(), 0, TH_BP_LOCAL);
        step(&meeting, i);
        assert_int_equal(steps[STUB], 2);
        assert_int_equal(steps[THUNK], 5);
        assert_int_equal(atomic_load(&meeting.met), 1);
        th_native_site_native.count(meeting.site, th_breakpoint_generation(), TH_BP_LOCAL, 0);
        th_breakpoint_sites_write(&meeting.site, 1, false);
        th_native_drop(meeting.native);
        th_breakpoint_site_drop(meeting.site);
    }
    sigaction(SIGTRAP, &before, NULL);
    th_progress_settle();
    th_library_release(library);
}

#endif

int main(void)
{
#ifdef __x86_64__
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction_outside_a_stub_unwinds_to_the_caller)};

#ifdef TH_PROGRESS_TSAN
    printf("the thread sanitizer keeps signals back\n");
    return 77;
#endif
    if (th_native_begin() != TH_OK) {
        printf("no native sites here: %s\n", th_error_link(0));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    printf("programs of this machine cannot step through themselves: no trap flag\n");
    return 77;
#endif
}
