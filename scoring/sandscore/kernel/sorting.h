/* What counting is made of. */
#ifndef SANDSCORE_SORTING_H
#define SANDSCORE_SORTING_H

#include "kernel.h"

/* ``spare`` has room for as many. */
void sort_keys(Key *keys, int64_t count, Key *spare);

/* Which place each of few numbers has in their order, equal ones in the order they come: all are compared with all,
   several at once, so that nothing has to be guessed. 0: one is too large for that. */
enum { FEW_NUMBERS = 64, ABREAST = 8, LARGEST_RANKED = INT32_MAX / FEW_NUMBERS - 1 };
static inline int32_t rank_numbers(const int32_t *numbers, int64_t count, int32_t *places)
{
    int32_t keys[FEW_NUMBERS], largest = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = numbers[i] > largest ? numbers[i] : largest;
        keys[i] = (int32_t)((uint32_t)numbers[i] * FEW_NUMBERS + (uint32_t)i);
    }
    for (int64_t first = 0; first < count; first += ABREAST) {
        int32_t before[ABREAST] = {0}, some[ABREAST] = {0};
        for (int lane = 0; lane < ABREAST && first + lane < count; lane++)
            some[lane] = keys[first + lane];
        for (int64_t i = 0; i < count; i++)
            for (int lane = 0; lane < ABREAST; lane++)
                before[lane] += keys[i] < some[lane];
        for (int lane = 0; lane < ABREAST && first + lane < count; lane++)
            places[first + lane] = before[lane];
    }
    return largest <= LARGEST_RANKED;
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
