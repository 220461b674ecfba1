/* What no mask covers of a note's gold: positions as a set, and mentions of which some or all stays open. */
#include "sorting.h"

/* Stretches that do not meet, and how much those before each of them cover; ``whole``: how much all do. */
typedef struct {
    const Key *stretches;
    const int64_t *before;
    int64_t count, whole;
} Masks;

static int64_t end_of(const CountedMention *mention) { return (int64_t)mention->start + mention->length; }

static Masks merge_masks(const Counting *c, int64_t predictions)
{
    Key *into = c->spare_keys;
    int64_t *before = c->numbers, used = 0, whole = 0;
    for (int64_t i = 0; i < predictions; i++) {
        uint64_t start = (uint64_t)c->predicted[i].start, end = (uint64_t)end_of(c->predicted + i);
        if (used && start <= into[used - 1].minor) {
            whole += end > into[used - 1].minor ? (int64_t)(end - into[used - 1].minor) : 0;
            into[used - 1].minor = end > into[used - 1].minor ? end : into[used - 1].minor;
            continue;
        }
        before[used] = whole;
        into[used++] = (Key){start, end};
        whole += (int64_t)(end - start);
    }
    return (Masks){into, before, used, whole};
}

/* How many positions before a place are covered. ``at`` is how many stretches begin before it; it is no more at first. */
static int64_t covered(const Masks *masks, int64_t place, int64_t *at)
{
    int64_t low = *at, high = low;
    for (int64_t step = 1; high < masks->count && (int64_t)masks->stretches[high].major < place; step *= 2) {
        low = high + 1;
        high += step;
    }
    high = high < masks->count ? high : masks->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)masks->stretches[middle].major < place)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    if (!low)
        return 0;
    int64_t start = (int64_t)masks->stretches[low - 1].major, end = (int64_t)masks->stretches[low - 1].minor;
    return masks->before[low - 1] + (place < end ? place : end) - start;
}

/* Gold in the order of its starts, what has one span and label once; -1: it may differ in its entity. */
static int64_t each_once(const Counting *c, int64_t golds, int32_t *which)
{
    const CountedMention *gold = c->gold;
    int64_t i = 1, used = 0;
    while (i < golds && gold[i].start != gold[i - 1].start)
        i++;
    if (i >= golds) {
        for (i = 0; i < golds; i++)
            which[i] = (int32_t)i;
        return golds;
    }
    Key *keys = c->gold_keys;
    for (i = 0; i < golds; i++)
        keys[i] = (Key){(uint64_t)gold[i].start << 32 | (uint64_t)gold[i].length,
                        (uint64_t)(gold[i].label + 1) << 32 | (uint64_t)i};
    sort_keys(keys, golds, c->spare_keys);
    for (i = 0; i < golds; i++) {
        if (!i || keys[i].major != keys[i - 1].major || keys[i].minor >> 32 != keys[i - 1].minor >> 32)
            which[used++] = (int32_t)(keys[i].minor & UINT32_MAX);
        else if (c->open->entities)
            return -1;
    }
    return used;
}

/* The row of a note and group, which may be the first of its note; NULL: there is no room. */
static OpenRow *row_of(OpenGroups *by, int64_t room, int64_t fresh, int32_t note, int32_t code)
{
    if (by->last[code] < fresh) {
        if (by->used == room)
            return 0;
        by->rows[by->used] = (OpenRow){.note = note, .group = code};
        by->last[code] = by->used++;
    }
    return by->rows + by->last[code];
}

/* A mention, before whose start and end so many masked positions lie; ``begun`` stretches begin before its start. */
typedef struct {
    int64_t start, end, from, to, begun;
} Opened;

/* Positions that an earlier mention of the row has had are not counted again. */
static void add_mention(const Masks *masks, OpenRow *row, const Opened *mention)
{
    int64_t begin = mention->start, from = mention->from, size = mention->end - begin;
    int64_t open = size - (mention->to - from), begun = mention->begun;
    row->mentions++;
    row->leaking += open > 0;
    row->whole += open == size;
    if (row->reach > begin) {
        begin = row->reach < mention->end ? row->reach : mention->end;
        from = covered(masks, begin, &begun);
    }
    row->gold += (int32_t)(mention->end - begin);
    row->open += (int32_t)(mention->end - begin - (mention->to - from));
    row->reach = (int32_t)(row->reach > mention->end ? row->reach : mention->end);
}

/* What a label's row of a note says, its mentions sharing nothing with those of other labels. */
static void add_row(OpenRow *row, const OpenRow *label)
{
    row->gold += label->gold;
    row->open += label->open;
    row->mentions += label->mentions;
    row->leaking += label->leaking;
    row->whole += label->whole;
}

/* The labels' rows of a note added up by class, and as one; 0: there is no room. */
static int32_t add_labels(Uncovered *open, const int64_t *fresh, int32_t note)
{
    const OpenGroups *labels = open->by + EACH_LABEL;
    for (int64_t i = fresh[EACH_LABEL]; i < labels->used; i++)
        for (int g = AS_ONE; g < EACH_LABEL; g++) {
            int32_t code = open->by[g].value[labels->rows[i].group];
            OpenRow *row = code < 0 ? 0 : row_of(open->by + g, open->room, fresh[g], note, code);
            if (row)
                add_row(row, labels->rows + i);
            else if (code >= 0)
                return 0;
        }
    return 1;
}

int32_t uncover(const Counting *c, int64_t golds, int64_t predictions, int64_t note)
{
    Uncovered *open = c->open;
    int64_t kept = each_once(c, golds, c->loose), fresh[GROUPINGS], begun = 0, reach = 0;
    if (kept < 0 || note > INT32_MAX)
        return 0;
    int apart = 1;
    for (int64_t i = 0; i < kept; i++) {
        int64_t end = end_of(c->gold + c->loose[i]);
        apart &= c->gold[c->loose[i]].start >= reach;
        reach = end > reach ? end : reach;
    }
    if (reach > INT32_MAX)
        return 0;
    Masks masks = merge_masks(c, predictions);
    for (int g = AS_ONE; g < GROUPINGS; g++)
        fresh[g] = open->by[g].used;
    for (int64_t i = 0; i < kept; i++) {
        const CountedMention *gold = c->gold + c->loose[i];
        Opened mention = {.start = gold->start, .end = end_of(gold)};
        mention.from = covered(&masks, mention.start, &begun);
        int64_t at = mention.begun = begun;
        mention.to = covered(&masks, mention.end, &at);
        for (int g = apart ? EACH_LABEL : AS_ONE; g < GROUPINGS; g++) {
            int32_t code = open->by[g].value[gold->label + 1];
            OpenRow *row = code < 0 ? 0 : row_of(open->by + g, open->room, fresh[g], (int32_t)note, code);
            if (row)
                add_mention(&masks, row, &mention);
            else if (code >= 0)
                return 0;
        }
    }
    if (apart && !add_labels(open, fresh, (int32_t)note))
        return 0;
    const OpenGroups *all = open->by + AS_ONE;
    const OpenRow *row = all->used > fresh[AS_ONE] ? all->rows + fresh[AS_ONE] : 0;
    open->masked[note - c->first] = masks.whole;
    open->spurious[note - c->first] = masks.whole - (row ? row->gold - row->open : 0);
    return 1;
}
