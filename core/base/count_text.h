#pragma once

#include <cstdint>
#include <string>

namespace sonde::base {

/// A count in groups of three digits: "1,048,576".
std::string countText(std::int64_t count);

}  // namespace sonde::base
