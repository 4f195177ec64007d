// Exact sums of x and x² per class and column, with and without weights, and Gaussians with a row left out.
#pragma once
#include "common.hpp"
#include "math.hpp"
