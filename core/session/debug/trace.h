#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/exec/plan.h"

namespace sonde::session::debug {

using ItemId = std::uint32_t;
inline constexpr ItemId kNoItem = std::numeric_limits<ItemId>::max();

/// A place in the order of a run: an operation that is done, or what operations are done inside of.
struct Item {
    enum class Kind : std::uint8_t {
        Operation,  ///< `expr` is done here; of branches, loops and calls what they run follows inside
        Module,     ///< operations of one call of a module, `scope`, that come after each other
        Body        ///< an iteration of the loop `expr`; of another operation, a body that was given values
    };
    Kind kind = Kind::Operation;
    std::uint8_t events = 0;      ///< see TensorEvent: what came up in the operation's results
    std::uint16_t depth = 0;      ///< 0: of the main program itself
    graph::ExprId expr;           ///< Operation, Body
    graph::ScopeId scope;         ///< the call of a module that it is in; of a Module the call itself
    ItemId parent = kNoItem;      ///< what it is inside of; none: of the main program itself
    ItemId end = kNoItem;         ///< what comes after all that is inside of it; none: it is not done yet
    std::int64_t iteration = -1;  ///< of a loop's Body
    std::int64_t elapsedNs = 0;   ///< of an operation that has nothing inside; see Trace::elapsedNs
};

/// What a run has done so far, in order: a tree, as a row in which everything comes directly before what is inside of
/// it. Operations without results are left out, and modules with no more than one operation.
///
/// Filled by what a run tells its observer. Not thread-safe.
class Trace {
  public:
    explicit Trace(const exec::Plan& plan);

    std::size_t size() const { return m_items.size(); }
    const Item& operator[](ItemId item) const { return m_items[item]; }
    bool isDone(ItemId item) const { return m_items[item].end != kNoItem; }
    /// The run has ended: everything is done.
    void close();

    /// An operation begins. Its item; none if it has no results and nothing inside.
    ItemId started(graph::ExprId expr);
    /// The item; none likewise. `elapsedNs`: the time that it took, which counts if there is nothing inside: else the
    /// run may have waited there.
    ItemId finished(graph::ExprId expr, std::int64_t elapsedNs = 0);
    /// A body of the operation that began last and is not done. The item that values of the body's inputs belong to.
    ItemId bodyStarted(graph::BodyId body, bool hasInputs, std::int64_t iteration);
    void addEvents(ItemId item, std::uint8_t events) { m_items[item].events |= events; }

    /// The last item at or before `at` in which an operation was done.
    ItemId lastOf(graph::ExprId expr, ItemId at) const;
    /// The last item at or before `at` that gave a body its inputs.
    ItemId lastOf(graph::BodyId body, ItemId at) const;
    /// The item in which an operation was done or begun for the time `count`, from 0; none if it was not so often.
    ItemId timeOf(graph::ExprId expr, std::size_t count) const {
        const std::vector<ItemId>& items = m_ofExpr[expr.index()];
        return count < items.size() ? items[count] : kNoItem;
    }
    std::size_t times(graph::ExprId expr) const { return m_ofExpr[expr.index()].size(); }
    /// The item in which an operation was done, or a body given its inputs, in iterations as passOf() has them; none if
    /// there is none.
    ItemId inPass(graph::ExprId expr, const std::vector<std::int64_t>& pass) const;
    ItemId inPass(graph::BodyId body, const std::vector<std::int64_t>& pass) const;
    /// How often an operation was done before an item.
    std::size_t countBefore(graph::ExprId expr, ItemId item) const;

    /// The first operation at or after an item: itself or, as a rule, the first inside. None: there is none yet.
    ItemId operationAt(ItemId item) const;
    bool isInside(ItemId item, ItemId of) const { return item > of && (!isDone(of) || item < m_items[of].end); }
    /// What comes before an item inside of the same one, else the one that it is inside of; none before the first.
    ItemId previousBeside(ItemId item) const;
    /// What is left by stepping out: what it is inside of; of a body, the operation. None for the main program.
    ItemId around(ItemId item) const;
    /// The time of an item so far, with all that is inside. Linear in that.
    std::int64_t elapsedNs(ItemId item) const;
    /// Iterations of the loops around it, outermost first.
    std::vector<std::int64_t> passOf(ItemId item) const;

  private:
    /// What operations are done in: the main program, or what an operation runs.
    struct Frame {
        ItemId operation = kNoItem;  ///< none: the main program, or an operation without an item
        graph::ExprId expr;
        ItemId body = kNoItem;
        std::vector<ItemId> modules;  ///< outermost first
    };
    void closeFailed();
    void unwindTo(graph::ExprId owner);
    void closeModules(Frame& frame, std::size_t kept);
    void closeBody(Frame& frame);
    void enterModules(const graph::Expr& expr);
    ItemId parentIn(const Frame& frame) const;
    ItemId inPass(const std::vector<ItemId>& items, const std::vector<std::int64_t>& pass) const;
    ItemId add(Item item);

    const graph::InternalGraph& m_graph;
    std::vector<Item> m_items;
    std::vector<Frame> m_frames;
    std::vector<std::vector<ItemId>> m_ofExpr;  ///< by expr
    std::vector<std::vector<ItemId>> m_ofBody;  ///< by body
    std::vector<std::uint32_t> m_operations;    ///< by scope: how many there are in the plan, in inner scopes too
};

}  // namespace sonde::session::debug
