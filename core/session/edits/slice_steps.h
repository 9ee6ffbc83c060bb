#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::session {

/// What a slice does to one axis: takes an index, which ends the axis, or every `step`-th position from `start` to
/// before `end`. Negative numbers count from the end; as ONNX's Slice has them, ends beyond the axis are its ends.
struct SliceStep {
    static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

    bool isIndex = false;
    std::int64_t start = 0, end = kEnd, step = 1;

    bool isAll() const { return !isIndex && start == 0 && end == kEnd && step == 1; }
};

struct SliceSteps {
    std::vector<SliceStep> axes;  ///< one for each of the tensor

    std::size_t rank() const;  ///< of what is left
};

/// Nothing if the slice is made of more than integers, ranges of them and an ellipsis, or of more than there are axes.
std::optional<SliceSteps> stepsOf(std::string_view slice, std::size_t rank);

}  // namespace sonde::session
