/* Records whose annotations may touch one another: only there can one repeat or overlap another. */
#include "kernel.h"

enum { FEW = 64 };

static int64_t span_of(const Rows *rows, int64_t row) { return (int64_t)rows->start[row] << 32 | rows->length[row]; }

static int overlap(const int64_t *spans, int64_t count)
{
    int64_t reach = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t start = spans[i] >> 32;
        if (start < reach)
            return 1;
        reach = start + (spans[i] & INT32_MAX);
    }
    return 0;
}

/* Many annotations in no order are not looked at: they may touch. */
static int is_crowded(const Rows *rows, int64_t row, int64_t last)
{
    int64_t spans[FEW], first = row, reach = 0;
    for (; row < last && rows->start[row] >= reach; row++)
        reach = (int64_t)rows->start[row] + rows->length[row];
    if (row == last)
        return 0;
    if (rows->start[row] >= rows->start[row - 1] || last - first > FEW)
        return 1;
    for (row = first; row < last; row++) {
        int64_t span = span_of(rows, row), at = row - first;
        for (; at > 0 && spans[at - 1] > span; at--)
            spans[at] = spans[at - 1];
        spans[at] = span;
    }
    return overlap(spans, last - first);
}

int64_t find_crowded(const Rows *rows, int32_t *found)
{
    int64_t row = 0, count = 0;
    for (int64_t record = 0; record < rows->records; record++) {
        int64_t first = row;
        row += rows->per_record[record];
        if (is_crowded(rows, first, row))
            for (int64_t one = first; one < row; one++)
                found[count++] = (int32_t)one;
    }
    return count;
}
