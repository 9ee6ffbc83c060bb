#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/session/why/reader.h"

namespace sonde::session::why {

/// The element of a tensor that is looked at first: NaN, else infinity, else the largest magnitude; of several the
/// first one. Nothing if it has no elements, or none that are real numbers.
std::optional<std::vector<std::int64_t>> notableIndex(const tensor::Tensor& tensor, const std::stop_token& stop = {});

/// Gives a place without an index the one that stands out, of a list that of its first tensor. Numbers need none.
/// Errors: the value is not known, or has no elements (Usage).
base::Result<void> findElement(Place& place, Reader& reader, const std::stop_token& stop = {});

}  // namespace sonde::session::why
