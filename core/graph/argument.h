#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/ids.h"
#include "core/tensor/value.h"

namespace sonde::graph {

/// One argument of an expr: a node, a constant, or a list, tuple, dict or slice of arguments.
struct Argument {
    enum class Kind : std::uint8_t { Omitted, Node, Constant, List, Tuple, Dict, Slice };

    Kind kind = Kind::Omitted;
    NodeId node;                      ///< Kind::Node
    tensor::Value constant;           ///< Kind::Constant
    std::vector<Argument> items;      ///< List, Tuple, Slice (start, stop, step), Dict (values)
    std::vector<tensor::Value> keys;  ///< Dict: one per item

    static Argument omitted() { return {}; }
    static Argument of(NodeId node) {
        Argument a;
        a.kind = Kind::Node;
        a.node = node;
        return a;
    }
    static Argument of(tensor::Value constant) {
        Argument a;
        a.kind = Kind::Constant;
        a.constant = std::move(constant);
        return a;
    }
    static Argument container(Kind kind, std::vector<Argument> items, std::vector<tensor::Value> keys = {}) {
        Argument a;
        a.kind = kind;
        a.items = std::move(items);
        a.keys = std::move(keys);
        return a;
    }

    /// Calls visit(NodeId&) for every node in it, depth first, in order.
    template <typename Visit>
    void forEachNode(Visit&& visit) {
        if (kind == Kind::Node) visit(node);
        for (Argument& item : items) item.forEachNode(visit);
    }
    template <typename Visit>
    void forEachNode(Visit&& visit) const {
        if (kind == Kind::Node) visit(node);
        for (const Argument& item : items) item.forEachNode(visit);
    }
};

}  // namespace sonde::graph
