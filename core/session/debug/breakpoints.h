#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/document/document.h"
#include "core/expression/expression.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session::debug {

/// Where a run stops, or where something is written down.
struct Breakpoint {
    enum class Kind : std::uint8_t { Node, Module, Operator, Event, Condition };
    int id = 0;        ///< from 1, never used again
    std::string text;  ///< as it was given: "conv1", "layer1", "op:Relu", "nan"; of a Condition empty
    Kind kind = Kind::Node;
    graph::NodeId node;    ///< Node; none: the model has none by that name
    std::string name;      ///< Node: its name when it was set; Module: its qualname; Operator
    bool isLeaf = false;   ///< Module: each call of it is one operation
    std::string qualname;  ///< Node: the module that it came from, to find it if it has another name
    TensorEvent event = TensorEvent::Nan;
    std::vector<graph::ExprId> producers;  ///< Condition: what computes the nodes that it names
    bool isMissing = false;                ///< the document has no such node, module or operator: it waits
    /// Of a breakpoint the condition, which may be empty; of a log point what is written down.
    expression::Expression expression;
    bool isLog = false;
    bool isEnabled = true;
    std::size_t ignored = 0;           ///< so many hits of a run do not stop it: 2 stops at the third
    std::set<ItemId> hits;             ///< where in this run it was met, or has written
    std::optional<base::Error> error;  ///< why its expression could not be computed the last time
};

/// A breakpoint or log point as it is kept outside of a process.
struct SavedBreakpoint {
    std::string where;       ///< as in Breakpoints::add(); nodes by name, in backticks
    std::string qualname;    ///< of a node, see Breakpoint
    std::string expression;  ///< may be empty
    bool isLog = false;
    bool isEnabled = true;
    std::size_t ignored = 0;

    bool operator==(const SavedBreakpoint&) const = default;
};

/// What a log point has written.
struct LogEntry {
    int id = 0;  ///< of the log point
    ItemId item = kNoItem;
    base::Result<tensor::Value> value = tensor::Value();
};

/// The breakpoints and log points of a document. A copy is made for work on another thread.
class Breakpoints {
  public:
    /// Adds one. `where`: NODE, a module's qualname, `op:OPERATOR`, or nan, inf, overflow or zero: the first operation
    /// whose result holds that while what it reads does not. In backticks it is a node in any case. Empty: the first
    /// node after which the condition, on the nodes that it names, becomes true. `text` is the condition, or what is to
    /// be written down. Its number; without a condition none is set twice. Usage error: there is nothing of that name,
    /// or what expression::parse() says; a log point without an expression or place.
    base::Result<int> add(const document::Document& document, std::string_view where, std::string_view text,
                          bool isLog);
    /// Whether there was one of that number.
    bool remove(int id);
    bool setEnabled(int id, bool enabled);
    /// Another condition, or another value to write down, in place. Empty: it has no condition. Errors as in add();
    /// then nothing has changed.
    base::Result<void> setExpression(const document::Document& document, int id, std::string_view text);
    /// Lets so many hits of a run pass before it stops. Usage error: there is no such breakpoint, or it is a log point.
    base::Result<void> setIgnored(int id, std::size_t hits);
    const std::vector<Breakpoint>& all() const { return m_all; }

    /// What to keep of all, in their order.
    std::vector<SavedBreakpoint> saved() const;
    /// In place of what was there, bound to a document; what it has no place for waits. Why some were left out: their
    /// expressions or places cannot be read.
    std::vector<base::Error> restore(const document::Document& document, const std::vector<SavedBreakpoint>& saved);

    /// The same in another document: those that it has no place for are missing, and wait. Nodes by name, else by
    /// module.
    void bind(const document::Document& document);
    void clear() { m_all.clear(), m_log.clear(); }
    /// A run begins: nothing was hit.
    void clearHits();

    /// The values of nodes for an expression, after what is done at an item.
    static expression::Names namesAt(const document::Document& document, RecordedRun& run, ItemId item,
                                     const base::WorkContext& work);

    /// Whether a breakpoint is on a node of an operation, on its operator, or on the module that it calls as a whole.
    static bool isOf(const Breakpoint& point, const graph::InternalGraph& graph, const graph::Expr& expr);
    /// Whether something may be at an item, as far as that is known before it is done. On the run's thread.
    bool mayStop(const RecordedRun& run, ItemId item) const;
    /// The breakpoints that stop at an item. Goes on until it is done if that is needed to know.
    /// `counts`: hits are counted, and log points write.
    std::vector<int> at(const document::Document& document, RecordedRun& run, ItemId item, bool counts,
                        const base::WorkContext& work);
    /// Takes over hits, errors and what was written from a copy that work was done with.
    void adopt(Breakpoints&& other);
    /// No more than kMaxLog entries and kMaxLogBytes of values are kept until they are taken; see droppedLog().
    std::vector<LogEntry> takeLog();
    static constexpr std::size_t kMaxLog = 100'000;
    static constexpr std::size_t kMaxLogBytes = std::size_t{64} << 20;
    /// Entries that found no room since the log was taken last, after which there is room again.
    std::size_t takeDroppedLog() { return std::exchange(m_droppedLog, 0); }

  private:
    bool isAt(const Breakpoint& point, const RecordedRun& run, ItemId item) const;
    bool isMet(Breakpoint& point, const document::Document& document, RecordedRun& run, ItemId item,
               const base::WorkContext& work) const;
    void write(Breakpoint& point, const document::Document& document, RecordedRun& run, ItemId item,
               const base::WorkContext& work);

    std::vector<Breakpoint> m_all;
    int m_lastId = 0;
    std::vector<LogEntry> m_log;
    std::size_t m_logBytes = 0;
    std::size_t m_droppedLog = 0;
};

}  // namespace sonde::session::debug
