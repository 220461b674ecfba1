/* Reading byte by byte, or eight as one number: on every machine. */
#define LANES 0
#include "reading.h"

const Variant scalar_variant = READING;
