/* What masks of the Text Anonymization Benchmark come to, by the rules of its release of 2022. */
#include <string.h>

#include "json_strings.h"
#include "kernel.h"
#include "sorting.h"

enum { LONGEST_WORD = 8 };

static int in_word(uint8_t code) { return code >= LONGER_WORD; }

void meet_characters(const TabCorpus *corpus, uint8_t *met)
{
    const uint8_t *end = corpus->texts + corpus->used;
    for (const uint8_t *at = corpus->texts; at < end;) {
        int64_t size = character_size(at, end);
        if (size > 1)
            met[character_at(at, size)] = 1;
        at += size;
    }
}

static void put_codes(const TabCorpus *corpus, const TabText *text, TabCounting *c)
{
    const uint8_t *at = corpus->texts + text->begin, *end = at + text->bytes;
    uint8_t *code = c->codes;
    if (text->bytes == text->chars) {
        while (at < end)
            *code++ = c->classes[*at++];
        return;
    }
    for (int64_t size; at < end; at += size) {
        size = character_size(at, end);
        *code++ = c->classes[character_at(at, size)];
    }
}

static int64_t within(int64_t place, int64_t size) { return place < 0 ? 0 : place < size ? place : size; }

/* ``open`` says of each place how many before it no mask covers; until then, how many more begin than end there. */
static void put_open(const TabCorpus *corpus, const TabMasked *masked, int64_t chars, int32_t *open)
{
    int64_t deep = 0;
    int32_t count = 0;
    memset(open, 0, (size_t)(chars + 1) * sizeof *open);
    for (int64_t i = masked->first_mask; i < masked->first_mask + masked->masks; i++) {
        int64_t start = within(corpus->mask[i].start, chars), end = within(corpus->mask[i].end, chars);
        if (start < end) {
            open[start]++;
            open[end]--;
        }
    }
    for (int64_t i = 0; i < chars; i++) {
        deep += open[i];
        open[i] = count;
        count += !deep;
    }
    open[chars] = count;
}

/* Whether a word may stay. */
static int is_listed(const TabCounting *c, const uint8_t *word, int64_t size)
{
    uint64_t letters = 0;
    if (size > LONGEST_WORD)
        return 0;
    for (int64_t i = size; i > 0; i--)
        letters = letters << 8 | word[i - 1];
    for (int64_t i = 0; i < c->word_count; i++)
        if (c->words[i] == letters)
            return 1;
    return 0;
}

/* The stretch in lower case: how long it is. */
static int64_t put_lower(const TabCounting *c, int64_t start, int64_t end)
{
    uint8_t *to = c->lower;
    for (; start < end; start++)
        if (c->codes[start] == LONGER_WORD) {
            *to++ = 'i';
            *to++ = NOT_PASSING;
        } else {
            *to++ = c->codes[start];
        }
    return to - c->lower;
}

/* How many places belong together from one on, where no word goes on: a word, a genitive, or one sign; and whether they
   may stay. */
static int64_t together_at(const TabCounting *c, int64_t at, int64_t size, int *stay)
{
    const uint8_t *code = c->lower + at;
    int64_t count = 1;
    *stay = *code != NOT_PASSING;
    if (in_word(*code)) {
        while (at + count < size && in_word(code[count]))
            count++;
        *stay = is_listed(c, code, count);
    } else if (*code == QUOTE && at > 0 && in_word(code[-1]) && at + 1 < size && code[1] == 's') {
        count += at + 2 == size || !in_word(code[2]);
    }
    return count;
}

/* Whether no place of a stretch needs a mask that has none. What may stay is looked for in lower case, in which places
   may have moved; those that it is found at count. */
static int is_covered(const TabCounting *c, int64_t start, int64_t end)
{
    if (c->open[start] == c->open[end])
        return 1;
    int64_t size = put_lower(c, start, end);
    for (int64_t at = 0, count; at < size; at += count) {
        int stay;
        count = together_at(c, at, size, &stay);
        memset(c->free + at, stay, (size_t)count);
    }
    for (int64_t i = start; i < end; i++)
        if (c->open[i] != c->open[i + 1] && !c->free[i - start])
            return 0;
    return 1;
}

static void add_share(TabShare *share, int hit)
{
    share->hits += hit;
    share->total++;
}

/* The next word from a place on that begins before ``end``, cut off there; 0: there is none. */
static int next_word(const TabCounting *c, int64_t end, int64_t *first, int64_t *last)
{
    while (*first < end && !in_word(c->codes[*first]))
        ++*first;
    *last = *first;
    while (*last < end && in_word(c->codes[*last]))
        ++*last;
    return *first < end;
}

/* A mention of an entity that has to be masked. */
static void count_mention(TabCounting *c, const TabMention *mention, TabEntity *entity)
{
    int hit = is_covered(c, mention->start, mention->end);
    add_share(c->mentions + entity->direct, hit);
    add_share(c->kind_mentions + entity->kind, hit);
    entity->open |= mention->needed && !hit;
    for (int64_t first = mention->start, last; next_word(c, mention->end, &first, &last); first = last) {
        hit = is_covered(c, first, last);
        add_share(c->tokens + entity->direct, hit);
        add_share(c->kind_tokens + entity->kind, hit);
    }
}

static void count_annotator(const TabCorpus *corpus, TabCounting *c, const TabAnnotator *annotator)
{
    TabEntity *entity = corpus->entity + annotator->first_entity, *last = entity + annotator->entities;
    const TabMention *mention = corpus->mention + annotator->first_mention;
    for (int64_t i = 0; i < annotator->mentions; i++, mention++)
        if (corpus->entity[mention->entity].needed)
            count_mention(c, mention, corpus->entity + mention->entity);
    for (; entity < last; entity++) {
        int64_t i = 0;
        if (!entity->needed)
            continue;
        add_share(c->entities + entity->direct, !entity->open);
        while (i < c->kinds_seen && c->kind_order[i] != entity->kind)
            i++;
        if (i == c->kinds_seen)
            c->kind_order[c->kinds_seen++] = entity->kind;
    }
}

/* An annotator's needed mentions by their starts, the second number being where the last of them so far ends. */
static int64_t put_reaches(const TabCorpus *corpus, const TabAnnotator *annotator, Key *keys, Key *spare)
{
    const TabMention *mention = corpus->mention + annotator->first_mention;
    int64_t count = 0;
    for (int64_t i = 0; i < annotator->mentions; i++, mention++)
        if (mention->needed)
            keys[count++] = (Key){(uint64_t)mention->start, (uint64_t)mention->end};
    sort_keys(keys, count, spare);
    for (int64_t i = 1; i < count; i++)
        if (keys[i].minor < keys[i - 1].minor)
            keys[i].minor = keys[i - 1].minor;
    return count;
}

/* Whether a mention holds all of a stretch: of those that begin no later one ends no sooner. */
static int is_held(const Key *keys, int64_t count, int64_t start, int64_t end)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (keys[middle].major <= (uint64_t)start)
            low = middle + 1;
        else
            count = middle;
    }
    return low > 0 && keys[low - 1].minor >= (uint64_t)end;
}

/* Where a slice of a text begins or ends, as Python cuts it. */
static int64_t sliced(int64_t place, int64_t size) { return within(place < 0 ? place + size : place, size); }

/* Masks and their words of whom one annotator agrees with; a word stands where the mask's own start has it. */
static void count_agreed(const TabCorpus *corpus, TabCounting *c, const TabMasked *masked, const TabAnnotator *annotator)
{
    int64_t chars = corpus->text[masked->text].chars, held = put_reaches(corpus, annotator, c->keys, c->spare);
    for (int64_t i = 0; i < masked->masks; i++) {
        const TabMask *mask = corpus->mask + masked->first_mask + i;
        int64_t begin = sliced(mask->start, chars), end = sliced(mask->end, chars), moved = mask->start - begin;
        if (mask->start >= 0 && mask->start < mask->end && mask->end <= chars)
            c->mask_mentions.hits += is_held(c->keys, held, mask->start, mask->end);
        c->mask_mentions.total++;
        for (int64_t first = begin, last; next_word(c, end, &first, &last); first = last, c->mask_tokens.total++)
            if (first + moved >= 0 && last + moved <= chars)
                c->mask_tokens.hits += is_held(c->keys, held, first + moved, last + moved);
    }
}

void count_tab(TabCorpus *corpus, TabCounting *c)
{
    for (int64_t i = 0; i < corpus->masked_texts; i++) {
        const TabMasked *masked = corpus->masked + i;
        const TabText *text = corpus->text + masked->text;
        put_codes(corpus, text, c);
        put_open(corpus, masked, text->chars, c->open);
        for (int64_t which = 0; which < text->annotators; which++) {
            const TabAnnotator *annotator = corpus->annotator + text->first_annotator + which;
            count_annotator(corpus, c, annotator);
            if (annotator->entities)
                count_agreed(corpus, c, masked, annotator);
        }
    }
}
