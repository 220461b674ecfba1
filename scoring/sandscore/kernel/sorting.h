/* What counting is made of. */
#ifndef SANDSCORE_SORTING_H
#define SANDSCORE_SORTING_H

#include "kernel.h"

/* ``spare`` has room for as many. */
void sort_keys(Key *keys, int64_t count, Key *spare);

/* One more into numbers that are in order; so many are sorted in this way soonest. */
enum { FEW_NUMBERS = 40 };
static inline void insert_number(uint64_t *sorted, int64_t count, uint64_t number)
{
    for (; count > 0 && sorted[count - 1] > number; count--)
        sorted[count] = sorted[count - 1];
    sorted[count] = number;
}

/* Some of a side's annotations, in the order of their starts. */
typedef struct {
    const CountedMention *mentions;
    const int32_t *which;
    int64_t count;
} Loose;

/* The largest number of one-to-one pairs of gold and predicted annotations, those that are paired left out, that
   overlap. */
int64_t overlapping_pairs(const Counting *c, const Loose loose[2]);

/* Whether a character of an unpaired gold annotation is covered by no prediction. */
int32_t leaks(const Loose *gold, const CountedMention *predicted, int64_t predictions);

/* What of gold no mask covers goes to ``open``, both sides being in the order of their starts; 0: there is no room, or
   mentions cannot be told apart. */
int32_t uncover(const Counting *c, int64_t golds, int64_t predictions, int64_t note);

#endif
