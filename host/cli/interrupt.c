#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

volatile int th_interrupted;

static void on_signal(int number)
{
    th_interrupted = number;
}

/* What is ignored stays so: a command started in the background must not end with the one in front,
 * nor one under nohup with its terminal. */
static void handle(int number)
{
    struct sigaction action = {
        .sa_handler = on_signal,
        .sa_flags = (int)SA_RESETHAND | SA_RESTART, /* tracers need not know of signals */
    };
    struct sigaction old;

    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void th_interrupt_install(void)
{
    handle(SIGINT);
    handle(SIGTERM);
    handle(SIGHUP);
}

const char *th_interrupt_name(void)
{
    return th_interrupted == SIGINT ? "SIGINT" : th_interrupted == SIGTERM ? "SIGTERM" : "SIGHUP";
}

int th_interrupt_status(int status)
{
    return th_interrupted ? 128 + th_interrupted : status;
}
