#include "tcp.h"

#include "host/term/term.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* A question to the resolver, which may take long and cannot be taken back: who asks and the thread
 * that answers have a share each, and the last one frees it. */
struct question {
    struct th_tcp_address address;
    struct addrinfo hints;
    struct addrinfo *found;  /* the answer, good once `answered` is set ... */
    int error, system_error; /* the latter is errno */
    atomic_bool answered;    /* ... with release, and read with acquire */
    atomic_int shares; /* acquire and release: what the other did is done before it is freed */
    int bell;          /* an eventfd: poll() on it ends with the answer */
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
    /* That needs nobody who knows it: RFC 6761, 6.3. A minimal system has no /etc/hosts. */
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

/* In a thread, which gets no signals; if there is none to be had, here. */
static void begin_answer(struct question *question)
{
    pthread_attr_t detached;
    pthread_t thread;
    int error;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    error = th_thread_start(&thread, &detached, answer_question, question);
    pthread_attr_destroy(&detached);
    if (error)
        answer_question(question);
}

/* False if none came. */
static bool await_answer(struct question *question, const volatile int *stop, int64_t deadline)
{
    struct pollfd wait = {.fd = question->bell, .events = POLLIN};

    while (!atomic_load_explicit(&question->answered, memory_order_acquire)) {
        if (th_replay_tcp_stopped(stop) || th_clock_real_monotonic() >= deadline)
            return false;
        poll(&wait, 1, th_replay_tcp_patience(deadline));
    }
    return true;
}

/* Names are looked up by another thread, as that waits for servers, deaf to *STOP. EAI_INPROGRESS:
 * it takes too long. */
static int ask_resolver(const struct th_tcp_address *address, const struct addrinfo *hints,
                        const volatile int *stop, int64_t deadline, struct addrinfo **found)
{
    struct question *question = th_alloc_zero(sizeof *question);
    int error = EAI_INPROGRESS;

    question->address.host = th_strdup(address->host);
    question->address.port = th_strdup(address->port);
    question->hints = *hints;
    question->bell = eventfd(0, EFD_CLOEXEC);
    atomic_init(&question->answered, false);
    atomic_init(&question->shares, 2);
    begin_answer(question);
    if (await_answer(question, stop, deadline)) {
        error = question->error;
        errno = question->system_error;
        *found = question->found;
        question->found = NULL;
    }
    release_question(question);
    return error;
}

enum th_status th_replay_lookup(const struct th_tcp_address *address, const volatile int *stop,
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
    if (error == EAI_INPROGRESS && th_replay_tcp_stopped(stop))
        return TH_END;
    return th_error_raise(TH_MALFORMED, "the address of %s is not known: %s", address->host,
                          error == EAI_INPROGRESS ? "it could not be looked up in time"
                          : error == EAI_SYSTEM   ? strerror(errno)
                                                  : gai_strerror(error));
}
