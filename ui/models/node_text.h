#pragma once

#include <QString>

#include "core/exec/recording.h"
#include "core/graph/internal_graph.h"
#include "ui/models/short_text.h"

namespace sonde::models {

/// The name that people know an operation by: "Conv", "add", "Conv2d".
QString operatorText(const graph::Expr& expr);
/// The originating module: its qualname, "(root)" for the root, "—" if no module made it.
QString moduleText(const graph::Expr& expr);
QString qualnameText(const QString& qualname);
/// "Conv2d" of "torch.nn.modules.conv.Conv2d".
QString shortClass(std::string_view moduleClass);

/// Of the value if there is one, else of what was declared or inferred: "1×64×56×56"; empty if nothing is known.
QString shapeText(const graph::Node& node, const tensor::Value* value);
/// "float32", "list", …; empty if nothing is known.
QString dtypeText(const graph::Node& node, const tensor::Value* value);
QString typeText(const graph::Node& node, const tensor::Value* value);

/// What the operator calls an argument; its position if it has no name.
QString argumentName(const graph::Expr& expr, std::size_t position);
/// Why an operation failed and what it was given, in a few sentences; says where if it failed inside of `expr`.
QString failureText(const graph::InternalGraph& graph, graph::ExprId expr, const exec::Failure& failure);

}  // namespace sonde::models
