#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/analysis/findings/activations.h"
#include "core/exec/run_options.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Of the floating dtypes that findings look at; 0 for others.
double smallestNormal(tensor::DType dtype);

/// What runs showed of one node's elements, all inputs and iterations together. NaN and infinite ones are in no other
/// figure but `count`.
struct ObservedValue {
    tensor::DType dtype = tensor::DType::Undefined;
    std::int64_t count = 0, nan = 0, inf = 0, zero = 0;
    std::int64_t denormal = 0;       ///< not zero, and below the smallest normal number of the dtype
    std::int64_t low = 0, high = 0;  ///< at or beyond the limits of the operator or of a quantised dtype
    double minimum = std::numeric_limits<double>::infinity();
    double maximum = -std::numeric_limits<double>::infinity();
    double squares = 0;      ///< their sum
    double first = 0;        ///< element
    bool isUniform = true;   ///< all elements are `first`
    std::int64_t times = 0;  ///< that it was computed

    std::int64_t finite() const { return count - nan - inf; }
    double magnitude() const;  ///< of the largest element; 0 without finite ones
    double rms() const;        ///< root of the mean square
};

/// Which channels of a rectifier were ever above zero.
struct UnitActivity {
    std::vector<bool> isActive;  ///< by channel
    std::int64_t samples = 0;    ///< elements seen of each channel
};

/// Told of a run while it goes on, on its thread: keeps figures and no values, so that memory does not grow with what
/// the run computes.
class ObservedValues : public exec::RunObserver {
  public:
    explicit ObservedValues(std::shared_ptr<const graph::InternalGraph> graph);

    /// A model input is given.
    void add(graph::NodeId node, const tensor::Value& value);
    void exprFinished(graph::ExprId expr, std::span<const tensor::Value> outputs, std::int64_t elapsedNs) override;

    /// Null if the node was not computed, or is neither of floating point nor a quantised value.
    const ObservedValue* of(graph::NodeId node) const;
    /// Null if the node is no rectifier's.
    const UnitActivity* activity(graph::NodeId node) const;

  private:
    void addTensor(graph::NodeId node, const tensor::Tensor& tensor, const ValueLimits* limits);
    void addActivity(graph::NodeId node, const tensor::Tensor& tensor, bool isLast);

    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::vector<std::optional<ValueLimits>> m_limits;  ///< by expr
    std::unordered_map<graph::NodeId, ObservedValue> m_values;
    std::unordered_map<graph::NodeId, UnitActivity> m_units;
};

}  // namespace sonde::analysis
