#include "core/document/trace_options.h"

namespace sonde::document {

std::string_view name(OptSwitch value) {
    switch (value) {
        case OptSwitch::Unset: return "UNSET";
        case OptSwitch::Off: return "OFF";
        case OptSwitch::On: return "ON";
    }
    return "UNSET";
}

std::string GraphOptConfig::text() const {
    return "jit_fuse_dimshuffle=" + std::string(name(jitFuseDimshuffle)) +
           ", jit_fuse_reduce=" + std::string(name(jitFuseReduce));
}

base::Result<void> TraceOptions::check() const {
    if (sublinearMemoryConfig && dtrConfig)
        return base::usageError("sublinear_memory_config and dtr_config cannot be combined");
    if (imperative && (sublinearMemoryConfig || dtrConfig))
        return base::usageError("an imperative trace compiles nothing that could take less memory");
    if (sublinearMemoryConfig) SONDE_TRY(sublinearMemoryConfig->check());
    if (dtrConfig) SONDE_TRY(dtrConfig->check());
    return {};
}

std::vector<std::string> passesOfLevel(int level) {
    struct LevelPass {
        int level;
        const char* id;
    };
    static constexpr LevelPass kPasses[] = {{1, "simplify-arithmetic"}, {2, "fuse-conv-bn"},
                                            {2, "remove-identity"},     {2, "fold-constant"},
                                            {2, "merge-duplicates"},    {1, "remove-dead-code"}};
    std::vector<std::string> ids;
    for (const LevelPass& pass : kPasses) {
        if (pass.level <= level) ids.emplace_back(pass.id);
    }
    return ids;
}

}  // namespace sonde::document
