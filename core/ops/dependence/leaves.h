#pragma once

#include <cstddef>

#include "core/tensor/value.h"

namespace sonde::ops {

/// Values that are no lists, in a value that may be a list of lists: its leaves, counted depth first. A member of a
/// value (DependenceTerm::member) is one of them.
inline std::size_t leafCount(const tensor::Value& value) {
    if (!value.isListLike()) return 1;
    std::size_t count = 0;
    for (const tensor::Value& item : value.items()) count += leafCount(item);
    return count;
}

/// One of them; of a value that is no list itself, whatever the number. Null: there is none.
inline const tensor::Value* leafOf(const tensor::Value& value, std::size_t leaf) {
    if (!value.isListLike()) return &value;
    for (const tensor::Value& item : value.items()) {
        const std::size_t count = leafCount(item);
        if (leaf < count) return leafOf(item, leaf);
        leaf -= count;
    }
    return nullptr;
}

}  // namespace sonde::ops
