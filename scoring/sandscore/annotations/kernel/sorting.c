/* Keys into order: never worse than n log n, and next to nothing where they are in order already. */
#include "sorting.h"

#include <string.h>

enum { FEW = 24 };

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

void sort_keys(Key *keys, int64_t count, Key *spare)
{
    if (count <= FEW) {
        insert_each(keys, count);
        return;
    }
    if (are_sorted(keys, count))
        return;
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
