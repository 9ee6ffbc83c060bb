#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/io/image/image.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// A file that becomes the value of one input.
struct DataFile {
    std::string path;
    std::string part;  ///< what stands behind '#' in the item: "16000,0,512" of a recording; may be empty
    std::shared_ptr<const base::MappedFile> file;
};

/// One kind of file. A new kind is a file beside this one and a line in the table of data_files.cpp.
struct DataFileKind {
    std::string_view name;                   ///< "array", "image", "recording", "table", "text"
    std::string_view formats;                ///< as a person calls them: "WAV, FLAC, AIFF, Ogg"
    std::vector<std::string_view> suffixes;  ///< ".wav", in lower case
    bool isPicture = false;                  ///< read by the choices for pictures (ImageOptions)
    bool takesPart = false;                  ///< whether "#…" may follow the path
    bool needsPart = false;                  ///< a file of that name alone is no value
    /// Whether a file that begins with these bytes is one; null: only its suffix tells.
    bool (*isBegunBy)(std::span<const std::byte> head);
    /// The tensor, not yet converted to the input's dtype, and what a person should know of how it was found.
    base::Result<tensor::Tensor> (*read)(const DataFile& file, const InputInfo& input, const ImageOptions& options,
                                         std::string& note);
};

std::span<const DataFileKind> dataFileKinds();
/// By content where that tells, else by name; null: none of them.
const DataFileKind* dataFileKindOf(std::string_view path, std::span<const std::byte> head);
/// A kind of files that are values only with a part, by name; null: none of them.
const DataFileKind* partedFileKindOf(std::string_view path);
/// Whether files of that name are expected to give a value, an archive (.npz) included.
bool isNamedAsData(std::string_view path);
/// Every suffix of isNamedAsData(), ".npz" included.
std::vector<std::string_view> dataFileSuffixes();
/// "arrays: .npy, .npz, file.npz#key; images: PNG, …": for messages.
std::string dataFileFormats();

/// "speech.wav#16000" → "speech.wav", "16000"; the whole text is the path if there is such a file, or no kind that
/// takes a part.
std::pair<std::string, std::string> splitDataItem(std::string_view item);

// The kinds that are made in files of their own.
DataFileKind recordingKind();
DataFileKind tableKind();
DataFileKind textKind();

}  // namespace sonde::io
