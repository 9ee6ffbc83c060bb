#pragma once

#include <functional>
#include <set>

#include "core/trace/tracer.h"

namespace sonde::trace {

/// Records with every node the qualified name of the module in whose forward it was made (symbolic-trace.md). Which
/// modules are leaves can be changed by class.
class ModulePathTracer : public Tracer {
  public:
    ModulePathTracer() = default;

    /// Classes whose modules become leaves beside those of the library.
    void addLeafClass(std::string className) { m_leaves.insert(std::move(className)); }
    /// Classes that are traced through although they come with the library; `traceAll` is every class.
    void addTransparentClass(std::string className) { m_transparent.insert(std::move(className)); }
    void setTraceAll(bool traceAll) { m_traceAll = traceAll; }

  protected:
    bool isLeafModule(const Module& module, std::string_view path) const override;

  private:
    std::set<std::string, std::less<>> m_leaves;
    std::set<std::string, std::less<>> m_transparent;
    bool m_traceAll = false;
};

}  // namespace sonde::trace
