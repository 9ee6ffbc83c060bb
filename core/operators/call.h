#pragma once

#include <span>
#include <string_view>

#include "core/tensor/attribute.h"

namespace sonde::operators {

/// One call of an operator, as far as it is known. Shapes may have symbols for dimensions.
struct Call {
    std::string_view domain, name;             ///< as for traitsOf()
    std::span<const tensor::TypeInfo> inputs;  ///< in the order of the schema; a tuple of types for a list of tensors
    std::span<const tensor::TypeInfo> outputs;
    std::span<const tensor::Value> constants;        ///< of the inputs, None where it is not known; may be shorter
    const tensor::Attributes* attributes = nullptr;  ///< of ONNX; null: none
};

}  // namespace sonde::operators
