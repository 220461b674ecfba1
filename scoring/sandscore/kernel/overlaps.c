/* What overlaps, and what is left uncovered, of a note's annotations that have no equal partner. */
#include "sorting.h"

static int64_t end_of(const CountedMention *mention) { return (int64_t)mention->start + mention->length; }

static void sift_up(int64_t *heap, int64_t at)
{
    int64_t rank = heap[at];
    for (; at > 0 && heap[(at - 1) / 2] > rank; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = rank;
}

static void drop_first(int64_t *heap, int64_t count)
{
    int64_t rank = heap[count], at = 0, child;
    while ((child = 2 * at + 1) < count) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[child] >= rank)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = rank;
}

/* Spans are closed in the order of their ends. The one that closes first takes, of the other side's open spans, the one
   that ends next: whatever that one could be paired with later, the others can be paired with too. ``spans`` are in
   the order of their starts, doubled and one more where they are predicted, and have their ends beside them. */
static int64_t swept(const Counting *c, const Key *spans, int64_t count)
{
    Key *ends = c->gold_keys;
    int64_t *rank = c->numbers, *taken = rank + count, *heaps[] = {taken + count, taken + 2 * count}, open[] = {0, 0};
    for (int64_t i = 0; i < count; i++)
        ends[i] = (Key){spans[i].minor, (uint64_t)i};
    sort_keys(ends, count, c->spare_keys);
    for (int64_t i = 0; i < count; i++) {
        rank[ends[i].minor] = i;
        taken[i] = 0;
    }
    int64_t opened = 0, pairs = 0;
    for (int64_t closing = 0; closing < count; closing++) {
        for (; opened < count && spans[opened].major >> 1 < ends[closing].major; opened++) {
            int side = spans[opened].major & 1;
            heaps[side][open[side]] = rank[opened];
            sift_up(heaps[side], open[side]++);
        }
        if (taken[closing])
            continue;
        taken[closing] = 1;
        int other = !(spans[ends[closing].minor].major & 1);
        while (open[other] && taken[heaps[other][0]])
            drop_first(heaps[other], --open[other]);
        if (open[other]) {
            taken[heaps[other][0]] = 1;
            drop_first(heaps[other], --open[other]);
            pairs++;
        }
    }
    return pairs;
}

static int64_t next_unpaired(const Loose *loose, int64_t at)
{
    while (at < loose->count && loose->mentions[loose->which[at]].paired)
        at++;
    return at;
}

/* Which side goes on next; 2: neither does. */
static int next_side(const Loose loose[2], const int64_t at[2])
{
    int there = at[0] < loose[0].count, other = at[1] < loose[1].count;
    if (there && other)
        return loose[1].mentions[loose[1].which[at[1]]].start < loose[0].mentions[loose[0].which[at[0]]].start;
    return there ? 0 : other ? 1 : 2;
}

/* Spans that hang together are looked at together: where one side has a single one of them, that is in a pair. */
int64_t overlapping_pairs(const Counting *c, const Loose loose[2])
{
    int64_t at[] = {next_unpaired(loose, 0), next_unpaired(loose + 1, 0)}, pairs = 0;
    Key *spans = c->predicted_keys;
    while (at[0] < loose[0].count && at[1] < loose[1].count) {
        int64_t reach = 0, count = 0, of[] = {0, 0};
        for (int side; (side = next_side(loose, at)) < 2;) {
            const CountedMention *mention = loose[side].mentions + loose[side].which[at[side]];
            if (count && mention->start >= reach)
                break;
            int64_t end = end_of(mention);
            reach = end > reach ? end : reach;
            spans[count++] = (Key){(uint64_t)mention->start << 1 | (uint64_t)side, (uint64_t)end};
            of[side]++;
            at[side] = next_unpaired(loose + side, at[side] + 1);
        }
        if (of[0] > 1 && of[1] > 1)
            pairs += swept(c, spans, count);
        else
            pairs += of[0] && of[1];
    }
    return pairs;
}

int32_t leaks(const Loose *gold, const CountedMention *predicted, int64_t predictions)
{
    int64_t reach = -1, at = 0;
    for (int64_t i = next_unpaired(gold, 0); i < gold->count; i = next_unpaired(gold, i + 1)) {
        const CountedMention *mention = gold->mentions + gold->which[i];
        for (; at < predictions && (predicted[at].start <= mention->start || predicted[at].start <= reach); at++) {
            int64_t end = end_of(predicted + at);
            reach = end > reach ? end : reach;
        }
        if (reach < end_of(mention))
            return 1;
    }
    return 0;
}
