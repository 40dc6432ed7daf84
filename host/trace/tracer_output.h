/*
 * The files that tracers write: one is written by one tracer, and none that the host reads.
 *
 * Which files are one is decided by device and inode; before they are there, by folder and name,
 * behind all links. Devices, FIFOs and stdout may be written by many. Inner header of trace/.
 */
#ifndef TH_TRACE_OUTPUT_H
#define TH_TRACE_OUTPUT_H

#include "attachment.h"

/* FIFOs that are to be written. While one is open here, opening it again does not wait. */
struct th_outputs {
    int *fifos;
    size_t count, capacity;
};

/*
 * Opens the FIFOs that ATTACHMENT, which calls nobody yet, would write; for OUTPUTS, which is {0}.
 * The caller ends with th_trace_outputs_close(), once the tracer has them open, too, or was
 * refused. The thread whose th_output_stop is set waits for their readers; for others, TH_FAILED if
 * a FIFO has no reader. Outside of sections.
 *
 * TH_USAGE if the tracer does not declare what is in its state, or if ATTACHMENT would write a file
 * that the tracer of another session or meta breakpoint of its tracing writes, that stdout or
 * stderr goes to, or that th_trace_check_outputs() refuses. Meta breakpoints with one library and
 * equal states have one tracer in this sense. A tracer that is replaced writes its file up to
 * unload(), so that the new one is refused as well if it would write that file and is not loaded by
 * upgrade(), which alone can take the file over.
 */
enum th_status th_trace_outputs_check(struct th_attachment *attachment, struct th_outputs *outputs);
void th_trace_outputs_close(struct th_outputs *outputs);

#endif
