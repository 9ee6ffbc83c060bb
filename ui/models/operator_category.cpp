#include "ui/models/operator_category.h"

#include "core/analysis/model_summary.h"

namespace sonde::models {

using graph::Expr;
using graph::ExprKind;

namespace {

QStringView keyOf(ops::Category category) {
    using C = ops::Category;
    switch (category) {
        case C::Layer: return u"layer";
        case C::Activation: return u"activation";
        case C::Pool: return u"pool";
        case C::Normalization: return u"normalisation";
        case C::Elementwise:
        case C::Logic: return u"elementwise";
        case C::Reduction: return u"reduction";
        case C::Transform: return u"transform";
        case C::Shape: return u"shape";
        case C::Tensor:
        case C::Sequence: return u"tensor";
        case C::Data:
        case C::Other: return u"data";
        case C::Quantization: return u"quantisation";
        case C::Attention: return u"attention";
        case C::Dropout: return u"dropout";
        case C::Control: return u"control";
    }
    return u"unknown";
}

}  // namespace

QStringView categoryKey(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Input: return u"input";
        case ExprKind::Output: return u"output";
        case ExprKind::Constant:
        case ExprKind::GetAttr: return u"constant";
        default: break;
    }
    if (const ops::OpDef* op = analysis::definitionOf(expr)) return keyOf(op->category);
    return expr.bodies.empty() ? u"unknown" : u"control";
}

}  // namespace sonde::models
