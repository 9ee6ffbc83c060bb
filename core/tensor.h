#pragma once

// Tensors, other values, and their types.

#include "core/tensor/attribute.h"
#include "core/tensor/dtype.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/shape.h"
#include "core/tensor/slice_value.h"
#include "core/tensor/storage.h"
#include "core/tensor/tensor.h"
#include "core/tensor/type_info.h"
#include "core/tensor/value.h"
