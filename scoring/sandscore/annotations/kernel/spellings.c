/* Labels by spelling. */
#include <string.h>

#include "parts.h"
#include "vectors.h"

enum { LONGEST_LABEL = 256, FARTHEST_SLOT = 16 };

/* By its first and last bytes, eight of each where there are so many. */
static uint32_t slot_of(const uint8_t *label, int64_t size)
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
static uint32_t find_slot(const Spellings *known, const uint8_t *label, int64_t size)
{
    uint32_t slot = slot_of(label, size);
    for (int32_t which; (which = known->slots[slot]); slot = (slot + 1) % SLOTS) {
        const int32_t *begin = known->begins + which - 1;
        if (begin[1] - begin[0] == size && same_bytes(known->pool + begin[0], label, size))
            break;
    }
    return slot;
}

int32_t learn_spelling(Spellings *known, const uint8_t *label, int64_t size, int32_t code)
{
    int32_t begin = known->begins[known->count];
    if (known->count == SPELLINGS || size > LONGEST_LABEL || begin + size > POOL)
        return 0;
    uint32_t slot = find_slot(known, label, size);
    if (known->slots[slot] || (slot + SLOTS - slot_of(label, size)) % SLOTS > FARTHEST_SLOT)
        return 0;
    memcpy(known->pool + begin, label, (size_t)size);
    known->codes[known->count++] = code;
    known->begins[known->count] = begin + (int32_t)size;
    known->slots[slot] = (uint16_t)known->count;
    return 1;
}

int32_t find_spelling(const Spellings *known, const uint8_t *label, int64_t size, int32_t *code)
{
    int32_t which = known->slots[find_slot(known, label, size)];
    if (which)
        *code = known->codes[which - 1];
    return which;
}
