#pragma once

#include <memory>
#include <vector>

#include "core/analysis/infer.h"
#include "core/document/document.h"
#include "tests/core/passes/graph_maker.h"

namespace sonde::test {

/// Makes a graph by hand and a document of it, as if it had been opened: for tests of exports.
struct DocumentMaker : Maker {
    document::Document document;

    NodeId op(const std::string& name, const std::string& op, std::vector<Argument> arguments,
              const tensor::Attributes& attributes = {}) {
        const NodeId node = make(ExprKind::Apply, name, op, std::move(arguments));
        for (const auto& each : attributes.items())
            graph.mutableExpr(graph.node(node).producer).attributes.set(each.name, each.value);
        return node;
    }

    /// `results`: one is the graph's result, several are a tuple.
    const document::Document& done(const std::vector<NodeId>& results) {
        std::vector<Argument> items;
        for (const NodeId node : results) items.push_back(arg(node));
        graph.setResult(graph.mainId(), items.size() == 1 ? items[0] : tuple(items));
        base::Diagnostics findings;
        analysis::inferTypes(graph, findings);
        for (const NodeId node : graph.inputs()) document.inputs.push_back({graph.node(node).name, node});
        for (const NodeId node : results) document.outputs.push_back({graph.node(node).name, node});
        document.graph = std::make_shared<InternalGraph>(graph);
        return document;
    }
};

}  // namespace sonde::test
