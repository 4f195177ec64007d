// From UTF-8 bytes to words and n-grams: finding them, counting them by class, and looking them up.
#pragma once
#include "common.hpp"
#include "math.hpp"
