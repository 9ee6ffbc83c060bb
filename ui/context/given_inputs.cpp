#include "ui/context/given_inputs.h"

#include "core/session/session.h"

namespace sonde::context {

std::optional<base::Error> missingInput(const session::Session& session) {
    if (session.inputs().areAllGiven()) return std::nullopt;
    for (const session::Input& input : session.inputs().all()) {
        if (input.value) continue;
        if (input.error) return input.error;
        return base::usageError("input '" + input.name + "' is not given yet", {}, "Give a value for it");
    }
    return base::usageError("the inputs are not given yet", {}, "Give values for all inputs");
}

}  // namespace sonde::context
