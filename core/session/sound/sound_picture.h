#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::session {

/// What a recording looks like: how loud it is over time, and at which frequencies.
struct SoundPicture {
    std::int64_t samples = 0;
    std::int64_t channels = 1;  ///< or samples of a batch: the first one is shown
    int rate = 0;               ///< samples per second; 0: not known

    /// The lowest and the highest finite number of each of `columns` equal parts; 0 where there is none.
    std::vector<std::pair<float, float>> wave;

    /// Short-time Fourier transform under a Hann window: 20 log10 of the magnitude over the largest one, at least
    /// kFloor. [bins, columns]; bin k is the frequency k * rate / (2 * (bins - 1)).
    std::vector<float> decibels;
    std::int64_t columns = 0;
    std::int64_t bins = 0;

    static constexpr float kFloor = -80;
    static constexpr std::int64_t kMaxColumns = 4096;

    double seconds() const { return rate > 0 ? static_cast<double>(samples) / rate : 0; }
    float at(std::int64_t bin, std::int64_t column) const {
        return decibels[static_cast<std::size_t>(bin * columns + column)];
    }
};

/// Whether a value may be a sound: real numbers, of which the last of at most three axes has 256 to 2^25 samples, and
/// the others 16 rows in all.
bool mayBeSound(const tensor::Tensor& tensor);

/// Of a tensor whose last axis is time: [samples], [channels, samples], [batch, channels, samples]; the first row. Not
/// more than `columns` windows are looked at, which is at most kMaxColumns. Blocks, on any thread. Errors (Usage): no
/// numbers, no samples, a rank above 3; cancelled.
base::Result<SoundPicture> soundPicture(const tensor::Tensor& sound, int rate, std::int64_t columns,
                                        std::stop_token stop = {});

}  // namespace sonde::session
