/* Declarations for the files of this plugin; json.c describes the whole. */
#ifndef JSON_PARTS_H
#define JSON_PARTS_H

#include <erl_nif.h>
#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Marked text: JSON without the values for which Jansson has no type.
 *
 * Jansson's integers have 64 bits, it prints floats with more digits than necessary, and its parser
 * refuses NUL in the keys of objects. Values that Jansson cannot represent are put into strings,
 * which it does not change. In a marked text U+0001, which JSON text contains only as an escape,
 * begins a mark: `\1\1` is U+0001 itself, `\10` is U+0000, and a string that begins with `\1n` is
 * the number that follows.
 */
enum { MARK = 1, MARK_NUL = '0', MARK_NUMBER = 'n' };

/* Adds the marks to TEXT, for parsing. *MARKED is freed with enif_free(); NULL if there is no
 * memory. */
char *marks_put(const char *text, size_t size, size_t *marked_size);
/* Returns the position in TEXT that corresponds to PLACE in its marked form. */
size_t marks_place(const char *text, size_t size, size_t place);
/* Removes the marks from TEXT, which Jansson has printed, in place. Returns the remaining size. */
size_t marks_take(char *text, size_t size);

/* --- Numbers and names ------------------------------------------------------------------------ */

/* Digits cost the square of their number: this many take 40 milliseconds to read, 230 to write. */
enum { MOST_DIGITS = 100000 };

/* Makes an integer that 64 bits may not hold: SIZE characters, the first of which may be a minus,
 * up to MOST_DIGITS digits. 0 if there is no memory. */
ERL_NIF_TERM integer_read(ErlNifEnv *env, const char *text, size_t size);
/* Returns the digits of such an integer, freed with enif_free(). *STEPS counts down as for
 * encode_term(). NULL if *STEPS gets below 0, the integer has more than MOST_DIGITS, or there is no
 * memory. */
char *integer_write(ErlNifEnv *env, ERL_NIF_TERM integer, long *steps);

enum { FLOAT_TEXT = 32 };

/* Writes the shortest text that reads back as D, in the notation that Erlang chooses. */
void float_write(double d, char text[FLOAT_TEXT]);

/* Returns the name of an atom as UTF-8, *SIZE bytes, freed with enif_free(); NULL if there is no
 * memory. */
char *atom_write(ErlNifEnv *env, ERL_NIF_TERM atom, size_t *size);

/* --- Terms ------------------------------------------------------------------------------------ */

/* Makes the term of a JSON text; 0 after the exception {Position, Reason} was raised. */
ERL_NIF_TERM decode_text(ErlNifEnv *env, const char *text, size_t size);

/* Limit of nesting, due to the stack that json_dump_callback() uses for each level: 300 bytes, of
 * the 320 KiB of a BEAM's dirty threads. */
enum { MOST_LEVELS = 512 };

/* Steps in a millisecond; see encode_term(). */
enum { SLICE_STEPS = 2500 };

/* Encodes TERM as JSON text; FLAGS are those of json_dump_callback(). *STEPS counts down by steps
 * of 0.4 microseconds; if it gets below 0 before the whole term was seen, returns ENCODE_TOO_MUCH.
 * Returns ENCODE_RAISED after an exception was raised. */
enum encoded { ENCODE_DONE, ENCODE_TOO_MUCH, ENCODE_RAISED };
enum encoded encode_term(ErlNifEnv *env, ERL_NIF_TERM term, size_t flags, long *steps,
                         ERL_NIF_TERM *text);

#endif
