/* The Text Anonymization Benchmark's JSON into rows: gold, and masks. */
#ifndef SANDSCORE_TAB_ROWS_H
#define SANDSCORE_TAB_ROWS_H

#include "kernel.h"
#include "numbers.h"

enum { FARTHEST_TAB = 64, DEEPEST = 32, LONGEST_NUMBER = 64, MOST_ANNOTATORS = 64 };

/* Names by hashing. Slots hold numbers from 1; those below ``from`` are of an earlier text, and as good as none. */
typedef struct {
    TabName *names;
    uint32_t *slots;
    int64_t slot_room, from;
} TabIndex;

static uint32_t *find_tab_name(const TabIndex *index, const uint8_t *names, TabName name)
{
    const uint8_t *written = names + name.begin;
    uint64_t mask = (uint64_t)index->slot_room - 1, slot = hash_of(written, name.size) & mask;
    for (int step = 0; step < FARTHEST_TAB; step++, slot = (slot + 1) & mask) {
        int64_t which = (int64_t)index->slots[slot] - 1;
        if (which < index->from)
            return index->slots + slot;
        if (index->names[which].size == name.size && same_bytes(names + index->names[which].begin, written, name.size))
            return index->slots + slot;
    }
    return NULL;
}

/* The number of a name, which may be new: ``count`` more. -1: it would take long to find. */
static int64_t number_of_tab(const TabIndex *index, const uint8_t *names, TabName name, int64_t *count)
{
    uint32_t *slot = find_tab_name(index, names, name);
    if (!slot)
        return -1;
    if ((int64_t)*slot <= index->from) {
        index->names[*count] = name;
        *slot = (uint32_t)++*count;
    }
    return *slot - 1;
}

/* The rest of a string, decoded behind other names. */
static int32_t take_tab_name(Cursor *c, TabCorpus *corpus, TabName *name)
{
    int64_t chars;
    name->begin = corpus->named;
    name->size = take_decoded(c, corpus->names + corpus->named, &chars);
    if (name->size < 0 || memchr(corpus->names + name->begin, 0, (size_t)name->size))
        return 0;
    corpus->names[name->begin + name->size] = 0;
    corpus->named += name->size + 1;
    return 1;
}

/* A string that nobody asks for, but that must be right: the room behind the texts is as good as any. */
static int32_t skip_string(Cursor *c, TabCorpus *corpus)
{
    Written string;
    int64_t chars;
    return take_string(c, &string) && (string.plain || decode_string(&string, corpus->texts + corpus->used, &chars) >= 0);
}

static int32_t skip_sign(Cursor *c, const char *name)
{
    int64_t size = (int64_t)strlen(name);
    if (c->end - c->at < size || !same_bytes(c->at, (const uint8_t *)name, size))
        return 0;
    c->at += size;
    return 1;
}

static int32_t skip_digits(Cursor *c)
{
    const uint8_t *begin = c->at;
    while (c->at < c->end && is_digit(*c->at))
        c->at++;
    return c->at > begin;
}

static int32_t skip_number(Cursor *c)
{
    const uint8_t *begin = c->at;
    c->at += c->at < c->end && *c->at == '-';
    const uint8_t *first = c->at;
    if (!skip_digits(c) || (*first == '0' && c->at - first > 1))
        return 0;
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!skip_digits(c))
            return 0;
    }
    c->at = behind_exponent(c->at, c->end);
    return c->at && c->at - begin <= LONGEST_NUMBER;
}

/* A name that stands for itself, and what is behind it: of names that are written otherwise nobody knows what they are. */
static int32_t skip_key(Cursor *c, Written *key)
{
    return take_string(c, key) && key->plain && take(c, ':');
}

static int32_t skip_value(Cursor *c, TabCorpus *corpus, int depth);

static int32_t skip_items(Cursor *c, TabCorpus *corpus, int depth, uint8_t closing)
{
    Written key;
    int32_t more;
    if (take(c, closing))
        return 1;
    do {
        if (closing == '}' && (!take(c, '"') || !skip_key(c, &key)))
            return 0;
        if (!skip_value(c, corpus, depth))
            return 0;
        more = another(c, closing);
    } while (more > 0);
    return more == 0;
}

static int32_t skip_value(Cursor *c, TabCorpus *corpus, int depth)
{
    skip_space(c);
    if (c->at == c->end || depth == DEEPEST)
        return 0;
    switch (*c->at) {
    case '"':
        c->at++;
        return skip_string(c, corpus);
    case '[':
    case '{':
        c->at++;
        return skip_items(c, corpus, depth + 1, c->at[-1] == '[' ? ']' : '}');
    case 't':
        return skip_sign(c, "true");
    case 'f':
        return skip_sign(c, "false");
    case 'n':
        return skip_sign(c, "null");
    default:
        return skip_number(c);
    }
}

/* Which of some properties is next: its place among them, as many as there are for any other, or -1. */
typedef struct {
    const uint8_t *name;
    int64_t size;
} TabProperty;
#define TAB_PROPERTY(name) {(const uint8_t *)name "\"", sizeof(name)}

static inline int take_tab_property(Cursor *c, const TabProperty *known, int count)
{
    Written key;
    if (!take(c, '"'))
        return -1;
    for (int which = 0; which < count; which++)
        if (take_name(c, known[which].name, known[which].size))
            return take(c, ':') ? which : -1;
    return skip_key(c, &key) ? count : -1;
}

enum { TAB_TYPE, TAB_START, TAB_END, TAB_IDENTIFIER, TAB_ENTITY, TAB_MENTION_PROPERTIES };
static const TabProperty MENTION_PROPERTIES[TAB_MENTION_PROPERTIES] = {
    TAB_PROPERTY("entity_type"), TAB_PROPERTY("start_offset"), TAB_PROPERTY("end_offset"),
    TAB_PROPERTY("identifier_type"), TAB_PROPERTY("entity_id"),
};
static const TabProperty IDENTIFIERS[] = {TAB_PROPERTY("NO_MASK"), TAB_PROPERTY("QUASI"), TAB_PROPERTY("DIRECT")};
enum { TAB_NO_MASK, TAB_QUASI, TAB_DIRECT, IDENTIFIER_TYPES };

/* A mention as it is written. */
typedef struct {
    TabName entity, kind;
    int32_t start, end, identifier;
} WrittenMention;

static int32_t take_identifier(Cursor *c, int32_t *identifier)
{
    for (*identifier = 0; *identifier < IDENTIFIER_TYPES; ++*identifier)
        if (take_name(c, IDENTIFIERS[*identifier].name, IDENTIFIERS[*identifier].size))
            return 1;
    return 0;
}

static int32_t take_mention_value(Cursor *c, TabCorpus *corpus, WrittenMention *mention, int property)
{
    skip_space(c);
    switch (property) {
    case TAB_START:
        return take_whole(c, &mention->start);
    case TAB_END:
        return take_whole(c, &mention->end);
    case TAB_IDENTIFIER:
        return take(c, '"') && take_identifier(c, &mention->identifier);
    case TAB_ENTITY:
        return take(c, '"') && take_tab_name(c, corpus, &mention->entity);
    case TAB_TYPE:
        return take(c, '"') && take_tab_name(c, corpus, &mention->kind);
    default:
        return skip_value(c, corpus, 0);
    }
}

/* An entity's kind and directness are those of its first mention. */
static int32_t put_mention(TabCorpus *corpus, const TabIndex *entities, const WrittenMention *found, int typed)
{
    int64_t before = corpus->entities, entity = number_of_tab(entities, corpus->names, found->entity, &corpus->entities);
    int32_t needed = found->identifier != TAB_NO_MASK;
    if (entity < corpus->annotator[corpus->annotators].first_entity)
        return 0;
    if (corpus->entities > before) {
        const TabIndex kinds = {corpus->kind_names, corpus->kind_slots, KIND_SLOTS, 0};
        if (!typed || corpus->kinds == TAB_KINDS)
            return 0;
        int64_t kind = number_of_tab(&kinds, corpus->names, found->kind, &corpus->kinds);
        if (kind < 0)
            return 0;
        corpus->entity[entity] = (TabEntity){(int32_t)kind, found->identifier == TAB_DIRECT, 0, 0};
    }
    corpus->entity[entity].needed |= needed;
    corpus->mention[corpus->mentions++] = (TabMention){found->start, found->end, (int32_t)entity, needed};
    return 1;
}

/* ``furthest``: where the last mention of the text ends. */
static int32_t take_mention(Cursor *c, TabCorpus *corpus, const TabIndex *entities, int32_t *furthest)
{
    const uint32_t required = 1u << TAB_START | 1u << TAB_END | 1u << TAB_IDENTIFIER | 1u << TAB_ENTITY;
    WrittenMention found = {.start = 0};
    uint32_t seen = 0;
    int32_t more;
    if (corpus->mentions == corpus->mention_room || !take(c, '{'))
        return 0;
    do {
        int property = take_tab_property(c, MENTION_PROPERTIES, TAB_MENTION_PROPERTIES);
        if (property < 0 || (property < TAB_MENTION_PROPERTIES && seen >> property & 1))
            return 0;
        if (!take_mention_value(c, corpus, &found, property))
            return 0;
        seen |= 1u << property;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || (seen & required) != required || found.start >= found.end)
        return 0;
    if (found.end > *furthest)
        *furthest = found.end;
    return put_mention(corpus, entities, &found, seen >> TAB_TYPE & 1);
}

static int32_t take_mentions(Cursor *c, TabCorpus *corpus, const TabIndex *entities, int32_t *furthest)
{
    int32_t more;
    if (!take(c, '['))
        return 0;
    if (take(c, ']'))
        return 1;
    do {
        if (!take_mention(c, corpus, entities, furthest))
            return 0;
        more = another(c, ']');
    } while (more > 0);
    return more == 0;
}

static int32_t take_annotator(Cursor *c, TabCorpus *corpus, const TabIndex *entities, int32_t *furthest)
{
    static const TabProperty known[] = {TAB_PROPERTY("entity_mentions")};
    int32_t more, taken = 0;
    if (corpus->annotators == corpus->annotator_room || !take(c, '{'))
        return 0;
    TabAnnotator *annotator = corpus->annotator + corpus->annotators;
    *annotator = (TabAnnotator){corpus->mentions, 0, corpus->entities, 0};
    do {
        int property = take_tab_property(c, known, 1);
        if (property < 0 || (property == 0 && taken++))
            return 0;
        if (property ? !skip_value(c, corpus, 0) : !take_mentions(c, corpus, entities, furthest))
            return 0;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || !taken)
        return 0;
    annotator->mentions = corpus->mentions - annotator->first_mention;
    annotator->entities = corpus->entities - annotator->first_entity;
    corpus->annotators++;
    return 1;
}

/* Whoever is named twice counts once, as he is written last: that is left to others. */
static int32_t is_new(const Written *names, int count)
{
    const Written *last = names + count;
    for (int i = 0; i < count; i++)
        if (names[i].size == last->size && same_bytes(names[i].begin, last->begin, last->size))
            return 0;
    return 1;
}

static int32_t take_annotators(Cursor *c, TabCorpus *corpus, TabText *text, int32_t *furthest)
{
    const TabIndex entities = {corpus->entity_names, corpus->entity_slots, ENTITY_SLOTS, corpus->entities};
    Written names[MOST_ANNOTATORS];
    int64_t before = corpus->mentions;
    int32_t more = 1;
    text->first_annotator = corpus->annotators;
    if (!take(c, '{'))
        return 0;
    if (take(c, '}'))
        more = 0;
    for (int count = 0; more > 0; count++) {
        if (count == MOST_ANNOTATORS || !take(c, '"') || !skip_key(c, names + count) || !is_new(names, count))
            return 0;
        if (!take_annotator(c, corpus, &entities, furthest))
            return 0;
        more = another(c, '}');
    }
    text->annotators = corpus->annotators - text->first_annotator;
    if (corpus->mentions - before > corpus->most_mentions)
        corpus->most_mentions = corpus->mentions - before;
    return more == 0;
}

enum { TAB_DOCUMENT, TAB_TEXT, TAB_ANNOTATIONS, TAB_DATASET, TAB_OF_OURS, TAB_TEXT_PROPERTIES };
static const TabProperty TEXT_PROPERTIES[TAB_TEXT_PROPERTIES] = {
    TAB_PROPERTY("doc_id"), TAB_PROPERTY("text"), TAB_PROPERTY("annotations"),
    TAB_PROPERTY("dataset_type"), TAB_PROPERTY("annotationSource"),
};

static int32_t take_tab_text(Cursor *c, TabCorpus *corpus, TabText *text)
{
    text->begin = corpus->used;
    text->bytes = take_decoded(c, corpus->texts + corpus->used, &text->chars);
    if (text->bytes < 0 || text->chars > INT32_MAX)
        return 0;
    corpus->used += text->bytes;
    if (text->chars > corpus->longest)
        corpus->longest = text->chars;
    return 1;
}

static int32_t take_tab_value(Cursor *c, TabCorpus *corpus, TabText *text, TabName *name, int property,
                              int32_t *furthest)
{
    switch (property) {
    case TAB_DOCUMENT:
        return take(c, '"') && take_tab_name(c, corpus, name);
    case TAB_TEXT:
        return take(c, '"') && take_tab_text(c, corpus, text);
    case TAB_ANNOTATIONS:
        return take_annotators(c, corpus, text, furthest);
    case TAB_OF_OURS:
        return 0;
    default:
        return skip_value(c, corpus, 0);
    }
}

static int32_t take_document(Cursor *c, TabCorpus *corpus)
{
    const uint32_t required = 1u << TAB_DOCUMENT | 1u << TAB_TEXT | 1u << TAB_ANNOTATIONS | 1u << TAB_DATASET;
    const TabIndex texts = {corpus->text_names, corpus->text_slots, corpus->text_slot_room, 0};
    TabName name = {0, 0};
    TabText text = {.begin = 0};
    uint32_t seen = 0;
    int32_t more, furthest = 0;
    if (corpus->listed == corpus->text_room || !take(c, '{'))
        return 0;
    do {
        int property = take_tab_property(c, TEXT_PROPERTIES, TAB_TEXT_PROPERTIES);
        if (property < 0 || (property < TAB_TEXT_PROPERTIES && seen >> property & 1))
            return 0;
        if (!take_tab_value(c, corpus, &text, &name, property, &furthest))
            return 0;
        seen |= 1u << property;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || (seen & required) != required || furthest > text.chars)
        return 0;
    int64_t which = number_of_tab(&texts, corpus->names, name, &corpus->texts_known);
    if (which < 0)
        return 0;
    corpus->text[which] = text;
    corpus->listed++;
    return 1;
}

static int32_t tab_gold_read(const uint8_t *data, int64_t size, TabCorpus *corpus)
{
    Cursor c = {data, data + size, 0};
    int32_t more;
    if (!begin_records(&c))
        return REFUSED;
    do {
        if (!take_document(&c, corpus))
            return REFUSED;
        more = next_record(&c);
    } while (more > 0);
    return more < 0 ? REFUSED : TAKEN;
}

static int32_t take_offset(Cursor *c, int64_t *offset)
{
    int32_t number, negative = take(c, '-');
    if (!negative)
        skip_space(c);
    if (!take_whole(c, &number))
        return 0;
    *offset = negative ? -(int64_t)number : number;
    return 1;
}

static int32_t take_masks(Cursor *c, TabCorpus *corpus)
{
    int32_t more;
    if (!take(c, '['))
        return 0;
    if (take(c, ']'))
        return 1;
    do {
        TabMask *mask = corpus->mask + corpus->masks;
        if (corpus->masks == corpus->mask_room || !take(c, '[') || !take_offset(c, &mask->start))
            return 0;
        if (!take(c, ',') || !take_offset(c, &mask->end) || !take(c, ']'))
            return 0;
        corpus->masks++;
        more = another(c, ']');
    } while (more > 0);
    return more == 0;
}

/* A text is masked but once, and must be known. */
static int32_t take_masked(Cursor *c, TabCorpus *corpus)
{
    const TabIndex texts = {corpus->text_names, corpus->text_slots, corpus->text_slot_room, 0};
    TabName name;
    if (corpus->masked_texts == corpus->masked_room || !take(c, '"') || !take_tab_name(c, corpus, &name) || !take(c, ':'))
        return 0;
    const uint32_t *slot = find_tab_name(&texts, corpus->names, name);
    if (!slot || !*slot || corpus->seen[*slot - 1]++)
        return 0;
    TabMasked *masked = corpus->masked + corpus->masked_texts++;
    *masked = (TabMasked){*slot - 1, corpus->masks, 0};
    if (!take_masks(c, corpus))
        return 0;
    masked->masks = corpus->masks - masked->first_mask;
    return 1;
}

static int32_t tab_masks_read(const uint8_t *data, int64_t size, TabCorpus *corpus)
{
    Cursor c = {data, data + size, 0};
    int32_t more;
    corpus->masks_named = corpus->named;
    if (!take(&c, '{'))
        return REFUSED;
    do {
        if (!take_masked(&c, corpus))
            return REFUSED;
        more = another(&c, '}');
    } while (more > 0);
    skip_space(&c);
    return more < 0 || c.at < c.end ? REFUSED : TAKEN;
}

#endif
