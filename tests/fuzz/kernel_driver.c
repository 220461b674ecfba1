/* Runs the kernel on cases from standard input, each in buffers of exactly the sizes that it is told, so that a sanitizer
   sees whatever is read or written beyond them; then looks at what the kernel made of a case, and prints a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { FORMS = 16, RESTARTS = 64, HELD = 256 };

/* As the case is written, all of it numbers of 64 bits: how to read it, limits, and rooms in bytes. */
typedef struct {
    int64_t form, lines, want_tokens, seed, notes_size, block_size;
    int64_t note_room, row_room, token_room, record_room;
    int64_t texts, note_names, patients, has_patient, sizes, chars;
    int64_t note, start, length, label, text, written, words, found, repeats, overlaps, confidence, begin, size, per_record, names, decoded;
} Case;

typedef struct {
    Form form;
    Spellings labels, seconds;
} Reading;

static Reading *readings[FORMS];
static void *held[HELD];
static int holding;

#define MUST(holds) ((holds) ? (void)0 : fail(#holds, __LINE__))

static uint64_t digest;
static int reports;

/* FNV-1a over all that was read. */
static void mix(const void *data, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        digest = (digest ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

static void fail(const char *what, int line)
{
    fprintf(stderr, "kernel_driver.c:%d: not so: %s\n", line, what);
    abort();
}

/* Freed at the end of a case. */
static void *room(int64_t size)
{
    MUST(holding < HELD && size >= 0);
    void *made = held[holding++] = malloc((size_t)size);
    MUST(made);
    return made;
}

static void drop_rooms(void)
{
    while (holding)
        free(held[--holding]);
}

static int take_bytes(void *into, int64_t size) { return fread(into, 1, (size_t)size, stdin) == (size_t)size; }

static uint8_t *take_room(int64_t size)
{
    uint8_t *made = room(size);
    MUST(take_bytes(made, size));
    return made;
}

static uint32_t next_random(Case *c)
{
    uint64_t next = (uint64_t)c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    c->seed = (int64_t)next;
    return (uint32_t)(next >> 33);
}

static void take_forms(void)
{
    int64_t count, required;
    MUST(take_bytes(&count, 8) && count <= FORMS);
    for (int64_t i = 0; i < count; i++) {
        Form *form = &(readings[i] = calloc(1, sizeof(Reading)))->form;
        MUST(take_bytes(&required, 8) && take_bytes(&form->array_size, 8) && take_bytes(form->sizes, 8 * PROPERTIES));
        form->required = (uint32_t)required;
        form->array = take_room(form->array_size);
        for (int which = 0; which < PROPERTIES; which++)
            form->names[which] = take_room(form->sizes[which]);
    }
    holding = 0;
}

static NoteRows rooms_of_notes(const Case *c)
{
    return (NoteRows){.texts = room(c->texts),
                      .names = room(c->note_names),
                      .patients = room(c->patients),
                      .has_patient = room(c->has_patient),
                      .sizes = room(c->sizes),
                      .chars = room(c->chars),
                      .record_room = c->note_room};
}

static Rows rooms_of_rows(const Case *c)
{
    return (Rows){.start = room(c->start),
                  .length = room(c->length),
                  .label = room(c->label),
                  .confidence = room(c->confidence),
                  .text = room(c->text),
                  .written = room(c->written),
                  .words = room(c->words),
                  .begin = room(c->begin),
                  .size = room(c->size),
                  .per_record = room(c->per_record),
                  .names = room(c->names),
                  .decoded = room(c->decoded),
                  .row_room = c->row_room,
                  .token_room = c->token_room,
                  .record_room = c->record_room};
}

static int64_t zeros(const uint8_t *names, int64_t size)
{
    int64_t count = 0;
    for (int64_t i = 0; i < size; i++)
        count += !names[i];
    return count;
}

/* Texts in a room of their own size, with all that is looked up in them. */
static Notes told(const NoteRows *rows)
{
    int64_t count = rows->records, mark_count = 0, used = 0, *begin = room(8 * (count + 1)), *first = room(8 * count);
    for (int64_t i = 0; i < count; i++) {
        MUST(rows->chars[i] >= 0 && rows->chars[i] <= rows->sizes[i]);
        begin[i] = used;
        first[i] = mark_count;
        used += rows->sizes[i];
        mark_count += rows->sizes[i] == rows->chars[i] ? 0 : rows->sizes[i] / MARK_EVERY + 1;
    }
    begin[count] = used;
    MUST(used == rows->used && zeros(rows->names, rows->named) == count);
    uint8_t *texts = room(used);
    memcpy(texts, rows->texts, (size_t)used);
    mix(texts, used), mix(rows->names, rows->named), mix(rows->chars, 8 * count);
    uint32_t *marks = room(4 * mark_count);
    MUST(mark_characters(texts, rows->sizes, rows->chars, count, marks) == mark_count);
    return (Notes){texts, begin, rows->chars, first, marks};
}

static int learn(const uint8_t *block, const Rows *rows, Spellings *known)
{
    uint8_t *label = malloc((size_t)rows->label_size);
    MUST(label);
    memcpy(label, block + rows->label_at, (size_t)rows->label_size);
    int learnt = learn_spelling(known, label, rows->label_size, known->count - 1);
    free(label);
    return learnt;
}

static int32_t read_block(const Case *c, const uint8_t *block, Rows *rows)
{
    Reading *r = readings[c->form];
    int32_t found = REFUSED;
    r->form.want_tokens = (int32_t)c->want_tokens;
    for (int i = 0; i < RESTARTS; i++) {
        found = read_annotations(block, c->block_size, (int32_t)c->lines, &r->form, &r->labels, &r->seconds, rows);
        if (found != UNKNOWN_LABEL && found != UNKNOWN_SECOND)
            break;
        if (!learn(block, rows, found == UNKNOWN_LABEL ? &r->labels : &r->seconds))
            break;
    }
    return found;
}

/* What whoever uses the columns relies on. */
static void look_at(const Case *c, const uint8_t *block, const Rows *rows)
{
    int64_t listed = 0, token = 0, last = 0;
    for (int64_t i = 0; i < rows->records; i++)
        listed += rows->per_record[i];
    MUST(listed == rows->rows && zeros(rows->names, rows->named) == rows->records);
    for (int64_t row = 0; row < rows->rows; row++) {
        int64_t at = rows->text[row], written = llabs(rows->written[row]), end = 0;
        MUST(at > 0 && at + written < c->block_size && block[at - 1] == '"' && block[at + written] == '"');
        MUST(rows->start[row] >= 0 && rows->length[row] > 0 && rows->words[row] >= 0);
        MUST(rows->label[row] >= -1 && rows->label[row] < SPELLINGS);
        MUST(!(rows->confidence[row] < 0) && !(rows->confidence[row] > 100));
        for (last += rows->words[row]; token < last; end = rows->begin[token] + rows->size[token], token++)
            MUST(rows->begin[token] >= end && rows->size[token] > 0);
        MUST(end <= written);
    }
    MUST(last == rows->tokens);
    const void *columns[] = {rows->start, rows->length, rows->label, rows->text, rows->written, rows->words};
    for (int i = 0; i < 6; i++)
        mix(columns[i], 4 * rows->rows);
    mix(rows->begin, 4 * rows->tokens), mix(rows->size, 4 * rows->tokens), mix(rows->confidence, 8 * rows->rows);
    mix(rows->names, rows->named);
}

static int is_repeated(const Rows *rows, int64_t first, int64_t row)
{
    for (int64_t one = first; one < row; one++)
        if (rows->start[one] == rows->start[row] && rows->length[one] == rows->length[row] &&
            rows->label[one] == rows->label[row])
            return 1;
    return 0;
}

/* Whether one comes before the other by start, length and place in the file, and reaches into it. */
static int reaches(const Rows *rows, int64_t one, int64_t other)
{
    int64_t start = rows->start[one], length = rows->length[one], next = rows->start[other], most = rows->length[other];
    int before = start < next || (start == next && (length < most || (length == most && one < other)));
    return before && start + length > next;
}

/* Each two annotations of a record looked at. */
static void look_at_clashes(Case *c, const Rows *rows)
{
    int32_t *repeats = room(c->repeats), *overlaps = room(c->overlaps), *spare = room(c->found);
    int32_t *numbers = room(4 * rows->records);
    int64_t counts[2], at[2] = {0, 0}, first = 0;
    for (int64_t record = 0; record < rows->records; record++)
        numbers[record] = record % 5 == 4 ? -1 : 0;
    find_clashes(rows, numbers, repeats, overlaps, spare, counts);
    for (int64_t record = 0, last; record < rows->records; record++, first = last) {
        last = first + rows->per_record[record];
        for (int64_t row = first; row < last; row++) {
            int repeated = is_repeated(rows, first, row), overlapping = 0;
            for (int64_t one = first; one < last && !repeated; one++)
                overlapping |= reaches(rows, one, row) && !is_repeated(rows, first, one);
            if (numbers[record] >= 0) {
                MUST(!repeated || (at[0] < counts[0] && repeats[at[0]++] == row));
                MUST(!overlapping || (at[1] < counts[1] && overlaps[at[1]++] == row));
            }
        }
    }
    MUST(at[0] == counts[0] && at[1] == counts[1]);
}

static void must_be_rows(const int32_t *found, int64_t count, const Rows *rows)
{
    MUST(count >= 0 && count <= rows->rows);
    for (int64_t i = 0; i < count; i++)
        MUST(found[i] < rows->rows && found[i] > (i ? found[i - 1] : -1));
}

static int64_t characters(const uint8_t *text, int64_t size)
{
    int64_t count = 0;
    for (int64_t i = 0; i < size; i++)
        count += (text[i] & 0xC0) != 0x80;
    return count;
}

/* Of the annotations that are within their notes all is copied, into as much room as it takes and no less. */
static void copy_out(const Rows *rows, const int32_t *numbers, const Notes *notes)
{
    int64_t count = 0, most = 0, size = 8 * rows->rows, row = 0, used = 0;
    int64_t *note = room(size), *start = room(size), *length = room(size), *sizes = room(size);
    for (int64_t record = 0, last = 0; record < rows->records; record++)
        for (last += rows->per_record[record]; row < last; row++) {
            if (numbers[record] < 0)
                continue;
            note[count] = numbers[record], start[count] = rows->start[row], length[count] = rows->length[row];
            uint8_t any[1];
            if (start[count] + length[count] > notes->chars[note[count]])
                MUST(copy_parts(notes, note + count, start + count, length + count, 1, any, 1 << 30, sizes) == REFUSED);
            else
                most += 4 * length[count++] + 1;
        }
    uint8_t *copied = room(most);
    MUST((used = copy_parts(notes, note, start, length, count, copied, most, sizes)) >= 0);
    uint8_t *exact = room(used), *scant = room(used ? used - 1 : 0);
    MUST(copy_parts(notes, note, start, length, count, exact, used, sizes) == used);
    MUST(!used || copy_parts(notes, note, start, length, count, scant, used - 1, sizes) == REFUSED);
    for (int64_t i = 0; i < count; exact += sizes[i++] + 1)
        MUST(exact[sizes[i]] == '\n' && characters(exact, sizes[i]) == length[i]);
    mix(copied, used);
}

/* Each annotation is of its record's note, and nobody writes behind the last. */
static void look_at_spread(Case *c, const Rows *rows, const int32_t *numbers)
{
    int32_t *note = room(c->note);
    int64_t row = 0;
    spread_notes(numbers, rows->per_record, rows->records, note);
    for (int64_t record = 0; record < rows->records; record++)
        for (int32_t one = 0; one < rows->per_record[record]; one++)
            MUST(note[row++] == numbers[record]);
    MUST(row == rows->rows);
}

/* Texts that wait stand in their notes where all of them stood in the block; in rooms that just hold them, too. */
static void let_wait(const Rows *rows, const uint8_t *block, const int32_t *numbers, const Notes *notes, int64_t count,
                     int64_t misplaced)
{
    int64_t most = 0, once = 1;
    int32_t *rows_of = room(4 * count);
    memset(rows_of, 0, (size_t)(4 * count));
    for (int64_t row = 0; row < rows->rows; row++)
        most += llabs(rows->written[row]);
    for (int64_t record = 0; record < rows->records; record++) {
        once &= numbers[record] >= 0 && !rows_of[numbers[record]];
        if (numbers[record] >= 0)
            rows_of[numbers[record]] += rows->per_record[record];
    }
    memset(rows_of, 0, (size_t)(4 * count));
    KeptTexts kept = {room(most), room(4 * rows->rows), rows_of, room(8 * count), room(8 * count), most, rows->rows, count, 0, 0};
    memset(kept.first_row, 0, (size_t)(8 * count)), memset(kept.first_byte, 0, (size_t)(8 * count));
    int32_t taken = keep_texts(block, rows, numbers, &kept);
    MUST(!(taken && !once) && kept.used <= most && kept.rows <= rows->rows);
    if (!taken) {
        MUST(!once || misplaced);
        return;
    }
    MUST(kept.rows == rows->rows);
    mix(kept.texts, kept.used), mix(kept.bytes, 4 * kept.rows);
    int32_t *start = room(4 * rows->rows);
    memcpy(start, rows->start, (size_t)(4 * rows->rows));
    MUST(kept_texts_stand(notes, 0, count, &kept, start) == !misplaced);
    MUST(!kept_texts_stand(notes, 1, count, &kept, start));
    int64_t least = kept.used;
    memset(rows_of, 0, (size_t)(4 * count));
    KeptTexts scant = kept;
    scant.texts = room(least ? least - 1 : 0), scant.text_room = least ? least - 1 : 0, scant.used = scant.rows = 0;
    MUST(!least || !keep_texts(block, rows, numbers, &scant));
}

/* Numbers that are written read back as they were, in rooms that just hold them. */
static void write_numbers(Case *c, const Rows *rows)
{
    enum { SOME = 8 };
    char text[CURVE_ROW + 1];
    for (int64_t i = 0; i < rows->rows && i < SOME; i++) {
        double *number = room(3 * sizeof *number), read;
        number[0] = rows->confidence[i];
        number[1] = (double)(next_random(c) % 300000) / (double)(1 + next_random(c) % 300000);
        number[2] = (double)next_random(c) / (double)(1 << next_random(c) % 30);
        uint8_t *out = room(CURVE_ROW);
        int64_t used = write_curve(number, number + 1, number + 2, 1, out);
        MUST(used == REFUSED || (used > 0 && used <= CURVE_ROW));
        mix(&used, sizeof used);
        if (used < 0)
            continue;
        memcpy(text, out, (size_t)used);
        text[used] = 0;
        char *at = text;
        for (int which = 0; which < 3; which++) {
            MUST(*at == (which ? ',' : '['));
            read = strtod(at + 1, &at);
            MUST(!memcmp(&read, number + which, sizeof read));
        }
        MUST(at[0] == ']' && at[1] == ',' && at + 2 == text + used);
    }
}

static void look_up(Case *c, const uint8_t *block, const Rows *rows, const Notes *notes, int64_t count)
{
    int32_t *numbers = room(4 * rows->records), *found = room(c->found);
    for (int64_t i = 0; i < rows->records; i++) {
        uint32_t any = next_random(c);
        numbers[i] = any % 8 == 0 ? -1 : (int32_t)((any % 8 < 3 ? any / 8 : i) % count);
    }
    look_at_spread(c, rows, numbers);
    int64_t many = find_misplaced(block, rows, numbers, notes, found);
    must_be_rows(found, many, rows);
    mix(found, 4 * many);
    copy_out(rows, numbers, notes);
    let_wait(rows, block, numbers, notes, count, many);
}

/* Starts are paired with starts nearby, be they in order or not. */
static void pair_up(Case *c, const Rows *rows)
{
    int64_t count = rows->rows, golds = count / 2, size = 8 * count, pairs = 0;
    int64_t *gold = room(8 * golds), *least = room(size), *most = room(size);
    uint8_t *paired = room(count);
    for (int64_t i = 0; i < count; i++) {
        least[i] = rows->start[i] - (int64_t)(next_random(c) % 9);
        most[i] = rows->start[i] + (int64_t)(next_random(c) % 9);
        if (i < golds)
            gold[i] = rows->start[2 * i];
    }
    pair_near(gold, golds, least, most, count, paired);
    for (int64_t i = 0; i < count; i++)
        pairs += paired[i];
    MUST(pairs <= golds);
}

static const uint8_t *last_segment(const uint8_t *name)
{
    const char *slash = strrchr((const char *)name, '/');
    return slash ? (const uint8_t *)slash + 1 : name;
}

/* Where a name stands among others, which end in a zero each; -1: nowhere. */
static int32_t place_among(const uint8_t *names, int64_t count, const uint8_t *name)
{
    for (int64_t i = 0; i < count; i++, names += strlen((const char *)names) + 1)
        if (!strcmp((const char *)names, (const char *)name))
            return (int32_t)i;
    return -1;
}

static void *zeroed(int64_t size) { return memset(room(size), 0, (size_t)size); }

/* A table of no slots where there is a name twice. */
static NameTable learnt(Case *c, const NoteRows *notes)
{
    int64_t slots = 4, *begin = room(8 * (notes->records + 1)), at = 0;
    while (slots <= notes->records)
        slots *= 2;
    uint8_t *names = room(notes->named);
    memcpy(names, notes->names, (size_t)notes->named);
    NameTable table = {names, begin, zeroed(4 * slots), notes->records, slots, next_random(c) % 2};
    int fresh = 1;
    for (int64_t i = 0; i < notes->records; at += (int64_t)strlen((const char *)names + at) + 1, i++) {
        begin[i] = at;
        fresh &= place_among(names, notes->records, names + at) == i;
    }
    begin[notes->records] = at;
    int taken = learn_names(&table);
    MUST(taken ? fresh : !fresh || notes->records > 64);
    table.slot_room = taken ? slots : 0;
    return table;
}

/* Records are joined with notes as a search from the first name to the last joins them, or nothing is. */
static void look_at_names(const Rows *rows, const NoteRows *notes, NameTable table)
{
    int all = 1;
    const uint8_t *names = table.names;
    uint8_t *seen = zeroed(notes->records);
    int32_t *numbers = room(4 * rows->records), *wanted = room(4 * rows->records);
    const uint8_t *name = rows->names;
    for (int64_t i = 0; i < rows->records; i++, name += strlen((const char *)name) + 1) {
        wanted[i] = place_among(names, notes->records, table.whole ? name : last_segment(name));
        all &= wanted[i] >= 0;
        for (int64_t other = 0; other < i; other++)
            all &= wanted[i] != wanted[other];
    }
    MUST(join_names(&table, rows, seen, numbers) == all);
    MUST(!all || !memcmp(numbers, wanted, (size_t)(4 * rows->records)));
    for (int64_t i = 0; i < notes->records; i++) {
        int there = 0;
        for (int64_t record = 0; record < rows->records; record++)
            there |= wanted[record] == i;
        MUST(seen[i] == (all && there));
    }
    MUST(!all || !join_names(&table, rows, seen, numbers));
    memset(seen, 0, (size_t)notes->records);
    int64_t first = wanted[0] < 0 ? 0 : wanted[0];
    int in_order = all;
    for (int64_t i = 0; i < rows->records; i++)
        in_order &= wanted[i] == first + i;
    MUST(follow_names(&table, rows, first, seen, numbers) == in_order);
    MUST(!in_order || !memcmp(numbers, wanted, (size_t)(4 * rows->records)));
    for (int64_t i = 0; i < notes->records; i++)
        MUST(seen[i] == (in_order && i >= first && i < first + rows->records));
    mix(&all, sizeof all);
}

/* Of room for a file of that size, all zeros. */
static CellJob job_of(const Case *c, Form *form, const Notes *notes, const NameTable *names, Rows *rows)
{
    memset(rows->names, 0, (size_t)c->names), memset(rows->decoded, 0, (size_t)c->decoded);
    form->want_tokens = 1;
    return (CellJob){.form = form,
                     .notes = notes,
                     .names = names,
                     .labels = zeroed(sizeof(Spellings)),
                     .seconds = zeroed(sizeof(Spellings)),
                     .rows = rows,
                     .seen = zeroed(names->count),
                     .spelt = zeroed(2 * (POOL + SPELLINGS) + 8),
                     .numbers = zeroed(c->per_record),
                     .repeats = zeroed(c->repeats),
                     .overlaps = zeroed(c->overlaps),
                     .found = zeroed(c->found),
                     .head = zeroed(8 * REPORT_HEAD),
                     .size = c->block_size};
}

static void *copied(const void *from, int64_t size) { return memcpy(room(size), from, (size_t)size); }

/* Each column of a report in a room of its own size. */
static ReportedRows reported_by(const CellJob *job)
{
    const Rows *rows = job->rows;
    int32_t *note = room(4 * rows->rows), *begin = copied(rows->begin, 4 * rows->tokens);
    for (int64_t record = 0, row = 0; record < rows->records; record++)
        for (int64_t last = row + rows->per_record[record]; row < last; row++)
            note[row] = job->numbers[record];
    return (ReportedRows){.note = note,
                          .start = copied(rows->start, 4 * rows->rows),
                          .length = copied(rows->length, 4 * rows->rows),
                          .label = copied(rows->label, 4 * rows->rows),
                          .confidence = copied(rows->confidence, 8 * rows->rows),
                          .words = copied(rows->words, 4 * rows->rows),
                          .begin = begin,
                          .size = copied(rows->size, 4 * rows->tokens),
                          .chars = job->notes->chars,
                          .rows = rows->rows,
                          .tokens = rows->tokens,
                          .notes = job->names->count,
                          .labels = job->labels->count,
                          .sure = 0};
}

/* What is reported is sound; and whatever one value of it becomes, nothing else is looked at. */
static void look_at_soundness(Case *c, const ReportedRows *reported)
{
    enum { CHANGES = 16 };
    uint8_t *seen = zeroed(reported->notes);
    MUST(is_sound(reported, seen));
    const int32_t any[] = {-1, 0, 1, 2, 1 << 20, INT32_MAX, INT32_MIN};
    const int32_t *columns[] = {reported->note,  reported->start, reported->length, reported->label,
                                reported->words, reported->begin, reported->size};
    for (int i = 0; i < CHANGES; i++) {
        int which = next_random(c) % 7;
        int64_t count = which < 5 ? reported->rows : reported->tokens;
        if (!count)
            continue;
        int32_t *value = (int32_t *)(uintptr_t)columns[which] + next_random(c) % (uint64_t)count, before = *value;
        *value = any[next_random(c) % 7];
        memset(seen, 0, (size_t)reported->notes);
        int32_t sound = is_sound(reported, seen);
        mix(&sound, sizeof sound);
        *value = before;
    }
}

static void look_at_report(Case *c, const uint8_t *block, const Notes *notes, const NameTable *names)
{
    Form form = readings[c->form]->form;
    Rows rows = rooms_of_rows(c);
    CellJob job = job_of(c, &form, notes, names, &rows);
    ReportPart parts[REPORT_PARTS];
    int32_t count = find_report(&job, block, parts);
    MUST(!count || count == REPORT_PARTS);
    if (!count)
        return;
    for (int32_t i = 0; i < count; i++)
        mix(parts[i].begin, parts[i].size);
    MUST(job.head[0] == rows.rows && job.head[1] == rows.tokens && job.head[2] == rows.records);
    MUST(zeros(job.spelt, job.head[5]) == job.labels->count);
    MUST(zeros(job.spelt + job.head[5], job.head[6]) == job.seconds->count);
    const int32_t *clashing[] = {job.repeats, job.overlaps};
    for (int i = 0; i < 2; i++)
        must_be_rows(clashing[i], job.head[3 + i], &rows);
    look_at(c, block, &rows);
    ReportedRows reported = reported_by(&job);
    look_at_soundness(c, &reported);
    reports++;
}

/* Tells how many notes and annotations there were, or -1 where the kernel refused them. */
static void run_case(Case *c, const uint8_t *written, const uint8_t *block)
{
    digest = UINT64_C(14695981039346656037), reports = 0;
    NoteRows notes = rooms_of_notes(c);
    Rows rows = rooms_of_rows(c);
    int32_t noted = read_notes(written, c->notes_size, (int32_t)c->lines, &notes);
    if (next_random(c) % 16 == 0)
        readings[c->form]->labels = readings[c->form]->seconds = (Spellings){0};
    int32_t found = read_block(c, block, &rows);
    if (found == TAKEN)
        look_at(c, block, &rows), look_at_clashes(c, &rows), write_numbers(c, &rows);
    if (noted == TAKEN) {
        Notes texts = told(&notes);
        NameTable table = learnt(c, &notes);
        if (found == TAKEN)
            look_up(c, block, &rows, &texts, notes.records);
        if (table.slot_room && found == TAKEN)
            look_at_names(&rows, &notes, table);
        if (table.slot_room)
            look_at_report(c, block, &texts, &table);
    }
    printf("%lld %lld %llx %d\n", noted == TAKEN ? (long long)notes.records : -1,
           found == TAKEN ? (long long)rows.rows : -1, (unsigned long long)digest, reports);
}

int main(int count, char **words)
{
    Case c;
    if (count > 1)
        MUST(choose_lanes(atoi(words[1])) == atoi(words[1]));
    setvbuf(stdout, NULL, _IOLBF, 0);
    take_forms();
    while (take_bytes(&c, sizeof c)) {
        MUST(c.form >= 0 && c.form < FORMS && readings[c.form]);
        uint8_t *written = take_room(c.notes_size);
        run_case(&c, written, take_room(c.block_size));
        drop_rooms();
    }
    return 0;
}
