#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/verb.h"
#include "core/passes/pass.h"

namespace sonde::app {

Verb passesVerb() {
    return {"passes", "List the passes that --pass takes", "sonde passes", [](CLI::App&) {
                return std::function<base::Result<int>()>([]() -> base::Result<int> {
                    for (const passes::Pass& pass : passes::passes())
                        fmt::print("{:34} {}\n", pass.id, pass.description);
                    return 0;
                });
            }};
}

}  // namespace sonde::app
