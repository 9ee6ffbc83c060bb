#include "core/trace/traced_module/structure.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using tensor::Value;
using tensor::ValueKind;

namespace {

std::string floatText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::string text = base::shortestText(value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

template <typename Items, typename Text>
std::string joined(const Items& items, Text&& text, std::string_view separator = ", ") {
    std::string result;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) result += separator;
        result += text(items[i]);
    }
    return result;
}

std::vector<std::size_t> sortedOrder(const std::vector<Value>& keys) {
    std::vector<std::size_t> order(keys.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const Value& x = keys[a];
        const Value& y = keys[b];
        if (x.isNumber() && y.isNumber()) return x.number() < y.number();
        if (x.kind() == ValueKind::String && y.kind() == ValueKind::String) return x.toString() < y.toString();
        return x.kind() < y.kind();
    });
    return order;
}

template <typename T>
void sortByKeys(std::vector<T>& items, std::vector<Value>& keys) {
    std::vector<T> sortedItems;
    std::vector<Value> newKeys;
    for (std::size_t i : sortedOrder(keys)) {
        sortedItems.push_back(std::move(items[i]));
        newKeys.push_back(keys[i]);
    }
    items = std::move(sortedItems);
    keys = std::move(newKeys);
}

}  // namespace

std::vector<std::size_t> sortedKeys(const std::vector<Value>& keys) { return sortedOrder(keys); }

bool containsTensor(const Value& value) {
    if (value.isTensor()) return true;
    if (value.isListLike()) return std::ranges::any_of(value.items(), containsTensor);
    if (value.kind() == ValueKind::Dict) {
        return std::ranges::any_of(value.dictItems(), [](const auto& entry) { return containsTensor(entry.second); });
    }
    return false;
}

std::string pythonText(const Value& value) {
    switch (value.kind()) {
        case ValueKind::None: return "None";
        case ValueKind::Bool: return value.toBool() ? "True" : "False";
        case ValueKind::Int: return std::to_string(value.toInt());
        case ValueKind::Float: return floatText(value.toFloat());
        case ValueKind::String: return '\'' + value.toString() + '\'';
        case ValueKind::List: return '[' + joined(value.items(), pythonText) + ']';
        case ValueKind::Tuple:
            return '(' + joined(value.items(), pythonText) + (value.items().size() == 1 ? ",)" : ")");
        case ValueKind::Object:
            if (dynamic_cast<const tensor::EllipsisValue*>(value.object().get())) return "...";
            if (const auto* slice = dynamic_cast<const tensor::SliceValue*>(value.object().get())) {
                return "slice(" + pythonText(slice->start()) + ", " + pythonText(slice->stop()) + ", " +
                       pythonText(slice->step()) + ')';
            }
            return value.object()->typeName();
        default: return value.text();
    }
}

Operand::Operand(Value value) {
    if (value.kind() == ValueKind::List || value.kind() == ValueKind::Tuple) {
        kind = value.kind() == ValueKind::List ? Kind::List : Kind::Tuple;
        for (const Value& item : value.items()) items.emplace_back(item);
    } else if (value.kind() == ValueKind::Dict) {
        kind = Kind::Dict;
        for (const auto& [key, item] : value.dictItems()) {
            keys.push_back(key);
            items.emplace_back(item);
        }
        sortByKeys(items, keys);
    } else {
        constant = std::move(value);
    }
}

Operand Operand::container(Kind kind, std::vector<Operand> items, std::vector<Value> keys) {
    Operand operand;
    operand.kind = kind;
    operand.items = std::move(items);
    operand.keys = std::move(keys);
    if (kind == Kind::Dict) sortByKeys(operand.items, operand.keys);
    return operand;
}

Operand Operand::dict(std::vector<std::pair<std::string, Operand>> entries) {
    std::vector<Operand> items;
    std::vector<Value> keys;
    for (auto& [key, item] : entries) {
        keys.emplace_back(key);
        items.push_back(std::move(item));
    }
    return container(Kind::Dict, std::move(items), std::move(keys));
}

std::string Operand::text(const std::function<std::string(const TracedNode&)>& nodeText) const {
    const auto item = [&](const Operand& operand) { return operand.text(nodeText); };
    switch (kind) {
        case Kind::Node: return nodeText(*node);
        case Kind::Constant: return pythonText(constant);
        case Kind::List: return '[' + joined(items, item) + ']';
        case Kind::Tuple: return '(' + joined(items, item) + (items.size() == 1 ? ",)" : ")");
        case Kind::Slice: return "slice(" + joined(items, item) + ')';
        case Kind::Dict: break;
    }
    std::string result = "{";
    for (std::size_t i = 0; i < items.size(); ++i) {
        result += (i > 0 ? ", " : "") + pythonText(keys[i]) + ": " + items[i].text(nodeText);
    }
    return result + '}';
}

namespace {

Structure ofObject(const Value& value) {
    Structure structure;
    structure.kind = Structure::Kind::Constant;
    const std::string name = value.object()->typeName();
    if (name == "ellipsis" || name == "slice") {
        structure.constant = value;
        return structure;
    }
    const SupportedType* type = supportedType(name);
    if (!type) {
        throw TraceError(
            TraceErrorKind::Assertion,
            "arguments of type " + name + " are not supported, call registerSupportedType(\"" + name + "\") first");
    }
    if (!type->flatten) {
        structure.constant = value;
        return structure;
    }
    structure.kind = Structure::Kind::Custom;
    structure.typeName = name;
    for (const Var& child : type->flatten(*value.object())) structure.items.push_back(Structure::of(child));
    return structure;
}

Structure ofValue(const Value& value) {
    Structure structure;
    if (value.isTensor()) return structure;
    if (value.kind() == ValueKind::Object) return ofObject(value);
    if (value.kind() == ValueKind::Dict) {
        structure.kind = Structure::Kind::Dict;
        for (const auto& [key, item] : value.dictItems()) {
            structure.keys.push_back(key);
            structure.items.push_back(ofValue(item));
        }
        sortByKeys(structure.items, structure.keys);
    } else if (value.kind() == ValueKind::List || value.kind() == ValueKind::Tuple) {
        structure.kind = value.kind() == ValueKind::List ? Structure::Kind::List : Structure::Kind::Tuple;
        for (const Value& item : value.items()) structure.items.push_back(ofValue(item));
    } else {
        structure.kind = Structure::Kind::Constant;
        structure.constant = value;
    }
    return structure;
}

}  // namespace

Structure Structure::of(const Var& var) {
    Structure structure;
    switch (var.kind()) {
        case Var::Kind::Proxy:
            if (var.tracer().recording().isNumber(var.node())) structure.kind = Kind::Number;
            return structure;
        case Var::Kind::Value: return ofValue(var.value());
        case Var::Kind::List: structure.kind = Kind::List; break;
        case Var::Kind::Tuple: structure.kind = Kind::Tuple; break;
        case Var::Kind::Slice: structure.kind = Kind::Slice; break;
        case Var::Kind::Dict:
            structure.kind = Kind::Dict;
            structure.keys = var.keys();
            break;
    }
    for (const Var& item : var.items()) structure.items.push_back(of(item));
    if (structure.kind == Kind::Dict) sortByKeys(structure.items, structure.keys);
    return structure;
}

std::string Structure::text() const {
    const auto item = [](const Structure& structure) { return structure.text(); };
    switch (kind) {
        case Kind::Tensor: return "Tensor";
        case Kind::Module: return "Module";
        case Kind::Number: return "Number";
        case Kind::Constant: return pythonText(constant);
        case Kind::List: return '[' + joined(items, item) + ']';
        case Kind::Tuple: return '(' + joined(items, item) + ')';
        case Kind::Slice: return "slice(" + joined(items, item) + ')';
        case Kind::Custom: return typeName + '(' + joined(items, item) + ')';
        case Kind::Dict: break;
    }
    std::string result = "{";
    for (std::size_t i = 0; i < items.size(); ++i)
        result += (i > 0 ? ", " : "") + pythonText(keys[i]) + ':' + items[i].text();
    return result + '}';
}

std::size_t Structure::leafCount() const {
    if (isNode()) return 1;
    std::size_t count = 0;
    for (const Structure& item : items) count += item.leafCount();
    return count;
}

Var Structure::rebuilt(std::span<const Var> leaves, std::size_t& next) const {
    if (isNode()) return leaves[next++];
    if (kind == Kind::Constant) return Var(constant);
    std::vector<Var> made;
    for (const Structure& item : items) made.push_back(item.rebuilt(leaves, next));
    switch (kind) {
        case Kind::List: return Var::list(std::move(made));
        case Kind::Tuple: return Var::tuple(std::move(made));
        case Kind::Slice: return Var::slice(made[0], made[1], made[2]);
        case Kind::Dict: {
            std::vector<std::pair<Value, Var>> entries;
            for (std::size_t i = 0; i < made.size(); ++i) entries.emplace_back(keys[i], std::move(made[i]));
            return Var::dict(std::move(entries));
        }
        default: break;
    }
    return supportedType(typeName)->unflatten(std::move(made));
}

Operand Structure::rebuilt(std::span<TracedNode* const> leaves, std::size_t& next) const {
    if (isNode()) return Operand(leaves[next++]);
    if (kind == Kind::Constant) return Operand(constant);
    std::vector<Operand> made;
    for (const Structure& item : items) made.push_back(item.rebuilt(leaves, next));
    const Operand::Kind as = kind == Kind::List    ? Operand::Kind::List
                             : kind == Kind::Dict  ? Operand::Kind::Dict
                             : kind == Kind::Slice ? Operand::Kind::Slice
                                                   : Operand::Kind::Tuple;
    return Operand::container(as, std::move(made), keys);
}

namespace {

/// Children of a value that is to be taken apart, in the order of the structure's items. False: it has others.
bool childrenOf(const Structure& structure, const Var& var, std::vector<Var>& children) {
    using Kind = Structure::Kind;
    if (var.isProxy()) {
        for (std::size_t i = 0; i < structure.items.size(); ++i) {
            if (structure.items[i].kind == Kind::Constant) {
                children.emplace_back(structure.items[i].constant);
            } else {
                children.push_back(var[structure.kind == Kind::Dict ? Var(structure.keys[i]) : Var(i)]);
            }
        }
        return structure.kind != Kind::Custom;
    }
    if (structure.kind == Kind::Dict) {
        const bool isDict =
            var.kind() == Var::Kind::Dict || (var.kind() == Var::Kind::Value && var.value().kind() == ValueKind::Dict);
        if (!isDict || var.length() != structure.items.size()) return false;
        for (const Value& key : structure.keys) {
            if (var.kind() == Var::Kind::Dict) {
                const auto found =
                    std::ranges::find_if(var.keys(), [&](const Value& k) { return tensor::identical(k, key); });
                if (found == var.keys().end()) return false;
                children.push_back(var.items()[static_cast<std::size_t>(found - var.keys().begin())]);
            } else {
                const auto& items = var.value().dictItems();
                const auto found =
                    std::ranges::find_if(items, [&](const auto& entry) { return tensor::identical(entry.first, key); });
                if (found == items.end()) return false;
                children.emplace_back(found->second);
            }
        }
        return true;
    }
    if (structure.kind == Kind::Custom) {
        const SupportedType* type = supportedType(structure.typeName);
        if (!type || !type->flatten || var.kind() != Var::Kind::Value || var.value().kind() != ValueKind::Object)
            return false;
        children = type->flatten(*var.value().object());
        return children.size() == structure.items.size();
    }
    if (var.kind() != Var::Kind::Value) {
        const Kind kind = var.kind() == Var::Kind::List    ? Kind::List
                          : var.kind() == Var::Kind::Tuple ? Kind::Tuple
                                                           : Kind::Slice;
        if (kind != structure.kind) return false;
        children = var.items();
        return children.size() == structure.items.size();
    }
    const ValueKind wanted = structure.kind == Kind::List ? ValueKind::List : ValueKind::Tuple;
    if (var.value().kind() != wanted) return false;
    for (const Value& item : var.value().items()) children.emplace_back(item);
    return children.size() == structure.items.size();
}

}  // namespace

bool takeApart(const Structure& structure, const Var& var, std::vector<Var>& leaves) {
    switch (structure.kind) {
        case Structure::Kind::Module: return false;
        case Structure::Kind::Tensor:
            if (!var.isProxy() && !(var.kind() == Var::Kind::Value && var.value().isTensor())) return false;
            leaves.push_back(var);
            return true;
        case Structure::Kind::Number:
            if (!var.isProxy() && containsTensor(var.toValue())) return false;
            leaves.push_back(var);
            return true;
        // What a symbolic tracer gives for a constant is taken to be the constant.
        case Structure::Kind::Constant: return var.isProxy() || Structure::of(var) == structure;
        default: break;
    }
    std::vector<Var> children;
    if (!childrenOf(structure, var, children)) return false;
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (!takeApart(structure.items[i], children[i], leaves)) return false;
    }
    return true;
}

std::string CallStructure::text() const {
    std::string result = joined(positional, [](const Structure& structure) { return structure.text(); });
    for (const auto& [name, structure] : keywords)
        result += (result.empty() ? "" : ", ") + name + '=' + structure.text();
    return result;
}

}  // namespace sonde::trace
