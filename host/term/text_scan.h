/*
 * The scanner of Erlang text: characters to tokens, one at a time, no further ahead than asked.
 *
 * Input is UTF-8 and untrusted. Every function that returns a status raises TH_MALFORMED with line,
 * column and what stands there.
 */
#ifndef TH_TEXT_SCAN_H
#define TH_TEXT_SCAN_H

#include "env.h"
#include "host/base/base.h"

/* A token of one character is that character. */
enum th_token {
    TH_TOKEN_END = 0,
    TH_TOKEN_DOT = '.',  /* a full stop: white space or nothing follows */
    TH_TOKEN_TERM = 256, /* an atom, a number, an identifier, a sigil's binary: in `value` */
    TH_TOKEN_STRING,     /* the characters are in `characters` */
    TH_TOKEN_FUN,        /* the word; `value` is the atom */
    TH_TOKEN_RESERVED,   /* any other reserved word, likewise */
    TH_TOKEN_VARIABLE,
    TH_TOKEN_OPEN_BINARY,  /* << */
    TH_TOKEN_CLOSE_BINARY, /* >> */
    TH_TOKEN_ARROW,        /* => */
    TH_TOKEN_OPERATOR      /* anything else that Erlang has; of no use here */
};

struct th_scanner {
    th_env *env; /* where values go */
    const char *text;
    const char *at; /* behind the token */
    const char *end;

    /* The token that was read last. */
    int token; /* enum th_token or a character */
    const char *start;
    th_term value;
    struct th_characters {
        const char *data; /* valid UTF-8, in the text itself or in `string` */
        size_t size;
    } characters;

    struct th_buffer string, atom; /* what had to be put together */
};

static inline struct th_scanner th_scanner(th_env *env, const char *text, size_t bytes)
{
    return (struct th_scanner){.env = env, .text = text, .at = text, .end = text + bytes};
}

static inline void th_scanner_free(struct th_scanner *s)
{
    th_buffer_free(&s->string);
    th_buffer_free(&s->atom);
}

/* Reads the next token. The characters of a string stay until the next string. */
enum th_status th_scan_next(struct th_scanner *s);

/* White space and comments. */
void th_scan_blank(struct th_scanner *s);

/* Reads one character of valid UTF-8, which must be there. */
enum th_status th_scan_character(struct th_scanner *s, uint32_t *c);

/* The same within quotes: with VERBATIM unset a backslash begins an escape. */
enum th_status th_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c);

/* At a number, or '$' and a character; an identifier of the form PREFIX digits.digits...> */
enum th_status th_scan_number(struct th_scanner *s);
enum th_status th_scan_dollar(struct th_scanner *s);
enum th_status th_scan_identifier(struct th_scanner *s);

/* At the opening quote of an atom or string (with all strings that follow it), or at a '~'. */
enum th_status th_scan_quoted_atom(struct th_scanner *s);
enum th_status th_scan_string(struct th_scanner *s);
enum th_status th_scan_sigil(struct th_scanner *s);

/* How many '"' stand here. */
size_t th_scan_count_quotes(const struct th_scanner *s);

/* At three of them or more; appends to `string`. */
enum th_status th_scan_triple(struct th_scanner *s, bool verbatim);

/* The characters as a list. */
th_term th_scan_list(const struct th_scanner *s);

/* Raises "line L, column C: MESSAGE" for the place AT of the text, with what stands there. */
enum th_status th_scan_fail(const struct th_scanner *s, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same for quotes at `start` that are not closed by CLOSING. */
enum th_status th_scan_fail_open(const struct th_scanner *s, const char *closing)
    __attribute__((cold));

/* The same for a name at `start` that is no atom. */
enum th_status th_scan_fail_atom(const struct th_scanner *s) __attribute__((cold));

#endif
