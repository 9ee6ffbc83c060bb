#pragma once

#include <string_view>

/// Writes that PyTorch refuses because of where their elements are in memory (at::assert_no_internal_overlap,
/// assert_no_overlap and assert_no_partial_overlap).
namespace sonde::operators {

inline constexpr const char* kOverlapText =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor "
    "before performing the operation.";
/// Where that cannot be decided: our own words.
inline constexpr const char* kUndecidedOverlapText =
    "whether this is exactly what it writes, which is allowed, or another part of it depends on sizes that are not known while tracing: "
    "not supported; read from a clone()";
inline constexpr const char* kRepeatText =
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor "
    "before performing the operation.";

/// In-place operators that may read nothing of what they write; all others may read the same elements in the same
/// order. By name, with or without overload.
bool refusesAnyOverlap(std::string_view name);
/// In-place operators that read one number before they write.
bool readsNumberFirst(std::string_view name);

}  // namespace sonde::operators
