/* Whether texts stand in their notes where annotations say. */
#ifndef SANDSCORE_STANDING_H
#define SANDSCORE_STANDING_H

#include "json_strings.h"
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *begin, *end;
    int64_t chars;
    const uint32_t *marks;
} Note;

static Note note_of(const Notes *notes, int64_t number)
{
    const int64_t *begin = notes->begin + number;
    Note note = {notes->texts + begin[0], notes->texts + begin[1], notes->chars[number], NULL};
    if (note.end - note.begin != note.chars)
        note.marks = notes->marks + notes->first_mark[number];
    return note;
}

/* What is left to fetch of a note that is looked at next. */
typedef struct {
    int64_t at, end;
} Ahead;

enum { CACHE_LINE = 64, LINES_A_ROW = 4 };

/* Inlined: calls of what only prefetches are thought to have no effect, by GCC, and left out. */
INLINED Ahead fetch_note(const Notes *notes, const int32_t *numbers, int64_t records, int64_t record)
{
    if (record >= records || numbers[record] < 0)
        return (Ahead){0, 0};
    int32_t number = numbers[record];
    const int64_t *begin = notes->begin + number;
    if (begin[1] - begin[0] != notes->chars[number])
        __builtin_prefetch(notes->marks + notes->first_mark[number]);
    return (Ahead){begin[0], begin[1]};
}

/* A few lines with each annotation of the note before: the processor does not wait for as many as that. */
INLINED void fetch_more(const Notes *notes, Ahead *ahead)
{
    for (int i = 0; i < LINES_A_ROW; i++, ahead->at += CACHE_LINE)
        if (ahead->at < ahead->end)
            __builtin_prefetch(notes->texts + ahead->at);
}

/* Where a character of the note begins, or its end where there is none. */
static const uint8_t *place_of(const Note *note, int64_t character)
{
    if (!note->marks)
        return note->begin + character;
    int64_t high = (note->end - note->begin) / MARK_EVERY, low = character / MARK_EVERY;
    low = low < high ? low : high; /* so far it is at the least, and mostly not farther */
    for (int64_t step = 1; low < high; step *= 2) {
        int64_t next = low + step < high ? low + step : high;
        if (note->marks[next] > character) {
            high = next - 1;
            break;
        }
        low = next;
    }
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (note->marks[middle] <= character)
            low = middle;
        else
            high = middle - 1;
    }
    const uint8_t *at = note->begin + low * MARK_EVERY;
    int64_t passed = note->marks[low], within = character - passed;
    int64_t ascii = low < (note->end - note->begin) / MARK_EVERY && note->marks[low + 1] - passed == MARK_EVERY;
    if (ascii && within >= 0 && within < MARK_EVERY)
        return at + within;
#if LANES == 32
    for (; note->end - at >= LANES; at += LANES) {
        uint32_t continuing = continuing_bits(at);
        int64_t begun = LANES - __builtin_popcount(continuing);
        if (passed + begun > character) {
            if (!continuing && character >= passed)
                return at + (character - passed);
            break;
        }
        passed += begun;
    }
#endif
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

/* Whether the note has this text from that character on, which is no farther than its end. The text can be looked at
   until ``end``. */
static inline int has_text(const Note *note, int64_t character, const uint8_t *text, int64_t size, const uint8_t *end)
{
    const uint8_t *place = place_of(note, character);
    (void)end;
#if LANES
    if (size <= LANES && note->end - place >= LANES && end - text >= LANES)
        return !(~equal_bits(place, text) & lowest_bits(size));
#endif
    return note->end - place >= size && same_bytes(place, text, size);
}

/* ``end``: so far the block can be looked at. */
static inline int stands(const uint8_t *data, const uint8_t *end, const Rows *rows, int64_t row, const Note *note)
{
    int64_t start = rows->start[row], length = rows->length[row], written = rows->written[row], chars = written;
    const uint8_t *text = data + rows->text[row];
    if (start + length > note->chars)
        return 0;
    if (written < 0) {
        Written string = {text, -written, 0};
        text = end = rows->decoded;
        written = decode_string(&string, rows->decoded, &chars);
    }
    if (chars != length)
        return 0;
    return has_text(note, start, text, written, end);
}

/* So far a block's texts can be looked at. */
static const uint8_t *end_of_texts(const uint8_t *data, const Rows *rows)
{
    int64_t last = rows->rows - 1;
    return rows->rows ? data + rows->text[last] + llabs(rows->written[last]) : data;
}

static int64_t misplaced_found(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                               int32_t *found)
{
    int64_t row = 0, count = 0;
    const uint8_t *end = end_of_texts(data, rows);
    for (int64_t record = 0; record < rows->records; record++) {
        int64_t last = row + rows->per_record[record];
        Ahead ahead = fetch_note(notes, numbers, rows->records, record + 1);
        if (numbers[record] < 0) {
            row = last;
            continue;
        }
        Note note = note_of(notes, numbers[record]);
        for (; row < last; row++) {
            fetch_more(notes, &ahead);
            if (!stands(data, end, rows, row, &note))
                found[count++] = (int32_t)row;
        }
    }
    return count;
}

/* Puts a text behind the others; how many bytes it takes, or -1 where it has another length than it should. */
static inline int64_t text_kept(const uint8_t *data, const uint8_t *end, const Rows *rows, int64_t row, KeptTexts *kept)
{
    int64_t written = rows->written[row], left = kept->text_room - kept->used, chars = written, size = written;
    const uint8_t *text = data + rows->text[row];
    uint8_t *to = kept->texts + kept->used;
    (void)end;
    if (llabs(written) > left)
        return -1;
    if (written < 0) {
        Written string = {text, -written, 0};
        size = decode_string(&string, to, &chars);
#if LANES
    } else if (written <= LANES && left >= LANES && end - text >= LANES) {
        copy_lanes(to, text);
#endif
    } else {
        memcpy(to, text, (size_t)written);
    }
    return chars == rows->length[row] ? size : -1;
}

static int32_t texts_kept(const uint8_t *data, const Rows *rows, const int32_t *numbers, KeptTexts *kept)
{
    const uint8_t *end = end_of_texts(data, rows);
    int64_t row = 0;
    for (int64_t record = 0; record < rows->records; record++) {
        int32_t number = numbers[record], count = rows->per_record[record];
        if (number < 0 || number >= kept->notes || kept->rows_of[number] || count > kept->row_room - kept->rows)
            return 0;
        kept->rows_of[number] = count;
        kept->first_row[number] = kept->rows;
        kept->first_byte[number] = kept->used;
        for (; count > 0; count--) {
            int64_t size = text_kept(data, end, rows, row++, kept);
            if (size < 0)
                return 0;
            kept->bytes[kept->rows++] = (int32_t)size;
            kept->used += size;
        }
    }
    return 1;
}

static int32_t kept_standing(const Notes *notes, int64_t first, int64_t count, const KeptTexts *kept,
                             const int32_t *start)
{
    const uint8_t *end = kept->texts + kept->used;
    if (first < 0 || count > kept->notes - first)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        Note note = note_of(notes, i);
        const uint8_t *text = kept->texts + kept->first_byte[first + i];
        int64_t row = kept->first_row[first + i], last = row + kept->rows_of[first + i];
        for (; row < last; text += kept->bytes[row++])
            if (start[row] > note.chars || !has_text(&note, start[row], text, kept->bytes[row], end))
                return 0;
    }
    return 1;
}

static int64_t parts_copied(const Notes *notes, const int64_t *note, const int64_t *start, const int64_t *length,
                            int64_t count, uint8_t *copied, int64_t room, int64_t *sizes)
{
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        Note whole = note_of(notes, note[i]);
        if (start[i] < 0 || length[i] < 0 || start[i] > whole.chars || length[i] > whole.chars - start[i])
            return REFUSED;
        const uint8_t *from = place_of(&whole, start[i]), *to = place_of(&whole, start[i] + length[i]);
        sizes[i] = to - from;
        if (sizes[i] >= room - used)
            return REFUSED;
        memcpy(copied + used, from, (size_t)sizes[i]);
        used += sizes[i];
        copied[used++] = '\n';
    }
    return used;
}

#endif
