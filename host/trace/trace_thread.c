/* Gives each thread its struct th_trace_thread, and sums the counters of all threads. */
#include "trace_thread.h"

#include "host/base/memory.h"
#include "host/trace/live/live_delivery.h"

/* List of all structs. Written under `lock`, with release, as a struct is complete; read with
 * acquire. The lock also guards `taken`; no other lock is taken under it. */
static struct th_trace_thread *_Atomic threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Threads ---------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void trace_thread_leave(void *context)
{
    struct th_trace_thread *thread = context;

    th_env_release(&thread->env);
    th_env_release(&thread->arena);
    pthread_mutex_lock(&lock);
    thread->taken = false;
    pthread_mutex_unlock(&lock);
    th_self.live_thread = NULL;
    th_self.trace_thread = NULL; /* destructors that run later may cause events, too */
}

static void trace_thread_make_key(void)
{
    if (pthread_key_create(&at_thread_end, trace_thread_leave) != 0)
        th_give_up("no thread-specific key is left");
}

struct th_trace_thread *th_thread_begin(void)
{
    struct th_trace_thread *first, *thread;

    pthread_once(&once, trace_thread_make_key);
    pthread_mutex_lock(&lock);
    first = thread = atomic_load_explicit(&threads, memory_order_relaxed);
    while (thread && thread->taken)
        thread = thread->next;
    if (!thread) {
        thread = th_alloc_zero(sizeof(struct th_live_thread));
        thread->next = first;
        atomic_store_explicit(&threads, thread, memory_order_release);
    }
    thread->taken = true;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(at_thread_end, thread);
    th_env_init(&thread->env, TH_ENV_CALLBACK);
    th_env_init(&thread->arena, TH_ENV_PLAIN);
    th_live_thread_init((struct th_live_thread *)thread);
    th_self.trace_thread = thread;
    th_progress_enter(); /* the first section of a thread sets progress_word */
    th_progress_leave();
    if (th_self.progress_word)
        th_self.live_thread = (struct th_live_thread *)thread;
    return thread;
}

th_term th_trace_thread_tidy(th_env *env, th_term answer)
{
    if (env->exception != TH_NONE)
        answer = TH_NONE;
    th_env_clear(env);
    th_resource_reap(); /* frees resources that the callback has released */
    return answer;
}

/* --- Counts ----------------------------------------------------------------------------------- */

/* Finds a meta tracer's counters by ID, 0: unused ones; NULL: none. */
static struct th_thread_counts *find_meta(const struct th_trace_thread *thread, th_session_id id)
{
    struct th_thread_counts *counts =
        atomic_load_explicit(&thread->meta_counts, memory_order_acquire);

    while (counts && atomic_load_explicit(&counts->id, memory_order_acquire) != id)
        counts = counts->next;
    return counts;
}

/* Finds the counters, which may be those of another session; NULL: none. */
static struct th_thread_counts *trace_thread_counts_of(const struct th_trace_thread *thread,
                                                       const struct th_session *session)
{
    return session->meta
               ? find_meta(thread, session->id)
               : atomic_load_explicit(&thread->counts[session->index], memory_order_acquire);
}

/* Called for a meta tracer's session, or if the thread last counted for another session with this
 * index. */
struct th_thread_counts *th_trace_thread_begin_counts(struct th_trace_thread *thread,
                                                      const struct th_session *session)
{
    struct th_thread_counts *counts = trace_thread_counts_of(thread, session);
    struct th_thread_counts *_Atomic *place =
        session->meta ? &thread->meta_counts : &thread->counts[session->index];

    if (session->meta && counts)
        return counts;
    if (session->meta)
        counts = find_meta(thread, 0);
    if (!counts) {
        counts = th_alloc_zero(sizeof *counts);
        if (session->meta)
            counts->next = atomic_load_explicit(place, memory_order_relaxed);
        atomic_store_explicit(place, counts, memory_order_release);
    }
    atomic_store_explicit(&counts->id, 0, memory_order_relaxed);
    for (size_t i = 0; i < TH_COUNTED_ALL; i++)
        atomic_store_explicit(&counts->words[i], 0, memory_order_relaxed);
    atomic_store_explicit(&counts->id, session->id, memory_order_release);
    return counts;
}

/* A session without an id is known to its creator alone. */
void th_trace_thread_count(struct th_session *session, size_t what)
{
    if (session->id)
        th_trace_thread_count_in(th_trace_thread_own(), session, what);
    else
        session->counts[what]++;
}

void th_trace_thread_sum(const struct th_session *session, uint64_t sums[TH_COUNTED_ALL])
{
    struct th_trace_thread *thread = atomic_load_explicit(&threads, memory_order_acquire);

    for (; thread; thread = thread->next) {
        const struct th_thread_counts *counts = trace_thread_counts_of(thread, session);
        for (size_t i = 0; i < TH_COUNTED_CALLS && session->id && !session->meta; i++)
            sums[i] +=
                atomic_load_explicit(&thread->calls[i][session->index], memory_order_relaxed);
        if (!counts || atomic_load_explicit(&counts->id, memory_order_acquire) != session->id)
            continue;
        for (size_t i = 0; i < TH_COUNTED_ALL; i++)
            sums[i] += atomic_load_explicit(&counts->words[i], memory_order_relaxed);
    }
}

void th_trace_thread_forget(const struct th_session *session)
{
    struct th_trace_thread *thread = atomic_load_explicit(&threads, memory_order_acquire);

    for (; thread; thread = thread->next) {
        struct th_thread_counts *counts = trace_thread_counts_of(thread, session);
        th_session_id id = session->id;
        for (size_t i = 0; i < TH_COUNTED_CALLS && !session->meta; i++)
            atomic_store_explicit(&thread->calls[i][session->index], 0, memory_order_relaxed);
        if (counts) /* Release: its words have been read. */
            atomic_compare_exchange_strong_explicit(&counts->id, &id, 0, memory_order_release,
                                                    memory_order_relaxed);
    }
}

struct th_live_counts th_trace_thread_sum_live(void)
{
    struct th_trace_thread *thread = atomic_load_explicit(&threads, memory_order_acquire);
    struct th_live_counts sum = {0};

    for (; thread; thread = thread->next) {
        sum.suppressed += atomic_load_explicit(&thread->suppressed, memory_order_relaxed);
        sum.strangers += atomic_load_explicit(&thread->strangers, memory_order_relaxed);
    }
    return sum;
}
