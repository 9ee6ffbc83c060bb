#include "core/session/bisection/edits_in_part.h"

#include <algorithm>

#include "core/analysis/edited_values.h"
#include "core/analysis/upstream.h"
#include "core/exec/dependants.h"
#include "core/graph/edit_origin.h"

namespace sonde::session::bisection {

using graph::InternalGraph;
using graph::NodeId;

base::Result<std::string> editInPart(const std::shared_ptr<const InternalGraph>& graph, const std::vector<NodeId>& from,
                                     NodeId node) {
    if (analysis::editedValues(*graph).empty()) return std::string();
    SONDE_ASSIGN(const analysis::Upstream upstream, analysis::Upstream::make(graph));
    std::vector<bool> known(graph->nodeCount(), false);
    for (const NodeId each : from)
        if (each.valid() && each != node) known[upstream.sourceOf(each).index()] = true;
    std::vector<graph::ExprId> operations = upstream.to(node, known).between;
    operations.push_back(graph->node(node).producer);
    for (const graph::ExprId id : operations) {
        if (std::string edited = graph::editedNodeOf(graph->expr(id)); !edited.empty()) return edited;
        for (const graph::BodyId body : graph->expr(id).bodies)
            for (const graph::ExprId inner : graph->recursiveOrder(body))
                if (std::string edited = graph::editedNodeOf(graph->expr(inner)); !edited.empty()) return edited;
    }
    return std::string();
}

std::vector<std::string> notesOnUnreadEdits(const document::Document& document) {
    const InternalGraph& graph = *document.graph;
    std::vector<std::string> notes;
    for (const analysis::EditedValue& value : analysis::editedValues(graph)) {
        exec::Edits edit;
        edit.inputs = {value.after};
        const exec::Dependants changed = exec::dependantsOf(graph, edit);
        const auto isChanged = [&](NodeId output) { return changed.nodes[output.index()]; };
        if (std::ranges::any_of(graph.outputs(), isChanged)) continue;
        const bool isRead = std::ranges::find(changed.exprs, true) != changed.exprs.end();
        notes.push_back("the edit of '" + value.name + "' in " + document.title +
                        (isRead ? " reaches no output" : " is read by nothing"));
    }
    return notes;
}

}  // namespace sonde::session::bisection
