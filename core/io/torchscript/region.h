#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::graph {
class InternalGraph;
}

namespace sonde::io::script {

/// A branch or the body of a loop while it is recorded. What is older than it belongs to the program around it: a
/// change in place of such a tensor, list, dict or object is taken back at the end, so that the other branch starts
/// from the same state, and comes out as one more result, or goes around the loop as one more variable.
class Region {
  public:
    enum class Kind : std::uint8_t {
        Body,  ///< recorded into a body or a graph of its own, where nodes of the program around mean something else
        Call,  ///< of a module whose operations are the caller's own: it may fail, and is tried otherwise then
    };
    explicit Region(Kind kind = Kind::Body);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    /// The innermost one of this thread; null outside.
    static Region* current();

    // Called before a change.
    /// `derived`: the cell only takes up what is known from others; nothing that the program around would have to see.
    static void noteChange(TensorCell& cell, bool derived = false);
    static void noteChange(const std::shared_ptr<ListValue>& list);
    static void noteChange(const std::shared_ptr<DictValue>& dict);
    static void noteChange(const std::shared_ptr<InstanceValue>& instance);

    struct Cell {
        std::shared_ptr<TensorCell> cell;
        TensorState state;
        bool isWritten;
    };
    struct List {
        std::shared_ptr<ListValue> list;
        std::vector<ScriptValue> items;
        Var symbolic;
        bool ofTensors;
        CellPtr memory;
    };
    struct Dict {
        std::shared_ptr<DictValue> dict;
        std::vector<std::pair<ScriptValue, ScriptValue>> items;
    };
    struct Instance {
        std::shared_ptr<InstanceValue> instance;
        std::map<std::string, ScriptValue> attributes;
    };
    struct Changes {
        std::vector<Cell> cells;
        std::vector<List> lists;
        std::vector<Dict> dicts;
        std::vector<Instance> instances;
    };
    /// Tensors that were written through views take it up now, while what was recorded is at hand.
    void settle();
    /// What has changed so far; of each thing the state from before.
    const Changes& changes() const { return m_before; }
    /// Older than the region.
    bool isOlder(const TensorCell& cell) const { return isOlder(cell.serial); }
    bool isOlder(std::uint64_t serial) const { return serial < m_start; }
    /// Restores what was there before; returns the state that the changed things had in the end.
    Changes takeBack();
    /// What it has changed stays so, and counts as changed by the region around it.
    void commit();
    /// A serial for a tensor that is as old as the node: older than the regions that began after it was recorded.
    static std::uint64_t serialOf(const Var& node);
    /// What is recorded now goes into a body of its own, which nobody outside of it can name nodes of.
    static bool isInsideBody();

    /// Puts what a region has changed in place again for as long as it lives: what it left behind can be read.
    class Again {
      public:
        explicit Again(Changes& changes) : m_changes(changes) { swap(m_changes); }
        ~Again() { swap(m_changes); }
        Again(const Again&) = delete;
        Again& operator=(const Again&) = delete;

      private:
        Changes& m_changes;
    };

  private:
    static void swap(Changes& changes);
    void adopt(Changes changes);

    Kind m_kind;
    std::uint64_t m_start;
    const graph::InternalGraph* m_graph;  ///< that is recorded; null: none
    std::size_t m_firstNode;              ///< of those that are recorded into it
    Region* m_outer;
    Changes m_before;
};

}  // namespace sonde::io::script
