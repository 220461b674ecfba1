/* Whether texts stand in their notes where annotations say. */
#ifndef SANDSCORE_STANDING_H
#define SANDSCORE_STANDING_H

#include "json_strings.h"
#include "kernel.h"

typedef struct {
    const uint8_t *begin, *end;
    int64_t chars;
    const uint32_t *marks;
} Note;

static Note note_of(const Notes *notes, int32_t number)
{
    const int64_t *begin = notes->begin + number;
    Note note = {notes->texts + begin[0], notes->texts + begin[1], notes->chars[number], NULL};
    if (note.end - note.begin != note.chars)
        note.marks = notes->marks + notes->first_mark[number];
    return note;
}

/* The note is about to be looked at in many places. */
static void fetch(const Note *note)
{
    const int64_t most = 1 << 14;
    for (int64_t at = 0; at < note->end - note->begin && at < most; at += 64)
        __builtin_prefetch(note->begin + at);
}

/* How many of eight bytes continue a character. */
static inline int64_t continued_of(uint64_t eight)
{
    uint64_t high = eight & ~(eight << 1) & UINT64_C(0x8080808080808080);
    return (int64_t)((high >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Where a character of the note begins, or its end where there is none. */
static const uint8_t *place_of(const Note *note, int64_t character)
{
    if (!note->marks)
        return note->begin + character;
    int64_t low = 0, high = (note->end - note->begin) / MARK_EVERY;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (note->marks[middle] <= character)
            low = middle;
        else
            high = middle - 1;
    }
    const uint8_t *at = note->begin + low * MARK_EVERY;
    int64_t passed = note->marks[low];
    for (; note->end - at >= 8; at += 8) {
        int64_t begun = 8 - continued_of(eight_at(at));
        if (passed + begun > character)
            break;
        passed += begun;
    }
    for (; at < note->end; at++)
        if (!continues(*at) && passed++ == character)
            break;
    return at;
}

static int stands(const uint8_t *data, const Rows *rows, int64_t row, const Note *note)
{
    int64_t start = rows->start[row], length = rows->length[row], written = rows->written[row], chars = written;
    const uint8_t *text = data + rows->text[row];
    if (start + length > note->chars)
        return 0;
    if (written < 0) {
        Written string = {text, -written, 0};
        text = rows->decoded;
        written = decode_string(&string, rows->decoded, &chars);
    }
    if (chars != length)
        return 0;
    const uint8_t *place = place_of(note, start);
    return note->end - place >= written && same_bytes(place, text, written);
}

static int64_t misplaced_found(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                               int32_t *found)
{
    int64_t row = 0, count = 0;
    for (int64_t record = 0; record < rows->records; record++) {
        int64_t last = row + rows->per_record[record];
        if (numbers[record] < 0) {
            row = last;
            continue;
        }
        Note note = note_of(notes, numbers[record]);
        fetch(&note);
        for (; row < last; row++)
            if (!stands(data, rows, row, &note))
                found[count++] = (int32_t)row;
    }
    return count;
}

#endif
