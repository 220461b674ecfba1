/* Names of notes by hashing: which note each record of a block is about. */
#include <string.h>

#include "kernel.h"
#include "vectors.h"

enum { FARTHEST_NAME = 64 };

/* Where a name's number is, counted from 1, or 0 where it could be put; NULL where that is too far. */
static uint32_t *find_name(const NameTable *table, const uint8_t *name, int64_t size)
{
    uint64_t mask = (uint64_t)table->slot_room - 1, slot = hash_of(name, size) & mask;
    for (int step = 0; step < FARTHEST_NAME; step++, slot = (slot + 1) & mask) {
        uint32_t which = table->slots[slot];
        if (!which)
            return table->slots + slot;
        const int64_t *begin = table->begin + which - 1;
        if (begin[1] - begin[0] - 1 == size && same_bytes(table->names + begin[0], name, size))
            return table->slots + slot;
    }
    return NULL;
}

int32_t learn_names(const NameTable *table)
{
    for (int64_t i = 0; i < table->count; i++) {
        int64_t begin = table->begin[i];
        uint32_t *slot = find_name(table, table->names + begin, table->begin[i + 1] - begin - 1);
        if (!slot || *slot)
            return 0;
        *slot = (uint32_t)i + 1;
    }
    return 1;
}

/* Where that begins of a name which notes are joined on. */
static int64_t begin_of_key(const NameTable *table, const uint8_t *name, int64_t size)
{
    int64_t begin = table->whole ? 0 : size;
    while (begin > 0 && name[begin - 1] != '/')
        begin--;
    return begin;
}

static int32_t number_of_name(const NameTable *table, const uint8_t *name, int64_t size)
{
    int64_t begin = begin_of_key(table, name, size);
    const uint32_t *slot = find_name(table, name + begin, size - begin);
    return slot ? (int32_t)*slot - 1 : -1;
}

int32_t join_names(const NameTable *table, const Rows *rows, uint8_t *seen, int32_t *numbers)
{
    const uint8_t *name = rows->names;
    int64_t fresh = 0;
    for (; fresh < rows->records; fresh++) {
        int64_t size = (int64_t)strlen((const char *)name);
        int32_t number = numbers[fresh] = number_of_name(table, name, size);
        if (number < 0 || seen[number])
            break;
        seen[number] = 1;
        name += size + 1;
    }
    if (fresh == rows->records)
        return 1;
    while (fresh > 0)
        seen[numbers[--fresh]] = 0;
    return 0;
}

int32_t follow_names(const NameTable *table, const Rows *rows, int64_t first, uint8_t *seen, int32_t *numbers)
{
    const uint8_t *name = rows->names;
    if (rows->records > table->count - first || memchr(seen + first, 1, (size_t)rows->records))
        return 0;
    for (int64_t i = 0; i < rows->records; i++) {
        int64_t size = (int64_t)strlen((const char *)name), key = begin_of_key(table, name, size);
        const int64_t *begin = table->begin + first + i;
        if (begin[1] - begin[0] - 1 != size - key || !same_bytes(table->names + begin[0], name + key, size - key))
            return 0;
        numbers[i] = (int32_t)(first + i);
        name += size + 1;
    }
    memset(seen + first, 1, (size_t)rows->records);
    return 1;
}
