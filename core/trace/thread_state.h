#pragma once

#include <memory>

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
};

/// Of the calling thread. Not passed along: a model's forward is written as `relu(x + weight)`, and neither the
/// operators of its language nor modules that others wrote have a place for it.
ThreadState& threadState();

}  // namespace sonde::trace
