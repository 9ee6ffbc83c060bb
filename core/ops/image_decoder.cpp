// ImageDecoder. https://onnx.ai/onnx/operators/onnx__ImageDecoder.html

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/picture/picture.h"

namespace sonde::ops {

namespace {

/// y [H,W,3] of RGB or BGR, [H,W,1] of Grayscale: the luminance (299·R + 587·G + 114·B) / 1000 of ITU-R BT.601, in the
/// fixed point of the specification's own decoder.
base::Result<void> decode(KernelContext& context) {
    const Tensor& x = context.in("encoded_stream");
    if (x.rank() != 1) return opError("needs the bytes of a file, uint8[N], not " + x.typeText());
    const std::string format = context.attributes().getString("pixel_format", "RGB");
    const bool isGrey = format == "Grayscale", isBgr = format == "BGR";
    if (!isGrey && !isBgr && format != "RGB") return opError("pixel_format '" + format + "' is not supported");
    auto decoded = tensor::decodePicture({x.bytes(), static_cast<std::size_t>(x.numel())});
    if (!decoded) return base::runError(decoded.error().what, {}, decoded.error().hint);
    const tensor::Picture picture = std::move(*decoded);
    SONDE_ASSIGN(Tensor y, context.output(DType::UInt8, Shape{picture.height, picture.width, isGrey ? 1 : 3}));
    std::uint8_t* out = y.mutableData<std::uint8_t>();
    for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
        const std::uint8_t* rgb = picture.rgb.data() + i;
        if (isGrey) {
            *out++ = static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
        } else {
            for (std::size_t c = 0; c < 3; ++c) *out++ = rgb[isBgr ? 2 - c : c];
        }
    }
    return {};
}

base::Result<void> inferPicture(InferContext& context) {
    const bool isGrey = context.attributes().getString("pixel_format", "RGB") == "Grayscale";
    context.set(TypeInfo::tensor(DType::UInt8, Dims{Dim{}, Dim{}, Dim::of(isGrey ? 1 : 3)}));
    return {};
}

}  // namespace

void define_image_decoder(Registry& registry) {
    registry.add(Row("ImageDecoder", 20, "Pixels of an encoded image (JPEG, PNG, BMP, WebP, TIFF, PNM, JPEG 2000)",
                     Category::Data)
                     .in("encoded_stream", bit(DType::UInt8))
                     .out("image")
                     .attrString("pixel_format", "RGB")
                     .runs(decode, inferPicture));
}

}  // namespace sonde::ops
