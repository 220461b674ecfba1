/* Annotations that repeat an earlier one of their record, and those that overlap one that repeats none. */
#include <string.h>

#include "sorting.h"

enum { FEW = 256, BYTE = 8, BYTES = 1 << BYTE, REPEATS = 1, OVERLAPS = 2 };

static int64_t span_of(const Rows *rows, int64_t row) { return (int64_t)rows->start[row] << 32 | rows->length[row]; }

/* In the order of their starts, none touching the one before. */
static int are_apart(const Rows *rows, int64_t row, int64_t last)
{
    int64_t reach = 0;
    for (; row < last && rows->start[row] >= reach; row++)
        reach = (int64_t)rows->start[row] + rows->length[row];
    return row == last;
}

static int comes_behind(const Rows *rows, int32_t one, int32_t other)
{
    int64_t span = span_of(rows, one), than = span_of(rows, other);
    return span != than ? span > than : (uint32_t)rows->label[one] > (uint32_t)rows->label[other];
}

/* Rows that follow one another; 0, with nothing done, where one starts too far behind. */
static int32_t sort_fewest(const Rows *rows, int32_t *which, int64_t count)
{
    int32_t places[FEW_NUMBERS], first = which[0];
    if (!rank_numbers(rows->start + first, count, places))
        return 0;
    for (int64_t i = 0; i < count; i++)
        which[places[i]] = first + (int32_t)i;
    for (int64_t i = 1; i < count; i++) { /* hardly any start is there twice */
        int32_t row = which[i];
        int64_t at = i;
        for (; at > 0 && comes_behind(rows, which[at - 1], row); at--)
            which[at] = which[at - 1];
        which[at] = row;
    }
    return 1;
}

/* By span, then by label, of equal ones the first in the file first. */
static void sort_few(const Rows *rows, int32_t *which, int64_t count)
{
    Key keys[FEW], spare[FEW];
    for (int64_t i = 0; i < count; i++)
        keys[i] = (Key){(uint64_t)span_of(rows, which[i]), (uint64_t)(uint32_t)rows->label[which[i]] << 32 | (uint32_t)which[i]};
    sort_keys(keys, count, spare);
    for (int64_t i = 0; i < count; i++)
        which[i] = (int32_t)(keys[i].minor & UINT32_MAX);
}

static void sort_by_byte(const int32_t *column, int shift, const int32_t *which, int64_t count, int32_t *into)
{
    int64_t next[BYTES] = {0}, before = 0;
    for (int64_t i = 0; i < count; i++)
        next[(uint32_t)column[which[i]] >> shift & (BYTES - 1)]++;
    for (int value = 0; value < BYTES; value++) {
        int64_t many = next[value];
        next[value] = before;
        before += many;
    }
    for (int64_t i = 0; i < count; i++)
        into[next[(uint32_t)column[which[i]] >> shift & (BYTES - 1)]++] = which[i];
}

/* By start, length and label, of equal ones the first in the file first; as many steps for each, however many they are. */
static void sort_rows(const Rows *rows, int32_t *which, int64_t count, int32_t *spare)
{
    if (count <= FEW_NUMBERS && sort_fewest(rows, which, count))
        return;
    if (count <= FEW) {
        sort_few(rows, which, count);
        return;
    }
    const int32_t *columns[] = {rows->label, rows->length, rows->start};
    int32_t *from = which, *into = spare;
    for (int i = 0; i < 3; i++) {
        uint32_t differing = 0;
        for (int64_t at = 0; at < count; at++)
            differing |= (uint32_t)(columns[i][which[at]] ^ columns[i][which[0]]);
        for (int shift = 0; shift < 32; shift += BYTE) {
            if (!(differing >> shift & (BYTES - 1)))
                continue;
            sort_by_byte(columns[i], shift, from, count, into);
            int32_t *other = from;
            from = into;
            into = other;
        }
    }
    if (from != which)
        memcpy(which, from, (size_t)count * sizeof *which);
}

/* What sorted rows do, by their places from ``first`` on. Of one span the first in the file comes first. */
static void mark_clashes(const Rows *rows, const int32_t *which, int64_t count, int64_t first, int32_t *marks)
{
    int64_t reach = 0;
    memset(marks, 0, (size_t)count * sizeof *marks);
    for (int64_t i = 0, next; i < count; i = next) {
        int64_t span = span_of(rows, which[i]), end = (span >> 32) + (span & INT32_MAX);
        int32_t foremost = which[i];
        for (next = i + 1; next < count && span_of(rows, which[next]) == span; next++) {
            if (rows->label[which[next]] == rows->label[which[next - 1]])
                marks[which[next] - first] = REPEATS;
            foremost = which[next] < foremost ? which[next] : foremost;
        }
        for (int64_t at = i; at < next; at++) {
            int64_t reached = which[at] != foremost && end > reach ? end : reach;
            if (!marks[which[at] - first] && span >> 32 < reached)
                marks[which[at] - first] = OVERLAPS;
        }
        reach = end > reach ? end : reach;
    }
}

/* Of a record with a clash: what is not written yet of each of the three rooms serves as memory. */
static void look_at(const Rows *rows, int64_t first, int64_t count, int32_t *repeats, int32_t *overlaps, int32_t *which,
                    int64_t *counts)
{
    int32_t *marks = repeats + first;
    for (int64_t i = 0; i < count; i++)
        which[i] = (int32_t)(first + i);
    sort_rows(rows, which, count, overlaps + first);
    mark_clashes(rows, which, count, first, marks);
    for (int64_t i = 0; i < count; i++) {
        int32_t mark = marks[i];
        if (mark == REPEATS)
            repeats[counts[0]++] = (int32_t)(first + i);
        else if (mark == OVERLAPS)
            overlaps[counts[1]++] = (int32_t)(first + i);
    }
}

void find_clashes(const Rows *rows, const int32_t *numbers, int32_t *repeats, int32_t *overlaps, int32_t *spare,
                  int64_t *counts)
{
    int64_t row = 0;
    counts[0] = counts[1] = 0;
    for (int64_t record = 0; record < rows->records; record++) {
        int64_t first = row, count = rows->per_record[record];
        row += count;
        if (numbers[record] >= 0 && !are_apart(rows, first, row))
            look_at(rows, first, count, repeats, overlaps, spare, counts);
    }
}
