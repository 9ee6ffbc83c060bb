#include "ui/models/node_text.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

#include "core/analysis/model_summary.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"

namespace sonde::models {
namespace {

QString dimsText(const std::vector<std::int64_t>& dims) {
    if (dims.empty()) return QStringLiteral("scalar");
    QStringList parts;
    for (const std::int64_t dim : dims) parts << QString::number(dim);
    return parts.join(QChar(0x00d7));
}

QString dimsText(const std::vector<tensor::Dim>& dims) {
    if (dims.empty()) return QStringLiteral("scalar");
    QStringList parts;
    for (const tensor::Dim& dim : dims)
        parts << (dim.known()          ? QString::number(dim.value)
                  : dim.symbol.empty() ? QStringLiteral("?")
                                       : shown(dim.symbol));
    return parts.join(QChar(0x00d7));
}

}  // namespace

QString shortClass(std::string_view moduleClass) {
    const QString whole = shown(moduleClass);
    return whole.mid(whole.lastIndexOf(u'.') + 1);
}

QString operatorText(const graph::Expr& expr) {
    if (expr.kind == graph::ExprKind::Input) return QStringLiteral("Input");
    if (expr.kind == graph::ExprKind::Output) return QStringLiteral("Output");
    if (expr.kind == graph::ExprKind::CallModule && !expr.moduleClass.empty()) return shortClass(expr.moduleClass);
    if (!expr.op.name.empty()) return shown(expr.op.name);
    // The target of these is the name of what they read.
    if (expr.isParameter) return QStringLiteral("Weight");
    if (expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr)
        return QStringLiteral("Constant");
    if (!expr.target.empty()) return shown(expr.target);
    return context::text(graph::name(expr.kind));
}

QString qualnameText(const QString& qualname) {
    if (qualname.isNull()) return QStringLiteral("—");
    return qualname.isEmpty() ? QStringLiteral("(root)") : oneLine(qualname);
}

QString moduleText(const graph::Expr& expr) {
    if (!expr.qualname) return QStringLiteral("—");
    return expr.qualname->empty() ? QStringLiteral("(root)") : shown(*expr.qualname);
}

QString shapeText(const graph::Node& node, const tensor::Value* value) {
    if (value) return value->isTensor() ? dimsText(value->tensor().shape().dims()) : QString();
    return node.type.shape ? dimsText(*node.type.shape) : QString();
}

QString dtypeText(const graph::Node& node, const tensor::Value* value) {
    const auto dtypeName = [](tensor::DType dtype) {
        const std::string_view text = tensor::name(dtype);
        return QString::fromLatin1(text.data(), static_cast<qsizetype>(text.size()));
    };
    const auto kindName = [](tensor::ValueKind kind) {
        const std::string_view text = tensor::name(kind);
        return QString::fromLatin1(text.data(), static_cast<qsizetype>(text.size()));
    };
    if (value) return value->isTensor() ? dtypeName(value->tensor().dtype()) : kindName(value->kind());
    if (node.type.dtype != tensor::DType::Undefined) return dtypeName(node.type.dtype);
    if (node.type.kind && *node.type.kind != tensor::ValueKind::Tensor) return kindName(*node.type.kind);
    return {};
}

QString typeText(const graph::Node& node, const tensor::Value* value) {
    const QString shape = shapeText(node, value);
    const QString dtype = dtypeText(node, value);
    return shape.isEmpty() ? dtype : dtype.isEmpty() ? shape : dtype + QLatin1Char(' ') + shape;
}

QString argumentName(const graph::Expr& expr, std::size_t position) {
    const ops::OpDef* op = analysis::definitionOf(expr);
    if (op && position < op->inputs.size()) return shown(op->inputs[position].name);
    if (op && position < op->parameters.size()) return shown(op->parameters[position].name);
    return QString::number(position);
}

QString failureText(const graph::InternalGraph& graph, graph::ExprId expr, const exec::Failure& failure) {
    const graph::Expr& failed = graph.expr(failure.expr);
    QStringList lines;
    if (failure.expr != expr && !failed.outputs.empty())
        lines << QCoreApplication::translate("Failure", "%1 failed inside it")
                     .arg(brief(graph.node(failed.outputs.front()).name));
    lines << shown(failure.error.what);
    QStringList types;
    for (const std::string& type : failure.inputTypes) types << shown(type);
    if (!types.isEmpty())
        lines << QCoreApplication::translate("Failure", "Inputs: %1").arg(types.join(QStringLiteral(", ")));
    if (const QString hint = context::windowHint(failure.error.hint); !hint.isEmpty())
        lines << shown(hint.toStdString());
    return lines.join(u'\n');
}

}  // namespace sonde::models
