/* Sums of a column's words by column and by row of a table, of which its digest is made. */
#include <string.h>

#include "kernel.h"

static uint64_t add_row(const uint64_t *restrict row, uint64_t *restrict by_column)
{
    uint64_t sum = 0;
    for (int column = 0; column < SUMMED_WORDS; column++) {
        by_column[column] += row[column];
        sum += row[column];
    }
    return sum;
}

int64_t sum_tables(const uint64_t *words, int64_t count, uint64_t *sums)
{
    uint64_t *next = sums;
    for (int64_t left = count; left > 0; left -= (int64_t)SUMMED_WORDS * SUMMED_ROWS) {
        uint64_t *by_column = next;
        next += SUMMED_WORDS;
        memset(by_column, 0, SUMMED_WORDS * sizeof *by_column);
        for (int64_t row = 0; row < SUMMED_ROWS && (row + 1) * SUMMED_WORDS <= left; row++, words += SUMMED_WORDS)
            *next++ = add_row(words, by_column);
    }
    return next - sums;
}
