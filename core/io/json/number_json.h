#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace sonde::io {

/// A number in JSON, which has no NaN and no infinity: these are "nan", "inf" and "-inf".
inline nlohmann::ordered_json finiteOrText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

}  // namespace sonde::io
