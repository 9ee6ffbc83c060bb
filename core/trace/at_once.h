#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "core/trace/record.h"

namespace sonde::trace {

// Operators on values, computed when they are called.

/// What the kernel gives. Throws TraceError: no evaluator, or what the operator says.
Var evaluateAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords);
/// The same with PyTorch's memory: views show the memory of their argument, everything else has memory of its own.
Var callAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords);
/// Whether some place in memory is shown several times, as by expand.
bool repeatsElements(const tensor::Tensor& tensor);
/// An in-place operator: changes the memory of its receiver (or of `out`) and gives that tensor. Throws TraceError: a
/// shape or a type that does not fit, a tensor that shows one place in memory several times, memory that cannot be
/// written.
Var writeAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords);

/// The operator after an `out=` form: "add.Tensor" for "add.out" (and for itself), by the number of arguments it takes.
std::string functionalOverload(const graph::OpKey& op, const std::vector<Var>& arguments);

/// While it lives, these tensors (and those of modules that are read meanwhile) cannot be written on this thread.
class WriteProtection {
  public:
    explicit WriteProtection(std::span<const tensor::Value> values);
    ~WriteProtection();
    WriteProtection(const WriteProtection&) = delete;
    WriteProtection& operator=(const WriteProtection&) = delete;
    /// A module's tensor is read.
    static void noteRead(const tensor::Tensor& tensor);
    static bool covers(const tensor::Tensor& tensor);

  private:
    void protect(const tensor::Value& value);
    std::unordered_set<const tensor::Storage*> m_storages;
    WriteProtection* m_outer;
};

}  // namespace sonde::trace
