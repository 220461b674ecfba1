/* Which variant of reading is in use: the widest that the machine has, or the one that was asked for. */
#include "variants.h"

#include <stddef.h>

#ifdef HAS_THIRTY_TWO
#include <cpuid.h>

/* The processor has AVX2 and what came with it, and the system keeps its registers. */
static int has_thirty_two(void)
{
    const uint32_t kept = 1u << 27, counts = 1u << 23, wide = 1u << 5, bits = 1u << 3 | 1u << 8, registers = 6;
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (kept | counts)) != (kept | counts))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & registers) != registers || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    return (b & (wide | bits)) == (wide | bits);
}
#endif

static const Variant *variant_of(int32_t lanes)
{
#ifdef HAS_THIRTY_TWO
    if (lanes >= 32 && has_thirty_two())
        return &thirty_two_variant;
#endif
#ifdef HAS_SIXTEEN
    if (lanes >= 16)
        return &sixteen_variant;
#endif
    (void)lanes;
    return &scalar_variant;
}

static const Variant *chosen;

int32_t choose_lanes(int32_t most)
{
    chosen = variant_of(most);
#ifdef HAS_THIRTY_TWO
    if (chosen == &thirty_two_variant)
        return 32;
#endif
    return chosen == &scalar_variant ? 0 : 16;
}

static const Variant *in_use(void)
{
    if (!chosen)
        choose_lanes(INT32_MAX);
    return chosen;
}

int32_t read_annotations(const uint8_t *data, int64_t size, int32_t lines, const Form *form, Spellings *labels,
                         Spellings *seconds, Rows *rows)
{
    return in_use()->annotations(data, size, lines, form, labels, seconds, rows);
}

int64_t find_misplaced(const uint8_t *data, const Rows *rows, const int32_t *numbers, const Notes *notes,
                       int32_t *found)
{
    return in_use()->misplaced(data, rows, numbers, notes, found);
}

int32_t keep_texts(const uint8_t *data, const Rows *rows, const int32_t *numbers, KeptTexts *kept)
{
    return in_use()->kept(data, rows, numbers, kept);
}

int32_t kept_texts_stand(const Notes *notes, int64_t first, int64_t count, const KeptTexts *kept, const int32_t *start)
{
    return in_use()->standing(notes, first, count, kept, start);
}

int32_t read_notes(const uint8_t *data, int64_t size, int32_t lines, NoteRows *rows)
{
    return in_use()->notes(data, size, lines, rows);
}

int64_t mark_characters(const uint8_t *texts, const int64_t *sizes, const int64_t *chars, int64_t count,
                        uint32_t *marks)
{
    return in_use()->marks(texts, sizes, chars, count, marks);
}

void draw_places(DrawRuns *runs, int64_t steps, uint64_t units, uint32_t *places)
{
    in_use()->places(runs, steps, units, places);
}

int64_t copy_parts(const Notes *notes, const int64_t *note, const int64_t *start, const int64_t *length, int64_t count,
                   uint8_t *copied, int64_t room, int64_t *sizes)
{
    return in_use()->parts(notes, note, start, length, count, copied, room, sizes);
}

int32_t read_tab_gold(const uint8_t *data, int64_t size, TabCorpus *corpus)
{
    return in_use()->tab_gold(data, size, corpus);
}

int32_t read_tab_masks(const uint8_t *data, int64_t size, TabCorpus *corpus)
{
    return in_use()->tab_masks(data, size, corpus);
}
