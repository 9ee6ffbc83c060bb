#include "ui/canvas/operation_text.h"

#include "core/base/unicode.h"
#include "ui/context/text.h"
#include "ui/models/operator_category.h"

namespace sonde::canvas {

using graph::Expr;
using graph::ExprKind;
using theme::OpCategory;

namespace {

/// No name is drawn longer than this; a hostile file may hold megabytes.
constexpr std::size_t kMaxTextLength = 300;

}  // namespace

QString cardText(std::string_view s) {
    // Line ends and other control characters in a name would break the lines of a card.
    QString clean = context::text(base::utf8Prefix(s, kMaxTextLength));
    for (QChar& c : clean)
        if (c.category() == QChar::Other_Control) c = u' ';
    return s.size() > kMaxTextLength ? clean + QChar(0x2026) : clean;
}

QString lastPart(const QString& dotted) { return dotted.mid(dotted.lastIndexOf(u'.') + 1); }

QString operatorName(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Input: return QStringLiteral("Input");
        case ExprKind::Output: return QStringLiteral("Output");
        case ExprKind::CallModule:
            if (!expr.moduleClass.empty()) return lastPart(cardText(expr.moduleClass));
            return cardText(expr.target);
        case ExprKind::GetAttr: return lastPart(cardText(expr.target));
        case ExprKind::CallFunction:
        case ExprKind::CallMethod: return lastPart(cardText(expr.target));
        case ExprKind::Constant:
        case ExprKind::Apply: break;
    }
    const std::string& name = expr.op.name.empty() ? expr.target : expr.op.name;
    // "add.Tensor" is an overload of add.
    const QString whole = cardText(name);
    return expr.op.domain == "aten" || expr.op.domain == "prim" ? whole.section(u'.', 0, 0) : whole;
}

OpCategory categoryOf(const Expr& expr) { return theme::categoryFromKey(models::categoryKey(expr)); }

QStringList attributeLines(const Expr& expr, qsizetype most) {
    QStringList lines;
    for (const tensor::Attribute& attribute : expr.attributes.items()) {
        if (lines.size() == most) break;
        lines << cardText(attribute.name) + u' ' + cardText(tensor::text(attribute.value, 40));
    }
    return lines;
}

}  // namespace sonde::canvas
