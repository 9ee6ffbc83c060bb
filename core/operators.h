#pragma once

// What each operator is, without kernels.

#include "core/operators/cost.h"
#include "core/operators/traits.h"
