#include "core/session/diff/layer_functions.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/analysis/call_arguments.h"
#include "core/graph/traits.h"
#include "core/session/watch/plain_operator.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using operators::OpClass;
using operators::Trait;

namespace {

/// Operators that exporters write in others, with the one of these that tells: h·sigmoid(x) is known by its sigmoid.
struct Decomposed {
    std::string_view name, part;
};
constexpr std::array<Decomposed, 11> kDecomposed{{{"gelu", "erf"},
                                                  {"quickgelu", "sigmoid"},
                                                  {"silu", "sigmoid"},
                                                  {"swish", "sigmoid"},
                                                  {"hardswish", "clip"},
                                                  {"hardsigmoid", "clip"},
                                                  {"relu6", "clip"},
                                                  {"hardtanh", "clip"},
                                                  {"clamp", "clip"},
                                                  {"groupnorm", "norm"},
                                                  {"instancenormalization", "norm"}}};

/// How elements are moved, as far as every exporter says it: dimensions in another order, parts, several as one, or (of
/// other operators) the label; 0: in another shape, or not at all.
Hash movementOf(const GraphSide& side, ExprId id) {
    const Expr& expr = side.graph.expr(id);
    const operators::Traits& traits = graph::traitsOf(expr);
    using operators::ViewForm;
    if (!traits.is(Trait::MovesData) && !traits.mayBeView()) return 0;
    const ViewForm form = traits.form;
    const bool isPart = operators::cutsPart(form) || operators::cutsList(form) || form == ViewForm::Index;
    switch (traits.opClass) {
        case OpClass::Transpose: return labelOf(OpClass::Transpose);
        case OpClass::Index:
        case OpClass::Slice:
        case OpClass::Select:
        case OpClass::ListView: return labelOf(OpClass::Index);
        case OpClass::Concat:
        case OpClass::Stack: return labelOf(OpClass::Concat);
        default: break;
    }
    if (isPart) return labelOf(OpClass::Index);
    if (form >= ViewForm::Transpose && form <= ViewForm::MoveDim) return labelOf(OpClass::Transpose);
    return 0;
}

/// Of one element or of masks, and what only makes values: neither says which function is computed.
bool isSilent(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (isCallWithBody(expr)) return true;
    switch (traits.opClass) {
        case OpClass::Equal:
        case OpClass::NotEqual:
        case OpClass::Not:
        case OpClass::And:
        case OpClass::Or:
        case OpClass::Where:
        case OpClass::MaskedFill:
        case OpClass::Neg:
        case OpClass::Cast:
        case OpClass::Create:
        case OpClass::Range:
        case OpClass::Shape:
        case OpClass::If:
        case OpClass::Conditional:
        case OpClass::Construct:
        case OpClass::ConstructTuple:
        case OpClass::Unpack:
        case OpClass::Identity:
        case OpClass::Clone:
        case OpClass::Dropout: return true;
        default: break;
    }
    return traits.is(Trait::MovesData) || traits.mayBeView() || traits.is(Trait::Effect) || expr.op.domain == "prim";
}

bool isTanhForm(const graph::InternalGraph& graph, const Expr& expr) {
    const tensor::Value value = analysis::CallArguments(graph, expr).named("approximate");
    return value.kind() == tensor::ValueKind::String && value.text().find("tanh") != std::string::npos;
}

}  // namespace

LayerFunctions::LayerFunctions(const GraphSide& side, const std::vector<ExprId>& operations) {
    const Hash product = labelOf(OpClass::MatMul), norm = hashOf("norm");
    bool hasProduct = false, hasRecurrent = false;
    const auto addOperator = [&](ExprId id, const Expr& expr) {
        const std::string plain = plainOperator(expr);
        const auto known = std::ranges::find(kDecomposed, plain, &Decomposed::name);
        if (known == kDecomposed.end()) return functions.push_back(side.label[id.index()]);
        isComposite = true;
        if (known->part == "sigmoid") functions.push_back(labelOf(OpClass::Sigmoid));
        else if (known->part == "clip") functions.push_back(labelOf(OpClass::Clip));
        else functions.push_back(hashOf(isTanhForm(side.graph, expr) ? std::string_view("tanh") : known->part));
    };
    for (const ExprId id : operations) {
        const Expr& expr = side.graph.expr(id);
        const operators::Traits& traits = graph::traitsOf(expr);
        const OpClass kind = traits.opClass;
        if (traits.is(Trait::Multiplies)) hasProduct = true;
        else if (traits.is(Trait::Convolves)) functions.push_back(side.label[id.index()]), isComposite = true;
        else if (kind == OpClass::Recurrent) hasRecurrent = true;
        else if (kind == OpClass::MultiHeadAttention) hasProduct = true, functions.push_back(labelOf(OpClass::Softmax));
        else if (kind == OpClass::BatchNorm || kind == OpClass::BatchNormWithStatistics)
            functions.push_back(norm), isComposite = true;
        else if (kind == OpClass::LayerNorm) {
            functions.insert(functions.end(), {labelOf(OpClass::Mean), labelOf(OpClass::Mean), labelOf(OpClass::Sqrt)});
            isComposite = true;
        } else if (kind == OpClass::Add || kind == OpClass::Sub || kind == OpClass::ReverseSub)
            sums.push_back(labelOf(OpClass::Add));
        else if (kind == OpClass::Mul || kind == OpClass::Div || kind == OpClass::Reciprocal)
            sums.push_back(labelOf(OpClass::Mul));
        else if (kind == OpClass::Pow) sums.push_back(labelOf(OpClass::Pow));
        else if (kind == OpClass::ReciprocalSqrt) functions.push_back(labelOf(OpClass::Sqrt));
        else if (!isSilent(expr)) addOperator(id, expr);
    }
    for (const ExprId id : operations)
        if (const Hash movement = movementOf(side, id);
            movement != 0 && std::ranges::find(movements, movement) == movements.end())
            movements.push_back(movement);
    std::ranges::sort(movements);
    if (hasProduct) functions.push_back(product);
    if (hasRecurrent) functions.push_back(labelOf(OpClass::Recurrent));
    isComposite = isComposite || hasProduct || hasRecurrent;
    std::ranges::sort(functions);
    std::ranges::sort(sums);
}

bool LayerFunctions::mayEqual(const LayerFunctions& other) const {
    const bool mayMove = movements == other.movements || !functions.empty();
    return functions == other.functions && mayMove && (isComposite || other.isComposite || sums == other.sums);
}

}  // namespace sonde::session::diff
