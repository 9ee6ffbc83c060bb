#pragma once

#include <cstdint>
#include <optional>

#include "core/tensor/type_info.h"

namespace sonde::io {

/// Height and width in pixels of the image that an input takes, as imageTensor() reads its shape; what that leaves open
/// is 224.
struct ImageSize {
    std::int64_t height = 224;
    std::int64_t width = 224;
};
/// Nothing: no image fits.
std::optional<ImageSize> imageSize(const tensor::TypeInfo& type);

}  // namespace sonde::io
