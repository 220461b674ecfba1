/* Numbers of the stream as places among units, several at a time. */
#ifndef SANDSCORE_DRAWN_PLACES_H
#define SANDSCORE_DRAWN_PLACES_H

#include "draw_stream.h"
#include "vectors.h"

#if LANES == 32
#define EACH(number) _mm256_set1_epi64x((int64_t)(number))

/* The next states of four runs; ``step`` and factors have 32 bits of a number each, the lowest first. No sum that is
   made on the way has more than 64 bits: (2^32 - 1)^2 and twice 2^32 - 1 is the most. */
static inline void step_four(__m256i *low, __m256i *high, const __m256i *factor, const __m256i *step)
{
    __m256i low_top = _mm256_srli_epi64(*low, 32), high_top = _mm256_srli_epi64(*high, 32);
    __m256i first = _mm256_add_epi64(_mm256_mul_epu32(*low, factor[0]), step[0]);
    __m256i second = _mm256_add_epi64(_mm256_mul_epu32(*low, factor[1]), _mm256_srli_epi64(first, 32));
    second = _mm256_add_epi64(second, step[1]);
    __m256i crossed = _mm256_blend_epi32(second, _mm256_setzero_si256(), 0xAA);
    crossed = _mm256_add_epi64(_mm256_mul_epu32(low_top, factor[0]), crossed);
    __m256i top = _mm256_add_epi64(_mm256_mul_epu32(*low, factor[3]), _mm256_mul_epu32(low_top, factor[2]));
    top = _mm256_add_epi64(top, _mm256_mul_epu32(*high, factor[1]));
    top = _mm256_add_epi64(top, _mm256_mul_epu32(high_top, factor[0]));
    __m256i sum = _mm256_add_epi64(_mm256_mul_epu32(low_top, factor[1]), _mm256_slli_epi64(top, 32));
    sum = _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_mul_epu32(*low, factor[2]), step[2]));
    sum = _mm256_add_epi64(sum, _mm256_mul_epu32(*high, factor[0]));
    sum = _mm256_add_epi64(sum, _mm256_srli_epi64(second, 32));
    *high = _mm256_add_epi64(sum, _mm256_srli_epi64(crossed, 32));
    *low = _mm256_blend_epi32(first, _mm256_slli_epi64(crossed, 32), 0xAA);
}

/* Four places, in the upper halves of four numbers. */
static inline __m256i four_places(__m256i low, __m256i high, __m256i units)
{
    __m256i mixed = _mm256_xor_si256(low, high), turn = _mm256_srli_epi64(high, 58);
    __m256i back = _mm256_sub_epi64(EACH(64), turn); /* a shift by 64 leaves nothing */
    mixed = _mm256_or_si256(_mm256_srlv_epi64(mixed, turn), _mm256_sllv_epi64(mixed, back));
    return _mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), units);
}

static void places_drawn(DrawRuns *runs, int64_t steps, uint64_t units, uint32_t *places)
{
    const __m256i factor[] = {EACH((uint32_t)FACTOR_LOW), EACH(FACTOR_LOW >> 32), EACH((uint32_t)FACTOR_HIGH),
                              EACH(FACTOR_HIGH >> 32)};
    const __m256i step[] = {EACH((uint32_t)runs->step_low), EACH(runs->step_low >> 32), EACH(runs->step_high)};
    const __m256i each = EACH(units);
    __m256i low = lanes_at((const uint8_t *)runs->low), high = lanes_at((const uint8_t *)runs->high);
    __m256i other_low = lanes_at((const uint8_t *)(runs->low + 4));
    __m256i other_high = lanes_at((const uint8_t *)(runs->high + 4));
    for (int64_t i = 0; i < steps; i++, places += DRAW_RUNS) {
        step_four(&low, &high, factor, step);
        step_four(&other_low, &other_high, factor, step);
        __m256i some = four_places(low, high, each), others = four_places(other_low, other_high, each);
        __m256i both = _mm256_blend_epi32(_mm256_srli_epi64(some, 32), others, 0xAA);
        _mm256_storeu_si256((__m256i *)(void *)places, both);
    }
    _mm256_storeu_si256((__m256i *)(void *)runs->low, low);
    _mm256_storeu_si256((__m256i *)(void *)runs->high, high);
    _mm256_storeu_si256((__m256i *)(void *)(runs->low + 4), other_low);
    _mm256_storeu_si256((__m256i *)(void *)(runs->high + 4), other_high);
}
#undef EACH

#else
/* Of each run so many steps; several of them side by side, since each number waits for the one before. */
static void places_drawn(DrawRuns *runs, int64_t steps, uint64_t units, uint32_t *places)
{
    enum { BESIDE = 4 };
    Wide step = WIDE(runs->step_high, runs->step_low);
    for (int first = 0; first < DRAW_RUNS; first += BESIDE) {
        Wide state[BESIDE];
        for (int run = 0; run < BESIDE; run++)
            state[run] = WIDE(runs->high[first + run], runs->low[first + run]);
        for (int64_t i = 0; i < steps; i++, places += BESIDE)
            for (int run = 0; run < BESIDE; run++)
                places[run] = place_drawn(state + run, step, units);
        for (int run = 0; run < BESIDE; run++) {
            runs->high[first + run] = (uint64_t)(state[run] >> 64);
            runs->low[first + run] = (uint64_t)state[run];
        }
    }
}
#endif

#endif
