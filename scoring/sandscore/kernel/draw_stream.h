/* PCG64's stream (XSL-RR 128/64), number by number: of n units, number x draws the one at (x >> 32) * n >> 32. */
#ifndef SANDSCORE_DRAW_STREAM_H
#define SANDSCORE_DRAW_STREAM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 Wide;

#define WIDE(high, low) ((Wide)(high) << 64 | (low))
#define FACTOR_HIGH UINT64_C(0x2360ED051FC65DA4)
#define FACTOR_LOW UINT64_C(0x4385DF649FCCF645)
#define FACTOR WIDE(FACTOR_HIGH, FACTOR_LOW)

/* Stretches of the stream side by side: states of 128 bits, and what all of them step by. */
enum { DRAW_RUNS = 8 };
typedef struct {
    uint64_t low[DRAW_RUNS], high[DRAW_RUNS];
    uint64_t step_high, step_low;
} DrawRuns;

static inline uint64_t number_drawn(Wide *state, Wide step)
{
    *state = *state * FACTOR + step;
    uint64_t high = (uint64_t)(*state >> 64), mixed = high ^ (uint64_t)*state;
    int turn = (int)(high >> 58);
    return mixed >> turn | mixed << (-turn & 63);
}

static inline uint32_t place_drawn(Wide *state, Wide step, uint64_t units)
{
    return (uint32_t)((number_drawn(state, step) >> 32) * units >> 32);
}

#endif
