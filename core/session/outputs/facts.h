#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "core/tensor/value.h"

namespace sonde::session::outputs {

/// Which axes of a tensor are those of pictures: [N,C,H,W], [N,H,W,C] or three dimensions without N; C is 1, 3 or 4.
struct PictureShape {
    std::int64_t count = 1, channels = 1, height = 0, width = 0;
    bool isChannelsFirst = true;
    bool hasCount = true;  ///< four dimensions
};
/// None if height or width is below 8, or no dimension can be that of channels.
std::optional<PictureShape> pictureShape(const tensor::Shape& shape);

/// What an input of the run was.
struct InputFact {
    std::string name;
    tensor::Tensor tensor;  ///< undefined: no tensor
    std::string preset;     ///< of an image file: id of io::imagePresets(); empty: it was none
    std::int64_t rate = 0;  ///< of a recording, samples a second; 0: not known
};

/// All that is known of an output when a form is chosen for it.
struct Facts {
    std::string name;
    tensor::Value value;
    tensor::Tensor tensor;        ///< contiguous; undefined: the value is no tensor
    analysis::TensorStats stats;  ///< of the tensor
    std::vector<InputFact> inputs;
    std::vector<std::pair<std::string, tensor::Value>> outputs;  ///< of the same run, this one among them

    bool isFloat() const { return tensor.defined() && tensor::isFloating(tensor.dtype()); }
    bool isInteger() const { return tensor.defined() && tensor::isInteger(tensor.dtype()); }
    std::size_t rank() const { return tensor.rank(); }
    /// Of the last dimensions: dim(-1).
    std::int64_t dim(int axis) const;
    bool isWithin(double low, double high) const;  ///< all elements are finite and from low to high
    /// Whether the output's name has one of these words in it, in any case.
    bool isNamed(std::initializer_list<std::string_view> words) const;
    /// Of the model's first tensor input with a dimension; 1 without one.
    std::int64_t batch() const;
    /// The first input that is a picture; null: none is.
    const InputFact* pictureInput() const;
    /// The first of integers with at most two dimensions: token ids.
    const InputFact* tokenInput() const;
    /// The first of floats that is a row of at least 256 numbers, with dimensions of 1 around it.
    const InputFact* signalInput() const;
};

/// The row of numbers of one sample: of [C], [N,C], [N,C,1,1] the C, else none.
std::optional<std::int64_t> rowLength(const tensor::Shape& shape);

}  // namespace sonde::session::outputs
