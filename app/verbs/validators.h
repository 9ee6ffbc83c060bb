#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/number_text.h"
#include "core/base/thread_limits.h"

namespace sonde::app {

/// A check whose message names no limits of the type.
inline CLI::Validator aboveZero() {
    return CLI::Validator(
        [](std::string& text) {
            return text.find_first_of("123456789") == std::string::npos || text.starts_with('-')
                       ? "'" + text + "' is not above 0"
                       : std::string();
        },
        "");
}

/// Comparisons do not refuse NaN, and so neither does CLI::Range: this is checked before it.
inline CLI::Validator notNan() {
    return CLI::Validator(
        [](std::string& text) {
            double number = 0;
            return CLI::detail::lexical_cast(text, number) && std::isnan(number) ? "'" + text + "' is no number"
                                                                                 : std::string();
        },
        "");
}

/// What a difference may be, or a temperature: a finite number, not below 0. `what` it is: "tolerance".
inline CLI::Validator finiteFromZero(std::string what) {
    return CLI::Validator(
        [what = std::move(what)](std::string& text) {
            const auto number = base::parseNumber<double>(text);
            return number && std::isfinite(*number) && *number >= 0 ? std::string()
                                                                    : "'" + text + "' is no " + what + " (0 or above)";
        },
        "");
}

/// A check of counts and seeds, which would take -1 for a very large number, and one that is too large for the largest.
inline CLI::Validator nonNegativeInteger() {
    return CLI::Validator(
        [](std::string& text) {
            return base::parseNumber<std::uint64_t>(text) ? std::string()
                                                          : "'" + text + "' is not an integer from 0 on";
        },
        "");
}

/// A check of paths and queries that are left out if nothing is meant.
inline CLI::Validator notEmpty() {
    return CLI::Validator([](std::string& text) { return text.empty() ? "nothing is given" : std::string(); }, "");
}

/// Adds --seed for `seed`, which may be an optional.
template <typename Seed>
CLI::Option* addSeed(CLI::App& command, Seed& seed, std::string help) {
    return command.add_option("--seed", seed, std::move(help))->check(nonNegativeInteger());
}

/// Adds --threads for `threads`.
inline CLI::Option* addThreads(CLI::App& command, std::size_t& threads) {
    return command.add_option("--threads", threads, "Number of threads; 0: one per processor")
        ->check(CLI::Validator(
            [](std::string& text) {
                const auto count = base::parseNumber<std::size_t>(text);
                return count && *count <= base::kMaxThreads
                           ? std::string()
                           : "'" + text + "' is no number of threads (0 to " + std::to_string(base::kMaxThreads) + ")";
            },
            ""));
}

/// "2MB" becomes a number of bytes.
inline CLI::Validator wholeBytes() {
    return CLI::Validator(
        [](std::string& text) {
            if (text.find('.') != std::string::npos) return "'" + text + "' is no whole number of units";
            return CLI::AsSizeValue(false)(text);
        },
        "");
}

}  // namespace sonde::app
