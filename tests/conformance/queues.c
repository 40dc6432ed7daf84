/* Tests I/O vectors and queues. */
#include "nif_api.h"

#include <string.h>

/* Puts the bytes of vectors, one binary a vector. */
static void put_vectors(ErlNifEnv *env, const SysIOVec *iov, int count)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (int i = count - 1; i >= 0; i--)
        list = enif_make_list_cell(env, bytes(env, iov[i].iov_base, iov[i].iov_len), list);
    put_term(env, list);
}

static void inspect(ErlNifEnv *env, ErlNifEnv *owner, size_t most, ERL_NIF_TERM list)
{
    ErlNifIOVec place, *iovec = owner ? &place : NULL;
    ERL_NIF_TERM tail = number(env, 77);
    int result = enif_inspect_iovec(owner, most, list, &tail, &iovec);

    put_int(result);
    put_term(env, tail);
    if (!result)
        return;
    put_int((long)iovec->size);
    put_vectors(env, iovec->iov, iovec->iovcnt);
    if (!owner)
        enif_free_iovec(iovec);
}

/* Each row has what the caller owns, too: it must be the same. */
static void inspect_all_ways(ErlNifEnv *env, const char *name, ERL_NIF_TERM list)
{
    begin_row("enif_inspect_iovec: %s, all", name);
    inspect(env, env, ~(size_t)0, list);
    end_row();
    begin_row("enif_free_iovec: %s, all", name);
    inspect(env, NULL, ~(size_t)0, list);
    end_row();
    for (size_t most = 1; most < 4; most += 2) {
        begin_row("enif_inspect_iovec: %s, at most %zu", name, most);
        inspect(env, env, most, list);
        inspect(env, NULL, most, list);
        end_row();
    }
}

/* Creates COUNT binaries, short and long, some of them parts of others. */
static ERL_NIF_TERM binary_list(ErlNifEnv *env, int count)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), bin;

    for (int i = 0; i < count; i++) {
        size_t size = i % 3 == 1 ? 200 : (size_t)i % 7;
        memset(enif_make_new_binary(env, size, &bin), 'a' + i % 26, size);
        if (i % 3 == 1)
            bin = enif_make_sub_binary(env, bin, 50, 70);
        list = enif_make_list_cell(env, bin, list);
    }
    return list;
}

ERL_NIF_TERM vectors(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM nil = enif_make_list(env, 0), bin = bytes(env, "some", 4), tail;
    ErlNifIOVec *iovec = NULL;

    (void)argc;
    (void)argv;
    inspect_all_ways(env, "an empty list", nil);
    inspect_all_ways(env, "1 binary", enif_make_list1(env, bin));
    inspect_all_ways(env, "3 binaries", binary_list(env, 3));
    inspect_all_ways(env, "7 binaries", binary_list(env, 7));
    inspect_all_ways(env, "16 binaries", binary_list(env, 16));
    inspect_all_ways(env, "17 binaries", binary_list(env, 17));
    inspect_all_ways(env, "100 binaries", binary_list(env, 100));
    inspect_all_ways(env, "a binary", bin);
    inspect_all_ways(env, "an atom", atom(env, "ok"));
    inspect_all_ways(env, "a byte in the list", enif_make_list2(env, bin, number(env, 'b')));
    inspect_all_ways(env, "a list in the list",
                     enif_make_list2(env, bin, enif_make_list1(env, bin)));
    inspect_all_ways(env, "a binary as a tail", enif_make_list_cell(env, bin, bin));
    inspect_all_ways(env, "an atom as a tail", enif_make_list_cell(env, bin, atom(env, "ok")));
    begin_row("enif_inspect_iovec: 17 binaries into 16 vectors of the environment, then the rest");
    put_int(enif_inspect_iovec(env, 16, binary_list(env, 17), &tail, &iovec));
    put_vectors(env, iovec->iov, iovec->iovcnt);
    put_int(enif_inspect_iovec(env, 16, tail, &tail, &iovec));
    put_vectors(env, iovec->iov, iovec->iovcnt);
    end_row();
    return atom(env, "ok");
}

/* Writes what each function says of the queue. */
static void say_queue(ErlNifEnv *env, const char *name, ErlNifIOQueue *queue)
{
    int count = 77, result;
    size_t size = 77;
    ERL_NIF_TERM head = number(env, 77);
    SysIOVec *iov = enif_ioq_peek(queue, &count);

    begin_row("enif_ioq_size: %s", name);
    put_int((long)enif_ioq_size(queue));
    end_row();
    begin_row("enif_ioq_peek: %s", name);
    put_int(iov != NULL);
    put_vectors(env, iov, count);
    end_row();
    begin_row("enif_ioq_peek_head: %s, with a place for the size, without", name);
    result = enif_ioq_peek_head(env, queue, &size, &head);
    put_int(result);
    put_int((long)size);
    put_term(env, head);
    head = number(env, 78);
    result = enif_ioq_peek_head(env, queue, NULL, &head);
    put_int(result);
    put_term(env, head);
    end_row();
}

static void take(ErlNifIOQueue *queue, size_t count)
{
    size_t size = 77;

    begin_row("enif_ioq_deq: %zu of %zu, then its size", count, enif_ioq_size(queue));
    put_int(enif_ioq_deq(queue, count, &size));
    put_int((long)size);
    end_row();
}

static void enqueue_binary(ErlNifIOQueue *queue, const char *data, size_t skip)
{
    ErlNifBinary bin;

    enif_alloc_binary(strlen(data), &bin);
    memcpy(bin.data, data, bin.size);
    begin_row("enif_ioq_enq_binary: %zu bytes without %zu", bin.size, skip);
    put_int(enif_ioq_enq_binary(queue, &bin, skip));
    put_int((long)enif_ioq_size(queue));
    end_row();
}

static void enqueue_vectors(ErlNifEnv *env, ErlNifIOQueue *queue, ErlNifEnv *owner, int count,
                            size_t skip)
{
    ErlNifIOVec place, *iovec = owner ? &place : NULL;
    ERL_NIF_TERM tail;

    enif_inspect_iovec(owner, ~(size_t)0, binary_list(env, count), &tail, &iovec);
    begin_row("enif_ioq_enqv: %zu bytes without %zu, of the %s", iovec->size, skip,
              owner ? "environment" : "caller");
    put_int(enif_ioq_enqv(queue, iovec, skip));
    put_int((long)enif_ioq_size(queue));
    end_row();
    if (!owner)
        enif_free_iovec(iovec);
}

static void fill_queue(ErlNifEnv *env, ErlNifIOQueue *queue)
{
    say_queue(env, "empty", queue);
    take(queue, 0);
    take(queue, 1);
    enqueue_binary(queue, "first", 0);
    enqueue_binary(queue, "second", 3);
    enqueue_binary(queue, "third", 5);
    enqueue_binary(queue, "", 0);
    say_queue(env, "binaries", queue);
    enqueue_vectors(env, queue, env, 5, 0);
    enqueue_vectors(env, queue, env, 5, 7);
    enqueue_vectors(env, queue, NULL, 20, 80);
    say_queue(env, "vectors", queue);
}

ERL_NIF_TERM queues(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL), *other;
    ErlNifEnv *own;

    (void)argc;
    (void)argv;
    say_int("enif_ioq_create: normal", queue != NULL);
    say_int("of no kind", enif_ioq_create((ErlNifIOQueueOpts)9) != NULL);
    fill_queue(env, queue);
    take(queue, 3);
    say_queue(env, "a part of the first", queue);
    take(queue, 4);
    say_queue(env, "more", queue);
    take(queue, 100000);
    for (int i = 0; i < 3; i++) {
        take(queue, 161);
        say_queue(env, "and more", queue);
    }
    own = enif_alloc_env();
    enqueue_vectors(own, queue, NULL, 9, 0);
    enif_free_env(own);
    say_queue(env, "bytes of an environment that is gone", queue);
    other = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    say_int("enif_ioq_create: a second one is empty", (long)enif_ioq_size(other));
    enqueue_binary(other, "left in it", 0);
    enif_ioq_destroy(other);
    say_int("enif_ioq_destroy: a filled one, another one stays", (long)enif_ioq_size(queue));
    enif_ioq_destroy(enif_ioq_create(ERL_NIF_IOQ_NORMAL));
    say_int("an empty one, another one stays", (long)enif_ioq_size(queue));
    take(queue, enif_ioq_size(queue));
    say_queue(env, "all taken", queue);
    enqueue_binary(queue, "once more", 0);
    say_queue(env, "filled again", queue);
    enif_ioq_destroy(queue);
    return atom(env, "ok");
}
