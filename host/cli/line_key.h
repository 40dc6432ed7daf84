/* Keys of a terminal, from the bytes that it sends. Inner header of the line editor. */
#ifndef TH_LINE_KEY_H
#define TH_LINE_KEY_H

#include <stddef.h>

enum th_key {
    TH_KEY_NONE, /* one that nothing is done for */
    TH_KEY_PART, /* more has to come */
    TH_KEY_TEXT, /* characters to be inserted */
    TH_KEY_ENTER,
    TH_KEY_TAB,
    TH_KEY_END_OF_INPUT, /* Ctrl-D */
    TH_KEY_BACKSPACE,
    TH_KEY_DELETE,
    TH_KEY_LEFT,
    TH_KEY_RIGHT,
    TH_KEY_WORD_LEFT,
    TH_KEY_WORD_RIGHT,
    TH_KEY_HOME,
    TH_KEY_END,
    TH_KEY_UP,
    TH_KEY_DOWN,
    TH_KEY_KILL_TO_END,
    TH_KEY_KILL_TO_BEGIN,
    TH_KEY_KILL_WORD_BEFORE,
    TH_KEY_KILL_WORD_BEHIND,
    TH_KEY_CLEAR /* the screen */
};

/* The key that SIZE bytes, at least one, begin with; *USED of them are its. */
enum th_key th_key_read(const unsigned char *bytes, size_t size, size_t *used);

#endif
