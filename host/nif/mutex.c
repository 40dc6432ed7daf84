/* Mutexes. */
#include "nif.h"

#include "host/base/base.h"

#include <pthread.h>

struct ErlDrvMutex_ {
    pthread_mutex_t lock;
    char *name;
};

ErlNifMutex *enif_mutex_create(char *name)
{
    ErlNifMutex *mtx = malloc(sizeof *mtx);

    if (!mtx)
        return NULL;
    mtx->name = name ? strdup(name) : NULL;
    if ((name && !mtx->name) || pthread_mutex_init(&mtx->lock, NULL) != 0) {
        free(mtx->name);
        free(mtx);
        return NULL;
    }
    return mtx;
}

void enif_mutex_destroy(ErlNifMutex *mtx)
{
    if (!mtx)
        return;
    pthread_mutex_destroy(&mtx->lock);
    free(mtx->name);
    free(mtx);
}

int enif_mutex_trylock(ErlNifMutex *mtx)
{
    return pthread_mutex_trylock(&mtx->lock);
}

void enif_mutex_lock(ErlNifMutex *mtx)
{
    pthread_mutex_lock(&mtx->lock);
}

void enif_mutex_unlock(ErlNifMutex *mtx)
{
    pthread_mutex_unlock(&mtx->lock);
}

char *enif_mutex_name(ErlNifMutex *mtx)
{
    return mtx ? mtx->name : NULL;
}
