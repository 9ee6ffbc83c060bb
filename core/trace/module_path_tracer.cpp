#include "core/trace/module_path_tracer.h"

namespace sonde::trace {

bool ModulePathTracer::isLeafModule(const Module& module, std::string_view path) const {
    const std::string name = module.className();
    if (m_leaves.contains(name)) return true;
    if (m_traceAll || m_transparent.contains(name)) return false;
    return Tracer::isLeafModule(module, path);
}

}  // namespace sonde::trace
