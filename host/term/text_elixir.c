/*
 * Names of modules and functions as Elixir writes them (text.h). One rule serves both sides, so that a
 * name is printed without quotes exactly if it is read without quotes.
 */
#include "atom.h"
#include "text.h"
#include "text_internal.h"
#include "text_token.h"
#include "utf8.h"

#include "host/base/buffer.h"

#include <string.h>

static const char prefix[] = "Elixir.";
enum { PREFIX = sizeof prefix - 1 };

/* --- Names without quotes --------------------------------------------------------------------- */

/* Returns the length of the word at the beginning of TEXT, which may end in ! or ?; 0: none.
 * Characters above 255 count as small letters. A word for a module may begin with a capital letter,
 * and contain @. */
static size_t word_size(const char *text, size_t bytes, bool module)
{
    unsigned wanted = module ? TH_CHAR_LOWER | TH_CHAR_UPPER : TH_CHAR_LOWER;
    size_t size = 0, used;
    uint32_t c;

    for (; size < bytes; size += used, wanted = TH_CHAR_NAME) {
        used = th_utf8_get(text + size, bytes - size, &c);
        if (c <= 255 && c != '_' && (!th_text_char_is(c, wanted) || (c == '@' && !module)))
            break;
    }
    return size + (size > 0 && size < bytes && (text[size] == '!' || text[size] == '?'));
}

static bool is_bare_name(const struct th_atom_name *name, bool module)
{
    return name->bytes > 0 && word_size(name->text, name->bytes, module) == name->bytes;
}

/* Returns the length of a part of an alias, such as Shop in MyApp.Shop; 0: none. */
static size_t part_size(const char *text)
{
    size_t size = 0;

    if (*text < 'A' || *text > 'Z')
        return 0;
    while ((text[size] & 0x80) == 0 && text[size] != '@' &&
           th_text_char_is((unsigned char)text[size], TH_CHAR_NAME))
        size++;
    return size;
}

/* Returns the length of the alias at the beginning of TEXT; 0: none. */
static size_t alias_size(const char *text)
{
    size_t size = part_size(text), part;

    while (text[size] == '.' && (part = part_size(text + size + 1)) > 0)
        size += 1 + part;
    return size;
}

/* Returns true if the alias TEXT is the name of the module as it is. */
static bool is_whole_name(const char *text)
{
    return strncmp(text, prefix, PREFIX - 1) == 0 && part_size(text) == PREFIX - 1;
}

/* Returns the alias in the name of a module of Elixir; NULL: the module is not one of Elixir. */
static const char *alias_in(const struct th_atom_name *name)
{
    const char *alias = name->text + PREFIX;

    if (name->bytes <= PREFIX || memcmp(name->text, prefix, PREFIX) != 0 || is_whole_name(alias))
        return NULL;
    return PREFIX + alias_size(alias) == name->bytes ? alias : NULL;
}

/* --- Printing --------------------------------------------------------------------------------- */

static void add_quoted(struct th_buffer *out, const struct th_atom_name *name)
{
    const char *text = name->text;
    uint32_t c;
    size_t used;

    th_buffer_add_byte(out, '"');
    for (size_t at = 0; at < name->bytes; at += used) {
        used = th_utf8_get(text + at, name->bytes - at, &c);
        if (c == '"' || (c == '#' && text[at + 1] == '{'))
            th_buffer_printf(out, "\\%c", (char)c);
        else if (c < 128 && th_text_char_escapes[c])
            th_buffer_printf(out, "\\%c", th_text_char_escapes[c]);
        else if (c < ' ' || (c > '~' && c < 0xA0))
            th_buffer_printf(out, "\\x{%X}", c);
        else
            th_buffer_add(out, text + at, used);
    }
    th_buffer_add_byte(out, '"');
}

bool th_text_elixir_alias(struct th_buffer *out, th_term atom)
{
    const char *alias = alias_in(th_atom_name(atom));

    if (alias)
        th_buffer_add_text(out, alias);
    return alias != NULL;
}

static void add_elixir_name(struct th_buffer *out, const struct th_atom_name *name, bool bare)
{
    if (bare)
        th_buffer_add(out, name->text, name->bytes);
    else
        add_quoted(out, name);
}

/* Operators that are names of functions without quotes. */
static const char *const operators[] = {
    "+",   "-",  "*",   "/",   "**",  "++",  "--", "+++", "---", "<>", "|>", "<<<", ">>>", "<<~",
    "~>>", "<~", "~>",  "<~>", "<",   ">",   "<=", ">=",  "==",  "!=", "=~", "===", "!==", "&&",
    "||",  "!",  "&&&", "|||", "^^^", "~~~", "@",  "&",   "^",   "=",  "|",  "::",  "<-",  NULL};

static bool is_operator(const char *text, size_t size)
{
    for (const char *const *o = operators; *o; o++)
        if (strlen(*o) == size && memcmp(*o, text, size) == 0)
            return true;
    return false;
}

void th_text_elixir_function(struct th_buffer *out, th_term module, th_term function)
{
    const struct th_atom_name *name = th_atom_name(module);

    if (!th_text_elixir_alias(out, module)) {
        th_buffer_add_byte(out, ':');
        add_elixir_name(out, name, is_bare_name(name, true));
    }
    th_buffer_add_byte(out, '.');
    if (function == TH_NONE) {
        th_buffer_add_byte(out, '_');
        return;
    }
    name = th_atom_name(function);
    add_elixir_name(out, name,
                    is_operator(name->text, name->bytes) ||
                        (is_bare_name(name, false) && strcmp(name->text, "_") != 0));
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reads the name in quotes, or the SIZE bytes, at *TEXT. */
static bool take_elixir_name(const char **text, size_t size, th_term *name)
{
    struct th_scanner s;
    th_env env;

    *name = size > 0 ? th_atom_utf8(*text, size) : TH_NONE;
    *text += size;
    if (size > 0 || **text != '"')
        return *name != TH_NONE;
    th_env_init(&env, TH_ENV_PLAIN);
    s = th_text_scanner(&env, *text, strlen(*text));
    if (th_text_scan_next(&s) == TH_OK && s.token == TH_TOKEN_STRING)
        *name = th_atom_utf8(s.characters.data, s.characters.size);
    *text = s.at;
    th_text_scanner_free(&s);
    th_env_release(&env);
    th_error_clear();
    return *name != TH_NONE;
}

th_term th_text_elixir_module(const char *text, size_t bytes)
{
    struct th_buffer name = {0};
    th_term module;

    if (bytes == 0 || alias_size(text) != bytes)
        return TH_NONE;
    th_buffer_add_text(&name, is_whole_name(text) ? "" : prefix);
    th_buffer_add(&name, text, bytes);
    module = th_atom_utf8((const char *)name.data, name.size);
    th_buffer_free(&name);
    return module;
}

static bool take_elixir_module(const char **text, th_term *module)
{
    size_t size = alias_size(*text);

    if (**text == ':') {
        ++*text;
        return take_elixir_name(text, word_size(*text, strlen(*text), true), module);
    }
    *module = th_text_elixir_module(*text, size);
    *text += size;
    return *module != TH_NONE;
}

/* Returns the length of the operator at TEXT, which ends the text or is before an arity; 0: none.
 * "//2" is the operator / with an arity. */
static size_t operator_size(const char *text)
{
    const char *slash = text[0] ? strrchr(text + 1, '/') : NULL;
    size_t size = slash ? (size_t)(slash - text) : strlen(text);

    return is_operator(text, size) ? size : 0;
}

bool th_text_elixir_take(const char **text, th_term *module, th_term *function)
{
    size_t characters, size;

    *module = *function = TH_NONE;
    if (!th_utf8_count(*text, strlen(*text), &characters) || !take_elixir_module(text, module) ||
        *(*text)++ != '.')
        return false;
    size = word_size(*text, strlen(*text), false);
    if (size == 1 && **text == '_') {
        ++*text;
        return true;
    }
    return take_elixir_name(text, size > 0 ? size : operator_size(*text), function);
}
