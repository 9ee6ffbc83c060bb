#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/export/lowering/lowering.h"
#include "core/export/lowering/run_log.h"

namespace sonde::exporting {

using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using tensor::TypeInfo;

/// What is known while the parts of a model are written one after the other; copied before an attempt.
struct State {
    InternalGraph target;
    graph::BodyId body;  ///< of the target: where new nodes stand
    std::map<NodeId, Argument> standIns;
    std::map<NodeId, Value> values;         ///< what nodes were in the run, for conditions
    std::set<NodeId> numbers;               ///< nodes of the target that stand for numbers …
    std::map<NodeId, Value> numberValues;   ///< … and what they were
    std::map<ExprId, std::size_t> cursors;  ///< how often an expr was written already
    Known known;
    std::map<std::string, std::string> missing;
    std::map<std::pair<BodyId, std::string>, graph::ScopeId> leaves;
    std::map<std::string, int> leafCalls;
    std::set<ExprId> noted;
    base::Diagnostics notes;
};

/// Whether an operator draws random numbers.
bool isRandom(const Expr& expr);

/// Gives what a branch that was not taken does, if it can be run.
using BranchRunner = std::function<std::shared_ptr<RunLog>(ExprId, std::size_t)>;

/// Writes down what was run in ONNX operators. Branches and loops that depend on the data become If and Loop where both
/// branches, or any number of passes, can be said by fixed shapes; else what this run did is written.
class Transcriber {
  public:
    Transcriber(const InternalGraph& source, std::shared_ptr<RunLog> log, BranchRunner branches);
    void addInput(NodeId node, const Value& value);
    void write() { walk(m_source.mainId()); }
    base::Result<std::shared_ptr<const InternalGraph>> finish(const std::vector<std::string>& outputNames);
    base::Diagnostics takeNotes() { return std::move(m_s.notes); }
    /// The dtype that stands for a value; Undefined for none.
    static DType dtypeOf(const Value& value);

  private:
    static bool isControl(const Expr& expr) { return !expr.op.name.empty(); }
    void walk(BodyId body);
    /// An expr as it ran the next time. One that did not run was of no use.
    void visit(ExprId id);
    /// A called module: its inputs are the call's nodes.
    void enterBody(const Expr& expr);
    void leaveCall(const Expr& expr);

    // ---- control flow
    void control(const Expr& expr, std::size_t at);
    /// Runs `write` for the n-th run of a branch or loop; if that fails nothing has happened.
    bool attempt(const Expr& expr, std::size_t at, const std::function<void()>& write);
    void enterBranch(const Expr& expr, const Body& body);
    void branch(const Expr& expr, std::size_t at);
    /// A new operator with bodies, in the place where nodes are written now.
    ExprId addControl(const Expr& expr, const char* name, std::vector<Argument> arguments,
                      const std::vector<std::pair<const char*, std::size_t>>& bodies);
    std::string freeName(const std::string& wanted, const std::vector<std::string>& others = {}) const;
    /// What a body gives must be made in it, and be a tensor of the dtype.
    NodeId bodyResult(const Expr& expr, const Argument& argument, DType dtype);
    void writeIf(const Expr& expr, std::size_t at, NodeId condition, std::size_t taken);
    void setBodyResult(graph::BodyId body, const std::vector<NodeId>& nodes);
    /// Every part of a body ran at least once, in whichever pass.
    bool wasRun(const Body& body) const;
    void loop(const Expr& expr, std::size_t at);
    /// Loop(trips, condition, state…) with a body (i, condition, state…) -> (condition, state…), from its first pass.
    void writeLoop(const Expr& expr, std::size_t at, const Argument& trips, const Argument& begins,
                   const std::vector<Argument>& state);
    /// A run of a loop in which its body ran: this one, or the first of any.
    std::optional<std::size_t> runWithPasses(const Expr& loop, std::size_t at) const;
    /// What is written inside begins with the first pass of a loop's n-th run.
    void rewind(const Expr& loop, std::size_t run);
    void isNumber(NodeId node, const Value& value);
    /// The value that a condition had.
    std::optional<bool> toBool(const Argument& condition, const Expr& expr) const;

    // ---- operators
    void keepValues(const Expr& expr, std::span<const Value> outputs);
    static bool hasTensor(const Value& value);
    static bool isComplex(const Value& value) { return value.isTensor() && tensor::isComplex(value.tensor().dtype()); }
    bool hasComplex(const Argument& argument) const;
    void lower(const Expr& expr, std::vector<Argument> arguments, std::span<const Value> outputs);
    /// Why a rule cannot write a call; empty if it did.
    std::string tryRule(const Expr& expr, LoweringRule rule, const std::vector<Argument>& arguments,
                        std::span<const Value> outputs);
    /// A number as a tensor of one element, if there is a rule that follows it; so the numbers of a list of sizes.
    bool lowerNumbers(const Expr& expr, const std::string& name, const std::vector<Argument>& arguments,
                      const Value& numbers);
    bool holdsNumber(const Argument& argument) const;
    void areNumbers(const Argument& made, const Value& value);
    bool isOpen(const Argument& argument) const;
    /// Fills a tensor with a number, by the sizes of another or those given: known before a run.
    bool isFixedFilling(const std::string& name, const std::vector<Argument>& arguments) const;
    /// What a random operator gives without tensors.
    void draw(const Expr& expr, std::vector<Argument> arguments, std::span<const Value> outputs);
    /// Numbers that depend on the data as what they were. False: there are none.
    bool fixNumbers(std::vector<Argument>& arguments) const;
    /// What a leaf module does has the module's qualname but is in its caller's scope: here it gets one of its own.
    Expr inModule(const Expr& expr);
    /// The node that the model has keeps its name if it was made for this call.
    void takeName(const Argument& result, const std::string& label, bool only);
    void append(const Expr& expr, const std::vector<Argument>& arguments);
    void copy(const Expr& expr, const std::vector<Argument>& arguments, std::span<const Value> outputs);
    void missing(const Expr& expr, const std::string& why, std::span<const Value> outputs = {});
    void note(const Expr& expr, std::string what);

    // ---- values
    /// Arguments in the order of the schema, keywords and defaults in their places.
    std::vector<Argument> boundArguments(const Expr& expr) const;
    Argument resolved(const Argument& argument);
    Argument standIn(NodeId node);
    void collectResults(const Argument& argument, std::vector<Argument>& results);
    /// Where dim sizes depend on the data, those of this run hold for no other.
    void openShapes();
    void dropUnusedConstants();
    /// A file's outputs are different nodes, and none of them an input or a weight.
    void nameResults(std::vector<Argument>& results);

    const InternalGraph& m_source;
    const std::set<ExprId> m_checks;  ///< of writes in place: ONNX has no form of them
    std::shared_ptr<RunLog> m_log;
    BranchRunner m_branches;
    State m_s;
    int m_attempts = 0;  ///< at If and Loop, one inside the other
    int m_loops = 0;     ///< those of Loop: what is written holds for all of its passes
    std::map<ExprId, std::string> m_why;
    std::set<std::tuple<ExprId, std::size_t, const RunLog*, int>> m_failed;
};

}  // namespace sonde::exporting
