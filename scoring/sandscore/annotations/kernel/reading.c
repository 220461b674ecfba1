/* What Python calls of reading. */
#include "reading.h"

int32_t read_annotations(const uint8_t *data, int64_t size, int32_t lines, const Form *form, const Spellings *labels,
                         const Spellings *seconds, Rows *rows)
{
    return annotations_read(data, size, lines, form, labels, seconds, rows);
}

int64_t find_misplaced(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                       int32_t *found)
{
    return misplaced_found(data, rows, numbers, notes, found);
}

int32_t read_notes(const uint8_t *data, int64_t size, int32_t lines, NoteRows *rows)
{
    return notes_read(data, size, lines, rows);
}

int64_t mark_characters(const uint8_t *texts, const int64_t *sizes, const int64_t *chars, int64_t count,
                        uint32_t *marks)
{
    return characters_marked(texts, sizes, chars, count, marks);
}
