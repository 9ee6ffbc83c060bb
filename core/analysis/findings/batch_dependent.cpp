#include <fmt/format.h>

#include "core/analysis/findings/checker.h"

namespace sonde::analysis {

namespace {

constexpr double kBatchTolerance = 1e-3;  ///< of the largest element: kernels add in another order

void findBatchDependence(const CheckedModel& model, std::vector<Finding>& findings) {
    if (model.batch->error) {
        const graph::NodeId input = model.graph.inputs().empty() ? graph::NodeId() : model.graph.inputs().front();
        findings.push_back(
            {{},
             base::Severity::Warning,
             Confidence::High,
             input.valid() ? std::vector{input} : std::vector<graph::NodeId>(),
             {},
             "the model leaves the batch open, but fails on a batch of 2: " + model.batch->error->what +
                 (model.batch->error->where.empty() ? "" : " (" + model.batch->error->where + ")"),
             "look for a size of the example that the export took for a constant, in a reshape mostly, or "
             "declare the batch as 1"});
        return;
    }
    for (const BatchOutput& output : model.batch->outputs) {
        if (!output.mergedShapes.empty()) {
            findings.push_back(findingAt(
                output.node, base::Severity::Warning, Confidence::Medium,
                fmt::format("output {} of one sample is {}: a batch does not come out as one result for each sample",
                            model.graph.node(output.node).name, output.mergedShapes),
                "look for a reshape with the batch size of the example, as [1,-1] has it, or declare the batch as 1"));
            continue;
        }
        if (!output.isComparable || output.maxAbsolute <= kBatchTolerance * output.magnitude) continue;
        findings.push_back(findingAt(
            output.node, base::Severity::Warning, Confidence::High,
            fmt::format(
                "output {} of a sample changes by up to {:.3g} when another sample is in the batch (its largest "
                "element is {:.3g}): results depend on what else is computed",
                model.graph.node(output.node).name, output.maxAbsolute, output.magnitude),
            "look for a norm in training mode, and for softmax, sums, sorting or reshapes over the batch dimension"));
    }
}

}  // namespace

FindingChecker batchDependentChecker() {
    return {"batch-dependent", FindingNeed::Batch,
            "A sample's outputs are others in a batch of two than alone, or a batch of two fails", findBatchDependence};
}

}  // namespace sonde::analysis
