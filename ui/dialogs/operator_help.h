#pragma once

#include <QString>

#include "core/graph/internal_graph.h"

namespace sonde::dialogs {

/// "ai.onnx::Conv": what a page is known by.
QString operatorTitle(std::string_view domain, std::string_view name);

/// The help page of an operator, made from the operator table that `sonde ops` prints: what it does, its versions,
/// inputs and outputs with their types, attributes with their defaults. With an expr: the version that its model uses
/// and the attributes' values there. HTML without links to anywhere else.
QString operatorPage(std::string_view domain, std::string_view name, const graph::Expr* expr = nullptr);

}  // namespace sonde::dialogs
