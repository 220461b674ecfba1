/* Feeds files to a kernel and prints what it makes of each: once for each C library, which must print the same.

       kernel_harness KERNEL < jobs

   A job: a line of words (kind, lines, bytes, required, array, six names; - is no name), then the bytes. A job of notes
   is what the jobs of annotations after it are compared with. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define FIND(name, result, arguments) result (*name##_) arguments = (result (*) arguments) dlsym(kernel, #name)

static uint64_t mixed(uint64_t hash, const void *data, int64_t size)
{
    const uint8_t *bytes = data;
    for (int64_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static void *room(int64_t size)
{
    void *made = calloc(1, (size_t)size + 64);
    if (!made)
        exit(3);
    return made;
}

int main(int count, char **arguments)
{
    void *kernel = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!kernel) {
        fprintf(stderr, "harness: %s\n", count == 2 ? dlerror() : "which kernel?");
        return 2;
    }
    FIND(learn_spelling, int32_t, (Spellings *, const uint8_t *, int64_t, int32_t));
    FIND(read_annotations, int32_t,
         (const uint8_t *, int64_t, int32_t, const Form *, const Spellings *, const Spellings *, Rows *));
    FIND(find_misplaced, int64_t, (const uint8_t *, const Rows *, const int32_t *, const Notes *, int32_t *));
    FIND(find_clashes, void, (const Rows *, const int32_t *, int32_t *, int32_t *, int32_t *, int64_t *));
    FIND(read_notes, int32_t, (const uint8_t *, int64_t, int32_t, NoteRows *));
    FIND(mark_characters, int64_t, (const uint8_t *, const int64_t *, const int64_t *, int64_t, uint32_t *));
    if (!learn_spelling_ || !read_annotations_ || !find_misplaced_ || !find_clashes_ || !read_notes_ || !mark_characters_)
        return 2;
    Notes notes = {0};
    int64_t known = 0;
    char kind[16], array[128], names[PROPERTIES][128];
    int32_t lines;
    int64_t size;
    uint32_t required;
    while (scanf("%15s %" SCNd32 " %" SCNd64 " %" SCNu32 " %127s %127s %127s %127s %127s %127s %127s", kind, &lines, &size,
                 &required, array, names[0], names[1], names[2], names[3], names[4], names[5]) == 11) {
        getchar();
        uint8_t *data = room(size);
        if (fread(data, 1, (size_t)size, stdin) != (size_t)size)
            return 2;
        uint64_t hash = 14695981039346656037u;
        int32_t found;
        if (strcmp(kind, "notes") == 0) {
            NoteRows rows = {.texts = room(size), .names = room(size), .patients = room(size), .has_patient = room(size),
                             .sizes = room(8 * size), .chars = room(8 * size), .record_room = size / 26 + 1};
            found = read_notes_(data, size, lines, &rows);
            known = found == TAKEN ? rows.records : 0;
            int64_t *begin = room(8 * (known + 1)), *first = room(8 * (known + 1)), marks = 0;
            for (int64_t i = 0; i < known; i++) {
                begin[i + 1] = begin[i] + rows.sizes[i];
                first[i] = marks;
                marks += rows.sizes[i] == rows.chars[i] ? 0 : rows.sizes[i] / MARK_EVERY + 1;
            }
            uint32_t *marked = room(4 * marks);
            mark_characters_(rows.texts, rows.sizes, rows.chars, known, marked);
            notes = (Notes){rows.texts, begin, rows.chars, first, marked};
            hash = mixed(mixed(mixed(hash, rows.texts, begin[known]), rows.chars, 8 * known), marked, 4 * marks);
            hash = mixed(mixed(hash, rows.names, known ? rows.named : 0), rows.has_patient, known);
        } else {
            int64_t most = size / 32 + 1, tokens = size / 2 + 1, records = size / 64 + 1;
            Rows rows = {.start = room(4 * most), .length = room(4 * most), .label = room(4 * most),
                         .confidence = room(8 * most), .text = room(4 * most), .written = room(4 * most),
                         .words = room(4 * most), .begin = room(4 * tokens), .size = room(4 * tokens),
                         .per_record = room(4 * records), .names = room(size), .decoded = room(size),
                         .row_room = most, .token_room = tokens, .record_room = records};
            Form form = {.array = (uint8_t *)array, .array_size = (int64_t)strlen(array), .required = required, .want_tokens = 1};
            for (int i = 0; i < PROPERTIES; i++) {
                form.names[i] = (uint8_t *)(strcmp(names[i], "-") ? names[i] : "");
                form.sizes[i] = strcmp(names[i], "-") ? (int64_t)strlen(names[i]) : 0;
            }
            static Spellings labels, seconds;
            memset(&labels, 0, sizeof labels);
            memset(&seconds, 0, sizeof seconds);
            int32_t codes = 0;
            while ((found = read_annotations_(data, size, lines, &form, &labels, &seconds, &rows)) > TAKEN)
                if (!learn_spelling_(found == UNKNOWN_LABEL ? &labels : &seconds, data + rows.label_at, rows.label_size, codes++))
                    break;
            if (found == TAKEN) {
                int32_t *numbers = room(4 * rows.records), *wrong = room(4 * most);
                for (int64_t i = 0; i < rows.records; i++)
                    numbers[i] = i < known ? (int32_t)i : -1;
                int64_t misplaced = find_misplaced_(data, &rows, numbers, &notes, wrong);
                hash = mixed(mixed(hash, wrong, 4 * misplaced), &misplaced, 8);
                int32_t *repeats = room(4 * most), *overlaps = room(4 * most);
                int64_t counts[2];
                find_clashes_(&rows, numbers, repeats, overlaps, wrong, counts);
                hash = mixed(mixed(hash, repeats, 4 * counts[0]), overlaps, 4 * counts[1]);
                hash = mixed(hash, counts, sizeof counts);
                hash = mixed(mixed(mixed(hash, rows.start, 4 * rows.rows), rows.length, 4 * rows.rows), rows.label, 4 * rows.rows);
                hash = mixed(mixed(hash, rows.confidence, 8 * rows.rows), rows.words, 4 * rows.rows);
                hash = mixed(mixed(hash, rows.begin, 4 * rows.tokens), rows.size, 4 * rows.tokens);
                hash = mixed(mixed(hash, rows.names, rows.named), rows.per_record, 4 * rows.records);
            }
        }
        printf("%s %" PRId32 " %016" PRIx64 "\n", kind, found, hash);
    }
    return 0;
}
