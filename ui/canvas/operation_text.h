#pragma once

#include <QString>
#include <QStringList>

#include <string_view>

#include "core/graph/internal_graph.h"
#include "ui/theme/color_role.h"

namespace sonde::canvas {

/// The name that people know an operation by: "Conv", "add", "BasicBlock".
QString operatorName(const graph::Expr& expr);
theme::OpCategory categoryOf(const graph::Expr& expr);
/// "kernel_shape [3, 3]", a line each, at most `most`.
QStringList attributeLines(const graph::Expr& expr, qsizetype most);

/// Text of a file on a card: one line of at most 300 characters.
QString cardText(std::string_view text);
/// "Conv2d" of "torch.nn.Conv2d".
QString lastPart(const QString& dotted);

}  // namespace sonde::canvas
