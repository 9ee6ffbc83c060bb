#pragma once

// The registry of operators: schemas, inference and kernels.

#include "core/ops/registry/registry.h"
