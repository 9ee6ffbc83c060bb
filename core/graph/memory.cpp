// Sources: PyTorch's pages "Tensor Views" and torch.Tensor, and the alias annotations of its operators' schemas.

#include "core/graph/memory.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sonde::graph {

namespace {

using tensor::ValueKind;

constexpr MemoryEffect kView{Sharing::View};
constexpr MemoryEffect kMaybe{Sharing::MaybeView};
constexpr MemoryEffect kViews{Sharing::View, true};
constexpr MemoryEffect kHolds{Sharing::Holds};
constexpr MemoryEffect kWrite{Sharing::Written, false, true};
constexpr MemoryEffect kReform{Sharing::Written, false, false, true};
constexpr MemoryEffect kReplace{Sharing::Written, false, true, true};

using Table = std::unordered_map<std::string_view, MemoryEffect>;

const Table& atenTable() {
    static const Table table = [] {
        Table made;
        for (std::string_view name : {"view", "view_as", "_unsafe_view", "_reshape_alias", "select", "slice", "narrow", "transpose", "swapaxes", "swapdims", "t", "numpy_T",
                                      "mT", "mH", "adjoint", "matrix_H", "permute", "movedim", "moveaxis", "squeeze", "unsqueeze", "unflatten", "expand", "expand_as",
                                      "broadcast_to", "diagonal", "linalg_diagonal", "unfold", "as_strided", "view_as_real", "view_as_complex", "real", "imag", "_conj",
                                      "conj", "detach", "alias", "positive", "lift", "lift_fresh", "atleast_1d", "atleast_2d", "atleast_3d", "requires_grad_", "data"}) {
            made.emplace(name, kView);
        }
        for (std::string_view name : {"reshape", "reshape_as", "flatten", "ravel", "contiguous", "to", "type_as", "type", "float", "double", "half", "bfloat16", "int", "long",
                                      "short", "bool", "cpu", "conj_physical", "resolve_conj", "resolve_neg", "dropout", "feature_dropout", "alpha_dropout",
                                      "feature_alpha_dropout", "native_dropout", "broadcast_tensors", "meshgrid"}) {
            made.emplace(name, kMaybe);
        }
        for (std::string_view name : {"chunk", "unsafe_chunk", "split", "unsafe_split", "split_with_sizes", "unsafe_split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit",
                                      "unbind"}) {
            made.emplace(name, kViews);
        }
        made["meshgrid"].isList = made["broadcast_tensors"].isList = true;
        for (std::string_view name : {"unsqueeze_", "squeeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_", "detach_"}) made.emplace(name, kReform);
        for (std::string_view name : {"resize_", "resize_as_", "set_"}) made.emplace(name, kReplace);
        return made;
    }();
    return table;
}

const Table& primTable() {
    static const Table table{
        {"getitem", kMaybe},        {"setitem", kWrite},          {"setitem_with_transformation", kWrite}, {"data", kView},
        {"ListConstruct", kHolds},  {"TupleConstruct", kHolds},   {"DictConstruct", kHolds},               {"ListUnpack", kHolds},
        {"TupleUnpack", kHolds},    {"TupleIndex", kHolds},       {"unchecked_cast", kView},
    };
    return table;
}

/// A part of an index with which getitem makes a view: everything but masks, lists of indices and tensors.
enum class Indexing : std::uint8_t { View, Copy, Unknown };

Indexing indexing(const InternalGraph& graph, const Argument& part) {
    switch (part.kind) {
        case Argument::Kind::Slice: return Indexing::View;
        case Argument::Kind::Constant: return sharingOfIndex(part.constant) == Sharing::View ? Indexing::View : Indexing::Copy;
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
            return type.isTensor() && !(type.shape && type.shape->empty() && type.dtype != tensor::DType::Bool) ? Indexing::Copy : Indexing::Unknown;
        }
        default: return Indexing::Copy;
    }
}

const Argument* given(const Expr& expr, std::size_t index, std::string_view keyword) {
    if (index < expr.arguments.size()) return expr.arguments[index].kind == Argument::Kind::Omitted ? nullptr : &expr.arguments[index];
    const auto found = std::ranges::find(expr.keywords, keyword, &std::pair<std::string, Argument>::first);
    return found == expr.keywords.end() ? nullptr : &found->second;
}

const tensor::Value* constantOf(const InternalGraph& graph, const Argument* argument) {
    if (!argument) return nullptr;
    if (argument->kind == Argument::Kind::Constant) return &argument->constant;
    if (argument->kind != Argument::Kind::Node) return nullptr;
    const auto& constant = graph.node(argument->node).constant;
    return constant ? &*constant : nullptr;
}

MemoryEffect getItemEffect(const InternalGraph& graph, const Expr& expr) {
    const Argument* index = given(expr, 1, "index");
    switch (index ? indexing(graph, *index) : Indexing::Unknown) {
        case Indexing::View: return kView;
        case Indexing::Copy: return {};
        case Indexing::Unknown: break;
    }
    return kMaybe;
}

/// `x.T` and the like.
MemoryEffect attributeEffect(const InternalGraph& graph, const Expr& expr) {
    const tensor::Value* name = constantOf(graph, given(expr, 1, "name"));
    if (!name || name->kind() != ValueKind::String) return kMaybe;
    static const std::unordered_set<std::string_view> views{"T", "mT", "H", "mH", "data", "real", "imag"};
    return views.contains(name->toString()) ? kView : MemoryEffect{};
}

/// A dropout that does not train gives its input.
MemoryEffect dropoutEffect(const InternalGraph& graph, const Expr& expr) {
    const tensor::Value* trains = constantOf(graph, given(expr, 2, "train"));
    if (!trains || !trains->isNumber()) return kMaybe;
    return trains->number() != 0 ? MemoryEffect{} : kView;
}

const Argument* outArgument(const Expr& expr) {
    if (expr.op.domain != "aten") return nullptr;
    const auto found = std::ranges::find(expr.keywords, std::string_view("out"), &std::pair<std::string, Argument>::first);
    if (found == expr.keywords.end()) return nullptr;
    const Argument& out = found->second;
    const bool isNone = out.kind == Argument::Kind::Omitted || (out.kind == Argument::Kind::Constant && out.constant.isNone());
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
            return index.tensor().rank() == 0 && tensor::isInteger(dtype) && dtype != tensor::DType::UInt8 ? Sharing::View : Sharing::Fresh;
        }
        default: return Sharing::Fresh;
    }
}

std::string_view withoutOverload(std::string_view operatorName) { return operatorName.substr(0, operatorName.find('.')); }

bool isInPlaceName(std::string_view operatorName) {
    const std::string_view name = withoutOverload(operatorName);
    const bool isDunder = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
    if (!isDunder) return name.size() > 1 && name.ends_with('_') && name != "requires_grad_";
    static const std::unordered_set<std::string_view> writing{"__iadd__", "__isub__", "__imul__", "__itruediv__", "__idiv__", "__ifloordiv__", "__imod__", "__ipow__",
                                                              "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "__setitem__"};
    return writing.contains(name);
}

MemoryEffect memoryEffect(std::string_view domain, std::string_view operatorName) {
    const std::string_view name = withoutOverload(operatorName);
    if (domain == "prim") {
        const auto found = primTable().find(name);
        return found == primTable().end() ? MemoryEffect{} : found->second;
    }
    if (domain != "aten") return {};
    if (const auto found = atenTable().find(name); found != atenTable().end()) return found->second;
    return isInPlaceName(name) ? kWrite : MemoryEffect{};
}

MemoryEffect memoryEffect(const InternalGraph& graph, const Expr& expr) {
    if (expr.op.name.empty()) return expr.kind == ExprKind::CallMethod && expr.target == "__setitem__" ? kWrite : MemoryEffect{};
    const std::string_view name = withoutOverload(expr.op.name);
    if (expr.op.domain == "prim" && name == "getitem") return getItemEffect(graph, expr);
    if (expr.op.domain == "prim" && name == "getattr") return attributeEffect(graph, expr);
    if (expr.op.domain == "aten" && name.ends_with("dropout") && name != "native_dropout") return dropoutEffect(graph, expr);
    if (outArgument(expr)) return kWrite;
    return memoryEffect(expr.op.domain, expr.op.name);
}

const Argument* writtenArgument(const InternalGraph& graph, const Expr& expr) {
    if (!memoryEffect(graph, expr).writes) return nullptr;
    if (const Argument* out = outArgument(expr)) return out;
    return expr.arguments.empty() ? nullptr : &expr.arguments.front();
}

}  // namespace sonde::graph
