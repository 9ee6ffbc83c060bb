#pragma once

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/io/dump/name_options.h"
#include "core/io/traced_module/codec.h"

namespace sonde::io::dump {

/// A graph as JSON with its tensors beside it: bodies in bodies, exprs in the order in which they run, nodes by number.
/// Throws CodecError: exprs that run something that is no operator (a module that could not be traced).
tm::Json graphJson(const graph::InternalGraph& graph, tm::TensorTable& tensors, const NameOptions& names);
/// What a file keeps beside the graph.
struct GraphExtras {
    std::vector<std::pair<std::string, std::int64_t>> priorities;  ///< by the name of an operation's first output
};
/// The way back. The result is validated. Throws CodecError and nlohmann::json::exception: the JSON may hold anything.
std::shared_ptr<graph::InternalGraph> graphFrom(const tm::Json& json, const std::vector<tensor::Tensor>& tensors,
                                                GraphExtras* extras = nullptr);

}  // namespace sonde::io::dump
