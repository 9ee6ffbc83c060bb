#include "core/document/unknown_file.h"

#include <array>
#include <cstring>
#include <string_view>

#include "core/document/formats.h"

namespace sonde::document {

namespace {

/// A kind of file by the bytes that it begins with (at an offset).
struct Signature {
    std::size_t offset;
    std::string_view bytes;
    std::string_view what;
    std::string_view hint;
};

constexpr std::string_view kGiveAsInput = "use it as input: sonde run MODEL --input-data FILE";
constexpr std::string_view kConvert = "convert it to ONNX or TorchScript";

constexpr std::array kSignatures{
    Signature{0, "version https://git-lfs", "a pointer to a file in Git LFS, not the file itself",
              "fetch it with `git lfs pull`"},
    Signature{0, "\x89HDF\r\n\x1a\n", "an HDF5 file, perhaps of Keras", kConvert},
    Signature{4, "TFL3", "a TensorFlow Lite model", kConvert},
    Signature{0, "GGUF", "a GGUF file", kConvert},
    Signature{0, "\x93NUMPY", "a numpy array", kGiveAsInput},
    Signature{0, "\x89PNG", "a PNG image", kGiveAsInput},
    Signature{0, "\xff\xd8\xff", "a JPEG image", kGiveAsInput},
    Signature{0, "\x80\x02", "a Python pickle (an old PyTorch file?)",
              "pickles are never executed; save it with torch.jit.save"},
    Signature{0, "\x80\x04", "a Python pickle", "pickles are never executed; save the model with torch.jit.save"},
    Signature{0, "PK\x03\x04", "a zip archive without a known model",
              "a TorchScript archive is made with torch.jit.save; a .npz file is an input"},
    Signature{0, "\x1f\x8b", "a gzip archive", "unpack it first"},
    Signature{0,
              "\x7f"
              "ELF",
              "a program or library", "a library with a model of your own needs SONDE_MODEL in it"},
    Signature{0, "%PDF", "a PDF document", ""},
    Signature{0, "<!DOCTYPE", "a web page, perhaps of a download that failed", "download the model again"},
    Signature{0, "<html", "a web page, perhaps of a download that failed", "download the model again"},
    Signature{0, "mgbtest0", "a MegEngine test file", kConvert},
};

/// safetensors begins with the length of a JSON header.
bool looksLikeSafetensors(std::span<const std::byte> head, std::size_t sizeBytes) {
    if (head.size() < 9) return false;
    std::uint64_t length = 0;
    std::memcpy(&length, head.data(), 8);
    return length < sizeBytes && std::to_integer<char>(head[8]) == '{';
}

bool looksLikeText(std::span<const std::byte> head) {
    for (std::byte byte : head) {
        const int c = std::to_integer<int>(byte);
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t') return false;
    }
    return true;
}

}  // namespace

base::Error unknownFile(const std::filesystem::path& path, std::span<const std::byte> head, std::size_t sizeBytes) {
    const auto error = [&path](std::string_view what, std::string_view hint) {
        return base::unreadable("this is not a model that Sonde knows; it looks like " + std::string(what),
                                path.string(), std::string(hint));
    };
    if (sizeBytes == 0) return base::unreadable("the file is empty", path.string(), "download or export it again");
    for (const Signature& signature : kSignatures) {
        if (head.size() < signature.offset + signature.bytes.size()) continue;
        if (std::memcmp(head.data() + signature.offset, signature.bytes.data(), signature.bytes.size()) == 0) {
            return error(signature.what, signature.hint);
        }
    }
    if (looksLikeSafetensors(head, sizeBytes))
        return error("safetensors: weights without a model", "open the model that they belong to");
    if (looksLikeText(head)) return error("text", "");
    std::string known;
    for (const Format& format : formats()) {
        if (format.recognises) known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    return base::unreadable("this is not a model that Sonde knows", path.string(), "formats: " + known);
}

}  // namespace sonde::document
