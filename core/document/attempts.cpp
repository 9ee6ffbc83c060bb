#include "core/document/attempts.h"

#include "core/trace/robust_tracer.h"

namespace sonde::document {

namespace {

constexpr std::string_view kTried = "tried to ";

}  // namespace

void addAttempts(base::Diagnostics& diagnostics, const std::string& qualname,
                 const std::vector<trace::Attempt>& attempts) {
    for (const trace::Attempt& attempt : attempts)
        diagnostics.push_back({base::Severity::Info, std::string(kTried) + attempt.text(), qualname, {}});
}

void addAttempts(TracedGraph& traced, trace::Module& root, const trace::RobustTracer& tracer) {
    for (const graph::ModuleInfo& info : traced.tree.modules()) {
        const bool isFailed = !info.failure.empty() && !info.qualname.empty();
        if (const trace::Module* module = isFailed ? root.find(info.qualname) : nullptr)
            addAttempts(traced.diagnostics, info.qualname, tracer.attempts(*module));
    }
}

std::vector<std::string_view> triedWith(const Document& document, std::string_view qualname) {
    std::vector<std::string_view> tried;
    for (const base::Diagnostic& finding : document.diagnostics) {
        if (finding.where == qualname && finding.what.starts_with(kTried))
            tried.push_back(std::string_view(finding.what).substr(kTried.size()));
    }
    return tried;
}

}  // namespace sonde::document
