#include "core/io/torchscript/python_forms.h"

#include <algorithm>

#include "core/io/torchscript/dense.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/source_stack.h"
#include "core/io/torchscript/views.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::ValueKind;

namespace {

/// A bound of a slice: what Python leaves out is none.
Var bound(const std::vector<ScriptValue>& arguments, std::size_t i, std::int64_t otherwise) {
    if (i >= arguments.size()) return {};
    const Var var = toVar(arguments[i]);
    return isWhole(var) && var.toInt() == otherwise ? Var() : var;
}

/// The tensor is a node of the graph, or becomes one by this.
bool isKnownNode(const TensorCell& cell) {
    return cell.var.isProxy() || (cell.var.slot() && cell.var.slot()->kind == trace::Slot::Kind::Parameter);
}

/// slice(x, dim, start, end, step) and select(x, dim, index) as x[…]. Parts for several dimensions that follow each
/// other on one tensor are one index, if the source has them at the same place or (as traced code does not say) could
/// have.
std::optional<ScriptValue> indexed(bool isSlice, const std::vector<ScriptValue>& arguments, std::string_view text) {
    const ScriptValue tensor =
        arguments.front().cell() ? arguments.front() : ScriptValue(tensorOf(*arguments.front().plain()));
    const CellPtr cell = shown(*tensor.cell()).shared_from_this();
    refresh(*cell);
    const Var dimension = arguments.size() > 1 ? toVar(arguments[1]) : Var(0);
    if (!isWhole(dimension)) return std::nullopt;
    const std::int64_t dim = dimension.toInt();
    if (dim > 16 || dim < -1 || (!isSlice && arguments.size() != 3)) return std::nullopt;
    const Var step = bound(arguments, 4, 1);
    const Var part =
        isSlice ? Var::slice(bound(arguments, 2, 0), bound(arguments, 3, kToTheEnd), step) : toVar(arguments[2]);

    IndexChain next;
    next.place = text;
    const auto isSlicePart = [](const Var& var) { return var.kind() == Var::Kind::Slice; };
    const IndexChain* before = cell->chain.get();
    const bool follows = before && !before->extended && before->place == text &&
                         (!text.empty() || isSlicePart(before->index.back())) &&
                         dim == std::ranges::count_if(before->index, isSlicePart);
    Var node;
    if (follows) {
        next.base = before->base;
        next.index = before->index;
        next.index.push_back(part);
        trace::Recorder& recorder = trace::Tracer::active()->recorder();
        if (cell->var.isProxy() && recorder.amendLast(cell->var.node(), {next.base, pythonIndex(next.index)})) {
            node = cell->var;
            cell->chain->extended = true;
        }
    }
    if (!node.isProxy()) {
        next.base = toVar(tensor);
        next.index.clear();
        if (dim == -1) next.index.push_back(Var::ellipsis());
        for (std::int64_t i = 0; i < dim; ++i) next.index.push_back(Var::slice({}, {}, {}));
        next.index.push_back(part);
        node = trace::callFunction(kGetItem, {next.base, pythonIndex(next.index)});
    }
    ScriptValue result = makeCell(node);
    if (dim >= 0) result.cell()->chain = std::make_shared<IndexChain>(std::move(next));
    // Still a view of what was cut.
    const char* cut = isSlice ? "slice" : "select";
    setBase(*result.cell(), cell, viewStep(cut, arguments));
    result.cell()->isDense = givesDense(cut, arguments);
    return result;
}

}  // namespace

std::optional<ScriptValue> asPython(const std::string& op, const std::vector<ScriptValue>& arguments,
                                    const Expression& expression) {
    const bool hasForm = op == "slice" || op == "select" || op == "size" || op == "div";
    if (!hasForm || !trace::Tracer::active() || arguments.empty()) return std::nullopt;
    // What is selected from is a tensor, known as one or not.
    const bool unknownTensor = op == "select" && arguments.front().isProxy();
    if (!unknownTensor && (!arguments.front().cell() || !isKnownNode(*arguments.front().cell()))) return std::nullopt;
    const SourceRanges::Place place = SourceFrame::placeOf(expression);
    const auto says = [&](std::string_view word) { return place.text.find(word) != std::string_view::npos; };
    const bool isSlice = op == "slice";
    if (isSlice || op == "select") {
        // Called by name, they are what they are.
        if (says(isSlice ? ".narrow" : ".select") || says("torch.select") || says("chunk")) return std::nullopt;
        return indexed(isSlice, arguments, place.text);
    }
    // x.shape goes through torch's own prelude, where the tensor is called a.
    if (op == "size" && arguments.size() == 1 && (says(".shape") || place.text == "a.size")) {
        static constexpr trace::Function kGetAttribute{"getattr", "getattr", "getattr", false, "prim"};
        return ScriptValue(trace::callFunction(kGetAttribute, {toVar(arguments.front()), "shape"}));
    }
    if (op == "div" && arguments.size() == 2 && !says("div")) {
        const bool byTensor = arguments[1].cell() != nullptr;
        const trace::Function divide{byTensor ? "div.Tensor" : "div.Scalar", "truediv", "operator.truediv"};
        return makeCell(trace::callFunction(divide, {toVar(arguments[0]), toVar(arguments[1])}));
    }
    return std::nullopt;
}

namespace {

bool isSizeOf(const Expression& expression, const std::string& variable) {
    return expression.kind == Expression::Kind::Call && expression.parts.size() == 3 &&
           dottedPath(expression.parts[0]) == "torch.size" && expression.parts[1].kind == Expression::Kind::Name &&
           expression.parts[1].text == variable && expression.parts[2].kind == Expression::Kind::Int;
}

void collectSizes(const Expression& expression, const std::string& variable, std::vector<const Expression*>& into) {
    if (isSizeOf(expression, variable)) into.push_back(&expression);
    for (const Expression& part : expression.parts) collectSizes(part, variable, into);
}

}  // namespace

std::vector<const Expression*> unpackedSizes(const FunctionDef& function, const Expression& first) {
    const SourceRanges::Place place = SourceFrame::placeOf(first);
    if (place.stack.empty() || first.parts.size() != 3 || first.parts[1].kind != Expression::Kind::Name ||
        !isSizeOf(first, first.parts[1].text))
        return {};
    std::vector<const Expression*> calls;
    for (const Statement& statement : function.body) collectSizes(statement.value, first.parts[1].text, calls);
    std::erase_if(calls, [&](const Expression* call) { return SourceFrame::placeOf(*call).stack != place.stack; });
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i]->parts[2].integer != static_cast<std::int64_t>(i)) return {};
    }
    return calls.size() > 1 ? calls : std::vector<const Expression*>();
}

}  // namespace sonde::io::script
