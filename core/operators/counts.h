#pragma once

#include <string_view>

namespace sonde::operators {

/// A dimension of the result is a count of something in the data, which no shape tells: nonzero, unique,
/// masked_select, nms.
bool countsElements(std::string_view domain, std::string_view operatorName);

}  // namespace sonde::operators
