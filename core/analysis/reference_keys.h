#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/recording.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Arrays by key, as an .npz holds them.
using KeyedTensors = std::vector<std::pair<std::string, tensor::Tensor>>;

/// Which value of a run the NAME of a key node.NAME means. Inside loops "z" is the value of the last iteration, and
/// "z.pass2" that of iteration 2, counted from 0; "z.pass2.0" in nested loops, outermost first. Numbers behind that are
/// positions in a tuple: "lstm.1.0", "z.pass2.1".
struct KeyedValue {
    graph::NodeId node;
    std::vector<std::int64_t> pass = {};  ///< empty: the last iteration, or the only value
    std::vector<std::size_t> path = {};   ///< position in a tuple, in that of its element, and so on
};

/// Nothing if the graph has no such value. The longest name that is a node's wins, since names have dots too.
std::optional<KeyedValue> keyedValue(const graph::InternalGraph& graph, const std::string& name);

/// What a run kept there; null if it did not come to that, or made fewer iterations.
const tensor::Value* valueAt(const exec::Recording& recording, const KeyedValue& place);

/// Adds a value under a key, with structures taken apart: KEY.0, KEY.1 …. What is no number is left out.
void addValue(const tensor::Value& value, const std::string& key, KeyedTensors& arrays);

/// Adds one iteration of what a run kept of a node in loops, under KEY.passN.
void addPass(const exec::Recording& recording, graph::NodeId node, std::size_t iteration, const std::string& key,
             KeyedTensors& arrays);

/// Adds all that a run kept of a node: the last value under KEY, and inside loops each iteration under KEY.passN.
void addKept(const exec::Recording& recording, graph::NodeId node, const std::string& key, KeyedTensors& arrays);

}  // namespace sonde::analysis
