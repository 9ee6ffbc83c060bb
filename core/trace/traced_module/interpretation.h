#pragma once

namespace sonde::trace {

class TracedExpr;
class TracedNode;
class Var;

/// A tracer that is told which expr of a ModuleGraph it records just now, and what the nodes of that are to it.
class InterpretationFollower {
  public:
    virtual ~InterpretationFollower() = default;
    virtual void before(const TracedExpr& expr) = 0;
    virtual void after(const TracedExpr& expr) = 0;
    virtual void produced(const TracedNode& node, const Var& value) = 0;
};

}  // namespace sonde::trace
