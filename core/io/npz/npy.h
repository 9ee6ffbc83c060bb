#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "core/tensor/type_info.h"

namespace sonde::io {

/// An array in numpy's .npy form (numpy/lib/format.py, versions 1.0 to 3.0): numbers of any byte order, bool,
/// fixed-width text; Fortran order gives the same logical elements. The data is used where it lies if it is aligned,
/// and copied if not. Object arrays, which hold pickled programs, and records are refused. `place` names the source in
/// errors.
base::Result<tensor::Tensor> readNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     std::string_view place);
/// Element type and shape of one, by the beginning of its bytes; errors as readNpy(), but for the data.
base::Result<tensor::TypeInfo> readNpyType(std::span<const std::byte> head, std::string_view place);
base::Result<tensor::Tensor> readNpyFile(const std::filesystem::path& path);
bool looksLikeNpy(std::span<const std::byte> head);

/// The tensor as a .npy file, version 1.0, C order. Types that numpy lacks (bfloat16, float8, int4 …) are widened to
/// float32 or int8/uint8.
base::Result<std::vector<std::byte>> npyBytes(const tensor::Tensor& tensor);
base::Result<void> writeNpyFile(const std::filesystem::path& path, const tensor::Tensor& tensor);

}  // namespace sonde::io
