#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/export/lowering/lowering.h"

namespace sonde::session::gradient {

/// An operator of PyTorch in ONNX operators, where the form of exports gives the same value but another gradient where
/// arguments are equal, at a limit, or padding; and where exports have no form because of their version. `name` has the
/// overload. Empty: the form of exports is right.
std::vector<graph::Argument> ownForm(exporting::LoweredCall& call, std::string_view name);

bool hasOwnForm(std::string_view name);

/// The operator of ONNX Runtime that is the same as one of PyTorch's, which neither ONNX nor exports have.
std::optional<graph::OpKey> sameOperator(const graph::Expr& expr);

/// Whether PyTorch lets no gradient through an operator that hands its argument on: detach(), .data.
bool stopsGradient(const graph::Expr& expr);

}  // namespace sonde::session::gradient
