/*
 * Trials: processes in which a tracer is tried, and whose crash is a signature instead of a report.
 *
 * No handler runs at _exit(). So a filter of seccomp turns the system call into SIGSYS, in whose
 * handler the stack is that of the caller. The filter looks at the address of the call: only _exit()
 * and syscall() of this process' C library are meant, not those of programs that a tracer starts.
 */
#include "crash_internal.h"
#include "crash_machine.h"

#include "host/base/output.h"
#include "host/self/self.h"
#include "host/trace/callback.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Written before there are other threads, read in handlers. */
static struct th_crash_signature *wanted;
static bool is_trial;

void th_crash_end_trial(void)
{
    th_crash_exit_at_once(TH_OK);
}

static void note_name(char *to, size_t size, const char *name)
{
    strncpy(to, name ? name : "", size - 1);
}

void th_crash_note(enum th_crash_kind kind, int number, const struct th_self *self,
                   const void *context)
{
    /* The first of several threads, which writes alone; 0: none. Sequentially consistent, the default. */
    static _Atomic pid_t writer;
    static const struct timespec moment = {
        0, 100000000}; /* for the writer, before others end the trial */
    pid_t first = 0;
    const struct th_event *event;
    const char *file = "", *slash;

    if (!wanted)
        return;
    if (atomic_compare_exchange_strong(&writer, &first, gettid())) {
        wanted->number = number;
        wanted->slot = self->attachment ? (int)self->slot : TH_CRASH_NO_SLOT;
        atomic_store_explicit(&wanted->kind, kind, memory_order_release);
        event = th_trace_callback_event(); /* the rest reads memory that may be damaged */
        wanted->record = event ? event->number : 0;
        note_name(wanted->tracer, sizeof wanted->tracer, th_trace_callback_tracer(self));
        note_name(wanted->session, sizeof wanted->session, th_trace_callback_session(self));
        note_name(wanted->function, sizeof wanted->function,
                  self->library_frame && !self->attachment ? self->function : NULL);
        /* The last step: a walk of a damaged stack may crash, and the report must come first. */
        if (kind != TH_CRASH_HANG && is_trial)
            wanted->frame = th_crash_innermost(context, &file);
        slash = strrchr(file, '/');
        note_name(wanted->file, sizeof wanted->file, slash ? slash + 1 : file);
    } else if (is_trial && first != gettid()) {
        nanosleep(&moment, NULL);
    }
    if (is_trial)
        th_crash_exit_at_once(TH_CRASHED);
}

/* --- _exit() ---------------------------------------------------------------------------------- */

static void on_filtered_exit(int number, siginfo_t *info, void *context)
{
    int status = (int)th_crash_first_argument(context);

    if (info->si_code <= 0) /* sent, not by the filter */
        th_crash_note(TH_CRASH_SIGNAL, number, &th_self, context);
    if (!th_crash_is_child() && (th_self.attachment || th_self.library_frame))
        th_crash_note(TH_CRASH_IMMEDIATE, status, &th_self, context);
    th_crash_exit_at_once(status);
}

/* Finds the code of the function NAME of the C library. */
static bool find_code(const char *name, uint64_t *begin, uint64_t *end)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); /* not of a library before it */
    void *at = library ? dlsym(library, name) : NULL;
    const ElfW(Sym) * symbol;
    Dl_info info;

    if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return false;
    *begin = (uint64_t)(uintptr_t)at;
    *end = *begin + symbol->st_size;
    return *begin >> 32 == *end >> 32;
}

/* Filters exit_group of code from BEGIN to END. All filters of a process are asked; the strictest
 * answer counts. */
static void filter_exit(uint64_t begin, uint64_t end)
{
    enum { ADDRESS = offsetof(struct seccomp_data, instruction_pointer) };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TH_CRASH_AUDIT_ARCH, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ADDRESS + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(begin >> 32), 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ADDRESS),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)end, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void th_crash_set_signature(struct th_crash_signature *signature)
{
    wanted = signature;
}

void th_crash_begin_trial(struct th_crash_signature *signature)
{
    struct sigaction action = {.sa_sigaction = on_filtered_exit,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static const char *const exits[] = {"_exit", "syscall"};
    uint64_t begin, end;

    wanted = signature;
    is_trial = true;
    th_crash_owner = getpid();
    th_crash_handle_further_signals();
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++)
        if (find_code(exits[i], &begin, &end))
            filter_exit(begin, end);
}
