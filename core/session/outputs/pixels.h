#pragma once

#include "core/session/outputs/facts.h"
#include "core/tensor/picture/picture.h"

namespace sonde::session::outputs {

/// A picture of a tensor, and how it was made.
struct Pixels {
    tensor::Picture picture;
    double low = 0, high = 1;  ///< what is black and what is white
    std::int64_t step = 1;     ///< every `step`th pixel of each row and column was taken, for at most kMaxPixels
};

/// Sample `index` of a contiguous tensor that is pictures. Of one channel grey, of three red first; a fourth is left
/// out. Black and white are 0 and 1, 0 and 255 or -1 and 1, the first range that all finite elements are in, else their
/// minimum and maximum. NaN is black. `stats` are those of the tensor.
base::Result<Pixels> pixelsOf(const tensor::Tensor& tensor, const PictureShape& shape, std::int64_t index,
                              const analysis::TensorStats& stats);

/// What an input shows: the conversion by which an image file became its numbers is undone. Without one, pixelsOf().
base::Result<Pixels> inputPixels(const InputFact& input, std::int64_t index);

}  // namespace sonde::session::outputs
