/* Mutexes, and names. */
#include "nif.h"

#include "lock.h"

void *th_named_create(size_t size, const char *name)
{
    char *thing;

    if (!name)
        name = "unknown";
    thing = malloc(size + strlen(name) + 1);
    if (thing)
        strcpy(thing + size, name);
    return thing;
}

ErlNifMutex *enif_mutex_create(char *name)
{
    ErlNifMutex *mtx = th_named_create(sizeof *mtx, name);

    if (mtx && pthread_mutex_init(&mtx->lock, NULL) != 0) {
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
