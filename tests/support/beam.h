/*
 * The real BEAM that tests of tests/oracle compare with: the erl that PATH finds. OTP 25 is what
 * the host follows; later ones do some things otherwise.
 */
#ifndef BEAM_H
#define BEAM_H

#include <stdbool.h>
#include <stddef.h>

/* True: it is OTP 26 or later. */
bool beam_is_later(void);

/* Asserts that a BEAM has ended well after COUNT terms; STATUS is as of pclose(). One of OTP 27 may
 * also have crashed: 27.3.4 does so at times, in the middle of thousands of terms that it writes.
 */
void assert_beam_ended(int status, size_t count);

#endif
