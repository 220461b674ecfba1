/* Keys into order: as many steps for each, however many they are, and next to none where they are in order already. */
#include "sorting.h"

#include <string.h>

enum { FEW = 24, MANY = 512, BYTE = 8, BYTES = 1 << BYTE };

static int comes_before(Key one, Key other)
{
    return one.major != other.major ? one.major < other.major : one.minor < other.minor;
}

static void insert_each(Key *keys, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        Key key = keys[i];
        int64_t at = i;
        for (; at > 0 && comes_before(key, keys[at - 1]); at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static void merge(const Key *from, int64_t middle, int64_t end, Key *into)
{
    int64_t left = 0, right = middle;
    for (int64_t at = 0; at < end; at++) {
        int second = left == middle || (right < end && comes_before(from[right], from[left]));
        into[at] = second ? from[right++] : from[left++];
    }
}

static int are_sorted(const Key *keys, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (comes_before(keys[i], keys[i - 1]))
            return 0;
    return 1;
}

static uint64_t half_of(const Key *key, int minor) { return minor ? key->minor : key->major; }

static void sort_by_byte(const Key *from, int64_t count, int minor, int shift, Key *into)
{
    int64_t next[BYTES] = {0}, before = 0;
    for (int64_t i = 0; i < count; i++)
        next[half_of(from + i, minor) >> shift & (BYTES - 1)]++;
    for (int value = 0; value < BYTES; value++) {
        int64_t many = next[value];
        next[value] = before;
        before += many;
    }
    for (int64_t i = 0; i < count; i++)
        into[next[half_of(from + i, minor) >> shift & (BYTES - 1)]++] = from[i];
}

/* The last byte first, those that are the same everywhere left out. */
static void sort_by_bytes(Key *keys, int64_t count, Key *spare)
{
    uint64_t differing[] = {0, 0};
    int in_order = 1;
    for (int64_t i = 1; i < count; i++) {
        differing[0] |= keys[i].major ^ keys[0].major;
        differing[1] |= keys[i].minor ^ keys[0].minor;
        in_order &= keys[i].minor >= keys[i - 1].minor;
    }
    Key *from = keys, *into = spare;
    for (int minor = !in_order; minor >= 0; minor--)
        for (int shift = 0; shift < 64; shift += BYTE) {
            if (!(differing[minor] >> shift & (BYTES - 1)))
                continue;
            sort_by_byte(from, count, minor, shift, into);
            Key *other = from;
            from = into;
            into = other;
        }
    if (from != keys)
        memcpy(keys, from, (size_t)count * sizeof *keys);
}

void sort_keys(Key *keys, int64_t count, Key *spare)
{
    if (count <= FEW) {
        insert_each(keys, count);
        return;
    }
    if (are_sorted(keys, count))
        return;
    if (count > MANY) {
        sort_by_bytes(keys, count, spare);
        return;
    }
    for (int64_t at = 0; at < count; at += FEW)
        insert_each(keys + at, count - at < FEW ? count - at : FEW);
    Key *from = keys, *into = spare;
    for (int64_t width = FEW; width < count; width *= 2) {
        for (int64_t at = 0; at < count; at += 2 * width) {
            int64_t left = count - at, end = left < 2 * width ? left : 2 * width;
            merge(from + at, end < width ? end : width, end, into + at);
        }
        Key *other = from;
        from = into;
        into = other;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)count * sizeof *keys);
}
