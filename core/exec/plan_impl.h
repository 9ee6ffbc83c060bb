#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/exec/run.h"

namespace sonde::exec {

/// How one expr is executed.
struct Step {
    enum class Kind : std::uint8_t {
        Operator,  ///< a registered kernel
        Body,      ///< the expr's first body, in place: a called module, a model-local function
        Callable,  ///< opaque code
        Collect,   ///< Output: the structure of its arguments becomes the value
        Impossible ///< fails when reached: `problem` says why
    };
    ExprId expr;
    Kind kind = Kind::Operator;
    const ops::OpDef* op = nullptr;
    ops::Attributes attributes;                        ///< completed with defaults
    std::vector<const graph::Argument*> arguments;     ///< by parameter position; null: use the fallback
    std::vector<Value> fallbacks;                      ///< for null arguments
    std::vector<NodeId> release;                       ///< values whose last reader this step is
    base::Error problem;
};

/// The steps of one body that are needed, in order.
struct BodyPlan {
    std::vector<Step> steps;
};

struct Plan::Impl {
    std::shared_ptr<const InternalGraph> graph;
    PlanOptions options;
    std::vector<BodyPlan> bodies;       ///< by body
    std::vector<bool> keep;             ///< by node: its value goes into the recording
    std::vector<bool> isEnd;            ///< by node
    std::vector<ExprId> mainSteps;
    std::vector<std::string> missing;
};

}  // namespace sonde::exec
