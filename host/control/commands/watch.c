#include "commands.h"
#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/base/thread.h"
#include "host/crash/crash.h"
#include "host/library/load.h"
#include "host/library/name_list.h"
#include "host/term/clock.h"
#include "host/trace/named_tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MILLISECOND = 1000 * 1000, MOST_LINKS = 40 };
static const int64_t quiet = 100 * MILLISECOND;    /* quiet time before an examination, ... */
static const int64_t longest = 2000 * MILLISECOND; /* ... and its upper bound */
static const int64_t retry = 1000 * MILLISECOND;   /* while a file is missing, or old code in use */
static const uint32_t finished = IN_CLOSE_WRITE | IN_MOVED_TO;
static const uint32_t gone = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED;

/* The last refused file of a session. */
struct th_control_watch_refusal {
    th_session_id session;
    struct stat file;
};

/* --- Reports ---------------------------------------------------------------------------------- */

void th_control_watch_report(const struct th_control_watch *watch, const char *format, ...)
{
    char text[PATH_MAX + 256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    watch->host->report(watch->host, text);
}

void th_control_watch_report_failure(const struct th_control_watch *watch)
{
    struct th_buffer text = {0};
    const char *link;

    for (size_t i = 0; (link = th_error_link(i)); i++)
        th_buffer_printf(&text, "%s%s\n", i == 0 ? "" : "  ", link);
    watch->host->report(watch->host, th_buffer_text(&text));
    th_buffer_free(&text);
}

/* --- Paths and symbolic links ----------------------------------------------------------------- */

/* Returns the last part of PATH. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Appends to PLACES the symbolic links on the way to the file PATH, in order, each with only its
 * last part a link; then the path of the file itself. The parts of AT before byte END contain no
 * links. */
static void places_of(const char *path, struct th_names *places)
{
    char *at = th_strdup(path), link[PATH_MAX], *next;
    size_t end = 0, folder;
    ssize_t length;

    do {
        end += strspn(at + end, "/");
        end += strcspn(at + end, "/");
        next = th_printf("%.*s", (int)end, at);
        length = places->count < MOST_LINKS ? readlink(next, link, sizeof link - 1) : -1;
        if (length <= 0) {
            th_free(next);
            continue;
        }
        link[length] = 0;
        folder = *link == '/' ? 0 : (size_t)(name_in(next) - next);
        th_library_names_take(places, next);
        next = th_printf("%.*s%s%s", (int)folder, at, link, at + end);
        th_free(at);
        at = next;
        end = folder;
    } while (length > 0 || at[end]);
    th_library_names_take(places, at);
}

/* Returns the path of the session's tracer; "" if that is no library, which matches no file. */
static const char *path_of(const struct th_session *session)
{
    const struct th_library *library = th_trace_session_library(session);

    return library ? th_library_path(library) : "";
}

/* Watches PATH's folder and returns inotify's number. The number stays the same while the folder
 * exists. Numbers count up: events in a folder with a new number were missed before. */
static int watch_folder(struct th_control_watch *watch, const char *path)
{
    size_t length = (size_t)(name_in(path) - path);
    char *folder = length ? th_printf("%.*s", (int)length, path) : th_strdup("./");
    int number = inotify_add_watch(watch->news, folder, finished | IN_CREATE | gone | IN_ONLYDIR);

    th_free(folder);
    watch->incomplete |= number > watch->latest_folder;
    return number;
}

/* --- Finished files --------------------------------------------------------------------------- */

struct th_control_watch_file {
    int folder; /* as returned by watch_folder() */
    char *name;
};

static struct th_control_watch_file *find_finished(const struct th_control_watch *watch, int folder,
                                                   const char *name)
{
    for (size_t i = 0; i < watch->finished_count; i++)
        if (watch->finished[i].folder == folder && strcmp(watch->finished[i].name, name) == 0)
            return &watch->finished[i];
    return NULL;
}

bool th_control_watch_is_finished(struct th_control_watch *watch, const char *path)
{
    struct th_names places = {0};
    bool found = false;

    places_of(path, &places);
    for (size_t i = 0; i < places.count && !found; i++)
        found = find_finished(watch, watch_folder(watch, places.items[i]),
                              name_in(places.items[i])) != NULL;
    th_library_names_free(&places);
    return found;
}

/* Adds a finished file, and sets the time of the examination. */
static void note_finished(struct th_control_watch *watch, int folder, const char *name)
{
    int64_t now = th_clock_real_monotonic();

    if (!find_finished(watch, folder, name)) {
        TH_ARRAY_GROW(watch->finished, watch->finished_count, watch->finished_capacity);
        watch->finished[watch->finished_count++] =
            (struct th_control_watch_file){folder, th_strdup(name)};
    }
    if (watch->due == INT64_MAX)
        watch->latest = now + longest;
    watch->due = now + quiet < watch->latest ? now + quiet : watch->latest;
}

static void forget_finished(struct th_control_watch *watch)
{
    while (watch->finished_count > 0)
        th_free(watch->finished[--watch->finished_count].name);
}

/* Returns true if some process has the file open for writing: then the kernel refuses a lease.
 * Returns false if that is unknown, as for files of other users. A process that opens the file for
 * writing during the lease waits for the close() below; the kernel sends a signal, SIGURG, which is
 * ignored by default. */
static bool is_being_written(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool written;

    if (file < 0)
        return false;
    fcntl(file, F_SETSIG, SIGURG);
    written = fcntl(file, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
    close(file);
    return written;
}

/* Watches the folders of PATH and of its links. If a folder is new (above `latest_folder`), events
 * were missed: the file counts as finished unless it is open for writing. Returns false if the file
 * does not exist. */
static bool watch_file(struct th_control_watch *watch, const char *path, int *latest)
{
    struct th_names places = {0};

    places_of(path, &places);
    for (size_t i = 0; i < places.count; i++) {
        int number = watch_folder(watch, places.items[i]);
        if ((watch->all || number > watch->latest_folder) && !is_being_written(path))
            note_finished(watch, number, name_in(places.items[i]));
        if (number > *latest)
            *latest = number;
    }
    th_library_names_free(&places);
    return access(path, F_OK) == 0;
}

/*
 * Updates the watched folders. The kernel does not report the removal of a folder while a file in
 * it is still in use; so if a file is missing, its folder is looked up again until it exists.
 */
static void watch_folders(struct th_control_watch *watch)
{
    int latest = watch->latest_folder;
    bool complete = true;

    th_control_host_lock(watch->host);
    for (size_t i = 0; i < th_trace_sessions(watch->host->tracing); i++) {
        const struct th_session *session = th_trace_session(watch->host->tracing, i);
        if (th_trace_session_library(session))
            complete &= watch_file(watch, path_of(session), &latest);
    }
    th_control_host_unlock(watch->host);
    th_control_watch_modules_update(watch);
    for (size_t i = 0; i < watch->module_count; i++)
        complete &= watch_file(watch, watch->modules[i].path, &latest);
    watch->latest_folder = latest;
    watch->all = false;
    watch->incomplete = !complete;
}

/* --- Replacing -------------------------------------------------------------------------------- */

/* Replaces SESSION's tracer if its file has changed. The lock is dropped meanwhile: then the
 * session may be gone. */
static void watch_renew(struct th_control_watch *watch, struct th_session *session)
{
    th_session_id id = th_trace_session_id_of(session);
    size_t i = 0;
    struct stat file;
    char *path;

    while (i < watch->refusal_count && watch->refusals[i].session != id)
        i++;
    if (!th_trace_session_attached(session) ||
        !th_control_watch_is_finished(watch, path_of(session)) ||
        !th_trace_tracer_is_outdated(session) || stat(path_of(session), &file) != 0 ||
        (i < watch->refusal_count && th_control_watch_is_same(&watch->refusals[i].file, &file)))
        return;
    path = th_strdup(path_of(session));
    if (th_trace_tracer_renew(session, &watch->host->lock) == TH_OK) {
        th_control_watch_report(watch, "the new %s is in use\n", path);
    } else if (th_control_watch_is_still(path, &file)) {
        if (i == watch->refusal_count) {
            TH_ARRAY_GROW(watch->refusals, watch->refusal_count, watch->refusal_capacity);
            watch->refusal_count++;
        }
        watch->refusals[i] = (struct th_control_watch_refusal){id, file};
        th_error_context("cannot use the new %s: the old one stays in use", path);
        th_control_watch_report_failure(watch);
    }
    th_error_clear();
    th_free(path);
}

/* --- Events of inotify ------------------------------------------------------------------------ */

/* Returns the path, PATH or a link to it, that EVENT refers to; NULL: none. Owner: the caller frees
 * the path. */
static char *place_meant(struct th_control_watch *watch, const char *path,
                         const struct inotify_event *event)
{
    struct th_names places = {0};
    char *place = NULL;

    places_of(path, &places);
    for (size_t i = 0; i < places.count && !place; i++)
        if (strcmp(name_in(places.items[i]), event->name) == 0 &&
            watch_folder(watch, places.items[i]) == event->wd)
            place = th_strdup(places.items[i]);
    th_library_names_free(&places);
    return place;
}

/* The same, for all tracers and plugins. */
static char *path_meant(struct th_control_watch *watch, const struct inotify_event *event)
{
    char *path = NULL;

    th_control_host_lock(watch->host);
    for (size_t i = 0; i < th_trace_sessions(watch->host->tracing) && !path; i++) {
        const struct th_session *session = th_trace_session(watch->host->tracing, i);
        path = place_meant(watch, path_of(session), event);
    }
    th_control_host_unlock(watch->host);
    for (size_t i = 0; i < watch->module_count && !path; i++)
        path = place_meant(watch, watch->modules[i].path, event);
    return path;
}

static void watch_take(struct th_control_watch *watch, const struct inotify_event *event)
{
    char *path = event->len > 0 ? path_meant(watch, event) : NULL;

    if (path) {
        struct stat file;
        bool there = lstat(path, &file) == 0, is_link = there && S_ISLNK(file.st_mode);
        /* A new name of an existing file: no close after writing will follow. */
        bool named = event->mask & IN_CREATE && there && file.st_nlink > 1;
        struct th_control_watch_file *known = find_finished(watch, event->wd, event->name);

        watch->incomplete |= is_link || event->mask & gone;
        if (is_link ? !is_being_written(path) : event->mask & finished || named) {
            note_finished(watch, event->wd, event->name);
        } else if (known) {
            th_free(known->name);
            *known = watch->finished[--watch->finished_count];
        }
    } else if (event->len == 0) { /* a folder is gone, or events are lost */
        watch->incomplete = true;
    }
    if (event->mask & IN_Q_OVERFLOW)
        watch->all = watch->incomplete = true;
    th_free(path);
}

static void *watch_run(void *context)
{
    struct th_control_watch *watch = context;
    struct pollfd polled[] = {{watch->news, POLLIN, 0}, {watch->wake, POLLIN, 0}};
    _Alignas(struct inotify_event) char bytes[4096];
    uint64_t times;
    ssize_t got;

    th_crash_thread_begin();
    for (;;) {
        int64_t left = watch->due - th_clock_real_monotonic();
        int64_t wait = watch->incomplete ? retry : INT64_MAX;
        if (watch->due != INT64_MAX && left < wait)
            wait = left > 0 ? left : 0;
        poll(polled, 2, wait == INT64_MAX ? -1 : (int)((wait + MILLISECOND - 1) / MILLISECOND));
        if (polled[1].revents && read(watch->wake, &times, sizeof times) > 0)
            watch->all = watch->incomplete = true;
        if (atomic_load_explicit(&watch->over, memory_order_relaxed))
            break;
        while ((got = read(watch->news, bytes, sizeof bytes)) > 0)
            for (char *at = bytes; at < bytes + got;) {
                const struct inotify_event *event = (const struct inotify_event *)at;
                watch_take(watch, event);
                at += sizeof *event + event->len;
            }
        if (watch->incomplete)
            watch_folders(watch);
        if (th_clock_real_monotonic() < watch->due)
            continue;
        watch->due = INT64_MAX;
        th_control_host_lock(watch->host);
        for (size_t i = 0; i < th_trace_sessions(watch->host->tracing); i++)
            watch_renew(watch, th_trace_session(watch->host->tracing, i));
        th_control_host_unlock(watch->host);
        if (th_control_watch_modules_renew(watch))
            watch->due = watch->latest = th_clock_real_monotonic() + retry;
        forget_finished(watch);
    }
    th_crash_thread_end();
    return NULL;
}

static void watch_release(struct th_control_watch *watch)
{
    if (watch->news >= 0)
        close(watch->news);
    if (watch->wake >= 0)
        close(watch->wake);
    th_free(watch->refusals);
    forget_finished(watch);
    th_free(watch->finished);
    th_control_watch_modules_free(watch);
}

enum th_status th_control_watch_begin(struct th_control_watch *watch)
{
    int error = 0;

    atomic_init(&watch->over, false);
    watch->due = INT64_MAX;
    watch->news = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->wake = eventfd(1, EFD_CLOEXEC); /* 1: the thread looks at once */
    if (watch->news < 0 || watch->wake < 0)
        error = errno;
    if (!error)
        error = th_thread_start(&watch->thread, NULL, watch_run, watch);
    watch->begun = !error;
    if (!error)
        return TH_OK;
    watch_release(watch);
    return th_error_raise(TH_FAILED, "cannot watch the tracers' files: %s", strerror(error));
}

void th_control_watch_look(const struct th_control_watch *watch)
{
    uint64_t one = 1;

    while (watch->begun && write(watch->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void th_control_watch_end(struct th_control_watch *watch)
{
    if (!watch->begun)
        return;
    atomic_store_explicit(&watch->over, true, memory_order_relaxed);
    th_control_watch_look(watch);
    pthread_join(watch->thread, NULL);
    watch_release(watch);
    watch->begun = false;
}
