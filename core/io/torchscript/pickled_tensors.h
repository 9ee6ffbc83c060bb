#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/io/torchscript/pickle.h"
#include "core/io/zip/zip_archive.h"
#include "core/tensor/dtype.h"
#include "core/tensor/storage.h"

namespace sonde::io::script {

/// A typed record of numbers that tensors are in.
class StorageValue final : public tensor::ObjectBase {
  public:
    StorageValue(tensor::DType dtype, std::shared_ptr<tensor::Storage> storage)
        : m_dtype(dtype), m_storage(std::move(storage)) {}
    std::string typeName() const override { return "storage"; }
    tensor::DType dtype() const { return m_dtype; }
    const std::shared_ptr<tensor::Storage>& storage() const { return m_storage; }

  private:
    tensor::DType m_dtype;
    std::shared_ptr<tensor::Storage> m_storage;
};

/// What a pickle says of a storage: ('storage', torch.FloatStorage, key, location, number of elements …).
struct StorageId {
    std::string key;
    tensor::DType dtype;
    std::int64_t count = 0;
};
/// Error: no such tuple, or a type that is not known.
base::Result<StorageId> storageId(const tensor::Value& id, std::string_view place);
/// The bytes where they lie; copied if they are not aligned for the dtype.
base::Result<std::shared_ptr<StorageValue>> storageOn(const SharedBytes& bytes, tensor::DType dtype);

/// Functions that the pickles of torch call (PickleHooks::call): tensors are made, with every element checked to be in
/// its storage; everything else stays an opaque instance.
base::Result<std::optional<tensor::Value>> calledInTorchPickle(const std::string& name, const tensor::Value& arguments,
                                                               std::string_view place);

/// A pickle of a zip archive, "data.pkl" below the prefix, with the storages in the folder `tensors` ("data/").
base::Result<tensor::Value> readZippedPickle(const ZipArchive& zip, const std::string& prefix,
                                             const std::string& record, const std::string& tensors,
                                             const std::string& place);

/// torch.save of before version 1.6: not a zip archive but pickles and bytes one after the other.
bool isLegacyTorchFile(std::span<const std::byte> head);
inline constexpr std::size_t kLegacyMagicBytes = 15;

}  // namespace sonde::io::script
