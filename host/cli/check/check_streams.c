#include "check_streams.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/memory.h"
#include "host/replay/generate.h"
#include "host/replay/reader.h"

#include <string.h>

enum {
    RECORDED = 4 << 20 /* limit of kept records, in bytes; half of it is enough */
};

/* Keeps the beginning of READER's records, and closes READER. */
static void check_streams_keep(struct th_reader *reader, struct th_replay_kept *kept)
{
    kept->most = RECORDED;
    if (th_replay_kept_read(kept, reader, RECORDED / 2) != TH_OK)
        th_error_clear(); /* the last record was too large */
    th_replay_reader_close(reader);
}

/* Returns the numbers from 0 to COUNT - 1. Owner: the caller frees them with th_free(). */
static size_t *all_numbers(size_t count)
{
    size_t *numbers = th_alloc((count + 1) * sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = i;
    return numbers;
}

enum th_status th_check_tour_make(struct th_check_tour *tour)
{
    struct th_buffer bytes = {0};
    struct th_reader *reader;
    enum th_status status;

    *tour = (struct th_check_tour){0};
    th_replay_generate_tour(&bytes, &tour->shapes);
    tour->covered = th_alloc_zero(th_replay_shapes() + 1);
    status = th_replay_kept_open(&bytes, "the records", NULL, &reader);
    if (status == TH_OK)
        check_streams_keep(reader, &tour->kept);
    tour->left_count = tour->kept.count;
    tour->left = all_numbers(tour->left_count);
    th_buffer_free(&bytes);
    return status;
}

void th_check_tour_free(struct th_check_tour *tour)
{
    th_replay_kept_free(&tour->kept);
    th_free(tour->shapes);
    th_free(tour->left);
    th_free(tour->covered);
}

void th_check_tour_write(const struct th_check_tour *tour, struct th_buffer *stream)
{
    th_replay_kept_write(&tour->kept, tour->left, tour->left_count, stream);
}

void th_check_tour_leave_out(struct th_check_tour *tour, uint64_t record)
{
    if (record > tour->left_count)
        return;
    memmove(&tour->left[record - 1], &tour->left[record],
            (tour->left_count - record) * sizeof *tour->left);
    tour->left_count--;
}

void th_check_tour_cover(struct th_check_tour *tour, const struct th_check_page *page)
{
    for (size_t i = 0; i < tour->left_count && i < TH_CHECK_RECORDS; i++)
        if (page->traced[i] && tour->shapes[tour->left[i]] < th_replay_shapes())
            tour->covered[tour->shapes[tour->left[i]]] = true;
}

enum th_status th_check_recording_read(const char *name, struct th_buffer *stream)
{
    struct th_replay_kept kept = {0};
    struct th_reader *reader;
    enum th_status status = th_replay_reader_open(name, NULL, &reader);
    size_t *records;

    if (status != TH_OK)
        return status;
    check_streams_keep(reader, &kept);
    records = all_numbers(kept.count);
    th_replay_kept_write(&kept, records, kept.count, stream);
    th_free(records);
    th_replay_kept_free(&kept);
    return TH_OK;
}
