#pragma once

// The expression language over tensors.

#include "core/expression/expression.h"
