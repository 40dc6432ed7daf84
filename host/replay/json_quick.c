/*
 * Reads lines in the form in which json_writer.c writes records, in one pass: no tree, no
 * allocation. The newline behind the line ends each loop, as no value has a control character; so
 * only the end of the object is compared with the end of the line. Words of eight bytes are read at
 * any place, also behind the line.
 */
#include "json_cache.h"
#include "json_lines.h"

#include "host/base/memory.h"
#include "host/term/json.h"
#include "host/term/utf8.h"

#include <string.h>

#define BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

struct quick_line {
    const char *at;
    char *unescaped; /* the place for the next string without its escapes */
};

static inline uint64_t word_at(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Finds the next quote, backslash, control character or byte beyond ASCII. In a word of ASCII, the
 * subtractions set the high bit of the first such byte; a borrow changes only bytes behind it. */
static inline const char *find_special(const char *at)
{
    for (;; at += sizeof(uint64_t)) {
        uint64_t word = word_at(at);
        uint64_t special = word | (word - BYTES(0x20)) | ((word ^ BYTES('"')) - BYTES(1)) |
                           ((word ^ BYTES('\\')) - BYTES(1));

        special &= BYTES(0x80);
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
}

/* Returns the character that an escape of C stands for; 0: Jansson reads the escape. */
static char unescape(char c)
{
    static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    const char *letter = c ? strchr(letters, c) : NULL;

    return letter ? plain[letter - letters] : 0;
}

/* Reads a string from behind its opening quote. The first special byte, at AT, is no quote. */
static __attribute__((noinline)) bool read_special_string(struct quick_line *q, const char *at,
                                                          struct th_json_value *value)
{
    const char *from = q->at;
    char *to = q->unescaped;
    size_t characters;
    bool wide = false;

    for (; *at != '"'; at = find_special(at)) {
        if (*at & 0x80) {
            wide = true;
            at++;
        } else if (*at == '\\' && unescape(at[1])) {
            memcpy(to, from, (size_t)(at - from));
            to += at - from;
            *to++ = unescape(at[1]);
            at += 2;
            from = at;
        } else {
            return false;
        }
    }
    value->text = from;
    value->size = (size_t)(at - from);
    if (from != q->at) {
        memcpy(to, from, value->size);
        to += value->size;
        *to++ = '"'; /* no digit */
        value->text = q->unescaped;
        value->size = (size_t)(to - 1 - q->unescaped);
        q->unescaped = to;
    }
    q->at = at + 1;
    return !wide || th_utf8_count(value->text, value->size, &characters);
}

static inline bool read_quick_string(struct quick_line *q, struct th_json_value *value)
{
    const char *at = find_special(q->at);

    if (__builtin_expect(*at != '"', 0))
        return read_special_string(q, at, value);
    value->text = q->at;
    value->size = (size_t)(at - q->at);
    q->at = at + 1;
    return true;
}

/* Returns the value of eight digits. */
static inline uint64_t eight_digits(uint64_t word)
{
    word = (word & BYTES(0x0F)) * 2561 >> 8;
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000FFFF0000FFFF)) * UINT64_C(42949672960001) >> 32;
}

static inline bool are_digits(uint64_t word)
{
    return ((word & BYTES(0xF0)) | (((word + BYTES(6)) & BYTES(0xF0)) >> 4)) == BYTES(0x33);
}

/* Reads an integer of 64 bits, without leading zeros. */
static inline bool read_quick_integer(struct quick_line *q, struct th_json_value *value)
{
    enum { DIGITS = 19 /* of the largest number; such a number fits 64 bits without sign */ };
    bool negative = *q->at == '-';
    const char *from = q->at + negative, *at = from;
    uint64_t number = 0;

    while (at < from + 16 && are_digits(word_at(at))) {
        number = number * 100000000 + eight_digits(word_at(at));
        at += 8;
    }
    for (; *at >= '0' && *at <= '9' && at < from + DIGITS; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == from || (*from == '0' && at > from + 1) || number > (uint64_t)INT64_MAX + negative)
        return false;
    value->integer = (int64_t)(negative ? 0 - number : number);
    q->at = at;
    return true;
}

/* Continues behind TEXT, which must be next. */
static inline bool skip_text(struct quick_line *q, const char *text, size_t size)
{
    if (memcmp(q->at, text, size) != 0)
        return false;
    q->at += size;
    return true;
}

static inline bool read_quick_value(struct quick_line *q, struct th_json_value *value)
{
    value->json = NULL;
    switch (*q->at) {
    case '"':
        q->at++;
        value->kind = TH_JSON_KIND_STRING;
        return read_quick_string(q, value);
    case '-':
    case '0' ... '9':
        value->kind = TH_JSON_KIND_INTEGER;
        return read_quick_integer(q, value);
    case 't':
        value->kind = TH_JSON_KIND_BOOLEAN;
        value->integer = 1;
        return skip_text(q, "true", 4);
    case 'f':
        value->kind = TH_JSON_KIND_BOOLEAN;
        value->integer = 0;
        return skip_text(q, "false", 5);
    case '{':
        value->kind = TH_JSON_KIND_ETF;
        return skip_text(q, "{\"" TH_JSON_ETF "\":\"", 9) && read_quick_string(q, value) &&
               skip_text(q, "}", 1);
    default:
        return false;
    }
}

/* Names with their quotes and colon. */
static const struct {
    char text[24];
    int size, excess; /* bytes; bits of the first word that are behind the name */
} names[] = {
#define QUOTED(name) "\"" #name "\":"
#define BYTES_OF(text) ((int)sizeof text - 1)
#define X(name, may, must)                 \
    {QUOTED(name), BYTES_OF(QUOTED(name)), \
     BYTES_OF(QUOTED(name)) < 8 ? 64 - 8 * BYTES_OF(QUOTED(name)) : 0},
    TH_JSON_FIELDS(X)
#undef X
};

/* Compares words of eight bytes, which together cover the name. */
static inline bool is_field_name(const char *at, int field)
{
    const char *text = names[field].text;
    int size = names[field].size;

    if ((word_at(at) ^ word_at(text)) << names[field].excess != 0)
        return false;
    return size <= 8 || (word_at(at + size - 8) == word_at(text + size - 8) &&
                         word_at(at + size / 2 - 4) == word_at(text + size / 2 - 4));
}

/* Finds the field whose name is at AT. The field that followed LAST the last time is tried first.
 * Returns TH_JSON_FIELD_COUNT if there is none. */
static inline int find_field(struct th_json_event *json, const char *at, int last)
{
    int field = json->next[last + 1];

    if (__builtin_expect(is_field_name(at, field), 1))
        return field;
    for (field = 0; field < TH_JSON_FIELD_COUNT; field++)
        if (is_field_name(at, field)) {
            json->next[last + 1] = (unsigned char)field;
            break;
        }
    return field;
}

bool th_replay_json_read_quickly(struct th_json_event *json, const char *line, size_t size)
{
    struct quick_line q = {line, json->unescaped};
    int field = -1;

    if (size > TH_JSON_QUICK || *line != '{')
        return false;
    if (!q.unescaped) {
        q.unescaped = json->unescaped = th_alloc(TH_JSON_QUICK + TH_JSON_SLACK);
        json->cache = th_alloc_zero(TH_JSON_CACHE_SLOTS * sizeof *json->cache);
    }
    json->given = 0;
    do {
        q.at++;
        field = find_field(json, q.at, field);
        if (field == TH_JSON_FIELD_COUNT || th_replay_json_has(json, (enum th_json_field)field))
            return false;
        q.at += names[field].size;
        json->given |= 1u << field;
        if (!read_quick_value(&q, &json->values[field]))
            return false;
    } while (*q.at == ',');
    return *q.at == '}' && q.at + 1 == line + size;
}
