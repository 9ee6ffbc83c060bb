#include "core/session/why/inside.h"

#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/ops/dependence/leaves.h"

namespace sonde::session::why {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using tensor::Value;

namespace {

/// Which iteration gave an element of a stacked result, and where the element is in what that gave.
struct Stacked {
    std::size_t output = 0;  ///< of the body
    std::int64_t iteration = -1;
    std::vector<std::int64_t> index;
};

std::optional<Stacked> ofLoop(const Expr& expr, std::size_t position, const std::vector<std::int64_t>& index) {
    const std::size_t carried = expr.arguments.size() > 2 ? expr.arguments.size() - 2 : 0;
    if (position < carried || index.empty()) return std::nullopt;
    // The condition comes first.
    return Stacked{position + 1, index.front(), {index.begin() + 1, index.end()}};
}

/// From version 9 on: before, there was a batch around it.
std::optional<Stacked> ofScan(const Expr& expr, std::size_t position, const std::vector<std::int64_t>& index,
                              const base::Result<tensor::Value>& value) {
    if (expr.op.version < 9 || !value || !value->isTensor()) return std::nullopt;
    const std::int64_t states =
        static_cast<std::int64_t>(expr.arguments.size()) - expr.attributes.getInt("num_scan_inputs", 0);
    const std::int64_t at = static_cast<std::int64_t>(position) - states;
    if (at < 0) return std::nullopt;
    const auto entry = [&](const std::vector<std::int64_t>& list) {
        return at < static_cast<std::int64_t>(list.size()) ? list[static_cast<std::size_t>(at)] : 0;
    };
    std::int64_t axis = entry(expr.attributes.getInts("scan_output_axes"));
    if (axis < 0) axis += static_cast<std::int64_t>(index.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(index.size())) return std::nullopt;
    Stacked found{position, index[static_cast<std::size_t>(axis)], index};
    found.index.erase(found.index.begin() + static_cast<std::ptrdiff_t>(axis));
    if (entry(expr.attributes.getInts("scan_output_directions")) != 0)
        found.iteration = value->tensor().dim(static_cast<std::size_t>(axis)) - 1 - found.iteration;
    return found;
}

/// As Place::before, when the values of an iteration are looked at: just before the one after it; `before` for the
/// last one. Nothing: it is not kept.
struct Moment {
    bool isKnown = false;
    std::optional<std::uint32_t> before;
};
Moment momentOf(NodeId bodyInput, std::int64_t iteration, Reader& reader, std::optional<std::uint32_t> before) {
    std::unique_ptr<Reader> earlier;
    Reader* at = &reader;
    while (true) {
        const std::vector<std::int64_t> iterations = at->iterationsOf(bodyInput);
        if (iterations.empty() || iterations.back() < iteration) return {};
        if (iterations.back() == iteration) return {true, before};
        before = at->iterationBefore(bodyInput);
        std::unique_ptr<Reader> next = before ? at->before(*before) : nullptr;
        if (!next) return {};
        earlier = std::move(next);
        at = earlier.get();
    }
}

/// Leaves of what an argument is; without its value a node counts as one.
std::size_t leavesOf(const Argument& argument, const Value* value) {
    if (value) return ops::leafCount(*value);
    const bool isList = argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple;
    if (!isList) return 1;
    std::size_t count = 0;
    for (const Argument& item : argument.items) count += leavesOf(item, nullptr);
    return count;
}

}  // namespace

Place placeOf(const Argument& argument, std::size_t member, const Value* value) {
    if (argument.kind == Argument::Kind::Node) return {argument.node, member, {}};
    const bool isList = argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple;
    if (!isList) return {};
    const bool isKnown = value && value->isListLike() && value->items().size() == argument.items.size();
    for (std::size_t i = 0; i < argument.items.size(); ++i) {
        const Value* const inside = isKnown ? &value->items()[i] : nullptr;
        const std::size_t count = leavesOf(argument.items[i], inside);
        if (member < count) return placeOf(argument.items[i], member, inside);
        member -= count;
    }
    return {};
}

Place memberPlace(const InternalGraph& graph, const Expr& expr, std::optional<std::size_t> member, const Value* value) {
    const bool isCall = expr.op.name.empty() && !expr.bodies.empty() && expr.kind != ExprKind::Output;
    const Argument* result = nullptr;
    if (expr.kind == ExprKind::Output && !expr.arguments.empty()) result = &expr.arguments.front();
    else if (isCall && expr.outputs.size() == 1) result = &graph.body(expr.bodies.front()).result;
    if (!member || !result || result->kind == Argument::Kind::Node) return {};
    return placeOf(*result, *member, value);
}

Place iterationPart(const InternalGraph& graph, NodeId result, std::optional<std::size_t> member,
                    const std::vector<std::int64_t>& index, Reader& reader, const std::vector<NodeId>& sources,
                    std::optional<std::uint32_t> before) {
    const NodeId source = sources[result.index()];
    const Expr& expr = graph.expr(graph.node(source).producer);
    if (expr.bodies.size() != 1) return {};
    const graph::Body& body = graph.body(expr.bodies.front());
    const std::size_t position = graph.node(source).outputIndex;
    std::optional<Stacked> found;
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Loop: found = ofLoop(expr, position, index); break;
        case OpClass::Scan: found = ofScan(expr, position, index, reader.value(source)); break;
        case OpClass::SequenceMap:
            // A sequence with an item for each iteration.
            if (member) found = Stacked{position, static_cast<std::int64_t>(*member), index};
            break;
        default: break;
    }
    if (!found || found->output >= body.outputs.size() || body.inputs.empty()) return {};
    const Moment moment = momentOf(body.inputs.front(), found->iteration, reader, before);
    if (!moment.isKnown) return {};
    return {body.outputs[found->output], {}, std::move(found->index), moment.before};
}

}  // namespace sonde::session::why
