/* Locks: mutexes, read-write locks and condition variables. */
#include "nif.h"

#include "host/check/check.h"
#include "plugin_api/erl_nif.h"

#include <errno.h>

/* Registers MADE, whose initialisation returned ERROR, and returns it; NULL on failure. */
static void *lock_created(void *made, int error, const char *name, const char *function)
{
    if (error) {
        free(made);
        return NULL;
    }
    th_check_got(TH_CHECK_LOCK, made, 0, name, function);
    return made;
}

/* Records that the thread holds LOCK, unless BUSY, an errno. Returns BUSY. */
static int lock_tried(const void *lock, bool shared, int busy)
{
    if (!busy)
        th_check_locked(lock, shared);
    return busy;
}

/* --- Read-write locks ------------------------------------------------------------------------- */

struct ErlDrvRWLock_ {
    pthread_rwlock_t lock;
    char name[];
};

/* As in a BEAM, a waiting writer precedes later readers, so that a steady stream of readers does
 * not exclude it. Therefore, as there, a reader must not lock the same lock again. */
static int init_rwlock(pthread_rwlock_t *lock)
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
    ErlNifRWLock *rwlck = th_nif_named_create(sizeof *rwlck, name);

    return lock_created(rwlck, rwlck ? init_rwlock(&rwlck->lock) : 0, name, "enif_rwlock_create");
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
    if (!th_check_has(TH_CHECK_LOCK, rwlck, "enif_rwlock_tryrlock"))
        return EINVAL;
    return lock_tried(rwlck, true, pthread_rwlock_tryrdlock(&rwlck->lock));
}

/* Calls without the jump of the PLT, a twelfth of the time of a lock that is free. Not of clang. */
#if __has_attribute(noplt)
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) __attribute__((noplt));
int pthread_rwlock_unlock(pthread_rwlock_t *lock) __attribute__((noplt));
#endif

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) void check_and_lock_shared(ErlNifRWLock *rwlck)
{
    if (!th_check_locks(rwlck, true, "enif_rwlock_rlock"))
        return;
    pthread_rwlock_rdlock(&rwlck->lock);
    th_check_locked(rwlck, true);
}

void enif_rwlock_rlock(ErlNifRWLock *rwlck)
{
    if (th_check_on())
        check_and_lock_shared(rwlck);
    else
        pthread_rwlock_rdlock(&rwlck->lock);
}

static __attribute__((cold, noinline)) void check_and_unlock_shared(ErlNifRWLock *rwlck)
{
    if (th_check_unlocks(rwlck, true, "enif_rwlock_runlock"))
        pthread_rwlock_unlock(&rwlck->lock);
}

void enif_rwlock_runlock(ErlNifRWLock *rwlck)
{
    if (th_check_on())
        check_and_unlock_shared(rwlck);
    else
        pthread_rwlock_unlock(&rwlck->lock);
}

int enif_rwlock_tryrwlock(ErlNifRWLock *rwlck)
{
    if (!th_check_has(TH_CHECK_LOCK, rwlck, "enif_rwlock_tryrwlock"))
        return EINVAL;
    return lock_tried(rwlck, false, pthread_rwlock_trywrlock(&rwlck->lock));
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

void *th_nif_named_create(size_t size, const char *name)
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
    ErlNifMutex *mtx = th_nif_named_create(sizeof *mtx, name);

    return lock_created(mtx, mtx ? pthread_mutex_init(&mtx->lock, NULL) : 0, name,
                        "enif_mutex_create");
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
    if (!th_check_has(TH_CHECK_LOCK, mtx, "enif_mutex_trylock"))
        return EINVAL;
    return lock_tried(mtx, false, pthread_mutex_trylock(&mtx->lock));
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
    ErlNifCond *cnd = th_nif_named_create(sizeof *cnd, name);

    return lock_created(cnd, cnd ? pthread_cond_init(&cnd->condition, NULL) : 0, name,
                        "enif_cond_create");
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
