#pragma once

#include <string>

#include "core/ort/helper.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// Which ONNX Runtime a verb runs a model in: --ort and --timeout.
struct EngineChoice {
    std::string library;
    std::size_t timeoutSeconds = 600;

    void addTo(CLI::App& command);
    bool isGiven() const { return !library.empty(); }
    ort::EngineOptions options(bool allowNative, std::size_t threads) const {
        return {library, allowNative, threads, std::chrono::seconds(timeoutSeconds), {}};
    }
};

}  // namespace sonde::app
