#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor/dim_size_hint.h"
#include "core/tensor/type_info.h"

namespace sonde::analysis::requirement {

constexpr std::size_t kHighestRank = 16;
constexpr std::int64_t kMaxDimSize = std::int64_t{1}
                                     << 24;  ///< files may hold any number: guesses beyond this are none

/// What is wanted of one dimension.
struct DimSize {
    std::int64_t exact = -1;           ///< what it must be; -1: open
    std::int64_t low = -1, high = -1;  ///< what it likely is, one of low … high; -1: nothing tells
    std::int64_t least = 1;            ///< with fewer some layer has nothing to work on

    static DimSize of(std::int64_t exact);
    static DimSize likely(std::int64_t low, std::int64_t high);
    bool says() const { return exact >= 0 || low >= 0 || least > 1; }
    /// The only number that is wanted, or likely; -1: there is none.
    std::int64_t number() const { return exact >= 0 ? exact : low == high ? low : -1; }
    /// The same without "must".
    DimSize softened() const;
    /// What was there first stays: a model that wants two things at once cannot be run anyway. Ranges that overlap are
    /// cut.
    void add(const DimSize& more);
    /// Of a range the number that can be halved most often: networks halve their pictures.
    tensor::DimSizeHint hint() const;
};

/// What is wanted of one value.
struct Requirement {
    tensor::DType dtype = tensor::DType::Undefined;
    std::optional<std::size_t> rank;
    std::size_t usualRank = 0;                               ///< where the rank is not said; 0: nothing tells
    std::size_t leastRank = 0, mostRank = kHighestRank + 1;  ///< what the rank may be where it is not said
    std::vector<DimSize> front, back;                        ///< by axis; counted from the last one

    void put(std::int64_t axis, const DimSize& dimSize);  ///< by an axis that may count from the end
    void add(const Requirement& more);
    DimSize at(std::int64_t axis) const;    ///< both ways of counting, if the rank is known
    std::vector<DimSize> dimSizes() const;  ///< all from the front; of a requirement with a rank
    /// Of a value with `more` dimensions more, without its dimensions.
    Requirement rankShifted(int more) const;
    Requirement withoutType() const;
    std::vector<tensor::Dim> dims() const;  ///< what must be; of a requirement with a rank
    /// Hints for all dimensions; empty if the rank is not told or the tensor would be absurdly large.
    tensor::DimSizeHints hints() const;
};

/// What holds if either is wanted.
Requirement common(const Requirement& a, const Requirement& b);

/// A window that slides along one axis: y = ⌊(x + 2 padding − dilation (kernel − 1) − 1) / stride⌋ + 1.
struct Window {
    std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
};
/// x of a y.
DimSize beforeWindow(const DimSize& y, const Window& window);
/// x of y = (x − 1) stride − 2 padding + dilation (kernel − 1) + outputPadding + 1.
DimSize beforeTransposedWindow(const DimSize& y, const Window& window, std::int64_t outputPadding);

}  // namespace sonde::analysis::requirement
