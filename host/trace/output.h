/*
 * The files that tracers write: one is written by one tracer, and none that the host reads.
 *
 * Which files are one is decided by device and inode; before they are there, by folder and name,
 * behind all links. Devices, FIFOs and stdout may be written by many. Inner header of trace/.
 */
#ifndef TH_TRACE_OUTPUT_H
#define TH_TRACE_OUTPUT_H

#include "attachment.h"

/*
 * TH_USAGE if ATTACHMENT, which calls nobody yet, would write a file that the tracer of another
 * session or meta breakpoint of its tracing writes, that stdout or stderr goes to, or that
 * th_tracing_check_outputs() refuses.
 * Meta breakpoints with one library and equal states have one tracer in this sense. A tracer that
 * is replaced writes its file up to unload(), so that the new one is refused as well if it would
 * write that file and is not loaded by upgrade(), which alone can take the file over.
 */
enum th_status th_outputs_check(struct th_attachment *attachment);

#endif
