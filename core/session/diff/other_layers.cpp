#include "core/session/diff/other_layers.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/analysis/layer_facts.h"
#include "core/base/number_text.h"
#include "core/graph/traits.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

/// What layerFacts() tell of a layer in the same way in every vocabulary.
constexpr std::string_view kLayerFacts[] = {"Kernel", "Stride", "Padding", "Dilation", "Groups", "Dim"};

/// A batch norm stands for the convolution before it: another exporter has folded it.
const Expr& layerOf(const FlatGraph& flat, const Expr& expr) {
    if (graph::traitsOf(expr).opClass != OpClass::BatchNorm) return expr;
    const std::vector<NodeId> inputs = flat.inputsOf(expr.id);
    if (inputs.empty()) return expr;
    const Expr& before = flat.graph.expr(flat.graph.node(inputs.front()).producer);
    const OpClass kind = graph::traitsOf(before).opClass;
    return kind == OpClass::Conv || kind == OpClass::ConvTranspose ? before : expr;
}

/// "1×1" and "1": of all dimensions.
bool areSameSizes(std::string_view a, std::string_view b) {
    if (a.size() < b.size()) std::swap(a, b);
    constexpr std::string_view kTimes = "×";
    for (std::size_t at = 0; at <= a.size(); at += b.size() + kTimes.size()) {
        if (a.substr(at, b.size()) != b) return false;
        if (at + b.size() == a.size()) return true;
        if (a.substr(at + b.size(), kTimes.size()) != kTimes) return false;
    }
    return false;
}

/// "same", "1 before, 0 after": the other vocabulary may say it in numbers.
bool isWord(std::string_view value) {
    return std::ranges::any_of(value, [](unsigned char c) { return c < 0x80 && std::isalpha(c); });
}

/// "2×1 before, 1×1 after": of sides that are not alike, which ATen's convolutions cannot say.
bool isOfSides(std::string_view value) { return value.find(" before, ") != std::string_view::npos; }

/// The value; of a dimension that counts from the end, where the rank is known, that from the front.
std::string axisFromFront(const InternalGraph& graph, const Expr& expr, const analysis::LayerFact& fact) {
    if (fact.name != "Dim" || !fact.value.starts_with('-') || expr.inputs.empty()) return fact.value;
    const tensor::TypeInfo& type = graph.node(expr.inputs.front()).type;
    const auto axis = base::parseNumber<std::int64_t>(fact.value);
    if (!type.shape || !axis) return fact.value;
    return std::to_string(*axis + std::ssize(*type.shape));
}

}  // namespace

std::string otherLayer(const FlatGraph& first, const Expr& one, const FlatGraph& second, const Expr& other) {
    const Expr &ours = layerOf(first, one), &theirs = layerOf(second, other);
    const OpClass kind = graph::traitsOf(ours).opClass;
    if (kind != graph::traitsOf(theirs).opClass) return {};
    const std::vector<analysis::LayerFact> others = analysis::layerFacts(second.graph, theirs);
    std::string text;
    for (const analysis::LayerFact& fact : analysis::layerFacts(first.graph, ours)) {
        if (std::ranges::find(kLayerFacts, fact.name) == std::end(kLayerFacts)) continue;
        const auto same = std::ranges::find(others, fact.name, &analysis::LayerFact::name);
        // Exporters pad before an average pool that counts what it pads, but alike on both sides.
        const bool isPooled = fact.name == "Padding" && kind == OpClass::AveragePool;
        if (isPooled && !isOfSides(fact.value) && (same == others.end() || !isOfSides(same->value))) continue;
        if (same == others.end() || isWord(fact.value) != isWord(same->value)) {
            const bool areSides = same != others.end() && (isOfSides(fact.value) || isOfSides(same->value));
            if (!areSides) continue;
        } else if (isWord(fact.value) && !(isOfSides(fact.value) && isOfSides(same->value))) {
            continue;
        }
        if (axisFromFront(first.graph, ours, fact) == axisFromFront(second.graph, theirs, *same)) continue;
        if (areSameSizes(fact.value, same->value)) continue;
        text += (text.empty() ? "" : "; ") + fact.name + ": " + fact.value + " -> " + same->value;
    }
    return text;
}

}  // namespace sonde::session::diff
