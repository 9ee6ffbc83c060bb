#include "core/session/diff/form_terms.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "core/analysis/call_spelling.h"
#include "core/analysis/model_summary.h"
#include "core/graph/traits.h"

namespace sonde::session::diff {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

constexpr std::size_t kMaxLabel = 4096;

/// What an operation is set to, with the defaults of its version; axes from the front.
std::string settingsOf(const InternalGraph& graph, const Expr& expr) {
    std::map<std::string, std::string, std::less<>> texts;
    const auto add = [&](std::string_view name) {
        const tensor::AttributeValue* const value = analysis::effectiveAttribute(expr, name);
        if (!value) return;
        std::string text = tensor::text(*value, kMaxLabel);
        if (analysis::isAxisName(name))
            if (const auto axes = analysis::axesFromFront(graph, expr, value)) {
                text.clear();
                for (const std::int64_t axis : *axes) text += fmt::format("{},", axis);
            }
        texts.emplace(name, std::move(text));
    };
    for (const tensor::Attribute& each : expr.attributes.items()) add(each.name);
    if (const ops::OpDef* const op = analysis::definitionOf(expr))
        for (const ops::FormalAttribute& formal : op->attributes) add(formal.name);
    // What a later opset has added is set to what it was before.
    if (const ops::OpDef* const newest =
            ops::Registry::all().find(expr.op.domain, expr.op.name, std::numeric_limits<int>::max()))
        for (const ops::FormalAttribute& formal : newest->attributes)
            if (formal.fallback) texts.emplace(formal.name, tensor::text(*formal.fallback, kMaxLabel));
    std::string all;
    for (const auto& [name, text] : texts) all += fmt::format(" {}={}", name, text);
    return all;
}

}  // namespace

FormTerms::FormTerms(const FlatGraph& first, const FlatGraph& second, const GraphPairs& pairs,
                     const ParameterDiff& parameters, CanonicalTerms::Numbers numbers)
    : m_flats{&first, &second}, m_pairs(pairs), m_constants(first, second), m_terms(numbers),
      m_states(first.graph.exprCount(), Pair::Same) {
    // Weights that differ are listed themselves.
    for (const auto& [a, b] : parameters.pairs)
        if (a.valid() && b.valid() && first.graph.node(a).type == second.graph.node(b).type)
            m_storedOfSecond.emplace(b, a);
}

std::string FormTerms::givenName(std::size_t side, NodeId node) const {
    const InternalGraph& graph = m_flats[side]->graph;
    const auto position = [node](const std::vector<NodeId>& nodes) {
        const auto found = std::ranges::find(nodes, node);
        return found == nodes.end() ? std::nullopt : std::optional(found - nodes.begin());
    };
    const bool areAsMany = m_flats[0]->graph.inputs().size() == m_flats[1]->graph.inputs().size();
    if (const auto at = position(graph.inputs()))
        return areAsMany ? fmt::format("input {}", *at) : "input " + graph.node(node).name;
    const graph::Body& body = graph.body(graph.expr(graph.node(node).producer).body);
    const auto at = position(body.inputs);
    if (!at || !body.owner.valid()) return fmt::format("value {} {}", side, node.index());
    const ExprId owner = side == 0 ? body.owner : m_pairs.ofSecond[body.owner.index()];
    if (!owner.valid()) return fmt::format("value {} {}", side, node.index());
    return fmt::format("given {} {} {}", owner.index(), body.label, *at);
}

TermId FormTerms::storedTerm(const Value& value) {
    if (value.isTensor()) {
        const tensor::Tensor& tensor = value.tensor();
        if (tensor::isFloating(tensor.dtype()) && tensor.numel() == 1 && tensor.rank() == 0)
            return m_terms.number(tensor.toDouble(0));
        const auto whole = tensor.contiguous();
        if (!whole || tensor.dtype() == tensor::DType::String) return m_terms.apply("stored " + value.text(kMaxLabel));
        const auto bytes = static_cast<std::size_t>(whole->numel()) * tensor::itemSize(whole->dtype());
        const Hash hash = hashOf({reinterpret_cast<const char*>(whole->bytes()), bytes});
        // The elements, in that shape: a stored value in another shape has the same.
        CanonicalTerms::Sizes flat{std::to_string(tensor.numel())}, sizes;
        for (const std::int64_t size : tensor.shape()) sizes.push_back(std::to_string(size));
        const TermId elements = m_terms.apply(fmt::format("stored {} {:x}", tensor::name(tensor.dtype()), hash));
        return m_terms.reshaped(elements, flat, sizes);
    }
    return m_terms.apply("stored " + value.text(kMaxLabel));
}

TermId FormTerms::value(std::size_t side, NodeId node, Given given) {
    const FlatGraph& flat = *m_flats[side];
    const NodeId origin = flat.origin[node.index()];
    auto& known = m_known[side][static_cast<std::size_t>(given)];
    if (const auto found = known.find(origin); found != known.end()) return found->second;
    const ExprId id = flat.producer(origin);
    const std::size_t output = flat.graph.node(origin).outputIndex;
    const auto term = [&]() -> TermId {
        NodeId stored = origin;
        std::size_t storedSide = side;
        if (side == 1)
            if (const auto pair = m_storedOfSecond.find(origin); pair != m_storedOfSecond.end())
                stored = pair->second, storedSide = 0;
        if (const Value* const constant = m_constants.valueOf(storedSide, stored)) return storedTerm(*constant);
        if (isValueExpr(flat.graph.expr(id))) return m_terms.apply(givenName(side, origin));
        const ExprId first = side == 0 ? id : m_pairs.ofSecond[id.index()];
        const bool isPair = first.valid() && m_pairs.ofFirst[first.index()].valid();
        if (isPair && (m_states[first.index()] == Pair::Same || given == Given::AllPairs))
            return m_terms.apply(fmt::format("pair {} {}", first.index(), output));
        return result(side, id, output, given);
    }();
    known.emplace(origin, term);
    return term;
}

TermId FormTerms::result(std::size_t side, ExprId id, std::size_t output, Given given) {
    // A longer chain of operations without counterparts is no other form of a layer.
    constexpr std::size_t kMaxDepth = 400;
    const FlatGraph& flat = *m_flats[side];
    const Expr& expr = flat.graph.expr(id);
    const auto unknown = [&] { return m_terms.apply(fmt::format("value {} {} {}", side, id.index(), output)); };
    if (m_depth >= kMaxDepth || !expr.bodies.empty() || expr.callable || output >= expr.outputs.size())
        return unknown();
    if (graph::traitsOf(expr).is(operators::Trait::Random)) return unknown();
    ++m_depth;
    const FormCall::TermOf termOf = [&](NodeId node) { return value(side, node, given); };
    const FormCall::ValueOf valueOf = [&](NodeId node) { return m_constants.valueOf(side, node); };
    const FormCall::StoredTerm stored = [this](const Value& value) { return storedTerm(value); };
    FormCall call(m_terms, flat.graph, expr, output, termOf, valueOf, stored);
    const auto form = canonicalForm(call);
    const TermId term = form ? *form : plainCall(side, expr, output, termOf);
    --m_depth;
    return term;
}

TermId FormTerms::plainCall(std::size_t side, const Expr& expr, std::size_t output, const FormCall::TermOf& termOf) {
    std::string label = fmt::format("op {}{} ->{}", operatorName(expr), settingsOf(m_flats[side]->graph, expr), output);
    std::vector<TermId> of;
    for (const Argument& argument : expr.arguments) {
        if (argument.kind == Argument::Kind::Node) {
            label += " x";
            of.push_back(termOf(argument.node));
        } else if (argument.kind == Argument::Kind::Constant) {
            label += " " + argument.constant.text(kMaxLabel);
        } else {
            label += " -";
        }
    }
    while (label.ends_with(" -")) label.resize(label.size() - 2);
    if (analysis::isCommutative(expr)) std::ranges::sort(of);
    return m_terms.apply(label, std::move(of));
}

}  // namespace sonde::session::diff
