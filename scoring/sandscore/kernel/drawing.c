/* Patients drawn with replacement from PCG64's stream, as numpy's raw numbers have it: how often each is, or what those
   that are drawn come to. */
#include <string.h>

#include "kernel.h"
#include "variants.h"

enum { WORTH_LEAPING = 64, STEPS_TOGETHER = 64, MOST_PLACES = DRAW_RUNS * STEPS_TOGETHER };

/* What a state is multiplied by, and what is added, to be where it is so many numbers later. */
typedef struct {
    Wide all, sum;
    uint64_t numbers;
} Leap;

/* A stratum's draws on their way: first those of all runs, then the few that are left. */
typedef struct {
    DrawRuns runs;
    Leap leap;
    Wide state, step;
    uint64_t units, left;
    int64_t steps;
} Draws;

/* By squaring (Brown 1994); mostly the last one will do again. */
static void find_leap(Leap *leap, Wide step, uint64_t numbers)
{
    Wide factor = FACTOR;
    if (leap->numbers == numbers)
        return;
    *leap = (Leap){1, 0, numbers};
    for (; numbers; numbers >>= 1) {
        if (numbers & 1) {
            leap->all *= factor;
            leap->sum = leap->sum * factor + step;
        }
        step *= factor + 1;
        factor *= factor;
    }
}

static Draws draws_of(const DrawStream *stream)
{
    Draws draws = {.leap = {1, 0, 0}};
    draws.runs.step_high = stream->step_high;
    draws.runs.step_low = stream->step_low;
    draws.state = WIDE(stream->state_high, stream->state_low);
    draws.step = WIDE(stream->step_high, stream->step_low);
    return draws;
}

static void put_state(DrawStream *stream, Wide state)
{
    stream->state_high = (uint64_t)(state >> 64);
    stream->state_low = (uint64_t)state;
}

/* Each run leaps to its beginning. */
static void begin_stratum(Draws *draws, uint64_t units)
{
    draws->units = draws->left = units;
    draws->steps = 0;
    if (units < WORTH_LEAPING)
        return;
    uint64_t run = units / DRAW_RUNS;
    find_leap(&draws->leap, draws->step, run);
    for (int i = 0; i < DRAW_RUNS; i++) {
        draws->runs.high[i] = (uint64_t)(draws->state >> 64);
        draws->runs.low[i] = (uint64_t)draws->state;
        draws->state = draws->leap.all * draws->state + draws->leap.sum;
    }
    draws->steps = (int64_t)run;
    draws->left = units - run * DRAW_RUNS;
}

/* The next places of the stratum, in some order; how many, 0 at its end. */
static int64_t next_places(Draws *draws, uint32_t *places)
{
    int64_t steps = draws->steps < STEPS_TOGETHER ? draws->steps : STEPS_TOGETHER, count = 0;
    if (steps) {
        draw_places(&draws->runs, steps, draws->units, places);
        draws->steps -= steps;
        return steps * DRAW_RUNS;
    }
    for (; draws->left && count < MOST_PLACES; draws->left--)
        places[count++] = place_drawn(&draws->state, draws->step, draws->units);
    return count;
}

void draw_numbers(DrawStream *stream, int64_t count, uint64_t *numbers)
{
    Draws draws = draws_of(stream);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = number_drawn(&draws.state, draws.step);
    put_state(stream, draws.state);
}

void draw_weights(DrawStream *stream, const int64_t *sizes, int64_t strata, int64_t resamples, float *single,
                  double *wide)
{
    uint32_t places[MOST_PLACES];
    Draws draws = draws_of(stream);
    for (int64_t i = 0; i < resamples; i++)
        for (int64_t stratum = 0; stratum < strata; stratum++) {
            uint64_t units = (uint64_t)sizes[stratum];
            if (single)
                memset(single, 0, units * sizeof *single);
            else
                memset(wide, 0, units * sizeof *wide);
            begin_stratum(&draws, units);
            for (int64_t count; (count = next_places(&draws, places));)
                for (int64_t one = 0; one < count; one++) {
                    if (single)
                        single[places[one]] += 1;
                    else
                        wide[places[one]] += 1;
                }
            if (single)
                single += units;
            else
                wide += units;
        }
    put_state(stream, draws.state);
}

/* Eight numbers of 16 bits, which a machine adds at once. */
typedef int16_t Eight __attribute__((vector_size(16)));
enum { TOGETHER = 8 };

/* The rows at some places, added up: in 16 bits first, then in 64. */
static inline void add_rows(const uint32_t *places, int64_t count, const int16_t *rows, int eights, int64_t *sums)
{
    Eight some[SUMMED_COLUMNS / TOGETHER], row;
    for (int i = 0; i < eights; i++)
        some[i] = (Eight){0};
    for (int64_t one = 0; one < count; one++)
        for (int i = 0; i < eights; i++) {
            memcpy(&row, rows + ((int64_t)places[one] * eights + i) * TOGETHER, sizeof row);
            some[i] += row;
        }
    for (int i = 0; i < eights; i++, sums += TOGETHER)
        for (int at = 0; at < TOGETHER; at++)
            sums[at] += some[i][at];
}

void draw_sums(DrawStream *stream, const int64_t *sizes, int64_t strata, int64_t resamples, const int16_t *rows,
               int64_t columns, int64_t most, int64_t *sums)
{
    uint32_t places[MOST_PLACES];
    Draws draws = draws_of(stream);
    for (int64_t i = 0; i < resamples; i++) {
        const int16_t *stratum_rows = rows;
        for (int64_t stratum = 0; stratum < strata; stratum++, sums += columns) {
            memset(sums, 0, (size_t)columns * sizeof *sums);
            begin_stratum(&draws, (uint64_t)sizes[stratum]);
            for (int64_t count; (count = next_places(&draws, places));)
                for (int64_t from = 0; from < count; from += most) {
                    int64_t some = count - from < most ? count - from : most;
                    if (columns == 2 * TOGETHER) /* each compiled by itself, so that sums stay in registers */
                        add_rows(places + from, some, stratum_rows, 2, sums);
                    else
                        add_rows(places + from, some, stratum_rows, SUMMED_COLUMNS / TOGETHER, sums);
                }
            stratum_rows += sizes[stratum] * columns;
        }
    }
    put_state(stream, draws.state);
}
