/* A side in memory and in its file: a head, then the arrays, each at a multiple of 8 bytes. */
#include "diff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "thdiff1\n"

enum { ARRAYS = 5 };

struct head {
    char magic[8];
    uint64_t sizes; /* of the structs below */
    uint64_t used[ARRAYS];
    uint64_t lost[LOSSES];
    uint64_t told, timed;
};

static const size_t element[ARRAYS] = {sizeof(struct call), sizeof(struct party),
                                       sizeof(struct function), sizeof(struct identifier), 1};

static uint64_t sizes_of_structs(void)
{
    uint64_t hash = LOSSES;

    for (size_t i = 0; i < ARRAYS; i++)
        hash = mix(hash, element[i]);
    return hash;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t word;

    hash = mix(hash, size);
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return mix(hash, word);
}

bool make_room(void *array, size_t used, size_t *allocated, size_t size, size_t most)
{
    size_t more = *allocated ? 2 * *allocated : 64;
    void *memory;

    if (used < *allocated)
        return true;
    if (used >= most)
        return false;
    while (more <= used)
        more *= 2;
    more = more > most ? most : more;
    memory = realloc(*(void **)array, more * size);
    if (!memory) {
        loss_add();
        return false;
    }
    *(void **)array = memory;
    *allocated = more;
    return true;
}

uint32_t side_add_text(struct side *side, const char *text, size_t size)
{
    size_t at = side->texts_used ? side->texts_used : 1; /* offset 0 is the empty text */

    if (!make_room(&side->texts, at + size, &side->texts_size, 1, TEXTS_MOST)) {
        side->lost[LOST_TEXTS]++;
        return 0;
    }
    side->texts[0] = 0;
    memcpy(side->texts + at, text, size);
    side->texts[at + size] = 0;
    side->texts_used = at + size + 1;
    return (uint32_t)at;
}

/* --- The file --- */

static void arrays_of(struct side *side, void **arrays[ARRAYS], size_t *used[ARRAYS])
{
    arrays[0] = (void **)&side->calls;
    arrays[1] = (void **)&side->parties;
    arrays[2] = (void **)&side->functions;
    arrays[3] = (void **)&side->identifiers;
    arrays[4] = (void **)&side->texts;
    used[0] = &side->calls_used;
    used[1] = &side->parties_used;
    used[2] = &side->functions_used;
    used[3] = &side->identifiers_used;
    used[4] = &side->texts_used;
}

bool side_write(const struct side *side, FILE *file)
{
    struct side copy = *side;
    void **arrays[ARRAYS];
    size_t *used[ARRAYS];
    struct head head = {
        .magic = MAGIC, .sizes = sizes_of_structs(), .told = side->told, .timed = side->timed};

    arrays_of(&copy, arrays, used);
    for (size_t i = 0; i < ARRAYS; i++)
        head.used[i] = *used[i];
    memcpy(head.lost, side->lost, sizeof head.lost);
    fwrite(&head, sizeof head, 1, file);
    for (size_t i = 0; i < ARRAYS; i++) {
        static const char zeros[8];
        size_t size = *used[i] * element[i];
        if (size)
            fwrite(*arrays[i], 1, size, file);
        fwrite(zeros, 1, -size % 8, file);
    }
    return fflush(file) == 0 && !ferror(file);
}

static bool is_text(const struct side *side, uint32_t text)
{
    return text < side->texts_used || !text;
}

/* Returns whether all references of SIDE lead to records of SIDE. */
static bool is_sound(const struct side *side)
{
    if (side->texts_used && (side->texts[0] || side->texts[side->texts_used - 1]))
        return false;
    for (size_t i = 0; i < side->calls_used; i++) {
        const struct call *call = &side->calls[i];
        if (call->parent > i || call->process >= side->parties_used ||
            call->function >= side->functions_used || !is_text(side, call->arguments_text) ||
            !is_text(side, call->outcome_text) || call->end > END_RETURNED)
            return false;
    }
    for (size_t i = 0; i < side->parties_used; i++) {
        const struct party *party = &side->parties[i];
        if (party->parent > side->parties_used || party->first > side->calls_used ||
            !is_text(side, party->label))
            return false;
    }
    for (size_t i = 0; i < side->functions_used; i++)
        if (!is_text(side, side->functions[i].name))
            return false;
    for (size_t i = 0; i < side->identifiers_used; i++)
        if (side->identifiers[i].call >= side->calls_used ||
            side->identifiers[i].process >= side->parties_used)
            return false;
    return true;
}

/* Sets SIDE's arrays to parts of its mapped file. False if the file is damaged. */
static bool take_mapped(struct side *side)
{
    static const size_t most[ARRAYS] = {CALLS_MOST, PROCESSES_MOST, FUNCTIONS_MOST,
                                        IDENTIFIERS_MOST, TEXTS_MOST};
    const struct head *head = side->mapped;
    size_t at = sizeof *head;
    void **arrays[ARRAYS];
    size_t *used[ARRAYS];

    arrays_of(side, arrays, used);
    for (size_t i = 0; i < ARRAYS; i++) {
        if (head->used[i] > most[i])
            return false;
        *used[i] = head->used[i];
        *arrays[i] = (char *)side->mapped + at;
        at += (head->used[i] * element[i] + 7) / 8 * 8;
    }
    memcpy(side->lost, head->lost, sizeof side->lost);
    side->told = head->told;
    side->timed = head->timed;
    return at == side->mapped_size && is_sound(side);
}

const char *side_map(struct side *side, const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    const struct head *head;

    *side = (struct side){0};
    if (descriptor < 0)
        return strerror(errno);
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_size >= (off_t)sizeof *head) {
        side->mapped_size = (size_t)about.st_size;
        side->mapped = mmap(NULL, side->mapped_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    if (side->mapped == MAP_FAILED)
        side->mapped = NULL;
    head = side->mapped;
    if (!head || memcmp(head->magic, MAGIC, sizeof head->magic) != 0)
        return "the file was not written by this tracer's setting `keep`";
    if (head->sizes != sizes_of_structs())
        return "the file was written by another version of this tracer";
    return take_mapped(side) ? NULL : "the file is damaged";
}

void side_free(struct side *side)
{
    if (side->mapped) {
        munmap(side->mapped, side->mapped_size);
    } else {
        free(side->calls);
        free(side->parties);
        free(side->functions);
        free(side->identifiers);
        free(side->texts);
    }
    *side = (struct side){0};
}
