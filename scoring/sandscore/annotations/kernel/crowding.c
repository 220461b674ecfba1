/* Annotations that repeat an earlier one of their record, and those that overlap one that repeats none. */
#include "kernel.h"

enum { FEW = 64 };

static int64_t span_of(const Rows *rows, int64_t row) { return (int64_t)rows->start[row] << 32 | rows->length[row]; }

/* In the order of their starts, none touching the one before. */
static int are_apart(const Rows *rows, int64_t row, int64_t last)
{
    int64_t reach = 0;
    for (; row < last && rows->start[row] >= reach; row++)
        reach = (int64_t)rows->start[row] + rows->length[row];
    return row == last;
}

/* The rows from ``first`` on in the order of their spans; of equal ones the first in the file comes first. */
static void sort_spans(const Rows *rows, int64_t first, int64_t count, int64_t *spans, int32_t *which)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t span = span_of(rows, first + i), at = i;
        for (; at > 0 && spans[at - 1] > span; at--) {
            spans[at] = spans[at - 1];
            which[at] = which[at - 1];
        }
        spans[at] = span;
        which[at] = (int32_t)(first + i);
    }
}

static int repeats_one(const Rows *rows, const int64_t *spans, const int32_t *which, int64_t at)
{
    for (int64_t before = at; before-- > 0 && spans[before] == spans[at];)
        if (rows->label[which[before]] == rows->label[which[at]])
            return 1;
    return 0;
}

/* A bit for each of a few rows. */
static void mark_clashes(const Rows *rows, int64_t first, int64_t count, uint64_t *repeats, uint64_t *overlaps)
{
    int64_t spans[FEW], reach = 0;
    int32_t which[FEW];
    *repeats = *overlaps = 0;
    sort_spans(rows, first, count, spans, which);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bit = UINT64_C(1) << (which[i] - first);
        int64_t start = spans[i] >> 32, end = start + (spans[i] & INT32_MAX);
        if (repeats_one(rows, spans, which, i)) {
            *repeats |= bit;
            continue;
        }
        if (start < reach)
            *overlaps |= bit;
        reach = end > reach ? end : reach;
    }
}

static void put_marked(uint64_t marks, int64_t first, int32_t *found, int64_t *count)
{
    for (; marks; marks &= marks - 1)
        found[(*count)++] = (int32_t)(first + __builtin_ctzll(marks));
}

void find_clashes(const Rows *rows, const int32_t *numbers, int32_t *repeats, int32_t *overlaps, int32_t *left,
                  int64_t *counts)
{
    int64_t row = 0;
    counts[0] = counts[1] = counts[2] = 0;
    for (int64_t record = 0; record < rows->records; record++) {
        int64_t first = row, count = rows->per_record[record];
        uint64_t repeating, overlapping;
        row += count;
        if (numbers[record] < 0 || are_apart(rows, first, row))
            continue;
        if (count > FEW) {
            for (int64_t one = first; one < row; one++)
                left[counts[2]++] = (int32_t)one;
            continue;
        }
        mark_clashes(rows, first, count, &repeating, &overlapping);
        put_marked(repeating, first, repeats, counts);
        put_marked(overlapping, first, overlaps, counts + 1);
    }
}
