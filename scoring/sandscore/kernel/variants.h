/* The same functions compiled for several kinds of machines: all of them give the same. */
#ifndef SANDSCORE_VARIANTS_H
#define SANDSCORE_VARIANTS_H

#include "draw_stream.h"
#include "kernel.h"

typedef struct {
    int32_t (*annotations)(const uint8_t *data, int64_t size, int32_t lines, const Form *form, Spellings *labels,
                           Spellings *seconds, Rows *rows);
    int64_t (*misplaced)(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                         int32_t *found);
    int32_t (*kept)(const uint8_t *data, const Rows *rows, const int32_t *numbers, KeptTexts *kept);
    int32_t (*standing)(const Notes *notes, int64_t first, int64_t count, const KeptTexts *kept, const int32_t *start);
    int32_t (*notes)(const uint8_t *data, int64_t size, int32_t lines, NoteRows *rows);
    int64_t (*marks)(const uint8_t *texts, const int64_t *sizes, const int64_t *chars, int64_t count, uint32_t *marks);
    int64_t (*parts)(const Notes *notes, const int64_t *note, const int64_t *start, const int64_t *length,
                     int64_t count, uint8_t *copied, int64_t room, int64_t *sizes);
    int32_t (*tab_gold)(const uint8_t *data, int64_t size, TabCorpus *corpus);
    int32_t (*tab_masks)(const uint8_t *data, int64_t size, TabCorpus *corpus);
    void (*places)(DrawRuns *runs, int64_t steps, uint64_t units, uint32_t *places);
} Variant;

/* As many places among so many units from each run, in some order; ``places`` has room for all of them. */
void draw_places(DrawRuns *runs, int64_t steps, uint64_t units, uint32_t *places);

extern const Variant scalar_variant;
#if defined(__SSE2__) || (defined(__aarch64__) && defined(__ARM_NEON))
#define HAS_SIXTEEN
extern const Variant sixteen_variant;
#endif
#if defined(__x86_64__)
#define HAS_THIRTY_TWO
extern const Variant thirty_two_variant;
#endif

#endif
