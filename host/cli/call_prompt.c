/*
 * A line is taken when it is whole; a form may go on over many, until its full stop. What a
 * terminal itself does for editing a line is all there is.
 */
#include "call_prompt.h"

#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4096 };

struct prompt {
    struct th_buffer read;  /* that was not taken yet */
    struct th_buffer typed; /* lines of the forms that are being typed */
    unsigned number;
};

/* Waits for something to read; false if a signal came. Signals are only let in while it waits, so
 * that none comes between looking and waiting. */
static bool wait_for_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t ours, old;
    int ready = -1;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &old);
    while (!th_interrupt_came() && (ready = ppoll(&input, 1, NULL, &old)) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ready > 0;
}

/* Moves one line, with its end, to `typed`; false at the end of the input. */
static bool read_line(struct prompt *p)
{
    for (;;) {
        unsigned char *end = p->read.size ? memchr(p->read.data, '\n', p->read.size) : NULL;
        ssize_t got;
        if (end) {
            size_t size = (size_t)(end - p->read.data) + 1;
            th_buffer_add(&p->typed, p->read.data, size);
            p->read.size -= size;
            memmove(p->read.data, p->read.data + size, p->read.size);
            return true;
        }
        if (!wait_for_input())
            return false;
        got = read(STDIN_FILENO, th_buffer_reserve(&p->read, CHUNK), CHUNK);
        if (got <= 0)
            return false;
        p->read.size += (size_t)got;
    }
}

/* False once nothing more is to be evaluated. */
static bool evaluate_typed(struct prompt *p, struct th_call_session *session)
{
    struct th_program program;
    bool goes_on = true;

    if (th_program_parse(&program, (char *)p->typed.data, p->typed.size, false) == TH_OK) {
        goes_on = th_call_session_evaluate(session, &program, true, NULL);
    } else {
        fprintf(stderr, "* %s\n", th_error_link(0));
        th_error_clear();
    }
    p->number++;
    p->typed.size = 0;
    th_program_free(&program);
    return goes_on;
}

void th_call_prompt(struct th_call_session *session)
{
    struct prompt p = {.number = 1};
    bool goes_on = true;

    while (goes_on) {
        fflush(stdout);
        fprintf(stderr, "%u> ", p.number);
        if (!read_line(&p)) {
            fputc('\n', stderr);
            break;
        }
        switch (th_program_typed((char *)p.typed.data, p.typed.size)) {
        case TH_TYPED_NOTHING:
            p.typed.size = 0;
            break;
        case TH_TYPED_FORMS:
            goes_on = evaluate_typed(&p, session);
            break;
        case TH_TYPED_PART:
            break;
        }
    }
    th_buffer_free(&p.read);
    th_buffer_free(&p.typed);
}
