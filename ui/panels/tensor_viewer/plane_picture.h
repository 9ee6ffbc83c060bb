#pragma once

#include <QImage>

#include "core/tensor/tensor.h"
#include "ui/theme/color_map.h"
#include "ui/widgets/value_scale.h"

namespace sonde::panels {

/// A small picture of a plane [rows, columns], at most 192 pixels on each side: every n-th element of a larger one. NaN
/// and infinite elements have their own colours.
QImage planePicture(const tensor::Tensor& plane, const widgets::ValueScale& scale, const theme::ColorMap& map);

}  // namespace sonde::panels
