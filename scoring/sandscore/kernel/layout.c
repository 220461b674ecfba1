/* Where the structures of kernel.h lie: of each its size, then the offset of every field in their order, then the
   numbers that both sides use; and the names of the fields. Whoever declares them in another language compares before
   the first call. */
#include "kernel.h"

#include <stddef.h>

#define SPELLINGS_FIELDS(X) \
    X(Spellings, count) X(Spellings, growing) X(Spellings, codes) X(Spellings, begins) X(Spellings, slots) X(Spellings, pool)
#define FORM_FIELDS(X) \
    X(Form, array) X(Form, names) X(Form, array_size) X(Form, sizes) X(Form, required) X(Form, want_tokens)
#define ROWS_FIELDS(X) \
    X(Rows, start) X(Rows, length) X(Rows, label) X(Rows, confidence) X(Rows, text) X(Rows, written) X(Rows, words) \
    X(Rows, begin) X(Rows, size) X(Rows, per_record) X(Rows, names) X(Rows, decoded) X(Rows, row_room) \
    X(Rows, token_room) X(Rows, record_room) X(Rows, rows) X(Rows, tokens) X(Rows, records) X(Rows, named) \
    X(Rows, label_at) X(Rows, label_size)
#define NOTES_FIELDS(X) X(Notes, texts) X(Notes, begin) X(Notes, chars) X(Notes, first_mark) X(Notes, marks)
#define KEPT_TEXTS_FIELDS(X) \
    X(KeptTexts, texts) X(KeptTexts, bytes) X(KeptTexts, rows_of) X(KeptTexts, first_row) X(KeptTexts, first_byte) \
    X(KeptTexts, text_room) X(KeptTexts, row_room) X(KeptTexts, notes) X(KeptTexts, used) X(KeptTexts, rows)
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
#define RUN_ROOMS_FIELDS(X) \
    X(RunRooms, note) X(RunRooms, first) X(RunRooms, size) X(RunRooms, first_token) X(RunRooms, tokens) \
    X(RunRooms, keys) X(RunRooms, spare) X(RunRooms, room) X(RunRooms, most_rows) X(RunRooms, most_tokens)
#define LEVELS_FIELDS(X) \
    X(ConfidenceLevels, confidence) X(ConfidenceLevels, predictions) X(ConfidenceLevels, right) \
    X(ConfidenceLevels, levels)
#define CURVE_FIELDS(X) \
    X(CurveRooms, confidence) X(CurveRooms, precision) X(CurveRooms, recall) X(CurveRooms, gold) \
    X(CurveRooms, step) X(CurveRooms, rows) X(CurveRooms, best_right) X(CurveRooms, best_total) \
    X(CurveRooms, best) X(CurveRooms, area)
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
#define TAB_NAME_FIELDS(X) X(TabName, begin) X(TabName, size)
#define TAB_TEXT_FIELDS(X) \
    X(TabText, begin) X(TabText, bytes) X(TabText, chars) X(TabText, first_annotator) X(TabText, annotators)
#define TAB_ANNOTATOR_FIELDS(X) \
    X(TabAnnotator, first_mention) X(TabAnnotator, mentions) X(TabAnnotator, first_entity) X(TabAnnotator, entities)
#define TAB_MENTION_FIELDS(X) \
    X(TabMention, start) X(TabMention, end) X(TabMention, entity) X(TabMention, needed)
#define TAB_ENTITY_FIELDS(X) X(TabEntity, kind) X(TabEntity, direct) X(TabEntity, needed) X(TabEntity, open)
#define TAB_MASKED_FIELDS(X) X(TabMasked, text) X(TabMasked, first_mask) X(TabMasked, masks)
#define TAB_MASK_FIELDS(X) X(TabMask, start) X(TabMask, end)
#define TAB_CORPUS_FIELDS(X) \
    X(TabCorpus, texts) X(TabCorpus, names) X(TabCorpus, seen) X(TabCorpus, text_names) X(TabCorpus, entity_names) \
    X(TabCorpus, text_slots) X(TabCorpus, entity_slots) X(TabCorpus, text) X(TabCorpus, annotator) \
    X(TabCorpus, mention) X(TabCorpus, entity) X(TabCorpus, masked) X(TabCorpus, mask) X(TabCorpus, text_slot_room) \
    X(TabCorpus, text_room) X(TabCorpus, annotator_room) X(TabCorpus, mention_room) X(TabCorpus, masked_room) \
    X(TabCorpus, mask_room) X(TabCorpus, used) X(TabCorpus, named) X(TabCorpus, masks_named) \
    X(TabCorpus, texts_known) X(TabCorpus, annotators) X(TabCorpus, mentions) X(TabCorpus, entities) \
    X(TabCorpus, kinds) X(TabCorpus, masked_texts) X(TabCorpus, masks) X(TabCorpus, listed) X(TabCorpus, longest) \
    X(TabCorpus, most_mentions) X(TabCorpus, kind_names) X(TabCorpus, kind_slots)
#define TAB_SHARE_FIELDS(X) X(TabShare, hits) X(TabShare, total)
#define TAB_COUNTING_FIELDS(X) \
    X(TabCounting, classes) X(TabCounting, words) X(TabCounting, codes) X(TabCounting, lower) X(TabCounting, free) \
    X(TabCounting, open) X(TabCounting, keys) X(TabCounting, spare) X(TabCounting, word_count) \
    X(TabCounting, kinds_seen) X(TabCounting, entities) X(TabCounting, mentions) X(TabCounting, tokens) \
    X(TabCounting, mask_tokens) X(TabCounting, mask_mentions) X(TabCounting, kind_mentions) \
    X(TabCounting, kind_tokens) X(TabCounting, kind_order)
#define CELL_JOB_FIELDS(X) \
    X(CellJob, form) X(CellJob, notes) X(CellJob, names) X(CellJob, labels) X(CellJob, seconds) X(CellJob, rows) \
    X(CellJob, seen) X(CellJob, spelt) X(CellJob, numbers) X(CellJob, repeats) X(CellJob, overlaps) \
    X(CellJob, found) X(CellJob, head) X(CellJob, filter) X(CellJob, instructions) X(CellJob, size) \
    X(CellJob, which) X(CellJob, most) X(CellJob, given) X(CellJob, report)
#define REPORTED_FIELDS(X) \
    X(ReportedRows, note) X(ReportedRows, start) X(ReportedRows, length) X(ReportedRows, label) \
    X(ReportedRows, confidence) X(ReportedRows, words) X(ReportedRows, begin) X(ReportedRows, size) \
    X(ReportedRows, chars) X(ReportedRows, rows) X(ReportedRows, tokens) X(ReportedRows, notes) \
    X(ReportedRows, labels) X(ReportedRows, sure)
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
    SIZE(KeptTexts) KEPT_TEXTS_FIELDS(OFFSET)
    SIZE(NameTable) NAME_TABLE_FIELDS(OFFSET)
    SIZE(NoteRows) NOTE_ROWS_FIELDS(OFFSET)
    SIZE(NoteRuns) RUNS_FIELDS(OFFSET)
    SIZE(RunRooms) RUN_ROOMS_FIELDS(OFFSET)
    SIZE(AskedMeasure) MEASURE_FIELDS(OFFSET)
    SIZE(CountedMention) MENTION_FIELDS(OFFSET)
    SIZE(Key) KEY_FIELDS(OFFSET)
    SIZE(LabelSums) LABEL_SUMS_FIELDS(OFFSET)
    SIZE(OpenRow) OPEN_ROW_FIELDS(OFFSET)
    SIZE(OpenGroups) OPEN_GROUPS_FIELDS(OFFSET)
    SIZE(Uncovered) UNCOVERED_FIELDS(OFFSET)
    SIZE(Counting) COUNTING_FIELDS(OFFSET)
    SIZE(ConfidenceLevels) LEVELS_FIELDS(OFFSET)
    SIZE(CurveRooms) CURVE_FIELDS(OFFSET)
    SIZE(DrawStream) STREAM_FIELDS(OFFSET)
    SIZE(TabName) TAB_NAME_FIELDS(OFFSET)
    SIZE(TabText) TAB_TEXT_FIELDS(OFFSET)
    SIZE(TabAnnotator) TAB_ANNOTATOR_FIELDS(OFFSET)
    SIZE(TabMention) TAB_MENTION_FIELDS(OFFSET)
    SIZE(TabEntity) TAB_ENTITY_FIELDS(OFFSET)
    SIZE(TabMasked) TAB_MASKED_FIELDS(OFFSET)
    SIZE(TabMask) TAB_MASK_FIELDS(OFFSET)
    SIZE(TabCorpus) TAB_CORPUS_FIELDS(OFFSET)
    SIZE(TabShare) TAB_SHARE_FIELDS(OFFSET)
    SIZE(TabCounting) TAB_COUNTING_FIELDS(OFFSET)
    SIZE(CellJob) CELL_JOB_FIELDS(OFFSET)
    SIZE(ReportedRows) REPORTED_FIELDS(OFFSET)
    TAKEN, UNKNOWN_LABEL, UNKNOWN_SECOND, PROPERTIES, MARK_EVERY,
    BY_TOKEN, BY_SPAN, BY_LABEL, MEASURES, WHOLE_LEVELS, GROUPINGS, SUMMED_COLUMNS, AREA_BITS, CURVE_ROW, SUMMED_WORDS, SUMMED_ROWS,
    TAB_KINDS, KIND_SLOTS, ENTITY_SLOTS, NOT_PASSING, PASSING, QUOTE, LONGER_WORD, WORD_SIGN,
    CELL_LIMITS, REPORT_HEAD, REPORT_PARTS,
};
const char layout_names[] =
    SPELLINGS_FIELDS(NAME) FORM_FIELDS(NAME) ROWS_FIELDS(NAME) NOTES_FIELDS(NAME) KEPT_TEXTS_FIELDS(NAME) NAME_TABLE_FIELDS(NAME)
    NOTE_ROWS_FIELDS(NAME) RUNS_FIELDS(NAME) RUN_ROOMS_FIELDS(NAME) MEASURE_FIELDS(NAME) MENTION_FIELDS(NAME) KEY_FIELDS(NAME) LABEL_SUMS_FIELDS(NAME)
    OPEN_ROW_FIELDS(NAME) OPEN_GROUPS_FIELDS(NAME) UNCOVERED_FIELDS(NAME) COUNTING_FIELDS(NAME)
    LEVELS_FIELDS(NAME) CURVE_FIELDS(NAME) STREAM_FIELDS(NAME)
    TAB_NAME_FIELDS(NAME) TAB_TEXT_FIELDS(NAME) TAB_ANNOTATOR_FIELDS(NAME) TAB_MENTION_FIELDS(NAME)
    TAB_ENTITY_FIELDS(NAME) TAB_MASKED_FIELDS(NAME) TAB_MASK_FIELDS(NAME) TAB_CORPUS_FIELDS(NAME)
    TAB_SHARE_FIELDS(NAME) TAB_COUNTING_FIELDS(NAME) CELL_JOB_FIELDS(NAME) REPORTED_FIELDS(NAME);
