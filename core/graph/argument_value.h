#pragma once

#include <memory>
#include <optional>

#include "core/graph/argument.h"
#include "core/tensor/slice_value.h"

namespace sonde::graph {

/// The value that an argument means. `read(NodeId)` gives a pointer to the value of a node, null if it is not known;
/// nothing if one of the nodes is not.
template <typename Read>
std::optional<tensor::Value> argumentValue(const Argument& argument, const Read& read) {
    switch (argument.kind) {
        case Argument::Kind::Omitted: return tensor::Value();
        case Argument::Kind::Constant: return argument.constant;
        case Argument::Kind::Node: {
            const tensor::Value* value = read(argument.node);
            return value ? std::optional(*value) : std::nullopt;
        }
        default: break;
    }
    tensor::ValueList items;
    for (const Argument& item : argument.items) {
        auto value = argumentValue(item, read);
        if (!value) return std::nullopt;
        items.push_back(std::move(*value));
    }
    switch (argument.kind) {
        case Argument::Kind::List: return tensor::Value::list(std::move(items));
        case Argument::Kind::Tuple: return tensor::Value::tuple(std::move(items));
        case Argument::Kind::Dict: {
            tensor::ValueDict dict;
            for (std::size_t i = 0; i < items.size(); ++i) dict.emplace_back(argument.keys[i], std::move(items[i]));
            return tensor::Value::dict(std::move(dict));
        }
        default:
            items.resize(3);
            return tensor::Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
    }
}

}  // namespace sonde::graph
