#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

volatile int th_interrupted;

static void on_signal(int number)
{
    __atomic_store_n(&th_interrupted, number, __ATOMIC_RELAXED); /* it stands for itself */
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

int th_interrupt_came(void)
{
    return __atomic_load_n(&th_interrupted, __ATOMIC_RELAXED);
}

const char *th_interrupt_name(void)
{
    return th_interrupted == SIGINT ? "SIGINT" : th_interrupted == SIGTERM ? "SIGTERM" : "SIGHUP";
}

int th_interrupt_status(int status)
{
    return th_interrupted ? 128 + th_interrupted : status;
}
