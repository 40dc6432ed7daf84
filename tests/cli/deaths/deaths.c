/*
 * Dies in many ways, to test the report of each. Compiled twice as dies.so: as a tracer, and with
 * -DPLUGIN as a NIF library whose function dies:die(KIND) dies.
 *
 *     DIES=KIND        the kind, from the table at the end
 *     DIES_AFTER=N     the tracer dies in the trace callback of event N (default: 1)
 *     DIES_READY=FILE  wait_outside writes its process id to FILE, and waits until FILE is gone
 *
 * Kinds of load(), unload() and the constructor take the environment in the NIF library, too.
 * Long because: it has a function for each kind.
 */
#include <alloca.h>
#include <assert.h>
#include <erl_tracer.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

extern char **environ;

/* Hides a value from the optimiser. */
static void *opaque(void *value)
{
    void *volatile hidden = value;

    return hidden;
}

static void write_to(void *address)
{
    *(volatile int *)opaque(address) = 1;
}

/* --- memory --- */

static void null_read(void)
{
    (void)*(volatile int *)opaque(NULL);
}

static void null_write(void)
{
    write_to(NULL);
}

static void wild_write(void)
{
    write_to((void *)0x7e0000000000);
}

/* No pointer may have this form: the processor does not report the address. */
static void noncanonical_write(void)
{
    write_to((void *)0x4141414141414141);
}

static void call_null(void)
{
    ((void (*)(void))opaque(NULL))();
}

static void jump_into_data(void)
{
    static unsigned char data[64];

    ((void (*)(void))opaque(data))();
}

static void read_only_write(void)
{
    static const int constant[1024] = {1};

    write_to((void *)constant);
}

static void own_code_write(void)
{
    write_to((void *)own_code_write);
}

static void truncated_mapping(void)
{
    FILE *file = tmpfile();
    char *page;

    if (ftruncate(fileno(file), 4096))
        return;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    write_to(page);
    if (ftruncate(fileno(file), 0))
        return;
    write_to(page);
}

static void use_after_munmap(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    write_to(page);
    munmap(page, 4096);
    write_to(page);
}

/* --- instructions --- */

static void division(void)
{
    volatile int zero = 0;

    zero = 1000 / zero;
}

static void builtin_trap(void)
{
    __builtin_trap();
}

#ifdef __x86_64__
static void ud2(void)
{
    __asm__ volatile("ud2");
}

static void int3(void)
{
    __asm__ volatile("int3");
}

static void hlt(void)
{
    __asm__ volatile("hlt");
}

/* Sets the flag that makes the processor stop after each instruction. */
static void trap_flag(void)
{
    __asm__ volatile("pushfq\n orl $0x100, (%%rsp)\n popfq\n nop\n nop" ::: "memory", "cc");
}

static void misaligned(void)
{
    static char bytes[64] __attribute__((aligned(64)));

    __asm__ volatile("movaps %%xmm0, 1(%0)" ::"r"(bytes) : "memory");
}

/* Sets the flag that forbids misaligned accesses. The flag stays set in signal handlers. */
static void alignment_check(void)
{
    static char bytes[64] __attribute__((aligned(64)));

    __asm__ volatile("pushfq\n orl $0x40000, (%%rsp)\n popfq\n movl $1, 1(%0)" ::"r"(bytes)
                     : "memory", "cc");
}

static void float_division(void)
{
    unsigned enabled = 0x1f80 & ~(1u << 9);
    volatile double zero = 0;

    __asm__ volatile("ldmxcsr %0" ::"m"(enabled));
    zero = 1 / zero;
}
#endif

/* --- signals --- */

static void failed_assertion(void)
{
    assert(opaque(NULL));
}

static void abort_with_default_action(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void raise_with_default_action(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void write_with_default_action(void)
{
    signal(SIGSEGV, SIG_DFL);
    null_write();
}

/* Threads of the host's processes block most signals. */
static void unblock(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void raise_unblocked(int number)
{
    unblock(number);
    raise(number);
}

/* RAISES(NAME) defines raise_NAME(). */
#define RAISES(name)                \
    static void raise_##name(void)  \
    {                               \
        raise_unblocked(SIG##name); \
    }
RAISES(SEGV)
RAISES(BUS)
RAISES(FPE)
RAISES(ILL)
RAISES(ABRT)
RAISES(TRAP)
RAISES(SYS)
RAISES(XCPU)
RAISES(XFSZ)
RAISES(ALRM)
RAISES(VTALRM)
RAISES(PROF)
RAISES(USR1)
RAISES(USR2)
RAISES(IO)
RAISES(PWR)
RAISES(STKFLT)
RAISES(PIPE)

static void raise_RT(void)
{
    raise_unblocked(SIGRTMAX - 5);
}

static void kill_SEGV(void)
{
    kill(getpid(), SIGSEGV);
    pause();
}

static void kill_USR1(void)
{
    kill(getpid(), SIGUSR1);
    pause();
}

static void kill_KILL(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static void alarm_pause(void)
{
    alarm(1);
    pause();
}

static void spin(void)
{
    for (volatile int forever = 1; forever;)
        ;
}

static void interval_of(int timer)
{
    struct itimerval soon = {.it_value = {.tv_usec = 10000}};

    setitimer(timer, &soon, NULL);
    spin();
}

static void interval_real(void)
{
    interval_of(ITIMER_REAL);
}

static void interval_prof(void)
{
    interval_of(ITIMER_PROF);
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void write_while_blocked(void)
{
    block_all();
    null_write();
}

static void abort_while_blocked(void)
{
    block_all();
    abort();
}

static void on_signal_write(int number)
{
    (void)number;
    null_write();
}

static void own_handler_writes(void)
{
    signal(SIGUSR1, on_signal_write);
    raise_unblocked(SIGUSR1);
}

static void on_signal_exit(int number)
{
    (void)number;
    _exit(7);
}

static void own_handler_exits(void)
{
    signal(SIGSEGV, on_signal_exit);
    null_write();
}

/* The host's handlers have no stack then. */
static void alternate_stack_gone(void)
{
    size_t size = 65536;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = size}, NULL);
    munmap(memory, size);
    null_write();
}

/* --- limits and filters --- */

static void set_limit(int resource, rlim_t amount)
{
    struct rlimit limit;

    getrlimit(resource, &limit);
    limit.rlim_cur = amount;
    setrlimit(resource, &limit);
}

static void limit_cpu(void)
{
    set_limit(RLIMIT_CPU, 1);
    spin();
}

static void limit_file_size(void)
{
    static char page[8192];
    FILE *file = tmpfile();

    signal(SIGXFSZ, SIG_DFL);
    unblock(SIGXFSZ);
    set_limit(RLIMIT_FSIZE, 4096);
    for (int i = 0; i < 2; i++)
        if (write(fileno(file), page, sizeof page) < 0)
            break;
}

static void seccomp_strict(void)
{
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    syscall(SYS_getppid);
}

/* Makes getppid() fatal. */
static void filter_getppid(unsigned result)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, result),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    syscall(SYS_getppid);
}

static void seccomp_trap(void)
{
    filter_getppid(SECCOMP_RET_TRAP);
}

static void seccomp_kill(void)
{
    filter_getppid(SECCOMP_RET_KILL_PROCESS);
}

/* --- ends of the program and of threads --- */

static void exit_0(void)
{
    exit(0);
}

static void exit_3(void)
{
    exit(3);
}

static void exit_at_once_0(void)
{
    _exit(0);
}

static void exit_at_once_7(void)
{
    _exit(7);
}

static void quick_exit_0(void)
{
    quick_exit(0);
}

static void exit_group_4(void)
{
    syscall(SYS_exit_group, 4);
}

static void raw_thread_exit(void)
{
    syscall(SYS_exit, 0);
}

static void thread_exit(void)
{
    pthread_exit(NULL);
}

static void cancel_itself(void)
{
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void exec_true(void)
{
    execlp("true", "true", (char *)NULL);
}

static void exec_false(void)
{
    execlp("false", "false", (char *)NULL);
}

static void exec_sleep(void)
{
    execlp("sleep", "sleep", "30", (char *)NULL);
}

static void exec_descriptor(void)
{
    char *arguments[] = {"true", NULL};

    fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), arguments, environ);
}

/* --- stack --- */

static NOINLINE int deeper(volatile char *above)
{
    volatile char frame[4096];

    frame[0] = *above;
    return *above ? 0 : deeper(frame) + frame[0];
}

static void endless_recursion(void)
{
    volatile char bottom = 0;

    deeper(&bottom);
}

static void huge_alloca(void)
{
    volatile char *memory = alloca((size_t)1 << 30);

    memory[0] = 1;
}

/* Compiled with -fstack-protector-all. */
static NOINLINE void smash_detected(void)
{
    char small[8];

    memset(opaque(small), 'A', 64);
}

/* Changes only the return address. */
static NOINLINE void smash_silent(void)
{
    void **frame = opaque(__builtin_frame_address(0));

    frame[1] = (void *)0x4141414141414141;
}

static jmp_buf dead_frame;

static NOINLINE int remember_frame(void)
{
    volatile char local[64] = {0};

    return setjmp(dead_frame) + local[0];
}

static NOINLINE void overwrite_frames(void)
{
    char frames[4096];

    memset(opaque(frames), 'A', sizeof frames);
}

static void jump_to_dead_frame(void)
{
    if (remember_frame())
        return;
    overwrite_frames();
    longjmp(dead_frame, 1);
}

static void unmap_stack(void)
{
    volatile char local = 0;
    uintptr_t page = (uintptr_t)&local & ~(uintptr_t)4095;

    munmap((void *)(page - 4096), 2 * 4096);
    local = 1;
}

/* --- heap and streams --- */

static void double_free(void)
{
    char *volatile block = malloc(40);

    free(block);
    free(block);
}

static void *run_nothing(void *unused)
{
    return unused;
}

/* Locks are taken once there was a second thread. */
static void begin_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, argument) == 0)
        pthread_join(thread, NULL);
}

/* The second free() finds the damage while it holds malloc()'s lock. */
static void double_free_locked(void)
{
    char *volatile block;

    begin_thread(run_nothing, NULL);
    block = malloc(100000);
    free(block);
    free(block);
}

static void free_stack(void)
{
    char local[64];

    free(opaque(local + 8));
}

static void overflow_by(size_t bytes)
{
    char *blocks[4];

    for (int i = 0; i < 4; i++)
        blocks[i] = malloc(2000);
    memset((char *)opaque(blocks[1]) + 2000, 'A', bytes);
    for (int i = 0; i < 4; i++)
        free(blocks[i]);
}

static void overflow_16(void)
{
    overflow_by(16);
}

static void overflow_4096(void)
{
    overflow_by(4096);
}

/* The damage goes up to the end of the heap, so that malloc() finds it while it holds its lock. */
static void overflow_locked(void)
{
    char *block;

    begin_thread(run_nothing, NULL);
    block = opaque(malloc(100));
    memset(block + 100, 'A', 16384);
    for (size_t size = 16; size < 1 << 20; size *= 2)
        opaque(malloc(size));
    abort();
}

static void overflow_then_write(void)
{
    char *block = opaque(malloc(100));

    memset(block + 100, 'A', 4096);
    null_write();
}

static void overwrite_streams(void)
{
    memset(stdout, 'A', sizeof *stdout);
    memset(stderr, 'A', sizeof *stderr);
}

static void streams_then_exit(void)
{
    overwrite_streams();
    exit(3);
}

static void streams_then_abort(void)
{
    overwrite_streams();
    abort();
}

static void close_from(int first)
{
    for (int fd = first; fd < 256; fd++)
        close(fd);
}

static void closed_then_abort(void)
{
    close_from(3);
    abort();
}

/* A report through the descriptors of this process is lost then. */
static void all_closed_then_write(void)
{
    close_from(0);
    null_write();
}

static void all_closed_then_exit(void)
{
    close_from(0);
    _exit(7);
}

/* --- memory of the host --- */

/* Returns whether a line of /proc/self/maps, "ADDRESSES rw-s ... NAME", is memory that is shared
 * with the program's other processes, and of no file that stays. */
static int is_shared(const char *line)
{
    return strstr(line, " rw-s ") &&
           (!strchr(line, '/') || strstr(line, "/dev/zero") || strstr(line, "(deleted)"));
}

static int is_heap(const char *line)
{
    return strstr(line, "[heap]") != NULL;
}

/* Overwrites each mapping that IS_IT selects. Uses no heap. */
static void overwrite_mappings(int (*is_it)(const char *line))
{
    static char maps[1 << 18];
    size_t size = 0;
    ssize_t got;
    int file = open("/proc/self/maps", O_RDONLY);

    while ((got = read(file, maps + size, sizeof maps - 1 - size)) > 0)
        size += (size_t)got;
    for (char *line = strtok(maps, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long begin, end;
        if (is_it(line) && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            memset((void *)begin, 'A', end - begin);
    }
}

static void heap_overwritten(void)
{
    overwrite_mappings(is_heap);
    abort();
}

/* A supervisor reads such memory after the death: nothing in it can be trusted. */
static void shared_overwritten(void)
{
    overwrite_mappings(is_shared);
    abort();
}

/* A parent that waits is told of each signal then. */
static void traced_by_parent(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    null_write();
}

/* --- threads of the library --- */

static void *call_function(void *function)
{
    (*(void (**)(void))function)();
    return NULL;
}

static void in_thread(void (*function)(void))
{
    begin_thread(call_function, &function);
}

static void thread_writes(void)
{
    in_thread(null_write);
}

static void thread_aborts(void)
{
    in_thread(abort);
}

static void exit_7(void)
{
    exit(7);
}

static void thread_exits_7(void)
{
    in_thread(exit_7);
}

static void thread_exits_at_once(void)
{
    in_thread(exit_at_once_7);
}

static void thread_execs(void)
{
    in_thread(exec_true);
}

static void thread_uses_stack_up(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void (*function)(void) = endless_recursion;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    if (pthread_create(&thread, &attributes, call_function, &function) == 0)
        pthread_join(thread, NULL);
}

static void thread_smashes(void)
{
    in_thread(smash_detected);
}

/* --- callbacks that do not return --- */

static void hang_pause(void)
{
    for (;;)
        pause();
}

static void hang_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

static void hang_blocked(void)
{
    block_all();
    spin();
}

static void hang_join(void)
{
    in_thread(hang_pause);
}

/* --- child processes --- */

static void child_exits(void)
{
    pid_t child = fork();

    if (child == 0)
        exit(3);
    waitpid(child, NULL, 0);
}

static void child_aborts(void)
{
    pid_t child = fork();

    if (child == 0)
        abort();
    waitpid(child, NULL, 0);
}

/* Starts a process that holds inherited descriptors and lives longer than the program. */
static void begin_daemon(void)
{
    if (fork() == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        sleep(30);
        _exit(0);
    }
}

static void daemon_then_abort(void)
{
    begin_daemon();
    abort();
}

static void daemon_then_exit(void)
{
    begin_daemon();
    _exit(0);
}

static void daemon_then_exec(void)
{
    begin_daemon();
    exec_sleep();
}

/* Writes the process id to the file, and waits until the file is gone. */
static void wait_outside(void)
{
    const char *name = getenv("DIES_READY");
    char part[4096];
    FILE *ready;

    snprintf(part, sizeof part, "%s.new", name);
    ready = fopen(part, "w");
    fprintf(ready, "%d\n", (int)getpid());
    fclose(ready);
    rename(part, name);
    while (access(name, F_OK) == 0)
        usleep(1000);
}

/* --- kinds --- */

static ErlNifResourceType *type;

static void release_resource(void)
{
    enif_release_resource(enif_alloc_resource(type, 8));
}

static void nothing(void)
{
}

enum place { IN_CALL, IN_LOAD, IN_UNLOAD, IN_CONSTRUCTOR, IN_RESOURCE };

static const struct kind {
    const char *name;
    void (*function)(void);
    enum place place;
} kinds[] = {
#define KIND(function)               \
    {                                \
#function, function, IN_CALL \
    }
    KIND(null_read),
    KIND(null_write),
    KIND(wild_write),
    KIND(noncanonical_write),
    KIND(call_null),
    KIND(jump_into_data),
    KIND(read_only_write),
    KIND(own_code_write),
    KIND(truncated_mapping),
    KIND(use_after_munmap),
    KIND(division),
    KIND(builtin_trap),
#ifdef __x86_64__
    KIND(ud2),
    KIND(int3),
    KIND(hlt),
    KIND(trap_flag),
    KIND(misaligned),
    KIND(alignment_check),
    KIND(float_division),
#endif
    KIND(abort),
    KIND(failed_assertion),
    KIND(abort_with_default_action),
    KIND(raise_with_default_action),
    KIND(write_with_default_action),
    KIND(raise_SEGV),
    KIND(raise_BUS),
    KIND(raise_FPE),
    KIND(raise_ILL),
    KIND(raise_ABRT),
    KIND(raise_TRAP),
    KIND(raise_SYS),
    KIND(raise_XCPU),
    KIND(raise_XFSZ),
    KIND(raise_ALRM),
    KIND(raise_VTALRM),
    KIND(raise_PROF),
    KIND(raise_USR1),
    KIND(raise_USR2),
    KIND(raise_IO),
    KIND(raise_PWR),
    KIND(raise_STKFLT),
    KIND(raise_PIPE),
    KIND(raise_RT),
    KIND(kill_SEGV),
    KIND(kill_USR1),
    KIND(kill_KILL),
    KIND(alarm_pause),
    KIND(interval_real),
    KIND(interval_prof),
    KIND(write_while_blocked),
    KIND(abort_while_blocked),
    KIND(own_handler_writes),
    KIND(own_handler_exits),
    KIND(alternate_stack_gone),
    KIND(limit_cpu),
    KIND(limit_file_size),
    KIND(seccomp_strict),
    KIND(seccomp_trap),
    KIND(seccomp_kill),
    KIND(exit_0),
    KIND(exit_3),
    KIND(exit_at_once_0),
    KIND(exit_at_once_7),
    KIND(quick_exit_0),
    KIND(exit_group_4),
    KIND(raw_thread_exit),
    KIND(thread_exit),
    KIND(cancel_itself),
    KIND(exec_true),
    KIND(exec_false),
    KIND(exec_sleep),
    KIND(exec_descriptor),
    KIND(endless_recursion),
    KIND(huge_alloca),
    KIND(smash_detected),
    KIND(smash_silent),
    KIND(jump_to_dead_frame),
    KIND(unmap_stack),
    KIND(double_free),
    KIND(double_free_locked),
    KIND(free_stack),
    KIND(overflow_16),
    KIND(overflow_4096),
    KIND(overflow_locked),
    KIND(overflow_then_write),
    KIND(streams_then_exit),
    KIND(streams_then_abort),
    KIND(closed_then_abort),
    KIND(all_closed_then_write),
    KIND(all_closed_then_exit),
    KIND(heap_overwritten),
    KIND(shared_overwritten),
    KIND(traced_by_parent),
    KIND(thread_writes),
    KIND(thread_aborts),
    KIND(thread_exits_7),
    KIND(thread_exits_at_once),
    KIND(thread_execs),
    KIND(thread_uses_stack_up),
    KIND(thread_smashes),
    {"resource_aborts", abort, IN_RESOURCE},
    {"resource_exits_at_once", exit_at_once_0, IN_RESOURCE},
    {"load_aborts", abort, IN_LOAD},
    {"load_exits_at_once", exit_at_once_0, IN_LOAD},
    {"load_hangs", hang_pause, IN_LOAD},
    {"unload_aborts", abort, IN_UNLOAD},
    {"unload_exits_at_once", exit_at_once_0, IN_UNLOAD},
    {"unload_hangs", hang_pause, IN_UNLOAD},
    {"constructor_aborts", abort, IN_CONSTRUCTOR},
    {"constructor_exits_at_once", exit_at_once_0, IN_CONSTRUCTOR},
    KIND(hang_pause),
    {"hang_spin", spin, IN_CALL},
    KIND(hang_mutex),
    KIND(hang_join),
    KIND(hang_blocked),
    KIND(child_exits),
    KIND(child_aborts),
    KIND(daemon_then_abort),
    KIND(daemon_then_exit),
    KIND(daemon_then_exec),
    KIND(wait_outside),
    KIND(nothing),
#undef KIND
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (name && strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "deaths.c has no kind '%s'\n", name ? name : "");
    return &kinds[sizeof kinds / sizeof kinds[0] - 1];
}

/* Dies if KIND belongs to PLACE. */
static void die_in(enum place place, const struct kind *kind)
{
    if (kind->place == place)
        kind->function();
}

/* The resource's destructor dies in a call, too. */
static void die_in_call(const struct kind *kind)
{
    die_in(IN_CALL, kind);
    if (kind->place == IN_RESOURCE)
        release_resource();
}

static const struct kind *kind_of_environment(void)
{
    return find_kind(getenv("DIES"));
}

__attribute__((constructor)) static void construct(void)
{
    die_in(IN_CONSTRUCTOR, kind_of_environment());
}

static void destroy(ErlNifEnv *env, void *object)
{
    (void)env;
    (void)object;
    die_in(IN_RESOURCE, kind_of_environment());
}

static int begin(ErlNifEnv *env)
{
    type = enif_open_resource_type(env, NULL, "thing", destroy, ERL_NIF_RT_CREATE, NULL);
    die_in(IN_LOAD, kind_of_environment());
    return 0;
}

#ifdef PLUGIN

static ERL_NIF_TERM die(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[64];

    (void)argc;
    if (!enif_get_atom(env, argv[0], name, sizeof name, ERL_NIF_LATIN1))
        return enif_make_badarg(env);
    die_in_call(find_kind(name));
    return argv[0];
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void)data;
    (void)info;
    return begin(env);
}

static void unload(ErlNifEnv *env, void *data)
{
    (void)env;
    (void)data;
    die_in(IN_UNLOAD, kind_of_environment());
}

static ErlNifFunc functions[] = {{"die", 1, die, 0}};

ERL_NIF_INIT(dies, functions, load, NULL, NULL, unload)

#else

/* Counts events, and dies in the one whose number DIES_AFTER gives. One thread calls. */
static void count_event(void)
{
    static unsigned long count;
    const char *after = getenv("DIES_AFTER");

    if (++count == (after ? strtoul(after, NULL, 10) : 1))
        die_in_call(kind_of_environment());
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    count_event();
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(call)
{
    count_event();
}

TH_TRACER_LOAD()
{
    return begin(env);
}

TH_TRACER_UNLOAD()
{
    die_in(IN_UNLOAD, kind_of_environment());
}

#endif
