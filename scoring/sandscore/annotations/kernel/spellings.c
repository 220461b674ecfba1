/* Labels by spelling. */
#include <string.h>

#include "parts.h"

enum { LONGEST_LABEL = 256, FARTHEST_SLOT = 16 };

static uint32_t slot_of(const uint8_t *label, int64_t size)
{
    uint32_t hash = (uint32_t)size;
    for (int64_t i = 0; i < size; i++)
        hash = hash * 31 + label[i];
    return (hash ^ hash >> 12) % SLOTS;
}

/* Where a spelling's number is, or is to be put; slots hold numbers from 1. */
static uint32_t find_slot(const Spellings *known, const uint8_t *label, int64_t size)
{
    uint32_t slot = slot_of(label, size);
    for (int32_t which; (which = known->slots[slot]); slot = (slot + 1) % SLOTS) {
        const int32_t *begin = known->begins + which - 1;
        if (begin[1] - begin[0] == size && memcmp(known->pool + begin[0], label, (size_t)size) == 0)
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
