#pragma once

// Models in the operators of others: ONNX and dumps.

#include "core/export/dump.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/export/optimised_cases.h"
#include "core/export/plain_form.h"
