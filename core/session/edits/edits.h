#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/edits.h"
#include "core/session/edits/ready_edit.h"

namespace sonde::session {

/// What if: the edits of a session, in the order in which they were made, with undo and redo. They change what runs of
/// the debugger compute; plain runs are without them. See Session for threads.
class Edits {
  public:
    static constexpr std::size_t kMaxEdits = 1'000;

    struct Entry {
        Edit edit;
        std::optional<ReadyEdit> ready;  ///< none: the model has no such node, or not what the edit reads
        tensor::Value weight = {};       ///< of a weight: what it is after this edit
        std::string problem = {};        ///< why it is not ready
    };
    /// `changed`: called when the list has changed, as the last thing.
    explicit Edits(std::function<void()> changed) : m_tellChanged(std::move(changed)) {}

    const std::vector<Entry>& all() const { return m_entries; }
    bool empty() const { return m_entries.empty(); }
    bool canUndo() const { return !m_entries.empty(); }
    bool canRedo() const { return !m_undone.empty(); }
    /// Counts changes of the list.
    std::size_t number() const { return m_number; }

    /// The present value of a node; nothing if it is not known.
    using Present = std::function<std::optional<tensor::Value>(graph::NodeId)>;
    /// One more edit of a node: its target is filled in. It is tried on the present values, so that what does not fit
    /// is refused at once: nothing has changed then. Errors: those of ReadyEdit::make() and apply(), with the place;
    /// (Usage) there are kMaxEdits, no model is open.
    base::Result<void> add(graph::NodeId target, Edit edit, const Present& present, EditPlace& place,
                           const base::WorkContext& work = {});
    /// Whether there was one.
    bool undo();
    bool redo();
    void clear();

    /// For plans. Null: there are none that change anything.
    const std::shared_ptr<const exec::Edits>& planned() const { return m_planned; }
    /// Whether a node may have another value than without the edits.
    bool reach(graph::NodeId node) const { return node.index() < m_reached.size() && m_reached[node.index()]; }
    /// Inputs for a run, with the edits of inputs. Errors: those of ReadyEdit::apply().
    base::Result<std::vector<tensor::Value>> inputs(std::vector<tensor::Value> given,
                                                    const base::WorkContext& work = {}) const;

    /// In place of those there are; tells nobody. What could not be restored, a line for each.
    std::vector<std::string> restore(std::vector<Edit> edits);
    /// By the session: edits are found again in another document by what their nodes are.
    void bind(std::shared_ptr<const document::Document> document);

  private:
    std::optional<std::string> makeReady(Entry& entry) const;
    base::Result<tensor::Value> editedWeight(const ReadyEdit& edit, const base::WorkContext& work,
                                             EditPlace& place) const;
    base::Result<void> tryOut(const ReadyEdit& edit, const Present& present, const base::WorkContext& work,
                              EditPlace& place) const;
    void plan();
    void changed();

    std::function<void()> m_tellChanged;
    std::shared_ptr<const document::Document> m_document;
    std::vector<Entry> m_entries;
    std::vector<Entry> m_undone;  ///< the last one comes back first
    std::shared_ptr<const exec::Edits> m_planned;
    std::vector<bool> m_reached;  ///< by node; empty: none
    std::size_t m_number = 0;
};

}  // namespace sonde::session
