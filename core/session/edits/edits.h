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
        std::string problem = {};        ///< why it does nothing: not ready, or not after the edits before it
        bool isWithheld = false;         ///< of a session file, which may not have its file read

        /// Whether it changes what runs compute.
        bool counts() const { return edit.isEnabled && ready && problem.empty(); }
    };
    /// `changed`: called when the list has changed, as the last thing.
    explicit Edits(std::function<void()> changed) : m_tellChanged(std::move(changed)) {}

    const std::vector<Entry>& all() const { return m_entries; }
    bool empty() const { return m_entries.empty(); }
    bool canUndo() const { return !m_done.empty(); }
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
    /// Takes back the last change of the list, or does it again: an edit made, removed, switched on or off. Whether
    /// there was one.
    bool undo(const base::WorkContext& work = {});
    bool redo(const base::WorkContext& work = {});
    /// By position. Whether there is such an edit, and it was not so already. Later edits of the same weight are made
    /// again; one that does not fit any more says so in its `problem`.
    bool remove(std::size_t index, const base::WorkContext& work = {});
    /// As if it had never been made: no undo brings it back. Nothing is left to do again.
    bool withdraw(std::size_t index, const base::WorkContext& work = {});
    bool setEnabled(std::size_t index, bool isEnabled, const base::WorkContext& work = {});
    void clear();
    /// One that tells nobody.
    Edits quietCopy() const;
    /// Takes over the list and its history from a copy of this one that was changed, perhaps on another thread.
    void adopt(Edits changed);

    /// For plans. Null: there are none that change anything.
    const std::shared_ptr<const exec::Edits>& planned() const { return m_planned; }
    /// Whether a node may have another value than without the edits.
    bool reach(graph::NodeId node) const { return node.index() < m_reached.size() && m_reached[node.index()]; }
    /// Inputs for a run, with the edits of inputs. Errors: those of ReadyEdit::apply().
    base::Result<std::vector<tensor::Value>> inputs(std::vector<tensor::Value> given,
                                                    const base::WorkContext& work = {}) const;

    /// The file of the first edit that the session file may not have read: nobody agreed to files outside of its
    /// folder. None: there is no such edit.
    std::optional<std::string> withheldFile() const;

    /// In place of those there are; tells nobody. What could not be restored, a line for each.
    std::vector<std::string> restore(std::vector<Edit> edits);
    /// By the session: edits are found again in another document by what their nodes are.
    void bind(std::shared_ptr<const document::Document> document);

  private:
    /// Of the list. What was taken out is in it.
    struct Change {
        enum class Kind : std::uint8_t { Add, Remove, Switch };
        Kind kind = Kind::Add;
        std::size_t index = 0;
        std::optional<Entry> entry = {};
    };
    bool replay(std::vector<Change>& from, std::vector<Change>& to, bool isUndo, const base::WorkContext& work);
    void perform(Change& change, bool isUndo);
    void beginHistory();
    void forget(std::size_t index);
    void makeWeights(std::size_t first, const base::WorkContext& work);
    std::optional<std::string> makeReady(Entry& entry, std::size_t before);
    const IdentityIndex& identities();
    base::Result<tensor::Value> editedWeight(const ReadyEdit& edit, std::size_t before, const base::WorkContext& work,
                                             EditPlace& place) const;
    base::Result<void> tryOut(const ReadyEdit& edit, const Present& present, const base::WorkContext& work,
                              EditPlace& place) const;
    void plan();
    void changed();

    std::function<void()> m_tellChanged;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<const IdentityIndex> m_identities;  ///< of the document; null: not needed yet
    std::vector<Entry> m_entries;
    std::vector<Change> m_done, m_undone;  ///< the last one goes, or comes back, first
    std::shared_ptr<const exec::Edits> m_planned;
    std::vector<bool> m_reached;  ///< by node; empty: none
    std::size_t m_number = 0;
};

}  // namespace sonde::session
