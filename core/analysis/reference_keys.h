#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/recording.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Arrays by key, as an .npz holds them.
using KeyedTensors = std::vector<std::pair<std::string, tensor::Tensor>>;

/// Which value of a run the NAME of a key node.NAME means. Inside loops "z" is the value of the last iteration, and
/// "z.pass2" that of iteration 2, counted from 0; "z.pass2.0" in nested loops, outermost first. What follows leads into
/// the value: positions in tuples and lists, keys of dicts as Value::text() has them: "lstm.1.0", "z.pass2.1",
/// "norm.'mean'", "norm.'a.b'.0".
struct KeyedValue {
    graph::NodeId node;
    std::vector<std::int64_t> pass = {};  ///< empty: the last iteration, or the only value
    std::string path = {};                ///< "1.0", "'mean'"; empty: the value as a whole
};

/// Nothing if the graph has no such node, or the rest of the name leads into no value. The longest name that is a
/// node's wins, since names have dots too.
std::optional<KeyedValue> keyedValue(const graph::InternalGraph& graph, const std::string& name);

/// The part of a value that a KeyedValue::path leads to; null if there is none. Where a dict has no key of that text, a
/// number is the position of its item, unless the dict has numbers as keys.
const tensor::Value* elementAt(const tensor::Value& value, std::string_view path);

/// What a run kept there; null if it did not come to that, or made fewer iterations.
const tensor::Value* valueAt(const exec::Recording& recording, const KeyedValue& place);

/// Which of the kept values of the node that is; nothing where there is none.
std::optional<std::size_t> iterationAt(const exec::Recording& recording, const KeyedValue& place);

/// Adds a value under a key, with structures taken apart: KEY.0, KEY.1 …, KEY.'mean'. What is no number is left out.
void addValue(const tensor::Value& value, const std::string& key, KeyedTensors& arrays);

/// Adds one iteration of what a run kept of a node in loops, under KEY.passN.
void addPass(const exec::Recording& recording, graph::NodeId node, std::size_t iteration, const std::string& key,
             KeyedTensors& arrays);

/// Adds all that a run kept of a node: the value under KEY, and inside loops each iteration under KEY.passN. KEY is the
/// last iteration: it is left out where the run ended before the loop did.
void addKept(const graph::InternalGraph& graph, const exec::Recording& recording, graph::NodeId node,
             const std::string& key, KeyedTensors& arrays);

}  // namespace sonde::analysis
