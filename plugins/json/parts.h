/* What the files of this plugin have for each other; json.c has the whole of it. */
#ifndef JSON_PARTS_H
#define JSON_PARTS_H

#include <erl_nif.h>
#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Marked text: JSON in which Jansson finds nothing that it has no type for.
 *
 * Jansson's integers have 64 bits, it prints floats with more digits than they need, and its parser
 * refuses NUL in the keys of objects. What it does not have travels in strings, which it leaves
 * alone. In a marked text U+0001, which no JSON text has but as an escape, begins a mark: `\1\1` is
 * U+0001 itself, `\10` is U+0000, and a string that begins with `\1n` is the number that follows.
 */
enum { MARK = 1, MARK_NUL = '0', MARK_NUMBER = 'n' };

/* Puts the marks into TEXT, to be parsed. *MARKED is for enif_free(); NULL if there is no memory.
 */
char *marks_put(const char *text, size_t size, size_t *marked_size);
/* Where in TEXT that is which stands at PLACE in its marked form. */
size_t marks_place(const char *text, size_t size, size_t place);
/* Takes the marks out of TEXT, which Jansson has printed, where it is. The size that is left. */
size_t marks_take(char *text, size_t size);

/* --- Numbers and names ------------------------------------------------------------------------ */

/* Digits cost the square of their count: so many take 40 milliseconds to read, 230 to write. */
enum { MOST_DIGITS = 100000 };

/* An integer that 64 bits may not hold: SIZE characters, of which the first may be a minus, up to
 * MOST_DIGITS digits. 0 if there is no memory. */
ERL_NIF_TERM integer_read(ErlNifEnv *env, const char *text, size_t size);
/* The digits of such an integer, for enif_free(). *STEPS counts down as for encode_term(). NULL if
 * that gets below 0, the integer has more than MOST_DIGITS, or there is no memory. */
char *integer_write(ErlNifEnv *env, ERL_NIF_TERM integer, long *steps);

enum { FLOAT_TEXT = 32 };

/* The shortest text that is read back as D, in the notation that Erlang chooses. */
void float_write(double d, char text[FLOAT_TEXT]);

/* The name of an atom as UTF-8, *SIZE bytes, for enif_free(); NULL if there is no memory. */
char *atom_write(ErlNifEnv *env, ERL_NIF_TERM atom, size_t *size);

/* --- Terms ------------------------------------------------------------------------------------ */

/* The term of a JSON text; 0 after an exception was raised, {Position, Reason}. */
ERL_NIF_TERM decode_text(ErlNifEnv *env, const char *text, size_t size);

/* The stack that json_dump_callback() takes for each level is what bounds them: 300 bytes, of which
 * the dirty threads of a BEAM have 320 KiB. */
enum { MOST_LEVELS = 512 };

/* A millisecond; see encode_term(). */
enum { SLICE_STEPS = 2500 };

/* The JSON text of TERM, FLAGS being those of json_dump_callback(). *STEPS counts down what it
 * takes, 0.4 microseconds each; if it gets below 0 before all of the term has been seen,
 * ENCODE_TOO_MUCH. ENCODE_RAISED after an exception was raised. */
enum encoded { ENCODE_DONE, ENCODE_TOO_MUCH, ENCODE_RAISED };
enum encoded encode_term(ErlNifEnv *env, ERL_NIF_TERM term, size_t flags, long *steps,
                         ERL_NIF_TERM *text);

#endif
