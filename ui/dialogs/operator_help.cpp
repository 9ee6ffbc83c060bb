#include "ui/dialogs/operator_help.h"

#include <algorithm>

#include "core/ops/registry/registry.h"
#include "ui/models/node_text.h"
#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

using models::shown;

QString html(std::string_view text) { return shown(text).toHtmlEscaped(); }

/// "float16, float32", or "any".
QString dtypeList(ops::DTypeSet set) {
    if (set == ops::kAnyDType) return QStringLiteral("any");
    QStringList names;
    for (int i = 1; i < tensor::kDTypeCount; ++i)
        if (set & ops::bit(static_cast<tensor::DType>(i))) names << shown(tensor::name(static_cast<tensor::DType>(i)));
    return names.join(QStringLiteral(", "));
}

QString row(const QStringList& cells, const char* tag = "td") {
    QString text = QStringLiteral("<tr>");
    for (const QString& cell : cells) text += QStringLiteral("<%1 align='left'>%2</%1>").arg(QLatin1String(tag), cell);
    return text + QStringLiteral("</tr>");
}

/// Columns in which nothing stands are left out.
QString table(const QString& title, QStringList heading, QList<QStringList> rows) {
    if (rows.isEmpty()) return {};
    for (qsizetype column = heading.size(); column-- > 0;) {
        if (std::any_of(rows.begin(), rows.end(),
                        [column](const QStringList& cells) { return !cells[column].isEmpty(); }))
            continue;
        heading.removeAt(column);
        for (QStringList& cells : rows) cells.removeAt(column);
    }
    QString text = QStringLiteral("<h3>%1</h3><table>").arg(title) + row(heading, "th");
    for (const QStringList& cells : rows) text += row(cells);
    return text + QStringLiteral("</table>");
}

QString arityText(ops::Arity arity) {
    return arity == ops::Arity::Optional   ? QStringLiteral("optional")
           : arity == ops::Arity::Variadic ? QStringLiteral("any number")
                                           : QString();
}

QList<QStringList> formals(const std::vector<ops::Formal>& list) {
    QList<QStringList> rows;
    for (const ops::Formal& formal : list)
        rows << QStringList{html(formal.name), dtypeList(formal.dtypes), html(formal.typeVariable),
                            arityText(formal.arity)};
    return rows;
}

/// Of the versions that there are, the one that a model of this opset uses.
const ops::OpDef* newest(const std::vector<const ops::OpDef*>& versions, const graph::Expr* expr) {
    const ops::OpDef* used = nullptr;
    for (const ops::OpDef* def : versions)
        if (!expr || expr->op.version == 0 || def->since <= expr->op.version) used = def;
    return used ? used : versions.back();
}

QString valueOf(const graph::Expr& expr, std::string_view name) {
    if (const tensor::AttributeValue* value = expr.attributes.find(name)) return html(tensor::text(*value, 200));
    for (const auto& [keyword, argument] : expr.keywords)
        if (keyword == name && argument.kind == graph::Argument::Kind::Constant)
            return html(argument.constant.text(200));
    return {};
}

QString attributeTable(const ops::OpDef& def, const graph::Expr* expr) {
    QList<QStringList> rows;
    for (const ops::FormalAttribute& formal : def.attributes) {
        const QString fallback = formal.required   ? QStringLiteral("required")
                                 : formal.fallback ? html(tensor::text(*formal.fallback, 80))
                                                   : QString();
        QStringList cells{html(formal.name), fallback};
        if (expr) cells << QStringLiteral("<b>%1</b>").arg(valueOf(*expr, formal.name));
        rows << cells;
    }
    QStringList heading{QStringLiteral("Attribute"), QStringLiteral("Default")};
    if (expr) heading << QStringLiteral("Here");
    return table(QStringLiteral("Attributes"), heading, rows);
}

QString parameterTable(const ops::OpDef& def, const graph::Expr* expr) {
    QList<QStringList> rows;
    for (std::size_t i = 0; i < def.parameters.size(); ++i) {
        const ops::Parameter& parameter = def.parameters[i];
        QStringList cells{html(parameter.name), html(parameter.type),
                          parameter.fallback ? html(parameter.fallback->text(80)) : QString()};
        if (expr) {
            QString here = valueOf(*expr, parameter.name);
            if (i < expr->arguments.size() && expr->arguments[i].kind == graph::Argument::Kind::Constant)
                here = html(expr->arguments[i].constant.text(200));
            cells << QStringLiteral("<b>%1</b>").arg(here);
        }
        rows << cells;
    }
    QStringList heading{QStringLiteral("Parameter"), QStringLiteral("Type"), QStringLiteral("Default")};
    if (expr) heading << QStringLiteral("Here");
    return table(QStringLiteral("Parameters"), heading, rows);
}

}  // namespace

QString operatorTitle(std::string_view domain, std::string_view name) {
    return (domain.empty() ? QStringLiteral("ai.onnx") : shown(domain)) + QStringLiteral("::") + shown(name);
}

QString operatorPage(std::string_view domain, std::string_view name, const graph::Expr* expr) {
    if (domain == "ai.onnx") domain = {};
    std::vector<const ops::OpDef*> versions;
    for (const ops::OpDef* def : ops::Registry::all().rows())
        if (def->domain == domain && def->name == name) versions.push_back(def);
    const QString title = operatorTitle(domain, name).toHtmlEscaped();
    if (versions.empty())
        return QStringLiteral(
                   "<h2>%1</h2><p>Sonde does not support this operator. A model that uses it opens and is drawn; a run stops at it.</p>")
            .arg(title);
    const ops::OpDef& def = *newest(versions, expr);
    QString page = QStringLiteral("<h2>%1</h2><p>%2</p>").arg(title, html(def.summary));
    QStringList since;
    for (const ops::OpDef* version : versions) {
        const QString text =
            QString::number(version->since) + (version->deprecated ? QStringLiteral(" (deprecated)") : QString());
        since << (version == &def && versions.size() > 1 ? QStringLiteral("<b>%1</b>").arg(text) : text);
    }
    QString versionText = QStringLiteral("Category: %1").arg(html(ops::name(def.category)));
    if (def.domain != "aten" && def.domain != "prim")
        versionText += QStringLiteral("<br>Since version: ") + since.join(QStringLiteral(", "));
    if (expr && expr->op.version > 0)
        versionText += QStringLiteral("<br>This model imports version %1").arg(expr->op.version);
    page += QStringLiteral("<p>%1</p>").arg(versionText);
    page += parameterTable(def, expr);
    if (def.parameters.empty())
        page += table(QStringLiteral("Inputs"),
                      {QStringLiteral("Input"), QStringLiteral("Types"), QStringLiteral("Same as"), QString()},
                      formals(def.inputs));
    page += table(QStringLiteral("Outputs"),
                  {QStringLiteral("Output"), QStringLiteral("Types"), QStringLiteral("Same as"), QString()},
                  formals(def.outputs));
    page += attributeTable(def, expr);
    return page;
}

}  // namespace sonde::dialogs
