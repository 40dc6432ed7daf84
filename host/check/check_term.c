/*
 * Terms: checks whether a word is a term with valid parts, all in the right environment.
 *
 * No word is trusted: only memory of the environment is read. Shared parts are visited more than
 * once, so a bound ends the walk; the rest is then taken as valid.
 */
#include "check_internal.h"

#include "host/base/buffer.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/peer.h"

enum {
    WORDS = 1 << 22,
    FUN_TERMS = 5,
    REF_WORDS = 5,
    SHARED_WORDS = 5,
    SUB_WORDS = 3,
    CHANGED_WORDS = 6
};

enum fault {
    FINE,
    NO_TERM, /* an invalid word */
    FOREIGN, /* points out of the environment */
    BROKEN   /* points to memory that holds no term */
};

struct run {
    const th_term *next, *end; /* next < end */
};

struct walk {
    const th_env *env;             /* NULL: only immediates are valid */
    struct th_env_stretch stretch; /* memory where the last part was found */
    size_t words;                  /* visited words */
    struct run *runs;
    size_t depth, capacity;
    th_term culprit; /* the invalid word */
    void (*seen)(void *context, const unsigned char *bytes, size_t size);
    void *context;
};

static void push_words(struct walk *walk, const th_term *words, size_t count)
{
    if (count == 0)
        return;
    TH_ARRAY_GROW(walk->runs, walk->depth, walk->capacity);
    walk->runs[walk->depth++] = (struct run){words, words + count};
}

/* --- Places ---------------------------------------------------------------------------------- */

/* Checks that COUNT words from WORDS on belong to the environment. */
static enum fault find_words(struct walk *walk, const th_term *words, size_t count)
{
    if ((uintptr_t)words % sizeof *words != 0)
        return NO_TERM;
    if (!((uintptr_t)words >= (uintptr_t)walk->stretch.begin &&
          (uintptr_t)words < (uintptr_t)walk->stretch.end) &&
        (!walk->env || !th_env_stretch(walk->env, words, &walk->stretch)))
        return FOREIGN;
    return (size_t)(walk->stretch.end - words) < count ? BROKEN : FINE;
}

/* --- Pointed-to data -------------------------------------------------------------------------- */

static void see_bytes(const struct walk *walk, const void *bytes, size_t bits)
{
    if (walk->seen)
        walk->seen(walk->context, bytes, bits / 8);
}

static enum fault look_at_sub_binary(struct walk *walk, const th_term *words)
{
    const th_term *whole = th_term_box(words[3]);
    enum fault fault = th_is_boxed(words[3]) ? find_words(walk, whole, 2) : BROKEN;
    uintptr_t data = words[2], begin;
    size_t bytes;
    bool shared;

    if (fault)
        return fault;
    shared = whole[0] == th_header(TH_SHARED_BINARY, SHARED_WORDS);
    if ((!shared && (whole[0] & 0x3F) != TH_HEAP_BINARY) ||
        find_words(walk, whole, th_header_words(whole[0]) + 1))
        return BROKEN;
    begin = shared ? whole[2] : (uintptr_t)(whole + 2);
    bytes = (whole[1] + 7) / 8;
    if (data < begin || data - begin > bytes || words[1] > 8 * (bytes - (data - begin)))
        return BROKEN;
    see_bytes(walk, (const void *)data, words[1]);
    return FINE;
}

static enum fault look_at_map(struct walk *walk, const th_term *words, size_t count)
{
    size_t pairs = count > 0 ? words[1] : 0;
    enum fault fault;
    const struct th_map_table *table;
    const th_term *begin;
    size_t head = sizeof *table / sizeof *words, shown;

    if (pairs <= TH_MAP_SMALL) {
        if (count == 0 || count != 1 + 2 * pairs)
            return BROKEN;
        push_words(walk, words + 2, 2 * pairs);
        return FINE;
    }
    /* The table is in the same heap as the map. A changed map has its changes besides. */
    if (count != 2 && (count < CHANGED_WORDS || (count - CHANGED_WORDS) % 2 != 0))
        return BROKEN;
    table = (const struct th_map_table *)(uintptr_t)words[count == 2 ? 2 : 5];
    shown = count == 2 ? pairs : words[6];
    begin = (const th_term *)table;
    fault = find_words(walk, begin, head);
    if (fault)
        return fault == FOREIGN && count > 2 ? FOREIGN : BROKEN;
    if (shown > table->used || table->used > table->capacity || table->capacity > UINT32_MAX ||
        find_words(walk, begin, head + 2 * table->capacity))
        return BROKEN;
    push_words(walk, table->words, shown);
    push_words(walk, table->words + table->capacity, shown);
    if (count > 2)
        push_words(walk, words + 1 + CHANGED_WORDS, count - CHANGED_WORDS);
    return FINE;
}

/* Checks a term with COUNT words after the header at WORDS, none of them a term. */
static enum fault look_at_fixed(struct walk *walk, const th_term *words, size_t count)
{
    switch (words[0] & 0x3C) {
    case TH_POS_BIG:
    case TH_NEG_BIG:
        return count > 0 && words[count] != 0 ? FINE : BROKEN;
    case TH_FLOAT:
        return count == 1 ? FINE : BROKEN;
    case TH_REF:
        return count == REF_WORDS || count + 1 == TH_MAGIC_WORDS ? FINE : BROKEN;
    case TH_EXPORT:
    case TH_EXTERNAL_PID:
    case TH_EXTERNAL_PORT:
        return count == 3 ? FINE : BROKEN;
    case TH_HEAP_BINARY:
        if (count == 0 || count != 1 + words[1] / 64 + (words[1] % 64 != 0))
            return BROKEN;
        see_bytes(walk, words + 2, words[1]);
        return FINE;
    case TH_SHARED_BINARY:
        if (count != SHARED_WORDS)
            return BROKEN;
        see_bytes(walk, (const void *)(uintptr_t)words[2], words[1]);
        return FINE;
    case TH_SUB_BINARY:
        return count == SUB_WORDS ? look_at_sub_binary(walk, words) : BROKEN;
    default:
        return BROKEN;
    }
}

static enum fault look_at_box(struct walk *walk, const th_term *words)
{
    enum fault fault = find_words(walk, words, 1);
    size_t count;

    if (fault)
        return fault;
    count = th_header_words(words[0]);
    if ((words[0] & 3) != TH_TAG_HEADER || find_words(walk, words, count + 1))
        return BROKEN;
    switch (words[0] & 0x3C) {
    case TH_TUPLE:
        push_words(walk, words + 1, count);
        return FINE;
    case TH_MAP:
        return look_at_map(walk, words, count);
    case TH_FUN:
        if (count + 1 < FUN_TERMS)
            return BROKEN;
        push_words(walk, words + FUN_TERMS, count + 1 - FUN_TERMS);
        return FINE;
    default:
        return look_at_fixed(walk, words, count);
    }
}

static enum fault look_at_term(struct walk *walk, th_term t)
{
    enum fault fault;

    if (th_is_list(t)) {
        fault = find_words(walk, th_cell(t), 2);
        if (!fault)
            push_words(walk, th_cell(t), 2);
        return fault;
    }
    if (th_is_boxed(t))
        return look_at_box(walk, th_term_box(t));
    if (th_is_local_pid(t) || th_is_local_port(t))
        return th_peer_is_known(th_peer_of(t)) ? FINE : NO_TERM;
    return th_is_small(t) || t == TH_NIL || (th_is_atom(t) && th_atom_name(t)) ? FINE : NO_TERM;
}

/* --- The walk -------------------------------------------------------------------------------- */

/* Checks T and all its parts. *CULPRIT becomes the invalid word. */
static enum fault walk_all(struct walk *walk, th_term t)
{
    enum fault fault;

    for (;;) {
        struct run *run;

        fault = look_at_term(walk, t);
        walk->culprit = t;
        if (fault || walk->depth == 0 || ++walk->words > WORDS)
            break;
        run = &walk->runs[walk->depth - 1];
        t = *run->next++;
        walk->depth -= run->next == run->end;
    }
    th_free(walk->runs);
    return fault;
}

/* Returns a text about the fault: CULPRIT is the WHOLE term, or a part of it. */
static char *describe_fault(enum fault fault, th_term culprit, bool whole)
{
    unsigned long long word = culprit;
    char *heap, *text;

    if (fault == NO_TERM)
        return th_printf(whole ? "%#llx, which is not a term"
                               : "a term with the part %#llx, which is not a term",
                         word);
    if (fault == BROKEN)
        return th_printf("%s: there is no term at %#llx",
                         whole ? "a broken term" : "a term with a broken part", word & ~3ull);
    heap = th_check_heap_of((void *)(uintptr_t)(word & ~3ull));
    if (heap)
        text = th_printf("a term %s %s", whole ? "of" : "with a part of", heap);
    else
        text = th_printf("a term%s at %#llx, which is in no environment",
                         whole ? "" : " with a part", word & ~3ull);
    th_free(heap);
    return text;
}

bool th_check_valid(const th_env *env, th_term term, const char *does, const char *function)
{
    struct walk walk = {.env = env};
    enum fault fault = walk_all(&walk, term);
    enum th_check_rule rule;
    char *text;

    if (!fault)
        return true;
    rule = fault == NO_TERM || fault == BROKEN ? TH_RULE_TERM : TH_RULE_KEPT;
    text = describe_fault(fault, walk.culprit, walk.culprit == term);
    if (function)
        th_check_found_now(rule, function, "%s %s() %s", does, function, text);
    else
        th_check_found_now(rule, does, "%s %s", does, text);
    th_free(text);
    return false;
}

th_term th_check_note_term(const th_env *env, th_term term, const char *function)
{
    return th_check_valid(env, term, "gives", function) ? term : TH_AM(undefined);
}

void th_check_each_binary(const th_env *env, th_term term,
                          void (*seen)(void *context, const unsigned char *bytes, size_t size),
                          void *context)
{
    struct walk walk = {.env = env, .seen = seen, .context = context};

    walk_all(&walk, term);
}
