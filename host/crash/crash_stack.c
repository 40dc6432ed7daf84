/*
 * Two stacks a thread: its own, whose end must be known to tell that it is used up, and one for
 * signal handlers, as there may be no room left on the first.
 */
#include "crash_internal.h"

#include "host/self/self.h"

enum {
    STACK_BYTES = 512 * 1024, /* for handlers; the printers are iterative */
    REACH = 256 * 1024        /* an access so near to the stack's end is one of the stack */
};

static _Thread_local void *handler_stack;
static _Thread_local stack_t stack_before; /* what handlers had, a sanitizer's perhaps */

void th_crash_thread_begin(void)
{
    sigset_t met;

    th_crash_threads_enter();
    handler_stack = th_alloc(STACK_BYTES);
    sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = STACK_BYTES}, &stack_before);
    th_self_stack(); /* a signal handler cannot look it up */
    /* A thread may have been started without any signals. */
    sigemptyset(&met);
    sigaddset(&met, SIGSEGV);
    sigaddset(&met, SIGBUS);
    sigaddset(&met, SIGFPE);
    sigaddset(&met, SIGILL);
    sigaddset(&met, SIGABRT);
    sigaddset(&met, TH_CRASH_TIMEOUT_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &met, NULL);
}

void th_crash_thread_end(void)
{
    th_crash_threads_leave();
    sigaltstack(&stack_before, NULL);
    th_free(handler_stack);
    handler_stack = NULL;
}

/* The access is just below the lowest address that the stack may reach, or just above: the kernel
 * does not let it come quite there. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info)
{
    uintptr_t address = (uintptr_t)info->si_addr, low = th_self.stack.low;

    return low && number == SIGSEGV && info->si_code > 0 && address + REACH > low &&
           address < low + REACH;
}
