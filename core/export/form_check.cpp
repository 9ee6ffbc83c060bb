#include "core/export/form_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/difference.h"
#include "core/exec/runner.h"

namespace sonde::exporting {

std::vector<tensor::Value> inputsOfForm(const graph::InternalGraph& source, std::span<const tensor::Value> values,
                                        const graph::InternalGraph& written) {
    std::vector<tensor::Value> found;
    for (const graph::NodeId node : written.inputs()) {
        const graph::NodeId original = source.findNode(written.node(node).name);
        const auto at = std::ranges::find(source.inputs(), original) - source.inputs().begin();
        found.push_back(values[static_cast<std::size_t>(at)]);
    }
    return found;
}

base::Result<FormCheck> checkForm(const std::shared_ptr<const graph::InternalGraph>& written,
                                  std::span<const tensor::Value> inputs, std::span<const tensor::Value> expected,
                                  std::span<const std::string> names, const base::WorkContext& work) {
    SONDE_ASSIGN(const auto plan, exec::Plan::make(written, {}));
    exec::Runner runner;
    const exec::Recording recording = runner.run(*plan, inputs, work);
    if (recording.error) return *recording.error;
    FormCheck check;
    for (std::size_t i = 0; i < expected.size() && !check.problem; ++i) {
        const tensor::Tensor& wanted = expected[i].tensor();
        if (i >= recording.outputs.size() || !recording.outputs[i].isTensor()) {
            check.problem = "does not give output '" + names[i] + "'";
            continue;
        }
        const tensor::Tensor& actual = recording.outputs[i].tensor();
        if (actual.dtype() != wanted.dtype() || actual.shape() != wanted.shape()) {
            check.problem = "gives " + actual.typeText() + " as '" + names[i] + "', in the model " + wanted.typeText();
            continue;
        }
        const analysis::Difference difference =
            analysis::difference(actual, wanted, analysis::Tolerances{}.of(wanted.dtype()));
        check.maxAbsolute = std::max(check.maxAbsolute, difference.maxAbsolute);
        if (difference.ok) continue;
        check.areValues = true;
        check.problem =
            fmt::format("gives other values as '{}': largest difference {:.6g}", names[i], difference.maxAbsolute);
    }
    return check;
}

}  // namespace sonde::exporting
