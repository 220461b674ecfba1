/* Reading sixteen bytes at a time: SSE2, which every x86-64 machine has, or NEON, which every aarch64 has. */
#include "variants.h"

#ifdef HAS_SIXTEEN
#ifdef __SSE2__
#include <emmintrin.h>
#else
#include <arm_neon.h>
#endif
#define LANES 16
#include "reading.h"

const Variant sixteen_variant = READING;
#endif
