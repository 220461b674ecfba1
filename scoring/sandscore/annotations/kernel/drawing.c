/* Patients drawn with replacement from PCG64's stream, as numpy's raw numbers have it: of n, number x draws the one at
   (x >> 32) * n >> 32. */
#include <string.h>

#include "kernel.h"

__extension__ typedef unsigned __int128 Wide;

enum { LANES = 4, WORTH_LEAPING = 64 };

#define WIDE(high, low) ((Wide)(high) << 64 | (low))
#define FACTOR WIDE(UINT64_C(0x2360ED051FC65DA4), UINT64_C(0x4385DF649FCCF645))

/* The state so many numbers later, by squaring (Brown 1994). */
static Wide leap(Wide state, Wide step, uint64_t numbers)
{
    Wide factor = FACTOR, all = 1, sum = 0;
    for (; numbers; numbers >>= 1) {
        if (numbers & 1) {
            all *= factor;
            sum = sum * factor + step;
        }
        step *= factor + 1;
        factor *= factor;
    }
    return all * state + sum;
}

static inline uint64_t draw(Wide *state, Wide step, uint64_t units)
{
    *state = *state * FACTOR + step;
    uint64_t high = (uint64_t)(*state >> 64), mixed = high ^ (uint64_t)*state;
    int turn = (int)(high >> 58);
    return ((mixed >> turn | mixed << (-turn & 63)) >> 32) * units >> 32;
}

/* Each number waits for the one before; hence several runs of them side by side, each of which leaps to its beginning.
   ``weights`` has room for a weight a unit. */
#define DRAW_ALL(Weight)                                                                                           \
    static Wide draw_all_##Weight(Wide state, Wide step, uint64_t units, Weight *weights)                          \
    {                                                                                                              \
        uint64_t run = units / LANES, done = 0;                                                                    \
        if (units >= WORTH_LEAPING) {                                                                              \
            Wide first = state, second = leap(first, step, run), third = leap(second, step, run);                  \
            Wide fourth = leap(third, step, run);                                                                  \
            for (; done < run; done++) {                                                                           \
                weights[draw(&first, step, units)] += 1;                                                           \
                weights[draw(&second, step, units)] += 1;                                                          \
                weights[draw(&third, step, units)] += 1;                                                           \
                weights[draw(&fourth, step, units)] += 1;                                                          \
            }                                                                                                      \
            state = fourth;                                                                                        \
            done *= LANES;                                                                                         \
        }                                                                                                          \
        for (; done < units; done++)                                                                               \
            weights[draw(&state, step, units)] += 1;                                                               \
        return state;                                                                                              \
    }

DRAW_ALL(float)
DRAW_ALL(double)

void draw_weights(DrawStream *stream, const int64_t *sizes, int64_t strata, int64_t resamples, float *single,
                  double *wide)
{
    Wide state = WIDE(stream->state_high, stream->state_low), step = WIDE(stream->step_high, stream->step_low);
    for (int64_t i = 0; i < resamples; i++)
        for (int64_t stratum = 0; stratum < strata; stratum++) {
            uint64_t units = (uint64_t)sizes[stratum];
            if (single) {
                memset(single, 0, units * sizeof *single);
                state = draw_all_float(state, step, units, single);
                single += units;
            } else {
                memset(wide, 0, units * sizeof *wide);
                state = draw_all_double(state, step, units, wide);
                wide += units;
            }
        }
    stream->state_high = (uint64_t)(state >> 64);
    stream->state_low = (uint64_t)state;
}
