#pragma once

#include <memory>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::io::script {

/// A branch or the body of a loop while it is recorded. What is older than it belongs to the program around it: a change
/// in place of such a tensor, list or dict is taken back at the end of the branch, so that the other branch starts from
/// the same state, and comes out as one more result. Around a loop nothing of that kind can be followed, but for lists
/// that the loop was told to carry.
class Region {
  public:
    enum class Kind : std::uint8_t { Branch, Loop };
    explicit Region(Kind kind);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    /// The innermost one of this thread; null outside.
    static Region* current();
    void allow(const ListValue& list) { m_allowed.push_back(&list); }

    // Called before a change. They throw TraceError if the change cannot be followed.
    static void noteChange(TensorCell& cell);
    static void noteChange(const std::shared_ptr<ListValue>& list);
    static void noteChange(const std::shared_ptr<DictValue>& dict);
    static void noteChange(const InstanceValue& instance);

    struct Cell {
        std::shared_ptr<TensorCell> cell;
        Var var;
        int version;
        int baseVersion;
        bool stale;
        std::shared_ptr<IndexChain> chain;
    };
    struct List {
        std::shared_ptr<ListValue> list;
        std::vector<ScriptValue> items;
        Var symbolic;
        bool ofTensors;
    };
    struct Dict {
        std::shared_ptr<DictValue> dict;
        std::vector<std::pair<ScriptValue, ScriptValue>> items;
    };
    struct Changes {
        std::vector<Cell> cells;
        std::vector<List> lists;
        std::vector<Dict> dicts;
    };
    /// Restores what was there before; returns the state that the changed things had in the end.
    Changes takeBack();

  private:
    bool isOlder(std::uint64_t serial) const { return serial < m_start; }

    Kind m_kind;
    std::uint64_t m_start;
    Region* m_outer;
    Changes m_before;
    std::vector<const ListValue*> m_allowed;
};

}  // namespace sonde::io::script
