#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/document/document.h"
#include "core/session/edits/edit.h"

namespace sonde::session {

/// An edit made ready for a model: its nodes are found, its texts understood, its file read. A cheap handle that may be
/// used by several threads.
///
/// In the expression and in the slice, the name of what is edited is the value that it has before the edit; other names
/// are values that are there before it: in a loop those of the same iteration.
class ReadyEdit {
  public:
    /// What is edited.
    enum class Target : std::uint8_t {
        Computed,
        Input,
        Weight  ///< or another constant
    };

    /// `target`: as find() gives it. Errors (Usage), with their place: what parse() of slice or expression says; a name
    /// that is no node; a value that is computed after the one that is edited, or inside of another loop; (Unreadable)
    /// the file cannot be read.
    static base::Result<ReadyEdit> make(const document::Document& document, Edit edit, graph::NodeId target,
                                        EditPlace& place);
    /// A node as Document::findNode() finds it, or by the name of a parameter: "conv1.weight".
    static base::Result<graph::NodeId> find(const document::Document& document, std::string_view name);

    const Edit& edit() const;
    Target target() const;
    graph::NodeId node() const;  ///< by source: exec::valueSources
    /// All nodes that have the same weight; of anything else the node alone.
    const std::vector<graph::NodeId>& nodes() const;
    const std::vector<graph::NodeId>& operands() const;  ///< by source
    /// Whether the slice is the same in every run.
    bool hasFixedSlice() const;
    /// Whether the elements that it writes are, too.
    bool writesConstants() const;
    /// An operation without an operand on the same slice.
    ReadyEdit with(Edit::Kind kind) const;

    /// The value instead of `value`, of the same dtype and shape; `operands` are the values of operands(). Errors
    /// (Run): they do not go together, with node, slice, dtypes and shapes; Cancelled.
    base::Result<tensor::Value> apply(const tensor::Value& value, std::span<const tensor::Value> operands,
                                      const base::WorkContext& work, EditPlace& place) const;

  private:
    struct State;
    std::shared_ptr<const State> m_state;
};

}  // namespace sonde::session
