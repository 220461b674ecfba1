/* Blocks of JSON into columns: plain functions on buffers that the caller owns and gives the sizes of.

   Every block is hostile. A function reads nothing outside [data, data + size), writes nothing beyond the room it is
   told of, allocates nothing and keeps nothing but its variant; ``read_in_cell`` alone asks the system for something: a
   process, and in that one a map of the file, both of which are gone when it returns. Whatever is not exactly what it
   expects it refuses, without a reason: the caller has a slower way to find out. */
#ifndef SANDSCORE_KERNEL_H
#define SANDSCORE_KERNEL_H

#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

enum { REFUSED = -1, TAKEN = 0, UNKNOWN_LABEL = 1, UNKNOWN_SECOND = 2 };

/* Labels as they are written between quotation marks, and their codes, found by hashing. */
enum { SPELLINGS = 256, SLOTS = 1024, POOL = 1 << 14 };
typedef struct {
    int32_t count;
    int32_t growing; /* a new one is learnt where it is met; its code is how many there were */
    int32_t codes[SPELLINGS];
    int32_t begins[SPELLINGS + 1];
    uint16_t slots[SLOTS];
    uint8_t pool[POOL];
} Spellings;

/* Properties of an annotation, in the order of Form.names. */
enum { START, LENGTH, TEXT, CONFIDENCE, LABEL, SECOND, PROPERTIES };

/* How a task writes its annotations. Names are followed by a quotation mark; no name: no such property. */
typedef struct {
    const uint8_t *array;
    const uint8_t *names[PROPERTIES];
    int64_t array_size;
    int64_t sizes[PROPERTIES];
    uint32_t required;
    int32_t want_tokens;
} Form;

/* A block's annotations. ``text`` is where a text is written in the block, ``written`` how many bytes that takes;
   negative where it does not stand for itself, ASCII without escapes. ``names`` end in a zero each. */
typedef struct {
    int32_t *start, *length, *label;
    double *confidence;
    int32_t *text, *written;
    int32_t *words, *begin, *size;
    int32_t *per_record;
    uint8_t *names;
    uint8_t *decoded;
    int64_t row_room, token_room, record_room;
    int64_t rows, tokens, records, named;
    int64_t label_at, label_size;
} Rows;

/* Texts end to end in UTF-8. ``marks``, where a text is not ASCII, count the characters before each 256th byte. */
typedef struct {
    const uint8_t *texts;
    const int64_t *begin, *chars, *first_mark;
    const uint32_t *marks;
} Notes;

/* Texts of a file's annotations, end to end in UTF-8, until their notes are at hand: ``bytes`` of each, and of each note
   how many there are, and where its first annotation and the text of that one come. */
typedef struct {
    uint8_t *texts;
    int32_t *bytes, *rows_of;
    int64_t *first_row, *first_byte;
    int64_t text_room, row_room, notes, used, rows;
} KeptTexts;

/* Names of notes end to end, a zero behind each, and room to find them by hashing: a power of two of slots, more than
   there are names, all of them 0. ``whole``: records name notes so; else by what follows a last slash. */
typedef struct {
    const uint8_t *names;
    const int64_t *begin;
    uint32_t *slots;
    int64_t count, slot_room, whole;
} NameTable;

/* A block's notes; ``texts`` has room for as many bytes as the block has, so have ``names`` and ``patients``. */
typedef struct {
    uint8_t *texts, *names, *patients, *has_patient;
    int64_t *sizes, *chars;
    int64_t record_room;
    int64_t used, named, patients_used, records;
} NoteRows;

enum { MARK_EVERY = 256 };

/* One side's annotations as they stand in their file, and the runs of rows that are of one note, in the order of the
   notes; no words: nobody counts tokens. */
typedef struct {
    const int32_t *start, *length, *label, *words, *begin, *size;
    const double *confidence;
    const int64_t *note, *first, *count, *first_token;
    int64_t rows, tokens, runs;
} NoteRuns;


/* A measure: white-space tokens, spans whose lengths are near, or equal spans whose labels stand for the same.
   ``value`` is of the labels, that of no label in front; negative: it does not count. ``per_note`` has room for tp, fp
   and fn of each note, ``right`` for a number by label, and is NULL where there are no labels. */
enum { BY_TOKEN, BY_SPAN, BY_LABEL, MEASURES = 16 };
typedef struct {
    int32_t kind, tolerance;
    const int32_t *value;
    int64_t *per_note, *right;
} AskedMeasure;

/* An annotation while its note is counted. */
typedef struct {
    int64_t token;
    double confidence;
    int32_t start, length, label, words, paired, settled;
} CountedMention;

/* What is sorted: by the first number, then by the second. */
typedef struct {
    uint64_t major, minor;
} Key;

/* Room for runs: of each its note, first row and first token, and how many rows and tokens it has; and the most that a
   note has. ``keys`` and ``spare`` are for putting them into order. */
typedef struct {
    int64_t *note, *first, *size, *first_token, *tokens;
    Key *keys, *spare;
    int64_t room, most_rows, most_tokens;
} RunRooms;

/* How many annotations, and words, carry a label. */
typedef struct {
    int64_t mentions, words;
} LabelSums;

/* What of a note's gold no mask covers: of a group's labels the positions, as a set, and those that are open; mentions,
   and how many of them are open in part or as a whole. ``reach`` is where the last of them ends. */
typedef struct {
    int32_t note, group, gold, open, mentions, leaking, whole, reach;
} OpenRow;

/* Labels in groups: ``value`` is of the labels, that of no label in front; negative: it does not count. ``last`` is the
   last row of each group, first of all -1. */
typedef struct {
    const int32_t *value;
    int64_t *last;
    OpenRow *rows;
    int64_t used;
} OpenGroups;

/* Ways to group: all labels as one, classes of labels, each label for itself, numbered from 1 on; and of each note how
   much is masked, and how much of that is not gold's. ``entities``: what has one span and label may be two mentions; where
   something has, all of it is ``unsure``. */
enum { AS_ONE, BY_CLASS, EACH_LABEL, GROUPINGS };
typedef struct {
    OpenGroups by[GROUPINGS];
    int64_t *masked, *spurious;
    int64_t room, entities, unsure;
} Uncovered;

/* What is counted of the notes from ``first`` to before ``last``: sums by label of either side, and of pairs that agree
   in everything, those without a label in front; predictions, and right ones, by confidences that are whole numbers;
   others in ``odd``, as bits, doubled, and one more where they are right. Sums are added to, from ``levels`` on too.
   ``open``, where it is not NULL, is told what no mask covers. */
enum { WHOLE_LEVELS = 101 };
typedef struct {
    int64_t first, last, labels, measures;
    AskedMeasure measure[MEASURES];
    LabelSums *gold_labels, *predicted_labels, *agreed;
    CountedMention *gold, *predicted, *spare;
    Key *gold_keys, *predicted_keys, *spare_keys;
    int32_t *loose;
    int64_t *numbers;
    uint64_t *odd;
    Uncovered *open;
    int64_t mention_room, key_room, odd_room;
    uint32_t partial, unused;
    int64_t levels[2 * WHOLE_LEVELS];
    int64_t odds, unsure, boundary, leaking, with_gold, labelled_pairs;
} Counting;

/* Confidences in ascending order, how many predictions have each, and how many of those are right. */
typedef struct {
    double *confidence;
    int64_t *predictions, *right;
    int64_t levels;
} ConfidenceLevels;

/* Precision and recall over the predictions at least as sure as each ``step``-th confidence from above, and the last; the
   area under all of it, times ``gold``, in units of 1, of 2^-43 and of 2^-86; and the first confidence of the best F1. */
enum { AREA_BITS = 43 };
typedef struct {
    double *confidence, *precision, *recall;
    int64_t gold, step, rows, best_right, best_total;
    double best;
    int64_t area[3];
} CurveRooms;

/* Where PCG64 is in its stream: 128 bits of state, and what it steps by. */
typedef struct {
    uint64_t state_high, state_low, step_high, step_low;
} DrawStream;

/* The Text Anonymization Benchmark's gold: texts, of each its annotators, of each their mentions in file order and the
   entities these are of. Names stand in ``names``, a zero behind each. */
typedef struct {
    int64_t begin, size;
} TabName;
typedef struct {
    int64_t begin, bytes, chars, first_annotator, annotators;
} TabText;
typedef struct {
    int64_t first_mention, mentions, first_entity, entities;
} TabAnnotator;
typedef struct {
    int32_t start, end, entity, needed;
} TabMention;
typedef struct {
    int32_t kind, direct, needed, open;
} TabEntity;

/* Who is masked, in the order of the masks, and the masks as they are written. */
typedef struct {
    int64_t text, first_mask, masks;
} TabMasked;
typedef struct {
    int64_t start, end;
} TabMask;

/* All of it, and room for it; slots are as many as the numbers say, a power of two, all of them 0 at first. A file may
   list more texts than there are: of those with one name the last one holds. ``masks_named``: where the names of those
   that are masked begin. */
enum { TAB_KINDS = 128, KIND_SLOTS = 512, ENTITY_SLOTS = 1 << 13 };
typedef struct {
    uint8_t *texts, *names, *seen;
    TabName *text_names, *entity_names;
    uint32_t *text_slots, *entity_slots;
    TabText *text;
    TabAnnotator *annotator;
    TabMention *mention;
    TabEntity *entity;
    TabMasked *masked;
    TabMask *mask;
    int64_t text_slot_room, text_room, annotator_room, mention_room, masked_room, mask_room;
    int64_t used, named, masks_named, texts_known, annotators, mentions, entities, kinds, masked_texts, masks;
    int64_t listed, longest, most_mentions;
    TabName kind_names[TAB_KINDS];
    uint32_t kind_slots[KIND_SLOTS];
} TabCorpus;

/* What a character is to the benchmark: from LONGER_WORD on part of a word, and from 'a' on itself in lower case. A quote
   passes as others do, and begins a genitive; lower case makes two of LONGER_WORD. */
enum { NOT_PASSING, PASSING, QUOTE, LONGER_WORD, WORD_SIGN };

typedef struct {
    int64_t hits, total;
} TabShare;

/* What the masks come to: parts 0 and 1 are of quasi-identifiers and of direct ones. ``kind_order`` has the kinds of
   entities that are counted, as they appear; rooms are for the longest text, and for the most mentions of a text. */
typedef struct {
    const uint8_t *classes;
    const uint64_t *words;
    uint8_t *codes, *lower, *free;
    int32_t *open;
    Key *keys, *spare;
    int64_t word_count, kinds_seen;
    TabShare entities[2], mentions[2], tokens[2], mask_tokens, mask_mentions;
    TabShare kind_mentions[TAB_KINDS], kind_tokens[TAB_KINDS];
    int64_t kind_order[TAB_KINDS];
} TabCounting;

/* A file of so many bytes that is read in a process of its own, and what that one has. ``form``, ``notes`` and ``names`` are
   known; rooms are for a file of that size, all zeros. ``which`` are limits and ``most`` what they are set to; ``filter``
   is of the system calls, eight bytes an instruction. The file and its report are descriptors. */
enum { CELL_LIMITS = 4, REPORT_HEAD = 7, REPORT_PARTS = 13 };
typedef struct {
    const Form *form;
    const Notes *notes;
    const NameTable *names;
    Spellings *labels, *seconds;
    Rows *rows;
    uint8_t *seen, *spelt;
    int32_t *numbers, *repeats, *overlaps, *found;
    int64_t *head;
    const uint8_t *filter;
    int64_t instructions, size;
    int64_t which[CELL_LIMITS], most[CELL_LIMITS];
    int32_t given, report;
} CellJob;

/* What a report says, of which nothing is believed: annotations, their tokens one after the other, and how many characters
   the notes have, where that is known. */
typedef struct {
    const int32_t *note, *start, *length, *label;
    const double *confidence;
    const int32_t *words, *begin, *size;
    const int64_t *chars;
    int64_t rows, tokens, notes, labels, sure;
} ReportedRows;

/* Bytes of a report, which is its parts end to end. */
typedef struct {
    const void *begin;
    int64_t size;
} ReportPart;

/* How many parts a report of the file has, REPORT_PARTS of them at the most; none where it must be looked at closely. */
typedef int32_t (*ReportFinder)(const CellJob *job, const uint8_t *data, ReportPart *parts);

/* By how many bytes at once blocks are read, ``most`` of them if the machine can, and how many that are now; first of all
   it is as many as it can. */
EXPORTED int32_t choose_lanes(int32_t most);
EXPORTED int32_t learn_spelling(Spellings *known, const uint8_t *label, int64_t size, int32_t code);
EXPORTED int32_t read_annotations(const uint8_t *data, int64_t size, int32_t lines, const Form *form,
                                  Spellings *labels, Spellings *seconds, Rows *rows);
/* 0: a name is there twice, or it would take long to find some. */
EXPORTED int32_t learn_names(const NameTable *table);
/* The numbers of a block's records, of notes none of which was ``seen`` before; 0, with nothing seen: of some it was, or
   there is no such note. */
EXPORTED int32_t join_names(const NameTable *table, const Rows *rows, uint8_t *seen, int32_t *numbers);
/* The same of a table whose names nobody has learnt, where the records are of the notes from ``first`` on in their order;
   0, with nothing seen, where they are of others. */
EXPORTED int32_t follow_names(const NameTable *table, const Rows *rows, int64_t first, uint8_t *seen, int32_t *numbers);
EXPORTED int64_t find_misplaced(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                                int32_t *found);
/* A further block's texts; 0: one is not as long as it says, or of some note there is nothing to know or something known
   already. What is kept is of no use then. */
EXPORTED int32_t keep_texts(const uint8_t *data, const Rows *rows, const int32_t *numbers, KeptTexts *kept);
/* Whether all that was kept of ``count`` notes, from the ``first`` on, stands in these where ``start`` says. */
EXPORTED int32_t kept_texts_stand(const Notes *notes, int64_t first, int64_t count, const KeptTexts *kept,
                                  const int32_t *start);
/* Of records whose notes are known, in the order of the file: annotations that repeat an earlier one, and those that
   overlap one. All three have room for every row; ``spare`` holds nothing then. */
EXPORTED void find_clashes(const Rows *rows, const int32_t *numbers, int32_t *repeats, int32_t *overlaps, int32_t *spare,
                           int64_t *counts);
EXPORTED void pair_near(const int64_t *gold, int64_t golds, const int64_t *least, const int64_t *most, int64_t count,
                        uint8_t *paired);
EXPORTED int32_t count_notes(const NoteRuns *gold, const NoteRuns *predicted, Counting *counting);
/* Where names begin that end in a zero each; 0: they are not ``count``. */
EXPORTED int32_t find_begins(const uint8_t *names, int64_t size, int64_t count, int64_t *begin);
/* Where texts of so many bytes and characters begin, and their first marks; how many marks they have. */
EXPORTED int64_t lay_out_texts(const int64_t *sizes, const int64_t *chars, int64_t count, int64_t *begin,
                               int64_t *first_mark);
/* Each annotation's note; of each label whether it occurs (0: one is beyond the room); the highest number, -1 at least;
   and sums of tp, fp and fn. */
EXPORTED void spread_notes(const int32_t *numbers, const int32_t *per_record, int64_t records, int32_t *note);
EXPORTED int32_t see_labels(const int32_t *label, int64_t rows, uint8_t *seen, int64_t room);
EXPORTED double highest_number(const double *numbers, int64_t count);
EXPORTED void sum_counts(const int64_t *counts, int64_t rows, int64_t *sums);
/* Words in tables of SUMMED_ROWS rows of SUMMED_WORDS, the last of which may be smaller: of each what its columns come to,
   then what its rows do; how many sums there are. What is left, less than a row, is in none. */
enum { SUMMED_WORDS = 509, SUMMED_ROWS = 257 };
EXPORTED int64_t sum_tables(const uint64_t *words, int64_t count, uint64_t *sums);
/* Of such counts precision, recall and F1: how many rows define each, and what they come to there, in units of 2^-43 and
   of 2^-86. 0: there are more rows, or larger counts, than that holds. */
enum { MOST_SUMMED = 1 << 19 };
EXPORTED int32_t sum_ratios(const int64_t *counts, int64_t rows, int64_t *sums);
/* How many runs there are, in the order of their notes, of equal ones in that of the file; -1: more than the room. */
EXPORTED int64_t find_runs(const int32_t *note, const int32_t *words, int64_t rows, RunRooms *found);
/* Of what was counted, unless something was ``unsure``; ``spare`` has room for the odd ones, which change places. Both
   may be the rooms of ``levels`` themselves, from the WHOLE_LEVELS-th number on. */
EXPORTED void list_levels(const Counting *counting, uint64_t *spare, ConfidenceLevels *levels);
/* 0: the area has smaller bits. */
EXPORTED int32_t walk_levels(const ConfidenceLevels *levels, CurveRooms *curve);
/* Rows as JSON, a comma behind each, and how many bytes they take, CURVE_ROW each at the most; refused where a number is
   neither 0 nor from 0.001 to below 1000, or has two decimals that are as near. */
enum { CURVE_ROW = 80 };
EXPORTED int64_t write_curve(const double *confidence, const double *precision, const double *recall, int64_t rows,
                             uint8_t *out);
EXPORTED void draw_numbers(DrawStream *stream, int64_t count, uint64_t *numbers);
/* Row after row, how often each unit of each stratum is drawn: into ``single`` or, where that is NULL, into ``wide``. */
EXPORTED void draw_weights(DrawStream *stream, const int64_t *sizes, int64_t strata, int64_t resamples, float *single,
                           double *wide);
/* Row after row, what the units' rows of ``columns`` numbers (16 or 32 of them) come to, stratum by stratum; of no more
   than ``most`` rows a column's sum always has 16 bits. */
enum { SUMMED_COLUMNS = 32 };
EXPORTED void draw_sums(DrawStream *stream, const int64_t *sizes, int64_t strata, int64_t resamples,
                        const int16_t *rows, int64_t columns, int64_t most, int64_t *sums);
EXPORTED int32_t read_notes(const uint8_t *data, int64_t size, int32_t lines, NoteRows *rows);
EXPORTED int64_t mark_characters(const uint8_t *texts, const int64_t *sizes, const int64_t *chars, int64_t count,
                                 uint32_t *marks);
/* What notes hold where annotations say, a line feed behind each, and the bytes of each without it. How many bytes that
   takes; refused where they do not fit into ``room``, or an annotation is not within its note. */
EXPORTED int64_t copy_parts(const Notes *notes, const int64_t *note, const int64_t *start, const int64_t *length,
                            int64_t count, uint8_t *copied, int64_t room, int64_t *sizes);
/* Gold, and then the masks of some of its texts. */
EXPORTED int32_t read_tab_gold(const uint8_t *data, int64_t size, TabCorpus *corpus);
EXPORTED int32_t read_tab_masks(const uint8_t *data, int64_t size, TabCorpus *corpus);
/* Notes in ``met``, of all characters there are, which ones beyond ASCII the texts have. */
EXPORTED void meet_characters(const TabCorpus *corpus, uint8_t *met);
EXPORTED void count_tab(TabCorpus *corpus, TabCounting *counting);
/* Of a file about which there is nothing to be said: rows, tokens and records, annotations that repeat others and that
   overlap some, bytes of labels and of second labels; these; and the columns. */
EXPORTED int32_t find_report(const CellJob *job, const uint8_t *data, ReportPart *parts);
/* Whether all of it can be: notes that there are, each in one place, annotations and tokens within them, labels that there
   are, and confidences, which all have where that must be (``sure``). ``seen`` has room for each note. */
EXPORTED int32_t is_sound(const ReportedRows *reported, uint8_t *seen);
/* Whether there is a report now. This one makes a process, and waits for its end; all else is as above. */
EXPORTED int32_t read_in_cell(const CellJob *job, ReportFinder find);

#endif
