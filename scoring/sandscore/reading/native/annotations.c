/* Records of annotations into columns. */
#include <math.h>

#include "json.h"
#include "kernel.h"

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

/* White space as str.isspace knows it, beyond ASCII. */
static int is_blank(uint32_t point)
{
    return point == 0x85 || point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
           point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

static inline int is_ascii_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31);
}

/* The character that begins here in right UTF-8. */
static uint32_t character_at(const uint8_t *at, int64_t size)
{
    uint32_t point = size == 1 ? *at : *at & (0x7Fu >> size);
    for (int64_t i = 1; i < size; i++)
        point = point << 6 | (at[i] & 0x3Fu);
    return point;
}

static inline int32_t put_word(Rows *rows, int64_t begin, int64_t end)
{
    if (rows->tokens == rows->token_room)
        return 0;
    rows->begin[rows->tokens] = (int32_t)begin;
    rows->size[rows->tokens++] = (int32_t)(end - begin);
    return 1;
}

/* The words of a text that is ASCII and has no escapes: a blank is its only white space. */
static inline int32_t plain_words(Rows *rows, const uint8_t *text, int64_t size)
{
    int64_t at = 0;
    while (at < size) {
        while (at < size && text[at] == ' ')
            at++;
        int64_t begin = at;
        while (at < size && text[at] != ' ')
            at++;
        if (at > begin && !put_word(rows, begin, at))
            return 0;
    }
    return 1;
}

static int32_t decoded_words(Rows *rows, const uint8_t *text, int64_t size)
{
    const uint8_t *at = text, *end = text + size;
    int64_t place = 0, begin = -1;
    for (int64_t step; at < end; at += step, place++) {
        step = character_size(at, end);
        if (step == 0)
            return 0;
        int blank = step == 1 ? is_ascii_blank(*at) : is_blank(character_at(at, step));
        if (blank && begin >= 0 && !put_word(rows, begin, place))
            return 0;
        begin = blank ? -1 : begin < 0 ? place : begin;
    }
    return begin < 0 || put_word(rows, begin, place);
}

static int32_t take_text(Cursor *c, const uint8_t *data, int32_t want_tokens, Rows *rows)
{
    Written text;
    if (!take(c, '"') || !take_string(c, &text))
        return 0;
    int64_t row = rows->rows, before = rows->tokens, chars;
    rows->text[row] = (int32_t)(text.begin - data);
    rows->written[row] = (int32_t)(text.plain ? text.size : -text.size);
    if (!text.plain) {
        int64_t size = decode_string(&text, rows->decoded, &chars);
        if (size < 0 || (want_tokens && !decoded_words(rows, rows->decoded, size)))
            return 0;
    } else if (want_tokens && !plain_words(rows, text.begin, text.size)) {
        return 0;
    }
    rows->words[row] = (int32_t)(rows->tokens - before);
    return 1;
}

static int32_t take_label(Cursor *c, const uint8_t *data, const Spellings *known, Rows *rows, int32_t *code)
{
    Written label;
    if (!take(c, '"') || !take_string(c, &label))
        return REFUSED;
    int32_t which = known->slots[find_slot(known, label.begin, label.size)];
    if (!which) {
        rows->label_at = label.begin - data;
        rows->label_size = label.size;
        return UNKNOWN_LABEL;
    }
    *code = known->codes[which - 1];
    return TAKEN;
}

typedef struct {
    const uint8_t *data;
    const Form *form;
    const Spellings *labels, *seconds;
    Rows *rows;
    int following[PROPERTIES + 1]; /* what came after each property last time; first of all at the end */
} Reader;

static int32_t take_value(Reader *r, Cursor *c, int property)
{
    Rows *rows = r->rows;
    int64_t row = rows->rows;
    int32_t ignored, found;
    switch (property) {
    case START:
        return take_whole(c, rows->start + row) ? TAKEN : REFUSED;
    case LENGTH:
        return take_whole(c, rows->length + row) && rows->length[row] ? TAKEN : REFUSED;
    case TEXT:
        return take_text(c, r->data, r->form->want_tokens, rows) ? TAKEN : REFUSED;
    case CONFIDENCE:
        return take_decimal(c, rows->confidence + row) && rows->confidence[row] <= 100 ? TAKEN : REFUSED;
    case LABEL:
        return take_label(c, r->data, r->labels, rows, rows->label + row);
    default:
        found = take_label(c, r->data, r->seconds, rows, &ignored);
        return found == UNKNOWN_LABEL ? UNKNOWN_SECOND : found;
    }
}

/* Which property's name comes next; ``last`` came before. */
static int take_property(Reader *r, Cursor *c, int last)
{
    const Form *form = r->form;
    if (!take(c, '"'))
        return PROPERTIES;
    int guess = r->following[last];
    if (form->sizes[guess] && take_name(c, form->names[guess], form->sizes[guess]))
        return guess;
    for (int which = 0; which < PROPERTIES; which++)
        if (form->sizes[which] && take_name(c, form->names[which], form->sizes[which]))
            return r->following[last] = which;
    return PROPERTIES;
}

static int32_t take_annotation(Reader *r, Cursor *c)
{
    Rows *rows = r->rows;
    if (rows->rows == rows->row_room || !take(c, '{'))
        return REFUSED;
    uint32_t seen = 0;
    int last = PROPERTIES;
    rows->label[rows->rows] = -1;
    rows->confidence[rows->rows] = NAN;
    int32_t more;
    do {
        int property = take_property(r, c, last);
        if (property == PROPERTIES || seen >> property & 1 || !take(c, ':'))
            return REFUSED;
        skip_space(c);
        int32_t found = take_value(r, c, property);
        if (found != TAKEN)
            return found;
        seen |= 1u << property;
        last = property;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || (seen & r->form->required) != r->form->required)
        return REFUSED;
    rows->rows++;
    return TAKEN;
}

static int32_t take_annotations(Reader *r, Cursor *c)
{
    if (!take(c, '['))
        return REFUSED;
    if (take(c, ']'))
        return TAKEN;
    int32_t more;
    do {
        int32_t found = take_annotation(r, c);
        if (found != TAKEN)
            return found;
        more = another(c, ']');
    } while (more > 0);
    return more < 0 ? REFUSED : TAKEN;
}

/* {"resourceSource": {"name": "..."}}; the name, decoded, goes to the others and ends in a zero. */
static int32_t take_source(Cursor *c, Rows *rows)
{
    Written name;
    int64_t chars;
    if (!take(c, '{') || !TAKE_KEY(c, "resourceSource") || !take(c, '{') || !TAKE_KEY(c, "name"))
        return REFUSED;
    if (!take(c, '"') || !take_string(c, &name) || !take(c, '}') || !take(c, '}'))
        return REFUSED;
    uint8_t *out = rows->names + rows->named;
    int64_t size = decode_string(&name, out, &chars);
    if (size < 0 || memchr(out, 0, (size_t)size))
        return REFUSED;
    out[size] = 0;
    rows->named += size + 1;
    return TAKEN;
}

static int32_t take_record(Reader *r, Cursor *c)
{
    const Form *form = r->form;
    Rows *rows = r->rows;
    int64_t before = rows->rows;
    int32_t more, sourced = 0, listed = 0;
    if (rows->records == rows->record_room || !take(c, '{'))
        return REFUSED;
    do {
        int32_t found = REFUSED;
        if (!take(c, '"'))
            return REFUSED;
        if (!sourced && TAKE_NAME(c, "annotationSource")) {
            found = take(c, ':') ? take_source(c, rows) : REFUSED;
            sourced = 1;
        } else if (!listed && take_name(c, form->array, form->array_size)) {
            found = take(c, ':') ? take_annotations(r, c) : REFUSED;
            listed = 1;
        }
        if (found != TAKEN)
            return found;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || !sourced || !listed)
        return REFUSED;
    rows->per_record[rows->records++] = (int32_t)(rows->rows - before);
    return TAKEN;
}

int32_t read_annotations(const uint8_t *data, int64_t size, int32_t lines, const Form *form, const Spellings *labels,
                         const Spellings *seconds, Rows *rows)
{
    Cursor c = {data, data + size, lines};
    Reader r = {data, form, labels, seconds, rows, {LENGTH, TEXT, LABEL, START, CONFIDENCE, START, START}};
    int32_t more;
    rows->rows = rows->tokens = rows->records = rows->named = 0;
    if (size > INT32_MAX || !begin_records(&c))
        return REFUSED;
    do {
        int32_t found = take_record(&r, &c);
        if (found != TAKEN)
            return found;
        more = next_record(&c);
    } while (more > 0);
    return more < 0 ? REFUSED : TAKEN;
}
