#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/session/gradient/saliency.h"
#include "core/session/session.h"

namespace sonde::test::gradients {

using Dims = std::vector<std::int64_t>;

/// Numbers between `low` and `high` that are all different, in no order; float64.
inline tensor::Tensor spread(const Dims& shape, int seed, double low = 0.3, double high = 1.7) {
    std::int64_t count = 1;
    for (const std::int64_t dim : shape) count *= dim;
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(low + (high - low) * std::fmod(0.618034 * static_cast<double>(i + 1) + 0.377 * seed, 1.0));
    return tensor::Tensor::of<double>(tensor::Shape(shape), values);
}

/// A graph that is written operator by operator, and its inputs.
struct SmallNet {
    graph::InternalGraph graph;
    std::vector<tensor::Value> inputs;

    graph::NodeId input(const std::string& name, const tensor::Tensor& value) {
        inputs.emplace_back(value);
        return graph.addInput(graph.mainId(), name, tensor::TypeInfo::of(inputs.back()));
    }
    std::vector<graph::NodeId> call(graph::OpKey op, std::vector<graph::Argument> arguments,
                                    tensor::Attributes attributes = {}, std::size_t outputs = 1) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Apply;
        expr.target = op.name;
        expr.op = std::move(op);
        expr.arguments = std::move(arguments);
        expr.attributes = std::move(attributes);
        expr.body = graph.mainId();
        expr.scope = graph.rootScope();
        std::vector<std::string> names;
        for (std::size_t i = 0; i < outputs; ++i)
            names.push_back("n" + std::to_string(graph.exprCount()) + "_" + std::to_string(i));
        return graph.expr(graph.addExpr(std::move(expr), names)).outputs;
    }
    std::shared_ptr<const document::Document> finish(graph::NodeId output) {
        graph.setResult(graph.mainId(), graph::Argument::of(output));
        (void)graph.rename(output, "loss");
        auto document = std::make_shared<document::Document>();
        document->graph = std::make_shared<const graph::InternalGraph>(graph);
        for (const graph::NodeId node : document->graph->inputs())
            document->inputs.push_back({document->graph->node(node).name, node});
        document->outputs.push_back({"loss", output});
        return document;
    }
};

/// Runs a document in a session and differentiates.
inline base::Result<session::gradient::Saliency> differentiate(
    const std::shared_ptr<const document::Document>& document, const std::vector<tensor::Value>& inputs,
    const session::gradient::Request& request = {}, const session::debug::KeptLimits& limits = {}) {
    session::Session session;
    session.show(document);
    session.runs().giveValues(inputs);
    session.debugger().setLimits(limits);
    session.debugger().restart();
    if (session.debugger().error()) return *session.debugger().error();
    std::optional<base::Result<session::gradient::Saliency>> found;
    session.debugger().inspect(
        [&](const session::debug::View& view, const base::WorkContext& work) {
            return session::gradient::saliency(view, request, work);
        },
        [&](base::Result<session::gradient::Saliency> result) { found.emplace(std::move(result)); });
    if (!found) return base::runError("nothing was looked at");
    return std::move(*found);
}

}  // namespace sonde::test::gradients
