#include "core/session/why/inside.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/ops/dependence/leaves.h"
#include "core/ops/support/batched_scan.h"

namespace sonde::session::why {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using tensor::Shape;
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

/// How a Scan goes through its inputs. Up to version 8 there is a batch around everything, and lengths come first.
struct ScanLayout {
    const Expr& expr;
    bool isBatched = expr.op.version < 9;
    std::size_t states =
        expr.arguments.size() - std::min(expr.arguments.size(), static_cast<std::size_t>(std::max<std::int64_t>(
                                                                    expr.attributes.getInt("num_scan_inputs", 0), 0)) +
                                                                    (isBatched ? 1 : 0));

    const Argument* argument(std::size_t bodyInput) const {
        const std::size_t at = bodyInput + (isBatched ? 1 : 0);
        return at < expr.arguments.size() ? &expr.arguments[at] : nullptr;
    }
    std::int64_t entry(const char* list, std::size_t at) const {
        const std::vector<std::int64_t> all = expr.attributes.getInts(list);
        return at < all.size() ? all[at] : 0;
    }
    std::int64_t batchOf(std::int64_t iteration) const { return isBatched ? iteration / ops::kScanBatchIterations : 0; }
    std::int64_t stepOf(std::int64_t iteration) const {
        return isBatched ? iteration % ops::kScanBatchIterations : iteration;
    }
    /// Steps of a batch whose scan inputs have the shape.
    std::int64_t length(const Shape& input, std::size_t axis, std::int64_t batch, Reader& reader) const {
        if (isBatched && expr.arguments[0].kind == Argument::Kind::Node) {
            const auto lengths = reader.valueFor(expr.arguments[0].node, expr.outputs.front());
            if (lengths && lengths->isTensor() && batch < lengths->tensor().numel())
                return lengths->tensor().toInt64(batch);
        }
        return axis < input.rank() ? input[axis] : 0;
    }
};

std::optional<Stacked> ofScan(const Expr& expr, std::size_t position, const std::vector<std::int64_t>& index,
                              NodeId result, Reader& reader) {
    const ScanLayout scan{expr};
    const auto value = reader.value(result);
    if (!value || !value->isTensor()) return std::nullopt;
    if (scan.isBatched) {
        // A state is that of the last step of its batch.
        const Argument* const first = scan.argument(scan.states);
        if (index.empty() || !first || first->kind != Argument::Kind::Node) return std::nullopt;
        const bool isState = position < scan.states;
        if (!isState && index.size() < 2) return std::nullopt;
        const auto input = reader.valueFor(first->node, result);
        if (!input || !input->isTensor()) return std::nullopt;
        const std::int64_t batch = index[0];
        const std::int64_t step = isState ? scan.length(input->tensor().shape(), 1, batch, reader) - 1 : index[1];
        return Stacked{
            position, batch * ops::kScanBatchIterations + step, {index.begin() + (isState ? 1 : 2), index.end()}};
    }
    if (position < scan.states) return std::nullopt;
    const std::size_t at = position - scan.states;
    std::int64_t axis = scan.entry("scan_output_axes", at);
    if (axis < 0) axis += static_cast<std::int64_t>(index.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(index.size())) return std::nullopt;
    Stacked found{position, index[static_cast<std::size_t>(axis)], index};
    found.index.erase(found.index.begin() + static_cast<std::ptrdiff_t>(axis));
    if (scan.entry("scan_output_directions", at) != 0)
        found.iteration = value->tensor().dim(static_cast<std::size_t>(axis)) - 1 - found.iteration;
    return found;
}

/// What a loop was given as the state that a result is the last one of.
const Argument* firstState(const Expr& expr, std::size_t position) {
    const OpClass opClass = graph::traitsOf(expr).opClass;
    if (opClass == OpClass::Loop)  // behind the count of iterations and the condition
        return position + 2 < expr.arguments.size() ? &expr.arguments[position + 2] : nullptr;
    const ScanLayout scan{expr};
    return opClass == OpClass::Scan && position < scan.states ? scan.argument(position) : nullptr;
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

/// An input of a loop's body in an iteration.
struct BodyInput {
    const Expr& loop;
    const graph::Body& body;
    std::size_t position;
    std::int64_t iteration;
    std::optional<std::uint32_t> began = std::nullopt;  ///< as Reader::iterationBefore
    std::optional<std::size_t> member = std::nullopt;
};

/// Without checking it: what an output of the body was in the iteration before, else an argument of the loop.
InputSource carriedSource(const BodyInput& input, std::size_t output, const Argument* first) {
    if (input.began)
        return output < input.body.outputs.size()
                   ? InputSource{{input.body.outputs[output], input.member, {}, input.began}}
                   : InputSource{};
    Place given = first ? placeOf(*first, 0, nullptr) : Place{};
    given.member = input.member;
    return {std::move(given)};
}

/// Inputs are the iteration, the condition and the states, outputs the condition and the states.
InputSource loopSource(const BodyInput& input, Reader& reader) {
    const auto counter = reader.value(input.body.inputs.front());
    const bool isTensor = counter && counter->isTensor() && counter->tensor().numel() == 1;
    if (!isTensor && !(counter && counter->isNumber())) return {};
    const double count = isTensor ? counter->tensor().toDouble(0) : counter->number();
    if (input.position == 0 || count != static_cast<double>(input.iteration)) return {};
    return carriedSource(
        input, input.position - 1,
        input.position < input.loop.arguments.size() ? &input.loop.arguments[input.position] : nullptr);
}

InputSource scanSource(BodyInput input, Reader& reader) {
    const ScanLayout scan{input.loop};
    const Argument* const argument = scan.argument(input.position);
    const std::int64_t batch = scan.batchOf(input.iteration), step = scan.stepOf(input.iteration);
    if (input.position < scan.states) {
        if (step == 0) input.began.reset();
        InputSource source = carriedSource(input, input.position, argument);
        if (scan.isBatched && step == 0) source.selected = {{0, batch}};
        return source;
    }
    if (!argument || argument->kind != Argument::Kind::Node) return {};
    const auto whole = reader.valueFor(argument->node, input.loop.outputs.front());
    if (!whole || !whole->isTensor()) return {};
    const std::size_t at = input.position - scan.states;
    const Shape& shape = whole->tensor().shape();
    std::int64_t axis = scan.isBatched ? 1 : scan.entry("scan_input_axes", at);
    if (axis < 0) axis += static_cast<std::int64_t>(shape.rank());
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.rank())) return {};
    const bool isBackward = scan.entry(scan.isBatched ? "directions" : "scan_input_directions", at) != 0;
    const auto along = static_cast<std::size_t>(axis);
    InputSource source{{argument->node, {}, {}}};
    if (scan.isBatched) source.selected.emplace_back(0, batch);
    source.selected.emplace_back(along, isBackward ? scan.length(shape, along, batch, reader) - 1 - step : step);
    return source;
}

/// An item of each sequence; other values are the same in all iterations.
InputSource mapSource(const BodyInput& input, Reader& reader) {
    if (input.position >= input.loop.arguments.size()) return {};
    const Argument& argument = input.loop.arguments[input.position];
    if (argument.kind != Argument::Kind::Node) return {};
    const auto whole = reader.valueFor(argument.node, input.loop.outputs.front());
    if (!whole) return {};
    if (whole->isListLike()) return {{argument.node, static_cast<std::size_t>(input.iteration), {}}};
    return {{argument.node, input.member, {}}};
}

/// Whether what a source names has the value of the body's input: that may have been overwritten, or be of another
/// iteration.
bool hasValue(const InputSource& source, const Value& value, Reader& reader) {
    const std::unique_ptr<Reader> earlier = source.whole.before ? reader.before(*source.whole.before) : nullptr;
    if (source.whole.before && !earlier) return false;
    auto known = (earlier ? *earlier : reader).value(source.whole.node);
    if (!known) return false;
    if (known->isListLike() && !value.isListLike()) {
        const Value* const item = ops::leafOf(*known, source.whole.member.value_or(0));
        if (!item) return false;
        known = Value(*item);
    }
    for (auto at = source.selected.rbegin(); at != source.selected.rend(); ++at) {
        const auto [axis, index] = *at;
        if (!known->isTensor() || axis >= known->tensor().rank() || index < 0 || index >= known->tensor().dim(axis))
            return false;
        known = Value(known->tensor().selected(axis, index));
    }
    return tensor::identical(*known, value);
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

Place InputSource::at(std::vector<std::int64_t> index) const {
    Place place = whole;
    for (const auto& [axis, position] : selected)
        index.insert(index.begin() + static_cast<std::ptrdiff_t>(std::min(axis, index.size())), position);
    place.index = std::move(index);
    return place;
}

InputSource inputSource(const InternalGraph& graph, NodeId bodyInput, std::optional<std::size_t> member,
                        Reader& reader) {
    const graph::Body& body = graph.body(graph.expr(graph.node(bodyInput).producer).body);
    const auto found = std::ranges::find(body.inputs, bodyInput);
    const std::vector<std::int64_t> iterations = reader.iterationsOf(bodyInput);
    const auto value = reader.value(bodyInput);
    if (!body.owner.valid() || found == body.inputs.end() || iterations.empty() || !value) return {};
    const Expr& loop = graph.expr(body.owner);
    const BodyInput input{loop,
                          body,
                          static_cast<std::size_t>(found - body.inputs.begin()),
                          iterations.back(),
                          reader.iterationBefore(bodyInput),
                          member};
    InputSource source;
    switch (graph::traitsOf(loop).opClass) {
        case OpClass::Loop: source = loopSource(input, reader); break;
        case OpClass::Scan: source = scanSource(input, reader); break;
        case OpClass::SequenceMap: source = mapSource(input, reader); break;
        default: break;
    }
    if (!source.whole.node.valid() || !hasValue(source, *value, reader)) return {};
    return source;
}

Place iterationPart(const InternalGraph& graph, NodeId result, std::optional<std::size_t> member,
                    const std::vector<std::int64_t>& index, Reader& reader, const std::vector<NodeId>& sources,
                    std::optional<std::uint32_t> before) {
    const NodeId source = sources[result.index()];
    const Expr& expr = graph.expr(graph.node(source).producer);
    if (expr.bodies.size() != 1) return {};
    const graph::Body& body = graph.body(expr.bodies.front());
    const std::size_t position = graph.node(source).outputIndex;
    // No iteration gave a state that is none of the body's: there was none, and the state is what the loop was given.
    if (const Argument* const first = firstState(expr, position); first && first->kind == Argument::Kind::Node) {
        const auto given = reader.valueFor(first->node, source);
        const auto value = reader.value(source);
        if (given && value && tensor::identical(*given, *value)) return {first->node, member, index, before};
    }
    std::optional<Stacked> found;
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Loop: found = ofLoop(expr, position, index); break;
        case OpClass::Scan: found = ofScan(expr, position, index, source, reader); break;
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
