#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/picture/picture.h"
#include "core/tensor/type_info.h"

namespace sonde::io {

using Image = tensor::Picture;

/// How a picture becomes numbers. The defaults are those of a dump (input-data.md, "Images"): blue first, 0 to 255.
/// Channel c of the picture becomes (pixel * scale - mean[c]) / deviation[c], c in the order of the tensor's channels.
struct ImageOptions {
    bool resize = true;  ///< to the input's height and width (bilinear); false: a picture of another size is an error
    bool rgb = false;    ///< red first; false: blue first
    double scale = 1;
    std::array<double, 3> mean{0, 0, 0};
    std::array<double, 3> deviation{1, 1, 1};
};

/// Named settings: "bgr" (0 to 255, blue first), "rgb", "unit" (red first, 0 to 1), "imagenet" (red first, 0 to 1, less
/// the mean of ImageNet and by its deviation, as torchvision's models want), "signed" (blue first, -1 to 1).
struct ImagePreset {
    std::string_view id;
    std::string_view description;
    ImageOptions options;
};
std::span<const ImagePreset> imagePresets();
const ImagePreset* findImagePreset(std::string_view id);

/// JPEG, PNG, BMP, GIF, PSD, PNM, WebP, TIFF, JPEG 2000. Error for anything else and for more than 2^28 pixels.
base::Result<Image> readImage(const std::filesystem::path& path);
/// True if the beginning of a file is that of a picture that readImage knows.
bool looksLikeImage(std::span<const std::byte> head);

/// Bilinear with half-pixel centres, without smoothing when it gets smaller.
Image resized(const Image& image, int width, int height);

/// The image as a tensor for an input (input-data.md, "Images"): [N,C,H,W] if dimension 1 is 1 or 3, else [N,H,W,C] if
/// dimension 3 is; three dimensions lack N. What is not known of the shape follows the picture. One channel takes the
/// luminance. Errors (Usage): the shape fits no picture; a number that the dtype of the input cannot represent, as what
/// "imagenet" makes for uint8.
base::Result<tensor::Tensor> imageTensor(const Image& image, const tensor::TypeInfo& type, const ImageOptions& options);

}  // namespace sonde::io
