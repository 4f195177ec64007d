// Rows of a Bayesian network: missing nodes summed out, and expected counts.
#pragma once
#include "common.hpp"
#include "math.hpp"
