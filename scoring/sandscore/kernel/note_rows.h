/* Notes into texts end to end, and where characters are in them. */
#ifndef SANDSCORE_NOTE_ROWS_H
#define SANDSCORE_NOTE_ROWS_H

#include "json_strings.h"
#include "kernel.h"

enum { IDENTIFIER, NOTE_TEXT, PATIENT, TYPE, OLD_TYPE, NOTE_PROPERTIES };

#define NAMED(name) {(const uint8_t *)name "\"", sizeof(name)}
static const struct {
    const uint8_t *name;
    int64_t size;
} NAMES[NOTE_PROPERTIES] = {NAMED("identifier"), NAMED("text"), NAMED("patientId"), NAMED("type"), NAMED("noteType")};

static int64_t characters_marked(const uint8_t *texts, const int64_t *sizes, const int64_t *chars, int64_t count,
                                 uint32_t *marks)
{
    uint32_t *next = marks;
    for (int64_t i = 0; i < count; texts += sizes[i++]) {
        if (sizes[i] == chars[i])
            continue;
        uint32_t passed = 0;
        *next++ = 0;
        for (int64_t at = 0; at + MARK_EVERY <= sizes[i]; at += MARK_EVERY)
            *next++ = passed += (uint32_t)(MARK_EVERY - continued_within(texts + at, MARK_EVERY));
    }
    return next - marks;
}

static int take_note_property(Cursor *c)
{
    if (!take(c, '"'))
        return NOTE_PROPERTIES;
    for (int which = 0; which < NOTE_PROPERTIES; which++)
        if (take_name(c, NAMES[which].name, NAMES[which].size))
            return which;
    return NOTE_PROPERTIES;
}

/* Decodes a name and ends it with a zero, which it may not hold. */
static int32_t put_name(const Written *name, uint8_t *names, int64_t *used)
{
    int64_t chars, size = decode_string(name, names + *used, &chars);
    if (size < 0 || memchr(names + *used, 0, (size_t)size))
        return 0;
    names[*used + size] = 0;
    *used += size + 1;
    return 1;
}

/* What comes behind a value's opening mark. */
static int32_t take_note_value(Cursor *c, NoteRows *rows, int property)
{
    int64_t record = rows->records, chars;
    Written value;
    switch (property) {
    case IDENTIFIER:
        return take_string(c, &value) && put_name(&value, rows->names, &rows->named);
    case PATIENT:
        rows->has_patient[record] = 1;
        return take_string(c, &value) && put_name(&value, rows->patients, &rows->patients_used);
    case NOTE_TEXT:
        rows->sizes[record] = take_decoded(c, rows->texts + rows->used, rows->chars + record);
        if (rows->sizes[record] < 0)
            return 0;
        rows->used += rows->sizes[record];
        return 1;
    default: /* nobody asks for it, but it must be right: the room behind the texts is as good as any */
        return take_decoded(c, rows->texts + rows->used, &chars) >= 0;
    }
}

static int32_t take_note(Cursor *c, NoteRows *rows)
{
    const uint32_t required = 1u << IDENTIFIER | 1u << NOTE_TEXT;
    uint32_t seen = 0;
    int32_t more;
    if (rows->records == rows->record_room || !take(c, '{'))
        return 0;
    rows->has_patient[rows->records] = 0;
    do {
        int property = take_note_property(c);
        if (property == NOTE_PROPERTIES || seen >> property & 1 || !take(c, ':') || !take(c, '"'))
            return 0;
        if (!take_note_value(c, rows, property))
            return 0;
        seen |= 1u << property;
        more = another(c, '}');
    } while (more > 0);
    if (more < 0 || (seen & required) != required)
        return 0;
    rows->records++;
    return 1;
}

static int32_t notes_read(const uint8_t *data, int64_t size, int32_t lines, NoteRows *rows)
{
    Cursor c = {data, data + size, lines};
    int32_t more;
    rows->used = rows->named = rows->patients_used = rows->records = 0;
    if (!begin_records(&c))
        return REFUSED;
    do {
        if (!take_note(&c, rows))
            return REFUSED;
        more = next_record(&c);
    } while (more > 0);
    return more < 0 ? REFUSED : TAKEN;
}

#endif
