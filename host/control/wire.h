/* Lines of the wire: requests and their answers. Inner header of control/. */
#ifndef TH_CONTROL_WIRE_H
#define TH_CONTROL_WIRE_H

#include "control.h"

/* Each adds a line to OUT: the server's first one; the answer to what is no request; */
void th_wire_greet(const struct th_control_setup *setup, struct th_buffer *out);
void th_wire_complain(const char *text, struct th_buffer *out);

/* and the answer to the request in LINE, of SIZE bytes without the newline, which is carried out.
 * False: it was none. */
bool th_wire_answer(const struct th_control_setup *setup, const char *line, size_t size,
                    struct th_buffer *out);

#endif
