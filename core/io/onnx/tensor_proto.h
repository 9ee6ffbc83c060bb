#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/io/onnx/wire.h"
#include "core/tensor/tensor.h"

namespace sonde::io::onnx {

/// Makes tensors of TensorProto messages. Raw data is used in place if it is aligned for its type; everything else is
/// copied. Data files beside the model are mapped once each.
class TensorReader {
  public:
    TensorReader(Wire& wire, std::shared_ptr<const base::MappedFile> model);

    /// Errors name the tensor and its byte offset. Nothing is allocated that the file does not hold the bytes of.
    base::Result<tensor::Tensor> read(Bytes message);
    /// SparseTensorProto, as the dense tensor that it stands for.
    base::Result<tensor::Tensor> readSparse(Bytes message);
    /// A tensor in a data file that cannot be opened, or ends before it does: what is known of it.
    struct Missing {
        std::string location, reason;
        tensor::DType dtype;
        tensor::Shape shape;
        bool isCutOff = false;
    };
    /// Nothing if the data can be read, or if that is refused for another reason: read() tells.
    std::optional<Missing> missing(Bytes message);
    Bytes nameOf(Bytes message);
    Bytes nameOfSparse(Bytes message);
    /// The value of a key in its metadata; without data: there is none.
    Bytes metadataOf(Bytes message, std::string_view key);

  private:
    struct Header;
    Header readHeader(Bytes message);
    base::Error wrong(const Header& header, std::string what, Bytes message) const;
    base::Result<tensor::Tensor> fromRaw(const Header& header, std::span<const std::byte> raw,
                                         std::shared_ptr<const base::MappedFile> owner, Bytes message);
    base::Result<tensor::Tensor> fromNumbers(const Header& header, Bytes message);
    base::Result<tensor::Tensor> fromExternal(const Header& header, Bytes message);
    base::Result<std::filesystem::path> dataPath(const Header& header, Bytes message) const;
    base::Result<std::shared_ptr<const base::MappedFile>> dataFile(const Header& header, Bytes message);
    /// Where the tensor is in its file; nothing if that is no number.
    static std::optional<std::pair<std::uint64_t, std::uint64_t>> rangeOf(const Header& header);

    Wire& m_wire;
    std::shared_ptr<const base::MappedFile> m_model;
    std::map<std::string, std::shared_ptr<const base::MappedFile>> m_dataFiles;
    std::map<std::string, std::string> m_unopened;  ///< by location: why it cannot be opened
};

}  // namespace sonde::io::onnx
