#include "workers.h"

#include "interrupt.h"
#include "keeper.h"
#include "replaying.h"
#include "share_process.h"
#include "share_source.h"
#include "subcommand.h"
#include "trial_process.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/crash/crash.h"
#include "host/crash/supervisor.h"
#include "host/library/find.h"
#include "host/replay/log/log_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct workers {
    struct th_replaying *replay;
    struct th_log_job_options options;
    struct th_keeper keeper;
    char recording[64];
    const char *name;  /* of the stream, as the user gave it */
    char *stream_name; /* of a player */
    uint64_t segment;
    /* A player goes on to later segments (walks), or is the process that plays one (branched). If its tracers need
     * all events before a segment (past), `before` is the bytes that these have. */
    bool may_walk, walks, branched, past;
    uint64_t before;
    struct th_share_process player;
    uint64_t done, lost; /* segments of this worker */
    char end[256];       /* what a player that ended without results has printed */
    uint64_t first_bytes;
};

/* --- The job ------------------------------------------------------------------------------------ */

/* Adds a line with the hash of the file at PATH. Errors: TH_FAILED. */
static enum th_status add_file(struct th_buffer *text, const char *what, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    struct stat about;

    if (fd >= 0 && fstat(fd, &about) == 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return th_error_raise(TH_FAILED, "cannot read %s: %s", path, strerror(errno));
    th_buffer_printf(text, "%s %016" PRIx64 "\n", what,
                     th_hash_bytes(bytes, (size_t)about.st_size));
    munmap(bytes, (size_t)about.st_size);
    return TH_OK;
}

/* Adds the files of the tracers. */
static enum th_status add_tracers(const struct th_replaying *replay, struct th_buffer *text)
{
    const struct th_control_session_options *sessions = &replay->trace.sessions;
    size_t count = th_control_session_options_sessions(sessions);
    enum th_status status = TH_OK;
    struct th_search search;

    th_library_search_init(&search, TH_SEARCH_TRACERS,
                           (const char *const *)replay->trace.folders.items,
                           replay->trace.folders.count);
    for (size_t i = 0; i < count && status == TH_OK; i++) {
        size_t length;
        const char *tracer = th_control_session_options_tracer(sessions, i, &length);
        char *name = th_printf("%.*s", (int)length, tracer), *path;
        status = th_library_search_find(&search, name, &path);
        if (status == TH_OK) {
            status = add_file(text, "tracer", path);
            th_free(path);
        }
        th_free(name);
    }
    th_library_search_free(&search);
    return status;
}

/* Returns whether ARGUMENT is the stream's name, or changes how results are shown, not what they are. The
 * size of a segment has a line of its own, and the files of tracers are known by their content. */
static bool decides_nothing(const struct th_argument *argument)
{
    static const char *const names[] = {
        "join",     "lease", "segment",    "stats",        "format",        "color",
        "progress", "watch", "supervisor", "fail-on-loss", "allow-partial", "callback-timeout"};

    if (!argument->name)
        return argument->letter == 0 || argument->letter == 'L';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(argument->name, names[i]) == 0)
            return true;
    return false;
}

/* Writes all that decides the results to TEXT. Errors: TH_REFUSED if a tracer is not found; TH_FAILED. */
static enum th_status write_job(const struct th_replaying *replay, int64_t size,
                                struct th_buffer *text)
{
    size_t count;
    const struct th_cli_word *words = th_cli_command_words(&count);
    enum th_status status;

    th_buffer_printf(text, "%s\n", th_cli_version);
    status = add_file(text, "build", "/proc/self/exe");
    if (status == TH_OK)
        status = add_tracers(replay, text);
    th_buffer_printf(text, "encoding %s\nsegment %" PRId64 "\noptions", nl_langinfo(CODESET), size);
    for (size_t i = 0; i < count; i++) {
        const struct th_argument *argument = words[i].argument;
        if (decides_nothing(argument))
            continue;
        if (argument->letter)
            th_buffer_printf(text, " -%c", argument->letter);
        else
            th_buffer_printf(text, " --%s", argument->name);
        if (words[i].value)
            th_buffer_printf(text, "%s%s", argument->letter ? " " : "=", words[i].value);
    }
    if (size != TH_WORKERS_SEGMENT)
        th_buffer_printf(text, " --segment=%" PRId64, size);
    return status;
}

/* --- Players ------------------------------------------------------------------------------------ */

/* Returns the name of a stream of the recording, with the parameters of FORMAT behind it. */
static __attribute__((format(printf, 2, 3))) char *name_part(const struct workers *workers,
                                                             const char *format, ...)
{
    va_list arguments;
    char *rest, *name;

    va_start(arguments, format);
    rest = th_vprintf(format, arguments);
    va_end(arguments);
    name = th_printf("%s%crecording=%s%s", workers->name, strchr(workers->name, '?') ? '&' : '?',
                     workers->recording, rest);
    th_free(rest);
    return name;
}

/* Returns the name of the stream that begins with the segment. PAST: see tracehost-nats(7). */
static char *name_segment(const struct workers *workers, const char *past)
{
    uint64_t size = (uint64_t)workers->options.size, segment = workers->segment;

    return name_part(workers, "&begin=%" PRIu64 "&end=%" PRIu64 "&past=%s",
                     segment ? segment * size : 1, /* the first batch is merge's */
                     (segment + 1) * size, past);
}

/* Returns the name of the stream of the world's records before the segment, behind the beginning of BEHIND, which
 * may be NULL. */
static char *name_world(const struct workers *workers, const uint64_t *behind)
{
    uint64_t size = (uint64_t)workers->options.size,
             end = workers->segment ? workers->segment * size : 1;

    if (!behind)
        return name_part(workers, "&end=%" PRIu64 "&past=between", end);
    return name_part(workers, "&begin=%" PRIu64 "&end=%" PRIu64 "&past=between",
                     *behind ? *behind * size : 1, end);
}

/* Finds where the segment begins. Errors: TH_MALFORMED. */
static enum th_status find_beginning(struct workers *workers)
{
    char *name = name_segment(workers, "none");
    enum th_status status = th_replay_log_begin_of(name, &th_cli_interrupted, &workers->before);

    th_free(name);
    return status;
}

static enum th_status name_stream(void *context, bool past)
{
    struct workers *workers = context;

    th_free(workers->stream_name);
    workers->past = past;
    workers->walks = workers->may_walk && th_cli_trial_threads() <= 2; /* the watchdog's */
    if (!workers->walks)
        workers->stream_name = name_segment(workers, past ? "yes" : "no");
    else if (past)
        workers->stream_name = name_part(workers, "&begin=1&past=yes");
    else
        workers->stream_name = name_world(workers, NULL);
    workers->replay->streams.items[0] = workers->stream_name;
    return workers->walks && past ? find_beginning(workers) : TH_OK;
}

static uint64_t begin_of_segment(void *context, const struct th_reader *reader, size_t share,
                                 unsigned past)
{
    const struct workers *workers = context;

    (void)share;
    (void)past;
    return workers->walks && workers->past ? workers->before
                                           : th_replay_reader_info(reader)->before;
}

static void end_player(void *context, int status)
{
    (void)context;
    _exit(status ? status : TH_FAILED); /* its tracers must not write their output */
}

/* Hands over the results. The word tells whether there is a player that waits for a later segment. */
static __attribute__((noreturn)) void deliver_segment(void *context,
                                                      const struct th_buffer *results)
{
    const struct workers *workers = context;

    th_cli_share_process_send(&workers->player, results, workers->branched);
}

/* Reads on with the stream NAME, which is freed. Ends this process if that fails. */
static void read_on(const struct workers *workers, struct th_reader *reader, char *name)
{
    if (th_replay_reader_branch(reader, name) != TH_OK)
        _exit(th_cli_command_fail(workers->replay->command));
    th_free(name);
}

/* In a player that walks: goes on to the beginning of the next segment that the main process has claimed. */
static void walk_on(struct workers *workers, struct th_reader *reader)
{
    uint64_t played = workers->segment;

    if (recv(workers->player.socket, &workers->segment, sizeof workers->segment, MSG_WAITALL) !=
        sizeof workers->segment)
        _exit(TH_FAILED);
    if (!workers->past)
        read_on(workers, reader, name_world(workers, &played));
    else if (find_beginning(workers) != TH_OK)
        _exit(th_cli_command_fail(workers->replay->command));
}

/* In a player that walks: lets a new process play the segment, which begins here. */
static bool play_in_branch(void *context, struct th_reader *reader)
{
    struct workers *workers = context;
    pid_t walker = getpid(), branch;
    int status;

    if (!workers->walks)
        return true;
    branch = th_crash_fork();
    if (branch == 0) {
        workers->branched = true;
        th_cli_interrupted = 0; /* a child of a library would stop */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != walker)
            _exit(TH_FAILED);
        read_on(workers, reader, name_segment(workers, "none"));
        return true;
    }
    if (branch < 0 || waitpid(branch, &status, 0) != branch || status != 0)
        _exit(TH_FAILED);
    walk_on(workers, reader);
    return false;
}

static const struct th_share_source player_source = {
    .option = "--join",
    .is_far = true,
    .begin_of = begin_of_segment,
    .prepare = name_stream,
    .branch = play_in_branch,
    .deliver = deliver_segment,
    .end = end_player,
};

/* --- The main process of a worker ---------------------------------------------------------------- */

/* Hands RESULTS of the claimed segment to the keeper. *HAS: the segment is marked, not taken by another worker. */
static enum th_status hand_over(struct workers *workers, const struct th_buffer *results, bool *has)
{
    bool sound = th_cli_shards_is_sound(results);
    struct th_keeper_answer answer;
    enum th_status status = th_cli_keeper_ask(
        &workers->keeper, sound ? TH_KEEPER_MARK : TH_KEEPER_UNSOUND, 0, sound ? results : NULL);

    if (status == TH_OK)
        status = th_cli_keeper_hear(&workers->keeper, &answer, NULL);
    *has = status == TH_OK && answer.result == TH_KEEPER_DONE;
    return status;
}

/* Ends the main process, which has played a segment itself, with STATUS. */
static _Noreturn void end_alone(void *context, int status)
{
    struct workers *workers = context;

    th_cli_keeper_end(&workers->keeper);
    status = th_cli_interrupt_status(status ? status : TH_FAILED);
    th_crash_finish(status);
    _exit(status); /* its tracers must not write their output */
}

static void end_failed_alone(void *context, int status)
{
    end_alone(context, status);
}

static __attribute__((noreturn)) void deliver_alone(void *context, const struct th_buffer *results)
{
    struct workers *workers = context;
    enum th_status status = TH_OK;
    bool has;

    if (!th_cli_shards_is_interrupted(results))
        status = hand_over(workers, results, &has);
    if (status == TH_OK && !th_cli_interrupt_came()) {
        status = th_error_raise(TH_FAILED, "%s",
                                *workers->end ? workers->end
                                              : "it was killed, or its tracer has ended it");
        th_error_context("the process that played segment %" PRIu64 " has ended; this one has "
                         "played the segment again",
                         workers->segment);
    }
    if (status != TH_OK)
        th_cli_command_fail(workers->replay->command);
    end_alone(workers, status);
}

static const struct th_share_source alone_source = {
    .option = "--join",
    .is_far = true,
    .begin_of = begin_of_segment,
    .prepare = name_stream,
    .deliver = deliver_alone,
    .end = end_failed_alone,
};

/* Waits until the player has results, or has ended (*READY), or the keeper has an answer, or a signal comes. */
static void await_player(const struct workers *workers, bool *ready)
{
    struct pollfd wait[] = {{.fd = workers->player.socket, .events = POLLIN},
                            {.fd = workers->keeper.socket, .events = POLLIN}};

    wait[0].revents = wait[1].revents = 0;
    while (!th_cli_interrupt_came() && poll(wait, 2, 500) <= 0)
        wait[0].revents = wait[1].revents = 0;
    *ready = wait[0].revents && !wait[1].revents;
}

/* Waits for the results of the player. *DIED: it has ended without any. Errors: TH_FAILED. */
static enum th_status finish_segment(struct workers *workers, bool *died)
{
    struct th_buffer results = {0};
    struct th_keeper_answer answer;
    enum th_status status = TH_OK;
    bool ready, has = false;

    *died = false;
    await_player(workers, &ready);
    if (th_cli_interrupt_came()) {
        ;
    } else if (!ready) {
        status = th_cli_keeper_hear(&workers->keeper, &answer, NULL); /* the claim is lost */
    } else if (!th_cli_share_process_receive(&workers->player, &results)) {
        *died = !th_cli_interrupt_came();
    } else if (th_cli_shards_is_interrupted(&results)) {
        status = th_error_raise(TH_FAILED,
                                "a signal has ended the process that played segment "
                                "%" PRIu64,
                                workers->segment);
    } else {
        status = hand_over(workers, &results, &has);
    }
    if (*died) {
        ssize_t printed = pread(workers->player.printed, workers->end, sizeof workers->end - 1, 0);
        workers->end[printed > 0 ? printed - 1 : 0] = 0; /* without the last newline */
        for (char *line; (line = strchr(workers->end, '\n'));)
            *line = ';';
    }
    workers->done += has;
    workers->lost += !has && !*died && status == TH_OK && !th_cli_interrupt_came();
    if (!has || !workers->player.word)
        th_cli_share_process_end(&workers->player);
    th_buffer_free(&results);
    return status;
}

/* Claims a segment. TH_END: there is none. Errors: the keeper's. */
static enum th_status claim_segment(struct workers *workers)
{
    struct pollfd wait = {.fd = workers->keeper.socket, .events = POLLIN};
    struct th_keeper_answer answer;
    enum th_status status = th_cli_keeper_ask(&workers->keeper, TH_KEEPER_CLAIM, 0, NULL);

    while (status == TH_OK && poll(&wait, 1, 500) <= 0)
        if (th_cli_interrupt_came())
            return TH_END;
    if (status == TH_OK)
        status = th_cli_keeper_hear(&workers->keeper, &answer, NULL);
    if (status != TH_OK)
        return status;
    workers->segment = answer.segment;
    return answer.result == TH_KEEPER_DONE ? TH_OK : TH_END;
}

static _Noreturn void end_work(struct workers *workers, enum th_status status)
{
    const char *command = workers->replay->command;
    int ended = TH_OK;

    if (workers->player.pid > 0)
        th_cli_share_process_end(&workers->player);
    th_cli_keeper_end(&workers->keeper);
    if (status != TH_OK && status != TH_END)
        ended = th_cli_command_fail(command);
    th_cli_command_flush();
    fprintf(stderr, "tracehost %s: this worker has done %" PRIu64 " segment%s", command,
            workers->done, th_log_plural(workers->done));
    if (workers->lost)
        fprintf(stderr, ", and lost %" PRIu64 " to other workers", workers->lost);
    fputc('\n', stderr);
    exit(th_cli_interrupt_status(th_cli_command_finish(command, ended)));
}

/* Hands the segment to the player that has played PLAYED, or makes one. *CHILD: this is the new one. */
static bool begin_player(struct workers *workers, uint64_t played, bool *child)
{
    *child = false;
    if (workers->player.pid > 0 && workers->segment > played &&
        send(workers->player.socket, &workers->segment, sizeof workers->segment, MSG_NOSIGNAL) ==
            sizeof workers->segment)
        return true;
    if (workers->player.pid > 0)
        th_cli_share_process_end(&workers->player);
    return th_cli_share_process_fork(&workers->player, child);
}

/* Plays segments until there are no more. Returns in a player, and in a main process that plays. Errors: the
 * keeper's. */
static enum th_status work(struct workers *workers, struct th_shards **shards)
{
    enum th_status status;
    bool child = false, died = false;
    uint64_t played;

    th_cli_interrupt_install();
    while (!died) {
        played = workers->segment;
        status = th_cli_interrupt_came() ? TH_END : claim_segment(workers);
        if (status != TH_OK)
            end_work(workers, status);
        if (!begin_player(workers, played, &child))
            return th_error_raise(TH_FAILED, "cannot make a process: %s", strerror(errno));
        if (child) {
            th_cli_interrupted = 0; /* a child of a library would stop */
            close(workers->keeper.socket);
            workers->may_walk = true;
            *shards = th_cli_shards_make(2, 1, &workers->player, 0, &player_source, workers);
            return TH_OK;
        }
        status = finish_segment(workers, &died);
        if (status != TH_OK)
            end_work(workers, status);
    }
    *shards = th_cli_shards_make(2, 1, &workers->player, 0, &alone_source, workers);
    return TH_OK;
}

/* --- merge --------------------------------------------------------------------------------------- */

static bool receive_segment(void *context, size_t share, struct th_buffer *data)
{
    struct workers *workers = context;
    struct th_keeper_answer answer;
    enum th_status status = th_cli_keeper_ask(&workers->keeper, TH_KEEPER_GET, share - 1, NULL);

    if (status == TH_OK)
        status = th_cli_keeper_hear(&workers->keeper, &answer, data);
    if (status == TH_OK)
        return true;
    th_error_context("the results of the workers cannot be used: the recording is played here");
    th_error_print(stderr, "tracehost merge");
    return false;
}

static uint64_t begin_of_merged(void *context, const struct th_reader *reader, size_t share,
                                unsigned past)
{
    const struct workers *workers = context;

    (void)reader;
    (void)past;
    return share ? workers->first_bytes : 0;
}

static void end_merge(void *context, int status)
{
    struct workers *workers = context;

    (void)status;
    th_cli_keeper_end(&workers->keeper);
}

static const struct th_share_source merge_source = {
    .option = "merge",
    .receive = receive_segment,
    .begin_of = begin_of_merged,
    .end = end_merge,
};

/* Finds the results of the workers. *SHARDS is NULL if they cannot be merged. Errors: the keeper's. */
static enum th_status begin_merge(struct workers *workers, struct th_shards **shards)
{
    struct th_keeper_answer answer;
    enum th_status status = th_cli_keeper_ask(&workers->keeper, TH_KEEPER_SURVEY, 0, NULL);

    if (status == TH_OK)
        status = th_cli_keeper_hear(&workers->keeper, &answer, NULL);
    if (status != TH_OK || !answer.sound) {
        th_cli_keeper_end(&workers->keeper);
        return status;
    }
    workers->first_bytes = answer.first_bytes;
    *shards =
        th_cli_shards_make(answer.segments + 1, 0, NULL, answer.records, &merge_source, workers);
    return TH_OK;
}

/* --- The beginning ------------------------------------------------------------------------------- */

enum th_status th_cli_workers_begin(struct th_replaying *replay, struct th_shards **shards)
{
    static struct workers workers;
    struct th_buffer text = {0};
    struct th_keeper_answer answer;
    const char *option = replay->join ? "--join" : "merge";
    enum th_status status = th_cli_shards_check_options(replay, option);

    workers.replay = replay;
    workers.name = replay->streams.items[0];
    workers.options = (struct th_log_job_options){
        .name = workers.name,
        .size = replay->segment ? replay->segment : TH_WORKERS_SEGMENT,
        .lease_ns = !replay->join   ? 0
                    : replay->lease ? replay->lease
                                    : TH_WORKERS_LEASE,
    };
    if (status == TH_OK && replay->shards > 1)
        status = th_error_raise(TH_USAGE, "%s cannot be used with --shards", option);
    if (status == TH_OK && !th_replay_log_is_name(workers.name))
        status = th_error_raise(TH_USAGE,
                                "%s needs a recording in a log, nats://HOST/NAME: write "
                                "it with tracehost convert",
                                option);
    if (status == TH_OK)
        status = write_job(replay, workers.options.size, &text);
    if (status != TH_OK) {
        th_buffer_free(&text);
        return status;
    }
    setenv("NO_COLOR", "1", 0); /* a worker does not know where merge will print */
    workers.options.text = th_buffer_text(&text);
    status = th_cli_keeper_begin(&workers.options, &workers.keeper, &answer);
    if (status != TH_OK) {
        th_cli_keeper_end(&workers.keeper);
        return th_error_context("cannot %s %s", replay->join ? "join the workers of" : "merge",
                                workers.name);
    }
    memcpy(workers.recording, answer.recording, sizeof workers.recording);
    status = replay->join ? work(&workers, shards) : begin_merge(&workers, shards);
    return status == TH_OK || replay->join ? status
                                           : th_error_context("cannot merge %s", workers.name);
}
