// Log densities of numbers (Gaussians, tabulated curves), posteriors, histograms, mixtures, and the bootstrap.
#pragma once
#include "common.hpp"
#include "math.hpp"
