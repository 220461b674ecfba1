/* A report of a process that may be anybody's: whether it can be. */
#include "kernel.h"

static int holds_tokens(const ReportedRows *r, int64_t row, int64_t first)
{
    int64_t end = -1;
    for (int64_t at = first; at < first + r->words[row]; at++) {
        if (r->begin[at] < 0 || r->begin[at] <= end || r->size[at] < 1)
            return 0;
        end = (int64_t)r->begin[at] + r->size[at];
        if (end > r->length[row])
            return 0;
    }
    return 1;
}

static int is_sure(const ReportedRows *r, double confidence)
{
    return confidence != confidence ? !r->sure : confidence >= 0 && confidence <= 100;
}

int32_t is_sound(const ReportedRows *r, uint8_t *seen)
{
    int64_t token = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        int32_t note = r->note[row];
        if (note < 0 || note >= r->notes || r->start[row] < 0 || r->length[row] < 1)
            return 0;
        if (!row || r->note[row - 1] != note) {
            if (seen[note])
                return 0;
            seen[note] = 1;
        }
        if (r->chars && (int64_t)r->start[row] + r->length[row] > r->chars[note])
            return 0;
        if (r->label[row] < -1 || r->label[row] >= r->labels || !is_sure(r, r->confidence[row]))
            return 0;
        if (r->words[row] < 0 || r->words[row] > r->tokens - token || !holds_tokens(r, row, token))
            return 0;
        token += r->words[row];
    }
    return token == r->tokens;
}
