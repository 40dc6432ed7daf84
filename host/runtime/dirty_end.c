/*
 * Processes whose functions run on dirty threads, and which signals end meanwhile.
 *
 * On a normal scheduler a signal waits until a function has returned. On a dirty thread a function
 * may run for ever, so that a normal scheduler ends the process while the function runs, as in a
 * BEAM. The memory that the function uses stays until the function has returned.
 *
 *   1. A dirty thread releases the process before it calls a function, and takes the process back
 *      when the function has returned. The runtime also takes the process back during each request
 *      of the function that concerns it. Putting the process into the queue of the dirty threads
 *      releases it, too.
 *   2. While the process is released, a signal that ends it makes a normal scheduler end it: the
 *      sender of the signal puts the process into a run queue; if the signal came before, the
 *      releasing thread does.
 *   3. From then on the dirty thread cannot take the process back. Requests of the function fail or
 *      do nothing.
 *   4. The scheduler ends the process for others. The later one of scheduler and dirty thread frees
 *      the rest: the scheduler at once, the dirty thread by putting the process into a run queue
 *      again.
 *
 * Steps 1 to 3 are taken under the lock of the process' mailbox, where signals arrive. Once others
 * see the end (step 4), the mailbox may belong to another process.
 *
 * A driven process is never released: the thread that drives it waits for the function.
 */
#include "mailbox.h"
#include "queue.h"

#include "host/process/process.h"

static enum th_dirty state_of(const struct th_process *process)
{
    return atomic_load_explicit(&process->dirty, memory_order_relaxed);
}

void th_runtime_dirty_arrived(struct th_process *process, const struct th_message *signal)
{
    if (state_of(process) == TH_DIRTY_LET_GO &&
        (signal->kind == TH_SIGNAL_EXIT || signal->kind == TH_SIGNAL_EXIT_LINKED) &&
        th_runtime_signal_ends(process, signal)) {
        atomic_store_explicit(&process->dirty, TH_DIRTY_ENDS, memory_order_relaxed);
        th_runtime_run_queue_add(process);
    }
}

static void dirty_end_let_go(void *context)
{
    struct th_process *process = context;

    atomic_store_explicit(&process->dirty, TH_DIRTY_LET_GO, memory_order_relaxed);
    if (!atomic_load_explicit(&process->end_arrived, memory_order_relaxed))
        return;
    for (const struct th_message *m = th_process_first(process->mailbox);
         m && state_of(process) == TH_DIRTY_LET_GO; m = m->next)
        th_runtime_dirty_arrived(process, m);
}

void th_runtime_dirty_let_go_at_last(struct th_process *process)
{
    th_process_with(process->mailbox, dirty_end_let_go, process);
}

static void take_back(void *context)
{
    struct th_process *process = context;

    if (state_of(process) != TH_DIRTY_LET_GO)
        return;
    atomic_store_explicit(&process->dirty, TH_DIRTY_HELD, memory_order_relaxed);
    process->takes = 1;
}

bool th_runtime_dirty_take_back(struct th_process *process)
{
    if (th_runtime_dirty_is_over(process))
        return false;
    th_process_with(process->mailbox, take_back, process);
    return state_of(process) == TH_DIRTY_HELD;
}

/* The scheduler and the dirty thread synchronize here. The later one sees all that the earlier one
 * has done: acquire and release. */

void th_runtime_dirty_over(struct th_process *process)
{
    if (atomic_exchange_explicit(&process->dirty, TH_DIRTY_RETURNED, memory_order_acq_rel) ==
        TH_DIRTY_ENDED)
        th_runtime_run_queue_add(process);
}

bool th_runtime_dirty_goes_on(struct th_process *process)
{
    enum th_dirty ends = TH_DIRTY_ENDS;

    return atomic_compare_exchange_strong_explicit(&process->dirty, &ends, TH_DIRTY_ENDED,
                                                   memory_order_acq_rel, memory_order_acquire);
}
