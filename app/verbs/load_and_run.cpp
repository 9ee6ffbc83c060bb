#include "core/session/load_and_run/load_and_run.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/options.h"
#include "core/document/document.h"
#include "core/export/optimised_cases.h"
#include "core/export/plain_form.h"
#include "core/session/session_state.h"

namespace sonde::app {

namespace {

struct LoadAndRunVerbOptions {
    std::string file;
    session::LoadAndRunOptions run;
};

base::Result<int> loadAndRun(const LoadAndRunVerbOptions& options) {
    const VerbFiles files{{{"--profile", options.run.profile},
                           {"--io_dump", options.run.ioDump},
                           {"--get_static_mem_info", options.run.staticMemoryInfo},
                           {"--layout_transform_dump", options.run.layoutTransformDump}}};
    const std::vector<std::string> inputs{options.run.input};
    SONDE_TRY(checkOutputs(files, document::inputFiles({}, inputs)));
    SONDE_TRY(checkOutputs(files, document::modelFiles(options.file)));
    session::LoadAndRunTask task;
    SONDE_ASSIGN(task.document, document::open(options.file, {}, commandLineWork()));
    SONDE_TRY(checkOutputs(files, document::modelFiles(*task.document)));
    task.options = options.run;
    const auto& opened = task.document->session;
    if (opened && options.run.input.empty() && !(opened->file.inputData.empty() && opened->file.inputs.empty())) {
        SONDE_ASSIGN(task.inputs, session::readSessionCases(*task.document, std::nullopt, commandLineWork()));
    }
    task.form = exporting::optimisedCases;
    task.plainForm = exporting::plainForm;
    task.tell = [](const std::string& line) {
        std::puts(line.c_str());
        std::fflush(stdout);
    };
    SONDE_ASSIGN(session::LoadAndRunResult result, session::loadAndRun(task, commandLineWork()));
    if (result.failure) return std::move(*result.failure);
    return 0;
}

/// What is wrong with a value is told where it is given, as an error of CLI11's form.
void addOption(CLI::App& command, const session::LoadAndRunOption& option,
               const std::shared_ptr<LoadAndRunVerbOptions>& options) {
    const auto set = [options, name = option.name](const std::string& value) {
        if (const auto done = options->run.set(name, value); !done)
            throw CLI::ValidationError(done.error().where, done.error().what);
    };
    std::string help(option.help);
    if (!option.noEffect.empty()) help += " (no effect: " + std::string(option.noEffect) + ")";
    const std::string names = bothSpellings(option.name);
    if (option.parameter.empty()) {
        // --enable_nchw88=false counts as minus one.
        command.add_flag_function(
            names, [set](std::int64_t count) { set(count > 0 ? "true" : "false"); }, help);
    } else {
        command.add_option_function<std::string>(names, set, help)->type_name(std::string(option.parameter));
    }
}

}  // namespace

Verb loadAndRunVerb() {
    return {"load-and-run", "Run the test cases of a dump, or any model on inputs, as MegEngine's load-and-run does",
            "sonde load-and-run model.dump --iter 20 --thread 2", [](CLI::App& command) {
                auto options = std::make_shared<LoadAndRunVerbOptions>();
                command.add_option("FILE", options->file, "A dump, or any other model")->required();
                for (const session::LoadAndRunOption& option : session::loadAndRunOptions())
                    addOption(command, option, options);
                return std::function<base::Result<int>()>([options] { return app::loadAndRun(*options); });
            }};
}

}  // namespace sonde::app
