/* What reading annotations is made of. */
#ifndef SANDSCORE_PARTS_H
#define SANDSCORE_PARTS_H

#include "kernel.h"

/* The code of a label that has been learnt; 0: it has not. */
int32_t find_spelling(const Spellings *known, const uint8_t *label, int64_t size, int32_t *code);

/* Notes the words of a text that is ASCII and has no escapes, in a block that ends there; 0: there is no room. */
int32_t plain_words(Rows *rows, const uint8_t *text, int64_t size, const uint8_t *end);

/* The same of one that is UTF-8; 0 too where it is not. */
int32_t decoded_words(Rows *rows, const uint8_t *text, int64_t size);

#endif
