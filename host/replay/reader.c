#include "reader.h"

#include "log/log_stream.h"
#include "packed/packed.h"
#include "replay_internal.h"
#include "unpack.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/trace/event.h"

#include <sys/stat.h>
#include <unistd.h>

/* Other files that users may give, recognised by their first bytes. */
static const struct {
    const char *bytes;
    size_t size;
    const char *what;
} magics[] = {
    {"\xFD"
     "7zXZ",
     5, "compressed with xz; decompress it, or use a pipe: unxz -c FILE | tracehost ... -"},
    {"BZh", 3,
     "compressed with bzip2; decompress it, or use a pipe: bunzip2 -c FILE | tracehost ... -"},
    {"PK\x03\x04", 4, "a zip archive; unzip it"},
    {"\x7F"
     "ELF",
     4, "a program or shared object (ELF), not a recording"},
    {"FOR1", 4, "a BEAM file, not a recording"},
    {"\x83", 1, "one external term, not a recording"},
    {"\xEF\xBB\xBF", 3, "text with a byte order mark; JSON lines must not have one"},
};

static enum th_status find_stream_format(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    const unsigned char *p;
    size_t there;

    th_replay_input_begin(input);
    p = th_replay_input_bytes(input);
    there = th_replay_input_there(input);
    if (input->error)
        return th_error_raise(TH_MALFORMED, "%s", th_replay_input_fault(input));
    if (there == 0 || *p <= 1)
        reader->format = &th_trace_port_format;
    else if (strchr("{ \t\r\n", *p)) /* *P is not 0, which strchr() would find */
        reader->format = &th_replay_jsonl_format;
    for (size_t i = 0; !reader->format && i < sizeof magics / sizeof magics[0]; i++)
        if (there >= magics[i].size && memcmp(p, magics[i].bytes, magics[i].size) == 0)
            return th_error_raise(TH_MALFORMED, "the input is %s", magics[i].what);
    if (!reader->format)
        return th_error_raise(TH_MALFORMED,
                              "the input begins with byte %u; a trace-port file begins with 0 or "
                              "1, JSON lines begin with {",
                              p[0]);
    reader->info.format = reader->format->name;
    return reader->format->begin(reader);
}

/* Asks a running node to end its tracing once the user wants that. Called during waits. */
static void wait_for_node(void *context)
{
    struct th_reader *reader = context;

    th_replay_reader_stops(reader, reader->options.stop);
    if (reader->options.waiting)
        reader->options.waiting(reader->options.context);
}

/* Copies the options about waiting to the input. */
static void listen_to_options(struct th_reader *reader)
{
    reader->input.stop = reader->options.stop;
    reader->input.waiting = reader->options.waiting;
    reader->input.context = reader->options.context;
    if (!reader->feeder)
        return;
    reader->input.stop = NULL; /* its end comes in order */
    reader->input.waiting = wait_for_node;
    reader->input.context = reader;
}

/* Opens a running node, or a log. If *stop was set, the input is at its end. Errors: TH_MALFORMED; TH_FAILED. */
static enum th_status open_fed(struct th_reader *reader)
{
    int fd;
    enum th_status status =
        th_replay_log_is_name(reader->name)
            ? th_replay_log_read(reader->name, reader->options.resume, reader->options.stop,
                                 &reader->feeder, &fd, &reader->info)
            : th_replay_node_open(reader->name, reader->options.node, reader->options.stop,
                                  &reader->feeder, &fd);

    if (status == TH_OK)
        th_replay_input_attach(&reader->input, fd, reader->name);
    else
        reader->input = (struct th_input){.fd = -1, .ended = true, .stopped = status == TH_END};
    return status;
}

/* Goes to the next records of a packed recording. TH_END: there are none. */
static enum th_status next_packed(struct th_reader *reader)
{
    struct th_reader_info *info = &reader->info;
    struct th_packed_counts counts;
    uint64_t number = info->records + 1;
    enum th_status status;

    th_memory_begin(SIZE_MAX); /* the limit is for one event, not for a frame */
    status = th_replay_packed_next(reader->packed, &reader->input, &number);
    th_memory_begin(reader->options.max_memory);
    counts = th_replay_packed_counts(reader->packed);
    info->records = number - 1;
    info->frames_read = counts.read;
    info->frame_losses = counts.lost;
    return status;
}

/* Finds out whether the input is a packed recording, and begins it. */
static void begin_packed(struct th_reader *reader)
{
    struct th_reader_info *info = &reader->info;
    const char *why;

    th_memory_begin(TH_READER_MEMORY); /* for the index */
    th_replay_packed_open(reader->input.fd, &reader->packed, &why);
    th_memory_begin(reader->options.max_memory);
    if (why && !reader->set.note)
        info->note = reader->set.note = th_printf("%s: %s", info->file, why);
    if (!reader->packed)
        return;
    info->frames = th_replay_packed_counts(reader->packed).frames;
    reader->input.ended = true;
    if (next_packed(reader) != TH_OK) {
        th_error_clear(); /* comes again */
        th_replay_packed_rewind(reader->packed);
    }
}

void th_replay_reader_select(struct th_reader *reader, const struct th_reader_selection *selection,
                             struct th_reader_passed *passed)
{
    if (passed)
        *passed = (struct th_reader_passed){0};
    if (reader->info.frames > 0) {
        th_replay_packed_select(reader->packed, selection, passed);
        th_replay_reader_skip_file(reader);
    }
}

/* Opens FD; if FD is below 0, NAME. */
static enum th_status open_reader(const char *name, int fd, const struct th_reader_options *options,
                                  struct th_reader **reader)
{
    struct th_reader *made = th_shared_alloc(sizeof *made);
    struct th_reader_info *info = &made->info;
    enum th_status status = TH_OK;
    struct stat about;

    info->name = made->name = th_strdup(name);
    info->nodes = 1;
    if (options)
        made->options = *options;
    if (made->options.max_memory == 0)
        made->options.max_memory = TH_READER_MEMORY;
    if (made->options.connect_ms == 0)
        made->options.connect_ms = TH_TCP_CONNECT_MS;
    th_memory_begin(made->options.max_memory);

    if (fd < 0)
        made->spool = th_replay_spool_take(name);
    info->live = fd < 0 && th_replay_is_connection(name);
    if (fd >= 0 || info->live || th_replay_log_is_name(name))
        th_replay_wrap_single(name, &made->set);
    else
        status = th_replay_wrap_find(name, &made->set);
    if (status == TH_OK) {
        info->file = made->set.names[0];
        info->note = made->set.note;
        if (fd >= 0)
            th_replay_input_attach(&made->input, fd, name);
        else if (th_replay_tcp_is_address(name))
            status = th_replay_connection_open(made, name);
        else if (made->spool)
            status = th_replay_reader_take_spooled(made);
        else if (th_replay_node_is_name(name) || th_replay_log_is_name(name))
            status = open_fed(made);
        else
            status = th_replay_input_open(&made->input, info->file);
    }
    if (status == TH_END)
        status = TH_OK; /* stopped */
    if (status == TH_OK && !made->connection) {
        if (!made->spool && made->set.count == 1)
            begin_packed(made);
        if (!made->spool && made->set.count == 1 && fstat(made->input.fd, &about) == 0 &&
            S_ISREG(about.st_mode))
            info->size = (uint64_t)about.st_size;
        for (size_t i = 0; made->set.count > 1 && i < made->set.count; i++)
            if (stat(made->set.names[i], &about) == 0)
                info->size += (uint64_t)about.st_size;
        listen_to_options(made);
        status = find_stream_format(made);
        if (made->packed) {
            info->compressed = "zstd";
            info->size = th_replay_packed_size(made->packed);
        } else if (made->input.unpack) {
            info->compressed = th_replay_unpack_format(made->input.unpack);
            info->size = 0; /* that of the plain bytes is not known */
        }
    }

    th_memory_begin(SIZE_MAX);
    *reader = status == TH_OK ? made : NULL;
    if (status == TH_OK)
        return TH_OK;
    th_replay_reader_close(made);
    return th_error_context("cannot read %s", strcmp(name, "-") == 0 ? "stdin" : name);
}

enum th_status th_replay_reader_open(const char *name, const struct th_reader_options *options,
                                     struct th_reader **reader)
{
    return open_reader(name, -1, options, reader);
}

enum th_status th_replay_reader_attach(int fd, const char *name,
                                       const struct th_reader_options *options,
                                       struct th_reader **reader)
{
    return open_reader(name, fd, options, reader);
}

bool th_replay_reader_reads_once(const char *name, size_t *files)
{
    struct th_wrap_set set = {0};
    struct stat about;
    bool once;

    *files = 1;
    if (th_replay_is_connection(name) || strcmp(name, "-") == 0)
        return true;
    if (th_replay_log_is_name(name))
        return false;
    once = th_replay_wrap_find(name, &set) == TH_OK && stat(set.names[0], &about) == 0 &&
           !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    *files = set.count;
    th_replay_wrap_free(&set);
    th_error_clear();
    return once;
}

enum th_status th_replay_reader_peek(const char *name, struct th_etf_node *node)
{
    struct th_reader *reader;
    enum th_status status;
    size_t files;

    *node = (struct th_etf_node){0};
    if (th_replay_reader_reads_once(name, &files))
        return TH_OK;
    status = th_replay_reader_open(name, NULL, &reader);
    if (status == TH_OK)
        *node = reader->info.node;
    th_replay_reader_close(reader);
    return status;
}

/* STANDARD: the descriptor for "-". */
static bool stat_named(const char *name, int standard, struct stat *about)
{
    return (strcmp(name, "-") == 0 ? fstat(standard, about) : stat(name, about)) == 0;
}

bool th_replay_reader_would_read(const char *name, const char *file)
{
    struct th_wrap_set set = {0};
    struct stat there, read;
    bool found = false;

    if (th_replay_is_connection(name) || th_replay_log_is_name(name) ||
        !stat_named(file, STDOUT_FILENO, &there) || !S_ISREG(there.st_mode))
        return false;
    if (th_replay_wrap_find(name, &set) != TH_OK)
        th_error_clear();
    for (size_t i = 0; i < set.count && !found; i++)
        found = stat_named(set.names[i], STDIN_FILENO, &read) && read.st_dev == there.st_dev &&
                read.st_ino == there.st_ino;
    th_replay_wrap_free(&set);
    return found;
}

void th_replay_reader_take_input(struct th_reader *reader, int fd)
{
    reader->bytes_before += th_replay_input_position(&reader->input);
    th_replay_input_close(&reader->input);
    if (fd >= 0)
        th_replay_input_attach(&reader->input, fd, reader->info.file);
    listen_to_options(reader);
}

enum th_status th_replay_reader_take_spooled(struct th_reader *reader)
{
    struct th_spool_start start;
    enum th_status status = th_replay_spool_await(reader->spool, reader->options.stop, &start);

    if (status != TH_OK && status != TH_END)
        return status;
    th_replay_reader_take_input(reader, start.fd);
    reader->input.ended = reader->input.stopped = status == TH_END;
    reader->input.spool = reader->spool;
    reader->input.offset = reader->info.missing = start.position;
    reader->info.records = start.record - 1;
    reader->info.size = start.size;
    return status;
}

/* Continues with the next file, or a new connection. TH_END: there is none. */
static enum th_status next_file(struct th_reader *reader)
{
    if (reader->packed)
        return next_packed(reader);
    if (reader->connection)
        return th_replay_connection_again(reader);
    if (reader->input.limit && reader->feeder)
        return TH_END; /* the process has more */
    if (reader->feeder && !reader->input.stopped) {
        if (reader->options.ending)
            reader->options.ending(reader->options.context);
        if (th_replay_node_end(reader->feeder) != TH_OK)
            return TH_PARTIAL;
    }
    if (reader->input.stopped || reader->file + 1 >= reader->set.count)
        return TH_END;
    reader->bytes_before += th_replay_input_position(&reader->input);
    th_replay_input_close(&reader->input);
    reader->info.file = reader->set.names[++reader->file];
    if (th_replay_input_open(&reader->input, reader->info.file) != TH_OK) {
        th_error_raise(TH_PARTIAL, "%s", th_error_link(0));
        return th_error_context("cannot read %s of the wrap set", reader->info.file);
    }
    listen_to_options(reader);
    th_replay_input_begin(&reader->input);
    return TH_OK;
}

enum th_status th_replay_reader_check_input(struct th_reader *reader)
{
    const char *fault;
    unsigned long long position = th_replay_input_position(&reader->input);

    if (!reader->input.error)
        return TH_OK;
    fault = th_replay_input_fault(&reader->input);
    reader->input.error = 0;
    th_replay_reader_skip_file(reader);
    th_error_raise(TH_PARTIAL, "%s: %s",
                   reader->connection ? "the connection was lost" : "cannot read the input", fault);
    return th_error_context("record %llu at byte %llu and the rest of the %s are lost",
                            th_replay_reader_number(reader), position,
                            reader->connection ? "connection" : "file");
}

/* Counts a drop, damage or the end. */
static __attribute__((cold)) void count_loss(struct th_reader *reader, const struct th_event *event,
                                             enum th_status status)
{
    struct th_reader_info *info = &reader->info;

    info->records += status == TH_OK || status == TH_MALFORMED;
    if (status == TH_OK) {
        info->drops += event->dropped;
        info->gaps += event->dropped == 0;
    }
    if (status == TH_PARTIAL && reader->connection)
        reader->connection->lost |= reader->input.ended;
    info->malformed += status == TH_MALFORMED;
    info->damages += status == TH_PARTIAL;
}

enum th_status th_replay_reader_next(struct th_reader *reader, struct th_event *event)
{
    struct th_reader_info *info = &reader->info;
    enum th_status status;

    event->number = info->records + 1;
    th_memory_begin(reader->options.max_memory);
    status = reader->format->next(reader, event);
    while (__builtin_expect(status == TH_END, 0)) {
        status = next_file(reader);
        event->number = info->records + 1; /* a packed recording may have passed over some */
        if (status != TH_OK) {
            th_memory_begin(SIZE_MAX);
            break;
        }
        status = reader->format->next(reader, event);
    }

    info->bytes = reader->bytes_before + th_replay_input_position(&reader->input);
    if (__builtin_expect(status == TH_OK && event->kind != TH_EVENT_DROP, 1)) {
        info->records++;
        if (__builtin_expect(reader->options.keep != NULL, 0))
            reader->options.keep(reader->options.context, event);
        return TH_OK;
    }
    count_loss(reader, event, status);
    if (status == TH_OK && reader->options.keep)
        reader->options.keep(reader->options.context, event);
    return status;
}

bool th_replay_reader_await(struct th_reader *reader, int milliseconds)
{
    if (reader->merge)
        return th_replay_merge_await(reader->merge, milliseconds);
    if (reader->connection && reader->input.ended && !reader->input.stopped)
        return false;
    return th_replay_input_await(&reader->input, milliseconds);
}

bool th_replay_reader_stops(struct th_reader *reader, const volatile int *stop)
{
    if (!stop || !__atomic_load_n(stop, __ATOMIC_RELAXED)) /* a flag without data */
        return false;
    if (reader->merge)
        return th_replay_merge_stops(reader->merge, stop);
    if (reader->feeder)
        th_replay_node_stop(reader->feeder);
    return !reader->feeder;
}

enum th_status th_replay_reader_mark(struct th_reader *reader)
{
    return reader->feeder ? th_replay_feeder_mark(reader->feeder, reader->info.records) : TH_OK;
}

const unsigned char *th_replay_reader_raw(const struct th_reader *reader,
                                          const struct th_event *event, size_t *size)
{
    *size =
        reader->merge ? 0 : (size_t)(th_replay_input_position(&reader->input) - event->position);
    return th_replay_input_bytes(&reader->input) - *size;
}

const struct th_reader_info *th_replay_reader_info(const struct th_reader *reader)
{
    return &reader->info;
}

void th_replay_reader_close(struct th_reader *reader)
{
    if (!reader)
        return;
    th_memory_begin(SIZE_MAX);
    if (reader->state)
        reader->format->end(reader);
    th_replay_input_close(&reader->input);
    th_replay_node_close(reader->feeder);
    th_replay_wrap_free(&reader->set);
    th_replay_connection_free(reader->connection);
    th_replay_merge_free(reader->merge);
    th_replay_packed_close(reader->packed);
    th_free(reader->name);
    th_shared_free(reader);
}
