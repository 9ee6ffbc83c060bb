#pragma once

#include <optional>

#include "core/analysis/difference.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// --rtol and --atol of verbs that compare.
struct ToleranceChoice {
    std::optional<double> relative, absolute;

    void addTo(CLI::App& command);
    /// Without them each dtype has its own. With one of them floats have what it says; integers are equal up to what
    /// --atol allows them.
    analysis::Tolerances tolerances() const;
    bool isGiven() const { return relative || absolute; }
};

}  // namespace sonde::app
