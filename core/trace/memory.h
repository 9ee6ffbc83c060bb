#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/trace/memory_rules.h"
#include "core/trace/operator_call.h"
#include "core/trace/record.h"
#include "core/trace/recording.h"
#include "core/trace/var.h"

namespace sonde::graph {
enum class Overlap : std::uint8_t;
}

namespace sonde::trace {

/// How a view is cut out of its base.
struct Cut {
    OperatorCall call;                ///< its first argument is the base
    std::optional<std::size_t> item;  ///< element of the list that the call gives
    std::optional<tensor::Tensor>
        positions;  ///< instead of a call: int64, which elements of the base in row-major order
};
/// What shows all of a tensor as it is.
inline constexpr Function kAlias{"alias", "alias", "alias"};

/// The view, cut again out of `base`.
Var cutAgain(const Cut& cut, const Var& base);
/// `base` with the view replaced by `value`. Throws TraceError if there is no operator for that.
Var putBack(const Cut& cut, const Var& base, const Var& value);

/// What a tensor shows of another one.
struct Shown {
    bool same = false;                             ///< all of it as it is
    std::vector<std::shared_ptr<const Cut>> cuts;  ///< from the other one on; none, and not the same: it may be a part
    bool overlaps = false;                         ///< see Memory::Cell
};

/// The dimensions of nodes, for tracers that run on values.
struct KnownSizes {
    std::function<std::vector<std::int64_t>(graph::NodeId)> of;  ///< none: they are not known
    std::function<void(graph::NodeId, std::size_t)> keep;  ///< the trace holds for this dimension of the node only
};

/// The beginning of a body: of a called module, or a branch.
struct MemoryMark {
    std::size_t changes = 0;
    std::size_t reforms = 0;
    std::uint64_t serial = 0;
};

/// Visits the proxies in a result, those in lists and dicts too.
void visitProxies(const Var& var, const std::function<void(const Var&)>& visit);

/// What the values of a trace share: which node a tensor of the program means now, after writes to it, to what it was
/// cut out of, and to what was cut out of it. The graph stays functional: a write records what the tensor is then, and
/// what each of its bases is; views are cut again when they are read. What cannot be known is refused when it is read.
///
/// Names are nodes of one tracer. Not thread-safe.
class Memory {
  public:
    /// `recording`: where writes, views that are cut again and what is put back are recorded. `tracer`: whose its nodes
    /// are.
    Memory(Tracer& tracer, Recording& recording) : m_tracer(tracer), m_recording(recording) {}
    void clear();
    /// What layouts and sizes decide is asked of these, and refused where there are none.
    void setSizes(KnownSizes sizes) { m_sizes = std::move(sizes); }

    /// Records the call; its arguments mean what they mean now. Later uses of what it writes mean what was written.
    Var call(OperatorCall call);
    /// What a value means now. May record nodes. Throws TraceError if it cannot be known.
    graph::NodeId current(graph::NodeId node);
    Var current(const Var& var);
    /// Tensors that were values when the program began to write to them, and are nodes since.
    bool isLifted(const tensor::Value& value) const;

    /// The tensor takes a value that was computed elsewhere: in the body of a call, in a branch.
    void assign(const Var& tensor, const Var& value);
    /// A tensor of a module likewise.
    void assignSlot(const std::shared_ptr<const Slot>& slot, const Var& value);
    /// `view` shows that of `base`.
    void share(const Var& view, const Var& base, const Shown& shown);
    void share(const Var& view, const std::shared_ptr<const Slot>& slot, const Shown& shown);
    /// A tensor of a module that was written in this trace.
    bool isWritten(const Slot& slot) const;
    bool isAnySlotWritten() const;
    /// A write to a value was recorded as it is: later uses of the value are nodes, too.
    void noteRawWrite(const Var& var);
    /// The two may be parts of one tensor.
    bool mayShareMemory(const Var& a, const Var& b);
    /// The node reads a tensor of a module; all reads of it are one tensor.
    void nameSlot(graph::NodeId node, std::shared_ptr<const Slot> slot) { m_slotOf[node] = std::move(slot); }
    /// Its elements are packed in row-major order, so that reshape shows them as they are.
    void markPacked(graph::NodeId node) { m_packed.insert(node); }
    bool isPacked(graph::NodeId node) const { return m_packed.contains(node); }

    /// One tensor of the program, whatever its names.
    struct Cell;
    using CellPtr = std::shared_ptr<Cell>;
    using Mark = MemoryMark;
    Mark mark() const { return {m_changed.size(), m_reformed.size(), m_serial}; }
    /// What a body has done to what is older than it.
    struct Effects {
        std::vector<std::pair<std::size_t, Var>>
            inputs;                                  ///< index of an input that was written, and what it is at the end
        std::vector<std::pair<CellPtr, Var>> outer;  ///< captured tensors likewise; None: to be cut again
        struct Shared {
            std::size_t leaf = 0;   ///< which tensor of the result, counted through lists and tuples
            std::size_t input = 0;  ///< which input it shows
            Shown shown;
            std::shared_ptr<const Slot> slot = {};  ///< instead of an input: a tensor of a module
        };
        std::vector<Shared> shared;
        bool anyWrite() const { return !inputs.empty() || !outer.empty(); }
    };
    Effects effectsSince(const Mark& mark, const std::vector<graph::NodeId>& inputs, const Var& result);
    /// A captured tensor has this value after the body.
    void takeOver(const CellPtr& cell, const Var& value);

    /// Takes back what was noted since more than `exprs` exprs were recorded.
    void takeBack(std::size_t exprs);

    struct Cell {
        graph::NodeId node;
        CellPtr base;  ///< of a view
        std::shared_ptr<const Cut> cut;
        /// Tensors of which it may show a part, or not, with their versions when it was made.
        std::vector<std::pair<CellPtr, int>> perhaps;
        int version = 0;
        int baseVersion = 0;
        bool overlaps = false;  ///< several elements may be one place in memory
        bool isReform = false;  ///< the base's own tensor in another shape
        std::string stale;      ///< why it cannot be known any more
        std::shared_ptr<const Slot> slot;
        std::uint64_t serial = 0;
    };

  private:
    /// A tensor that became a node, and the views of it that are values still.
    struct Lifted {
        tensor::Tensor whole;
        CellPtr cell;
        std::vector<std::pair<tensor::Tensor, CellPtr>> views;
    };

    CellPtr makeCell(graph::NodeId node);
    CellPtr findCell(graph::NodeId node) const;
    CellPtr cellOf(graph::NodeId node);
    CellPtr cellOf(const Var& var);
    CellPtr lift(const Var& var);
    CellPtr liftedCell(const tensor::Tensor& tensor);
    CellPtr slotCell(const std::shared_ptr<const Slot>& slot);
    void showPart(const Var& view, const CellPtr& known, const Shown& shown);
    void rememberSlot(const std::shared_ptr<const Slot>& slot, const CellPtr& cell);
    void bind(graph::NodeId node, CellPtr cell);
    void change(const CellPtr& cell);
    graph::NodeId refresh(const CellPtr& cell);
    static bool isCurrent(const Cell& cell);
    static void collectRoots(const CellPtr& cell, std::vector<const Cell*>& roots);
    static Shown shownOf(const Cell& cell, const Cell& input);
    void noteShared(Effects& effects, const std::vector<graph::NodeId>& inputs, std::size_t leaf, const Var& result);
    void makeStale(const CellPtr& cell);
    Var record(OperatorCall call);
    Var write(OperatorCall call, const CellPtr& target);
    Var writeOut(OperatorCall call, const CellPtr& target);
    Var reform(OperatorCall call, const CellPtr& target);
    bool mayBeSameObject(const CellPtr& cell) const;
    void checkReforms(const Mark& mark, const std::vector<graph::NodeId>& inputs) const;
    void checkOverlap(const OperatorCall& call, const CellPtr& target, const Var* written);
    graph::Overlap overlapBySize(const CellPtr& target, const OperatorCall* part, const CellPtr& read, bool allowsSame);
    graph::Overlap overlapOfPositions(const CellPtr& written, const CellPtr& read, bool allowsSame);
    void checkWritable(const Cell& cell, const std::string& operation) const;
    void set(const CellPtr& cell, graph::NodeId node);
    void wrote(const CellPtr& target, graph::NodeId node);
    void noteResult(const OperatorCall& call, Link link, const Var& result);
    bool noteResultOfList(const OperatorCall& call, const Var& result);
    void noteView(const OperatorCall& call, const CellPtr& base, const Var& result, std::optional<std::size_t> item,
                  bool packed, bool sure);
    bool allPacked(const OperatorCall& call) const;
    [[noreturn]] void refuse(graph::NodeId node, const std::string& what) const;
    /// By the node that it has, or else by that of the nearest base.
    [[noreturn]] void refuse(const Cell& cell, const std::string& what) const;

    Tracer& m_tracer;
    Recording& m_recording;
    KnownSizes m_sizes;
    std::unordered_map<graph::NodeId, CellPtr> m_cells;
    std::unordered_map<const Slot*, CellPtr> m_slots;
    std::unordered_map<graph::NodeId, std::shared_ptr<const Slot>> m_slotOf;
    std::unordered_map<const tensor::Storage*, Lifted> m_lifted;
    std::unordered_map<const tensor::Storage*, tensor::Tensor> m_rawWritten;
    std::unordered_set<graph::NodeId> m_packed;
    std::vector<CellPtr> m_changed;
    std::vector<CellPtr> m_reformed;  ///< as they were before
    std::uint64_t m_serial = 0;
    std::vector<std::pair<std::size_t, std::function<void()>>> m_undo;  ///< by the number of exprs there were
};

}  // namespace sonde::trace
