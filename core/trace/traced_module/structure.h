#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/trace/var.h"

namespace sonde::trace {

class TracedNode;

/// An argument of a recorded operation: a node, a constant, or a container of arguments. Lists, tuples and dicts of
/// constants are containers, too, so that equal structures compare equal whatever made them. Keys of dicts are sorted.
struct Operand {
    enum class Kind : std::uint8_t { Node, Constant, List, Tuple, Dict, Slice };

    Kind kind = Kind::Constant;
    TracedNode* node = nullptr;
    tensor::Value constant;
    std::vector<Operand> items;
    std::vector<tensor::Value> keys;  ///< Dict: one per item

    Operand() = default;
    Operand(TracedNode* value) : kind(Kind::Node), node(value) {}
    Operand(tensor::Value value);
    Operand(std::int64_t value) : constant(tensor::Value::ofInt(value)) {}
    Operand(double value) : constant(tensor::Value::ofFloat(value)) {}
    static Operand list(std::vector<Operand> items) { return container(Kind::List, std::move(items)); }
    static Operand tuple(std::vector<Operand> items) { return container(Kind::Tuple, std::move(items)); }
    static Operand dict(std::vector<std::pair<std::string, Operand>> items);
    static Operand container(Kind kind, std::vector<Operand> items, std::vector<tensor::Value> keys = {});

    /// Calls visit(TracedNode*&) for every node in it, depth first, in order.
    template <typename Visit>
    void forEachNode(Visit&& visit) {
        if (kind == Kind::Node) visit(node);
        for (Operand& item : items) item.forEachNode(visit);
    }
    template <typename Visit>
    void forEachNode(Visit&& visit) const {
        if (kind == Kind::Node) visit(node);
        for (const Operand& item : items) item.forEachNode(visit);
    }
    /// As a person writes it: "x", "1.0", "[x, 2]", "{'a': x}". Nodes by `nodeText`.
    std::string text(const std::function<std::string(const TracedNode&)>& nodeText) const;
};

/// The form of a value (traced-module.md, "Structure of arguments"): container kinds, keys, and at the leaves the type,
/// and for constants the value. Tensors of any shape and dtype are equal; 1, 1.0 and true differ; a list is no tuple.
struct Structure {
    /// Number: what the size of a tensor decides, a number or a list of them. It is a node and no constant, so that any
    /// will do.
    enum class Kind : std::uint8_t { Tensor, Module, Constant, List, Tuple, Dict, Slice, Custom, Number };

    Kind kind = Kind::Tensor;
    tensor::Value constant;
    std::vector<Structure> items;
    std::vector<tensor::Value> keys;  ///< Dict: one per item, sorted
    std::string typeName;             ///< Custom: the registered type that the one item's children were taken from

    static Structure of(const Operand& operand);
    /// Of a value in a call; a proxy is a tensor, or a number if its tracer knows that. Throws TraceError: a type that
    /// is not registered.
    static Structure of(const Var& var);
    /// "Tensor", "[Tensor, (Tensor)]", "{'p':Tensor}", "1.0": equal texts, equal structures.
    std::string text() const;
    /// A leaf for which there is a node.
    bool isNode() const { return kind == Kind::Tensor || kind == Kind::Module || kind == Kind::Number; }
    /// Leaves that are nodes.
    std::size_t leafCount() const;
    bool operator==(const Structure& other) const { return text() == other.text(); }
    /// Puts leaves back into the containers. `next` counts on.
    Var rebuilt(std::span<const Var> leaves, std::size_t& next) const;
    Operand rebuilt(std::span<TracedNode* const> leaves, std::size_t& next) const;
};

/// Takes a value apart as the structure says; a proxy where a container is requested is indexed. False: it does not
/// fit.
bool takeApart(const Structure& structure, const Var& var, std::vector<Var>& leaves);

/// Structure of a whole call: "forward(Module, Tensor, k=5)".
struct CallStructure {
    std::vector<Structure> positional;
    std::vector<std::pair<std::string, Structure>> keywords;

    /// "Module, Tensor, k=5".
    std::string text() const;
    bool operator==(const CallStructure& other) const { return text() == other.text(); }
};

/// Positions of a dict's keys in the order in which they count: numbers by value, texts by letters.
std::vector<std::size_t> sortedKeys(const std::vector<tensor::Value>& keys);

/// A constant as Python writes it: "1", "1.0", "True", "None", "'text'", "[1, 2]".
std::string pythonText(const tensor::Value& value);

/// Makes a type of objects (by ObjectBase::typeName) allowed in argument trees: a container if there are callbacks,
/// else a leaf that is kept as a constant. Anything else that is not a plain value is refused there.
struct SupportedType {
    std::function<std::vector<Var>(const tensor::ObjectBase&)> flatten;
    std::function<Var(std::vector<Var>)> unflatten;  ///< what a forward gets, with proxies for tensors
    std::function<std::string(const tensor::ObjectBase&)>
        save;  ///< text for files; without one the type cannot be saved
    std::function<tensor::Value(const std::string&)> load;
};
void registerSupportedType(std::string typeName, SupportedType type = {});
const SupportedType* supportedType(const std::string& typeName);

/// A tensor, or a container with one in it.
bool containsTensor(const tensor::Value& value);

}  // namespace sonde::trace
