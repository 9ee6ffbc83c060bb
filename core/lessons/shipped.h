#pragma once

#include <string_view>
#include <vector>

namespace sonde::lessons {

/// A lesson that comes with Sonde: a file of resources/lessons.
struct ShippedLesson {
    std::string_view id;    ///< "convolution"
    std::string_view text;  ///< for parse()
};
/// In the order in which they build on each other.
const std::vector<ShippedLesson>& shippedLessons();
/// Null if there is none of that id.
const ShippedLesson* shippedLesson(std::string_view id);

}  // namespace sonde::lessons
