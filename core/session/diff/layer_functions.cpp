#include "core/session/diff/layer_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/analysis/call_arguments.h"
#include "core/graph/traits.h"
#include "core/session/diff/operation_settings.h"
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

KnownFunctions::KnownFunctions(const FlatGraph& flat, ExprId id) {
    const Expr& expr = flat.graph.expr(id);
    const operators::Traits& traits = graph::traitsOf(expr);
    const analysis::CallArguments arguments(flat.graph, expr);
    const OpClass kind = traits.opClass;
    const auto add = [this](std::initializer_list<OpClass> classes) {
        for (const OpClass each : classes) functions.push_back(labelOf(each));
    };
    const auto isGiven = [&](std::string_view name) { return !arguments.named(name).isNone(); };
    const auto epsilon = [&] {
        if (expr.op.domain != "aten") return static_cast<float>(expr.attributes.getFloat("epsilon", 1e-5));
        const tensor::Value given = arguments.named("eps");
        return given.kind() == tensor::ValueKind::Float ? static_cast<float>(given.toFloat()) : 1e-5F;
    };
    if (traits.is(Trait::Attends) && !traits.is(Trait::Multiplies) && kind != OpClass::Softmax) isKnown = false;
    if (kind == OpClass::Recurrent || kind == OpClass::MultiHeadAttention || kind == OpClass::EncoderLayer)
        isKnown = false;
    if (!isKnown) return;
    const std::string plain = plainOperator(expr);
    if (traits.is(Trait::Convolves)) {
        convolves = mayHoldSums = true;
        functions.push_back(functionOf(flat, id));
    } else if (traits.is(Trait::Multiplies)) {
        multiplies = true;
        functions.push_back(functionOf(flat, id));
        const bool hasSum =
            expr.op.domain == "aten" ? isGiven("bias") || arguments.has("beta") : expr.inputs.size() > 2;
        if (hasSum) add({OpClass::Add});
    } else if (kind == OpClass::LayerNorm) {
        add({OpClass::Mean, OpClass::Sub, OpClass::Pow, OpClass::Mean, OpClass::Add, OpClass::Sqrt, OpClass::Div});
        const bool isAten = expr.op.domain == "aten";
        numbers = {2, epsilon()};
        if (isAten ? isGiven("weight") : expr.inputs.size() > 1) add({OpClass::Mul});
        if (isAten ? isGiven("bias") : expr.inputs.size() > 2) add({OpClass::Add});
    } else if (kind == OpClass::BatchNorm || kind == OpClass::BatchNormWithStatistics) {
        mayHoldSums = true;
        functions.push_back(hashOf("norm"));
    } else if (const auto known = std::ranges::find(kDecomposed, plain, &Decomposed::name);
               known != kDecomposed.end()) {
        const bool isGelu = known->part == "erf";
        if (isGelu && !isTanhForm(flat.graph, expr)) {
            functions.push_back(hashOf(known->part));
            add({OpClass::Div, OpClass::Add, OpClass::Mul, OpClass::Mul});
            numbers = {std::sqrt(2.0F), 1, 0.5F};
        } else if (known->part == "norm") {
            functions.push_back(hashOf(known->part));
            numbers = {epsilon()};
            if (plain == "groupnorm" && isGiven("weight")) add({OpClass::Mul});
            if (plain == "groupnorm" && isGiven("bias")) add({OpClass::Add});
        } else if (known->part == "sigmoid") {
            add({OpClass::Sigmoid, OpClass::Mul});
            mayHoldSums = plain == "quickgelu";
        } else {
            mayHoldSums = true;
            if (known->part == "clip") add({OpClass::Clip});
            else functions.push_back(hashOf("tanh"));
        }
    } else if (kind == OpClass::ReciprocalSqrt || kind == OpClass::Reciprocal) {
        isKnown = false;
    } else if (!isSilent(expr) && plain != "sequenceinsert" && !flat.computedInputsOf(id).empty()) {
        // Of numbers alone: a script computes them with Python's.
        functions.push_back(functionOf(flat, id));
        for (const OperationSetting& setting : operationSettings(flat.graph, expr, -1))
            if (setting.name == kNumberOperand) numbers.push_back(static_cast<float>(setting.values.front()));
    }
}

bool KnownFunctions::isWholeLayer(const FlatGraph& flat, ExprId id) {
    const Expr& expr = flat.graph.expr(id);
    const operators::Traits& traits = graph::traitsOf(expr);
    switch (traits.opClass) {
        case OpClass::LayerNorm:
        case OpClass::BatchNormWithStatistics:
        case OpClass::Recurrent:
        case OpClass::MultiHeadAttention:
        case OpClass::EncoderLayer: return true;
        case OpClass::Softmax: return false;
        default: break;
    }
    if (traits.is(Trait::Attends) && !traits.is(Trait::Multiplies)) return true;
    return std::ranges::find(kDecomposed, plainOperator(expr), &Decomposed::name) != kDecomposed.end();
}

bool KnownFunctions::isSum(Hash function) {
    const std::array kinds{OpClass::Add, OpClass::Sub, OpClass::Mul, OpClass::Div, OpClass::Pow};
    return std::ranges::any_of(kinds, [function](OpClass kind) { return labelOf(kind) == function; });
}
bool KnownFunctions::isNormalisation(Hash function) { return function == hashOf("norm"); }

}  // namespace sonde::session::diff
