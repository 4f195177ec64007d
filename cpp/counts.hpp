// Matrices of counts, sparse and dense: sums per class, log likelihoods; and the cross-entropy solver's products.
#pragma once
#include "common.hpp"
#include "math.hpp"
