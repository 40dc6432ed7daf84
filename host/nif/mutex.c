/* Mutexes, and names. */
#include "nif.h"

#include "lock.h"

#include "host/runtime/runtime.h"

#include <errno.h>

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
    th_check_got(TH_CHECK_LOCK, mtx, 0, name, "enif_mutex_create");
    return mtx;
}

void enif_mutex_destroy(ErlNifMutex *mtx)
{
    if (!mtx || !th_check_gave(TH_CHECK_LOCK, mtx, "enif_mutex_destroy"))
        return;
    pthread_mutex_destroy(&mtx->lock);
    free(mtx);
}

int enif_mutex_trylock(ErlNifMutex *mtx)
{
    int busy;

    if (!th_check_has(TH_CHECK_LOCK, mtx, "enif_mutex_trylock"))
        return EINVAL;
    busy = pthread_mutex_trylock(&mtx->lock);
    if (!busy)
        th_check_locked(mtx, false);
    return busy;
}

void enif_mutex_lock(ErlNifMutex *mtx)
{
    if (!th_check_locks(mtx, false, "enif_mutex_lock"))
        return;
    pthread_mutex_lock(&mtx->lock);
    th_check_locked(mtx, false);
}

void enif_mutex_unlock(ErlNifMutex *mtx)
{
    if (th_check_unlocks(mtx, false, "enif_mutex_unlock"))
        pthread_mutex_unlock(&mtx->lock);
}

char *enif_mutex_name(ErlNifMutex *mtx)
{
    return mtx ? mtx->name : NULL;
}
