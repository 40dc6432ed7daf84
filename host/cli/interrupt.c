#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

volatile int th_interrupted;

static void on_signal(int number)
{
    th_interrupted = number;
}

void th_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    /* No SA_RESTART: a read from a pipe that nobody writes to must end, too. */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int th_interrupt_status(int status)
{
    return th_interrupted ? 128 + th_interrupted : status;
}
