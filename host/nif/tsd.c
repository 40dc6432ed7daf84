/*
 * Thread-specific data: the C library's, so that it works in every thread, whoever made it. Keys
 * begin at 1, as libraries are known to take 0 for "not made yet". A value is gone once its key was
 * destroyed or its thread has ended; nobody is told.
 */
#include "nif.h"

#include <pthread.h>

int enif_tsd_key_create(char *name, ErlNifTSDKey *key)
{
    pthread_key_t made;
    int error = pthread_key_create(&made, NULL);

    (void)name;
    if (!error)
        *key = (ErlNifTSDKey)made + 1;
    return error;
}

void enif_tsd_key_destroy(ErlNifTSDKey key)
{
    pthread_key_delete((pthread_key_t)(key - 1));
}

void enif_tsd_set(ErlNifTSDKey key, void *data)
{
    pthread_setspecific((pthread_key_t)(key - 1), data);
}

void *enif_tsd_get(ErlNifTSDKey key)
{
    return pthread_getspecific((pthread_key_t)(key - 1));
}
