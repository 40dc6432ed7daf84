/* Tests the pool: order, lengths of queues, threads; cancelled operations; the four probes of each
 * operation. A thread is blocked by the opening of a pipe without a writer. */
#include "carried_out.h"

#include "host/probe/probe.h"
#include "host/process/process.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

enum { READ = TH_FILE_FOR_READING, WRITE = TH_FILE_FOR_WRITING };

/* --- Output of the probes --------------------------------------------------------------------- */

static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_buffer lines; /* guarded by the lock */

static void add_value(const struct th_probe_argument *argument, const union th_probe_value *value)
{
    const char *text = value->string;

    if (argument->type != TH_PROBE_string) {
        th_buffer_printf(&lines, " %lld", (long long)value->integer);
        return;
    }
    if (strncmp(text, folder, strlen(folder)) == 0)
        text += strlen(folder) + 1;
    th_buffer_printf(&lines, " '%s'", strncmp(text, "#Port", 5) == 0 ? "#Port" : text);
}

static void note(const struct th_probe *probe, const union th_probe_value *values)
{
    pthread_mutex_lock(&lines_lock);
    th_buffer_add_text(&lines, probe->name);
    for (unsigned i = 0; i < probe->count; i++)
        add_value(&probe->arguments[i], &values[i]);
    th_buffer_add_byte(&lines, '\n');
    pthread_mutex_unlock(&lines_lock);
}

/* Applies WITH to all probes of files. */
static void each_probe(void (*with)(const struct th_probe *probe))
{
    for (int i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (th_probe_matches(&th_probe_probes[i], "efile_drv__*") ||
            th_probe_matches(&th_probe_probes[i], "aio_pool__*"))
            with(&th_probe_probes[i]);
}

static void begin_to_watch(void)
{
    lines.size = 0;
    th_probe_watch(note);
    each_probe(th_probe_raise);
}

/* Returns the lines of the probes, valid until the next call. */
static const char *told(void)
{
    static char text[8192];

    each_probe(th_probe_lower);
    th_probe_watch(NULL);
    snprintf(text, sizeof text, "%s", th_buffer_text(&lines));
    return text;
}

static void each_operation_fires_its_probes_in_order(void **state)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_RENAME);
    char expected[1024];
    const char *lines_told;

    (void)state;
    begin_to_watch();
    set_path_text(operation, 0, in_folder("old-name"));
    set_path_text(operation, 1, in_folder("new-name"));
    operation->done = note_carried_out;
    th_file_operation_keep(operation);
    th_file_submit(operation,
                   &(struct th_file_submission){.thread = 3, .user_tag = "some-user-tag"});
    while (sem_wait(&carried_out) != 0)
        ;
    th_file_settle(operation, &owner);
    lines_told = told();
    snprintf(expected, sizeof expected,
             "efile_drv__entry 3 %d 'some-user-tag' 12 'old-name' 'new-name' 0 0 0 0 '#Port'\n"
             "aio_pool__add '#Port' 1\n"
             "aio_pool__get '#Port' 0\n"
             "efile_drv__int_entry 3 %d 12\n"
             "efile_drv__int_return 3 %d 12\n"
             "efile_drv__return 3 %d 'some-user-tag' 12 0 2\n",
             operation->tag, operation->tag, operation->tag, operation->tag);
    assert_string_equal(lines_told, expected);
    th_file_operation_drop(operation);
    th_file_operation_drop(operation);
}

/* The entry line of the operation that WITH runs. */
#define ENTRY(with) (begin_to_watch(), (void)(with), entry_of(told()))
static const char *entry_of(const char *text)
{
    static char entry[512];
    const char *from = strstr(text, "efile_drv__entry 1 ");

    assert_non_null(from);
    from = strchr(from + strlen("efile_drv__entry 1 "), ' ') + 1; /* behind the tag */
    snprintf(entry, sizeof entry, "%.*s", (int)strcspn(from, "\n"), from);
    return entry;
}

static void probe_arguments_are_in_the_documented_places(void **state)
{
    th_term port;
    struct th_file *file;
    char expected[256];
    int fd;

    (void)state;
    put_file(in_folder("file"), "content\n");
    assert_string_equal(ENTRY(port = open_by(in_folder("file"), READ | WRITE)),
                        "'' 1 'file' '' 3 0 0 0 '#Port'");
    file = th_file_find(port, false);
    fd = atomic_load(&file->fd);
    th_file_drop(file);
#define EXPECT(with, number, ...)                                                \
    do {                                                                         \
        snprintf(expected, sizeof expected, "'' " number " '' '' " __VA_ARGS__); \
        assert_string_equal(ENTRY(with), expected);                              \
    } while (0)
    EXPECT(on_file(port, TH_FILE_READ, 77, 0, 0), "2", "%d 3 77 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_LSEEK, 5, 1, 0), "3", "%d 5 1 0 '#Port'", fd);
    EXPECT(with_term(port, TH_FILE_WRITE, "\"abc\""), "4", "%d 3 3 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_FSTAT, 0, 0, 0), "5", "%d 0 0 0 '#Port'", fd);
    EXPECT(by_path(TH_FILE_PWD, NULL, NULL), "6", "0 0 0 0 '#Port'");
    EXPECT(on_file(port, TH_FILE_FSYNC, 0, 0, 0), "9", "%d 0 0 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_TRUNCATE, 0, 0, 0), "14", "%d 3 0 0 '#Port'", fd);
    EXPECT(with_term(port, TH_FILE_PWRITEV, "[{0,\"ab\"},{9,\"cde\"}]"), "24", "%d 3 5 0 '#Port'",
           fd);
    EXPECT(with_term(port, TH_FILE_PREADV, "[{0,20},{9,30}]"), "25", "%d 3 50 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_SETOPT, 1, 4096, 0), "26", "1 4096 0 0 '#Port'");
    EXPECT(on_file(port, TH_FILE_IPREAD, 6, 100, 0), "27", "%d 3 6 100 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "29", "%d 3 0 4096 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_FDATASYNC, 0, 0, 0), "30", "%d 0 0 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_FADVISE, 1, 2, 3), "31", "%d 1 2 3 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_CLOSE, 0, 0, 0), "23", "%d 3 0 0 '#Port'", fd);
    EXPECT(on_file(port, TH_FILE_FSTAT, 0, 0, 0), "5", "-1 0 0 0 '#Port'");
#undef EXPECT
    assert_string_equal(ENTRY(by_path(TH_FILE_LINK, in_folder("a"), in_folder("b"))),
                        "'' 21 'a' 'b' 0 0 0 0 '#Port'");
    assert_string_equal(ENTRY(by_path(TH_FILE_READDIR, in_folder("a"), NULL)),
                        "'' 7 'a' '' 0 0 0 0 '#Port'");
}

static void write_info_passes_only_numbers_to_the_probe(void **state)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_WRITE_INFO);

    (void)state;
    set_path_text(operation, 0, in_folder("none"));
    operation->given[0] = 0600;
    operation->given[1] = 1;
    operation->given[2] = -1;
    assert_string_equal(ENTRY(wait_for(operation)), "'' 16 '' '' 384 1 -1 0 '#Port'");
}

/* --- Blocked threads -------------------------------------------------------------------------- */

static struct th_file_operation *held[2]; /* operations that block the threads */
static const char *pipes[2];

static struct th_file_operation *submit(struct th_file_operation *operation)
{
    operation->done = note_carried_out;
    th_file_operation_keep(operation);
    th_file_submit(operation, &(struct th_file_submission){.thread = 1, .user_tag = ""});
    return operation;
}

static void pause_a_moment(void)
{
    nanosleep(&(const struct timespec){0, 100000}, NULL);
}

/* Counts the operations that threads execute now. */
static void count_one(void *context, const char *operation)
{
    ++*(int *)context;
    assert_string_equal(operation, "file operation OPEN");
}

/* Makes both threads open a pipe. */
static void hold_up(void)
{
    for (int i = 0; i < 2; i++) {
        int running = 0;
        held[i] = th_file_operation_create(TH_FILE_OPEN);
        pipes[i] = in_folder(i ? "pipe b" : "pipe a");
        assert_true(mkfifo(pipes[i], 0600) == 0 || errno == EEXIST);
        set_path_text(held[i], 0, pipes[i]);
        held[i]->given[0] = READ;
        submit(held[i]);
        while (running <= i) {
            running = 0;
            th_file_pool_each_running(count_one, &running);
            pause_a_moment();
        }
    }
    assert_int_not_equal(held[0]->member, held[1]->member);
}

static void settle(struct th_file_operation *operation, struct th_file_owner *whose)
{
    th_file_settle(operation, whose);
    th_file_operation_drop(operation);
    th_file_operation_drop(operation);
}

static void let_go(void)
{
    for (int i = 0; i < 2; i++)
        close(open(pipes[i], O_WRONLY)); /* waits until the other end is open */
}

static struct th_file_operation *make_folder(const char *name)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_MKDIR);

    set_path_text(operation, 0, in_folder(name));
    return operation;
}

static void a_cancelled_operation_is_not_executed(void **state)
{
    unsigned before = count_descriptors();
    struct th_file_operation *queued[3];
    struct stat info;
    const char *text;

    (void)state;
    hold_up();
    begin_to_watch();
    for (int i = 0; i < 3; i++)
        queued[i] = submit(make_folder(i == 0 ? "first" : i == 1 ? "second" : "third"));
    assert_int_equal(th_file_pool_operations(), 5);
    assert_true(th_file_abandon(queued[0]));
    assert_int_equal(queued[0]->error, ECANCELED);
    assert_false(th_process_alive(queued[0]->port));
    th_file_operation_drop(queued[0]);
    assert_true(th_file_abandon(held[0])); /* this operation is executing */
    let_go();
    for (int i = 0; i < 3; i++) /* held[1], queued[1] and queued[2] */
        while (sem_wait(&carried_out) != 0)
            ;
    settle(queued[1], NULL);
    settle(queued[2], NULL);
    settle(held[1], NULL);
    while (th_file_pool_operations() > 0)
        pause_a_moment();
    text = told();
    assert_non_null(strstr(text, "'' 10 0 125\n")); /* the first one has ended, cancelled */
    th_file_operation_drop(held[0]);
    assert_int_not_equal(stat(in_folder("first"), &info), 0);
    assert_int_equal(stat(in_folder("second"), &info), 0);
    assert_int_equal(stat(in_folder("third"), &info), 0);
    assert_int_equal(count_descriptors(), before); /* the file, which has no owner, is closed */
}

static void a_queued_write_to_a_closed_file_fails(void **state)
{
    unsigned before = count_descriptors();
    const char *path = in_folder("closed early");
    struct th_file_operation *write, *closing;
    th_term port = open_by(path, WRITE);

    (void)state;
    hold_up();
    write = th_file_operation_create(TH_FILE_WRITE);
    write->port = port;
    assert_true(th_file_set_data(write, TH_NIL));
    submit(write);
    closing = th_file_operation_create(TH_FILE_CLOSE);
    closing->port = port;
    submit(closing);
    assert_int_equal(th_file_open_files(), 0);
    let_go();
    for (int i = 0; i < 4; i++)
        while (sem_wait(&carried_out) != 0)
            ;
    assert_int_equal(write->error, EBADF);
    assert_int_equal(closing->error, 0);
    settle(write, NULL);
    assert_true(th_process_alive(port));
    settle(closing, NULL);
    assert_false(th_process_alive(port));
    settle(held[0], NULL);
    settle(held[1], NULL);
    assert_int_equal(count_descriptors(), before);
}

static void an_abandoned_close_is_still_executed(void **state)
{
    unsigned before = count_descriptors();
    th_term port = open_by(in_folder("abandoned"), WRITE);
    struct th_file_operation *closing = th_file_operation_create(TH_FILE_CLOSE);

    (void)state;
    hold_up();
    closing->port = port;
    submit(closing);
    assert_true(th_file_abandon(closing));
    let_go();
    for (int i = 0; i < 2; i++)
        while (sem_wait(&carried_out) != 0)
            ;
    settle(held[0], NULL);
    settle(held[1], NULL);
    while (th_file_pool_operations() > 0)
        pause_a_moment();
    assert_int_equal(closing->error, 0);
    th_file_operation_drop(closing);
    assert_false(th_process_alive(port));
    assert_int_equal(count_descriptors(), before);
}

static void files_are_closed_when_their_owner_ends(void **state)
{
    unsigned before = count_descriptors();
    struct th_file_owner other = {0};
    struct th_file_operation *open = th_file_operation_create(TH_FILE_OPEN);
    th_term port;

    (void)state;
    set_path_text(open, 0, in_folder("owned"));
    open->given[0] = WRITE;
    submit(open);
    while (sem_wait(&carried_out) != 0)
        ;
    port = open->port;
    settle(open, &other);
    assert_int_equal(th_file_open_files(), 1);
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"by another\""), "ok");
    th_file_owner_end(&other, 1);
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"too late\""), "{error,ebadf}");
    while (th_file_pool_operations() > 0)
        pause_a_moment();
    assert_int_equal(count_descriptors(), before);
    assert_false(th_process_alive(port));
    assert_string_equal(content_of(in_folder("owned")), "by another");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_fires_its_probes_in_order),
        cmocka_unit_test(probe_arguments_are_in_the_documented_places),
        cmocka_unit_test(write_info_passes_only_numbers_to_the_probe),
        cmocka_unit_test(a_cancelled_operation_is_not_executed),
        cmocka_unit_test(a_queued_write_to_a_closed_file_fails),
        cmocka_unit_test(an_abandoned_close_is_still_executed),
        cmocka_unit_test(files_are_closed_when_their_owner_ends),
    };

    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
