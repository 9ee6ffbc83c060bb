#include "core/document/trace_request.h"

#include <algorithm>

namespace sonde::document {

bool takesValue(const trace::ForwardParameter& parameter, const std::vector<KnownInput>& inputs) {
    return !parameter.fallback || (parameter.fallback->isNone() &&
                                   std::ranges::find(inputs, parameter.name, &KnownInput::name) != inputs.end());
}

}  // namespace sonde::document
