/*
 * The atom table.
 *
 * Two structures, both of which only grow:
 *   names   index -> name: an array of pages that never move, so that a reader needs one acquire
 *           load.
 *   places  hash -> index: open addressing, a power of two of 32-bit cells, index + 1, 0 free.
 *
 * Readers load `places` (acquire: the cells and names published with it are visible) and walk the
 * cells (acquire: a cell's name was written before the cell). Writers hold `lock`. When three
 * quarters of the cells are used, the writer fills a larger copy, then publishes the copy
 * (release). Readers of the old cells miss at most the atoms added since; they then take the lock
 * and search again. Old cell arrays are kept: sizes double, so all old ones together are smaller
 * than the newest.
 */
#include "atom.h"

#include "utf8.h"

#include "host/base/hash.h"
#include "host/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { FIRST_CELLS = 4096 };

struct places {
    struct places *older; /* makes the older array reachable for leak checkers */
    size_t mask;
    _Atomic uint32_t cells[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all writes below */
th_atom_slot *_Atomic th_atom_pages[TH_ATOM_LIMIT / TH_ATOM_PAGE];
static struct places *_Atomic places; /* release: the cells are filled; acquire */
static _Atomic uint32_t count;        /* relaxed: only a number for readers */

static const struct th_atom_name *name_at(uint32_t index)
{
    return th_atom_name((th_term)index << 6 | TH_TAG_ATOM);
}

/* Returns the cell that holds the name, or the free cell where the search ended. */
static _Atomic uint32_t *atom_find_cell(struct places *table, const char *text, size_t bytes,
                                        uint64_t hash, uint32_t *index_plus_1)
{
    for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
        uint32_t cell = atomic_load_explicit(&table->cells[i], memory_order_acquire);
        const struct th_atom_name *name = cell ? name_at(cell - 1) : NULL;
        if (!cell ||
            (name->hash == hash && name->bytes == bytes && memcmp(name->text, text, bytes) == 0)) {
            *index_plus_1 = cell;
            return &table->cells[i];
        }
    }
}

static th_term atom_look_up(const char *text, size_t bytes, uint64_t hash)
{
    struct places *table = atomic_load_explicit(&places, memory_order_acquire);
    uint32_t index_plus_1;

    atom_find_cell(table, text, bytes, hash, &index_plus_1);
    return index_plus_1 ? (th_term)(index_plus_1 - 1) << 6 | TH_TAG_ATOM : TH_NONE;
}

size_t th_atom_longest_search(void)
{
    const struct places *table = atomic_load_explicit(&places, memory_order_acquire);
    size_t run = 0, longest = 0;

    for (size_t i = 0; i <= 2 * table->mask; i++) {
        bool used = atomic_load_explicit(&table->cells[i & table->mask], memory_order_relaxed);
        run = used ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static struct places *new_places(size_t cells, struct places *older)
{
    struct places *table = th_alloc_zero(sizeof *table + cells * sizeof table->cells[0]);

    table->older = older;
    table->mask = cells - 1;
    return table;
}

/* The hash of P. J. Weinberger. A character of Latin-1 counts as one byte, as before atoms were
 * UTF-8. */
static uint32_t hash_weinberger(const char *text, size_t bytes)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xFE) == 0xC2) {
            c = (unsigned char)(c << 6 | (text[i + 1] & 0x3F));
            i++;
        }
        hash = (hash << 4) + c;
        hash ^= (hash & 0xF0000000) >> 24;
        hash &= 0x0FFFFFFF;
    }
    return hash;
}

/* Adds a new name. The lock is held. */
static th_term atom_add(const char *text, size_t bytes, size_t characters, uint64_t hash)
{
    uint32_t index = atomic_load_explicit(&count, memory_order_relaxed);
    struct th_atom_name *name;
    th_atom_slot *page;
    uint32_t free_cell;

    if (index == TH_ATOM_LIMIT)
        return TH_NONE;
    page = atomic_load_explicit(&th_atom_pages[index / TH_ATOM_PAGE], memory_order_relaxed);
    if (!page) {
        page = th_alloc_zero(TH_ATOM_PAGE * sizeof *page);
        atomic_store_explicit(&th_atom_pages[index / TH_ATOM_PAGE], page, memory_order_release);
    }
    name = th_alloc(sizeof *name + bytes + 1);
    *name = (struct th_atom_name){.bytes = (uint16_t)bytes,
                                  .characters = (uint16_t)characters,
                                  .latin1 = true,
                                  .hash = hash,
                                  .weinberger = hash_weinberger(text, bytes)};
    for (size_t i = 0; i < 4; i++)
        name->sort = name->sort << 8 | (i < bytes ? (unsigned char)text[i] : 0);
    for (size_t i = 0; i < bytes; i++)
        name->latin1 &= (unsigned char)text[i] < 0xC4; /* U+0100 is C4 80 */
    memcpy(name->text, text, bytes);
    name->text[bytes] = 0;
    atomic_store_explicit(&page[index % TH_ATOM_PAGE], name, memory_order_release);
    atomic_store_explicit(atom_find_cell(places, text, bytes, hash, &free_cell), index + 1,
                          memory_order_release);
    atomic_store_explicit(&count, index + 1, memory_order_relaxed);
    if (4 * (size_t)(index + 1) > 3 * (places->mask + 1)) {
        struct places *table = new_places(2 * (places->mask + 1), places);

        for (uint32_t k = 0; k <= index; k++) {
            size_t i = name_at(k)->hash & table->mask;
            while (atomic_load_explicit(&table->cells[i], memory_order_relaxed))
                i = (i + 1) & table->mask;
            atomic_store_explicit(&table->cells[i], k + 1, memory_order_relaxed);
        }
        atomic_store_explicit(&places, table, memory_order_release);
    }
    return (th_term)index << 6 | TH_TAG_ATOM;
}

/* Packs up to 8 bytes into a word, without a loop: some bytes may be in it twice. */
static inline uint64_t atom_word_of(const char *text, size_t bytes)
{
    uint32_t first, last;

    if (bytes >= 4) {
        memcpy(&first, text, 4);
        memcpy(&last, text + bytes - 4, 4);
        return first | (uint64_t)last << 32;
    }
    return bytes == 0 ? 0
                      : (unsigned char)text[0] | (uint64_t)(unsigned char)text[bytes / 2] << 8 |
                            (uint64_t)(unsigned char)text[bytes - 1] << 16;
}

/* Multiplies first: a word with repeated bytes has equal halves, which th_hash_mix() alone would
 * cancel. */
static inline uint64_t mix_in(uint64_t hash, uint64_t word)
{
    return th_hash_mix((hash ^ word) * 0xD6E8FEB86659FD93u);
}

static uint64_t hash_name(const char *text, size_t bytes)
{
    uint64_t hash = bytes * 0x9E3779B97F4A7C15u;

    for (; bytes > 8; bytes -= 8, text += 8)
        hash = mix_in(hash, atom_word_of(text, 8));
    return mix_in(hash, atom_word_of(text, bytes));
}

/* TEXT is valid. */
static th_term intern(const char *text, size_t bytes, size_t characters)
{
    uint64_t hash = hash_name(text, bytes);
    th_term atom = atom_look_up(text, bytes, hash);

    if (__builtin_expect(atom != TH_NONE, 1))
        return atom;
    pthread_mutex_lock(&lock);
    atom = atom_look_up(text, bytes, hash);
    if (atom == TH_NONE)
        atom = atom_add(text, bytes, characters, hash);
    pthread_mutex_unlock(&lock);
    return atom;
}

/* Before main(), so that no caller has to check that the constants exist. */
__attribute__((constructor(101))) static void add_constants(void)
{
    static const char *const constants[] = {
#define X(name, text) text,
        TH_ATOMS(X)
#undef X
    };

    atomic_store_explicit(&places, new_places(FIRST_CELLS, NULL), memory_order_release);
    for (size_t i = 0; i < TH_ATOM_CONSTANTS; i++)
        intern(constants[i], strlen(constants[i]), strlen(constants[i]));
}

/* Converts Latin-1 to UTF-8 in BUFFER, which has room for twice as many bytes; returns the bytes
 * written. */
static size_t widen(const char *text, size_t bytes, char *buffer)
{
    size_t used = 0;

    for (size_t i = 0; i < bytes; i++)
        used += th_utf8_put((unsigned char)text[i], buffer + used);
    return used;
}

static bool atom_is_ascii(const char *text, size_t bytes)
{
    uint64_t all = 0;

    for (; bytes > 8; bytes -= 8, text += 8)
        all |= atom_word_of(text, 8);
    return ((all | atom_word_of(text, bytes)) & 0x8080808080808080u) == 0;
}

static bool check_utf8(const char *text, size_t bytes, size_t *characters)
{
    *characters = bytes;
    if (bytes > TH_ATOM_BYTES ||
        (!atom_is_ascii(text, bytes) && !th_utf8_count(text, bytes, characters)))
        return false;
    return *characters <= TH_ATOM_CHARACTERS;
}

th_term th_atom_utf8(const char *text, size_t bytes)
{
    size_t characters;

    return check_utf8(text, bytes, &characters) ? intern(text, bytes, characters) : TH_NONE;
}

th_term th_atom_latin1(const char *text, size_t bytes)
{
    char wide[2 * TH_ATOM_CHARACTERS];

    if (bytes > TH_ATOM_CHARACTERS)
        return TH_NONE;
    if (atom_is_ascii(text, bytes))
        return intern(text, bytes, bytes);
    return intern(wide, widen(text, bytes, wide), bytes);
}

th_term th_atom(const char *text)
{
    return th_atom_latin1(text, strlen(text));
}

th_term th_atom_existing_utf8(const char *text, size_t bytes)
{
    size_t characters;

    return check_utf8(text, bytes, &characters) ? atom_look_up(text, bytes, hash_name(text, bytes))
                                                : TH_NONE;
}

th_term th_atom_existing_latin1(const char *text, size_t bytes)
{
    char wide[2 * TH_ATOM_CHARACTERS];
    size_t used;

    if (bytes > TH_ATOM_CHARACTERS)
        return TH_NONE;
    used = widen(text, bytes, wide);
    return atom_look_up(wide, used, hash_name(wide, used));
}

int th_atom_compare_names(const struct th_atom_name *a, const struct th_atom_name *b)
{
    size_t shorter = a->bytes < b->bytes ? a->bytes : b->bytes;
    int order = memcmp(a->text, b->text, shorter);

    return order ? order : (int)a->bytes - (int)b->bytes;
}

size_t th_atom_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}
