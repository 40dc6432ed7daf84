/* What the locks of libraries and their threads share. Inner header of nif/. */
#ifndef TH_NIF_LOCK_H
#define TH_NIF_LOCK_H

#include <pthread.h>
#include <stddef.h>

/* A lock's name lies behind it, in the same memory. */
struct ErlDrvMutex_ {
    pthread_mutex_t lock;
    char name[];
};

/* Memory for a thing of SIZE bytes and, behind it, a copy of NAME; NULL if
 * there is none. What has no name is called "unknown", as in a BEAM. */
void *th_named_create(size_t size, const char *name);

#endif
