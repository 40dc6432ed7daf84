/*
 * Finds out about the real BEAM to which the tests in tests/oracle compare the host: the first erl
 * in PATH. The host follows OTP 25; later releases differ in places.
 */
#ifndef BEAM_H
#define BEAM_H

#include <stdbool.h>
#include <stddef.h>

/* In an emulator, makes this machine's BEAM, which is faster, the first in PATH. The BEAM loads nothing that was
 * compiled for the emulated machine. */
void beam_of_machine(void);

/* True if the BEAM is OTP 26 or later. */
bool beam_is_later(void);

/* Asserts that a BEAM ended well after COUNT terms. STATUS is the result of pclose().
 * If the BEAM is OTP 26 or later and COUNT is above 1000, an end by SIGSEGV is printed, not refused:
 * a scheduler of OTP 27.3.4 crashes in text.escript and match.escript, which load no library, always
 * near the same term. */
void assert_beam_ended(int status, size_t count);

#endif
