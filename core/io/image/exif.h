#pragma once

#include <cstddef>
#include <span>

#include "core/tensor/picture/picture.h"

namespace sonde::io {

/// How a camera was held, as JPEG, PNG and WebP files tell it (Exif, tag 274): 1 to 8; 1 if the file does not say, or
/// something else.
int exifOrientation(std::span<const std::byte> file);

/// The picture with the orientation applied: of orientation 6 what is at the left of the file is at the top.
tensor::Picture oriented(tensor::Picture picture, int orientation);

}  // namespace sonde::io
