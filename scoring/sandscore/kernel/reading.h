/* Reading, as one file: whoever includes it says by LANES at how many bytes it looks at once, and names its variant. */
#ifndef SANDSCORE_READING_H
#define SANDSCORE_READING_H

#include "annotation_rows.h"
#include "drawn_places.h"
#include "kernel.h"
#include "note_rows.h"
#include "standing.h"
#include "tab_rows.h"
#include "variants.h"

#define READING {annotations_read, misplaced_found, texts_kept, kept_standing, notes_read, characters_marked, \
                 parts_copied, tab_gold_read, tab_masks_read, places_drawn}

#endif
