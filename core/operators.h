#pragma once

// What each operator is, without kernels.

#include "core/operators/traits.h"
