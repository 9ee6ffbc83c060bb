#pragma once

namespace sonde::trace {

class TracedExpr;

/// A tracer that is told which expr of a ModuleGraph it records just now.
class InterpretationFollower {
  public:
    virtual ~InterpretationFollower() = default;
    virtual void before(const TracedExpr& expr) = 0;
    virtual void after(const TracedExpr& expr) = 0;
};

}  // namespace sonde::trace
