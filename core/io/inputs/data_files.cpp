#include "core/io/inputs/data_files.h"

#include <algorithm>
#include <filesystem>

#include "core/io/inputs/npz_inputs.h"
#include "core/io/npz/npy.h"

namespace sonde::io {

namespace {

using base::Result;
using tensor::Tensor;

Result<Tensor> readArray(const DataFile& file, const InputInfo& input, const ImageOptions&, std::string& note) {
    SONDE_ASSIGN(Tensor tensor, readNpy(file.file->bytes(), file.file, file.path));
    note = conversionNote(file.path.substr(file.path.find_last_of("/\\") + 1), tensor.dtype(), input);
    return tensor;
}

Result<Tensor> readPicture(const DataFile& file, const InputInfo& input, const ImageOptions& options, std::string&) {
    SONDE_ASSIGN(const Image image, readImage(file.path));
    auto pixels = imageTensor(image, input.type, options);
    if (!pixels) return std::move(pixels).error().at("input '" + input.name + "': " + file.path);
    return std::move(*pixels);
}

DataFileKind arrayKind() {
    DataFileKind kind;
    kind.name = "array";
    kind.formats = ".npy, .npz, file.npz#key";
    kind.suffixes = {".npy"};
    kind.isBegunBy = looksLikeNpy;
    kind.read = readArray;
    return kind;
}

DataFileKind imageKind() {
    DataFileKind kind;
    kind.name = "image";
    kind.formats = "PNG, JPEG, WebP, TIFF, BMP, GIF, PNM";
    kind.suffixes = {".png", ".jpg", ".jpeg", ".bmp",  ".gif", ".tga",  ".psd",
                     ".ppm", ".pgm", ".pnm",  ".webp", ".tif", ".tiff", ".jp2"};
    kind.isPicture = true;
    kind.isBegunBy = looksLikeImage;
    kind.read = readPicture;
    return kind;
}

std::string suffixOf(std::string_view path) {
    std::string suffix = std::filesystem::path(path).extension().string();
    for (char& c : suffix)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return suffix;
}

const DataFileKind* kindBySuffix(std::string_view path) {
    const std::string suffix = suffixOf(path);
    for (const DataFileKind& kind : dataFileKinds())
        if (std::ranges::find(kind.suffixes, suffix) != kind.suffixes.end()) return &kind;
    return nullptr;
}

}  // namespace

std::span<const DataFileKind> dataFileKinds() {
    static const std::vector<DataFileKind> kinds{arrayKind(), imageKind(), recordingKind(), tableKind(), textKind()};
    return kinds;
}

const DataFileKind* dataFileKindOf(std::string_view path, std::span<const std::byte> head) {
    for (const DataFileKind& kind : dataFileKinds())
        if (kind.isBegunBy && kind.isBegunBy(head)) return &kind;
    const DataFileKind* const kind = kindBySuffix(path);
    return kind && !kind->needsPart ? kind : nullptr;
}

const DataFileKind* partedFileKindOf(std::string_view path) {
    const DataFileKind* const kind = kindBySuffix(path);
    return kind && kind->needsPart ? kind : nullptr;
}

bool isNamedAsData(std::string_view path) {
    const DataFileKind* const kind = kindBySuffix(path);
    return suffixOf(path) == ".npz" || (kind && !kind->needsPart);
}

std::vector<std::string_view> dataFileSuffixes() {
    std::vector<std::string_view> suffixes{".npz"};
    for (const DataFileKind& kind : dataFileKinds())
        if (!kind.needsPart) suffixes.insert(suffixes.end(), kind.suffixes.begin(), kind.suffixes.end());
    return suffixes;
}

std::string dataFileFormats() {
    std::string text;
    for (const DataFileKind& kind : dataFileKinds()) {
        text += text.empty() ? "" : "; ";
        text += std::string(kind.name) + "s: " + std::string(kind.formats);
    }
    return text;
}

std::pair<std::string, std::string> splitDataItem(std::string_view item) {
    const std::size_t hash = item.rfind('#');
    std::error_code ignored;
    if (hash == std::string_view::npos || std::filesystem::exists(item, ignored)) return {std::string(item), {}};
    const std::string_view path = item.substr(0, hash);
    const DataFileKind* kind = kindBySuffix(path);
    if (!kind || !kind->takesPart) return {std::string(item), {}};
    return {std::string(path), std::string(item.substr(hash + 1))};
}

}  // namespace sonde::io
