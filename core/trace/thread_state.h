#pragma once

#include <memory>
#include <unordered_map>

namespace sonde::tensor {
class Storage;
}

namespace sonde::trace {

class Evaluator;
class FunctionSwap;
class Tracer;
class WriteProtection;

/// What goes on in the traces of this thread. Each pointer is the innermost of its kind, null outside of any; who makes
/// one puts back what was there before.
struct ThreadState {
    Tracer* tracer = nullptr;
    std::shared_ptr<const Evaluator> evaluator;
    const FunctionSwap* swap = nullptr;
    WriteProtection* protection = nullptr;
    bool writesAsValues = false;  ///< see WritesAsValues
    /// Of results that were computed at once: PyTorch's may be in memory in another order than row by row.
    std::unordered_map<const tensor::Storage*, std::weak_ptr<const tensor::Storage>> otherLayouts;
};

/// Of the calling thread. Not passed along: a model's forward is written as `relu(x + weight)`, and neither the
/// operators of its language nor modules that others wrote have a place for it.
ThreadState& threadState();

}  // namespace sonde::trace
