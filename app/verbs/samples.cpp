#include "core/session/samples/samples.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/options.h"
#include "app/verbs/output_forms.h"
#include "app/verbs/validators.h"
#include "core/base/text_table.h"

namespace sonde::app {

namespace {

struct SampleOptions {
    std::string id;
    OutputForms forms;
    std::size_t threads = 0;
};

base::Result<std::vector<session::Sample>> allSamples() {
    std::error_code failed;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
    std::vector<session::Sample> all = session::samples(program);
    if (!all.empty()) return all;
    std::string folders;
    for (const std::string& folder : session::resourceFolders(program))
        folders += (folders.empty() ? "" : ", ") + folder;
    return base::unreadable("no samples are installed: none are in " + folders, "samples",
                            "install Sonde with its resources, or copy resources/ of the source tree there");
}

int listSamples(const std::vector<session::Sample>& all) {
    std::vector<std::vector<std::string>> rows;
    for (const session::Sample& sample : all) rows.push_back({sample.id, sample.description});
    for (const std::string& line : base::alignedRows(rows)) fmt::print("{}\n", line);
    return 0;
}

/// As the window opens it: with its input, and run if its outputs mean something.
base::Result<void> showSample(const session::Sample& sample, SampleOptions& options) {
    ModelOptions model;
    model.model = sample.model;
    SONDE_ASSIGN(const auto document, model.load());
    session::Session session(commandLineWork());
    showIn(session, document);
    session.runs().setSettings({options.threads, 0});
    fmt::print("{}\n{}\nmodel {}\n", sample.title, sample.description, sample.model);
    if (session.inputs().all().empty()) return base::usageError("the model of the sample has no inputs", sample.id);
    const std::string first = session.inputs().all().front().name;
    for (const session::SampleInput& input : sample.inputs) {
        const std::string& name = input.name.empty() ? first : input.name;
        SONDE_TRY(session.inputs().set(name, {input.source, {true, input.preset}}));
        fmt::print("input {} {}{}\n", name, input.source, input.preset.empty() ? "" : " (" + input.preset + ")");
    }
    if (!sample.runs) {
        if (!options.forms.isAsked()) {
            fmt::print("not run, as its outputs mean nothing: `sonde run` runs it\n");
            return {};
        }
        return base::usageError("sample '" + sample.id + "' is not run, as its outputs mean nothing: none can be shown",
                                "samples", "`sonde run " + sample.model + "` runs it and takes the same options");
    }
    session.inputs().read();
    if (auto refusal = session.inputs().refusal()) return std::move(*refusal);
    session.runs().run();
    if (session.runs().last().error) return *session.runs().last().error;
    return options.forms.print(session);
}

base::Result<int> samples(SampleOptions& options) {
    SONDE_ASSIGN(const std::vector<session::Sample> all, allSamples());
    if (options.id.empty()) return listSamples(all);
    const auto found = std::ranges::find(all, options.id, &session::Sample::id);
    if (found == all.end()) {
        std::string ids;
        for (const session::Sample& sample : all) ids += (ids.empty() ? "" : ", ") + sample.id;
        return base::usageError("there is no sample '" + options.id + "'", "samples", "samples are " + ids);
    }
    SONDE_TRY(options.forms.check());
    SONDE_TRY(showSample(*found, options));
    return 0;
}

}  // namespace

Verb samplesVerb() {
    return {"samples", "List the samples of the start page, or run one on its input and show its outputs",
            "sonde samples digits", [](CLI::App& command) {
                auto options = std::make_shared<SampleOptions>();
                command.add_option("ID", options->id, "Sample to open: an id of the list");
                options->forms.addTo(command);
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return samples(*options); });
            }};
}

}  // namespace sonde::app
