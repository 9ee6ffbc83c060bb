#pragma once

// Models in the operators of others: ONNX and dumps; every option of an export.

#include "core/export/dump.h"
#include "core/export/export_choice.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/export/optimised_cases.h"
#include "core/export/plain_form.h"
#include "core/export/write_export.h"
