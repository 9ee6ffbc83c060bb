#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/ids.h"
#include "core/trace/memory.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Module;
class PendingError;
class Recorder;
class Recording;
class TracePolicy;

/// Records what is inside of the call of a leaf: the operations of its own forward as the body of the call, so that it
/// can be run and looked into. If the leaf itself cannot be traced, the call holds a Callable that runs it on values
/// instead. A leaf has no scope of its own: its call and what is in the body are in the scope of the caller.
class LeafRecorder {
  public:
    LeafRecorder(Recorder& recorder, const Recording& recording, Memory& memory, const TracePolicy& policy,
                 PendingError& pending)
        : m_recorder(recorder), m_recording(recording), m_memory(memory), m_policy(policy), m_pending(pending) {}

    /// Why the call has no body; nothing: it has one.
    std::optional<std::string> recordBody(Module& module, const std::string& path, graph::ExprId call,
                                          const std::vector<Var>& arguments, const Keywords& keywords);
    /// Instead of a body. `isRoot`: the module is the whole program.
    void makeOpaque(Module& module, graph::ExprId call, const std::vector<Var>& arguments, const Keywords& keywords,
                    bool isRoot);

  private:
    /// Inputs of the body and the values of the caller that they stand for.
    using Bound = std::vector<std::pair<graph::NodeId, Var>>;
    /// The argument with inputs of the body for the proxies in it; each is added to `inputs`.
    Var insideOf(const Var& outer, const std::string& name, Bound& inputs);
    Var inputFor(const Var& outer, const std::string& name, Bound& inputs);
    /// Gives what `finish` gives.
    std::function<void()> recordForward(Module& module, graph::ExprId call, const std::vector<Var>& arguments,
                                        const Keywords& keywords);
    /// Leaves the body with its result and, as further results, what it has written of what is older than it. Gives the
    /// changes that the caller sees: to be made when the call is complete. `outside`: bodies that were open before.
    std::function<void()> finish(graph::ExprId call, const MemoryMark& mark, const Bound& inputs, const Var& result,
                                 std::size_t outside);
    void checkWrites(const Memory::Effects& effects, const Bound& inputs);
    graph::Argument resultOf(const Var& result, const Memory::Effects& effects);
    std::function<void()> changesBy(graph::ExprId call, const Memory::Effects& effects, const Bound& inputs,
                                    const Var& result, const Var& made);
    Var furtherOutput(graph::ExprId call);

    Recorder& m_recorder;
    const Recording& m_recording;
    Memory& m_memory;
    const TracePolicy& m_policy;
    PendingError& m_pending;
};

}  // namespace sonde::trace
