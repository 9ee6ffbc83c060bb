#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/verb.h"
#include "core/zoo/zoo.h"

namespace sonde::app {

Verb modelsVerb() {
    return {"models", "List the built-in models", "sonde models", [](CLI::App&) {
                return std::function<base::Result<int>()>([]() -> base::Result<int> {
                    for (const zoo::ModelEntry& model : zoo::models()) {
                        std::string inputs;
                        for (const zoo::InputExample& input : model.inputs) {
                            inputs += (inputs.empty() ? "" : ", ") + input.name + " " + input.type.text();
                        }
                        std::string settings;
                        for (const zoo::Setting& setting : model.settings) {
                            settings += fmt::format("{}{}={:g}", settings.empty() ? "; settings: " : ", ", setting.name,
                                                    setting.value);
                        }
                        fmt::print("zoo:{:24} {} ({}{})\n", model.name, model.description, inputs, settings);
                    }
                    return 0;
                });
            }};
}

}  // namespace sonde::app
