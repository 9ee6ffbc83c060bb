#include "core/document/without_writes.h"

#include <algorithm>

#include "core/document/model_passes.h"
#include "core/graph/memory.h"

namespace sonde::document {

base::Result<std::shared_ptr<const Document>> withoutWrites(const std::shared_ptr<const Document>& document,
                                                            const base::WorkContext& work) {
    const graph::InternalGraph& graph = *document->graph;
    const auto order = graph.recursiveOrder(graph.mainId());
    const bool isPure = std::ranges::none_of(order, [&graph](graph::ExprId id) {
        const graph::MemoryEffect effect = graph::memoryEffect(graph, graph.expr(id));
        return effect.writes || effect.reforms;
    });
    if (isPure) return document;
    auto made = std::make_shared<Document>(*document);
    OpenOptions options = document->options;
    options.passes = {"remove-inplace"};
    SONDE_TRY(applyPasses(*made, options, work));
    return std::shared_ptr<const Document>(std::move(made));
}

}  // namespace sonde::document
