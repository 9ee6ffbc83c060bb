#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::zoo {

/// A number that a model can be made with instead of its usual one.
struct Setting {
    std::string_view name;  ///< "classes", "width"
    double value;           ///< the usual one
    double least;
    double most;
    bool whole = true;  ///< an integer
};

/// The settings that a model is made with.
class Settings {
  public:
    explicit Settings(std::vector<Setting> settings) : m_settings(std::move(settings)) {}

    /// The usual ones changed by "classes=10&width=0.5" (may be empty). Usage error for an unknown name, or a value
    /// that is no number, not whole or out of range.
    static base::Result<Settings> parse(const std::vector<Setting>& known, std::string_view text);

    double number(std::string_view name) const;  ///< the name must be one of the model's
    std::int64_t whole(std::string_view name) const { return static_cast<std::int64_t>(number(name)); }

  private:
    std::vector<Setting> m_settings;
};

/// Throws TraceError (ValueError) unless `parts` divides `whole`; the names are those of the settings.
void requireWholeParts(std::int64_t whole, std::int64_t parts, const char* wholeName, const char* partsName);

/// A channel count times a factor, at least 1.
std::int64_t scaled(std::int64_t channels, double width);
/// The same rounded to a multiple of 8, not below 0.9 of it (MobileNetV2's and V3's rule, arXiv:1801.04381).
std::int64_t scaledToEight(double channels, double width);

}  // namespace sonde::zoo
