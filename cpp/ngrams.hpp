// Trees of n-grams: building them, sharing out probability, scoring and drawing sequences.
#pragma once
#include "common.hpp"
#include "math.hpp"
