#include "text_segment.h"

#include "atom.h"
#include "make.h"

#include <inttypes.h>
#include <string.h>

/* --- Types ------------------------------------------------------------------------------------ */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { NATIVE = TH_ORDER_LITTLE };
#else
enum { NATIVE = TH_ORDER_BIG };
#endif

static const struct word {
    const char *name;
    unsigned char type, order, sign;
} words[] = {
    {"integer", TH_SEGMENT_INTEGER, 0, 0},
    {"float", TH_SEGMENT_FLOAT, 0, 0},
    {"binary", TH_SEGMENT_BINARY, 0, 0},
    {"bytes", TH_SEGMENT_BINARY, 0, 0},
    {"bitstring", TH_SEGMENT_BITSTRING, 0, 0},
    {"bits", TH_SEGMENT_BITSTRING, 0, 0},
    {"utf8", TH_SEGMENT_UTF8, 0, 0},
    {"utf16", TH_SEGMENT_UTF16, 0, 0},
    {"utf32", TH_SEGMENT_UTF32, 0, 0},
    {"big", 0, TH_ORDER_BIG, 0},
    {"little", 0, TH_ORDER_LITTLE, 0},
    {"native", 0, NATIVE, 0},
    {"signed", 0, 0, TH_SIGN_YES},
    {"unsigned", 0, 0, TH_SIGN_NO},
};

static const struct word *find_word(th_term atom)
{
    const char *name = th_atom_name(atom)->text;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    return NULL;
}

/* Behind the word unit. */
static enum th_status read_unit(struct th_scanner *s, struct th_spec *spec)
{
    enum th_status status = th_text_scan_next(s);
    int64_t unit;

    if (status == TH_OK && s->token == ':')
        status = th_text_scan_next(s);
    else if (status == TH_OK)
        status = th_text_scan_fail(s, s->start, "expected ':' behind unit");
    if (status != TH_OK)
        return status;
    if (s->token != TH_TOKEN_TERM || !th_get_int64(s->value, &unit) || unit < 1 || unit > 256)
        return th_text_scan_fail(s, s->start, "expected a unit from 1 to 256");
    if (spec->unit != 0 && spec->unit != (unsigned)unit)
        return th_text_scan_fail(s, s->start, "expected one unit");
    spec->unit = (unsigned)unit;
    return TH_OK;
}

/* Sets *OLD to NEW unless that is nothing; false if it is something else already. */
static bool agree(unsigned *old, unsigned new)
{
    if (new != 0 && *old != 0 && *old != new)
        return false;
    if (new != 0)
        *old = new;
    return true;
}

static enum th_status read_word(struct th_scanner *s, struct th_spec *spec)
{
    const struct word *word;

    if (s->token != TH_TOKEN_TERM || !th_is_atom(s->value))
        return th_text_scan_fail(s, s->start, "expected a type of a segment");
    if (strcmp(th_atom_name(s->value)->text, "unit") == 0)
        return read_unit(s, spec);
    word = find_word(s->value);
    if (word == NULL)
        return th_text_scan_fail(s, s->start, "expected a type of a segment");
    if (!agree(&spec->type, word->type) || !agree(&spec->order, word->order) ||
        !agree(&spec->sign, word->sign))
        return th_text_scan_fail(s, s->start, "expected a type that goes with those before it");
    return TH_OK;
}

enum th_status th_text_spec_read_types(struct th_scanner *s, struct th_spec *spec)
{
    enum th_status status;

    do {
        status = th_text_scan_next(s);
        if (status == TH_OK)
            status = read_word(s, spec);
        if (status == TH_OK)
            status = th_text_scan_next(s);
    } while (status == TH_OK && s->token == '-');
    return status;
}

/* --- Sizes ------------------------------------------------------------------------------------ */

/* Times any unit it fits 64 bits; what is built is bounded elsewhere. */
static const int64_t largest_size = (int64_t)1 << 50;

static enum th_status take_size(struct th_scanner *s, struct th_spec *spec)
{
    int64_t size;

    if (s->token != TH_TOKEN_TERM || !th_get_int64(s->value, &size) || size < 0 ||
        size > largest_size)
        return th_text_scan_fail(s, s->start, "expected a size from 0 to %" PRId64, largest_size);
    spec->sized = true;
    spec->size = (uint64_t)size;
    return TH_OK;
}

/* Behind the ':'. An integer, perhaps in parentheses. */
static enum th_status read_size(struct th_scanner *s, struct th_spec *spec)
{
    size_t open = 0;
    enum th_status status = th_text_scan_next(s);

    for (; status == TH_OK && s->token == '('; open++)
        status = th_text_scan_next(s);
    if (status == TH_OK && open > 0 && s->token == '+')
        status = th_text_scan_next(s);
    if (status == TH_OK)
        status = take_size(s, spec);
    for (; status == TH_OK && open > 0; open--) {
        status = th_text_scan_next(s);
        if (status == TH_OK && s->token != ')')
            status = th_text_scan_fail(s, s->start, "expected ')'");
    }
    return status == TH_OK ? th_text_scan_next(s) : status;
}

/* For strings of bits `size` and `unit` stay as they are. */
const char *th_text_spec_complete(struct th_spec *spec)
{
    if (spec->type == 0)
        spec->type = TH_SEGMENT_INTEGER;
    if (spec->type >= TH_SEGMENT_UTF8 && (spec->sized || spec->unit != 0))
        return "a utf segment without a size";
    if (spec->type <= TH_SEGMENT_FLOAT && spec->unit != 0 && !spec->sized)
        return "a size with the unit";
    if (spec->unit == 0)
        spec->unit = spec->type == TH_SEGMENT_BINARY ? 8 : 1;
    if (!spec->sized && spec->type <= TH_SEGMENT_FLOAT)
        spec->size = spec->type == TH_SEGMENT_FLOAT ? 64 : 8;
    return NULL;
}

enum th_status th_text_spec_read(struct th_scanner *s, const char *place, struct th_spec *spec)
{
    enum th_status status = th_text_scan_next(s);
    const char *wanted;

    *spec = (struct th_spec){.place = place};
    if (status == TH_OK && s->token == ':')
        status = read_size(s, spec);
    if (status == TH_OK && s->token == '/')
        status = th_text_spec_read_types(s, spec);
    if (status != TH_OK)
        return status;
    wanted = th_text_spec_complete(spec);
    return wanted ? th_text_scan_fail(s, place, "expected %s", wanted) : TH_OK;
}
