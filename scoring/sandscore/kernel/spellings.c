/* Labels are learnt. */
#include "spellings.h"

enum { LONGEST_LABEL = 256, FARTHEST_SLOT = 16 };

int32_t learn_spelling(Spellings *known, const uint8_t *label, int64_t size, int32_t code)
{
    int32_t begin = known->begins[known->count];
    if (known->count == SPELLINGS || size > LONGEST_LABEL || begin + size > POOL - POOL_SPARE)
        return 0;
    uint8_t padded[LONGEST_LABEL + SEEN] = {0};
    memcpy(padded, label, (size_t)size);
    uint32_t slot = find_slot(known, padded, size, padded + sizeof padded);
    if (known->slots[slot] || (slot + SLOTS - slot_of(padded, size)) % SLOTS > FARTHEST_SLOT)
        return 0;
    memcpy(known->pool + begin, label, (size_t)size);
    known->codes[known->count++] = code;
    known->begins[known->count] = begin + (int32_t)size;
    known->slots[slot] = (uint16_t)known->count;
    return 1;
}
