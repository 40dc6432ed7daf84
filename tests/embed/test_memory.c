/*
 * Tests an embedding program without memory: each allocation of a scenario fails in turn, alone or
 * with all that follow. Each call returns a status, or succeeds as with memory; the program
 * continues, and no memory of the scenario stays allocated.
 */
#include "embedding.h"

#include "host/base/base.h"
#include "tests/support/skipping.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- Allocations that fail -------------------------------------------------------------------- */

#if defined(TH_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static unsigned long fails_at; /* number of the allocation that fails; 0: none */
static bool goes_on;           /* all later ones fail, too */
static atomic_ulong calls;     /* relaxed: only this number matters */
static long live;              /* number of addresses in `pieces` */

#ifndef SANITIZED
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static bool fails(void)
{
    unsigned long number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;

    if (!fails_at || (goes_on ? number < fails_at : number != fails_at))
        return false;
    errno = ENOMEM;
    return true;
}

/* Addresses that were allocated here, as the C library frees others, too: a hash table. An address
 * that finds no free place within PLACES is not counted. */
enum { PIECES = 1 << 16, PLACES = 64 };
static void *pieces[PIECES];
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* Replaces FROM with TO at the place for MEMORY. False if FROM was not found. */
static bool exchange(const void *memory, const void *from, void *to)
{
    size_t first = ((uintptr_t)memory >> 4) * 0x9E3779B97F4A7C15u >> 48;
    bool found = false;

    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    for (size_t i = 0; i < PLACES && !found; i++) {
        void **place = &pieces[(first + i) % PIECES];
        found = *place == from;
        if (found)
            *place = to;
    }
    live += found ? (to ? 1 : -1) : 0;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return found;
}

static void *counted(void *memory)
{
    if (memory)
        exchange(memory, NULL, memory);
    return memory;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    bool counts;

    if (fails())
        return NULL;
    counts = !memory || exchange(memory, memory, NULL);
    memory = __libc_realloc(memory, size);
    return counts ? counted(memory) : memory;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    if (memory)
        exchange(memory, memory, NULL);
    __libc_free(memory);
}
#endif

/* --- The scenario ----------------------------------------------------------------------------- */

/* A hash of all messages and texts so far. */
static uint64_t digest;

static void note_text(const char *text)
{
    for (; *text; text++)
        digest = (digest ^ (unsigned char)*text) * 0x100000001B3u;
}

static void note_message(void *context, ERL_NIF_TERM message)
{
    char *text = tracehost_term_to_text(message);
    bool *lost = context;

    if (text)
        note_text(text);
    else
        *lost = true;
    tracehost_free(text);
}

/* The state of a program that uses a host until a call fails. */
struct scenario {
    const char *stream;
    tracehost_host *host;
    tracehost_process *process;
    tracehost_session session;
    tracehost_stream *played, *read;
    tracehost_replay *replay;
    ErlNifEnv *env;
    bool lost; /* the program itself lacked memory */
};

static enum tracehost_status start(struct scenario *s)
{
    const char *folders[] = {build_folder("samples"), "/nowhere"};
    const struct tracehost_setup setup = {
        .size = sizeof setup, .folders = folders, .folder_count = 2, .live = true};
    enum tracehost_status status = tracehost_host_start(&setup, &s->host);

    if (status == TRACEHOST_OK)
        status = tracehost_host_add_folder(s->host, "/elsewhere");
    return status == TRACEHOST_OK ? tracehost_process_start(note_message, &s->lost, &s->process)
                                  : status;
}

static enum tracehost_status begin_session(struct scenario *s)
{
    const struct tracehost_session_setup setup = {
        .size = sizeof setup,
        .tracer = "erl_msg_tracer",
        .state = tracehost_process_pid(s->process),
        .recorded_flags = TRACEHOST_FLAGS_EVENTS,
    };
    const struct tracehost_pattern pattern = {.size = sizeof pattern,
                                              .function = "_:_/_",
                                              .match = "[{'_',[],[{message,{{x,\"text\"}}}]}]"};
    enum tracehost_status status = tracehost_session_create(s->host, &setup, &s->session);

    return status == TRACEHOST_OK
               ? tracehost_session_set_pattern(s->host, s->session, &pattern, NULL)
               : status;
}

static enum tracehost_status play_stream(struct scenario *s)
{
    enum tracehost_status status = tracehost_stream_open(s->stream, NULL, &s->played);

    if (status == TRACEHOST_OK)
        status = tracehost_replay_begin(s->host, s->played, NULL, &s->replay);
    return status == TRACEHOST_OK ? tracehost_replay_play(s->replay) : status;
}

static enum tracehost_status read_term(struct scenario *s)
{
    ERL_NIF_TERM term;
    enum tracehost_status status = tracehost_stream_get_term(s->read, s->env, &term);
    char *text;

    if (status != TRACEHOST_OK)
        return status;
    text = tracehost_term_to_text(term);
    if (!text)
        return TRACEHOST_FAILED;
    note_text(text);
    status = tracehost_term_parse(s->env, "{[a,\"b\",#{c => 1.5}],<<\"binary\">>}", &term);
    tracehost_free(text);
    return status;
}

static enum tracehost_status read_stream(struct scenario *s)
{
    struct tracehost_record record = {.size = sizeof record};
    enum tracehost_status status = tracehost_stream_open(s->stream, NULL, &s->read);

    s->env = status == TRACEHOST_OK ? enif_alloc_env() : NULL;
    while (status == TRACEHOST_OK && s->env &&
           (status = tracehost_stream_next(s->read, &record)) == TRACEHOST_OK) {
        status = read_term(s);
        enif_clear_env(s->env);
    }
    return status == TRACEHOST_END ? TRACEHOST_OK : status;
}

static enum tracehost_status explain(void)
{
    const struct tracehost_match_subject subject = {.size = sizeof subject};
    tracehost_match *match;
    enum tracehost_status status = tracehost_match_compile_text(
        TRACEHOST_MATCH_CALL, "[{[],[{'>',1,0}],[{message,{{a,b}}}]}]", NULL, NULL, &match);
    char *text;

    if (status != TRACEHOST_OK)
        return status;
    status = tracehost_match_explain(match, &subject, &text);
    if (status == TRACEHOST_OK) {
        note_text(text);
        tracehost_free(text);
    }
    tracehost_match_free(match);
    return status;
}

/* Traces a process of the program and counts a call of it. */
static enum tracehost_status live_through(struct scenario *s)
{
    const struct tracehost_live_setup setup = {.size = sizeof setup, .process = s->process};
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "m:f/0", .kinds = TRACEHOST_CALL_COUNT};
    struct tracehost_live_frame frame;
    tracehost_live_function *function = NULL;
    tracehost_live_process *live = NULL;
    enum tracehost_status status = tracehost_live_begin(s->host, &setup, &live);

    if (status == TRACEHOST_OK)
        status = tracehost_live_function_begin(s->host, "m:f/0", &function);
    if (status == TRACEHOST_OK)
        status = tracehost_session_set_pattern(s->host, s->session, &pattern, NULL);
    if (status == TRACEHOST_OK) {
        tracehost_live_call(live, function, NULL, true, NULL, &frame);
        tracehost_live_return(live, function, &frame, atom("ok"));
        status = tracehost_live_event(live, "exit", atom("normal"), 0);
    }
    tracehost_live_end(live);
    good(tracehost_live_function_end(function));
    return status;
}

/* Ends all that was begun, for which no memory is needed. */
static enum tracehost_status finish(struct scenario *s)
{
    enum tracehost_status status;

    if (s->env)
        enif_free_env(s->env);
    good(tracehost_replay_end(s->replay));
    good(tracehost_stream_close(s->played));
    good(tracehost_stream_close(s->read));
    if (s->session)
        tracehost_session_destroy(s->host, s->session);
    status = tracehost_host_stop(s->host);
    tracehost_process_stop(s->process);
    return status;
}

static enum tracehost_status run(const char *stream)
{
    struct scenario s = {.stream = stream};
    enum tracehost_status status, end;

    digest = 0;
    status = start(&s);
    if (status == TRACEHOST_OK)
        status = begin_session(&s);
    if (status == TRACEHOST_OK)
        status = play_stream(&s);
    if (status == TRACEHOST_OK)
        status = read_stream(&s);
    if (status == TRACEHOST_OK)
        status = live_through(&s);
    if (status == TRACEHOST_OK)
        status = explain();
    end = finish(&s);
    if (status == TRACEHOST_OK && s.lost)
        status = TRACEHOST_FAILED;
    return status == TRACEHOST_OK ? end : status;
}

/* --- Each allocation in turn ------------------------------------------------------------------ */

static void report(unsigned long number, const char *what)
{
    fails_at = 0;
    tracehost_error_print(stderr, "its error");
    fail_msg("allocation %lu%s fails: %s", number, goes_on ? " and all that follow" : "", what);
}

/* Checks STATUS, the result without allocation NUMBER. WHOLE is the digest of a run with all. */
static void check(unsigned long number, enum tracehost_status status, uint64_t whole)
{
    if (status == TRACEHOST_OK && digest != whole)
        report(number, "nobody says so, but not all is there");
    if (status != TRACEHOST_OK && status != TRACEHOST_FAILED)
        report(number, "memory is not named");
    if (status != TRACEHOST_OK && tracehost_error_status() != status)
        report(number, "the error has another status");
}

static void each_fails(const char *stream)
{
    unsigned long count;
    uint64_t whole;
    long before;

    goes_on = false;
    misused(tracehost_host_start(NULL, NULL), "the result is missing");
    for (int i = 0; i < 3; i++)
        good(run(stream)); /* allocates the rest that stays: atoms, threads, the chain of errors */
    whole = digest;
    atomic_store(&calls, 0);
    before = live;
    good(run(stream));
    assert_int_equal(live, before);
    count = atomic_load(&calls);
    assert_in_range(count, 100, 100000);
    for (int way = 0; way < 2; way++) {
        goes_on = way;
        for (unsigned long number = 1; number <= count; number++) {
            enum tracehost_status status;

            tracehost_error_clear();
            before = live;
            atomic_store(&calls, 0);
            fails_at = number;
            status = run(stream);
            fails_at = 0;
            check(number, status, whole);
            if (live > before)
                report(number, "memory is lost");
            assert_false(th_memory_is_short());
        }
    }
    good(run(stream));
    assert_int_equal(digest, whole);
}

static void a_replay_of_a_recording_survives_failed_allocations(void **state)
{
    (void)state;
#ifdef SANITIZED
    skip_because("the sanitizer has an allocator of its own");
#endif
    each_fails(RECORDING("s01_seed_local_caller"));
}

static void a_replay_of_lines_survives_failed_allocations(void **state)
{
    (void)state;
#ifdef SANITIZED
    skip_because("the sanitizer has an allocator of its own");
#endif
    {
        static const char content[] =
            "{\"tracehost\":1,\"node\":\"nonode@nohost\",\"creation\":0}\n"
            "{\"tracee\":\"<0.94.0>\",\"tag\":\"send\",\"term\":\"[a|b]\",\"extra\":\"<0.95.0>\"}\n"
            "{\"tracee\":\"<0.94.0>\",\"tag\":\"send\",\"term\":[1,{\"k\":2.5}],\"extra\":\"<0.95."
            "0>\"}\n"
            "{\"tracee\":\"<0.94.0>\",\"tag\":\"call\",\"term\":\"{m,f,[\\\"text\\\"]}\"}\n";
        char name[] = "/tmp/test_memory.XXXXXX";
        int file = mkstemp(name);

        assert_int_equal(write(file, content, sizeof content - 1), sizeof content - 1);
        close(file);
        each_fails(name);
        unlink(name);
    }
}

/* Reads a line whose term takes 160 MB, with 150 MB left; the program continues. */
static void read_too_much(void)
{
    static const char small[] =
        "{\"tracee\":\"<0.94.0>\",\"tag\":\"send\",\"term\":\"a\",\"extra\":\"<0.95.0>\"}\n";
    enum { LONG = 10000000, ROOM = 150000000 };
    struct scenario s = {.env = enif_alloc_env()};
    char name[] = "/tmp/test_memory.XXXXXX";
    struct rlimit room = {0, 0};
    unsigned long pages = 0;
    FILE *file = fdopen(mkstemp(name), "w");
    ERL_NIF_TERM term;

    fprintf(file,
            "%s{\"tracee\":\"<0.94.0>\",\"tag\":\"send\",\"term\":\"\\\"%0*d\\\"\","
            "\"extra\":\"<0.95.0>\"}\n%s",
            small, LONG, 0, small);
    fclose(file);
    s.stream = name;
    good(start(&s));
    good(begin_session(&s));
    good(tracehost_stream_open(name, NULL, &s.played));
    good(tracehost_stream_open(name, NULL, &s.read));
    good(tracehost_replay_begin(s.host, s.played, NULL, &s.replay));
    file = fopen("/proc/self/statm", "r");
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    room.rlim_cur = room.rlim_max = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
    assert_int_equal(setrlimit(RLIMIT_AS, &room), 0);
    good(tracehost_stream_next(s.read, NULL));
    good(tracehost_stream_next(s.read, NULL));
    refused(tracehost_stream_get_term(s.read, s.env, &term), TRACEHOST_FAILED,
            "cannot read the field \"term\": out of memory (160000016 bytes wanted)");
    good(tracehost_stream_next(s.read, NULL));
    good(tracehost_stream_get_term(s.read, s.env, &term));
    refused(tracehost_replay_play(s.replay), TRACEHOST_FAILED,
            "record 2 at byte 65 was skipped: cannot read the field \"term\": out of memory "
            "(160000016 bytes wanted)");
    good(tracehost_replay_play(s.replay));
    good(finish(&s));
    unlink(name);
}

static void a_line_that_exceeds_the_memory_is_skipped(void **state)
{
    int status;
    pid_t child;

    (void)state;
#ifdef SANITIZED
    skip_because("the sanitizer has an allocator of its own");
#endif
    if (emulated())
        skip_because("the emulator does not limit the memory of a program");
    child = fork();
    if (child == 0) {
        read_too_much();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_exceeds_the_memory_is_skipped), /* forks, so runs first */
        cmocka_unit_test(a_replay_of_a_recording_survives_failed_allocations),
        cmocka_unit_test(a_replay_of_lines_survives_failed_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
