#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/thread.h"
#include "host/term/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char scheme[] = "tcp://";

enum {
    LOOK_UP_MS = 500,
    MS = 1000000, /* nanoseconds */
    HIGHEST_PORT = 65535,
    KEEP_IDLE = 60,     /* seconds of silence before the first keep-alive probe, ... */
    KEEP_INTERVAL = 15, /* ... between further probes, ... */
    KEEP_COUNT = 4      /* ... and probes without an answer before the connection is lost */
};

bool th_replay_tcp_is_address(const char *name)
{
    return strncasecmp(name, scheme, strlen(scheme)) == 0;
}

void th_replay_tcp_free(struct th_tcp_address *address)
{
    th_free(address->host);
    th_free(address->port);
    *address = (struct th_tcp_address){0};
}

enum th_status th_replay_tcp_parse(const char *name, struct th_tcp_address *address)
{
    const char *host = name + strlen(scheme);
    bool bracket = *host == '[';
    const char *end = bracket ? strchr(host, ']') : strchr(host, ':');
    const char *port = end ? end + bracket : NULL;
    size_t digits;

    *address = (struct th_tcp_address){0};
    host += bracket;
    if (!port || *port != ':' || end == host)
        return th_error_raise(
            TH_MALFORMED, "an address must be tcp://HOST:PORT, or tcp://[ADDRESS]:PORT for IPv6");
    digits = strspn(++port, "0123456789");
    if (digits == 0 || digits > 5 || port[digits] || atoi(port) == 0 || atoi(port) > HIGHEST_PORT)
        return th_error_raise(TH_MALFORMED, "the port must be a number from 1 to %d, not '%s'",
                              HIGHEST_PORT, port);
    address->host = th_printf("%.*s", (int)(end - host), host);
    address->port = th_strdup(port);
    return TH_OK;
}

/* Returns true if *STOP (STOP may be NULL) is set. Relaxed, as no other data depends on the
 * flag. */
static bool is_stopped(const volatile int *stop)
{
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Returns the milliseconds to wait before *STOP is read again: to DEADLINE, rounded up, or half a
 * second. */
static int patience(int64_t deadline)
{
    int64_t left = (deadline - th_clock_real_monotonic() + MS - 1) / MS;

    return left < 0 ? 0 : left < LOOK_UP_MS ? (int)left : LOOK_UP_MS;
}

bool th_replay_tcp_pause(const volatile int *stop, int64_t deadline)
{
    if (!is_stopped(stop))
        poll(NULL, 0, patience(deadline));
    return !is_stopped(stop);
}

/* --- Looking up ------------------------------------------------------------------------------- */

/* A query to the resolver, which may take long and cannot be cancelled. The caller and the thread
 * that answers hold a reference each; the last one frees the query. */
struct question {
    struct th_tcp_address address;
    struct addrinfo hints;
    struct addrinfo *found;  /* the answer; valid once `answered` is set */
    int error, system_error; /* system_error: errno */
    atomic_bool answered;    /* set with release, read with acquire */
    atomic_int shares;       /* acquire and release: all accesses come before the free */
    int bell;                /* an eventfd that ends poll() when the answer is there */
};

static void release_question(struct question *question)
{
    if (atomic_fetch_sub_explicit(&question->shares, 1, memory_order_acq_rel) > 1)
        return;
    if (question->found)
        freeaddrinfo(question->found);
    if (question->bell >= 0)
        close(question->bell);
    th_replay_tcp_free(&question->address);
    th_free(question);
}

static void *answer_question(void *context)
{
    static const uint64_t once = 1;
    struct question *question = context;

    question->error = getaddrinfo(question->address.host, question->address.port, &question->hints,
                                  &question->found);
    /* localhost must always resolve (RFC 6761, 6.3); a minimal system has no /etc/hosts. */
    if (question->error && strcasecmp(question->address.host, "localhost") == 0)
        question->error =
            getaddrinfo(NULL, question->address.port, &question->hints, &question->found);
    question->system_error = errno;
    if (question->error)
        question->found = NULL;
    atomic_store_explicit(&question->answered, true, memory_order_release);
    while (write(question->bell, &once, sizeof once) < 0 && errno == EINTR)
        continue;
    release_question(question);
    return NULL;
}

/* Looks up a name in another thread: getaddrinfo() waits for servers and ignores *STOP. Returns
 * EAI_INPROGRESS if it takes too long. */
static int ask_resolver(const struct th_tcp_address *address, const struct addrinfo *hints,
                        const volatile int *stop, int64_t deadline, struct addrinfo **found)
{
    struct question *question = th_alloc_zero(sizeof *question);
    struct pollfd wait = {.events = POLLIN};
    int error = EAI_INPROGRESS;
    bool answered;
    pthread_t thread;

    question->address.host = th_strdup(address->host);
    question->address.port = th_strdup(address->port);
    question->hints = *hints;
    question->bell = eventfd(0, EFD_CLOEXEC);
    atomic_init(&question->answered, false);
    atomic_init(&question->shares, 2);

    /* The thread gets no signals. If no thread can be started, this one answers. */
    if (th_thread_start(&thread, NULL, answer_question, question) == 0)
        pthread_detach(thread);
    else
        answer_question(question);

    wait.fd = question->bell;
    while (!(answered = atomic_load_explicit(&question->answered, memory_order_acquire)) &&
           !is_stopped(stop) && th_clock_real_monotonic() < deadline)
        poll(&wait, 1, patience(deadline));
    if (answered) {
        error = question->error;
        errno = question->system_error;
        *found = question->found;
        question->found = NULL;
    }
    release_question(question);
    return error;
}

/*
 * Looks up the addresses of a host; *STOP and DEADLINE (th_clock_real_monotonic()) end the wait.
 * Owner: the caller frees *FOUND with freeaddrinfo(). A late answer is freed by the thread that
 * gets it.
 * Errors: TH_MALFORMED with the cause; TH_END, without a cause, when *STOP becomes other than 0.
 */
static enum th_status tcp_look_up(const struct th_tcp_address *address, const volatile int *stop,
                                  int64_t deadline, struct addrinfo **found)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    int error = getaddrinfo(address->host, address->port, &hints, found);

    if (error == EAI_NONAME) {
        hints.ai_flags = AI_NUMERICSERV;
        error = ask_resolver(address, &hints, stop, deadline, found);
    }
    if (!error)
        return TH_OK;
    if (error == EAI_INPROGRESS && is_stopped(stop))
        return TH_END;
    return th_error_raise(TH_MALFORMED, "cannot look up the address of %s: %s", address->host,
                          error == EAI_INPROGRESS ? "no answer in time"
                          : error == EAI_SYSTEM   ? strerror(errno)
                                                  : gai_strerror(error));
}

/* --- Connecting ------------------------------------------------------------------------------- */

/* Waits for a connection in progress. Returns 0 or an errno; EINPROGRESS if *STOP is set. */
static int await_connection(int fd, const volatile int *stop, int64_t deadline)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    socklen_t size = sizeof(int);
    int error = 0, unread = 0;

    while (poll(&wait, 1, patience(deadline)) <= 0) {
        if (is_stopped(stop))
            return EINPROGRESS;
        if (th_clock_real_monotonic() >= deadline)
            return ETIMEDOUT;
    }
    if (ioctl(fd, FIONREAD, &unread) == 0 && unread > 0)
        return 0; /* data has arrived: a later error is reported after it is read */
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

/* Returns true if the connection leads to itself. If no process listens on a local port, the kernel
 * may have chosen that very port for this end; then TCP connects the socket to itself. */
static bool is_own_end(int fd)
{
    struct sockaddr_storage ours = {0}, theirs = {0};
    socklen_t our_size = sizeof ours, their_size = sizeof theirs;

    return getsockname(fd, (struct sockaddr *)&ours, &our_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&theirs, &their_size) == 0 &&
           our_size == their_size && memcmp(&ours, &theirs, our_size) == 0;
}

/* Enables keep-alive: nothing is ever sent on the connection, so only keep-alive probes detect a
 * lost machine. */
static void keep_alive(int fd)
{
    static const int on = 1, idle = KEEP_IDLE, interval = KEEP_INTERVAL, count = KEEP_COUNT;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* Tries one address. Returns 0 or an errno. */
static int try_address(const struct addrinfo *to, const volatile int *stop, int64_t deadline,
                       int *fd)
{
    int error = 0;

    *fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (*fd < 0)
        return errno;
    if (connect(*fd, to->ai_addr, to->ai_addrlen) != 0)
        error =
            errno == EINPROGRESS || errno == EINTR ? await_connection(*fd, stop, deadline) : errno;
    if (!error && is_own_end(*fd))
        error = ECONNREFUSED;
    if (error)
        close(*fd);
    else
        keep_alive(*fd);
    return error;
}

/* Tries all addresses. Each gets its share of the remaining time, so that an address without an
 * answer leaves time for the others. */
static enum th_status try_all(const struct th_tcp_address *address, const struct addrinfo *found,
                              const volatile int *stop, int64_t deadline, int *fd)
{
    struct th_buffer why = {0};
    enum th_status status;
    bool refused = true;
    int error = ETIMEDOUT;
    int left = 0;

    for (const struct addrinfo *to = found; to; to = to->ai_next)
        left++;
    for (const struct addrinfo *to = found; to && error && error != EINPROGRESS; to = to->ai_next) {
        int64_t now = th_clock_real_monotonic();
        error = try_address(to, stop, now + (deadline - now) / left--, fd);
        refused &= error == ECONNREFUSED;
        if (error && error != EINPROGRESS) {
            char host[NI_MAXHOST] = "?";
            getnameinfo(to->ai_addr, to->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
            th_buffer_printf(&why, "%s%s: %s", why.size ? "; " : "", host, strerror(error));
        }
    }
    if (!error || error == EINPROGRESS) {
        status = error ? TH_END : TH_OK;
    } else if (refused) {
        th_error_raise(
            TH_MALFORMED,
            "no node listens there; dbg:tracer(port, dbg:trace_port(ip, %s)) makes a node listen",
            address->port);
        status = th_error_context("cannot connect to %s", th_buffer_text(&why));
    } else {
        status = th_error_raise(TH_MALFORMED, "cannot connect to %s", th_buffer_text(&why));
    }
    th_buffer_free(&why);
    return status;
}

enum th_status th_replay_tcp_connect(const struct th_tcp_address *address, const volatile int *stop,
                                     int milliseconds, int *fd)
{
    int64_t deadline = th_clock_real_monotonic() + (int64_t)milliseconds * MS;
    struct addrinfo *found = NULL;
    enum th_status status = tcp_look_up(address, stop, deadline, &found);

    *fd = -1;
    if (status != TH_OK)
        return status;
    status = try_all(address, found, stop, deadline, fd);
    freeaddrinfo(found);
    if (status != TH_OK)
        *fd = -1;
    return status;
}
