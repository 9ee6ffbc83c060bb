#include "core/tensor/mapped_source.h"

#include "core/base/mapped_file.h"

namespace sonde::tensor {

namespace {

/// The first changed file that a value's tensors are mapped from.
const base::MappedFile* changedFile(const Value& value) {
    const base::MappedFile* found = nullptr;
    if (value.isTensor()) {
        const base::MappedFile* const file = mappedFile(value.tensor());
        return file && file->hasChanged() ? file : nullptr;
    }
    if (value.isListLike()) {
        for (const Value& item : value.items()) found = found ? found : changedFile(item);
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) found = found ? found : changedFile(item);
    }
    return found;
}

}  // namespace

const base::MappedFile* mappedFile(const Tensor& tensor) {
    if (!tensor.defined() || tensor.dtype() == DType::String) return nullptr;
    return base::MappedFile::at(tensor.storage()->data());
}

bool isSourceChanged(const Tensor& tensor) {
    const base::MappedFile* const file = mappedFile(tensor);
    return file && file->hasChanged();
}

bool isSourceChanged(const Value& value) { return changedFile(value) != nullptr; }

std::optional<base::Error> sourceError(const Value& value, std::string_view role) {
    const base::MappedFile* const file = changedFile(value);
    return file ? std::optional(file->changeError(role)) : std::nullopt;
}

}  // namespace sonde::tensor
