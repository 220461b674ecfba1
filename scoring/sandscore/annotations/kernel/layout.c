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
#define NAME_TABLE_FIELDS(X) \
    X(NameTable, names) X(NameTable, begin) X(NameTable, slots) X(NameTable, count) X(NameTable, slot_room) \
    X(NameTable, whole)
#define NOTE_ROWS_FIELDS(X) \
    X(NoteRows, texts) X(NoteRows, names) X(NoteRows, patients) X(NoteRows, has_patient) X(NoteRows, sizes) \
    X(NoteRows, chars) X(NoteRows, record_room) X(NoteRows, used) X(NoteRows, named) X(NoteRows, patients_used) \
    X(NoteRows, records)
#define RUNS_FIELDS(X) \
    X(NoteRuns, start) X(NoteRuns, length) X(NoteRuns, label) X(NoteRuns, words) X(NoteRuns, begin) X(NoteRuns, size) \
    X(NoteRuns, confidence) X(NoteRuns, note) X(NoteRuns, first) X(NoteRuns, count) X(NoteRuns, first_token) \
    X(NoteRuns, rows) X(NoteRuns, tokens) X(NoteRuns, runs)
#define MEASURE_FIELDS(X) \
    X(AskedMeasure, kind) X(AskedMeasure, tolerance) X(AskedMeasure, value) X(AskedMeasure, per_note) \
    X(AskedMeasure, right)
#define MENTION_FIELDS(X) \
    X(CountedMention, token) X(CountedMention, confidence) X(CountedMention, start) X(CountedMention, length) \
    X(CountedMention, label) X(CountedMention, words) X(CountedMention, paired) X(CountedMention, settled)
#define KEY_FIELDS(X) X(Key, major) X(Key, minor)
#define LABEL_SUMS_FIELDS(X) X(LabelSums, mentions) X(LabelSums, words)
#define OPEN_ROW_FIELDS(X) \
    X(OpenRow, note) X(OpenRow, group) X(OpenRow, gold) X(OpenRow, open) X(OpenRow, mentions) X(OpenRow, leaking) \
    X(OpenRow, whole) X(OpenRow, reach)
#define OPEN_GROUPS_FIELDS(X) X(OpenGroups, value) X(OpenGroups, last) X(OpenGroups, rows) X(OpenGroups, used)
#define UNCOVERED_FIELDS(X) \
    X(Uncovered, by) X(Uncovered, masked) X(Uncovered, spurious) X(Uncovered, room) X(Uncovered, entities) \
    X(Uncovered, unsure)
#define COUNTING_FIELDS(X) \
    X(Counting, first) X(Counting, last) X(Counting, labels) X(Counting, measures) X(Counting, measure) \
    X(Counting, gold_labels) X(Counting, predicted_labels) X(Counting, agreed) X(Counting, gold) \
    X(Counting, predicted) X(Counting, spare) X(Counting, gold_keys) X(Counting, predicted_keys) \
    X(Counting, spare_keys) X(Counting, loose) X(Counting, numbers) X(Counting, odd) X(Counting, open) \
    X(Counting, mention_room) X(Counting, key_room) X(Counting, odd_room) X(Counting, partial) X(Counting, unused) X(Counting, levels) \
    X(Counting, odds) X(Counting, unsure) X(Counting, boundary) X(Counting, leaking) X(Counting, with_gold) \
    X(Counting, labelled_pairs)
#define STREAM_FIELDS(X) \
    X(DrawStream, state_high) X(DrawStream, state_low) X(DrawStream, step_high) X(DrawStream, step_low)
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
    SIZE(NameTable) NAME_TABLE_FIELDS(OFFSET)
    SIZE(NoteRows) NOTE_ROWS_FIELDS(OFFSET)
    SIZE(NoteRuns) RUNS_FIELDS(OFFSET)
    SIZE(AskedMeasure) MEASURE_FIELDS(OFFSET)
    SIZE(CountedMention) MENTION_FIELDS(OFFSET)
    SIZE(Key) KEY_FIELDS(OFFSET)
    SIZE(LabelSums) LABEL_SUMS_FIELDS(OFFSET)
    SIZE(OpenRow) OPEN_ROW_FIELDS(OFFSET)
    SIZE(OpenGroups) OPEN_GROUPS_FIELDS(OFFSET)
    SIZE(Uncovered) UNCOVERED_FIELDS(OFFSET)
    SIZE(Counting) COUNTING_FIELDS(OFFSET)
    SIZE(DrawStream) STREAM_FIELDS(OFFSET)
    TAKEN, UNKNOWN_LABEL, UNKNOWN_SECOND, PROPERTIES, MARK_EVERY,
    BY_TOKEN, BY_SPAN, BY_LABEL, MEASURES, WHOLE_LEVELS, GROUPINGS, SUMMED_COLUMNS,
};
const char layout_names[] =
    SPELLINGS_FIELDS(NAME) FORM_FIELDS(NAME) ROWS_FIELDS(NAME) NOTES_FIELDS(NAME) NAME_TABLE_FIELDS(NAME)
    NOTE_ROWS_FIELDS(NAME) RUNS_FIELDS(NAME) MEASURE_FIELDS(NAME) MENTION_FIELDS(NAME) KEY_FIELDS(NAME) LABEL_SUMS_FIELDS(NAME)
    OPEN_ROW_FIELDS(NAME) OPEN_GROUPS_FIELDS(NAME) UNCOVERED_FIELDS(NAME) COUNTING_FIELDS(NAME) STREAM_FIELDS(NAME);
