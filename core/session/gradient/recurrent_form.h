#pragma once

#include "core/export/lowering/lowering.h"

namespace sonde::session::gradient {

/// LSTM of PyTorch with projections (proj_size), which ONNX's has not, step by step in ONNX operators. Empty if the
/// call has none.
std::vector<graph::Argument> projectedLstm(exporting::LoweredCall& call);

}  // namespace sonde::session::gradient
