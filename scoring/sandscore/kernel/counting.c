/* Gold and predictions of a note side by side: one walk through what begins together gives every count.

   Where each side has one annotation at a start there is nothing to choose. Only a crowd, several that begin together,
   is sorted and matched. No step is worse than n log n in the annotations of a note. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sorting.h"
#include "vectors.h"

/* What a note has: on either side, of pairs that agree in everything, and by measure of all other pairs. */
typedef struct {
    int64_t mentions, words, labelled, counting[MEASURES];
} SideSums;
typedef struct {
    SideSums gold, predicted;
    int64_t agreed, agreed_words, right[MEASURES], excused[MEASURES];
} Tally;

/* The measures for which some labels do not count. */
static uint32_t partial_measures(const Counting *c)
{
    uint32_t found = 0;
    for (int64_t i = 0; i < c->measures; i++)
        for (int64_t label = 0; c->measure[i].kind == BY_LABEL && label < c->labels; label++)
            if (c->measure[i].value[label] < 0)
                found |= 1u << i;
    return found;
}

static int32_t value_of(const AskedMeasure *measure, int32_t label) { return label < 0 ? -1 : measure->value[label]; }

static void begin_note(Tally *note, int64_t measures)
{
    note->agreed = note->agreed_words = 0;
    for (int64_t i = 0; i < measures; i++)
        note->right[i] = note->excused[i] = note->gold.counting[i] = note->predicted.counting[i] = 0;
}

static int fits(const NoteRuns *side, int64_t run)
{
    int64_t first = side->first[run], count = side->count[run], token = side->first_token[run];
    return first >= 0 && count >= 0 && count <= side->rows && first <= side->rows - count && token >= 0;
}

/* An annotation, to its side's sums and to those of its label; 0 where the label is none. */
static inline int32_t add_up(const Counting *c, const CountedMention *mention, LabelSums *labels, SideSums *sums)
{
    int32_t label = mention->label, most = c->labels ? (int32_t)c->labels : 1;
    sums->words += mention->words;
    if (label < 0 || label >= most)
        return label == -1;
    sums->labelled++;
    labels[label].mentions++;
    labels[label].words += mention->words;
    for (uint32_t rest = c->partial; rest; rest &= rest - 1) {
        int which = __builtin_ctz(rest);
        sums->counting[which] += c->measure[which].value[label] >= 0;
    }
    return 1;
}

/* So much of a column, from a row on, that will be looked at soon. Inlined: see ``fetch_note``. */
INLINED void fetch(const void *column, int64_t row, int64_t rows, int64_t size)
{
    const char *at = (const char *)column + row * size, *end = at + rows * size;
    for (; column && at < end; at += 64)
        __builtin_prefetch(at);
}

/* The next run's rows, which may stand anywhere in the file. */
INLINED void fetch_run(const NoteRuns *side, int64_t run)
{
    const int64_t most = 64;
    if (run >= side->runs || !fits(side, run))
        return;
    int64_t first = side->first[run], rows = side->count[run] < most ? side->count[run] : most, token = side->first_token[run];
    fetch(side->start, first, rows, sizeof *side->start);
    fetch(side->length, first, rows, sizeof *side->length);
    fetch(side->label, first, rows, sizeof *side->label);
    fetch(side->confidence, first, rows, sizeof *side->confidence);
    fetch(side->words, first, rows, sizeof *side->words);
    fetch(side->begin, token, rows, sizeof *side->begin);
    fetch(side->size, token, rows, sizeof *side->size);
}

/* The annotations of a note, whose first run is told, and their sums; 0 where something does not fit. */
static int32_t gather(const Counting *c, const NoteRuns *side, int64_t *run, int64_t note, CountedMention *into,
                      LabelSums *labels, SideSums *sums)
{
    int64_t used = 0;
    sums->words = sums->labelled = 0;
    for (; *run < side->runs && side->note[*run] == note; ++*run) {
        int64_t first = side->first[*run], count = side->count[*run], token = side->first_token[*run];
        if (!fits(side, *run) || count > c->mention_room - used)
            return 0;
        for (int64_t row = first; row < first + count; row++) {
            int32_t words = side->words ? side->words[row] : 0;
            if (words < 0 || words > side->tokens - token)
                return 0;
            CountedMention *mention = into + used++;
            mention->token = token;
            mention->confidence = side->confidence[row] + 0.0;
            mention->start = side->start[row];
            mention->length = side->length[row];
            mention->label = side->label[row];
            mention->words = words;
            mention->paired = mention->settled = 0;
            token += words;
            if (!add_up(c, mention, labels, sums))
                return 0;
        }
    }
    sums->mentions = used;
    fetch_run(side, *run);
    return 1;
}

/* They change places with what is spare. */
static void sort_by_start(Counting *c, CountedMention **mentions, int64_t count)
{
    CountedMention *from = *mentions;
    int64_t i = 1;
    while (i < count && from[i].start >= from[i - 1].start)
        i++;
    if (i >= count)
        return;
    int32_t starts[FEW_NUMBERS], places[FEW_NUMBERS];
    for (i = 0; i < count && count <= FEW_NUMBERS; i++)
        starts[i] = from[i].start;
    if (count <= FEW_NUMBERS && rank_numbers(starts, count, places)) {
        for (i = 0; i < count; i++)
            c->spare[places[i]] = from[i];
    } else {
        for (i = 0; i < count; i++)
            c->gold_keys[i] = (Key){(uint64_t)from[i].start, (uint64_t)i};
        sort_keys(c->gold_keys, count, c->spare_keys);
        for (i = 0; i < count; i++)
            c->spare[i] = from[c->gold_keys[i].minor];
    }
    *mentions = c->spare;
    c->spare = from;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Of equal lengths the surest first. */
static void sort_by_length(const Counting *c, CountedMention *mentions, int64_t count)
{
    Key *keys = c->gold_keys;
    for (int64_t i = 0; i < count; i++)
        keys[i] = (Key){~bits_of(mentions[i].confidence), (uint64_t)i};
    sort_keys(keys, count, c->spare_keys);
    for (int64_t i = 0; i < count; i++)
        keys[i] = (Key){(uint64_t)mentions[keys[i].minor].length << 32 | (uint64_t)i, keys[i].minor};
    sort_keys(keys, count, c->spare_keys);
    for (int64_t i = 0; i < count; i++)
        c->spare[i] = mentions[keys[i].minor];
    memcpy(mentions, c->spare, (size_t)count * sizeof *mentions);
}

/* Whoever agrees in everything is counted once for all measures, but for those to which not every label counts. */
static void count_agreed(Counting *c, const CountedMention *gold, Tally *note)
{
    LabelSums *label = c->agreed + gold->label + 1;
    note->agreed++;
    note->agreed_words += gold->words;
    label->mentions++;
    label->words += gold->words;
    for (uint32_t rest = c->partial; rest; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        note->right[i] += c->measure[i].value[gold->label] >= 0;
    }
}

/* Two that begin together, alone on either side. */
static void count_pair(Counting *c, CountedMention *gold, CountedMention *predicted, Tally *note)
{
    int64_t apart = llabs((int64_t)gold->length - predicted->length);
    int equal = apart == 0, same = gold->label == predicted->label, agree = same && gold->label >= 0;
    gold->paired = predicted->paired = equal;
    c->labelled_pairs += equal && gold->label >= 0 && predicted->label >= 0;
    if (equal && (agree || (same && !c->labels))) {
        gold->settled = predicted->settled = 1;
        count_agreed(c, gold, note);
        return;
    }
    for (int64_t i = 0; i < c->measures; i++) {
        const AskedMeasure *measure = c->measure + i;
        if (measure->kind == BY_SPAN && apart <= measure->tolerance) {
            note->right[i]++;
            if (agree && measure->right)
                measure->right[gold->label]++;
        } else if (measure->kind == BY_LABEL && equal) {
            int32_t wanted = value_of(measure, gold->label), said = value_of(measure, predicted->label);
            note->excused[i] += said >= 0 && gold->label < 0;
            if (said < 0 || said != wanted)
                continue;
            note->right[i]++;
            if (measure->right)
                measure->right[said]++;
        }
    }
}

/* Marks those of a crowd that have an equal partner, the surest of the predictions first; both are sorted by length. */
static void pair_crowd(Counting *c, CountedMention *gold, int64_t golds, CountedMention *predicted,
                       int64_t predictions)
{
    for (int64_t g = 0, p = 0; g < golds && p < predictions;) {
        int32_t length = gold[g].length, other = predicted[p].length;
        if (length != other) {
            g += length < other;
            p += length > other;
            continue;
        }
        int64_t labelled[] = {0, 0}, first = g, last = p;
        for (; g < golds && gold[g].length == length; g++)
            labelled[0] += gold[g].label >= 0;
        for (; p < predictions && predicted[p].length == length; p++)
            labelled[1] += predicted[p].label >= 0;
        int64_t pairs = g - first < p - last ? g - first : p - last;
        for (int64_t i = 0; i < pairs; i++)
            gold[first + i].paired = predicted[last + i].paired = 1;
        c->labelled_pairs += labelled[0] < labelled[1] ? labelled[0] : labelled[1];
    }
}

/* By value and length; those without a value, and all others where only labels are asked for, left out. */
static int64_t fill_keys(const Counting *c, const CountedMention *mentions, int64_t count, const AskedMeasure *measure,
                         Key *keys)
{
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t length = (uint64_t)mentions[i].length;
        int32_t value = measure->kind == BY_LABEL ? value_of(measure, mentions[i].label) : mentions[i].label;
        if (value < 0)
            continue;
        uint64_t high = measure->kind == BY_LABEL ? length : (uint64_t)value;
        keys[used++] = (Key){high << 32 | (measure->kind == BY_LABEL ? (uint64_t)value : length), (uint64_t)i};
    }
    sort_keys(keys, used, c->spare_keys);
    return used;
}

static void count_near_crowd(const Counting *c, const AskedMeasure *measure, const CountedMention *gold, int64_t golds,
                             const CountedMention *predicted, int64_t predictions, int64_t *right)
{
    int64_t g = 0;
    for (int64_t p = 0; p < predictions; p++) {
        int64_t length = predicted[p].length;
        while (g < golds && gold[g].length < length - measure->tolerance)
            g++;
        int taken = g < golds && gold[g].length <= length + measure->tolerance;
        g += taken;
        *right += taken;
    }
    if (!measure->right)
        return;
    golds = fill_keys(c, gold, golds, measure, c->gold_keys);
    predictions = fill_keys(c, predicted, predictions, measure, c->predicted_keys);
    g = 0;
    for (int64_t p = 0; p < predictions; p++) {
        uint64_t key = c->predicted_keys[p].major, tolerance = (uint64_t)measure->tolerance;
        while (g < golds && c->gold_keys[g].major + tolerance < key)
            g++;
        int taken = g < golds && c->gold_keys[g].major <= key + tolerance;
        g += taken;
        if (taken)
            measure->right[key >> 32]++;
    }
}

/* A prediction on a span that gold annotates without a label is excused where no gold of its value is left for it. */
static void count_labelled_crowd(const Counting *c, const AskedMeasure *measure, const CountedMention *gold,
                                 int64_t golds, const CountedMention *predicted, int64_t predictions, int64_t *right,
                                 int64_t *excused)
{
    int64_t known = fill_keys(c, gold, golds, measure, c->gold_keys), g = 0, left = 0;
    int64_t carrying = fill_keys(c, predicted, predictions, measure, c->predicted_keys);
    for (int64_t p = 0; p < carrying; p++) {
        Key key = c->predicted_keys[p];
        while (g < known && c->gold_keys[g].major < key.major)
            g++;
        int taken = g < known && c->gold_keys[g].major == key.major;
        g += taken;
        *right += taken;
        if (!taken)
            c->predicted_keys[left++] = key;
        else if (measure->right)
            measure->right[key.major & UINT32_MAX]++;
    }
    for (int64_t p = 0, bare = 0; p < left; p++) {
        int64_t length = (int64_t)(c->predicted_keys[p].major >> 32);
        while (bare < golds && (gold[bare].length < length || (gold[bare].length == length && gold[bare].label >= 0)))
            bare++;
        int taken = bare < golds && gold[bare].length == length;
        bare += taken;
        *excused += taken;
    }
}

static void count_crowd(Counting *c, CountedMention *gold, int64_t golds, CountedMention *predicted,
                        int64_t predictions, Tally *note)
{
    sort_by_length(c, gold, golds);
    sort_by_length(c, predicted, predictions);
    pair_crowd(c, gold, golds, predicted, predictions);
    for (int64_t i = 0; i < c->measures; i++) {
        const AskedMeasure *measure = c->measure + i;
        if (measure->kind == BY_SPAN)
            count_near_crowd(c, measure, gold, golds, predicted, predictions, note->right + i);
        else if (measure->kind == BY_LABEL)
            count_labelled_crowd(c, measure, gold, golds, predicted, predictions, note->right + i,
                                 note->excused + i);
    }
}

static void walk(Counting *c, int64_t golds, int64_t predictions, Tally *note)
{
    CountedMention *gold = c->gold, *predicted = c->predicted;
    for (int64_t g = 0, p = 0; g < golds && p < predictions;) {
        int32_t start = gold[g].start, other = predicted[p].start;
        if (start != other) {
            g += start < other;
            p += start > other;
            continue;
        }
        int64_t first = g++, last = p++;
        while (g < golds && gold[g].start == start)
            g++;
        while (p < predictions && predicted[p].start == start)
            p++;
        if (g - first == 1 && p - last == 1)
            count_pair(c, gold + first, predicted + last, note);
        else
            count_crowd(c, gold + first, g - first, predicted + last, p - last, note);
    }
}

/* The annotations that are not settled; every other one is looked at no more. */
static Loose find_loose(const CountedMention *mentions, int64_t count, int32_t *which)
{
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        which[used] = (int32_t)i;
        used += !mentions[i].settled;
    }
    return (Loose){mentions, which, used};
}

/* The tokens of loose annotations, sorted by where they stand, then by label; -1: they do not fit. */
static int64_t spell(const Counting *c, const NoteRuns *side, const Loose *loose, Key *keys)
{
    int64_t used = 0;
    for (int64_t i = 0; i < loose->count; i++) {
        const CountedMention *mention = loose->mentions + loose->which[i];
        if (mention->words > c->key_room - used)
            return -1;
        for (int64_t token = mention->token; token < mention->token + mention->words; token++) {
            uint64_t begin = (uint64_t)mention->start + (uint64_t)side->begin[token];
            keys[used++] = (Key){begin << 32 | (uint64_t)side->size[token], (uint64_t)(mention->label + 1)};
        }
    }
    sort_keys(keys, used, c->spare_keys);
    return used;
}

/* What two multisets share is what is taken from both of them plus what the rests share. */
static int32_t count_tokens(const Counting *c, const NoteRuns *const sides[2], const Loose loose[2],
                            const AskedMeasure *measure, int64_t *right)
{
    const Key *gold = c->gold_keys, *predicted = c->predicted_keys;
    int64_t golds = spell(c, sides[0], loose, c->gold_keys);
    int64_t predictions = golds > 0 ? spell(c, sides[1], loose + 1, c->predicted_keys) : 0;
    if (golds < 0 || predictions < 0)
        return 0;
    for (int64_t g = 0, p = 0; g < golds && p < predictions;) {
        uint64_t token = gold[g].major, other = predicted[p].major;
        if (token != other) {
            g += token < other;
            p += token > other;
            continue;
        }
        int64_t first = g, last = p;
        while (g < golds && p < predictions && gold[g].major == token && predicted[p].major == token) {
            uint64_t label = gold[g].minor, said = predicted[p].minor;
            if (label == said && label && measure->right)
                measure->right[label - 1]++;
            g += label <= said;
            p += label >= said;
        }
        while (g < golds && gold[g].major == token)
            g++;
        while (p < predictions && predicted[p].major == token)
            p++;
        *right += g - first < p - last ? g - first : p - last;
    }
    return 1;
}

/* 0: there is no room, or it is no confidence. */
static int32_t keep_level(Counting *c, const CountedMention *predicted)
{
    double sure = predicted->confidence;
    int64_t whole = sure >= 0 && sure < WHOLE_LEVELS ? (int64_t)sure : -1;
    if (isnan(sure)) {
        c->unsure++;
    } else if (whole >= 0 && (double)whole == sure) {
        c->levels[2 * whole]++;
        c->levels[2 * whole + 1] += predicted->paired;
    } else {
        if (sure < 0 || c->odds == c->odd_room)
            return 0;
        c->odd[c->odds++] = bits_of(sure) << 1 | (uint64_t)predicted->paired;
    }
    return 1;
}

/* How many of a side count for a measure. */
static int64_t number_of(const Counting *c, const SideSums *sums, int64_t i)
{
    if (c->measure[i].kind == BY_LABEL)
        return c->partial >> i & 1 ? sums->counting[i] : sums->labelled;
    return c->measure[i].kind == BY_SPAN ? sums->mentions : sums->words;
}

static int32_t count_note(Counting *c, const NoteRuns *const sides[2], Tally *note, int64_t number)
{
    int64_t golds = note->gold.mentions, predictions = note->predicted.mentions;
    sort_by_start(c, &c->gold, golds);
    sort_by_start(c, &c->predicted, predictions);
    walk(c, golds, predictions, note);
    const Loose loose[] = {find_loose(c->gold, golds, c->loose),
                           find_loose(c->predicted, predictions, c->loose + c->mention_room)};
    for (int64_t i = 0; i < c->measures; i++) {
        const AskedMeasure *measure = c->measure + i;
        int64_t *told = measure->per_note + 3 * number, right = note->right[i];
        if (measure->kind == BY_TOKEN && !count_tokens(c, sides, loose, measure, &right))
            return 0;
        if (!(c->partial >> i & 1))
            right += measure->kind == BY_TOKEN ? note->agreed_words : note->agreed;
        told[0] = right;
        told[1] = number_of(c, &note->predicted, i) - right - note->excused[i];
        told[2] = number_of(c, &note->gold, i) - right;
    }
    for (int64_t i = 0; i < predictions; i++)
        if (!keep_level(c, c->predicted + i))
            return 0;
    c->with_gold += golds > 0;
    c->boundary += overlapping_pairs(c, loose);
    c->leaking += leaks(loose, c->predicted, predictions);
    if (c->open && !c->open->unsure)
        c->open->unsure = !uncover(c, golds, predictions, number + c->first);
    return 1;
}

/* Pairs that agree in everything, once for all measures that count by label or value. */
static void add_agreed(const Counting *c)
{
    for (int64_t i = 0; i < c->measures; i++) {
        const AskedMeasure *measure = c->measure + i;
        for (int32_t label = 0; measure->right && label < c->labels; label++) {
            int32_t at = measure->kind == BY_LABEL ? value_of(measure, label) : label;
            const LabelSums *agreed = c->agreed + label + 1;
            if (at >= 0)
                measure->right[at] += measure->kind == BY_TOKEN ? agreed->words : agreed->mentions;
        }
    }
}

int32_t count_notes(const NoteRuns *gold, const NoteRuns *predicted, Counting *c)
{
    const NoteRuns *const sides[] = {gold, predicted};
    int64_t runs[] = {0, 0};
    Tally note;
    if (c->measures > MEASURES)
        return REFUSED;
    for (int64_t i = 0; i < c->measures; i++)
        if (c->measure[i].kind == BY_TOKEN && !(gold->words && predicted->words))
            return REFUSED;
    c->partial = partial_measures(c);
    for (int64_t number = c->first; number < c->last; number++) {
        begin_note(&note, c->measures);
        if (!gather(c, gold, runs, number, c->gold, c->gold_labels, &note.gold) ||
            !gather(c, predicted, runs + 1, number, c->predicted, c->predicted_labels, &note.predicted) ||
            !count_note(c, sides, &note, number - c->first))
            return REFUSED;
    }
    add_agreed(c);
    return TAKEN;
}
