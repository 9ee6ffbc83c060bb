#pragma once

// ONNX Runtime as another engine, for programs that embed the library. The helper program sonde-ort must be there.

#include "core/ort/helper.h"
#include "core/ort/reference.h"
#include "core/ort/target.h"
