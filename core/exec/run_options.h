#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/exec/plan_options.h"

namespace sonde::ops::kernels {
struct ElementMoments;
}

namespace sonde::exec {

/// Told about a run while it goes on, on the running thread. The values are only valid during the call.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    virtual void exprStarted(ExprId) {}
    /// Asked after that, of an operation without bodies. True: its results are known, and `outputs` are they, in the
    /// order of the expr's outputs; it is not done. None for a value that nobody reads.
    virtual bool takeKnown(ExprId, std::vector<Value>& outputs) { return (void)outputs, false; }
    /// `outputs` in the order of the expr's outputs.
    virtual void exprFinished(ExprId, std::span<const Value> outputs, std::int64_t elapsedNs) {
        (void)outputs, (void)elapsedNs;
    }
    /// A body of a branch or a loop begins, inside of its operation. `inputs` in the order of the body's inputs, which
    /// may have more; `iteration` counts from 0 in loops.
    virtual void bodyStarted(graph::BodyId, std::span<const Value> inputs, std::int64_t iteration) {
        (void)inputs, (void)iteration;
    }
    /// Asked before each expr of the main body; may block (stepping, pausing). False cancels the run.
    virtual bool mayContinue(ExprId) { return true; }
};

struct RunOptions {
    std::uint64_t seed = 0;
    RunObserver* observer = nullptr;
    bool countsBad = true;     ///< fill Recording::bad; false only to measure what that costs
    bool keepsWatched = true;  ///< false: the observer takes what it wants of watched values, Recording::kept is empty
    /// Asked for each watched value that is computed, on the running thread. False: the recording does not keep it, nor
    /// what it has of the node by then. Of constants nobody is asked: they are there anyway.
    std::function<bool(NodeId, const Value&)> mayKeep = {};
    /// A watched value that is cheaply computed from another kept one may be made when it is first read, which saves
    /// its memory until then. False: not so, for those who read all of them at once.
    bool mayDefer = true;
    std::span<const Value> given = {};  ///< the values of PlanOptions::given, in its order
    /// With PlanOptions::measuresWatched, in place of keeping: told of each watched value when it is made, on the
    /// running thread. If the kernel has measured it while it was in the cache, the moments say how
    /// (ops::kernels::QuickMoments) and the value may be gone: None, or written over. Null: the value is there.
    std::function<void(NodeId, const Value&, const ops::kernels::ElementMoments*)> measured = {};
};

}  // namespace sonde::exec
