#include "self.h"

#include "self_internal.h"

#include "host/base/memory.h"
#include "host/base/shared.h"

#include <errno.h>
#include <pthread.h>

void th_self_share(void)
{
    if (th_self_is_page)
        th_shared_page_enter(&th_self);
    else
        th_self.copy = th_shared_page_take();
}

void th_self_unshare(void)
{
    if (th_self_is_page)
        th_shared_page_leave(&th_self);
    else
        th_shared_page_give(th_self.copy);
    th_self.copy = NULL;
}

void th_self_copy(void)
{
    *th_self.copy = th_self;
}

void th_self_stack_find(void)
{
    struct th_self_stack *own = &th_self.stack;
    pthread_attr_t attributes;
    void *low = NULL;
    int error = pthread_getattr_np(pthread_self(), &attributes);

    own->known = true;
    if (error) {
        errno = error;
        th_give_up_if_lacking("cannot find a thread's stack");
        return;
    }
    pthread_attr_getstack(&attributes, &low, &own->size);
    pthread_attr_getguardsize(&attributes, &own->guard);
    pthread_attr_destroy(&attributes);
    own->low = (uintptr_t)low;
}
