/* Texts into words, which white space parts. */
#ifndef SANDSCORE_WORDS_H
#define SANDSCORE_WORDS_H

#include "json_strings.h"
#include "kernel.h"

/* White space as str.isspace knows it, beyond ASCII. */
static int is_blank(uint32_t point)
{
    return point == 0x85 || point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
           point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

static inline int is_ascii_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31);
}

static inline int32_t put_word(Rows *rows, int64_t begin, int64_t end)
{
    if (rows->tokens == rows->token_room)
        return 0;
    rows->begin[rows->tokens] = (int32_t)begin;
    rows->size[rows->tokens++] = (int32_t)(end - begin);
    return 1;
}

/* So many words are written without asking how many there are; a bit behind all edges of a text. */
enum { FEW_WORDS = 4 };
#define BEYOND (UINT64_C(1) << 63)

/* Notes the words of a text that is ASCII and has no escapes, in a block that ends there; 0: there is no room. A blank
   is its only white space; a short text is looked at as a whole. */
INLINED int32_t plain_words(Rows *rows, const uint8_t *text, int64_t size, const uint8_t *end)
{
    int64_t at = 0;
#if LANES
    if (size <= LANES && end - text >= LANES) {
        uint64_t signs = ~blank_bits(text) & lowest_bits(size), edges = signs ^ signs << 1;
        int64_t words = __builtin_popcountll(edges) / 2;
        if (words <= FEW_WORDS && rows->token_room - rows->tokens >= FEW_WORDS) {
            int32_t *begins = rows->begin + rows->tokens, *sizes = rows->size + rows->tokens;
            for (int i = 0; i < FEW_WORDS; i++) {
                int begin = __builtin_ctzll(edges | BEYOND);
                edges &= edges - 1;
                begins[i] = begin;
                sizes[i] = __builtin_ctzll(edges | BEYOND) - begin;
                edges &= edges - 1;
            }
            rows->tokens += words;
            return 1;
        }
        for (; edges; edges &= edges - 1) {
            int begin = __builtin_ctzll(edges);
            edges &= edges - 1;
            if (!put_word(rows, begin, __builtin_ctzll(edges)))
                return 0;
        }
        return 1;
    }
#else
    (void)end;
#endif
    while (at < size) {
        while (at < size && text[at] == ' ')
            at++;
        int64_t begin = at;
        while (at < size && text[at] != ' ')
            at++;
        if (at > begin && !put_word(rows, begin, at))
            return 0;
    }
    return 1;
}

/* The same of one that is UTF-8; 0 too where it is not. */
static int32_t decoded_words(Rows *rows, const uint8_t *text, int64_t size)
{
    const uint8_t *at = text, *end = text + size;
    int64_t place = 0, begin = -1;
    for (int64_t step; at < end; at += step, place++) {
        step = character_size(at, end);
        if (step == 0)
            return 0;
        int blank = step == 1 ? is_ascii_blank(*at) : is_blank(character_at(at, step));
        if (blank && begin >= 0 && !put_word(rows, begin, place))
            return 0;
        begin = blank ? -1 : begin < 0 ? place : begin;
    }
    return begin < 0 || put_word(rows, begin, place);
}

#endif
