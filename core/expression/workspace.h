#pragma once

#include <memory>
#include <vector>

#include "core/expression/expression.h"
#include "core/tensor/tensor.h"

namespace sonde::expression {

/// An evaluation was cancelled.
struct Cancelled {};

/// Where one evaluation gets its memory: what an operation makes is counted until nobody has it any more.
/// All functions throw Problem if the limits are exceeded or there is no memory.
class Workspace {
  public:
    Workspace(const Limits& limits, const base::WorkContext& work) : m_limits(limits), m_work(work) {}

    /// Not initialised, contiguous.
    tensor::Tensor allocate(tensor::DType dtype, const tensor::Shape& shape);
    /// This tensor if it has the dtype, else a converted, contiguous copy: fractions are cut, integers wrap.
    tensor::Tensor cast(const tensor::Tensor& tensor, tensor::DType dtype);
    /// This tensor if it is contiguous, else a copy.
    tensor::Tensor contiguous(const tensor::Tensor& tensor);
    /// Contiguous, repeated along the dims that it is broadcast to.
    tensor::Tensor broadcast(const tensor::Tensor& tensor, const tensor::Shape& shape);
    /// Contiguous or a copy with another shape of as many elements.
    tensor::Tensor reshape(const tensor::Tensor& tensor, const tensor::Shape& shape);

    /// Throws Cancelled.
    void checkStop() const;

  private:
    void checkRoom(tensor::DType dtype, const tensor::Shape& shape);
    tensor::Tensor kept(base::Result<tensor::Tensor> made);

    Limits m_limits;
    const base::WorkContext& m_work;
    std::vector<std::weak_ptr<tensor::Storage>> m_made;
};

}  // namespace sonde::expression
