#include "core/session/own_code_check.h"

#include <algorithm>

#include "core/analysis/difference.h"
#include "core/base/number_text.h"

namespace sonde::session {

using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// The tensors and numbers in a value, in order; what is neither (None, text) is left out.
void collectLeaves(const Value& value, std::vector<Value>& leaves) {
    if (value.isTensor() || value.isNumber()) {
        leaves.push_back(value);
    } else if (value.isListLike()) {
        for (const Value& item : value.items()) collectLeaves(item, leaves);
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) collectLeaves(item, leaves);
    }
}

/// Ten times what a comparison allows: the engine fuses operations, and sums in another order.
analysis::Tolerances coarse() {
    analysis::Tolerances tolerances;
    tolerances.float32 *= 10;
    return tolerances;
}

/// How the graph's value differs from the code's; empty if it does not.
std::string differenceOf(const Value& graph, const Value& code) {
    if (graph.isNumber() && code.isNumber()) {
        const double a = graph.number(), b = code.number();
        const bool isSame = a == b || (a != a && b != b) || std::abs(a - b) <= 1e-3 * std::abs(b);
        return isSame ? std::string() : base::shortestText(a) + " instead of " + base::shortestText(b);
    }
    // A number of the code may be a tensor without dimensions in the graph, or the other way round.
    const Tensor *a = graph.isTensor() ? &graph.tensor() : nullptr, *b = code.isTensor() ? &code.tensor() : nullptr;
    if (!a || !b) {
        const Tensor* tensor = a ? a : b;
        const double number = a ? code.number() : graph.number();
        const bool isSame = tensor->numel() == 1 && std::abs(tensor->toDouble(0) - number) <= 1e-3 * std::abs(number);
        return isSame ? std::string() : "a " + graph.typeText() + " instead of a " + code.typeText();
    }
    if (a->shape() != b->shape() || a->dtype() != b->dtype())
        return graph.typeText() + " instead of " + code.typeText();
    if (a->dtype() == tensor::DType::String) return {};
    const analysis::Difference apart = analysis::difference(*a, *b, coarse().of(a->dtype()));
    return apart.ok ? std::string() : "by up to " + base::shortestText(apart.maxAbsolute);
}

base::Error differs(const std::string& how) {
    return base::runError(
        "the values of the graph differ from those of the model's own code: " + how, {},
        "the model changes tensors or lists in place in a way that the trace did not follow; try another --tracer, or write to a clone() in the model");
}

}  // namespace

OwnCodeCheck checkWithOwnCode(const document::OwnCode& code, std::span<const Value> inputs,
                              std::span<const Value> outputs, const base::WorkContext& work) {
    work.report("comparing with the model's own code");
    const auto own = code(inputs, work);
    if (work.cancelled()) return {base::cancelled(), {}};
    if (!own) return {own.error(), {}};
    if (own->isRandom) return {};
    if (!own->reason.empty()) return {{}, own->reason};
    std::vector<Value> leaves, expected;
    for (const Value& output : outputs) collectLeaves(output, leaves);
    for (const Value& output : own->values) collectLeaves(output, expected);
    if (leaves.size() != expected.size()) {
        return {differs(std::to_string(leaves.size()) + " values instead of " + std::to_string(expected.size())), {}};
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const std::string how = differenceOf(leaves[i], expected[i]);
        if (how.empty()) continue;
        return {differs((leaves.size() > 1 ? "output " + std::to_string(i) + " " : "the output ") +
                        (how.starts_with("by ") ? "differs " + how : "is " + how)),
                {}};
    }
    return {};
}

}  // namespace sonde::session
