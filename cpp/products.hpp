// Exact sums of xxᵀ by error-free slices, and linear scores of rows of numbers.
#pragma once
#include "common.hpp"
#include "math.hpp"
