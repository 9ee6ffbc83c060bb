#include "core/session/sound/sound_picture.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>

#include "core/ops/kernels/fourier.h"

namespace sonde::session {

namespace {

using base::Result;
using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kMinWindow = 64, kMaxWindow = 4096;

/// About 32 ms, as speech is looked at, in a power of two; not more than there is.
std::int64_t windowFor(int rate, std::int64_t samples) {
    const std::int64_t wanted = rate > 0 ? std::max<std::int64_t>(rate / 31, kMinWindow) : 512;
    std::int64_t window = kMinWindow;
    while (2 * window <= std::min(wanted, kMaxWindow) && 2 * window <= samples) window *= 2;
    return window;
}

std::vector<std::pair<float, float>> waveOf(std::span<const float> sound, std::int64_t columns) {
    std::vector<std::pair<float, float>> wave;
    const auto samples = static_cast<std::int64_t>(sound.size());
    const std::int64_t count = std::min(columns, samples);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t begin = samples * i / count, end = std::max(begin + 1, samples * (i + 1) / count);
        const auto part = sound.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (const float sample : part) {
            if (!std::isfinite(sample)) continue;
            low = std::min(low, sample);
            high = std::max(high, sample);
        }
        if (low > high) low = high = 0;
        wave.emplace_back(low, high);
    }
    return wave;
}

/// Magnitudes of one window; samples beyond the end are silence.
class Windows {
  public:
    explicit Windows(std::int64_t length)
        : m_transform(length), m_weights(static_cast<std::size_t>(length)), m_in(m_weights.size()),
          m_out(m_weights.size() / 2 + 1) {
        for (std::size_t i = 0; i < m_weights.size(); ++i)
            m_weights[i] = static_cast<float>(
                0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length)));
    }
    std::size_t bins() const { return m_out.size(); }
    std::span<const std::complex<float>> at(std::span<const float> sound, std::size_t begin) {
        for (std::size_t i = 0; i < m_in.size(); ++i) {
            const float sample = begin + i < sound.size() ? sound[begin + i] : 0;
            m_in[i] = std::isfinite(sample) ? sample * m_weights[i] : 0;
        }
        m_transform.forwardReal(m_in.data(), m_out.data());
        return m_out;
    }

  private:
    ops::kernels::FourierTransform<float> m_transform;
    std::vector<float> m_weights, m_in;
    std::vector<std::complex<float>> m_out;
};

Result<void> addSpectrogram(SoundPicture& picture, std::span<const float> sound, std::int64_t columns,
                            const std::stop_token& stop) {
    const std::int64_t length = windowFor(picture.rate, picture.samples);
    Windows windows(length);
    const std::int64_t beyond = std::max<std::int64_t>(picture.samples - length, 0);
    picture.bins = static_cast<std::int64_t>(windows.bins());
    picture.columns = std::clamp<std::int64_t>(4 * beyond / length + 1, 1, columns);
    picture.decibels.resize(static_cast<std::size_t>(picture.bins * picture.columns));
    float largest = 0;
    for (std::int64_t column = 0; column < picture.columns; ++column) {
        if (stop.stop_requested()) return base::cancelled();
        const std::int64_t begin = picture.columns > 1 ? beyond * column / (picture.columns - 1) : 0;
        const auto bins = windows.at(sound, static_cast<std::size_t>(begin));
        for (std::size_t bin = 0; bin < bins.size(); ++bin) {
            const float magnitude = std::abs(bins[bin]);
            picture.decibels[bin * static_cast<std::size_t>(picture.columns) + static_cast<std::size_t>(column)] =
                magnitude;
            largest = std::max(largest, magnitude);
        }
    }
    for (float& one : picture.decibels)
        one = one > 0 && largest > 0 ? std::max(20 * std::log10(one / largest), SoundPicture::kFloor)
                                     : SoundPicture::kFloor;
    return {};
}

}  // namespace

bool mayBeSound(const Tensor& tensor) {
    constexpr std::int64_t kMinSamples = 256, kMaxSamples = std::int64_t{1} << 25, kMaxRows = 16;
    if (!tensor.defined() || !(tensor::isFloating(tensor.dtype()) || tensor::isInteger(tensor.dtype()))) return false;
    if (tensor.rank() < 1 || tensor.rank() > 3 || tensor.numel() == 0) return false;
    const std::int64_t samples = tensor.dim(tensor.rank() - 1);
    return samples >= kMinSamples && samples <= kMaxSamples && tensor.numel() / samples <= kMaxRows;
}

Result<SoundPicture> soundPicture(const Tensor& sound, int rate, std::int64_t columns, std::stop_token stop) {
    const bool isReal = tensor::isFloating(sound.dtype()) || tensor::isInteger(sound.dtype());
    if (!isReal || sound.rank() < 1 || sound.rank() > 3 || sound.numel() == 0)
        return base::usageError("the value is no recording", {},
                                "a recording is [samples], [channels,samples] or "
                                "[batch,channels,samples]");
    SoundPicture picture;
    picture.samples = sound.shape()[sound.rank() - 1];
    picture.channels = sound.numel() / picture.samples;
    picture.rate = std::max(rate, 0);
    SONDE_ASSIGN(const Tensor rows, sound.reshaped(tensor::Shape{picture.channels, picture.samples}));
    SONDE_ASSIGN(const Tensor floats, rows.sliced(0, 0, 1).cast(DType::Float32));
    std::vector<float> samples(static_cast<std::size_t>(picture.samples));
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<float>(floats.toDouble(static_cast<std::int64_t>(i)));
    const std::int64_t most = std::clamp<std::int64_t>(columns, 1, SoundPicture::kMaxColumns);
    picture.wave = waveOf(samples, most);
    SONDE_TRY(addSpectrogram(picture, samples, most, stop));
    return picture;
}

}  // namespace sonde::session
