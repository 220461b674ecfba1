/* JSON's small parts, read where they stand. */
#ifndef SANDSCORE_JSON_H
#define SANDSCORE_JSON_H

#include <stdint.h>
#include <string.h>

#include "vectors.h"

typedef struct {
    const uint8_t *at, *end;
    int32_t lines; /* a line feed ends a record: it is no white space within one */
} Cursor;

/* What stands between quotation marks; plain: ASCII without escapes. */
typedef struct {
    const uint8_t *begin;
    int64_t size;
    int32_t plain;
} Written;

static inline int is_space(const Cursor *c, uint8_t byte)
{
    return byte == ' ' || byte == '\t' || (!c->lines && (byte == '\n' || byte == '\r'));
}

static inline void skip_space(Cursor *c)
{
    while (c->at < c->end && *c->at <= ' ' && is_space(c, *c->at))
        c->at++;
}

static inline int take(Cursor *c, uint8_t sign)
{
    skip_space(c);
    if (c->at == c->end || *c->at != sign)
        return 0;
    c->at++;
    return 1;
}

/* A name that is followed by its quotation mark, which counts. */
static inline int take_name(Cursor *c, const uint8_t *name, int64_t size)
{
    if (c->end - c->at < size || !same_bytes(c->at, name, size))
        return 0;
    c->at += size;
    return 1;
}

#define TAKE_NAME(cursor, name) take_name(cursor, (const uint8_t *)name "\"", sizeof(name))

static inline int take_key(Cursor *c, const uint8_t *name, int64_t size)
{
    return take(c, '"') && take_name(c, name, size) && take(c, ':');
}

#define TAKE_KEY(cursor, name) take_key(cursor, (const uint8_t *)name "\"", sizeof(name))

static inline int continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Whether another item follows in a list that ends in ``closing``: 1, or 0 at its end, or -1. */
static inline int32_t another(Cursor *c, uint8_t closing)
{
    if (take(c, ','))
        return 1;
    return take(c, closing) ? 0 : -1;
}

/* The records of an array, or of lines. */
static inline int32_t begin_records(Cursor *c)
{
    return c->lines || take(c, '[');
}

/* 1: a record follows; 0: that was all; -1: neither. */
static inline int32_t next_record(Cursor *c)
{
    if (!c->lines) {
        int32_t more = another(c, ']');
        if (more == 0) {
            skip_space(c);
            return c->at == c->end ? 0 : -1;
        }
        return more;
    }
    skip_space(c);
    if (c->at < c->end && *c->at == '\r')
        c->at++;
    if (c->at == c->end)
        return 0;
    if (*c->at++ != '\n')
        return -1;
    return c->at < c->end;
}

#endif
