#pragma once

#include <string_view>

namespace sonde::operators {

/// The operator gives a number that the type of a tensor tells, and never its elements: is_floating_point. Questions
/// for the shape are Traits::query.
bool isFormQuery(std::string_view name);

}  // namespace sonde::operators
