/* One-to-one pairs of sorted numbers that are near enough, as many as there can be. */
#include "kernel.h"

/* Whoever comes first takes the first gold number, not yet taken, that lies from its least to its most. */
void pair_near(const int64_t *gold, int64_t golds, const int64_t *least, const int64_t *most, int64_t count,
               uint8_t *paired)
{
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        while (at < golds && gold[at] < least[i])
            at++;
        paired[i] = at < golds && gold[at] <= most[i];
        at += paired[i];
    }
}
