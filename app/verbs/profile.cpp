#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/analysis/profile/profile_json.h"
#include "core/analysis/profile/stored_profile.h"
#include "core/session/profile/profile_run.h"

namespace sonde::app {

namespace {

struct ProfileOptions {
    ModelOptions model;
    InputChoice inputs;
    session::ProfileRequest request;
    std::string out, compare, ortProfile;
    std::size_t lines = 15;
    bool json = false;
};

/// "--compare" and "--ort-profile" differ in what they take.
base::Result<analysis::StoredProfile> otherProfile(const ProfileOptions& options) {
    const bool isOrt = !options.ortProfile.empty();
    SONDE_ASSIGN(analysis::StoredProfile other, analysis::readProfile(isOrt ? options.ortProfile : options.compare));
    if (isOrt && other.engine != "ONNX Runtime")
        return base::usageError("this is no profile of ONNX Runtime but one of " + other.engine, options.ortProfile,
                                "compare it with --compare");
    return other;
}

base::Result<int> runProfile(ProfileOptions& options) {
    const bool isCompared = !options.compare.empty() || !options.ortProfile.empty();
    std::optional<analysis::StoredProfile> other;
    if (isCompared) {
        SONDE_ASSIGN(other, otherProfile(options));
    }
    SONDE_ASSIGN(const auto document, options.model.load(options.inputs.spec, {{{"--out", options.out}}}));
    SONDE_ASSIGN(const auto cases, inputsFor(*document, options.inputs));
    options.request.inputs = cases.front().values;
    options.request.seed = seedOf(*document, options.inputs);
    SONDE_ASSIGN(const auto profile, session::profileRun(*document, options.request, commandLineWork()));
    if (!options.out.empty()) SONDE_TRY(analysis::writeTraceEvents(options.out, *profile));
    if (other) {
        const auto compared = analysis::compareProfiles(analysis::storedOf(*profile), *other, document->graph.get());
        fmt::print("{}", options.json ? compared.json() : compared.text(options.lines));
    } else {
        fmt::print("{}", options.json ? analysis::profileFiguresJson(*profile)
                                      : session::profileText(*profile, options.lines));
    }
    return 0;
}

}  // namespace

Verb profileVerb() {
    return {
        "profile", "Tell where the time and the memory of a run go, by node and module",
        "sonde profile model.onnx --input-data photo.png --out trace.json", [](CLI::App& command) {
            auto options = std::make_shared<ProfileOptions>();
            options->model.addTo(command);
            options->inputs.addTo(command);
            addThreads(command, options->request.threads);
            command
                .add_option("--repeat", options->request.repeat,
                            "Number of runs; the last one is told, with what the others left in memory")
                ->check(aboveZero())
                ->capture_default_str();
            addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
            command.add_flag("--fused", options->request.isFused,
                             "Fuse operations as a plain run does, instead of doing each by itself");
            command.add_flag("--exact", options->request.isExact,
                             "Use no optimisation that rounds differently from the definition");
            command.add_option("--out", options->out, "Write the timeline as a Chrome trace (JSON), for Perfetto too");
            auto* compare = command.add_option("--compare", options->compare,
                                               "Compare with an earlier profile (from --out, --json or sonde run "
                                               "--profile), node by node");
            command
                .add_option("--ort-profile", options->ortProfile,
                            "Compare with a profile that ONNX Runtime wrote (SessionOptions.enable_profiling)")
                ->excludes(compare);
            command.add_option("--lines", options->lines, "Lines of each table")
                ->check(aboveZero())
                ->capture_default_str();
            command.add_flag("--json", options->json, "Print one JSON object");
            command.footer(
                "The model runs in a runner of its own, so that the memory is what one run needs: values, blocks kept\n"
                "for values to come, weights packed for kernels, working memory, and stored weights that were not read\n"
                "before. Self is the time without what runs inside of a node; a module's total is the sum of the self\n"
                "times of its nodes and of those of the modules below it.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return runProfile(*options); });
        }};
}

}  // namespace sonde::app
