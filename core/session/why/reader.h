#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::session::why {

/// An element of a node's value.
struct Place {
    graph::NodeId node;
    std::optional<std::size_t> member;  ///< of a value that is a list or tuple of tensors
    std::vector<std::int64_t> index;    ///< one for each dimension; negative ones count from the end
    /// Of a value in a loop: as it was before this item of the run (debug::Trace), in an earlier iteration. Without it
    /// the last one counts.
    std::optional<std::uint32_t> before = std::nullopt;
    /// Not an element of the value but of a state that the operator has inside and no output gives, as what the layer
    /// below of a recurrent operator hands on (ops::dependence::innerState()): `node` is then the operator's first
    /// output, and `index` has its dimensions. 0: the value itself.
    std::uint32_t state = 0;
};

/// Where the values of a run come from.
class Reader {
  public:
    virtual ~Reader() = default;
    virtual base::Result<tensor::Value> value(graph::NodeId node) = 0;
    /// What `input` was when `result` was computed.
    virtual base::Result<tensor::Value> valueFor(graph::NodeId input, graph::NodeId /*result*/) { return value(input); }

    /// What a node was in the iterations of the loops around it that are named, outermost first; `isLast`: no other
    /// ones are as late. Of what other values are compared with.
    virtual base::Result<tensor::Value> valueIn(graph::NodeId node, const std::vector<std::int64_t>& /*iterations*/,
                                                bool isLast) {
        if (isLast) return value(node);
        return base::usageError("values of earlier iterations are not known");
    }

    /// Whether an edit gives a node another value than its operation does. By source.
    virtual bool isEdited(graph::NodeId /*node*/) { return false; }
    /// Whether what its edits write does not depend on what it was before.
    virtual bool isOverwritten(graph::NodeId /*node*/) { return false; }
    /// The iterations of the loops around what computed a node, outermost first; empty if none is known.
    virtual std::vector<std::int64_t> iterationsOf(graph::NodeId /*node*/) { return {}; }
    /// Where the iteration began that an input of a loop's body is of, as Place::before; nothing in the first one.
    virtual std::optional<std::uint32_t> iterationBefore(graph::NodeId /*bodyInput*/) { return std::nullopt; }
    /// The same run as it was before an item; null if that is not kept.
    virtual std::unique_ptr<Reader> before(std::uint32_t /*item*/) { return nullptr; }
};

}  // namespace sonde::session::why
