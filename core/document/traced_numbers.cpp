#include "core/document/traced_numbers.h"

#include "core/base/number_text.h"
#include "core/document/evaluator.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"

namespace sonde::document {

base::Result<graph::NodeId> nodeOfTracedNumber(const graph::InternalGraph& graph, const trace::TracedModule& module,
                                               std::string_view text) {
    const auto number = base::parseNumber<std::uint64_t>(text.substr(1));
    if (!number) return base::usageError("'" + std::string(text) + "' is not a number of a node", {}, "such as %12");
    // The graph of the document is made of the module in the same way; what passes changed keeps its ids.
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module.clone()));
    const auto found = inlined.numbered.find(*number);
    if (found != inlined.numbered.end() && found->second.index() < graph.nodeCount() &&
        !graph.isErased(graph.node(found->second).producer))
        return found->second;
    return base::usageError(
        "no value has the number " + std::string(text), {},
        "`sonde trace --tracer traced-module --format graph` prints the numbers; modules have no value");
}

}  // namespace sonde::document
