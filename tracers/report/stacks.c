/* Time by stack, like the tracer `flame`. */
#include "report.h"

void stack_pass_time(struct process *process, int64_t now)
{
    const struct frame *top = stack_top(&process->stack);
    struct report *report = process->report;
    int64_t last = process->passed;

    process->passed = now;
    if (!top || process->out || now <= last)
        return;
    report->stacks.nodes[top->mark].own += (uint64_t)(now - last);
    process->own += (uint64_t)(now - last);
    if (!report->scheduling && !bins_busy(&process->bins, &report->shift, last, now))
        report->lost++;
}

static void entered(void *of, struct frame *frame)
{
    struct process *process = of;

    tree_enter(&process->report->stacks, process->root, &process->stack, frame);
}

/* Begins the stack of a process. False if there is no memory. */
static bool begin(struct process *process)
{
    struct report *report = process->report;

    if (!process->root)
        process->root = tree_child(&report->stacks, 0, &(struct mfa){process->tracee.term, 0, 0});
    process->stack.repairs = &report->repairs;
    process->stack.entered = entered;
    process->stack.of = process;
    return process->root != 0;
}

void process_call(const struct event *event)
{
    struct process *process = event->process;
    struct report *report = event->report;
    struct mfa mfa;

    if (!process || !mfa_read(event->env, event->term, &mfa))
        return;
    if (!begin(process)) {
        report->lost++;
        return;
    }
    if (process->out) {
        report->unscheduled++;
        process->passed = report->clock.now;
        process->out = false;
    }
    stack_pass_time(process, report->clock.now);
    stack_event(event->env, &process->stack, event->tag, &mfa, event->opts);
    report->told |= process->stack.told;
}

void stack_end(struct process *process)
{
    stack_free(&process->stack);
    process->stack = (struct stack){0};
    process->out = false;
}
