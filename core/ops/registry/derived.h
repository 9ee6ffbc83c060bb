#pragma once

#include <string_view>

namespace sonde::ops {

/// The operator of torch that `name` (without overload) is another name of ("divide" of "div"); `name` itself if of
/// none.
std::string_view originalName(std::string_view name);

}  // namespace sonde::ops
