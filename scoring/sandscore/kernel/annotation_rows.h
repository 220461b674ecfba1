/* Records of annotations into columns. */
#ifndef SANDSCORE_ANNOTATION_ROWS_H
#define SANDSCORE_ANNOTATION_ROWS_H

#include <math.h>

#include "json_strings.h"
#include "kernel.h"
#include "numbers.h"
#include "spellings.h"
#include "words.h"

/* A text that does not stand for itself; 0: it is none, or there is no room for its words. */
APART int32_t take_odd_text(Rows *rows, Written text, int32_t want_tokens)
{
    int64_t chars, size = decode_string(&text, rows->decoded, &chars);
    return size >= 0 && (!want_tokens || decoded_words(rows, rows->decoded, size));
}

INLINED int32_t take_text(Cursor *c, const uint8_t *data, int32_t want_tokens, Rows *rows)
{
    Written text;
    if (!take_string(c, &text))
        return 0;
    int64_t row = rows->rows, before = rows->tokens;
    rows->text[row] = (int32_t)(text.begin - data);
    rows->written[row] = (int32_t)(text.plain ? text.size : -text.size);
    if (!text.plain && !take_odd_text(rows, text, want_tokens))
        return 0;
    if (text.plain && want_tokens && !plain_words(rows, text.begin, text.size, c->end))
        return 0;
    rows->words[row] = (int32_t)(rows->tokens - before);
    return 1;
}

/* A label that was not known: learnt, where that is ours to do and it is written as it is called. */
APART int32_t learn_here(Written label, Spellings *known, int32_t *code)
{
    if (!known->growing || memchr(label.begin, '\\', (size_t)label.size))
        return 0;
    *code = known->count;
    return learn_spelling(known, label.begin, label.size, known->count);
}

INLINED int32_t take_label(Cursor *c, const uint8_t *data, Spellings *known, Rows *rows, int32_t *code)
{
    Written label;
    if (!take_string(c, &label))
        return REFUSED;
    if (find_spelling(known, label.begin, label.size, c->end, code) || learn_here(label, known, code))
        return TAKEN;
    rows->label_at = label.begin - data;
    rows->label_size = label.size;
    return UNKNOWN_LABEL;
}

/* What stood before each value of an annotation last time, byte for byte: whoever writes many writes it each time. */
enum { LONGEST_STEP = 32, PATIENCE = 64 };
typedef struct {
    uint8_t written[PROPERTIES][LONGEST_STEP];
    int32_t sizes[PROPERTIES], property[PROPERTIES];
    int32_t steps, missed, patience; /* no steps: nothing is known; no patience left: it was otherwise too often */
} Habit;

typedef struct {
    const uint8_t *data;
    const Form *form;
    Spellings *labels, *seconds;
    Rows *rows;
    int following[PROPERTIES + 1]; /* what came after each property last time; first of all at the end */
    Habit habit;
} Reader;

static inline int is_string(int property) { return property != START && property != LENGTH && property != CONFIDENCE; }

/* What comes behind the colon, and behind the opening mark of a string. */
INLINED int32_t take_value(Reader *r, Cursor *c, int property)
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

APART int32_t take_new_value(Reader *r, Cursor *c, int property) { return take_value(r, c, property); }

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

/* Whether the step stands here; as many bytes can be looked at as the longest has. */
static inline int stands_here(const uint8_t *at, const uint8_t *step, int32_t size)
{
#if LANES == 32
    return !(~equal_bits(at, step) & lowest_bits(size));
#elif LANES == 16
    uint32_t both = equal_bits(at, step) | (size > 16 ? equal_bits(at + 16, step + 16) << 16 : 0);
    return !(~both & lowest_bits(size));
#else
    return same_bytes(at, step, size);
#endif
}

/* An annotation that is written as the one before was; 0, with nothing taken: it is not, or not known to be right. */
APART int32_t take_habitual(Reader *r, Cursor *c)
{
    Rows *rows = r->rows;
    const Habit *habit = &r->habit;
    Cursor here = *c;
    int64_t tokens = rows->tokens;
    for (int32_t i = 0; i < habit->steps; i++) {
        int32_t size = habit->sizes[i];
        if (here.end - here.at < LONGEST_STEP || !stands_here(here.at, habit->written[i], size))
            break;
        here.at += size;
        if (take_value(r, &here, habit->property[i]) != TAKEN)
            break;
        if (i + 1 == habit->steps && here.at < here.end && *here.at == '}') {
            c->at = here.at + 1;
            return 1;
        }
    }
    rows->tokens = tokens;
    return 0;
}

/* From where to where it is written what stands before a value. */
static inline void learn_step(Habit *habit, int property, const uint8_t *from, const uint8_t *to)
{
    int64_t size = to - from;
    if (habit->steps < 0 || size > LONGEST_STEP) {
        habit->steps = -1;
        return;
    }
    memcpy(habit->written[habit->steps], from, (size_t)size);
    habit->sizes[habit->steps] = (int32_t)size;
    habit->property[habit->steps++] = property;
}

static int32_t take_annotation(Reader *r, Cursor *c)
{
    Rows *rows = r->rows;
    Habit *habit = &r->habit;
    skip_space(c);
    if (rows->rows == rows->row_room)
        return REFUSED;
    rows->label[rows->rows] = -1;
    rows->confidence[rows->rows] = NAN;
    if (habit->steps > 0 && habit->patience > 0) {
        if (take_habitual(r, c)) {
            habit->patience += habit->patience < PATIENCE;
            habit->missed = 0;
            rows->rows++;
            return TAKEN;
        }
        habit->patience -= 2;
        habit->missed++;
        rows->label[rows->rows] = -1;
        rows->confidence[rows->rows] = NAN;
    }
    const uint8_t *from = c->at;
    if (!take(c, '{'))
        return REFUSED;
    uint32_t seen = 0;
    int last = PROPERTIES;
    int32_t more, learning = habit->steps <= 0 || habit->missed > 1;
    if (learning)
        habit->steps = habit->missed = 0;
    do {
        int property = take_property(r, c, last);
        if (property == PROPERTIES || seen >> property & 1 || !take(c, ':'))
            return REFUSED;
        skip_space(c);
        if (is_string(property) && !take(c, '"'))
            return REFUSED;
        if (learning)
            learn_step(habit, property, from, c->at);
        int32_t found = take_new_value(r, c, property);
        if (found != TAKEN)
            return found;
        from = c->at;
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

static int32_t annotations_read(const uint8_t *data, int64_t size, int32_t lines, const Form *form,
                                Spellings *labels, Spellings *seconds, Rows *rows)
{
    Cursor c = {data, data + size, lines};
    Reader r = {data, form, labels, seconds, rows, {LENGTH, TEXT, LABEL, START, CONFIDENCE, START, START}, {.patience = PATIENCE}};
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

#endif
