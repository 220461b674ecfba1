/* Labels by spelling. */
#ifndef SANDSCORE_SPELLINGS_H
#define SANDSCORE_SPELLINGS_H

#include "kernel.h"
#include "vectors.h"

/* By its first and last bytes, eight of each where there are so many. */
static inline uint32_t slot_of(const uint8_t *label, int64_t size)
{
    uint64_t first = 0, last = 0;
    if (size >= 8) {
        first = eight_at(label);
        last = eight_at(label + size - 8);
    } else if (size >= 4) {
        first = four_at(label);
        last = four_at(label + size - 4);
    } else if (size) {
        first = (uint64_t)label[0] << 8 | label[size / 2];
        last = label[size - 1];
    }
    uint64_t hash = (first ^ (uint64_t)size) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32 ^ last) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash >> 40) % SLOTS;
}

/* Where a spelling's number is, or is to be put; slots hold numbers from 1. */
static inline uint32_t find_slot(const Spellings *known, const uint8_t *label, int64_t size)
{
    uint32_t slot = slot_of(label, size);
    for (int32_t which; (which = known->slots[slot]); slot = (slot + 1) % SLOTS) {
        const int32_t *begin = known->begins + which - 1;
        if (begin[1] - begin[0] == size && same_bytes(known->pool + begin[0], label, size))
            break;
    }
    return slot;
}

/* The code of a label that has been learnt; 0: it has not. */
static inline int32_t find_spelling(const Spellings *known, const uint8_t *label, int64_t size, int32_t *code)
{
    int32_t which = known->slots[find_slot(known, label, size)];
    if (which)
        *code = known->codes[which - 1];
    return which;
}

#endif
