#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ort/c_api.h"
#include "core/tensor/tensor.h"

namespace sonde::ort {

/// What a function returned, which is released. Errors (Run): what ONNX Runtime says.
inline base::Result<void> check(const Api& api, Status* status) {
    if (!status) return {};
    const char* const text = api.errorMessage(status);
    base::Error error = base::runError(text ? text : "an error without a message");
    api.releaseStatus(status);
    return error;
}

struct TensorType {
    tensor::DType dtype = tensor::DType::Undefined;  ///< Undefined: one that Sonde does not have
    std::vector<std::int64_t> dims;                  ///< -1: open
};

inline tensor::DType dtypeOfNumber(int number) {
    return number > 0 && number < tensor::kDTypeCount ? static_cast<tensor::DType>(number) : tensor::DType::Undefined;
}

inline base::Result<TensorType> typeOf(const Api& api, const TypeAndShape* info) {
    int element = 0;
    std::size_t rank = 0;
    SONDE_TRY(check(api, api.elementType(info, &element)));
    SONDE_TRY(check(api, api.rank(info, &rank)));
    TensorType type{dtypeOfNumber(element), std::vector<std::int64_t>(rank)};
    SONDE_TRY(check(api, api.shape(info, type.dims.data(), rank)));
    return type;
}

}  // namespace sonde::ort
