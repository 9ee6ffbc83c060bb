#pragma once

#include <string_view>
#include <vector>

#include "core/session/gradient/complex_form.h"

namespace sonde::session::gradient {

/// The operation in ONNX operators that have its derivative where it was done: what they compute may be another value,
/// as of exp(z) the tangent exp(z0)·z. What torch.autograd calls the gradient of a complex number, ∂L/∂re + i·∂L/∂im,
/// is that of its pair. One result for each output. Throws NoLowering: it has no form.
std::vector<graph::Argument> complexForm(const ComplexCall& call);
/// Whether an operator on real numbers has a form here alone: transforms whose parts are taken at once.
bool isComplexForm(std::string_view name);

}  // namespace sonde::session::gradient
