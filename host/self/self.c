#include "self.h"

#include "host/base/memory.h"

#include <errno.h>
#include <pthread.h>

_Thread_local struct th_self th_self;

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
