// The class of each pixel, over the input picture.

#include <algorithm>
#include <array>
#include <map>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/session/outputs/forms.h"
#include "core/session/outputs/pixels.h"

namespace sonde::session::outputs {

namespace {

constexpr std::int64_t kMinMaskSide = 8, kMaxMaskClasses = 1'000;

/// [N,K,H,W] or [N,H,W,K] of numbers for each class, or [N,H,W] with the class; N may be missing.
struct MaskShape {
    std::int64_t count = 1, channels = 1, height = 0, width = 0;
    bool isChannelsFirst = true;

    std::int64_t index(std::int64_t sample, std::int64_t row, std::int64_t column, std::int64_t channel) const {
        return isChannelsFirst ? ((sample * channels + channel) * height + row) * width + column
                               : ((sample * height + row) * width + column) * channels + channel;
    }
};

bool isSide(std::int64_t size) { return size >= kMinMaskSide; }

std::optional<MaskShape> maskShape(const Facts& facts) {
    const std::vector<std::int64_t>& dims = facts.tensor.shape().dims();
    const bool isMap = facts.isInteger() || facts.tensor.dtype() == tensor::DType::Bool;
    if (isMap && dims.size() == 2 && isSide(dims[0]) && isSide(dims[1])) return MaskShape{1, 1, dims[0], dims[1]};
    if (dims.size() == 3 && isMap && isSide(dims[1]) && isSide(dims[2])) return MaskShape{dims[0], 1, dims[1], dims[2]};
    if (dims.size() == 3 && isSide(dims[1]) && isSide(dims[2])) return MaskShape{1, dims[0], dims[1], dims[2]};
    if (dims.size() != 4) return std::nullopt;
    if (isSide(dims[2]) && isSide(dims[3])) return MaskShape{dims[0], dims[1], dims[2], dims[3]};
    if (isSide(dims[1]) && isSide(dims[2])) return MaskShape{dims[0], dims[3], dims[1], dims[2], false};
    return std::nullopt;
}

int suitsMasks(const Facts& facts) {
    const bool isMap = facts.isInteger() || (facts.tensor.defined() && facts.tensor.dtype() == tensor::DType::Bool);
    if (!facts.tensor.defined() || (!facts.isFloat() && !isMap) || facts.stats.count == 0) return kCannot;
    const auto shape = maskShape(facts);
    if (!shape || shape->count < 1 || shape->channels < 1 || shape->channels > kMaxMaskClasses) return kCannot;
    if (isMap && (shape->channels != 1 || facts.stats.minimum < 0 || facts.stats.maximum >= Masks::kNone))
        return kCannot;
    if (facts.isNamed({"mask", "seg"})) return kVeryLikely + 4;
    const InputFact* const input = facts.pictureInput();
    const auto picture = input ? pictureShape(input->tensor.shape()) : std::nullopt;
    // As large as the picture, or a part of it: what a network of convolutions has inside is smaller and deeper.
    const bool isOfPicture = picture && picture->height == shape->height && picture->width == shape->width;
    if (facts.isNamed({"image", "img", "recon", "feature", "hidden"}) || !isOfPicture) return kUnlikely;
    if (isMap) return facts.tensor.dtype() == tensor::DType::UInt8 && facts.stats.maximum > 100 ? kAlways : kVeryLikely;
    if (shape->channels == picture->channels) {
        // As many classes as the picture has channels: numbers beyond those of a picture are no picture.
        const bool isPicture = shape->channels == 1 || facts.isWithin(-1.01, 1.01) || facts.isWithin(0, 255);
        if (facts.isNamed({"logit", "class", "prob"})) return kVeryLikely;
        return isPicture ? kUnlikely : kLikely + 2;
    }
    return shape->channels == 1 && !facts.isWithin(0, 1) ? kAlways + 1 : kVeryLikely;
}

std::int64_t maskSamples(const Facts& facts) {
    const auto shape = maskShape(facts);
    return shape ? shape->count : 1;
}

/// What decides which class a pixel has.
class PixelClasses {
  public:
    PixelClasses(const Facts& facts, const MaskShape& shape, std::int64_t sample)
        : m_tensor(facts.tensor), m_shape(shape), m_sample(sample), m_isMap(!facts.isFloat()),
          m_border(facts.isWithin(0, 1) ? 0.5 : 0) {}

    std::string rule() const {
        if (m_isMap) return "the class is the value";
        if (m_shape.channels > 1) return "largest of " + std::to_string(m_shape.channels) + " channels";
        return "value above " + base::roundedText(m_border, 2);
    }
    std::int64_t classCount() const { return m_isMap ? 0 : m_shape.channels; }

    std::uint16_t at(std::int64_t row, std::int64_t column) const {
        if (m_isMap) return static_cast<std::uint16_t>(m_tensor.toInt64(m_shape.index(m_sample, row, column, 0)));
        if (m_shape.channels == 1)
            return m_tensor.toDouble(m_shape.index(m_sample, row, column, 0)) > m_border ? std::uint16_t{0}
                                                                                         : Masks::kNone;
        std::uint16_t best = Masks::kNone;
        double most = 0;
        for (std::int64_t channel = 0; channel < m_shape.channels; ++channel) {
            const double value = m_tensor.toDouble(m_shape.index(m_sample, row, column, channel));
            if (value == value && (best == Masks::kNone || value > most))
                best = static_cast<std::uint16_t>(channel), most = value;
        }
        return best;
    }

  private:
    const tensor::Tensor& m_tensor;
    const MaskShape& m_shape;
    std::int64_t m_sample;
    bool m_isMap;
    double m_border;
};

base::Result<Made> makeMasks(const FormRequest& request) {
    const MaskShape shape = *maskShape(request.facts);
    const std::int64_t sample = sampleOf(request, shape.count);
    const PixelClasses pixels(request.facts, shape, sample);
    Masks masks;
    masks.width = shape.width;
    masks.height = shape.height;
    masks.rule = pixels.rule();
    masks.classCount = pixels.classCount();
    while ((shape.width / masks.step) * (shape.height / masks.step) > kMaxPixels) ++masks.step;
    std::map<std::uint16_t, std::int64_t> counts;
    std::int64_t without = 0;
    for (std::int64_t row = 0; row < shape.height; row += masks.step) {
        if (request.stop.stop_requested()) return base::cancelled();
        for (std::int64_t column = 0; column < shape.width; column += masks.step) {
            const std::uint16_t found = pixels.at(row, column);
            masks.classes.push_back(found);
            if (found != Masks::kNone) ++counts[found];
            else ++without;
        }
        ++masks.rows;
    }
    masks.columns = static_cast<int>((shape.width + masks.step - 1) / masks.step);
    for (const auto& [index, count] : counts)
        masks.parts.push_back(
            {index, labelOf(request, index), static_cast<double>(count) / static_cast<double>(masks.classes.size())});
    std::ranges::stable_sort(masks.parts, std::ranges::greater{}, &Masks::Part::share);
    Made made;
    if (without > 0 && shape.channels > 1)
        made.notes.push_back(base::countText(without) + " of " +
                             base::countText(static_cast<std::int64_t>(masks.classes.size())) +
                             " pixels are NaN in all channels: they have no class");
    if (const InputFact* const input = request.facts.pictureInput()) {
        SONDE_ASSIGN(Pixels under, inputPixels(*input, sample));
        masks.under = std::move(under.picture);
    }
    const auto names = static_cast<std::int64_t>(request.labels ? request.labels->size() : 0);
    if (names > 0 && masks.classCount > 1 && names != masks.classCount)
        made.notes.push_back("the labels file has " + std::to_string(names) + " names for " +
                             std::to_string(masks.classCount) + " classes");
    made.content = std::move(masks);
    return made;
}

}  // namespace

Form masksForm() {
    return {.id = "masks",
            .title = "Masks",
            .description = "The class of each pixel, over the input picture",
            .suits = suitsMasks,
            .make = makeMasks,
            .usesLabels = true,
            .usesSample = true,
            .samples = maskSamples};
}

}  // namespace sonde::session::outputs
