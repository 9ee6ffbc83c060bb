#pragma once

#include <string_view>

namespace sonde::operators {

/// Whether PyTorch may return the very tensor that was given, not only one that shows its memory: `contiguous` of what
/// is contiguous, `to` of what has the type, dropout while not training. What changes the shape of one then changes the
/// other.
bool mayReturnItsArgument(std::string_view domain, std::string_view operatorName);

}  // namespace sonde::operators
