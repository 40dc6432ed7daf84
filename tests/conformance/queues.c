/* Tests I/O vectors and queues. */
#include "nif_api.h"

#include <string.h>

/* Writes the bytes of vectors, one binary a vector. */
static void say_vectors(ErlNifEnv *env, const char *name, const SysIOVec *iov, int count)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (int i = count - 1; i >= 0; i--)
        list = enif_make_list_cell(env, bytes(env, iov[i].iov_base, iov[i].iov_len), list);
    say(env, name, list);
}

static void inspect(ErlNifEnv *env, const char *name, ErlNifEnv *owner, size_t most,
                    ERL_NIF_TERM list)
{
    ErlNifIOVec place, *iovec = owner ? &place : NULL;
    ERL_NIF_TERM tail = number(env, 77);
    int result = enif_inspect_iovec(owner, most, list, &tail, &iovec);

    say_pair(env, name, result, tail);
    if (!result)
        return;
    say_int("size", (long)iovec->size);
    say_vectors(env, "vectors", iovec->iov, iovec->iovcnt);
    if (!owner)
        enif_free_iovec(iovec);
}

static void inspect_all_ways(ErlNifEnv *env, const char *name, ERL_NIF_TERM list)
{
    inspect(env, name, env, ~(size_t)0, list);
    inspect(env, name, NULL, ~(size_t)0, list);
    for (size_t most = 1; most < 4; most++) {
        inspect(env, name, env, most, list);
        inspect(env, name, NULL, most, list);
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
    ERL_NIF_TERM nil = enif_make_list(env, 0), bin = bytes(env, "some", 4);
    ErlNifIOVec *iovec = NULL;
    ERL_NIF_TERM tail;

    (void)argc;
    (void)argv;
    topic("vector");
    inspect_all_ways(env, "empty list", nil);
    inspect_all_ways(env, "one", enif_make_list1(env, bin));
    inspect_all_ways(env, "three", binary_list(env, 3));
    inspect_all_ways(env, "seven", binary_list(env, 7));
    inspect_all_ways(env, "sixteen", binary_list(env, 16));
    inspect_all_ways(env, "seventeen", binary_list(env, 17));
    inspect_all_ways(env, "a hundred", binary_list(env, 100));
    inspect_all_ways(env, "no list", bin);
    inspect_all_ways(env, "an atom", atom(env, "ok"));
    inspect_all_ways(env, "a byte in it", enif_make_list2(env, bin, number(env, 'b')));
    inspect_all_ways(env, "a list in it", enif_make_list2(env, bin, enif_make_list1(env, bin)));
    inspect_all_ways(env, "a tail", enif_make_list_cell(env, bin, bin));
    inspect_all_ways(env, "an atom as a tail", enif_make_list_cell(env, bin, atom(env, "ok")));
    say_int("heap", enif_inspect_iovec(env, 16, binary_list(env, 17), &tail, &iovec));
    say_vectors(env, "made by it", iovec->iov, iovec->iovcnt);
    say_int("tail", enif_inspect_iovec(env, 16, tail, &tail, &iovec));
    say_vectors(env, "into the same", iovec->iov, iovec->iovcnt);
    return atom(env, "ok");
}

static void say_queue(ErlNifEnv *env, const char *name, ErlNifIOQueue *queue)
{
    int count = 77;
    size_t size = 77;
    ERL_NIF_TERM head = number(env, 77);
    SysIOVec *iov = enif_ioq_peek(queue, &count);
    int result;

    say_int(name, (long)enif_ioq_size(queue));
    say_int("peek", iov != NULL);
    say_vectors(env, "vectors", iov, count);
    result = enif_ioq_peek_head(env, queue, &size, &head);
    say_pair(env, "peek_head", result, head);
    say_int("its size", (long)size);
    head = number(env, 78);
    result = enif_ioq_peek_head(env, queue, NULL, &head);
    say_pair(env, "peek_head without size", result, head);
}

static void take(ErlNifIOQueue *queue, size_t count)
{
    size_t size = 77;

    say_int("deq", enif_ioq_deq(queue, count, &size));
    say_int("leaves", (long)size);
}

static void put_binary(ErlNifIOQueue *queue, const char *data, size_t skip)
{
    ErlNifBinary bin;

    enif_alloc_binary(strlen(data), &bin);
    memcpy(bin.data, data, bin.size);
    say_int("enq_binary", enif_ioq_enq_binary(queue, &bin, skip));
}

static void put_vectors(ErlNifEnv *env, ErlNifIOQueue *queue, ErlNifEnv *owner, int count,
                        size_t skip)
{
    ErlNifIOVec place, *iovec = owner ? &place : NULL;
    ERL_NIF_TERM tail;

    say_int("inspect_iovec",
            enif_inspect_iovec(owner, ~(size_t)0, binary_list(env, count), &tail, &iovec));
    say_int("enqv", enif_ioq_enqv(queue, iovec, skip));
    if (!owner)
        enif_free_iovec(iovec);
}

ERL_NIF_TERM queues(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifIOQueue *queue = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
    ErlNifEnv *own;

    (void)argc;
    (void)argv;
    topic("queue");
    say_int("create of no kind", enif_ioq_create((ErlNifIOQueueOpts)9) != NULL);
    say_queue(env, "empty", queue);
    take(queue, 0);
    take(queue, 1);
    put_binary(queue, "first", 0);
    put_binary(queue, "second", 3);
    put_binary(queue, "third", 5);
    put_binary(queue, "", 0);
    say_queue(env, "binaries", queue);
    put_vectors(env, queue, env, 5, 0);
    put_vectors(env, queue, env, 5, 7);
    put_vectors(env, queue, NULL, 20, 80);
    say_queue(env, "vectors", queue);
    take(queue, 3);
    say_queue(env, "a part of the first", queue);
    take(queue, 4);
    say_queue(env, "more", queue);
    take(queue, 100000);
    for (int i = 0; i < 6; i++) {
        take(queue, 61);
        say_queue(env, "and more", queue);
    }
    own = enif_alloc_env();
    put_vectors(own, queue, NULL, 9, 0);
    enif_free_env(own);
    say_queue(env, "what came from an environment that is gone", queue);
    take(queue, enif_ioq_size(queue));
    say_queue(env, "all taken", queue);
    put_binary(queue, "once more", 0);
    say_queue(env, "again", queue);
    enif_ioq_destroy(queue);
    return atom(env, "ok");
}
