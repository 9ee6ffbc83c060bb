#include "core/session/default_spec.h"

#include "core/document/input_infos.h"
#include "core/io/inputs/masks.h"

namespace sonde::session {

InputSpec defaultSpec(const io::InputInfo& input) {
    const tensor::TypeInfo type = document::usualType(input);
    if (io::isMask(input) && type.shape && !type.shape->empty()) return {randomSource(type, 1, 1), {}};
    return defaultSpec(type);
}

}  // namespace sonde::session
