/*
 * Tests which functions of libraries, compiled in many ways, can have a native site. A refusal
 * names its remedy, and a refused function runs unchanged.
 *
 * Long because: the entries of both machines are judged by the same functions.
 */
#include "meeting.h"

#include "host/base/base.h"
#include "host/breakpoint/native/native_internal.h"
#include "tests/support/assertions.h"
#include "tests/support/compiled.h"
#include "tests/support/skipping.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define INCLUDES "#include <erl_nif.h>\n#include <stdlib.h>\n#include <pthread.h>\n"
#define F(name, result)                                                                   \
    "static ERL_NIF_TERM " name "(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])\n" \
    "{ (void)env; (void)argv; return argc + " result "; }\n"
/* The functions one, two, three, four, which return argc + 1, argc + 2, and so on. */
#define FOUR F("one", "1") F("two", "2") F("three", "3") F("four", "4")
#define TABLE                                                                        \
    "static ErlNifFunc functions[] = {{\"one\", 1, one, 0}, {\"two\", 1, two, 0},\n" \
    "    {\"three\", 1, three, 0}, {\"four\", 1, four, 0}};\n"                       \
    "ERL_NIF_INIT(refused, functions, NULL, NULL, NULL, NULL)\n"
#define PLAIN INCLUDES FOUR TABLE

static const char *const names[] = {"one", "two", "three", "four"};
enum { NAMES = sizeof names / sizeof *names };

static word call(const void *code)
{
    return ((call_nif *)code)(ENV, 1, NULL);
}

/* Calls all functions of LIBRARY, and those that are not refused with a breakpoint, which must be
 * hit. Returns the number of refusals whose reason contains PART; another reason fails the test. */
static int refused(struct th_library *library, const char *part)
{
    int count = 0;

    for (word i = 0; i < NAMES; i++) {
        struct meeting meeting = {.code = compiled_function(library, names[i])};
        const char *why = th_native_refusal(library, meeting.code);
        assert_int_equal(call(meeting.code), 2 + i);
        if (why) {
            if (!part || !strstr(why, part))
                fail_msg("%s is refused: %s", names[i], why);
            count++;
            continue;
        }
        meeting.native =
            th_native_create(library, (void *)meeting.code, TH_NATIVE_NIF, meet_nif, &meeting);
        meet_at_site(&meeting);
        th_breakpoint_sites_write(&meeting.site, 1, true);
        th_native_site_native.count(meeting.site, 0, 0, TH_BP_LOCAL);
        assert_int_equal(call(meeting.code), 2 + i);
        assert_int_equal(atomic_load(&meeting.met), 1);
        th_native_site_native.count(meeting.site, 0, TH_BP_LOCAL, 0);
        th_breakpoint_sites_write(&meeting.site, 1, false);
        th_native_drop(meeting.native);
        th_breakpoint_site_drop(meeting.site);
    }
    return count;
}

/* Compiles SOURCE, opens the library, and returns refused() of the library. */
static int refused_of(const char *compiler, const char *flags, const char *source, const char *part)
{
    struct th_library *library = compiled_open(compiler, flags, source);
    int count = refused(library, part);

    th_progress_settle();
    th_library_release(library);
    return count;
}

static void need(const char *compiler)
{
    if (!compiled_by(compiler)) {
        skip_because("no %s", compiler);
    }
}

/* --- Room ------------------------------------------------------------------------------------- */

static void what_the_flags_ask_for_is_taken(const char *compiler)
{
    need(compiler);
    assert_int_equal(refused_of(compiler, "-O2 " TH_ENTRY_FLAGS, PLAIN, NULL), 0);
    assert_int_equal(refused_of(compiler, "-O2 -fpatchable-function-entry=8", PLAIN, NULL), 0);
    assert_int_equal(refused_of(compiler, "-O3 -g -s " TH_ENTRY_FLAGS, PLAIN, NULL), 0);
}

#ifdef __x86_64__

/* Entries of one-byte NOPs. */
static void entries_compiled_by_gcc_are_accepted(void **state)
{
    (void)state;
    what_the_flags_ask_for_is_taken("gcc");
    assert_int_equal(refused_of("gcc", "-O2 -fpatchable-function-entry=16,0", PLAIN, NULL), 0);
}

/* Entries of long NOPs. */
static void entries_compiled_by_clang_are_accepted(void **state)
{
    (void)state;
    what_the_flags_ask_for_is_taken("clang");
    assert_int_equal(refused_of("clang", "-O2 -fpatchable-function-entry=16,0", PLAIN,
                                "do not end after eight bytes"),
                     NAMES);
}

static void an_entry_without_room_is_refused(void **state)
{
    (void)state;
    assert_int_equal(refused_of(NULL, "-O2", PLAIN, "compiled without room"), NAMES);
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=5", PLAIN, "less than eight bytes"),
        NAMES);
}

/* Other placements of the NOPs: if the label is among them, the entry is refused. */
static void an_entry_with_misplaced_nops_is_refused(void **state)
{
    (void)state;
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=16,4", PLAIN, "compiled without room"),
        NAMES);
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=16,12", PLAIN, "compiled without room"),
        NAMES);
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=24,16", PLAIN, "compiled without room"),
        NAMES);
}

static void misaligned_entries_are_refused(void **state)
{
    (void)state;
    need("gcc");
    assert_order(refused_of("gcc", "-Os -fpatchable-function-entry=16,8", PLAIN,
                            "not aligned to eight bytes"),
                 >, 0);
    assert_order(refused_of("gcc", "-O0 -fpatchable-function-entry=16,8", PLAIN,
                            "not aligned to eight bytes"),
                 >, 0);
}

static void an_entry_that_begins_with_endbr64_is_refused(void **state)
{
    (void)state;
    assert_int_equal(refused_of(NULL, "-O2 -fcf-protection=full -fpatchable-function-entry=16,8",
                                PLAIN, "endbr64"),
                     NAMES);
}

#else

static void entries_compiled_by_gcc_are_accepted(void **state)
{
    (void)state;
    what_the_flags_ask_for_is_taken("gcc");
    assert_int_equal(refused_of("gcc", "-O2 -fpatchable-function-entry=4,2", PLAIN, NULL), 0);
}

static void entries_compiled_by_clang_are_accepted(void **state)
{
    (void)state;
    what_the_flags_ask_for_is_taken("clang");
    assert_int_equal(refused_of("clang", "-O2 -fpatchable-function-entry=4,2", PLAIN, NULL), 0);
}

static void an_entry_without_room_is_refused(void **state)
{
    (void)state;
    assert_int_equal(refused_of(NULL, "-O2", PLAIN, "compiled without room"), NAMES);
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=2,2", PLAIN, "compiled without room"),
        NAMES);
    assert_int_equal(
        refused_of(NULL, "-O2 -fpatchable-function-entry=1", PLAIN, "less than two instructions"),
        NAMES);
}

/* The C library's objects for the start of libraries have no note of BTI. */
#define GUARDED "-O2 -mbranch-protection=standard -nostartfiles "

static bool has_bti(void)
{
    return getauxval(AT_HWCAP2) & 1 << 17;
}

/* Compiles and opens a library whose code has BTI, and compares its protection with the processor's
 * ability. */
static struct th_library *open_guarded(const char *compiler, const char *flags)
{
    struct th_library *library = compiled_open(compiler, flags, PLAIN);
    word code = (word)compiled_function(library, "one");

    assert_int_equal(*(uint32_t *)code, 0xd503245f);
    assert_int_equal(th_library_protection(library, code, 4) & TH_PROT_BTI,
                     has_bti() ? TH_PROT_BTI : 0);
    return library;
}

static volatile sig_atomic_t refused_branches;

static void skip_branch(int signal, siginfo_t *info, void *context)
{
    ucontext_t *state = context;

    (void)signal;
    (void)info;
    refused_branches++;
    state->uc_mcontext.pc = state->uc_mcontext.regs[30];
    state->uc_mcontext.pstate &= ~(UINT64_C(3) << 10); /* BTYPE */
}

/* Returns whether the processor refuses to branch to the last instruction of the function CODE. */
static bool is_guarded_now(const void *code)
{
    struct sigaction action = {.sa_sigaction = skip_branch, .sa_flags = SA_SIGINFO}, before;
    const uint32_t *end = code;

    while (*end != 0xd65f03c0) /* ret */
        end++;
    refused_branches = 0;
    sigaction(SIGILL, &action, &before);
    ((void (*)(void))(word)end)();
    sigaction(SIGILL, &before, NULL);
    return refused_branches > 0;
}

/* The code stays guarded when entries are written. */
static void guarded_code_is_accepted_and_stays_guarded(void **state)
{
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const flags[] = {GUARDED TH_ENTRY_FLAGS,
                                        GUARDED "-fpatchable-function-entry=4,2"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct th_library *library;
        need(compilers[i / 2]);
        library = open_guarded(compilers[i / 2], flags[i % 2]);
        assert_int_equal(is_guarded_now(compiled_function(library, "one")), has_bti());
        assert_int_equal(refused(library, NULL), 0);
        assert_int_equal(is_guarded_now(compiled_function(library, "one")), has_bti());
        th_progress_settle();
        th_library_release(library);
    }
}

#endif

static void code_without_an_unwind_table_is_refused(void **state)
{
    (void)state;
    assert_int_equal(
        refused_of(NULL, "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables " TH_ENTRY_FLAGS,
                   PLAIN, "unwind table"),
        NAMES);
}

/* --- Changes by others ------------------------------------------------------------------------ */

/* A constructor writes to the entry of `two`: `jmp +3` and a NOP of three bytes; `mov x0, x0`. */
#ifdef __x86_64__
#define OTHER_CODE "\\xe9\\x03\\0\\0\\0\\x0f\\x1f\\0\", 8"
#else
#define OTHER_CODE "\\xe0\\x03\\0\\xaa\", 4"
#endif
static void an_entry_that_another_tool_changed_is_refused(void **state)
{
    (void)state;
    assert_int_equal(
        refused_of(NULL, "-O2 " TH_ENTRY_FLAGS,
                   INCLUDES "#include <sys/mman.h>\n#include <string.h>\n" FOUR
                            "static __attribute__((constructor)) void patch(void)\n"
                            "{ char *page = (char *)((unsigned long)two & ~4095ul);\n"
                            "  if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) "
                            "abort();\n"
                            "  memcpy((void *)two, \"" OTHER_CODE ");\n"
                            "  __builtin___clear_cache(page, page + 8192);\n"
                            "  if (mprotect(page, 8192, PROT_READ | PROT_EXEC)) abort(); }\n" TABLE,
                   "another tool has changed"),
        1);
}

#ifdef __x86_64__

/* A constructor writes int3 over the first byte of `two`, like a debugger with a breakpoint. */
#define WITH_INT3                                                                         \
    INCLUDES "#include <sys/mman.h>\n" FOUR                                               \
             "static __attribute__((constructor)) void patch(void)\n"                     \
             "{ char *page = (char *)((unsigned long)two & ~4095ul);\n"                   \
             "  if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();\n" \
             "  *(char *)two = '\\xcc';\n"                                                \
             "  if (mprotect(page, 8192, PROT_READ | PROT_EXEC)) abort(); }\n" TABLE

static volatile sig_atomic_t trapped;

/* Returns to the instruction after the int3, as after a NOP. */
static void count_trap(int number)
{
    trapped += number == SIGTRAP;
}

/* The NOP of one byte that the debugger will restore is harmless. */
static void a_debuggers_breakpoint_is_accepted_in_short_nops(void **state)
{
    struct th_text_word back = {NULL, UINT64_C(0x801f0f90), PROT_READ | PROT_EXEC};
    struct th_library *library;
    uint8_t *entry;

    (void)state;
    need("gcc");
    signal(SIGTRAP, count_trap);
    library = compiled_open("gcc", "-O2 " TH_ENTRY_FLAGS, WITH_INT3);
    entry = compiled_function(library, "two");
    assert_int_equal(refused(library, NULL), 0);
    assert_int_equal(trapped, 2); /* with and without a breakpoint */
    assert_memory_equal(entry, "\xcc\x0f\x1f\x80\0\0\0\0", 8);
    back.word = (uint64_t *)entry;
    assert_true(th_native_text_write(&back, 1));
    assert_int_equal(refused(library, NULL), 0);
    assert_int_equal(trapped, 2);
    signal(SIGTRAP, SIG_DFL);
    th_progress_settle();
    th_library_release(library);
}

/* The int3 may have replaced the start of any NOP. */
static void a_debuggers_breakpoint_is_refused_in_long_nops(void **state)
{
    struct th_library *library;
    const char *why;

    (void)state;
    need("clang");
    library = compiled_open("clang", "-O2 " TH_ENTRY_FLAGS, WITH_INT3);
    why = th_native_refusal(library, compiled_function(library, "two"));
    assert_non_null(why);
    assert_non_null(strstr(why, "another tool has changed"));
    assert_null(th_native_refusal(library, compiled_function(library, "one")));
    th_library_release(library);
}

#endif

static void code_of_another_library_is_refused(void **state)
{
    struct th_library *library = compiled_open(
        NULL, "-O2 " TH_ENTRY_FLAGS,
        INCLUDES FOUR "static ErlNifFunc functions[] = {{\"one\", 1, one, 0},\n"
                      "    {\"abort\", 3, (ERL_NIF_TERM(*)(ErlNifEnv *, int, const ERL_NIF_TERM "
                      "*))abort, 0}, {\"two\", 2, two, 0}, {\"three\", 3, three, 0}, {\"four\", "
                      "4, four, 0}};\n"
                      "ERL_NIF_INIT(refused, functions, NULL, NULL, NULL, NULL)\n");
    const char *why = th_native_refusal(library, compiled_function(library, "abort"));

    (void)state;
    assert_non_null(why);
    assert_non_null(strstr(why, "not in this library"));
    assert_int_equal(refused(library, NULL), 0);
    th_progress_settle();
    th_library_release(library);
}

/* A constructor starts a thread; a destructor ends it. */
#define THREAD                                                                                   \
    "#include <unistd.h>\n"                                                                      \
    "static _Atomic int over;\n"                                                                 \
    "static void *run(void *context) { while (!over) usleep(1000); return context; }\n"          \
    "static pthread_t thread;\n"                                                                 \
    "static __attribute__((constructor)) void start(void)\n"                                     \
    "{ if (pthread_create(&thread, NULL, run, NULL)) abort(); }\n"                               \
    "static __attribute__((destructor)) void end(void) { over = 1; pthread_join(thread, NULL); " \
    "}\n"

#ifdef __x86_64__

static void short_nops_are_refused_if_a_constructor_starts_a_thread(void **state)
{
    (void)state;
    need("gcc");
    assert_int_equal(refused_of("gcc", "-O2 " TH_ENTRY_FLAGS, INCLUDES FOUR THREAD TABLE,
                                "start threads in load()"),
                     NAMES);
}

/* One long NOP needs no change before it can be used. */
static void long_nops_are_accepted_if_a_constructor_starts_a_thread(void **state)
{
    (void)state;
    need("clang");
    assert_int_equal(refused_of("clang", "-O2 " TH_ENTRY_FLAGS, INCLUDES FOUR THREAD TABLE, NULL),
                     0);
}

#else

/* Only `bti jc` must be written before the code runs. */
static void entries_are_accepted_if_a_constructor_starts_a_thread(void **state)
{
    (void)state;
    assert_int_equal(refused_of(NULL, "-O2 " TH_ENTRY_FLAGS, INCLUDES FOUR THREAD TABLE, NULL), 0);
}

static void guarded_entries_are_refused_if_a_constructor_starts_a_thread(void **state)
{
    (void)state;
    assert_int_equal(refused_of(NULL, GUARDED TH_ENTRY_FLAGS,
                                INCLUDES FOUR THREAD
                                /* a second one, as one may be a compiler's */
                                "static void begin(void) {}\n"
                                "__attribute__((section(\".init_array\"), used)) static void "
                                "(*second)(void) = begin;\n" TABLE,
                                "start threads in load()"),
                     has_bti() ? NAMES : 0);
}

#endif

/* --- Memory, in a child process --------------------------------------------------------------- */

enum { DONE = 0, WRONG = 1, CANNOT = 77 };

/* Runs RUN in a child and asserts that it returns 0; assertions do not work in the child. */
static void in_child(int (*run)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(run());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip_because("this kernel has no PR_SET_MDWE");
    assert_int_equal(WEXITSTATUS(status), DONE);
}

static struct th_library *compiled_before;

/* All functions of compiled_before are refused for PART, th_native_create() fails with ERROR, and
 * the functions run. */
static int check_refused(const char *part)
{
    for (word i = 0; i < NAMES; i++) {
        void *code = compiled_function(compiled_before, names[i]);
        const char *why = th_native_refusal(compiled_before, code);
        if (!why || !strstr(why, part)) {
            fprintf(stderr, "%s: %s\n", names[i], why ? why : "not refused");
            return WRONG;
        }
        if (th_native_create(compiled_before, code, TH_NATIVE_NIF, meet_nif, NULL))
            return WRONG;
        if (call(code) != 2 + i)
            return WRONG;
    }
    return DONE;
}

static int forbid_writing(void)
{
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return CANNOT;
    return check_refused("cannot be made writable");
}

static void code_that_cannot_be_made_writable_is_refused(void **state)
{
    (void)state;
    compiled_before = compiled_open(NULL, "-O2 " TH_ENTRY_FLAGS, PLAIN);
    in_child(forbid_writing);
    th_library_release(compiled_before);
}

#ifdef __x86_64__
#define OPENED_FLAGS "-O2 " TH_ENTRY_FLAGS
#else
#define OPENED_FLAGS GUARDED TH_ENTRY_FLAGS
#endif

static int open_forbidden(void)
{
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return CANNOT;
    compiled_before = compiled_open("gcc", OPENED_FLAGS, PLAIN);
    return check_refused("cannot be made writable");
}

/* The NOPs of each entry must be merged when the library is opened. */
static void nops_that_cannot_be_merged_are_refused(void **state)
{
    (void)state;
    need("gcc");
    in_child(open_forbidden);
}

/* Maps all gaps that a jump at CODE reaches. */
static void occupy(word code)
{
    const word most = TH_NATIVE_REACH + (64 << 10), top = TH_NATIVE_TOP;
    const word last = code + most < top ? code + most : top;
    FILE *maps = fopen("/proc/self/maps", "r");
    static struct {
        word start, end;
    } gaps[10000];
    char line[4096];
    word before = code - most, start, end;
    int count = 0;

    while (fgets(line, sizeof line, maps) && count < 10000)
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 && end > before) {
            if (start > before && before < last) {
                gaps[count].start = before;
                gaps[count++].end = start < last ? start : last;
            }
            before = end;
        }
    fclose(maps);
    for (int i = 0; i < count; i++)
        mmap((void *)gaps[i].start, gaps[i].end - gaps[i].start, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static int fill_memory(void)
{
    word code = (word)compiled_function(compiled_before, "one") & ~(word)4095;

    occupy(code);
    occupy(code); /* memory that opening that file has mapped and unmapped */
    return check_refused("no free memory within " TH_NATIVE_REACH_TEXT);
}

static void code_without_free_memory_nearby_is_refused(void **state)
{
    (void)state;
    compiled_before = compiled_open(NULL, "-O2 " TH_ENTRY_FLAGS, PLAIN);
    in_child(fill_memory);
    assert_int_equal(refused(compiled_before, NULL), 0);
    th_progress_settle();
    th_library_release(compiled_before);
}

/* --- First tests ------------------------------------------------------------------------------ */

static void functions_are_refused_before_th_native_begin(void **state)
{
    (void)state;
    compiled_before = compiled_open(NULL, "-O2 " TH_ENTRY_FLAGS, PLAIN);
    assert_int_equal(check_refused("sets no breakpoints"), DONE);
    th_library_release(compiled_before);
    if (th_native_begin() != TH_OK) {
        print_message("no native sites here: %s\n", th_error_link(0));
        exit(77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_refused_before_th_native_begin), /* must be first */
        cmocka_unit_test(code_without_free_memory_nearby_is_refused),   /* before any stub exists */
        cmocka_unit_test(code_that_cannot_be_made_writable_is_refused),
        cmocka_unit_test(nops_that_cannot_be_merged_are_refused),
        cmocka_unit_test(entries_compiled_by_gcc_are_accepted),
        cmocka_unit_test(entries_compiled_by_clang_are_accepted),
        cmocka_unit_test(an_entry_without_room_is_refused),
        cmocka_unit_test(code_without_an_unwind_table_is_refused),
        cmocka_unit_test(an_entry_that_another_tool_changed_is_refused),
        cmocka_unit_test(code_of_another_library_is_refused),
#ifdef __x86_64__
        cmocka_unit_test(an_entry_with_misplaced_nops_is_refused),
        cmocka_unit_test(misaligned_entries_are_refused),
        cmocka_unit_test(an_entry_that_begins_with_endbr64_is_refused),
        cmocka_unit_test(a_debuggers_breakpoint_is_accepted_in_short_nops),
        cmocka_unit_test(a_debuggers_breakpoint_is_refused_in_long_nops),
        cmocka_unit_test(short_nops_are_refused_if_a_constructor_starts_a_thread),
        cmocka_unit_test(long_nops_are_accepted_if_a_constructor_starts_a_thread),
#else
        cmocka_unit_test(guarded_code_is_accepted_and_stays_guarded),
        cmocka_unit_test(entries_are_accepted_if_a_constructor_starts_a_thread),
        cmocka_unit_test(guarded_entries_are_refused_if_a_constructor_starts_a_thread),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
