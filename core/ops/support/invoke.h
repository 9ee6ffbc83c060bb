#pragma once

#include <string_view>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// Calls another operator from a kernel: its newest row, with the defaults of the parameters that are not given.
base::Result<std::vector<Value>> invoke(KernelContext& context, std::string_view domain, std::string_view name,
                                        std::vector<Value> inputs, const Attributes& attributes = {},
                                        std::size_t outputs = 1);

/// The same for one tensor as result of an operator of domain aten.
base::Result<Tensor> invokeAten(KernelContext& context, std::string_view name, std::vector<Value> inputs);

/// Infers an output as another operator would. Leaves it open if that one cannot tell.
base::Result<void> inferAs(InferContext& context, std::string_view domain, std::string_view name,
                           std::initializer_list<Name> inputs);

}  // namespace sonde::ops
