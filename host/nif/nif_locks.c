/* Locks: mutexes, read-write locks and condition variables. */
#include "nif.h"

#include "host/runtime/runtime.h"

#include <errno.h>

/* --- Read-write locks ------------------------------------------------------------------------- */

struct ErlDrvRWLock_ {
    pthread_rwlock_t lock;
    char name[];
};

/* As in a BEAM, a writer that waits goes before readers that come later: a steady stream of readers
 * does not keep it out. The price, the same there, is that a reader must not lock it again. */
static int init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;
    int error = pthread_rwlockattr_init(&attributes);

    if (error)
        return error;
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    error = pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return error;
}

ErlNifRWLock *enif_rwlock_create(char *name)
{
    ErlNifRWLock *rwlck = th_named_create(sizeof *rwlck, name);

    if (rwlck && init(&rwlck->lock) != 0) {
        free(rwlck);
        return NULL;
    }
    th_check_got(TH_CHECK_LOCK, rwlck, 0, name, "enif_rwlock_create");
    return rwlck;
}

void enif_rwlock_destroy(ErlNifRWLock *rwlck)
{
    if (!rwlck || !th_check_gave(TH_CHECK_LOCK, rwlck, "enif_rwlock_destroy"))
        return;
    pthread_rwlock_destroy(&rwlck->lock);
    free(rwlck);
}

int enif_rwlock_tryrlock(ErlNifRWLock *rwlck)
{
    int busy;

    if (!th_check_has(TH_CHECK_LOCK, rwlck, "enif_rwlock_tryrlock"))
        return EINVAL;
    busy = pthread_rwlock_tryrdlock(&rwlck->lock);
    if (!busy)
        th_check_locked(rwlck, true);
    return busy;
}

void enif_rwlock_rlock(ErlNifRWLock *rwlck)
{
    if (!th_check_locks(rwlck, true, "enif_rwlock_rlock"))
        return;
    pthread_rwlock_rdlock(&rwlck->lock);
    th_check_locked(rwlck, true);
}

void enif_rwlock_runlock(ErlNifRWLock *rwlck)
{
    if (th_check_unlocks(rwlck, true, "enif_rwlock_runlock"))
        pthread_rwlock_unlock(&rwlck->lock);
}

int enif_rwlock_tryrwlock(ErlNifRWLock *rwlck)
{
    int busy;

    if (!th_check_has(TH_CHECK_LOCK, rwlck, "enif_rwlock_tryrwlock"))
        return EINVAL;
    busy = pthread_rwlock_trywrlock(&rwlck->lock);
    if (!busy)
        th_check_locked(rwlck, false);
    return busy;
}

void enif_rwlock_rwlock(ErlNifRWLock *rwlck)
{
    if (!th_check_locks(rwlck, false, "enif_rwlock_rwlock"))
        return;
    pthread_rwlock_wrlock(&rwlck->lock);
    th_check_locked(rwlck, false);
}

void enif_rwlock_rwunlock(ErlNifRWLock *rwlck)
{
    if (th_check_unlocks(rwlck, false, "enif_rwlock_rwunlock"))
        pthread_rwlock_unlock(&rwlck->lock);
}

char *enif_rwlock_name(ErlNifRWLock *rwlck)
{
    return rwlck ? rwlck->name : NULL;
}

/* --- Mutexes, and names ----------------------------------------------------------------------- */

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

/* --- Condition variables ---------------------------------------------------------------------- */

struct ErlDrvCond_ {
    pthread_cond_t condition;
    char name[];
};

ErlNifCond *enif_cond_create(char *name)
{
    ErlNifCond *cnd = th_named_create(sizeof *cnd, name);

    if (cnd && pthread_cond_init(&cnd->condition, NULL) != 0) {
        free(cnd);
        return NULL;
    }
    th_check_got(TH_CHECK_LOCK, cnd, 0, name, "enif_cond_create");
    return cnd;
}

void enif_cond_destroy(ErlNifCond *cnd)
{
    if (!cnd || !th_check_gave(TH_CHECK_LOCK, cnd, "enif_cond_destroy"))
        return;
    pthread_cond_destroy(&cnd->condition);
    free(cnd);
}

void enif_cond_signal(ErlNifCond *cnd)
{
    if (th_check_has(TH_CHECK_LOCK, cnd, "enif_cond_signal"))
        pthread_cond_signal(&cnd->condition);
}

void enif_cond_broadcast(ErlNifCond *cnd)
{
    if (th_check_has(TH_CHECK_LOCK, cnd, "enif_cond_broadcast"))
        pthread_cond_broadcast(&cnd->condition);
}

void enif_cond_wait(ErlNifCond *cnd, ErlNifMutex *mtx)
{
    static const char name[] = "enif_cond_wait";

    if (!th_check_has(TH_CHECK_LOCK, cnd, name) || !th_check_unlocks(mtx, false, name))
        return;
    pthread_cond_wait(&cnd->condition, &mtx->lock);
    th_check_locked(mtx, false);
}

char *enif_cond_name(ErlNifCond *cnd)
{
    return cnd ? cnd->name : NULL;
}
