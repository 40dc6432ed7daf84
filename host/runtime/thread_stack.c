#include "thread_stack.h"

#include "host/base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

_Thread_local struct th_thread_stack th_runtime_thread_stack_own;

void th_thread_stack_find(void)
{
    struct th_thread_stack *own = &th_runtime_thread_stack_own;
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0, guard = 0;
    int error = pthread_getattr_np(pthread_self(), &attributes);

    if (error) {
        errno = error;
        th_give_up_if_lacking("cannot find a thread's stack");
    } else {
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_getguardsize(&attributes, &guard);
        pthread_attr_destroy(&attributes);
        own->lowest = (uintptr_t)stack + guard + TH_STACK_RESERVE;
        own->end = (uintptr_t)stack + size;
    }
    own->known = true;
}
