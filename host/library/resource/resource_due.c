/* What is to be done at a safe point: destructors, `down` callbacks. */
#include "resource_object.h"

#include "host/self/self.h"

/*
 * A stack that is only ever taken as a whole. Push: release, so that the taker sees the thing as it
 * was left. Take: acquire, for the same.
 */
struct th_resource_due *_Atomic th_resource_due;

void (*_Atomic th_resource_on_dying)(void);

void th_resource_push_due(struct th_resource_due *due)
{
    void (*wake)(void);

    due->next = atomic_load_explicit(&th_resource_due, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&th_resource_due, &due->next, due,
                                                  memory_order_release, memory_order_relaxed))
        ;
    wake = atomic_load_explicit(&th_resource_on_dying, memory_order_acquire);
    if (wake)
        wake();
}

/* All that is due, the first to come first. */
static struct th_resource_due *take_due(void)
{
    struct th_resource_due *stack =
        atomic_exchange_explicit(&th_resource_due, NULL, memory_order_acquire);
    struct th_resource_due *list = NULL;

    while (stack) {
        struct th_resource_due *next = stack->next;
        stack->next = list;
        list = stack;
        stack = next;
    }
    return list;
}

/* What the callbacks of trace/ are about is set aside: a destructor may cause events of its own. */
void th_resource_reap_all(void)
{
    struct th_callback_subject *outer = th_self.subject;
    struct th_resource_due *list;

    th_self.subject = NULL;
    while ((list = take_due())) {
        while (list) {
            struct th_resource_due *next = list->next;
            list->run(list);
            list = next;
        }
    }
    th_self.subject = outer;
}

void th_resource_reap_unwoken(void)
{
    if (!atomic_load_explicit(&th_resource_on_dying, memory_order_acquire))
        th_resource_reap();
}
