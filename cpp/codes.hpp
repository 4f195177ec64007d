// Categorical codes: contingency tables, log likelihoods, information, averaged one-dependence, and losses of attributes.
#pragma once
#include "common.hpp"
#include "math.hpp"
