/* Labels by spelling. */
#ifndef SANDSCORE_SPELLINGS_H
#define SANDSCORE_SPELLINGS_H

#include "kernel.h"
#include "vectors.h"

enum { SEEN = 8, POOL_SPARE = 32 };

/* By its first and last eight bytes, or all of them where they are fewer; eight can be looked at. */
static inline uint32_t slot_of(const uint8_t *label, int64_t size)
{
    int64_t seen = size < SEEN ? size : SEEN, half = 4 * (SEEN - seen);
    uint64_t first = eight_at(label) << half << half, last = eight_at(label + size - seen) << half << half;
    uint64_t hash = (first ^ (uint64_t)size) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32 ^ last) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash >> 40) % SLOTS;
}

static inline int is_label(const uint8_t *known, const uint8_t *label, int64_t size, const uint8_t *end)
{
    (void)end;
#if LANES
    if (size <= LANES && end - label >= LANES)
        return !(~equal_bits(known, label) & lowest_bits(size));
#endif
    return same_bytes(known, label, size);
}

/* Where a spelling's number is, or is to be put; slots hold numbers from 1. What can be looked at ends at ``end``, behind
   eight bytes at least. */
static inline uint32_t find_slot(const Spellings *known, const uint8_t *label, int64_t size, const uint8_t *end)
{
    uint32_t slot = slot_of(label, size);
    for (int32_t which; (which = known->slots[slot]); slot = (slot + 1) % SLOTS) {
        const int32_t *begin = known->begins + which - 1;
        if (begin[1] - begin[0] == size && is_label(known->pool + begin[0], label, size, end))
            break;
    }
    return slot;
}

static inline int32_t code_at(const Spellings *known, uint32_t slot, int32_t *code)
{
    int32_t which = known->slots[slot];
    if (which)
        *code = known->codes[which - 1];
    return which;
}

/* What is found of a short label near the end of what can be looked at. */
APART int32_t find_last_spelling(const Spellings *known, const uint8_t *label, int64_t size, int32_t *code)
{
    uint8_t few[SEEN] = {0};
    size &= SEEN - 1; /* as it was, and known to the compiler */
    memcpy(few, label, (size_t)size);
    return code_at(known, find_slot(known, few, size, few + SEEN), code);
}

/* The code of a label that has been learnt; 0: it has not. */
static inline int32_t find_spelling(const Spellings *known, const uint8_t *label, int64_t size, const uint8_t *end,
                                    int32_t *code)
{
    if (end - label < SEEN)
        return find_last_spelling(known, label, size, code);
    return code_at(known, find_slot(known, label, size, end), code);
}

#endif
