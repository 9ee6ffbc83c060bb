#pragma once

#include <optional>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"

namespace sonde::base {
class MappedFile;
}

namespace sonde::tensor {

/// The file that the tensor's elements are mapped from, null for those in memory. Valid for as long as the tensor.
const base::MappedFile* mappedFile(const Tensor& tensor);

/// Looks at the disk: whether the elements are read from a file that is no longer what was opened, so that they mean
/// nothing. To be asked after reading them and before showing what was read.
bool isSourceChanged(const Tensor& tensor);
/// Of any tensor in it.
bool isSourceChanged(const Value& value);

/// The error for that (Unreadable), for the role "input file"; none if nothing has changed.
std::optional<base::Error> sourceError(const Value& value, std::string_view role);

}  // namespace sonde::tensor
