// Vocabularies in canonical order: sorting, uniting and adding what was counted.
#pragma once
#include "common.hpp"
#include "math.hpp"
