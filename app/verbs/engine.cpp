#include "app/verbs/engine.h"

#include "app/verbs/validators.h"

namespace sonde::app {

void EngineChoice::addTo(CLI::App& command) {
    command
        .add_option("--ort", library,
                    "ONNX Runtime as a shared library (libonnxruntime.so): it is loaded in a process of its own, with "
                    "--allow-native or after you agreed to that file")
        ->type_name("LIBRARY");
    constexpr std::size_t kMaxSeconds = 1'000'000;
    command.add_option("--timeout", timeoutSeconds, "Seconds after which ONNX Runtime is ended (default: 600)")
        ->check(CLI::Range(std::size_t{1}, kMaxSeconds));
}

}  // namespace sonde::app
