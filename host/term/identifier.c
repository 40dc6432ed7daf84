/* Pids, ports and references. */
#include "make.h"
#include "peer.h"

#include <stdatomic.h>

/* The words of a plain reference after its header, and their number. */
enum { REF_NODE = 1, REF_FACTS = 2, REF_NUMBERS = 3, PLAIN_REF = 5 };

static th_term make_external(th_env *env, enum th_subtag subtag, th_term node, uint32_t creation,
                             uint64_t data)
{
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(subtag, 3);
    words[1] = node;
    words[2] = creation;
    words[3] = data;
    return th_boxed(words);
}

/* The way of pids of other nodes, and of this one with large numbers. */
static __attribute__((noinline)) th_term make_far_pid(th_env *env, th_term node, uint32_t creation,
                                                      uint32_t number, uint32_t serial)
{
    unsigned peer = th_peer_find(node, creation);

    if (peer && th_pid_fits(number, serial))
        return th_local_pid(number, serial) | th_peer_pid_bits(peer);
    return make_external(env, TH_EXTERNAL_PID, node, creation, number | (uint64_t)serial << 32);
}

th_term th_make_pid(th_env *env, th_term node, uint32_t creation, uint32_t number, uint32_t serial)
{
    if (node == TH_NONE && th_pid_fits(number, serial))
        return th_local_pid(number, serial);
    return make_far_pid(env, node, creation, number, serial);
}

static __attribute__((noinline)) th_term make_far_port(th_env *env, th_term node, uint32_t creation,
                                                       uint64_t id)
{
    unsigned peer = th_peer_find(node, creation);

    if (peer && id <= TH_PORT_ID_MAX)
        return th_local_port(id) | th_peer_port_bits(peer);
    return make_external(env, TH_EXTERNAL_PORT, node, creation, id);
}

th_term th_make_port(th_env *env, th_term node, uint32_t creation, uint64_t id)
{
    if (node == TH_NONE && id <= TH_PORT_ID_MAX)
        return th_local_port(id);
    return make_far_port(env, node, creation, id);
}

bool th_get_pid(th_term t, struct th_pid_parts *parts)
{
    if (th_is_local_pid(t)) {
        const struct th_peer *peer = &th_term_peers[th_peer_of(t)];

        *parts = (struct th_pid_parts){peer->node, peer->creation, th_local_pid_number(t),
                                       th_local_pid_serial(t)};
        return true;
    }
    if (!th_term_is(t, TH_EXTERNAL_PID))
        return false;
    *parts =
        (struct th_pid_parts){th_term_box(t)[1], (uint32_t)th_term_box(t)[2],
                              (uint32_t)th_term_box(t)[3], (uint32_t)(th_term_box(t)[3] >> 32)};
    return true;
}

bool th_get_port(th_term t, struct th_port_parts *parts)
{
    if (th_is_local_port(t)) {
        const struct th_peer *peer = &th_term_peers[th_peer_of(t)];

        *parts = (struct th_port_parts){peer->node, peer->creation, th_local_port_id(t)};
        return true;
    }
    if (!th_term_is(t, TH_EXTERNAL_PORT))
        return false;
    *parts =
        (struct th_port_parts){th_term_box(t)[1], (uint32_t)th_term_box(t)[2], th_term_box(t)[3]};
    return true;
}

static void fill_ref(th_term *words, size_t size, th_term node, uint32_t creation,
                     const uint32_t *numbers, size_t count)
{
    uint32_t padded[6] = {0};

    memcpy(padded, numbers, count * sizeof *numbers);
    words[0] = th_header(TH_REF, size);
    words[REF_NODE] = node;
    words[REF_FACTS] = creation | (uint64_t)count << 32;
    for (size_t i = 0; i < 3; i++)
        words[REF_NUMBERS + i] = padded[2 * i] | (uint64_t)padded[2 * i + 1] << 32;
}

th_term th_make_reference(th_env *env, th_term node, uint32_t creation, const uint32_t *words,
                          size_t count)
{
    th_term *place = th_env_take(env, PLAIN_REF + 1);

    fill_ref(place, PLAIN_REF, node, creation, words, count);
    return th_boxed(place);
}

/*
 * The first word of the BEAM's local references has the number of the thread that made them, in 18
 * bits. No BEAM has that many threads, so the last number never comes from a recording.
 */
enum { OURS = 0x3FFFF };

/* Writes the words of a reference with the numbers OURS and NUMBER. */
static inline th_term make_numbered(th_env *env, uint64_t number)
{
    th_term *place = th_env_take(env, PLAIN_REF + 1);

    place[0] = th_header(TH_REF, PLAIN_REF);
    place[REF_NODE] = TH_NONE;
    place[REF_FACTS] = (uint64_t)3 << 32;
    place[REF_NUMBERS] = OURS | number << 32;
    place[REF_NUMBERS + 1] = number >> 32;
    place[REF_NUMBERS + 2] = 0;
    return th_boxed(place);
}

th_term th_make_numbered_reference(th_env *env, uint64_t number)
{
    return make_numbered(env, number);
}

/* The latest number of the thread's block of numbers; a multiple of BLOCK: the block is used up. */
enum { BLOCK = 1024 };
static _Thread_local uint64_t latest __attribute__((tls_model("initial-exec")));

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) th_term make_new_reference_slowly(th_env *env)
{
    static _Atomic uint64_t last; /* relaxed: the values must only be distinct */

    if (latest % BLOCK == 0)
        latest = atomic_fetch_add_explicit(&last, BLOCK, memory_order_relaxed);
    return make_numbered(env, ++latest);
}

th_term th_make_new_reference(th_env *env)
{
    if (latest % BLOCK == 0 || !th_env_has(env, PLAIN_REF + 1))
        return make_new_reference_slowly(env);
    return make_numbered(env, ++latest);
}

uint64_t th_reference_number(th_term t)
{
    struct th_ref_parts parts;

    if (!th_get_ref(t, &parts) || parts.node != TH_NONE || parts.count != 3 || parts.magic ||
        parts.words[0] != OURS)
        return 0;
    return parts.words[1] | (uint64_t)parts.words[2] << 32;
}

bool th_get_ref(th_term t, struct th_ref_parts *parts)
{
    const th_term *words = th_term_box(t);

    if (!th_is_ref(t))
        return false;
    if (th_is_magic(t)) {
        const struct th_magic *object = th_magic_object(t);

        *parts = (struct th_ref_parts){.count = 3, .magic = true};
        memcpy(parts->words, object->words, sizeof object->words);
        return true;
    }
    parts->node = words[REF_NODE];
    parts->creation = (uint32_t)words[REF_FACTS];
    parts->count = words[REF_FACTS] >> 32 & 0xFF;
    parts->magic = false;
    for (size_t i = 0; i < TH_REF_WORDS; i++)
        parts->words[i] = (uint32_t)(words[REF_NUMBERS + i / 2] >> 32 * (i % 2));
    return true;
}

th_term th_magic_share(th_env *env, th_term t)
{
    struct th_magic *object = th_magic_object(t);

    object->keep(object);
    return th_make_magic(env, object,
                         ((const struct th_offheap *)(th_term_box(t) + TH_MAGIC_SHARE))->release);
}

struct th_magic *th_magic_object(th_term t)
{
    return th_is_magic(t) ? (struct th_magic *)(uintptr_t)th_term_box(t)[TH_MAGIC_OBJECT] : NULL;
}

struct th_magic *th_magic_owner(struct th_offheap *self)
{
    return (struct th_magic *)(uintptr_t)((th_term *)self - TH_MAGIC_SHARE)[TH_MAGIC_OBJECT];
}
