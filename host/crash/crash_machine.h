/*
 * Registers and the system call that ends the process, by machine. Inner header of crash/.
 */
#ifndef TH_CRASH_MACHINE_H
#define TH_CRASH_MACHINE_H

#include <linux/audit.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum { TH_CRASH_AUDIT_ARCH = (int)AUDIT_ARCH_X86_64 };

/* Return the address of the interrupted instruction, and the first argument of a function or system
 * call that has just begun. */
static inline uintptr_t th_crash_program_counter(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t th_crash_first_argument(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RDI];
}

/* Ends the process. The system call is made here, as one in the C library may be filtered. */
static inline _Noreturn void th_crash_exit_at_once(int status)
{
    for (;;)
        __asm__ volatile("syscall" ::"a"(SYS_exit_group), "D"(status) : "rcx", "r11", "memory");
}

#elif defined(__aarch64__)

enum { TH_CRASH_AUDIT_ARCH = (int)AUDIT_ARCH_AARCH64 };

static inline uintptr_t th_crash_program_counter(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uintptr_t th_crash_first_argument(const ucontext_t *context)
{
    return context->uc_mcontext.regs[0];
}

static inline _Noreturn void th_crash_exit_at_once(int status)
{
    register long number __asm__("x8") = SYS_exit_group;
    register long argument __asm__("x0") = status;

    for (;;)
        __asm__ volatile("svc 0" ::"r"(number), "r"(argument) : "memory");
}

#else
#error "the registers of this machine"
#endif

#endif
