#include "ui/canvas/card_labels.h"

#include <QCoreApplication>

#include <algorithm>

#include "core/analysis/node_measures.h"
#include "core/analysis/weight_positions.h"
#include "ui/canvas/operation_text.h"
#include "ui/context/inspector_context.h"
#include "ui/models/node_text.h"

namespace sonde::canvas {

namespace {

using graph::Expr;
using graph::InternalGraph;

QString inputsText(const InternalGraph& graph, const Expr& expr) {
    QStringList shapes;
    for (const graph::NodeId input : expr.inputs) {
        if (layout::Outline::isConstant(graph.expr(graph.node(input).producer))) continue;
        const QString shape = models::shapeText(graph.node(input), nullptr);
        shapes << (shape.isEmpty() ? QStringLiteral("?") : shape);
    }
    return shapes.join(QStringLiteral(", "));
}

QString parametersText(const InternalGraph& graph, const Expr& expr) {
    // Without a document (pictures of the command line): what is in positions of weights.
    std::int64_t count = 0;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        const analysis::WeightPosition position = analysis::weightPosition(expr, i);
        if (position == analysis::WeightPosition::None || position == analysis::WeightPosition::Statistic) continue;
        expr.arguments[i].forEachNode([&](graph::NodeId input) {
            const graph::Node& node = graph.node(input);
            if (graph.expr(node.producer).isParameter && tensor::isFloating(node.type.dtype))
                count += analysis::elementCount(node).value_or(0);
        });
    }
    return count > 0 ? models::nodeColumnText(models::ParametersColumn, static_cast<double>(count)) : QString();
}

QString attributeText(const Expr& expr, QStringView name) {
    for (const tensor::Attribute& attribute : expr.attributes.items())
        if (QString::fromStdString(attribute.name) == name) return models::shown(tensor::text(attribute.value, 40));
    return {};
}

QString fieldText(const CardLabels& labels, const InternalGraph& graph, graph::ExprId id, const QString& field) {
    const Expr& expr = graph.expr(id);
    const graph::Node* node = expr.outputs.empty() ? nullptr : &graph.node(expr.outputs.front());
    if (const auto fact = labels.facts.find(field); fact != labels.facts.end())
        return id.index() < fact->second.size() ? fact->second[id.index()] : QString();
    if (field == u"op") return operatorName(expr);
    if (field == u"qualname") return expr.qualname ? models::shown(*expr.qualname) : QString();
    if (field == u"last") return expr.qualname ? models::shown(*expr.qualname).section(u'.', -1) : QString();
    if (field == u"name") return node ? models::shown(node->name) : QString();
    if (field == u"class") return models::shortClass(expr.moduleClass);
    if (field == u"attrs") return attributeLines(expr, 12).join(QStringLiteral(" \u00b7 "));
    if (field.startsWith(QLatin1String("attr:"))) return attributeText(expr, QStringView(field).mid(5));
    if (field == u"shape") return node ? models::shapeText(*node, nullptr) : QString();
    if (field == u"type") return node ? models::typeText(*node, nullptr) : QString();
    if (field == u"inputs") return inputsText(graph, expr);
    if (field == u"parameters") return parametersText(graph, expr);
    if (field == u"source") return expr.source.empty() ? QString() : models::shown(expr.source.text());
    return {};
}

bool isUsed(const context::LabelRules& rules, const QString& name) {
    for (const context::LabelRule& rule : rules)
        for (const QString& line : rule.lines)
            for (const QString& field : context::fieldsIn(line))
                if (context::canonicalField(field) == name) return true;
    return false;
}

bool isOfRun(const QString& name) {
    const auto& fields = context::labelFields();
    return std::any_of(fields.begin(), fields.end(),
                       [&](const context::LabelField& field) { return field.ofRun && field.name == name; });
}

}  // namespace

std::shared_ptr<const CardLabels> makeCardLabels(const context::LabelRules& rules,
                                                 const context::InspectorContext* context) {
    if (rules.empty()) return nullptr;
    auto labels = std::make_shared<CardLabels>();
    labels->rules = rules;
    labels->isStale = context && !context->runs().staleReason().isEmpty();
    for (const context::LabelField& field : context::labelFields()) {
        const int column = models::nodeColumnIndex(field.name);
        const bool isCounted = context && field.name == QLatin1String("parameters");
        if ((!field.ofRun && !isCounted) || column < 0) continue;
        if (!isUsed(rules, field.name)) continue;
        std::vector<QString>& texts = labels->facts[field.name];
        if (!context || !context->model().isOpen()) continue;
        const models::NodeMeasures measures(context->model(), context->runs(), context->valueMeasures(),
                                            context->comparison(), &context->precision());
        texts.resize(context->model().graph().exprCount());
        for (const graph::ExprId id : context->model().graph().recursiveOrder(context->model().graph().mainId()))
            if (const auto& outputs = context->model().graph().expr(id).outputs; !outputs.empty())
                texts[id.index()] = measures.text(column, outputs.front());
    }
    return labels;
}

QStringList labelLines(const CardLabels& labels, const InternalGraph& graph, graph::ExprId expr) {
    const QStringList* lines = context::linesFor(labels.rules, operatorName(graph.expr(expr)));
    if (!lines) return {};
    QStringList out;
    for (const QString& line : *lines) {
        const QStringList fields = context::fieldsIn(line);
        QString text = line;
        bool any = fields.isEmpty(), isStale = false;
        for (const QString& field : fields) {
            const QString name = context::canonicalField(field);
            const QString value = fieldText(labels, graph, expr, name);
            any = any || !value.isEmpty();
            isStale = isStale || (labels.isStale && !value.isEmpty() && isOfRun(name));
            // The first place with this name: a value that has braces in it is not looked at again.
            const QString braces = u'{' + field + u'}';
            text.replace(text.indexOf(braces), braces.size(), QString(value).replace(u'{', QChar(0xfe5b)));
        }
        text = text.trimmed();
        if (isStale) text += QCoreApplication::translate("CardLabels", " (stale)");
        if (out.isEmpty() && (!any || text.isEmpty())) out << operatorName(graph.expr(expr));
        else if (any && !text.isEmpty()) out << text;
    }
    return out;
}

}  // namespace sonde::canvas
