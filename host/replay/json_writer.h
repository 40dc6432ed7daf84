/* Events as JSON lines, the way back of json_event.h. */
#ifndef TH_JSON_WRITER_H
#define TH_JSON_WRITER_H

#include "json_fields.h"

/* Appends the first line, which tells the node and the encoding of atoms. */
void th_json_write_header(struct th_buffer *out, const struct th_etf_node *here, bool utf8_atoms);

/* Appends a line. TH_MALFORMED if the event's content is damaged, TH_FAILED if the line is longer
 * than TH_JSON_LINE_LIMIT: then nothing was appended. */
enum th_status th_json_write_event(struct th_buffer *out, struct th_event *event, th_env *env,
                                   const struct th_etf_node *here);

#endif
