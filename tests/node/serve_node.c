/*
 * Calls the feeder of tracehost_node.so as the host does: in a process of its own, with pipes.
 *
 *     serve_node OBJECT NODE WISH [cookie=COOKIE] [cookie-file=FILE] [no-load] [for-ms=N] [read=BYTES]
 *
 * WISH is a file with the wish in external format. The records go to stdout, the lines of the status to
 * stderr. After BYTES bytes of records, the reader ends. The exit status is the feeder's, 128 + N if
 * signal N ended it.
 */
#include "host/replay/node/node.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_wish(const char *path, struct tracehost_node_request *request)
{
    static unsigned char wish[1 << 16];
    FILE *file = fopen(path, "r");

    if (!file) {
        perror(path);
        exit(2);
    }
    request->wish_size = fread(wish, 1, sizeof wish, file);
    request->wish = wish;
    fclose(file);
}

/* Copies records from FD to stdout, at most LIMIT bytes. */
static void copy_records(int fd, size_t limit)
{
    char bytes[4096];
    ssize_t got;

    while (limit > 0 && (got = read(fd, bytes, limit < sizeof bytes ? limit : sizeof bytes)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0 && write(STDOUT_FILENO, bytes, (size_t)got) != got)
            break;
        limit -= got > 0 ? (size_t)got : 0;
    }
    close(fd);
}

int main(int argc, char **argv)
{
    __typeof__(&tracehost_node_serve) serve;
    struct tracehost_node_request request = {0};
    size_t limit = SIZE_MAX;
    int records[2], status = 0;
    void *object = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    pid_t feeder;

    if (argc < 4 || !object || !(serve = dlsym(object, "tracehost_node_serve")) ||
        pipe(records) != 0) {
        fprintf(stderr, "serve_node: %s\n", argc < 4 ? "OBJECT NODE WISH" : dlerror());
        return 2;
    }
    request.node = argv[2];
    read_wish(argv[3], &request);
    for (int i = 4; i < argc; i++) {
        const char *value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : "";
        if (strncmp(argv[i], "cookie=", 7) == 0)
            request.cookie = value;
        else if (strncmp(argv[i], "cookie-file=", 12) == 0)
            request.cookie_file = value;
        else if (strcmp(argv[i], "no-load") == 0)
            request.no_load = true;
        else if (strncmp(argv[i], "for-ms=", 7) == 0)
            request.for_ns = strtoll(value, NULL, 10) * 1000000;
        else if (strncmp(argv[i], "port-rate=", 10) == 0)
            request.port_rate = strtoll(value, NULL, 10);
        else if (strncmp(argv[i], "port-bytes=", 11) == 0)
            request.port_bytes = strtoll(value, NULL, 10);
        else if (strncmp(argv[i], "read=", 5) == 0)
            limit = strtoull(value, NULL, 10);
    }
    feeder = fork();
    if (feeder == 0) {
        close(records[0]);
        exit(serve(&request, records[1], STDERR_FILENO));
    }
    close(records[1]);
    copy_records(records[0], limit);
    while (waitpid(feeder, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
