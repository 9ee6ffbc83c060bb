#pragma once

#include <string>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::io::script {

/// The tensor's elements lie one after the other in the order of its dimensions, as far as that is known without
/// running: a reshape of it is a view then, and contiguous() the tensor itself.
bool isDense(const ScriptValue& value);
/// The operator gives such a tensor for these arguments: tensors made anew, element-wise functions of dense tensors,
/// parts of dense ones that leave nothing out in between. Where PyTorch's result may have other strides the answer is
/// no.
bool givesDense(const std::string& op, const std::vector<ScriptValue>& arguments);

}  // namespace sonde::io::script
