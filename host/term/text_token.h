/*
 * Tokens of Erlang text, one at a time, without reading ahead. For the parser of terms, and for
 * rooms that read more of the language.
 *
 *   struct th_scanner s = th_text_scanner(env, text, bytes);
 *   while ((status = th_text_scan_next(&s)) == TH_OK && s.token != TH_TOKEN_END) ...
 *   th_text_scanner_free(&s);
 *
 * Input is UTF-8 and untrusted.
 * Errors: a function that returns a status raises TH_MALFORMED with line, column and the text
 * there; TH_FAILED if the system refuses memory.
 */
#ifndef TH_TEXT_TOKEN_H
#define TH_TEXT_TOKEN_H

#include "env.h"

#include "host/base/buffer.h"

/* A token of one character is that character. */
enum th_token {
    TH_TOKEN_END = 0,
    TH_TOKEN_DOT = '.',  /* a full stop: white space or nothing follows */
    TH_TOKEN_TERM = 256, /* an atom, number, identifier or sigil's binary, in `value` */
    TH_TOKEN_STRING,     /* characters in `characters` */
    TH_TOKEN_FUN,        /* the word `fun`; `value` is the atom */
    TH_TOKEN_RESERVED,   /* any other reserved word; `value` is the atom */
    TH_TOKEN_VARIABLE,
    TH_TOKEN_OPEN_BINARY,  /* << */
    TH_TOKEN_CLOSE_BINARY, /* >> */
    TH_TOKEN_ARROW,        /* => */
    TH_TOKEN_OPERATOR      /* any other token of Erlang: from `start` to `at` */
};

struct th_scanner {
    th_env *env; /* the environment of the values */
    const char *text;
    const char *at; /* the first byte behind the token */
    const char *end;

    /* The token that was read last. */
    int token; /* enum th_token or a character */
    const char *start;
    th_term value;
    struct th_characters {
        const char *data; /* valid UTF-8, in the text itself or in `string` */
        size_t size;
    } characters;

    struct th_buffer string, atom; /* names and strings that are not contiguous in the text */

    bool unclosed; /* th_text_scan_next() failed as the text ends between quotes */
};

static inline struct th_scanner th_text_scanner(th_env *env, const char *text, size_t bytes)
{
    return (struct th_scanner){.env = env, .text = text, .at = text, .end = text + bytes};
}

static inline void th_text_scanner_free(struct th_scanner *s)
{
    th_buffer_free(&s->string);
    th_buffer_free(&s->atom);
}

/* Reads the next token. The characters of a string stay valid until the next string. */
enum th_status th_text_scan_next(struct th_scanner *s);

/* Returns the characters of a string as a list. TH_NONE, with an error raised, if there is no
 * memory. */
th_term th_text_scan_list(const struct th_scanner *s);

/* The place of AT in a text. */
struct th_place {
    size_t line;
    size_t column; /* in characters; both count from 1 */
};
struct th_place th_text_scan_place(const char *text, const char *at);

/* Raises "line L, column C: MESSAGE" for the place AT of the text, with the text there. */
enum th_status th_text_scan_fail(const struct th_scanner *s, const char *at, const char *format,
                                 ...) __attribute__((format(printf, 3, 4), cold));

#endif
