/*
 * Resources whose terms were written as external bytes, to be found again by the words of their
 * references.
 *
 * Only those are here: resources that nobody writes cost nothing. One that was written stays until
 * its last share is gone, as the bytes may be anywhere.
 */
#include "resource_object.h"

#include "host/base/base.h"

#include <pthread.h>
#include <string.h>

/* Guards the table and `saved` of all resources. Nothing is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table saved; /* struct th_resource * by key_of() its words */

/* The words that count the host's references; the first is the same in all. Never 0. */
static uint64_t key_of(const uint32_t words[])
{
    return words[1] | (uint64_t)words[2] << 32;
}

void th_resource_save(th_term term)
{
    struct th_resource *resource = th_resource_of_term(term);

    if (!resource)
        return;
    pthread_mutex_lock(&lock);
    if (!resource->saved) {
        resource->saved = true;
        th_hash_table_set(&saved, key_of(resource->words), resource);
    }
    pthread_mutex_unlock(&lock);
}

th_term th_resource_find(th_env *env, const uint32_t words[], size_t count)
{
    struct th_resource *resource;

    if (count != TH_RESOURCE_WORDS || key_of(words) == 0)
        return TH_NONE;
    pthread_mutex_lock(&lock);
    resource = th_hash_table_get(&saved, key_of(words));
    if (resource && (memcmp(resource->words, words, sizeof resource->words) != 0 ||
                     !th_resource_revive(resource)))
        resource = NULL;
    pthread_mutex_unlock(&lock);
    return resource ? th_resource_adopt(env, resource) : TH_NONE;
}

/* `saved` was last written by somebody who had a share: what gave that up comes before this. */
void th_resource_forget_saved(struct th_resource *resource)
{
    if (!resource->saved)
        return;
    pthread_mutex_lock(&lock);
    th_hash_table_remove(&saved, key_of(resource->words));
    if (saved.count == 0)
        th_hash_table_free(&saved);
    pthread_mutex_unlock(&lock);
}
