/* Reading, as one file: whoever includes it says by what it looks at bytes, and gets it as a variant. */
#ifndef SANDSCORE_READING_H
#define SANDSCORE_READING_H

#include "annotation_rows.h"
#include "kernel.h"
#include "note_rows.h"
#include "standing.h"

#endif
