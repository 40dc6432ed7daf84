/* The spool; spool.h describes the steps. */
#include "spool.h"

#include "replay_internal.h"
#include "spool_source.h"
#include "unpack.h"

#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/base/shared.h"
#include "host/crash/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 256 << 10,
    BLOCK =
        64 << 10,    /* a multiple of the blocks of file systems, which are given back as a whole */
    LOOK_UP_MS = 500 /* between two looks at a flag that a signal handler sets */
};

/* Turns: a reader that is at stream K has the turn 2 K + 1, and 2 K + 2 once it has closed it. */
#define TURN_READING(stream) (2 * (uint64_t)(stream) + 1)
#define TURN_GONE UINT64_MAX

/* State of a reader: a page, to which no other reader can write. Written by the reader; `turn` also by
 * its parent when the reader is gone. Read by the spool. */
struct spool_reader {
    /* Release, after the places of the stream: the spool, which acquires, sees no places of another
     * stream that are too high. Sequentially consistent where give_bytes_back() needs that. */
    _Atomic uint64_t turn;
    _Atomic uint64_t held; /* bytes before it are not read again; as `turn` */
    _Atomic uint64_t read; /* bytes before it were read; as `turn` */
};

/* A stream. Members before `bytes` are written before the forks, the others by the spool alone. */
struct th_spool_stream {
    const char *name;
    size_t number;          /* among all streams, files included */
    int fd;                 /* the file */
    _Atomic uint64_t bytes; /* release: they are in the file; a reader acquires */
    _Atomic uint64_t given; /* bytes given back; sequentially consistent, see give_bytes_back() */
    /* Release: the members below and the last `bytes` are written; a reader acquires. */
    _Atomic enum { STREAM_NEW, STREAM_OPEN, STREAM_REFUSED, STREAM_ENDED } state;
    uint64_t size; /* as in struct th_reader_info */
    int error;     /* errno of the read that ended the stream; 0: its end */
    struct th_error_chain
        chain; /* STREAM_REFUSED: the cause; STREAM_ENDED: a fault of the spool's */
};

/* The spool, as this process sees it. Written before there are threads, then by the thread that
 * reads. */
static struct {
    size_t reader_count, count;
    size_t size;                     /* of the shared memory, in bytes */
    char *pages;                     /* shared: one for each reader, then the streams */
    struct th_spool_stream *streams; /* NULL: there is no spool */
    int (*news)[2];                  /* pipe of each reader */
    int bell[2]; /* pipe of the spool; both ends stay open in readers, so that none gets SIGPIPE */
    const char *folder;                 /* of the files */
    const struct th_node_options *node; /* for running nodes; NULL: none */
    struct th_spool_limits limits;
    pid_t process;               /* of the spool */
    pid_t owner;                 /* the process that reads; 0: not this one */
    struct spool_reader *reader; /* of this process */
    size_t next;                 /* first stream that it has not opened */
    bool lost;                   /* the spool has died */
} spool;

static struct spool_reader *reader_at(size_t number)
{
    return (struct spool_reader *)(spool.pages + number * TH_SHARED_PAGE);
}

/* Writes a byte. A pipe that is full needs none. */
static void ring(int pipe)
{
    while (write(pipe, "", 1) < 0 && errno == EINTR)
        ;
}

/* Empties PIPE. Returns false if it can have no further byte. */
static bool hear(int pipe)
{
    char bytes[512];
    ssize_t size = read(pipe, bytes, sizeof bytes);

    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* --- In the spool ----------------------------------------------------------------------------- */

/* Finds the least places of the readers that have not closed STREAM; UINT64_MAX: all have. Sets
 * *OPENED if one has opened it. The loads are sequentially consistent for give_bytes_back(); for the
 * rest acquire would do: `turn` first, then the places that belong to it. */
static struct spool_places {
    uint64_t held, read;
} find_slowest(const struct th_spool_stream *stream, bool *opened)
{
    struct spool_places least = {UINT64_MAX, UINT64_MAX};
    uint64_t reading = TURN_READING(stream - spool.streams);

    *opened = false;
    for (size_t i = 0; i < spool.reader_count; i++) {
        const struct spool_reader *reader = reader_at(i);
        uint64_t turn = atomic_load(&reader->turn), held = 0, read = 0;
        if (turn > reading)
            continue;
        if (turn == reading) {
            *opened = true;
            held = atomic_load(&reader->held);
            read = atomic_load(&reader->read);
        }
        least.held = held < least.held ? held : least.held;
        least.read = read < least.read ? read : least.read;
    }
    return least;
}

static void ring_readers(void)
{
    for (size_t i = 0; i < spool.reader_count; i++)
        ring(spool.news[i][1]);
}

static void publish_state(struct th_spool_stream *stream, int state)
{
    atomic_store_explicit(&stream->state, state, memory_order_release);
    ring_readers();
}

/* Waits for the bell, and for FD unless below 0. Returns whether FD has news. */
static bool wait_for_bell(int fd)
{
    struct pollfd polled[] = {{.fd = spool.bell[0], .events = POLLIN},
                              {.fd = fd, .events = POLLIN}};

    poll(polled, 2, -1);
    if (polled[0].revents && !hear(spool.bell[0]))
        _exit(TH_OK); /* no other process is left */
    return polled[1].revents != 0;
}

/*
 * Gives back bytes before the least `held` less the limit, if they are many.
 *
 * The parent of a dead reader sets `held` to 0 and then looks at `given`; here `given` is set before
 * the second look at `held`. All four are sequentially consistent: if the parent has found 0 in
 * `given`, then its `held` is found here. If the parent finds another value, which is taken back
 * here, the successor begins later than it would have to.
 */
static void give_bytes_back(struct th_spool_stream *stream)
{
    bool opened;
    uint64_t before = atomic_load(&stream->given), held = find_slowest(stream, &opened).held;

    if (held == UINT64_MAX || held < before + spool.limits.kept + BLOCK)
        return;
    held = (held - spool.limits.kept) / BLOCK * BLOCK;
    atomic_store(&stream->given, held);
    if (find_slowest(stream, &opened).held < held ||
        fallocate(stream->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)before,
                  (off_t)(held - before)) != 0)
        atomic_store(&stream->given, before);
}

/* Copies what SOURCE has, ROOM bytes at most. Returns false at the end of the stream. */
static bool copy_bytes(struct th_spool_stream *stream, struct th_spool_source *source,
                       uint64_t room)
{
    static unsigned char data[READ_BYTES];
    uint64_t bytes = atomic_load_explicit(&stream->bytes, memory_order_relaxed); /* own word */
    ssize_t size =
        th_replay_spool_source_read(source, data, room < sizeof data ? room : sizeof data);
    ssize_t done = 0, written = 0;

    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (size < 0)
        stream->error = errno;
    if (size < 0 && source->unpack && th_replay_unpack_fault(source->unpack)) {
        th_error_raise(TH_PARTIAL, "%s", th_replay_unpack_fault(source->unpack));
        th_error_save(&stream->chain);
    }
    while (done < size && written >= 0) {
        written = pwrite(stream->fd, data + done, (size_t)(size - done), (off_t)bytes + done);
        done += written > 0 ? written : 0;
    }
    if (written < 0) {
        stream->error = errno;
        th_error_raise(TH_PARTIAL, "cannot write to a temporary file in %s: %s", spool.folder,
                       strerror(errno));
        th_error_save(&stream->chain);
    }
    atomic_store_explicit(&stream->bytes, bytes + (uint64_t)done, memory_order_release);
    if (done > 0)
        ring_readers();
    return size > 0 && written >= 0;
}

/* Reads STREAM while a reader needs it. */
static void spool_stream(struct th_spool_stream *stream)
{
    struct th_spool_source source;
    uint64_t read;
    bool opened, flows = true;

    while ((read = find_slowest(stream, &opened).read) != UINT64_MAX && !opened)
        wait_for_bell(-1);
    if (read == UINT64_MAX)
        return;
    if (th_replay_spool_source_open(stream->name, spool.node, &source) != TH_OK) {
        th_error_save(&stream->chain);
        publish_state(stream, STREAM_REFUSED);
        return;
    }
    stream->size = th_replay_spool_source_size(source.fd);
    publish_state(stream, STREAM_OPEN);
    while (flows && (read = find_slowest(stream, &opened).read) != UINT64_MAX) {
        uint64_t limit = read + spool.limits.ahead; /* lower again if a reader begins again */
        uint64_t bytes = atomic_load_explicit(&stream->bytes, memory_order_relaxed); /* own word */
        uint64_t room = limit > bytes ? limit - bytes : 0;
        bool ready = source.unpack && th_replay_unpack_is_ready(source.unpack);
        if (room > 0 && (ready || wait_for_bell(source.fd)))
            flows = copy_bytes(stream, &source, room);
        else if (room == 0)
            wait_for_bell(-1);
        give_bytes_back(stream);
    }
    if (!flows && source.feeder && th_replay_node_end(source.feeder) != TH_OK) {
        stream->error = EPIPE;
        th_error_save(&stream->chain);
    }
    if (source.fd > STDIN_FILENO)
        close(source.fd);
    th_replay_unpack_end(source.unpack);
    publish_state(stream, STREAM_ENDED);
    th_replay_node_close(source.feeder);
}

/* Leaves the output to the readers, and stdin if it is no stream. */
static void leave_standard_files(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool uses_stdin = false;

    for (size_t i = 0; i < spool.count; i++)
        uses_stdin |= strcmp(spool.streams[i].name, "-") == 0;
    for (int fd = uses_stdin ? STDOUT_FILENO : STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}

/* A signal that ends the readers ends their parent, and so the spool. */
static _Noreturn void run_spool(pid_t parent)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "tracehost-spool");
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    if (getppid() != parent)
        _exit(TH_FAILED);
    leave_standard_files();
    close(spool.bell[1]);
    for (size_t i = 0; i < spool.reader_count; i++)
        close(spool.news[i][0]);
    for (size_t i = 0; i < spool.count; i++)
        spool_stream(&spool.streams[i]);
    _exit(TH_OK);
}

/* --- The beginning and the end ---------------------------------------------------------------- */

/* Finds the streams that can be read once. Errors: TH_USAGE. */
static enum th_status find_streams(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t files;
        if (!th_replay_reader_reads_once(names[i], &files))
            continue;
        if (files > 1)
            return th_error_raise(
                TH_USAGE, "%s is a wrap set of pipes, which one process must read", names[i]);
        spool.streams[spool.count].name = names[i];
        spool.streams[spool.count++].number = i;
    }
    return TH_OK;
}

/* Makes the pipes and the files. Errors: TH_FAILED. */
static enum th_status make_files(void)
{
    bool piped = pipe2(spool.bell, O_CLOEXEC | O_NONBLOCK) == 0;

    spool.news = th_alloc_zero(spool.reader_count * sizeof spool.news[0]);
    for (size_t i = 0; i < spool.reader_count && piped; i++)
        piped = pipe2(spool.news[i], O_CLOEXEC | O_NONBLOCK) == 0;
    if (!piped)
        return th_error_raise(TH_FAILED, "cannot make a pipe: %s", strerror(errno));
    for (size_t i = 0; i < spool.count; i++) {
        spool.streams[i].fd = th_output_open_nameless(&spool.folder);
        if (spool.streams[i].fd < 0)
            return th_error_raise(TH_FAILED, "cannot make a temporary file in %s: %s", spool.folder,
                                  strerror(errno));
    }
    return TH_OK;
}

static enum th_status fork_spool(void)
{
    pid_t parent = getpid();

    spool.process = fork();
    if (spool.process == 0)
        run_spool(parent);
    if (spool.process < 0)
        return th_error_raise(TH_FAILED, "cannot start a process: %s", strerror(errno));
    for (size_t i = 0; i < spool.reader_count; i++)
        close(spool.news[i][1]); /* the end of the spool is the end of the pipe */
    return TH_OK;
}

enum th_status th_replay_spool_begin(const char *const *names, size_t count, size_t readers,
                                     const struct th_node_options *node,
                                     const struct th_spool_limits *limits)
{
    enum th_status status;
    char *pages;

    spool.size = readers * TH_SHARED_PAGE + count * sizeof spool.streams[0];
    pages = mmap(NULL, spool.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return th_error_raise(TH_FAILED, "cannot map shared memory: %s", strerror(errno));
    spool.pages = pages;
    spool.streams = (struct th_spool_stream *)(pages + readers * TH_SHARED_PAGE);
    spool.reader_count = readers;
    spool.node = node;
    spool.limits =
        limits ? *limits : (struct th_spool_limits){.kept = TH_SPOOL_KEPT, .ahead = TH_SPOOL_AHEAD};
    status = find_streams(names, count);
    if (status == TH_OK && spool.count > 0)
        status = make_files();
    if (status == TH_OK && spool.count > 0)
        return fork_spool();
    munmap(pages, spool.size);
    spool.streams = NULL;
    return status;
}

void th_replay_spool_end(void)
{
    if (!spool.streams)
        return;
    kill(spool.process, SIGKILL);
    waitpid(spool.process, NULL, 0);
    close(spool.bell[0]);
    close(spool.bell[1]);
    for (size_t i = 0; i < spool.reader_count; i++)
        close(spool.news[i][0]);
    for (size_t i = 0; i < spool.count; i++)
        close(spool.streams[i].fd);
    th_free(spool.news);
    munmap(spool.pages, spool.size);
    memset(&spool, 0, sizeof spool);
}

bool th_replay_spool_again(size_t reader)
{
    bool is_whole = true;

    if (!spool.streams)
        return true;
    atomic_store(&reader_at(reader)->held, 0); /* before `given`: see give_bytes_back() */
    atomic_store(&reader_at(reader)->read, 0);
    atomic_store(&reader_at(reader)->turn, 0);
    spool.next = 0;
    for (size_t i = 0; i < spool.count; i++)
        is_whole &= atomic_load(&spool.streams[i].given) == 0;
    return is_whole;
}

void th_replay_spool_leave(size_t reader)
{
    if (!spool.streams)
        return;
    /* Release: nothing follows; the order is that of all turns. */
    atomic_store_explicit(&reader_at(reader)->turn, TURN_GONE, memory_order_release);
    ring(spool.bell[1]);
}

/* --- In a reader ------------------------------------------------------------------------------ */

void th_replay_spool_enter(size_t reader)
{
    if (!spool.streams)
        return;
    spool.owner = getpid();
    spool.reader = reader_at(reader);
    mprotect(spool.pages, spool.size, PROT_READ);
    mprotect(spool.reader, TH_SHARED_PAGE, PROT_READ | PROT_WRITE);
}

struct th_spool_stream *th_replay_spool_take(const char *name)
{
    for (size_t i = spool.next; spool.owner && i < spool.count; i++)
        if (strcmp(spool.streams[i].name, name) == 0) {
            spool.next = i + 1;
            return &spool.streams[i];
        }
    return NULL;
}

/* Publishes the places of this reader. A child that a library has forked reads nothing. */
static void publish_places(uint64_t held, uint64_t read)
{
    struct spool_reader *reader = spool.reader;
    uint64_t step = spool.limits.ahead / 4;
    uint64_t before = atomic_load_explicit(&reader->read, memory_order_relaxed); /* own word */

    if (spool.owner != getpid())
        return;
    /* Release: the bytes before were read from the file, which may forget them. */
    atomic_store_explicit(&reader->held, held, memory_order_release);
    atomic_store_explicit(&reader->read, read, memory_order_release);
    if (before / step != read / step)
        ring(spool.bell[1]);
}

/* Sets the turn of this reader. Release: the places that belong to it are written. */
static void publish_turn(uint64_t turn)
{
    if (spool.owner != getpid())
        return;
    atomic_store_explicit(&spool.reader->turn, turn, memory_order_release);
    ring(spool.bell[1]);
}

/* Opens the file of STREAM, which stays open for a later reading. */
static enum th_status dup_file(const struct th_spool_stream *stream, int *fd)
{
    *fd = fcntl(stream->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (*fd < 0)
        return th_error_raise(TH_FAILED, "cannot open a temporary file again: %s", strerror(errno));
    return TH_OK;
}

/* Sets where this process begins. */
static enum th_status find_start(struct th_spool_stream *stream, struct th_spool_start *start)
{
    uint64_t after = th_crash_resumed_after(), place = th_crash_stream_place(stream->number);
    uint64_t given = atomic_load(&stream->given); /* after `held`: see give_bytes_back() */

    *start = (struct th_spool_start){.fd = -1, .record = 1, .size = stream->size};
    if (given == 0)
        return dup_file(stream, &start->fd);
    if (after > place && after < place + TH_CRASH_STREAM_END) {
        start->record = after - place;
        start->position = th_crash_resumed_byte();
    } else if (after > place) { /* all of it was played; its records are not counted */
        start->position = atomic_load_explicit(&stream->bytes, memory_order_acquire);
    }
    if (start->position < given) {
        th_replay_spool_close(stream); /* the others go on */
        return th_error_raise(TH_MALFORMED, "bytes before %llu are not kept any more",
                              (unsigned long long)given);
    }
    publish_places(start->position, start->position);
    return dup_file(stream, &start->fd);
}

enum th_status th_replay_spool_await(struct th_spool_stream *stream, const volatile int *stop,
                                     struct th_spool_start *start)
{
    struct pollfd wait = {.fd = th_replay_spool_news(), .events = POLLIN};
    int state;

    *start = (struct th_spool_start){.fd = -1, .record = 1};
    publish_places(0, 0);
    publish_turn(TURN_READING(stream - spool.streams));
    while ((state = atomic_load_explicit(&stream->state, memory_order_acquire)) == STREAM_NEW) {
        if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) /* a flag without data */
            return TH_END;
        if (spool.lost)
            return th_error_raise(TH_MALFORMED, "%s", th_replay_spool_fault(stream));
        if (poll(&wait, 1, LOOK_UP_MS) > 0)
            th_replay_spool_hear();
    }
    if (state != STREAM_REFUSED)
        return find_start(stream, start);
    th_error_restore(&stream->chain);
    return th_error_status();
}

int th_replay_spool_news(void)
{
    return spool.news[((char *)spool.reader - spool.pages) / TH_SHARED_PAGE][0];
}

void th_replay_spool_hear(void)
{
    spool.lost |= !hear(th_replay_spool_news());
}

bool th_replay_spool_is_ready(const struct th_spool_stream *stream, uint64_t position)
{
    /* First the state: once the stream has ended, the number of bytes is the last one. */
    return spool.lost ||
           atomic_load_explicit(&stream->state, memory_order_acquire) == STREAM_ENDED ||
           atomic_load_explicit(&stream->bytes, memory_order_acquire) > position;
}

ssize_t th_replay_spool_read(const struct th_spool_stream *stream, int fd, void *data, size_t size,
                             uint64_t position, uint64_t held)
{
    bool ended = atomic_load_explicit(&stream->state, memory_order_acquire) == STREAM_ENDED;
    uint64_t bytes = atomic_load_explicit(&stream->bytes, memory_order_acquire);
    ssize_t got;

    if (position < bytes) {
        if (size > bytes - position)
            size = (size_t)(bytes - position);
        got = pread(fd, data, size, (off_t)position);
        if (got > 0)
            publish_places(held, position + (uint64_t)got);
        errno = got == 0 ? EIO : errno; /* somebody has cut the file off */
        return got > 0 ? got : -1;
    }
    errno = ended ? stream->error : spool.lost ? EOWNERDEAD : EAGAIN;
    return errno ? -1 : 0;
}

const char *th_replay_spool_fault(const struct th_spool_stream *stream)
{
    /* Acquire: the chain is written before the state. */
    if (atomic_load_explicit(&stream->state, memory_order_acquire) == STREAM_ENDED)
        return stream->chain.count ? stream->chain.links[0] : NULL;
    return spool.lost ? "the process that copies the stream has died" : NULL;
}

void th_replay_spool_close(const struct th_spool_stream *stream)
{
    publish_turn(TURN_READING(stream - spool.streams) + 1);
}
