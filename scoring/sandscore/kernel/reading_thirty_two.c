/* Reading 32 bytes at a time, with AVX2: only where variants.c found that the machine has it. */
#include "variants.h"

#ifdef HAS_THIRTY_TWO
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#include "reading.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const Variant thirty_two_variant = READING;
#endif
