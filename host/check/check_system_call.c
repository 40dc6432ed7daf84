/*
 * System calls of callbacks.
 *
 * The kernel sends SIGSYS for each system call of the thread while the byte `selector` says so
 * ("syscall user dispatch", Linux 5.11). The handler notes the call, and makes it for the callback.
 * Returning from a handler is a system call, too: the C library's code for it is left out. A call
 * that begins or ends a process cannot be made by the handler; the instruction is then run again,
 * and later system calls of the callback are not seen.
 *
 * Thread: `selector` and the notes belong to the thread; the handler runs in it.
 */
#include "check_internal.h"

#include "host/trace/callback.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum group {
    OTHER,   /* a side effect */
    MEMORY,  /* gets or gives back memory, or waits for a lock */
    WAITS,   /* waits for time, or for what others do */
    PROCESS, /* begins a process, or changes a property of this one */
    BEGINS   /* likewise, and the handler cannot make the call */
};

#ifdef __x86_64__

enum { MOST_CALLS = 512 /* numbers of system calls lie below */ };

/* si_code of the signal. The header is that of a kernel, and of a C library that lacks it. */
enum { USER_DISPATCH = 2 };

/* Calls with names, and those that are no ordinary side effect. */
static const struct {
    const char *name;
    enum group group;
} calls[MOST_CALLS] = {
    [SYS_read] = {"read", OTHER},
    [SYS_write] = {"write", OTHER},
    [SYS_openat] = {"openat", OTHER},
    [SYS_close] = {"close", OTHER},
    [SYS_fstat] = {"fstat", OTHER},
    [SYS_newfstatat] = {"newfstatat", OTHER},
    [SYS_lseek] = {"lseek", OTHER},
    [SYS_ioctl] = {"ioctl", OTHER},
    [SYS_writev] = {"writev", OTHER},
    [SYS_pwrite64] = {"pwrite64", OTHER},
    [SYS_fsync] = {"fsync", OTHER},
    [SYS_sendto] = {"sendto", OTHER},
    [SYS_recvfrom] = {"recvfrom", OTHER},
    [SYS_socket] = {"socket", OTHER},
    [SYS_connect] = {"connect", OTHER},
    [SYS_getpid] = {"getpid", OTHER},
    [SYS_getrandom] = {"getrandom", OTHER},
    [SYS_clock_gettime] = {"clock_gettime", OTHER},
    [SYS_sched_yield] = {"sched_yield", OTHER},
    [SYS_getppid] = {"getppid", OTHER},
    [SYS_gettid] = {"gettid", OTHER},
    [SYS_open] = {"open", OTHER},
    [SYS_stat] = {"stat", OTHER},
    [SYS_access] = {"access", OTHER},
    [SYS_unlink] = {"unlink", OTHER},
    [SYS_rename] = {"rename", OTHER},
    [SYS_mkdir] = {"mkdir", OTHER},
    [SYS_sendmsg] = {"sendmsg", OTHER},
    [SYS_recvmsg] = {"recvmsg", OTHER},
    [SYS_times] = {"times", OTHER},
    [SYS_uname] = {"uname", OTHER},
    [SYS_brk] = {"brk", MEMORY},
    [SYS_mmap] = {"mmap", MEMORY},
    [SYS_munmap] = {"munmap", MEMORY},
    [SYS_mremap] = {"mremap", MEMORY},
    [SYS_madvise] = {"madvise", MEMORY},
    [SYS_mprotect] = {"mprotect", MEMORY},
    [SYS_futex] = {"futex", MEMORY},
    [SYS_nanosleep] = {"nanosleep", WAITS},
    [SYS_clock_nanosleep] = {"clock_nanosleep", WAITS},
    [SYS_rt_sigtimedwait] = {"rt_sigtimedwait", WAITS},
    [SYS_pause] = {"pause", WAITS},
    [SYS_poll] = {"poll", WAITS},
    [SYS_ppoll] = {"ppoll", WAITS},
    [SYS_select] = {"select", WAITS},
    [SYS_pselect6] = {"pselect6", WAITS},
    [SYS_epoll_wait] = {"epoll_wait", WAITS},
    [SYS_epoll_pwait] = {"epoll_pwait", WAITS},
    [SYS_wait4] = {"wait4", WAITS},
    [SYS_waitid] = {"waitid", WAITS},
    [SYS_rt_sigsuspend] = {"rt_sigsuspend", WAITS},
    [SYS_accept] = {"accept", WAITS},
    [SYS_flock] = {"flock", WAITS},
    [SYS_chdir] = {"chdir", PROCESS},
    [SYS_fchdir] = {"fchdir", PROCESS},
    [SYS_umask] = {"umask", PROCESS},
    [SYS_rt_sigaction] = {"rt_sigaction", PROCESS},
    [SYS_alarm] = {"alarm", PROCESS},
    [SYS_setitimer] = {"setitimer", PROCESS},
    [SYS_setrlimit] = {"setrlimit", PROCESS},
    [SYS_dup2] = {"dup2", PROCESS},
    [SYS_dup3] = {"dup3", PROCESS},
    [SYS_setuid] = {"setuid", PROCESS},
    [SYS_setsid] = {"setsid", PROCESS},
    [SYS_chroot] = {"chroot", PROCESS},
    [SYS_kill] = {"kill", PROCESS},
    [SYS_fork] = {"fork", BEGINS},
    [SYS_vfork] = {"vfork", BEGINS},
    [SYS_clone] = {"clone", BEGINS},
    [SYS_clone3] = {"clone3", BEGINS},
    [SYS_execve] = {"execve", BEGINS},
    [SYS_execveat] = {"execveat", BEGINS},
    [SYS_exit] = {"exit", BEGINS},
    [SYS_exit_group] = {"exit_group", BEGINS},
    [SYS_rt_sigreturn] = {"rt_sigreturn", BEGINS},
};

enum { NUMBERS = 4 };

static _Thread_local volatile unsigned char selector;
static _Thread_local bool begun, asks; /* the thread is prepared; the callback is an `enabled` */
static _Thread_local volatile unsigned noted; /* of `numbers`: calls that are findings */
static _Thread_local volatile int numbers[NUMBERS];

/* Written before there are other threads, by a handler. */
static volatile uintptr_t
    restorer; /* address of the C library's code that returns from a handler */
static struct sigaction before;
static bool installed;

static enum group group_of_call(int number)
{
    return number >= 0 && number < MOST_CALLS ? calls[number].group : OTHER;
}

/* clone(2) also starts threads, which are no process. */
static bool is_finding(enum group group, int number, const greg_t *registers)
{
    enum { THREAD = 0x10000 /* CLONE_THREAD */ };

    if (number == SYS_exit || number == SYS_exit_group || number == SYS_rt_sigreturn)
        return false; /* the guard of crash/ reports ends */
    if (number == SYS_clone && registers[REG_RDI] & THREAD)
        return asks;
    if (number == SYS_clone3)
        return asks || !(*(const uint64_t *)registers[REG_RDI] & THREAD);
    return group != MEMORY && (asks || group != OTHER);
}

static __attribute__((noinline)) void on_system_call(int number, siginfo_t *info, void *context)
{
    ucontext_t *state = context;
    greg_t *registers = state->uc_mcontext.gregs;
    int error = errno;
    enum group group;

    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    if (!restorer && info->si_code <= 0) { /* the signal by which the address is found */
        restorer = (uintptr_t)__builtin_return_address(0);
        return;
    }
    if (info->si_code != USER_DISPATCH) {
        if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
            before.sa_sigaction(number, info, context);
        return;
    }
    group = group_of_call(info->si_syscall);
    if (is_finding(group, info->si_syscall, registers) && noted < NUMBERS)
        numbers[noted++] = info->si_syscall;
    if (group == BEGINS) {
        registers[REG_RAX] = info->si_syscall;
        registers[REG_RIP] -= 2; /* the instruction `syscall` */
        return;
    }
    errno = 0;
    registers[REG_RAX] =
        syscall(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                registers[REG_R10], registers[REG_R8], registers[REG_R9]);
    if (registers[REG_RAX] == -1 && errno)
        registers[REG_RAX] = -errno;
    errno = error;
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
}

bool th_check_system_calls_supported(void)
{
    struct sigaction action = {.sa_sigaction = on_system_call,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    if (installed)
        return restorer;
    installed = true;
    if (dlsym(RTLD_DEFAULT, "__tsan_init")) /* the thread sanitizer delivers signals late */
        return false;
    sigaction(SIGSYS, &action, &before);
    raise(SIGSYS);
    if (restorer && prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) != 0)
        restorer = 0;
    if (!restorer)
        sigaction(SIGSYS, &before, NULL);
    return restorer;
}

void th_check_system_calls_begin(bool enabled)
{
    enum { RESTORER_BYTES = 16 };

    if (!restorer)
        return;
    noted = 0;
    asks = enabled;
    if (!begun)
        begun = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, restorer, RESTORER_BYTES,
                      &selector) == 0;
    selector = begun ? SYSCALL_DISPATCH_FILTER_BLOCK : SYSCALL_DISPATCH_FILTER_ALLOW;
}

void th_check_system_calls_end(void)
{
    static const struct {
        enum th_check_rule rule;
        const char *does;
    } texts[] = {
        [OTHER] = {TH_RULE_EFFECT, "makes a system call"},
        [WAITS] = {TH_RULE_WAIT, "waits"},
        [PROCESS] = {TH_RULE_PROCESS, "changes a property of the process"},
        [BEGINS] = {TH_RULE_PROCESS, "begins a process"},
    };

    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    for (unsigned i = 0; i < noted; i++) {
        int number = numbers[i];
        const char *name = number >= 0 && number < MOST_CALLS ? calls[number].name : NULL;
        enum group group = group_of_call(number);
        if (name)
            th_check_found_now(texts[group].rule, name, "%s: %s(2)", texts[group].does, name);
        else
            th_check_found_now(texts[group].rule, "unnamed", "%s: number %d", texts[group].does,
                               number);
    }
    noted = 0;
}

#else /* arm64's kernel sends no SIGSYS for the system calls of a thread */

bool th_check_system_calls_supported(void)
{
    return false;
}

void th_check_system_calls_begin(bool enabled)
{
    (void)enabled;
}

void th_check_system_calls_end(void)
{
}

#endif
