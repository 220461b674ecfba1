/* A file read in a process of its own, which ends with it: behind limits and a filter of system calls, and without the
   memory that whoever makes it keeps from its children. Nothing here is on other systems than Linux. */
#define _GNU_SOURCE
#include <string.h>

#include "kernel.h"

enum { ALIGNED = 8, LOOKED_AT = 64 };

/* The spellings that were learnt, a zero behind each, from where ``at`` says on. */
static uint8_t *spell(const Spellings *known, uint8_t *at)
{
    for (int32_t i = 0; i < known->count; i++) {
        size_t size = (size_t)(known->begins[i + 1] - known->begins[i]);
        memcpy(at, known->pool + known->begins[i], size);
        at += size;
        *at++ = 0;
    }
    return at;
}

static int is_lines(const uint8_t *data, int64_t size)
{
    int64_t at = 0, most = size < LOOKED_AT ? size : LOOKED_AT;
    while (at < most && data[at] && strchr(" \t\r\n", data[at]))
        at++;
    return at < most && data[at] == '{';
}

/* Labels get their codes in the order of their first appearance. */
static int read_columns(const CellJob *job, const uint8_t *data, int lines)
{
    job->labels->growing = job->seconds->growing = 1;
    return read_annotations(data, job->size, lines, job->form, job->labels, job->seconds, job->rows) == TAKEN;
}

int32_t find_report(const CellJob *job, const uint8_t *data, ReportPart *parts)
{
    int lines = is_lines(data, job->size);
    Rows *rows = job->rows;
    if (!read_columns(job, data, lines) || !rows->rows || rows->records < 1 + lines)
        return 0;
    if (!join_names(job->names, rows, job->seen, job->numbers))
        return 0;
    if (find_misplaced(data, rows, job->numbers, job->notes, job->found))
        return 0;
    int64_t *head = job->head, *counts = head + 3;
    find_clashes(rows, job->numbers, job->repeats, job->overlaps, job->found, counts);
    uint8_t *seconds = spell(job->labels, job->spelt), *end = spell(job->seconds, seconds);
    head[0] = rows->rows, head[1] = rows->tokens, head[2] = rows->records;
    head[5] = seconds - job->spelt, head[6] = end - seconds;
    while ((end - job->spelt) % ALIGNED)
        *end++ = 0;
    const int64_t whole = (int64_t)sizeof(int32_t);
    const ReportPart found[] = {
        {head, REPORT_HEAD * (int64_t)sizeof *head}, {job->spelt, end - job->spelt},
        {rows->confidence, rows->rows * (int64_t)sizeof *rows->confidence},
        {job->numbers, rows->records * whole}, {rows->per_record, rows->records * whole},
        {rows->start, rows->rows * whole}, {rows->length, rows->rows * whole}, {rows->label, rows->rows * whole},
        {rows->words, rows->rows * whole}, {rows->begin, rows->tokens * whole}, {rows->size, rows->tokens * whole},
        {job->repeats, counts[0] * whole}, {job->overlaps, counts[1] * whole},
    };
    memcpy(parts, found, sizeof found);
    return REPORT_PARTS;
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLOSE_RANGE = 436, FILTERED = 2 };

static void close_between(unsigned first, unsigned last)
{
    if (first > last || !syscall(CLOSE_RANGE, first, last, 0))
        return;
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most))
        _exit(1);
    for (unsigned one = first; one <= last && one < most.rlim_cur; one++)
        close((int)one);
}

static int limited(const CellJob *job)
{
    for (int i = 0; i < CELL_LIMITS; i++) {
        struct rlimit most = {(rlim_t)job->most[i], (rlim_t)job->most[i]};
        if (setrlimit((unsigned)job->which[i], &most))
            return 0;
    }
    return 1;
}

static int confined(const CellJob *job)
{
    const struct {
        unsigned short count;
        const uint8_t *instructions;
    } program = {(unsigned short)job->instructions, job->filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul))
        return 0;
    return !prctl(PR_SET_SECCOMP, (unsigned long)FILTERED, &program, 0ul, 0ul);
}

static int written(const CellJob *job, const ReportPart *parts, int32_t count)
{
    struct iovec pieces[REPORT_PARTS];
    ssize_t whole = 0;
    for (int32_t i = 0; i < count; i++) {
        pieces[i].iov_base = (void *)(uintptr_t)parts[i].begin;
        pieces[i].iov_len = (size_t)parts[i].size;
        whole += (ssize_t)parts[i].size;
    }
    return writev(job->report, pieces, count) == whole;
}

static _Noreturn void read_and_leave(const CellJob *job, ReportFinder find)
{
    ReportPart parts[REPORT_PARTS];
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0ul, 0ul, 0ul) || prctl(PR_SET_DUMPABLE, 0ul, 0ul, 0ul, 0ul))
        _exit(1);
    const uint8_t *data = mmap(NULL, (size_t)job->size, PROT_READ, MAP_PRIVATE, job->given, 0);
    if (data == MAP_FAILED)
        _exit(1);
    close_between(0, (unsigned)job->report - 1);
    close_between((unsigned)job->report + 1, ~0u);
    if (!limited(job) || !confined(job))
        _exit(1);
    int32_t count = find(job, data, parts);
    _exit(!count || !written(job, parts, count));
}

/* Not by fork(), which looks after locks and files in memory that the child may not have. */
int32_t read_in_cell(const CellJob *job, ReportFinder find)
{
    if (job->report < 1)
        return 0;
    long cell = syscall(SYS_clone, (unsigned long)SIGCHLD, 0ul, 0ul, 0ul, 0ul);
    if (!cell)
        read_and_leave(job, find);
    int status = 0;
    pid_t ended;
    do
        ended = cell < 0 ? -1 : waitpid((pid_t)cell, &status, 0);
    while (ended < 0 && cell > 0 && errno == EINTR);
    return ended > 0 && !status;
}
#else
int32_t read_in_cell(const CellJob *job, ReportFinder find)
{
    (void)job, (void)find;
    return 0;
}
#endif
