/* Read-write locks. */
#include "nif.h"

#include "lock.h"

#include "host/runtime/runtime.h"

#include <errno.h>

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
