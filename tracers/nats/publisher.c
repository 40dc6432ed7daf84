#include "publisher.h"

#include "../kit/port_message.h"

#include <nif_module.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

atomic_uint publishers_ended;

/* --- The program ------------------------------------------------------------------------------ */

/* Gets the path of the program `tracehost`, if this is one. */
static bool is_this(char program[PUBLISHER_PATH])
{
    ssize_t size = TH_HAS(th_host_version) ? readlink("/proc/self/exe", program, PATH_MAX - 1) : -1;
    const char *name;

    if (size < 0)
        return false;
    program[size] = 0;
    name = strrchr(program, '/');
    return name && strcmp(name, "/tracehost") == 0;
}

bool publisher_find_program(char program[PUBLISHER_PATH])
{
    static const char below[] = "/bin/tracehost";
    char folder[PATH_MAX];
    struct stat about;
    Dl_info info;
    char *end;

    if (is_this(program))
        return true;
    if (!dladdr((void *)publisher_find_program, &info) || !realpath(info.dli_fname, folder))
        return false;
    while ((end = strrchr(folder, '/'))) {
        *end = 0;
        if (stat(*folder ? folder : "/", &about) != 0 || (about.st_mode & S_IWOTH))
            break;
        if (snprintf(program, PUBLISHER_PATH, "%s%s", folder, below) < PUBLISHER_PATH &&
            access(program, X_OK) == 0)
            return true;
    }
    return false;
}

/* Runs the program with IN as stdin and WORDS as stderr. Returns 0 or errno. */
static int spawn(struct publisher *publisher, int in, int words)
{
    static const char script[] = "trap : TERM; \"$0\" convert - \"$1\"; printf '\\001%d\\n' $? >&2";
    char shell[] = "sh", option[] = "-c", text[sizeof script];
    char *const arguments[] = {shell, option, text, publisher->program, publisher->log, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int error;

    memcpy(text, script, sizeof script);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    error = posix_spawn(&publisher->process, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* --- Words of the program --------------------------------------------------------------------- */

/* Shows LINE, and keeps it: a line that begins with a blank belongs to the message before it. */
static void take_line(struct publisher *publisher, const char *line)
{
    size_t used = strlen(publisher->said);

    if (*line == '\1') {
        publisher->status = atoi(line + 1);
        return;
    }
    fprintf(stderr, "%s\n", line);
    if (*line != ' ')
        used = 0;
    else
        line += strspn(line, " ");
    snprintf(publisher->said + used, sizeof publisher->said - used, "%s%s", used ? ": " : "", line);
}

/* Reads what the program says. LINE has *USED bytes of a line that has not ended. False: it says no more. */
static bool hear(struct publisher *publisher, char line[PUBLISHER_TEXT], size_t *used)
{
    char bytes[256];
    ssize_t size = read(publisher->words, bytes, sizeof bytes);

    for (ssize_t i = 0; i < size; i++) {
        if (bytes[i] != '\n' && *used < PUBLISHER_TEXT - 1) {
            line[(*used)++] = bytes[i];
            continue;
        }
        if (bytes[i] != '\n')
            continue;
        line[*used] = 0;
        *used = 0;
        take_line(publisher, line);
    }
    return size > 0 || (size < 0 && errno == EINTR);
}

/* --- Records ---------------------------------------------------------------------------------- */

/* As writev() to the pipe, but without SIGPIPE, which would end a host; 0: there is no room. */
static ssize_t write_some(int pipe, const struct iovec *parts, int count)
{
    static const struct timespec now;
    sigset_t broken, before;
    ssize_t size;
    int error;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    do
        size = writev(pipe, parts, count);
    while (size < 0 && errno == EINTR);
    error = errno;
    if (size < 0 && error == EPIPE && !sigismember(&before, SIGPIPE))
        sigtimedwait(&broken, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return size < 0 && error == EAGAIN ? 0 : size;
}

static void wait_for_room(int pipe)
{
    struct pollfd ready = {.fd = pipe, .events = POLLOUT};

    poll(&ready, 1, -1);
}

/* Writes PARTS, and returns the number of bytes that were written: less if the program has ended, which is noted, or,
 * unless WAIT, if there is no more room. */
static size_t write_parts(struct publisher *publisher, struct iovec *parts, int count, bool wait)
{
    size_t written = 0;

    while (count > 0) {
        ssize_t size = write_some(publisher->records, parts, count);
        if (size < 0)
            publisher->open = false;
        if (size < 0 || (size == 0 && !wait))
            break;
        if (size == 0)
            wait_for_room(publisher->records);
        written += (size_t)size;
        while (count > 0 && (size_t)size >= parts->iov_len) {
            size -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + size;
            parts->iov_len -= (size_t)size;
        }
    }
    return written;
}

/* Tells the thread that WAITS or `closing` has changed. */
static void ring(const struct publisher *publisher)
{
    eventfd_write(publisher->bell, 1);
}

/* Notes whether anything is to be written when there is room. */
static void note_waits(struct publisher *publisher)
{
    bool waits = publisher->open && (publisher->rest || publisher->dropped);

    if (waits != atomic_exchange_explicit(&publisher->waits, waits, memory_order_relaxed) && waits)
        ring(publisher);
}

/* Writes the rest of a record, and a drop record, if there are any. Returns whether none is left. */
static bool write_waiting(struct publisher *publisher, bool wait)
{
    unsigned char head[PORT_HEAD];
    struct iovec part = {.iov_base = head, .iov_len = sizeof head};
    uint32_t count;

    if (publisher->rest) {
        part.iov_base = publisher->rest + publisher->rest_done;
        part.iov_len = publisher->rest_size - publisher->rest_done;
        publisher->rest_done += write_parts(publisher, &part, 1, wait);
        if (publisher->rest_done < publisher->rest_size)
            return false;
        free(publisher->rest);
        publisher->rest = NULL;
    }
    while (publisher->dropped) {
        count = publisher->dropped < UINT32_MAX ? (uint32_t)publisher->dropped : UINT32_MAX;
        port_write_head(head, PORT_DROP, count);
        part = (struct iovec){.iov_base = head, .iov_len = sizeof head};
        if (write_parts(publisher, &part, 1, wait) < sizeof head)
            return false;
        publisher->dropped -= count;
    }
    return true;
}

/* Keeps what PARTS, COUNT of them, have left. Returns false if there is no memory. */
static bool keep_rest(struct publisher *publisher, const struct iovec *parts, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    publisher->rest = malloc(size);
    if (!publisher->rest)
        return false;
    publisher->rest_size = size;
    publisher->rest_done = size = 0;
    for (int i = 0; i < count; i++) {
        memcpy(publisher->rest + size, parts[i].iov_base, parts[i].iov_len);
        size += parts[i].iov_len;
    }
    return true;
}

/* Writes the record of an event. Returns whether the record is written, or will be. */
static bool write_record(struct publisher *publisher, const unsigned char *data, uint32_t size)
{
    unsigned char head[PORT_HEAD];
    struct iovec parts[] = {{.iov_base = head, .iov_len = sizeof head},
                            {.iov_base = (void *)(uintptr_t)data, .iov_len = size}};
    size_t written;

    port_write_head(head, PORT_MESSAGE, size);
    written = write_parts(publisher, parts, 2, !publisher->drops);
    if (written == sizeof head + size)
        return true;
    if (written == 0 || !publisher->open)
        return false;
    /* write_parts() has taken from PARTS what is written; only the head can be gone as a whole. */
    if (written >= sizeof head)
        parts[0].iov_len = 0;
    return keep_rest(publisher, parts, 2) || write_parts(publisher, parts, 2, true) > 0;
}

static void add(atomic_ullong *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

void publisher_add(struct publisher *publisher, const unsigned char *data, uint32_t size)
{
    pthread_mutex_lock(&publisher->lock);
    if (data && publisher->open && write_waiting(publisher, !publisher->drops) &&
        write_record(publisher, data, size)) {
        add(&publisher->events, 1);
        add(&publisher->bytes, PORT_HEAD + (uint64_t)size);
    } else {
        add(&publisher->left_out, 1);
        publisher->dropped++;
    }
    note_waits(publisher);
    pthread_mutex_unlock(&publisher->lock);
}

/* --- The thread ------------------------------------------------------------------------------- */

/* Writes what waits, unless another thread writes. */
static void write_in_passing(struct publisher *publisher)
{
    if (pthread_mutex_trylock(&publisher->lock) != 0)
        return;
    if (publisher->open)
        write_waiting(publisher, false);
    note_waits(publisher);
    pthread_mutex_unlock(&publisher->lock);
}

static int patience_ms(const struct publisher *publisher)
{
    ErlNifTime ms = publisher->patience / 1000000;

    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void note_failure(struct publisher *publisher)
{
    if (publisher->status == PUBLISHER_KILLED)
        snprintf(publisher->failure, sizeof publisher->failure,
                 "the program that publishes to %s was killed", publisher->log);
    else
        snprintf(publisher->failure, sizeof publisher->failure,
                 "the program that publishes to %s ended with status %d", publisher->log,
                 publisher->status);
}

static void note_end(struct publisher *publisher)
{
    atomic_store_explicit(&publisher->ended, true, memory_order_release);
    atomic_fetch_add_explicit(&publishers_ended, 1, memory_order_relaxed);
}

/* Waits for the end of the program; in a BEAM waitpid() fails then, as the system has its status no more. */
static void end_process(struct publisher *publisher)
{
    while (waitpid(publisher->process, NULL, 0) < 0 && errno == EINTR)
        ;
    if (publisher->status != 0 || !atomic_load_explicit(&publisher->closing, memory_order_relaxed))
        note_failure(publisher);
    if (*publisher->failure && !TH_HAS(th_tracer_failed))
        fprintf(stderr, "tracer: %s\n", publisher->failure);
    note_end(publisher);
}

static void *watch(void *argument)
{
    static const int asks[] = {SIGTERM, SIGKILL};
    enum { ASKS = sizeof asks / sizeof asks[0] };
    struct publisher *publisher = argument;
    struct pollfd ready[] = {{.fd = publisher->words, .events = POLLIN},
                             {.fd = publisher->bell, .events = POLLIN},
                             {.fd = -1, .events = POLLOUT}};
    char line[PUBLISHER_TEXT];
    size_t used = 0;
    int ask = 0;

    for (;;) {
        bool closing = atomic_load_explicit(&publisher->closing, memory_order_relaxed);
        bool waits = atomic_load_explicit(&publisher->waits, memory_order_relaxed);
        eventfd_t rung;
        int count;
        ready[2].fd = waits && !closing ? publisher->records : -1;
        count = poll(ready, 3, closing ? patience_ms(publisher) : -1);
        if (count == 0) {
            if (ask == ASKS)
                break; /* others have its stderr */
            kill(-publisher->process, asks[ask++]);
        }
        if (count <= 0)
            continue;
        if (ready[0].revents && !hear(publisher, line, &used))
            break;
        if (ready[1].revents)
            eventfd_read(publisher->bell, &rung);
        if (ready[2].revents)
            write_in_passing(publisher);
    }
    end_process(publisher);
    return NULL;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

/* Gives PIPE the size SIZE, or the largest one that the system permits. */
static void set_window(int pipe, unsigned size)
{
    while (fcntl(pipe, F_SETPIPE_SZ, size) < 0 && errno == EPERM && size > PIPE_BUF)
        size /= 2;
}

static void close_all(const int *descriptors, int count)
{
    for (int i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

/* Makes the pipes and the eventfd, and starts the program and the thread. Returns 0 or errno. */
static int start(struct publisher *publisher)
{
    static char name[] = "publisher";
    int all[] = {-1, -1, -1, -1, -1}, *records = all, *words = all + 2, *bell = all + 4, error = 0;

    if (pipe2(records, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0 ||
        (*bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0 ||
        fcntl(records[1], F_SETFL, O_WRONLY | O_NONBLOCK) != 0)
        error = errno;
    if (!error) {
        set_window(records[1], publisher->window);
        error = spawn(publisher, records[0], words[1]);
    }
    if (error) {
        close_all(all, 5);
        return error;
    }
    close(records[0]);
    close(words[1]);
    publisher->records = records[1];
    publisher->words = words[0];
    publisher->bell = *bell;
    publisher->runs = publisher->open = true; /* before the thread, which may end at once */
    error = enif_thread_create(name, &publisher->thread, watch, publisher, NULL);
    if (!error)
        return 0;
    publisher->runs = publisher->open = false;
    close(publisher->records); /* the end of the pipe ends the program */
    close(publisher->words);
    close(publisher->bell);
    waitpid(publisher->process, NULL, 0);
    return error;
}

void publisher_start(struct publisher *publisher)
{
    int error;

    publisher->status = PUBLISHER_KILLED;
    error = start(publisher);
    if (!error)
        return;
    snprintf(publisher->failure, sizeof publisher->failure, "cannot start %s: %s",
             publisher->program, strerror(error));
    note_end(publisher);
}

void publisher_close(struct publisher *publisher)
{
    if (!publisher->runs)
        return;
    /* Before the lock: a callback that holds the lock may wait for room, until the program ends. */
    atomic_store_explicit(&publisher->closing, true, memory_order_relaxed);
    ring(publisher);
    pthread_mutex_lock(&publisher->lock);
    if (publisher->open)
        write_waiting(publisher, true);
    publisher->open = false;
    close(publisher->records);
    free(publisher->rest);
    publisher->rest = NULL;
    pthread_mutex_unlock(&publisher->lock);
    enif_thread_join(publisher->thread, NULL);
    close(publisher->words);
    close(publisher->bell);
}
