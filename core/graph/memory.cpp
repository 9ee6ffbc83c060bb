// What the arguments add to the traits of an operator.

#include "core/graph/memory.h"

#include <algorithm>

#include "core/graph/known_argument.h"
#include "core/graph/set_item.h"
#include "core/graph/traits.h"
#include "core/operators/same_tensor.h"

namespace sonde::graph {

namespace {

using tensor::ValueKind;

constexpr MemoryEffect kView{Sharing::View};
constexpr MemoryEffect kMaybe{Sharing::MaybeView};
constexpr MemoryEffect kWrite{Sharing::Written, false, true};

/// A part of an index with which getitem makes a view: everything but masks, lists of indices and tensors.
enum class Indexing : std::uint8_t { View, Copy, Unknown };

Indexing indexing(const InternalGraph& graph, const Argument& part) {
    switch (part.kind) {
        case Argument::Kind::Slice: return Indexing::View;
        case Argument::Kind::Constant:
            return sharingOfIndex(part.constant) == Sharing::View ? Indexing::View : Indexing::Copy;
        case Argument::Kind::Tuple: {
            Indexing whole = Indexing::View;
            for (const Argument& item : part.items) {
                const Indexing each = item.kind == Argument::Kind::Tuple ? Indexing::Copy : indexing(graph, item);
                if (each == Indexing::Copy) return each;
                if (each == Indexing::Unknown) whole = each;
            }
            return whole;
        }
        case Argument::Kind::Node: {
            const auto& type = graph.node(part.node).type;
            if (type.kind == ValueKind::Int) return Indexing::View;
            return type.isTensor() && !(type.shape && type.shape->empty() && type.dtype != tensor::DType::Bool)
                       ? Indexing::Copy
                       : Indexing::Unknown;
        }
        default: return Indexing::Copy;
    }
}

MemoryEffect getItemEffect(const InternalGraph& graph, const Expr& expr) {
    const Argument* index = givenArgument(expr, 1, "index");
    switch (index ? indexing(graph, *index) : Indexing::Unknown) {
        case Indexing::View: return kView;
        case Indexing::Copy: return {};
        case Indexing::Unknown: break;
    }
    return kMaybe;
}

/// `x.T` and the like.
MemoryEffect attributeEffect(const InternalGraph& graph, const Expr& expr) {
    const tensor::Value* name = knownArgument(graph, expr, 1, "name");
    if (!name || name->kind() != ValueKind::String) return kMaybe;
    const std::string_view read = operators::operatorOfAttribute(name->toString());
    return read.empty() ? MemoryEffect{} : operators::traitsOf("aten", read).memory;
}

MemoryEffect dropoutEffect(const InternalGraph& graph, const Expr& expr) {
    const auto trains = knownNumber(graph, expr, 2, "train");
    return {operators::sharingOfDropout(knownNumber(graph, expr, 1, "p"),
                                        trains ? std::optional(*trains != 0) : std::nullopt)};
}

/// cartesian_prod([x]) is x, einsum("ij->ji", [x]) shows it; of several tensors they make a new one.
MemoryEffect onlyTensorEffect(const InternalGraph& graph, const Expr& expr) {
    for (const Argument& argument : expr.arguments) {
        if (argument.kind == Argument::Kind::Node && graph.node(argument.node).type.isTensor()) continue;
        if (argument.kind == Argument::Kind::Node) return kMaybe;
        const bool isList = argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple;
        if (isList) return argument.items.size() == 1 ? kMaybe : MemoryEffect{};
        const bool isEquation =
            argument.kind == Argument::Kind::Constant && argument.constant.kind() == ValueKind::String;
        if (isEquation && operators::sumsLetters(argument.constant.toString())) return {};
    }
    return {};
}

const Argument* outArgument(const Expr& expr) {
    if (expr.op.domain != "aten") return nullptr;
    const auto found =
        std::ranges::find(expr.keywords, std::string_view("out"), &std::pair<std::string, Argument>::first);
    if (found == expr.keywords.end()) return nullptr;
    const Argument& out = found->second;
    const bool isNone =
        out.kind == Argument::Kind::Omitted || (out.kind == Argument::Kind::Constant && out.constant.isNone());
    return isNone ? nullptr : &out;
}

}  // namespace

Sharing sharingOfIndex(const tensor::Value& index) {
    switch (index.kind()) {
        case ValueKind::Int:
        case ValueKind::None:
        case ValueKind::Object:  // a slice or `...`
        case ValueKind::String: return Sharing::View;
        case ValueKind::Tuple: {
            const bool cuts = std::ranges::all_of(index.items(), [](const tensor::Value& item) {
                return item.kind() != ValueKind::Tuple && sharingOfIndex(item) == Sharing::View;
            });
            return cuts ? Sharing::View : Sharing::Fresh;
        }
        case ValueKind::Tensor: {
            // One integer counts as a number.
            const tensor::DType dtype = index.tensor().dtype();
            return index.tensor().rank() == 0 && tensor::isInteger(dtype) && dtype != tensor::DType::UInt8
                       ? Sharing::View
                       : Sharing::Fresh;
        }
        default: return Sharing::Fresh;
    }
}

MemoryEffect memoryEffect(std::string_view domain, std::string_view operatorName) {
    return operators::traitsOf(domain, operatorName).memory;
}

MemoryEffect memoryEffect(const InternalGraph& graph, const Expr& expr) {
    if (expr.op.name.empty()) return isSetItem(expr) ? kWrite : MemoryEffect{};
    const operators::Traits& traits = traitsOf(expr);
    if (traits.form == operators::ViewForm::Index) return getItemEffect(graph, expr);
    if (traits.opClass == operators::OpClass::GetAttr) return attributeEffect(graph, expr);
    if (traits.opClass == operators::OpClass::Dropout && traits.mayBeView()) return dropoutEffect(graph, expr);
    if (operators::returnsItsOnlyTensor(expr.op.domain, expr.op.name)) return onlyTensorEffect(graph, expr);
    return outArgument(expr) ? kWrite : traits.memory;
}

const Argument* writtenArgument(const InternalGraph& graph, const Expr& expr) {
    if (!memoryEffect(graph, expr).writes) return nullptr;
    if (const Argument* out = outArgument(expr)) return out;
    return expr.arguments.empty() ? nullptr : &expr.arguments.front();
}

}  // namespace sonde::graph
