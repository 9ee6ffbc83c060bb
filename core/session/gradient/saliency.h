#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/debug/view.h"
#include "core/session/why/explanation.h"

/// How much an element of a node's value changes with every element of other values.
namespace sonde::session::gradient {

struct Request {
    /// The element; without a valid node: of the first output. Without an index: its largest element.
    why::Place of;
    std::vector<graph::NodeId> to;  ///< empty: the model's floating-point inputs
    std::size_t threads = 0;
};

/// The derivative of the element by one value: as large as that.
struct NodeSaliency {
    graph::NodeId node;
    tensor::Tensor gradient;
    bool isReached = true;  ///< false: the element does not depend on it, or is flat in it everywhere; all zero
};

struct Saliency {
    why::Place of;  ///< with indices from 0 on
    double value = 0;
    std::vector<NodeSaliency> gradients;  ///< in the order of Request::to
    std::size_t operations = 0;           ///< that were differentiated
    std::vector<std::string> notes = {};  ///< what a person should know: elements that are NaN
};

/// Reverse mode over what a debugged run has done, seen from a place of it: every operation is differentiated at the
/// values that it had there, which are those kept or computed again, so that memory stays within the run's limits and
/// what one operation needs. Loops and branches are followed as they ran; of a value in a loop that is differentiated
/// by, the last one counts. A weight that a module has under several names, as one that is called twice, is one. A
/// value that an edit wrote over counts as it is. Where a derivative does not exist, or is zero almost everywhere, the
/// convention is PyTorch's. Errors (Usage): the index does not fit, a value is not known or no floating-point tensor,
/// an operation in between has no rule, by node and operator; of runs; cancelled.
base::Result<Saliency> saliency(const debug::View& view, const Request& request, const base::WorkContext& work = {});

/// An error of saliency() for who asked by a command, which has `option` ("to NODE") to follow its hint with.
base::Error withOption(base::Error error, std::string_view option);

/// The end points of a run that computes no more than the request needs, so that operators beside it may be unknown.
/// None: all of it has to run, as what is asked for is inside of control flow.
std::vector<graph::NodeId> endsFor(const graph::InternalGraph& graph, const Request& request);

/// "of", "value", "operations", "notes" and, for each node, "gradients":
/// {"node","dtype","shape","min","max","mean","std",…, "largest":[{"index","value"}…], "reached"}.
void addSaliency(nlohmann::ordered_json& answer, const Saliency& saliency, const graph::InternalGraph& graph);
/// The elements of the largest magnitude, the largest first, as flat indices.
std::vector<std::int64_t> largestElements(const tensor::Tensor& tensor, std::size_t count);

/// Writes a gradient as .npy, or all as .npz under "grad.NODE". Errors: the name's ending; several for .npy; of the
/// file.
base::Result<void> saveSaliency(const Saliency& saliency, const graph::InternalGraph& graph, const std::string& path);

}  // namespace sonde::session::gradient
