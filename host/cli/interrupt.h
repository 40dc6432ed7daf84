/* SIGINT, SIGTERM and SIGHUP: the first signal requests an orderly end, the second ends the program
 * at once. */
#ifndef TH_INTERRUPT_H
#define TH_INTERRUPT_H

#include <signal.h>
#include <stdint.h>

/* The signal that came; 0: none; TH_INTERRUPT_STOP: th_cli_interrupt_stop() was called.
 * Thread: other threads than the main one use th_cli_interrupt_came(). */
enum { TH_INTERRUPT_STOP = -1 };
extern volatile int th_cli_interrupted;

/* Returns the same value. Thread: any. */
int th_cli_interrupt_came(void);

/* Installs the handlers of the three signals. A wait of the calling thread for the reader of a FIFO
 * ends at a signal, too (th_output_stop). */
void th_cli_interrupt_install(void);

/* Blocks the three signals in the calling thread. BEFORE gets the previous mask; may be NULL. */
enum { TH_INTERRUPT_SIGNALS = 3 };
extern const int th_cli_interrupt_signals[TH_INTERRUPT_SIGNALS];
void th_cli_interrupt_hold(sigset_t *before);

/* Installs HANDLER for signal NUMBER unless the signal is ignored. An ignored signal stays ignored:
 * a background command must not end with the foreground command, nor a command under nohup with its
 * terminal. OLD gets the previous action. */
void th_cli_interrupt_handle(int number,
                             void (*handler)(int number, siginfo_t *info, void *context),
                             struct sigaction *old);

/* Stops the program as Ctrl-Z does, until SIGCONT. If the shell has no job control, the program
 * continues at once. */
void th_cli_interrupt_stop_program(void);

/* Restores the default actions: the next signal ends the program at once. Thread: any. */
void th_cli_interrupt_uninstall(void);

/* Waits until DEADLINE (nanoseconds of th_clock_real_monotonic(); INT64_MAX: no deadline), a
 * signal, or th_cli_interrupt_wake(). May return early.
 * Thread: one at a time. */
void th_cli_interrupt_wait(int64_t deadline);

/* Wakes the thread in th_cli_interrupt_wait(). That thread sees all writes before this call.
 * Thread: any. */
void th_cli_interrupt_wake(void);

/* Registers FUNCTION, to be called at each signal and each th_cli_interrupt_wake(); NULL: none.
 * FUNCTION must be async-signal-safe.
 * Thread: any. */
void th_cli_interrupt_report(void (*function)(void));

/* Requests an orderly end, as a signal does. A signal that came before stays recorded.
 * Thread: any. */
void th_cli_interrupt_stop(void);

/* Returns the name of the signal that came, or "a request to stop". */
const char *th_cli_interrupt_name(void);

/* If a signal has come, starts a thread that waits one second and then reports on stderr that
 * tracers still write, and that another signal ends the program.
 * Owner: COMMAND must stay valid until the program ends.
 * Order: before tracers are unloaded. */
void th_cli_interrupt_explain(const char *command);

/* Returns 128 + the signal that came, else STATUS. A request to stop does not change STATUS. */
int th_cli_interrupt_status(int status);

#endif
