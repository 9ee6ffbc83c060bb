#include "core/session/edits/run_edits.h"

#include <memory>

#include "core/session/edits/edit_count.h"

namespace sonde::session {

analysis::RunEdits runEditsOf(const Edits& edits) {
    if (!edits.planned()) return {};
    const auto copy = std::make_shared<const Edits>(edits.quietCopy());
    return {copy->planned(),
            [copy](std::vector<tensor::Value> given, const base::WorkContext& work) {
                return copy->inputs(std::move(given), work);
            },
            countingEdits(*copy)};
}

}  // namespace sonde::session
