/* Where the structures of kernel.h lie: of each its size, then the offset of every field in their order, then the
   numbers that both sides use; and the names of the fields. Whoever declares them in another language compares before
   the first call. */
#include "kernel.h"

#include <stddef.h>

#define SPELLINGS_FIELDS(X) \
    X(Spellings, count) X(Spellings, codes) X(Spellings, begins) X(Spellings, slots) X(Spellings, pool)
#define FORM_FIELDS(X) \
    X(Form, array) X(Form, names) X(Form, array_size) X(Form, sizes) X(Form, required) X(Form, want_tokens)
#define ROWS_FIELDS(X) \
    X(Rows, start) X(Rows, length) X(Rows, label) X(Rows, confidence) X(Rows, text) X(Rows, written) X(Rows, words) \
    X(Rows, begin) X(Rows, size) X(Rows, per_record) X(Rows, names) X(Rows, decoded) X(Rows, row_room) \
    X(Rows, token_room) X(Rows, record_room) X(Rows, rows) X(Rows, tokens) X(Rows, records) X(Rows, named) \
    X(Rows, label_at) X(Rows, label_size)
#define NOTES_FIELDS(X) X(Notes, texts) X(Notes, begin) X(Notes, chars) X(Notes, first_mark) X(Notes, marks)
#define NOTE_ROWS_FIELDS(X) \
    X(NoteRows, texts) X(NoteRows, names) X(NoteRows, patients) X(NoteRows, has_patient) X(NoteRows, sizes) \
    X(NoteRows, chars) X(NoteRows, record_room) X(NoteRows, used) X(NoteRows, named) X(NoteRows, patients_used) \
    X(NoteRows, records)
#define OFFSET(kind, field) (int32_t) offsetof(kind, field),
#define NAME(kind, field) #field " "
#define SIZE(kind) (int32_t) sizeof(kind),

EXPORTED extern const int32_t layout[];
EXPORTED extern const char layout_names[];

const int32_t layout[] = {
    SIZE(Spellings) SPELLINGS_FIELDS(OFFSET)
    SIZE(Form) FORM_FIELDS(OFFSET)
    SIZE(Rows) ROWS_FIELDS(OFFSET)
    SIZE(Notes) NOTES_FIELDS(OFFSET)
    SIZE(NoteRows) NOTE_ROWS_FIELDS(OFFSET)
    TAKEN, UNKNOWN_LABEL, UNKNOWN_SECOND, PROPERTIES, MARK_EVERY,
};
const char layout_names[] =
    SPELLINGS_FIELDS(NAME) FORM_FIELDS(NAME) ROWS_FIELDS(NAME) NOTES_FIELDS(NAME) NOTE_ROWS_FIELDS(NAME);
