#include "core/zoo/settings.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>

#include "core/base/number_text.h"
#include "core/trace/error.h"

namespace sonde::zoo {

base::Result<Settings> Settings::parse(const std::vector<Setting>& known, std::string_view text) {
    Settings result(known);
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view name = part.substr(0, equals);
        const auto found = std::ranges::find(result.m_settings, name, &Setting::name);
        if (found == result.m_settings.end()) {
            std::string names;
            for (const Setting& setting : known) names += (names.empty() ? "" : ", ") + std::string(setting.name);
            return base::usageError(fmt::format("the model has no setting '{}'", name), {},
                                    names.empty() ? "it has none" : "settings: " + names);
        }
        const std::string_view digits = part.substr(std::min(equals + 1, part.size()));
        const auto value = base::parseNumber<double>(digits);
        if (!value || !(*value >= found->least && *value <= found->most) ||
            (found->whole && *value != std::floor(*value))) {
            return base::usageError(
                fmt::format("'{}' is not a value of the setting '{}'", digits, name), {},
                fmt::format("{} from {:g} to {:g}; usually {:g}", found->whole ? "an integer" : "a number",
                            found->least, found->most, found->value));
        }
        found->value = *value;
    }
    return result;
}

double Settings::number(std::string_view name) const {
    const auto found = std::ranges::find(m_settings, name, &Setting::name);
    assert(found != m_settings.end());
    return found->value;
}

void requireWholeParts(std::int64_t whole, std::int64_t parts, const char* wholeName, const char* partsName) {
    if (whole % parts == 0) return;
    throw trace::TraceError(trace::TraceErrorKind::Value,
                            fmt::format("{} ({}) is not divisible by {} ({})", wholeName, whole, partsName, parts));
}

std::int64_t scaled(std::int64_t channels, double width) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(channels) * width));
}

std::int64_t scaledToEight(double channels, double width) {
    const double wanted = channels * width;
    const std::int64_t nearest = std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted + 4) / 8 * 8);
    return static_cast<double>(nearest) < 0.9 * wanted ? nearest + 8 : nearest;
}

}  // namespace sonde::zoo
