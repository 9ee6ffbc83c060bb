#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::ops {

/// What a normalisation of torch.fft multiplies a transform of length n by; an inverse one is divided by n already.
/// None: there is no such normalisation.
inline std::optional<double> fourierScale(std::string_view norm, bool inverse, std::int64_t n) {
    if (norm.empty() || norm == "backward") return 1;
    if (norm != "ortho" && norm != "forward") return std::nullopt;
    const double scale = norm == "ortho" ? std::sqrt(static_cast<double>(n)) : static_cast<double>(n);
    return inverse ? scale : 1 / scale;
}

}  // namespace sonde::ops
