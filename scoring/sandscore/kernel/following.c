/* What follows from columns that were read, one pass over each: where things begin, which note an annotation is of, how
   they stand in runs, and what they come to. */
#include <string.h>

#include "draw_stream.h"
#include "sorting.h"

int32_t find_begins(const uint8_t *names, int64_t size, int64_t count, int64_t *begin)
{
    int64_t at = 0, found = 0;
    for (begin[0] = 0; at < size && found < count; begin[++found] = at) {
        const uint8_t *end = memchr(names + at, 0, (size_t)(size - at));
        if (!end)
            return 0;
        at = end + 1 - names;
    }
    return found == count && at == size;
}

int64_t lay_out_texts(const int64_t *sizes, const int64_t *chars, int64_t count, int64_t *begin, int64_t *first_mark)
{
    int64_t marks = 0;
    begin[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        first_mark[i] = marks;
        begin[i + 1] = begin[i] + sizes[i];
        marks += sizes[i] == chars[i] ? 0 : sizes[i] / MARK_EVERY + 1;
    }
    return marks;
}

void spread_notes(const int32_t *numbers, const int32_t *per_record, int64_t records, int32_t *note)
{
    for (int64_t i = 0; i < records; i++)
        for (int32_t row = 0; row < per_record[i]; row++)
            *note++ = numbers[i];
}

int32_t see_labels(const int32_t *label, int64_t rows, uint8_t *seen, int64_t room)
{
    for (int64_t i = 0; i < rows; i++) {
        if (label[i] >= room)
            return 0;
        if (label[i] >= 0)
            seen[label[i]] = 1;
    }
    return 1;
}

double highest_number(const double *numbers, int64_t count)
{
    double most = -1;
    for (int64_t i = 0; i < count; i++)
        if (numbers[i] > most)
            most = numbers[i];
    return most;
}

/* By their notes; what is spare holds one column after the other. */
static void order_runs(RunRooms *found, int64_t runs)
{
    int64_t *columns[] = {found->note, found->first, found->size, found->first_token, found->tokens};
    int64_t *moved = (int64_t *)found->spare;
    for (int64_t i = 0; i < runs; i++)
        found->keys[i] = (Key){(uint64_t)(found->note[i] - INT32_MIN), (uint64_t)i};
    sort_keys(found->keys, runs, found->spare);
    for (int which = 0; which < 5; which++) {
        for (int64_t i = 0; i < runs; i++)
            moved[i] = columns[which][found->keys[i].minor];
        memcpy(columns[which], moved, (size_t)runs * sizeof *moved);
    }
}

int64_t find_runs(const int32_t *note, const int32_t *words, int64_t rows, RunRooms *found)
{
    int64_t runs = 0, token = 0, in_order = 1;
    for (int64_t row = 0; row < rows; runs++) {
        int64_t first = row, first_token = token;
        if (runs == found->room)
            return -1;
        in_order &= !runs || note[row] > found->note[runs - 1];
        for (; row < rows && note[row] == note[first]; row++)
            token += words ? words[row] : 1;
        found->note[runs] = note[first];
        found->first[runs] = first;
        found->size[runs] = row - first;
        found->first_token[runs] = first_token;
        found->tokens[runs] = token - first_token;
    }
    if (!in_order)
        order_runs(found, runs);
    found->most_rows = found->most_tokens = 0;
    for (int64_t i = 0; i < runs;) {
        int64_t first = i, of_rows = 0, of_tokens = 0;
        for (; i < runs && found->note[i] == found->note[first]; i++) {
            of_rows += found->size[i];
            of_tokens += found->tokens[i];
        }
        if (found->note[first] >= 0 && of_rows > found->most_rows)
            found->most_rows = of_rows;
        if (found->note[first] >= 0 && of_tokens > found->most_tokens)
            found->most_tokens = of_tokens;
    }
    return runs;
}

void sum_counts(const int64_t *counts, int64_t rows, int64_t *sums)
{
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t i = 0; i < 3 * rows; i += 3)
        for (int at = 0; at < 3; at++)
            sums[at] += counts[i + at];
}

enum { DIGIT = 11, DIGITS = 1 << DIGIT, TOP = 3 * DIGIT, PATIENCE = 4 };

/* By one digit, equal ones staying as they are. */
static void sort_by_digit(const uint64_t *numbers, int64_t count, int shift, uint64_t *into)
{
    int64_t next[DIGITS] = {0}, before = 0;
    for (int64_t i = 0; i < count; i++)
        next[numbers[i] >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t many = next[digit];
        next[digit] = before;
        before += many;
    }
    for (int64_t i = 0; i < count; i++)
        into[next[numbers[i] >> shift & (DIGITS - 1)]++] = numbers[i];
}

/* Levels that hardly need it, whichever of equal ones are right; 0: they need more steps than so many for each. */
static int32_t insert_levels(uint64_t *numbers, int64_t count)
{
    int64_t steps = PATIENCE * count;
    for (int64_t i = 1; i < count; i++) {
        uint64_t number = numbers[i];
        int64_t at = i;
        for (; at > 0 && (numbers[at - 1] | 1) > (number | 1) && steps > 0; at--, steps--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
    return steps > 0;
}

/* Levels in ascending order: by their first three digits, after which few are left to change places, else by all. */
static uint64_t *sort_levels(uint64_t *numbers, int64_t count, uint64_t *spare)
{
    uint64_t differing = 0;
    for (int64_t i = 1; i < count; i++)
        differing |= numbers[i] ^ numbers[0];
    differing &= ~UINT64_C(1);
    if (!differing)
        return numbers;
    int bits = 64 - __builtin_clzll(differing), lowest = __builtin_ctzll(differing);
    int tops = bits - TOP > lowest ? bits - TOP : lowest;
    for (int from = tops;; from = lowest) {
        for (int shift = from; shift < bits; shift += DIGIT) {
            sort_by_digit(numbers, count, shift, spare);
            uint64_t *sorted = spare;
            spare = numbers;
            numbers = sorted;
        }
        if (from == lowest || insert_levels(numbers, count))
            return numbers;
    }
}

static void put_level(ConfidenceLevels *levels, double confidence, int64_t predictions, int64_t right)
{
    levels->confidence[levels->levels] = confidence;
    levels->predictions[levels->levels] = predictions;
    levels->right[levels->levels++] = right;
}

void list_levels(const Counting *c, uint64_t *spare, ConfidenceLevels *levels)
{
    const uint64_t *odd = sort_levels(c->odd, c->odds, spare);
    int whole = 0;
    levels->levels = 0;
    for (int64_t i = 0; i < c->odds;) {
        int64_t first = i, right = 0;
        uint64_t bits = odd[first] >> 1;
        double confidence;
        memcpy(&confidence, &bits, sizeof confidence);
        for (; i < c->odds && odd[i] >> 1 == bits; i++)
            right += (int64_t)(odd[i] & 1);
        for (; whole < WHOLE_LEVELS && whole < confidence; whole++)
            if (c->levels[2 * whole])
                put_level(levels, whole, c->levels[2 * whole], c->levels[2 * whole + 1]);
        put_level(levels, confidence, i - first, right);
    }
    for (; whole < WHOLE_LEVELS; whole++)
        if (c->levels[2 * whole])
            put_level(levels, whole, c->levels[2 * whole], c->levels[2 * whole + 1]);
}

/* Of numbers from 2^-34 to 1; sums of 2^19 of them fit. */
static void add_ratio(int64_t *sum, int64_t part, int64_t whole)
{
    const double unit = (double)(INT64_C(1) << AREA_BITS);
    double scaled = (double)part / (double)whole * unit;
    int64_t high = (int64_t)scaled;
    sum[0]++;
    sum[1] += high;
    sum[2] += (int64_t)((scaled - (double)high) * unit);
}

int32_t sum_ratios(const int64_t *counts, int64_t rows, int64_t *sums)
{
    if (rows > MOST_SUMMED)
        return 0;
    memset(sums, 0, 9 * sizeof *sums);
    for (const int64_t *row = counts; row < counts + 3 * rows; row += 3) {
        int64_t right = row[0], predicted = right + row[1], gold = right + row[2];
        if (right < 0 || row[1] < 0 || row[2] < 0 || ((right | row[1] | row[2]) >> 31))
            return 0;
        if (predicted)
            add_ratio(sums, right, predicted);
        if (gold)
            add_ratio(sums + 3, right, gold);
        if (predicted + gold)
            add_ratio(sums + 6, 2 * right, predicted + gold);
    }
    return 1;
}

/* Adds a number in three whole ones: its own units, those of 2^-43, and those of 2^-86. Not 0: it has smaller bits. */
static int32_t add_exactly(int64_t *sum, double number)
{
    const double unit = (double)(INT64_C(1) << AREA_BITS);
    int64_t whole = (int64_t)number;
    double rest = (number - (double)whole) * unit;
    int64_t part = (int64_t)rest;
    sum[0] += whole;
    sum[1] += part;
    sum[2] += (int64_t)((rest - (double)part) * unit);
    return (number > 0) & (number < 1.0 / (double)(INT64_C(1) << 34));
}

/* The smaller units hold what so many numbers come to. */
enum { MOST_ADDED = 1 << 19 };
static void carry(int64_t *sum)
{
    for (int i = 2; i > 0; i--) {
        sum[i - 1] += sum[i] >> AREA_BITS;
        sum[i] &= (INT64_C(1) << AREA_BITS) - 1;
    }
}

int32_t walk_levels(const ConfidenceLevels *levels, CurveRooms *curve)
{
    int64_t tp = 0, seen = 0, last = levels->levels - 1, listed = 0;
    int32_t small = 0;
    curve->rows = curve->best_right = curve->area[0] = curve->area[1] = curve->area[2] = 0;
    curve->best_total = 1;
    for (int64_t rank = 0; rank <= last; rank++) {
        int64_t at = last - rank;
        tp += levels->right[at];
        seen += levels->predictions[at];
        double precision = (double)tp / (double)seen;
        small |= add_exactly(curve->area, (double)levels->right[at] * precision);
        if (rank % MOST_ADDED == 0)
            carry(curve->area);
        if (!rank || (Wide)tp * (Wide)curve->best_total > (Wide)curve->best_right * (Wide)(seen + curve->gold)) {
            curve->best_right = tp;
            curve->best_total = seen + curve->gold;
            curve->best = levels->confidence[at];
        }
        if (rank == listed || rank == last) {
            listed += curve->step;
            curve->confidence[curve->rows] = levels->confidence[at];
            curve->precision[curve->rows] = precision;
            curve->recall[curve->rows++] = (double)tp / (double)curve->gold;
        }
    }
    carry(curve->area);
    return !small;
}
