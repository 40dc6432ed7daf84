/* Streams that are written again: by convert, by cut, and as JSON lines by dump. */
#ifndef TH_REWRITE_H
#define TH_REWRITE_H

#include "stream.h"

#include "host/replay/writer.h"

struct th_reader_selection;

struct th_rewrite_options {
    const char *to;        /* the format; NULL: the suffix of the output decides */
    bool by_name;          /* the command has no option for the format */
    uint64_t level, index; /* of compression; bytes of a frame. 0: the usual one, no index */
};

/* The options --index and --level, as members of struct th_rewrite_options. */
extern const struct th_argument th_cli_rewrite_arguments[];

/* Sets HOW's format, compression and index for the output OUT. Errors: TH_USAGE. */
enum th_status th_cli_rewrite_format(const struct th_rewrite_options *options, const char *out,
                                     struct th_writer_options *how);

/* A choice of records. */
struct th_rewrite_filter {
    /* Returns TH_OK if EVENT is to be written; TH_END if it is not; TH_MALFORMED, with the cause, if it is
     * damaged. Terms are decoded into ENV. */
    enum th_status (*takes)(void *context, struct th_event *event, th_env *env);
    void *context;
    const struct th_reader_selection *selection; /* for packed recordings */
};

/* Writes STREAM, which is not open, to OUTPUT (NULL: stdout), as HOW says, whose node the stream tells. FILTER
 * NULL: all records. Returns the exit status. */
int th_cli_rewrite(struct th_stream stream, const char *output, struct th_writer_options how,
                   const struct th_rewrite_filter *filter);

/* Returns false, with an error, if OUTPUT (NULL: stdout) is a file that the stream NAME is read from. */
bool th_cli_rewrite_is_another(const char *name, const char *output);

/* Tells the user what EVENT, a note of a running node, is for. */
void th_cli_rewrite_tell(struct th_stream *stream, struct th_event *event, th_env *env);

#endif
