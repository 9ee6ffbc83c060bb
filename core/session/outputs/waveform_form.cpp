// A signal over time.

#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

constexpr std::int64_t kMinSamples = 64, kMinLikelySamples = 256, kMaxChannels = 8;

/// [L], [C,L], [N,L] and [N,C,L].
int suitsWaveform(const Facts& facts) {
    if (!facts.isFloat() || facts.rank() < 1 || facts.rank() > 3 || facts.stats.count == 0) return kCannot;
    const std::int64_t length = facts.dim(-1);
    if (length < kMinSamples) return kCannot;
    if (facts.isNamed({"audio", "wave", "speech", "signal", "sound"})) return kVeryLikely + 6;
    if (facts.rank() == 3 && facts.dim(-2) > kMaxChannels) return kUnlikely;
    if (length < kMinLikelySamples) return kUnlikely;
    // A signal comes of a signal; parts of 1 do not swing.
    if (facts.signalInput() && facts.stats.minimum < 0) return kVeryLikely;
    return facts.rank() == 3 && facts.dim(-2) <= 2 && facts.stats.minimum < 0 && !facts.tokenInput() ? kLikely
                                                                                                     : kUnlikely;
}

std::int64_t waveformSamples(const Facts& facts) { return facts.rank() > 1 ? facts.tensor.dim(0) : 1; }

base::Result<Made> makeWaveform(const FormRequest& request) {
    const tensor::Tensor& tensor = request.facts.tensor;
    const std::int64_t length = request.facts.dim(-1), samples = waveformSamples(request.facts);
    const std::int64_t channels = tensor.numel() / (length * samples);
    SONDE_ASSIGN(const tensor::Tensor rows, tensor.reshaped(tensor::Shape{samples * channels, length}));
    SONDE_ASSIGN(const tensor::Tensor numbers,
                 rows.sliced(0, sampleOf(request, samples) * channels, channels).cast(tensor::DType::Float32));
    Waveform wave;
    SONDE_ASSIGN(wave.samples, numbers.contiguous());
    const analysis::TensorStats stats = analysis::tensorStats(wave.samples, request.stop);
    wave.low = stats.minimum;
    wave.high = stats.maximum;
    if (const InputFact* const from = request.facts.signalInput()) wave.rate = from->rate;
    return Made{std::move(wave)};
}

}  // namespace

Form waveformForm() {
    return {.id = "waveform",
            .title = "Waveform",
            .description = "A signal over time, a line for each channel",
            .suits = suitsWaveform,
            .make = makeWaveform,
            .usesSample = true,
            .samples = waveformSamples};
}

}  // namespace sonde::session::outputs
