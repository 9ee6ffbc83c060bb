// A picture.

#include "core/session/outputs/forms.h"
#include "core/session/outputs/pixels.h"

namespace sonde::session::outputs {

namespace {

int suitsImage(const Facts& facts) {
    if (!facts.isFloat() && !facts.isInteger()) return kCannot;
    const auto shape = pictureShape(facts.tensor.shape());
    if (!shape || facts.stats.finiteCount() == 0) return kCannot;
    if (facts.isNamed({"mask", "seg", "logit", "class"})) return kAlways;
    if (facts.isNamed({"picture", "image", "img", "recon", "photo"})) return kVeryLikely + 1;
    if (facts.tensor.dtype() == tensor::DType::UInt8) return kVeryLikely;
    if (facts.isInteger()) return kUnlikely;
    // Of three dimensions the first may be anything.
    if (!shape->hasCount && !facts.pictureInput()) return kAlways + 1;
    return shape->channels == 4 ? kAlways + 1 : kLikely;
}

std::int64_t imageSamples(const Facts& facts) {
    const auto shape = pictureShape(facts.tensor.shape());
    return shape ? shape->count : 1;
}

base::Result<Made> makeImage(const FormRequest& request) {
    const PictureShape shape = *pictureShape(request.facts.tensor.shape());
    SONDE_ASSIGN(Pixels pixels,
                 pixelsOf(request.facts.tensor, shape, sampleOf(request, shape.count), request.facts.stats));
    Made made;
    if (shape.channels == 4) made.notes.emplace_back("the fourth channel is not shown");
    made.content = ImagePixels{
        std::move(pixels.picture), shape.width, shape.height, shape.channels, pixels.step, pixels.low, pixels.high};
    return made;
}

}  // namespace

Form imageForm() {
    return {.id = "image",
            .title = "Image",
            .description = "One or three channels as a picture",
            .suits = suitsImage,
            .make = makeImage,
            .usesSample = true,
            .samples = imageSamples};
}

}  // namespace sonde::session::outputs
