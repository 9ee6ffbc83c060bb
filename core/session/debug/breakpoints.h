#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/expression/expression.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session::debug {

/// Where a run stops, or where something is written down.
struct Breakpoint {
    enum class Kind : std::uint8_t { Node, Module, Operator, Event };
    int id = 0;        ///< from 1, never used again
    std::string text;  ///< as it was given: "conv1", "layer1", "op:Relu", "nan"
    Kind kind = Kind::Node;
    graph::NodeId node;  ///< Node; none: the model has none by that name
    std::string name;    ///< Module: its qualname; Operator
    TensorEvent event = TensorEvent::Nan;
    /// Of a breakpoint the condition, which may be empty; of a log point what is written down.
    expression::Expression expression;
    bool isLog = false;
    bool isEnabled = true;
    std::set<ItemId> hits;             ///< where in this run it has stopped, or written
    std::optional<base::Error> error;  ///< why its expression could not be computed the last time
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
    /// whose result holds that while what it reads does not. In backticks it is a node in any case. `text` is the
    /// condition, or what is to be written down. Its number. Usage error: there is nothing of that name, or what
    /// expression::parse() says; a log point without an expression.
    base::Result<int> add(const document::Document& document, std::string_view where, std::string_view text,
                          bool isLog);
    /// Whether there was one of that number.
    bool remove(int id);
    bool setEnabled(int id, bool enabled);
    const std::vector<Breakpoint>& all() const { return m_all; }

    /// The same in another document: those that it has no place for wait.
    void bind(const document::Document& document);
    /// A run begins: nothing was hit.
    void clearHits();

    /// The values of nodes for an expression, after what is done at an item.
    static expression::Names namesAt(const document::Document& document, RecordedRun& run, ItemId item,
                                     const base::WorkContext& work);

    /// Whether a breakpoint is on a node of an operation, or on its operator.
    static bool isOf(const Breakpoint& point, const graph::InternalGraph& graph, const graph::Expr& expr);
    /// Whether something may be at an item, as far as that is known before it is done. On the run's thread.
    bool mayStop(const RecordedRun& run, ItemId item) const;
    /// The breakpoints that stop at an item. Goes on until it is done if that is needed to know.
    /// `counts`: hits are counted, and log points write.
    std::vector<int> at(const document::Document& document, RecordedRun& run, ItemId item, bool counts,
                        const base::WorkContext& work);
    /// Takes over hits, errors and what was written from a copy that work was done with.
    void adopt(Breakpoints&& other);
    std::vector<LogEntry> takeLog();

  private:
    base::Result<Breakpoint> placed(const document::Document& document, std::string_view where) const;
    bool isAt(const Breakpoint& point, const RecordedRun& run, ItemId item) const;

    std::vector<Breakpoint> m_all;
    int m_lastId = 0;
    std::vector<LogEntry> m_log;
};

}  // namespace sonde::session::debug
