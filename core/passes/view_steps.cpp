// Views taken again of another base, and turned round.

#include <algorithm>

#include "core/graph/memory.h"
#include "core/passes/view_chain.h"
#include "core/passes/vocabulary.h"
#include "core/tensor/ellipsis_value.h"

namespace sonde::passes {

namespace {

Argument number(std::int64_t value) { return Argument::of(Value::ofInt(value)); }

Expr callOf(std::string_view domain, std::string_view op, std::vector<Argument> arguments) {
    Expr expr;
    expr.kind = ExprKind::CallFunction;
    expr.op = {std::string(domain), std::string(op), 0};
    expr.target = (domain == "prim" ? "operator." : "torch.") + std::string(graph::withoutOverload(op));
    expr.arguments = std::move(arguments);
    return expr;
}

/// What the step is, of another base.
Expr copyOf(const Expr& step, NodeId base) {
    Expr copy;
    copy.kind = step.kind;
    copy.op = step.op;
    copy.target = step.target;
    copy.arguments = step.arguments;
    copy.keywords = step.keywords;
    copy.attributes = step.attributes;
    copy.qualname = step.qualname;
    copy.moduleClass = step.moduleClass;
    copy.source = step.source;
    copy.arguments[0] = Argument::of(base);
    return copy;
}

/// The traits of what `x.T` and the like read, else the operator's.
const operators::Traits& traitsOfStep(const InternalGraph& graph, const Expr& step) {
    if (opClassOf(step) != OpClass::GetAttr) return traitsOf(step);
    const Value* name = constantOf(graph, argumentOf(step, 1));
    const bool isName = name && name->kind() == tensor::ValueKind::String;
    return operators::traitsOf("aten", isName ? operators::operatorOfAttribute(name->toString()) : std::string_view());
}

/// Inverse of a permutation that is known.
std::optional<Argument> inverseOf(const InternalGraph& graph, const Argument* dims) {
    std::vector<std::int64_t> order;
    if (!dims) return std::nullopt;
    if (dims->kind == Argument::Kind::List || dims->kind == Argument::Kind::Tuple) {
        for (const Argument& item : dims->items) {
            const auto dim = intOf(graph, &item);
            if (!dim) return std::nullopt;
            order.push_back(*dim);
        }
    } else if (const Value* value = constantOf(graph, dims); value && value->isListLike()) {
        for (const Value& item : value->items()) {
            if (item.kind() != tensor::ValueKind::Int) return std::nullopt;
            order.push_back(item.toInt());
        }
    } else {
        return std::nullopt;
    }
    const auto rank = static_cast<std::int64_t>(order.size());
    tensor::ValueList inverse(order.size());
    for (std::int64_t i = 0; i < rank; ++i) {
        const std::int64_t dim = order[static_cast<std::size_t>(i)];
        const std::int64_t at = dim < 0 ? dim + rank : dim;
        if (at < 0 || at >= rank) return std::nullopt;
        inverse[static_cast<std::size_t>(at)] = Value::ofInt(i);
    }
    return Argument::of(Value::list(std::move(inverse)));
}

/// view(x, dtype) shows the same bytes as other elements.
bool isOtherType(const Expr& step) {
    const operators::Traits& traits = traitsOf(step);
    if (traits.form != ViewForm::NewShape || traits.memory.sharing != graph::Sharing::View) return false;
    return operators::overloadOf(step.op.name) == "dtype" ||
           (step.arguments.size() > 1 && step.arguments[1].kind == Argument::Kind::Constant &&
            !step.arguments[1].constant.isListLike());
}

/// Writes elements of lists of views into their base: which slice element `item` is, perhaps by numbers that a run
/// knows.
class ListItem {
  public:
    ListItem(Cursor& cursor, const Expr& list, NodeId base)
        : m_cursor(cursor), m_graph(cursor.rewrite().graph()), m_list(list), m_base(base) {}

    /// None: the operator does not say where its elements are.
    std::optional<Argument> index(std::int64_t item) {
        const ViewForm form = traitsOf(m_list).form;
        const bool isUnbind = form == ViewForm::Unbind;
        const Argument* dim = argumentOf(m_list, isUnbind ? 1 : 2, "dim");
        const auto axis = dim ? intOf(m_graph, dim) : std::optional<std::int64_t>(0);
        if (!axis || *axis < -64 || *axis > 64) return std::nullopt;
        if (isUnbind) return along(*axis, number(item));
        const bool isSplit = form == ViewForm::Split;
        if (!operators::cutsList(form) || item < 0) return std::nullopt;
        const Argument* second = argumentOf(m_list, 1, isSplit ? "split_size" : "chunks");
        if (!second) return std::nullopt;
        if (const auto whole = intOf(m_graph, second)) {
            if (isSplit) return along(*axis, slice(number(*whole * item), number(*whole * (item + 1))));
            const NodeId size = add(callOf("aten", "size.int", {Argument::of(m_base), number(*axis)}));
            const NodeId above = add(callOf("prim", "add", {Argument::of(size), number(*whole - 1)}));
            const NodeId length = add(callOf("prim", "floordiv", {Argument::of(above), number(*whole)}));
            const NodeId start = add(callOf("prim", "mul", {Argument::of(length), number(item)}));
            const NodeId stop = add(callOf("prim", "add", {Argument::of(start), Argument::of(length)}));
            return along(*axis, slice(Argument::of(start), Argument::of(stop)));
        }
        const Value* lengths = constantOf(m_graph, second);
        if (!lengths || !lengths->isListLike() || static_cast<std::size_t>(item) >= lengths->items().size())
            return std::nullopt;
        const auto isInt = [](const Value& length) { return length.kind() == tensor::ValueKind::Int; };
        if (!std::ranges::all_of(lengths->items(), isInt)) return std::nullopt;
        std::int64_t start = 0;
        for (std::int64_t i = 0; i < item; ++i) start += lengths->items()[static_cast<std::size_t>(i)].toInt();
        return along(*axis,
                     slice(number(start), number(start + lengths->items()[static_cast<std::size_t>(item)].toInt())));
    }

  private:
    NodeId add(Expr expr) {
        const std::string name(graph::withoutOverload(expr.op.name));
        return m_cursor.rewrite().output(m_cursor.insert(std::move(expr), name, "locates the written part"));
    }
    static Argument none() { return Argument::of(Value()); }
    static Argument slice(Argument start, Argument stop) {
        return Argument::container(Argument::Kind::Slice, {std::move(start), std::move(stop), none()});
    }
    static Argument whole() { return slice(none(), none()); }

    /// The part for one axis, counted from the front or the back.
    static Argument along(std::int64_t axis, Argument part) {
        std::vector<Argument> parts(axis > 0 ? static_cast<std::size_t>(axis) : 0, whole());
        if (axis < 0) parts.push_back(Argument::of(Value::object(std::make_shared<tensor::EllipsisValue>())));
        parts.push_back(std::move(part));
        for (std::int64_t i = axis; i < -1; ++i) parts.push_back(whole());
        return Argument::container(Argument::Kind::Tuple, std::move(parts));
    }

    Cursor& m_cursor;
    const InternalGraph& m_graph;
    const Expr m_list;
    NodeId m_base;
};

}  // namespace

ExprId Cursor::insert(Expr expr, std::string_view name, std::string why) {
    if (!m_isBehind) return m_rewrite.insertBefore(m_anchor, std::move(expr), name, std::move(why));
    return m_anchor = m_rewrite.insertAfter(m_anchor, std::move(expr), name, std::move(why));
}

NodeId takenAgain(Cursor& cursor, const std::vector<ExprId>& steps, NodeId base) {
    InternalGraph& graph = cursor.rewrite().graph();
    for (ExprId id : steps) {
        const Expr step = graph.expr(id);
        const NodeId first = step.outputs.front();
        const std::string name = graph.node(first).name;
        const ExprId again = cursor.insert(copyOf(step, base), name, name + " as it is after the write");
        cursor.rewrite().addOrigins(again, id);
        base = cursor.rewrite().output(again);
        graph.setType(base, graph.node(first).type);
    }
    return base;
}

NodeId setItem(Cursor& cursor, NodeId base, Argument index, Argument value, std::string_view op) {
    InternalGraph& graph = cursor.rewrite().graph();
    Expr expr = callOf("prim", op, {Argument::of(base), std::move(index), std::move(value)});
    if (op != kSetItem) expr.target = std::string(op);
    const NodeId made = cursor.rewrite().output(
        cursor.insert(std::move(expr), op, "a write to a part of " + graph.node(base).name + " as a value"));
    graph.setType(made, graph.node(base).type);
    return made;
}

NodeId putBack(Cursor& cursor, const std::vector<ExprId>& steps, NodeId base, const Argument& value) {
    InternalGraph& graph = cursor.rewrite().graph();
    const Expr step = graph.expr(steps.front());
    if (steps.size() == 2) {
        const auto item = intOf(graph, argumentOf(graph.expr(steps[1]), 1));
        auto index = item ? ListItem(cursor, step, base).index(*item) : std::nullopt;
        return index ? setItem(cursor, base, std::move(*index), value) : NodeId{};
    }
    if (cutsPart(graph, step)) {
        auto index = indexOf(graph, step);
        return index ? setItem(cursor, base, std::move(*index), value) : NodeId{};
    }
    const operators::Traits& traits = traitsOfStep(graph, step);
    const ViewForm form = traits.form;
    if (value.kind != Argument::Kind::Node) return {};
    const bool isSame = form == ViewForm::Same || form == ViewForm::Contiguous || form == ViewForm::Converted ||
                        traits.opClass == OpClass::Dropout;
    if (isSame) return value.node;
    Expr expr;
    if (operators::keepsOrder(form) && !isOtherType(step)) {
        expr = callOf("aten", "view_as", {value, Argument::of(base)});
    } else if (form == ViewForm::Transpose || form == ViewForm::Adjoint || form == ViewForm::Conjugate) {
        expr = copyOf(step, value.node);
    } else if (form == ViewForm::Permute) {
        auto inverse = inverseOf(graph, argumentOf(step, 1, "dims"));
        if (!inverse) return {};
        expr = callOf("aten", "permute", {value, std::move(*inverse)});
    } else if (form == ViewForm::MoveDim && step.arguments.size() == 3) {
        expr = copyOf(step, value.node);
        std::swap(expr.arguments[1], expr.arguments[2]);
    } else if (form == ViewForm::Diagonal && step.keywords.empty()) {
        expr = callOf("aten", "diagonal_scatter", {Argument::of(base), value});
        expr.arguments.insert(expr.arguments.end(), step.arguments.begin() + 1, step.arguments.end());
    } else if (form == ViewForm::AsReal || form == ViewForm::AsComplex) {
        expr = callOf("aten", form == ViewForm::AsReal ? "view_as_complex" : "view_as_real", {value});
    } else {
        return {};
    }
    const std::string title(graph::withoutOverload(expr.op.name));
    const NodeId made = cursor.rewrite().output(
        cursor.insert(std::move(expr), title, "what was written to a view, in the form of " + graph.node(base).name));
    graph.setType(made, graph.node(base).type);
    return made;
}

}  // namespace sonde::passes
